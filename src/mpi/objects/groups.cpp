#include "mpi/objects/groups.h"

#include <algorithm>
#include <cstring>

#include "recorder/definition_log.h"
#include "recorder/permanent_memory.h"
#include "recorder/system.h"

namespace tare::mpi {
namespace {

using format::MemberRun;

// The memory for all groups. A group that does not fit is not known.
constexpr std::size_t max_bytes = std::size_t{16} << 20;
constexpr std::uint32_t max_groups = 4096;

struct State {
  const Group* groups[max_groups];
  bool has_epochs[max_groups];  // by number - 1: defined so
  std::uint32_t count;
  recorder::PermanentMemory<max_bytes> memory;
};
constinit State state{};
constinit recorder::SpinLock groups_lock;

// The longest run of members that begins at `at`.
MemberRun run_from(const std::int32_t* members, std::int32_t size, std::int32_t at) noexcept {
  if (at + 1 == size) return {members[at], 0, 1};
  const std::int32_t stride = members[at + 1] - members[at];
  std::int32_t end = at + 2;
  while (end < size && members[end] - members[end - 1] == stride) ++end;
  return {members[at], stride, static_cast<std::uint32_t>(end - at)};
}

std::uint64_t hash_of(const MemberRun* runs, std::uint32_t count) noexcept {
  std::uint64_t hash = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    hash = mixed(hash, static_cast<std::uint32_t>(runs[i].first));
    hash = mixed(hash, static_cast<std::uint32_t>(runs[i].stride));
    hash = mixed(hash, runs[i].count);
  }
  return hash;
}

// False if there is no room.
bool define(const Group& group, std::uint16_t flags = 0) noexcept {
  format::GroupDefinition definition{};
  definition.head.kind = format::DefinitionKind::group;
  definition.head.flags = flags;
  definition.group = group.number;
  definition.size = group.size;
  definition.runs = group.run_count;
  const auto* bytes = reinterpret_cast<const char*>(group.runs);
  return recorder::define_in_half(&definition, sizeof definition, {bytes, group.run_count * sizeof(MemberRun)});
}

const Group* find(std::uint64_t hash, const MemberRun* runs, std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < state.count; ++i) {
    const Group& group = *state.groups[i];
    if (group.hash == hash && group.run_count == count && std::memcmp(group.runs, runs, count * sizeof *runs) == 0)
      return &group;
  }
  return nullptr;
}

const Group* new_group(std::uint64_t hash, const MemberRun* runs, std::uint32_t count, std::int32_t size) noexcept {
  const std::size_t runs_bytes = count * sizeof(MemberRun);
  char* memory = state.count == max_groups
                     ? nullptr
                     : state.memory.allocate(sizeof(Group) + runs_bytes + count * sizeof(std::int32_t));
  if (memory == nullptr) return nullptr;
  auto* group = reinterpret_cast<Group*>(memory);
  auto* own_runs = reinterpret_cast<MemberRun*>(group + 1);
  auto* begins = reinterpret_cast<std::int32_t*>(own_runs + count);
  std::memcpy(own_runs, runs, runs_bytes);
  std::int32_t begin = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    begins[i] = begin;
    begin += static_cast<std::int32_t>(runs[i].count);
  }
  *group = {state.count + 1, size, hash, count, own_runs, begins};
  state.groups[state.count++] = group;
  if (!define(*group)) group->number = 0;
  return group;
}

const Group* add_runs(const MemberRun* runs, std::uint32_t count, std::int32_t size) noexcept {
  const std::uint64_t hash = hash_of(runs, count);
  groups_lock.lock();
  const Group* group = find(hash, runs, count);
  if (group == nullptr) group = new_group(hash, runs, count, size);
  groups_lock.unlock();
  return group;
}

}  // namespace

const Group* add_group(const std::int32_t* members, std::int32_t size) noexcept {
  if (size <= 0) return nullptr;
  const recorder::ErrnoGuard guard;
  std::uint32_t count = 0;
  for (std::int32_t at = 0; at < size; ++count) at += static_cast<std::int32_t>(run_from(members, size, at).count);
  const std::size_t bytes = count * sizeof(MemberRun);
  MemberRun few[64] = {};
  MemberRun* runs = count <= std::size(few) ? few : static_cast<MemberRun*>(recorder::map_memory(bytes));
  if (runs == nullptr) return nullptr;
  std::int32_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    runs[i] = run_from(members, size, at);
    at += static_cast<std::int32_t>(runs[i].count);
  }
  const Group* group = add_runs(runs, count, size);
  if (runs != few) recorder::unmap_memory(runs, bytes);
  return group;
}

const Group* add_whole_world(std::int32_t size) noexcept {
  const recorder::ErrnoGuard guard;
  const MemberRun run{0, size == 1 ? 0 : 1, static_cast<std::uint32_t>(size)};
  return size <= 0 ? nullptr : add_runs(&run, 1, size);
}

std::uint32_t number_for_epochs(const Group* group) noexcept {
  if (group == nullptr || group->number == 0) return 0;
  groups_lock.lock();
  bool& is_defined = state.has_epochs[group->number - 1];
  if (!is_defined) is_defined = define(*group, format::of_epoch);
  const bool is_known = is_defined;
  groups_lock.unlock();
  return is_known ? group->number : 0;
}

std::int32_t world_rank(const Group* group, std::int32_t rank) noexcept {
  if (group == nullptr || rank < 0 || rank >= group->size) return not_in_world;
  const std::int32_t* behind = std::upper_bound(group->begins, group->begins + group->run_count, rank);
  const auto i = static_cast<std::size_t>(behind - group->begins) - 1;
  const format::MemberRun& run = group->runs[i];
  return run.first + run.stride * (rank - group->begins[i]);
}

}  // namespace tare::mpi
