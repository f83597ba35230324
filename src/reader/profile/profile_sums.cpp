#include "reader/profile/profile_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "format/function_meaning.h"
#include "reader/model/quantiles.h"

namespace tare::reader {
namespace {

using namespace tare::format;

static_assert(sizeof(SumKey) == 24, "hashed and compared as a whole");

std::uint64_t hash(const SumKey& key) {
  std::uint64_t words[3];
  std::memcpy(words, &key, sizeof key);
  std::uint64_t mixed = words[0] * 0x9e3779b97f4a7c15 ^ words[1] * 0xc2b2ae3d27d4eb4f ^ words[2] * 0x165667b19e3779f9;
  mixed ^= mixed >> 32;
  return mixed * 0xd6e8feb86659fd93;
}

std::int64_t sum(std::int64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);  // damaged values may wrap around
}

std::int32_t standing_for(const std::vector<std::int32_t>& numbers, std::int32_t number) {
  const bool replaced = number >= 0 && static_cast<std::size_t>(number) < numbers.size();
  return replaced ? numbers[static_cast<std::size_t>(number)] : number;
}

void add_durations(ProfileSum& to, const ProfileSum& from) {
  if (from.timed_calls == 0) return;
  to.min_ns = to.timed_calls == 0 ? from.min_ns : std::min(to.min_ns, from.min_ns);
  to.max_ns = std::max(to.max_ns, from.max_ns);
  to.squared_ns2 += from.squared_ns2;
  to.timed_calls += from.timed_calls;
}

void add_ranks(ProfileSum& to, const ProfileSum& from) {
  if (from.ranks == 0) return;
  const auto is_less = [](std::int64_t a, std::int32_t a_at, std::int64_t b, std::int32_t b_at) {
    return a < b || (a == b && a_at < b_at);
  };
  if (to.ranks == 0 ||
      is_less(from.rank_time_min_ns, from.rank_time_min_at, to.rank_time_min_ns, to.rank_time_min_at)) {
    to.rank_time_min_ns = from.rank_time_min_ns;
    to.rank_time_min_at = from.rank_time_min_at;
  }
  if (to.ranks == 0 ||
      is_less(-from.rank_time_max_ns, from.rank_time_max_at, -to.rank_time_max_ns, to.rank_time_max_at)) {
    to.rank_time_max_ns = from.rank_time_max_ns;
    to.rank_time_max_at = from.rank_time_max_at;
  }
  to.ranks += from.ranks;
}

}  // namespace

ProfileSummer::ProfileSummer(const SumsQuery& query, const FunctionNames& names, const std::vector<Process>& processes)
    : query_(query), names_(&names), all_(&processes), slots_(64) {
  const auto has = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (const std::string& name : names.names()) {
    functions_.push_back(!query.functions || has(*query.functions, name));
    untimed_.push_back(has(query.untimed, name));
  }
  for (Wanted* wanted : {&query_.worlds, &query_.ranks, &query_.communicators}) sort(*wanted);
}

bool ProfileSummer::wants(const Process& process) const {
  return holds(query_.worlds, process.world) && holds(query_.ranks, process.record.rank);
}

bool ProfileSummer::wants(std::uint16_t function, std::int32_t communicator) const {
  return functions_[function] && holds(query_.communicators, communicator);
}

void ProfileSummer::begin(const Process& process) {
  process_ = &process;
  ++processes_;
}

void ProfileSummer::add(const Profile& profile) {
  if (query_.callers_alone && !is_of_rank(*process_, profile, *names_)) return;
  for (const ProfileRow& row : profile.rows) add(row);
  for (const CountedCalls& counted : profile.counted) add(counted);
}

void ProfileSummer::end() {
  for (const std::uint32_t index : touched_) {
    Group& group = groups_[index];
    ProfileSum of_rank;
    of_rank.ranks = 1;
    of_rank.rank_time_min_ns = of_rank.rank_time_max_ns = static_cast<std::int64_t>(group.rank_time_ns);
    of_rank.rank_time_min_at = of_rank.rank_time_max_at = process_->record.rank;
    add_ranks(group, of_rank);
  }
  touched_.clear();
}

void ProfileSummer::add(const ProfileRow& row) {
  // The thread that completes a request may not be the one whose call has started it.
  const bool has_completed = row.bytes != 0 || row.received != 0 || row.waited_ticks != 0;
  if (row.calls == 0 && !has_completed) return;
  const std::uint16_t function = FunctionNames::lookup(*process_->functions, row.function);
  const bool known = function != FunctionNames::other;  // else the row sums calls for which the table had no room
  // In rows of other sources than MPI, it is the number of what the calls worked on.
  const std::int32_t communicator =
      known && names_->is_of_mpi(function)
          ? standing_for(query_.communicator_of, process_->communicators.find(row.communicator))
          : -1;
  if (!wants(function, communicator)) return;
  SumKey key = key_of_process();
  if (query_.function) key.function = function;
  if (query_.site && known) key.site = standing_for(query_.site_of, process_->sites.find(row.site));
  if (query_.communicator) key.communicator = communicator;
  if (query_.size_class && row.size_class != no_size) key.size_class = row.size_class;
  if (untimed_[function]) {
    group_of(key).calls += row.calls;
    return;
  }
  const ClockMap& clock = process_->clock;
  ProfileSum timed;
  timed.timed_calls = row.calls;
  timed.min_ns = clock.duration_ns(row.ticks_min);
  timed.max_ns = clock.duration_ns(row.ticks_max);
  timed.squared_ns2 = row.ticks_squared * clock.rate() * clock.rate();
  const auto time_ns = static_cast<std::uint64_t>(clock.duration_ns(row.ticks));
  Group& group = group_of(key);
  touch(group);
  add_durations(group, timed);
  group.calls += row.calls;
  group.estimated += row.estimated;
  group.bytes += row.bytes;
  group.received += row.received;
  group.waited_ns = sum(group.waited_ns, static_cast<std::uint64_t>(clock.duration_ns(row.waited_ticks)));
  group.time_ns = sum(group.time_ns, time_ns);
  group.rank_time_ns += time_ns;
}

void ProfileSummer::add(const CountedCalls& counted) {
  if (counted.calls == 0) return;
  const std::uint16_t function = FunctionNames::lookup(*process_->functions, counted.function);
  if (!wants(function, -1)) return;
  SumKey key = key_of_process();
  if (query_.function) key.function = function;
  Group& group = group_of(key);
  group.calls += counted.calls;
  group.counted += counted.calls;
}

SumKey ProfileSummer::key_of_process() const {
  SumKey key;
  if (query_.world) key.world = process_->world;
  if (query_.rank) {
    key.rank = process_->record.rank;
    key.process = static_cast<std::int32_t>(process_ - all_->data());
  }
  return key;
}

ProfileSummer::Group& ProfileSummer::group_of(const SumKey& key) {
  if (2 * groups_.size() >= slots_.size()) grow();
  std::uint32_t& slot = slots_[slot_of(key)];
  if (slot == 0) {
    groups_.emplace_back().key = key;
    slot = static_cast<std::uint32_t>(groups_.size());
  }
  return groups_[slot - 1];
}

// Notes that the current process has timed calls of the group.
void ProfileSummer::touch(Group& group) {
  if (group.process == processes_) return;
  group.process = processes_;
  group.rank_time_ns = 0;
  touched_.push_back(static_cast<std::uint32_t>(&group - groups_.data()));
}

// The slot of the group with that key, or the empty slot where it belongs.
std::size_t ProfileSummer::slot_of(const SumKey& key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(key) & mask;
  while (slots_[slot] != 0 && groups_[slots_[slot] - 1].key != key) slot = (slot + 1) & mask;
  return slot;
}

void ProfileSummer::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (std::size_t i = 0; i < groups_.size(); ++i) slots_[slot_of(groups_[i].key)] = static_cast<std::uint32_t>(i + 1);
}

void ProfileSummer::join(const ProfileSummer& other) {
  for (const Group& from : other.groups_) {
    Group& to = group_of(from.key);
    add_durations(to, from);
    to.calls += from.calls;
    to.counted += from.counted;
    to.estimated += from.estimated;
    to.bytes += from.bytes;
    to.received += from.received;
    to.waited_ns = sum(to.waited_ns, static_cast<std::uint64_t>(from.waited_ns));
    to.time_ns = sum(to.time_ns, static_cast<std::uint64_t>(from.time_ns));
    add_ranks(to, from);
  }
}

std::vector<ProfileSum> ProfileSummer::take() {
  std::vector<ProfileSum> sums(groups_.begin(), groups_.end());
  std::sort(sums.begin(), sums.end(), [](const ProfileSum& a, const ProfileSum& b) { return a.key < b.key; });
  return sums;
}

// Simple random sampling (Cochran, Sampling Techniques, 3rd ed., section 2.6).
std::optional<double> error_of_sample_ns(const ProfileSum& of) {
  const auto calls = static_cast<double>(of.timed_calls);
  const auto estimated = static_cast<double>(of.estimated);
  const double sampled = calls - estimated;
  if (of.estimated == 0 || sampled < 2 || meaning_of(of.key.function).is_poll) return std::nullopt;
  const double mean = static_cast<double>(of.time_ns) / calls;
  const double variance = std::max(0.0, of.squared_ns2 / calls - mean * mean);
  return normal_95 * calls * std::sqrt(estimated / calls * variance / sampled);
}

std::optional<double> with_error_of_sample(std::optional<double> error_ns, const ProfileSum& of) {
  if (!error_ns || of.estimated == 0) return error_ns;
  const std::optional<double> sampled_ns = error_of_sample_ns(of);
  return sampled_ns ? std::optional(std::hypot(*error_ns, *sampled_ns)) : std::nullopt;
}

}  // namespace tare::reader
