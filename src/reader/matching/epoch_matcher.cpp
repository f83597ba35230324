#include "reader/matching/epoch_matcher.h"

#include <algorithm>

#include "reader/time_arithmetic.h"

namespace tare::reader {

using namespace tare::format;

namespace {

template <class Visit>
void each_member(const Members& of, const Visit& visit) {
  for (const MemberRun& run : of.runs())
    for (std::uint32_t i = 0; i < run.count; ++i) visit(run.first + run.stride * static_cast<std::int32_t>(i));
}

bool is_during(std::int64_t time_ns, const PartCall& call) {
  return call.enter_ns < time_ns && time_ns < call.leave_ns;
}

}  // namespace

void EpochMatcher::add(const EventRow& row, const PartCall& call, std::uint32_t epoch) {
  progress(row, call);
  const FunctionMeaning& meaning = meaning_of(row.function);
  const bool accesses = meaning.kind == CallClass::one_sided;
  if (row.scope < 0 || row.peer == proc_null || (!accesses && meaning.kind != CallClass::epoch)) return;
  Place& own = place_of(row.scope, row.rank);
  if (own.epoch != epoch) {
    own = {};
    own.epoch = epoch;
  }
  std::erase_if(own.locks, [](const Lock& lock) { return !lock.is_held; });
  const std::int32_t target = row.peer_world >= 0 ? row.peer_world : everybody;
  if (meaning.epoch != Step::waits || own.last_step != Step::waits) own.waits_since_ns = call.enter_ns;
  own.last = call;
  own.last_target = target;
  own.last_step = meaning.epoch;
  const auto locked = std::find_if(own.locks.begin(), own.locks.end(), [target](const Lock& lock) {
    return lock.target == target || lock.target == everybody || target == everybody;
  });
  switch (meaning.epoch) {
    case Step::posts:
      return post(row, call, epoch);
    case Step::waits:
      return;
    case Step::starts:
      own.targets = group_of(row);
      own.accessed_ns = call.leave_ns;
      if (own.targets != nullptr)
        each_member(*own.targets, [&](std::int32_t rank) { ++pair(row, row.rank, rank, epoch).started; });
      return;
    case Step::completes:
      return complete(row, call, own);
    case Step::locks:
      own.locks.push_back({target, row.epoch == exclusive_lock});
      (own.locks.back().is_exclusive ? windows_[row.scope].exclusive_locks : windows_[row.scope].shared_locks)
          .insert(row.rank);
      return need(row, call, target);
    case Step::unlocks:
      if (locked == own.locks.end()) return;
      if (locked->has_accesses) need(row, call, target);
      locked->is_held = false;
      return unlock(row, call, *locked);
    case Step::none:
      break;
  }
  own.accessed_ns = call.leave_ns;
  if (locked == own.locks.end()) return;
  if (!accesses && locked->has_accesses) need(row, call, target);
  locked->has_accesses = accesses;
}

// The group of a call that begins an epoch; nullptr if it is not known.
const Members* EpochMatcher::group_of(const EventRow& row) const {
  const auto& groups = run_.processes()[row.process].epoch_groups;
  const auto found = groups.find(static_cast<std::uint32_t>(row.epoch));
  if (found == groups.end()) return nullptr;
  std::uint64_t members = 0;
  for (const MemberRun& run : found->second.runs()) members += run.count;
  return members <= run_.processes().size() ? &found->second : nullptr;
}

void EpochMatcher::add_end(End::Kind kind, const EventRow& row, std::int32_t communicator, const PartCall& call,
                           std::int32_t waiting, const PartCall& last) {
  if (waiting == row.rank || gaps_.has_rank(row.world, waiting)) return;
  End end;
  end.kind = kind;
  end.world = row.world;
  end.communicator = communicator;
  end.rank = waiting;
  end.other_rank = row.rank;
  end.posted = end.completed = last;
  end.other = call;
  end.bytes = 0;
  ends_.push_back(end);
}

// A rank makes a call: what others need it for goes on at the latest now.
void EpochMatcher::progress(const EventRow& row, const PartCall& call) {
  Target& own = targets_.at(row.world, row.rank);
  for (const Needing& each : std::exchange(own.needing, {})) {
    if (own.left_ns > each.call.enter_ns || each.call.enter_ns > call.enter_ns) continue;
    const std::int64_t behind_ns = difference(each.call.leave_ns, call.enter_ns);
    if (behind_ns > difference(call.enter_ns, each.call.enter_ns)) continue;  // it lasts for another reason
    add_end(End::Kind::progress, row, each.communicator, call, each.rank, each.call);
  }
  own.left_ns = std::max(own.left_ns, call.leave_ns);
}

void EpochMatcher::need(const EventRow& row, const PartCall& call, std::int32_t target) {
  if (target == everybody || !can_be_rank(row.world, target)) return;
  std::vector<Needing>& needing = targets_.at(row.world, target).needing;
  const auto found = std::find_if(needing.begin(), needing.end(), [&](const Needing& each) {
    return each.rank == row.rank && each.call.function == row.function;
  });
  if (found != needing.end())
    found->call = call;
  else
    needing.push_back({row.rank, row.communicator, call});
}

// Its origins may wait for it in what they do with the window.
void EpochMatcher::post(const EventRow& row, const PartCall& call, std::uint32_t epoch) {
  const Members* const origins = group_of(row);
  if (origins == nullptr) return;
  each_member(*origins, [&](std::int32_t rank) {
    Pair& of = pair(row, rank, row.rank, epoch);
    const Place& origin = place_of(row.scope, rank);
    const bool is_its = origin.last_step == Step::starts || origin.last_step == Step::completes ||
                        (origin.last_step == Step::none && origin.last_target == row.rank);
    if (++of.posted == of.started && is_its && is_during(call.enter_ns, origin.last))
      add_end(End::Kind::posted, row, row.communicator, call, rank, origin.last);
  });
}

// Its targets may wait for it, and could do so less if it had completed the epoch after its last access.
void EpochMatcher::complete(const EventRow& row, const PartCall& call, Place& own) {
  const Members* const targets = std::exchange(own.targets, nullptr);
  if (targets == nullptr) return;
  each_member(*targets, [&](std::int32_t rank) {
    const Pair& of = pair(row, row.rank, rank, own.epoch);
    const Place& target = place_of(row.scope, rank);
    if (of.posted != of.started || target.last_step != Step::waits) return;
    const std::int64_t since_ns = target.waits_since_ns;
    const bool is_late = difference(own.accessed_ns, since_ns) < difference(call.enter_ns, own.accessed_ns);
    add_end(is_late ? End::Kind::completed : End::Kind::accessed, row, row.communicator, call, rank, target.last);
  });
}

// Whoever needs a lock that excludes this one, and comes behind it, waits for it.
void EpochMatcher::unlock(const EventRow& row, const PartCall& call, const Lock& given_back) {
  Window& window = windows_[row.scope];
  const auto meet = [](std::int32_t one, std::int32_t other) {
    return one == other || one == everybody || other == everybody;
  };
  const auto look_at = [&](std::int32_t rank) {
    const Place& place = window.places[rank];
    if (rank == row.rank || !meet(place.last_target, given_back.target) || !is_during(call.enter_ns, place.last))
      return;
    // Both are in a call: the one whose call ends first had the lock, or else the one that was in its call for less
    // long.
    const std::int64_t own_ns = difference(call.leave_ns, call.enter_ns);
    if (place.last.leave_ns < call.leave_ns && own_ns > difference(call.enter_ns, place.last.enter_ns)) return;
    const bool is_excluded = std::any_of(place.locks.begin(), place.locks.end(), [&](const Lock& lock) {
      return meet(lock.target, given_back.target) && (lock.is_exclusive || given_back.is_exclusive);
    });
    if (is_excluded) add_end(End::Kind::unlocked, row, row.communicator, call, rank, place.last);
  };
  const auto look_at_all = [&](std::set<std::int32_t>& ranks) {
    std::erase_if(ranks, [&](std::int32_t rank) {
      const Place& place = window.places[rank];
      const bool has_none =
          std::none_of(place.locks.begin(), place.locks.end(), [](const Lock& of) { return of.is_held; });
      if (has_none && place.last.leave_ns < call.enter_ns) return true;
      look_at(rank);
      return false;
    });
  };
  look_at_all(window.exclusive_locks);
  if (given_back.is_exclusive) look_at_all(window.shared_locks);
}

}  // namespace tare::reader
