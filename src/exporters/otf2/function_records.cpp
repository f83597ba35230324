#include "exporters/otf2/function_records.h"

#include <cctype>
#include <string_view>
#include <unordered_map>

#include "format/function_meaning.h"

namespace tare::exporters::otf2 {

using format::CallClass;
using format::Waits;

OTF2_RegionRole role_of(std::uint16_t function) {
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  switch (meaning.kind) {
    case CallClass::send:
    case CallClass::receive:
    case CallClass::exchange:
    case CallClass::probe:
    case CallClass::start:
    case CallClass::completion:
    case CallClass::request:
      return OTF2_REGION_ROLE_POINT2POINT;
    case CallClass::one_sided:
    case CallClass::epoch:
      return OTF2_REGION_ROLE_RMA;
    case CallClass::file:
      return OTF2_REGION_ROLE_FILE_IO;
    case CallClass::collective:
      if (meaning.waits == Waits::root) return OTF2_REGION_ROLE_COLL_ONE2ALL;
      if (meaning.waits == Waits::at_root) return OTF2_REGION_ROLE_COLL_ALL2ONE;
      if (meaning.waits == Waits::all || meaning.waits == Waits::contributors) return OTF2_REGION_ROLE_COLL_ALL2ALL;
      return OTF2_REGION_ROLE_COLL_OTHER;
    default:
      return OTF2_REGION_ROLE_FUNCTION;
  }
}

std::optional<OTF2_CollectiveOp> collective_op_of(const std::string& name) {
  static const std::unordered_map<std::string_view, OTF2_CollectiveOp> ops{
      {"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
      {"Bcast", OTF2_COLLECTIVE_OP_BCAST},
      {"Gather", OTF2_COLLECTIVE_OP_GATHER},
      {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
      {"Scatter", OTF2_COLLECTIVE_OP_SCATTER},
      {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
      {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
      {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
      {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
      {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
      {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
      {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
      {"Reduce", OTF2_COLLECTIVE_OP_REDUCE},
      {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
      {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
      {"Scan", OTF2_COLLECTIVE_OP_SCAN},
      {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
      {"Comm_dup", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_dup_with_info", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_split", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_split_type", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_idup", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_idup_with_info", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Cart_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Cart_sub", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Graph_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Dist_graph_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Dist_graph_create_adjacent", OTF2_COLLECTIVE_OP_CREATE_HANDLE},
      {"Comm_free", OTF2_COLLECTIVE_OP_DESTROY_HANDLE},
      {"Comm_disconnect", OTF2_COLLECTIVE_OP_DESTROY_HANDLE}};
  std::string base = name.starts_with("MPI_") ? name.substr(4) : std::string();
  if (base.ends_with("_c")) base.resize(base.size() - 2);
  if (const auto found = ops.find(base); found != ops.end()) return found->second;
  if (base.size() < 2 || base[0] != 'I') return std::nullopt;
  base.erase(0, 1);
  base[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(base[0])));
  const auto found = ops.find(base);
  return found == ops.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tare::exporters::otf2
