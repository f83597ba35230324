#include "reader/matching/collective_matcher.h"

#include <utility>

namespace tare::reader {

std::optional<CollectiveMatcher::Taken> CollectiveMatcher::begin(const EventRow& row, const PartCall& call,
                                                                 CallRole role, std::uint64_t number,
                                                                 std::uint32_t epoch) {
  if (row.communicator < 0 || gaps_.has_communicator(row.communicator)) return {};
  const CommunicatorInfo& of = run_.communicators()[static_cast<std::size_t>(row.communicator)];
  const bool is_rooted = role == CallRole::from_root || role == CallRole::to_root;
  if (of.key == 0 || of.inter || !of.members || of.size <= 0 || (is_rooted && row.peer_world < 0)) return {};
  const Key key{row.communicator, row.scope, number, epoch};
  Instance& instance = instances_[key];
  Collective& what = instance.what;
  if (what.parts.empty()) {
    what.world = row.world;
    what.communicator = row.communicator;
    what.scope = row.scope;
    what.number = number;
    what.root_world = is_rooted ? row.peer_world : -1;
    what.function = row.function;
    what.size = of.size;
    instance.role = role;
  }
  what.parts.push_back({row.rank, false, call, {}, row.bytes});
  const auto part = static_cast<std::uint32_t>(what.parts.size() - 1);
  if (call.enter_ns >= what.parts[instance.last].posted.enter_ns) instance.last = part;
  if (row.rank == what.root_world) instance.root = part;
  add_ends_of_complete(instance);
  return Taken{key, part};
}

void CollectiveMatcher::complete(const Taken& taken, const PartCall& call) {
  const auto found = instances_.find(taken.key);
  if (found == instances_.end()) return;
  Instance& instance = found->second;
  Part& of = instance.what.parts[taken.part];
  of.is_complete = true;
  of.completed = call;
  if (has_all_causes(instance)) add_end(instance, taken.part);
  if (++instance.complete != static_cast<std::size_t>(instance.what.size)) return;
  if (collectives_ != nullptr) collectives_->push_back(std::move(instance.what));
  instances_.erase(found);
}

// Adds the ends of the parts that were complete before the last part began: only now it is known what they waited for.
void CollectiveMatcher::add_ends_of_complete(const Instance& instance) {
  const std::size_t last = instance.what.parts.size() - 1;
  const bool was_awaited = instance.role == CallRole::from_root ? instance.root == last : has_all_causes(instance);
  if (ends_ == nullptr || !was_awaited) return;
  for (std::size_t part = 0; part < last; ++part)
    if (instance.what.parts[part].is_complete) add_end(instance, part);
}

void CollectiveMatcher::add_end(const Instance& instance, std::size_t part) {
  if (ends_ == nullptr) return;
  const Collective& what = instance.what;
  std::size_t cause = instance.role == CallRole::from_root ? instance.root : instance.last;
  if (instance.role == CallRole::to_root && part != instance.root) return;
  if (instance.role == CallRole::scan) cause = last_below(what, part);
  const Part& own = what.parts[part];
  const Part& other = what.parts[cause];
  ends_->push_back({End::Kind::collective, instance.role, what.world, what.communicator, own.rank, other.rank,
                    format::no_tag, own.posted, own.completed, other.posted});
}

// For a prefix reduction: the part that began last, among this rank and those below it.
std::size_t CollectiveMatcher::last_below(const Collective& what, std::size_t part) const {
  const Members& members = *run_.communicators()[static_cast<std::size_t>(what.communicator)].members;
  const std::int32_t place = members.rank_of(what.parts[part].rank);
  std::size_t last = part;
  for (std::size_t i = 0; i < what.parts.size(); ++i)
    if (members.rank_of(what.parts[i].rank) < place && what.parts[i].posted.enter_ns > what.parts[last].posted.enter_ns)
      last = i;
  return last;
}

void CollectiveMatcher::finish() {
  // What ranks with gaps did is not known, so their incomplete operations are left out.
  if (collectives_ != nullptr && !gaps_.has_any_chosen())
    for (auto& [key, instance] : instances_)
      if (!gaps_.has_communicator(key.communicator)) collectives_->push_back(std::move(instance.what));
  instances_.clear();
}

}  // namespace tare::reader
