// The profile of a run, added up by what is asked for. Memory goes with the number of groups, not with the number of
// processes: their profiles are read one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/model/process.h"
#include "reader/profile/wanted.h"

namespace tare::reader {

// What makes a group; what is not asked for is -1 in every key, and 0 the function.
struct SumKey {
  std::int32_t world = -1;
  std::int32_t rank = -1;
  std::int32_t site = -1;          // index in Run::sites(); -1: none, or not known
  std::int32_t communicator = -1;  // index in Run::communicators()
  std::int16_t size_class = -1;    // bit width of the bytes of a call; -1: moves none
  std::uint16_t function = 0;      // number in Run::functions()

  auto operator<=>(const SumKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct SumsQuery {
  bool world = false, rank = false, function = false, site = false, communicator = false, size_class = false;
  // Sites and communicators to be taken for one: by number in the run, the number that stands for it. Numbers beyond
  // the end stand for themselves.
  std::vector<std::int32_t> site_of{}, communicator_of{};
  // Only these; communicators as they are after communicator_of.
  Wanted worlds{}, ranks{}, communicators{};
  std::optional<std::vector<std::string>> functions{};
  std::vector<std::string> without{};  // functions that are left out
};

struct ProfileSum {
  SumKey key{};
  std::uint64_t calls = 0;
  std::uint64_t timed_calls = 0;  // the others were only counted
  std::uint64_t estimated = 0;    // of those timed: polls whose time is estimated
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;  // beside `bytes`, by calls that send and receive
  std::int64_t time_ns = 0;
  std::int64_t waited_ns = 0;  // that other calls spent on completing the requests which these have started
  std::int64_t min_ns = 0;     // of one timed call, as max_ns
  std::int64_t max_ns = 0;
  double squared_ns2 = 0;  // sum over the timed calls of the squares of their durations
  // Over the processes of the group that have such calls, timed:
  std::uint64_t ranks = 0;
  std::int64_t rank_time_min_ns = 0;  // time_ns of one process
  std::int64_t rank_time_max_ns = 0;
  std::int32_t rank_time_min_at = -1;  // whose rank is; of equal ones the lowest
  std::int32_t rank_time_max_at = -1;
};

// Adds up the profiles of process after process. Not thread-safe; several of them can be joined.
class ProfileSummer {
 public:
  ProfileSummer(const SumsQuery& query, const FunctionNames& names);

  bool wants(const Process& process) const;
  // All profiles of one process between begin() and end().
  void begin(const Process& process);
  void add(const Profile& profile);
  void end();
  void join(const ProfileSummer& other);
  // Sorted by key.
  std::vector<ProfileSum> take();

 private:
  struct Group : ProfileSum {
    std::uint64_t rank_time_ns = 0;  // of the process under way
    std::uint64_t process = 0;       // count of processes when it last got something
  };

  void add(const format::ProfileRow& row);
  void add(const format::CountedCalls& counted);
  bool wants(std::uint16_t function, std::int32_t communicator) const;
  Group& group_of(const SumKey& key);
  void touch(Group& group);
  std::size_t slot_of(const SumKey& key) const;
  void grow();

  SumsQuery query_;
  std::vector<bool> functions_;  // wanted, by number
  std::vector<Group> groups_;
  std::vector<std::uint32_t> slots_;  // hash table of indices in groups_, plus 1
  const Process* process_ = nullptr;
  std::uint64_t processes_ = 0;
  std::vector<std::uint32_t> touched_;  // groups that the process under way has
};

}  // namespace tare::reader
