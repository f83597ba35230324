#include "reader/replay/call_role.h"

#include <map>
#include <set>

namespace tare::reader {
namespace {

using enum CallRole;

// Those that begin with I ("Isend") are as what follows it.
const std::map<std::string, CallRole> roles = {
    {"Send", send},
    {"Bsend", send},
    {"Rsend", send},
    {"Ssend", synchronous_send},
    {"Recv", receive},
    {"Mrecv", receive},
    {"Sendrecv", exchange},
    {"Sendrecv_replace", exchange},
    {"Start", starts},
    {"Startall", starts},
    {"Wait", completes},
    {"Waitall", completes},
    {"Waitany", completes},
    {"Waitsome", completes},
    {"Test", completes},
    {"Testall", completes},
    {"Testany", completes},
    {"Testsome", completes},
    {"Barrier", to_all},
    {"Allgather", to_all},
    {"Allgatherv", to_all},
    {"Allreduce", to_all},
    {"Alltoall", to_all},
    {"Alltoallv", to_all},
    {"Alltoallw", to_all},
    {"Reduce_scatter", to_all},
    {"Reduce_scatter_block", to_all},
    {"Comm_create", to_all},
    {"Comm_dup", to_all},
    {"Comm_dup_with_info", to_all},
    {"Comm_split", to_all},
    {"Comm_split_type", to_all},
    {"Cart_create", to_all},
    {"Cart_sub", to_all},
    {"Graph_create", to_all},
    {"Dist_graph_create", to_all},
    {"Dist_graph_create_adjacent", to_all},
    {"Win_allocate", to_all},
    {"Win_allocate_shared", to_all},
    {"Win_create", to_all},
    {"Win_create_dynamic", to_all},
    {"Win_fence", to_all},
    {"Bcast", from_root},
    {"Scatter", from_root},
    {"Scatterv", from_root},
    {"Gather", to_root},
    {"Gatherv", to_root},
    {"Reduce", to_root},
    {"Scan", scan},
    {"Exscan", scan},
};

const std::set<std::string> of_unknown = {
    "Comm_accept",
    "Comm_connect",
    "Comm_create_from_group",
    "Comm_create_group",
    "Comm_disconnect",
    "Comm_join",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Intercomm_create",
    "Intercomm_create_from_groups",
    "Intercomm_merge",
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
    "Win_complete",
    "Win_flush",
    "Win_flush_all",
    "Win_flush_local",
    "Win_flush_local_all",
    "Win_free",
    "Win_lock",
    "Win_lock_all",
    "Win_start",
    "Win_unlock",
    "Win_unlock_all",
    "Win_wait",
};

}  // namespace

CallRole role_of_call(std::string name) {
  if (!name.starts_with("MPI_")) return local;
  name.erase(0, 4);
  if (name.ends_with("_c")) name.erase(name.size() - 2);
  const auto find = [](const std::string& base) {
    const auto found = roles.find(base);
    if (found != roles.end()) return found->second;
    return of_unknown.contains(base) || base.starts_with("File_") ? unknown : local;
  };
  if (const CallRole role = find(name); role != local) return role;
  if (name == "Comm_idup" || name == "Comm_idup_with_info") return to_all;
  if (name.size() < 3 || name[0] != 'I' || name[1] < 'a') return local;
  name.erase(0, 1);
  name[0] = static_cast<char>(name[0] & ~0x20);
  return find(name);
}

std::vector<CallRole> roles_of_calls(const FunctionNames& functions) {
  std::vector<CallRole> found;
  for (const std::string& name : functions.names()) found.push_back(role_of_call(name));
  return found;
}

}  // namespace tare::reader
