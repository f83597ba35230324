// Sums over the profile rows of a run, grouped by the keys of a query. Profiles are read one process after another, so
// the memory depends on the number of groups, and not on the number of processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/model/process.h"
#include "reader/profile/wanted.h"

namespace tare::reader {

// The key of a group. Parts by which the query does not group are -1; `function` is 0.
struct SumKey {
  std::int32_t world = -1;
  std::int32_t rank = -1;
  std::int32_t process = -1;       // index in Run::processes(), where rows are grouped by rank: several may have none
  std::int32_t site = -1;          // index in Run::sites(); -1: none, or not known
  std::int32_t communicator = -1;  // index in Run::communicators()
  std::int16_t size_class = -1;    // bit width of the bytes of a call; -1: moves none
  std::uint16_t function = 0;      // number in Run::functions()

  auto operator<=>(const SumKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct SumsQuery {
  // Whether to group by this part of the key.
  bool world = false, rank = false, function = false, site = false, communicator = false, size_class = false;
  // Merges sites and communicators: the element at an index of the run is the index that replaces it. Indices beyond
  // the end are not replaced.
  std::vector<std::int32_t> site_of{}, communicator_of{};
  // Restrict the rows. `communicators` holds indices after the replacement by communicator_of.
  Wanted worlds{}, ranks{}, communicators{};
  std::optional<std::vector<std::string>> functions{};
  std::vector<std::string> untimed{};  // functions of which only the number of calls is added up
  bool callers_alone = false;          // leaves out threads that are not is_of_rank()

  bool operator==(const SumsQuery&) const = default;
};

// The sums of a group.
struct ProfileSum {
  SumKey key{};
  std::uint64_t calls = 0;        // all calls, also those of functions that the query leaves untimed
  std::uint64_t counted = 0;      // part of `calls` that was only counted
  std::uint64_t timed_calls = 0;  // part of `calls` to which the other sums refer
  std::uint64_t estimated = 0;    // part of timed_calls: their time is estimated (format::ProfileRow::estimated)
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;  // bytes received by calls that also send, whose sent bytes are in `bytes`
  std::int64_t time_ns = 0;
  std::int64_t waited_ns = 0;  // time of other calls that completed the requests of these calls
  std::int64_t min_ns = 0;     // shortest and longest duration of a timed call
  std::int64_t max_ns = 0;
  double squared_ns2 = 0;  // sum of the squares of the durations of the timed calls
  // Over the processes that have timed calls of the group:
  std::uint64_t ranks = 0;            // number of these processes
  std::int64_t rank_time_min_ns = 0;  // least and largest time_ns of one process
  std::int64_t rank_time_max_ns = 0;
  std::int32_t rank_time_min_at = -1;  // rank of that process; of several, the lowest
  std::int32_t rank_time_max_at = -1;
};

// Half the width of the 95 % confidence interval of the time of a sum, if a random sample of its calls was timed.
// Nothing if all were, and of polls, because those that were timed are no random sample.
std::optional<double> error_of_sample_ns(const ProfileSum& of);
// Such an error of another kind, with that of the sample; nothing: not known.
std::optional<double> with_error_of_sample(std::optional<double> error_ns, const ProfileSum& of);

// Adds up the profiles of one process after another. Not thread-safe: each thread has its own, and join() adds them up.
class ProfileSummer {
 public:
  // `names` and `processes` must outlive it.
  ProfileSummer(const SumsQuery& query, const FunctionNames& names, const std::vector<Process>& processes);

  // Whether the query includes the process.
  bool wants(const Process& process) const;
  // add() is called for all profiles of one process, which is an element of `processes`, between begin() and end().
  void begin(const Process& process);
  void add(const Profile& profile);
  void end();
  void join(const ProfileSummer& other);
  // Sorted by key.
  std::vector<ProfileSum> take();

 private:
  struct Group : ProfileSum {
    std::uint64_t rank_time_ns = 0;  // of the current process
    std::uint64_t process = 0;       // processes_ when a row was last added
  };

  void add(const format::ProfileRow& row);
  void add(const format::CountedCalls& counted);
  bool wants(std::uint16_t function, std::int32_t communicator) const;
  // The parts of the key that are equal for all rows of a process.
  SumKey key_of_process() const;
  Group& group_of(const SumKey& key);
  void touch(Group& group);
  std::size_t slot_of(const SumKey& key) const;
  void grow();

  SumsQuery query_;
  const FunctionNames* names_;
  const std::vector<Process>* all_;
  std::vector<bool> functions_;  // by number: whether the query includes it
  std::vector<bool> untimed_;    // by number: whether only its calls are added up
  std::vector<Group> groups_;
  std::vector<std::uint32_t> slots_;  // hash table of indices in groups_, plus 1
  const Process* process_ = nullptr;
  std::uint64_t processes_ = 0;
  std::vector<std::uint32_t> touched_;  // groups of which the current process has timed calls
};

}  // namespace tare::reader
