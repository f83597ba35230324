#include "reader/retiming/compensation.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "reader/events/event_stream.h"
#include "reader/matching/matcher.h"
#include "reader/model/account.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

constexpr unsigned calls_of_a_knot = 16;

// A thread, up to the row that was read last.
struct MovedThread {
  std::size_t process = 0;
  double wrapper_ns = 0;                                    // mean time of a wrapper
  double owed_ns = 0;                                       // time of wrappers that could not be taken out yet
  TimeMap map;                                              // from the current times of the run
  std::int64_t offset_ns = 0;                               // at the begin of the current call
  std::int64_t free_ns = INT64_MIN;                         // end of the last call, or of a flush after it
  std::int64_t enter_ns = INT64_MIN, leave_ns = INT64_MIN;  // the current call
  std::int64_t waits_until_ns = INT64_MIN;                  // moved end of the call, if it waited
  unsigned since_knot = 0;
};

class Compensator {
 public:
  explicit Compensator(Run& run) : run_(run) {
    for (std::size_t i = 0; i < run.processes().size(); ++i)
      call_ns_.push_back(account_of(run.processes()[i], run.totals(i)).call_ns);
  }

  Result<Compensation> compensate() {
    auto events = EventStream::open(run_, {.lists_all_requests = true});
    if (!events) return events.failure();
    Matcher matcher(run_, {.matches = false, .ends = true});
    for (auto rows = events->next(); !rows.empty(); rows = events->next())
      for (const EventRow& row : rows) {
        add(row);
        matcher.add(row);
        add(matcher.ends());
        matcher.ends().clear();
      }
    std::int64_t last_ns = INT64_MIN, moved_ns = INT64_MIN;
    for (auto& [key, thread] : threads_) {
      end_call(thread);
      const std::int64_t end_ns = std::max(thread.leave_ns, thread.free_ns);
      last_ns = std::max(last_ns, end_ns);
      moved_ns = std::max(moved_ns, thread.map(end_ns));
    }
    if (!threads_.empty()) done_.earlier_ns = difference(last_ns, moved_ns);
    done_.warnings = events->warnings();
    for (std::string& line : matcher.warnings()) done_.warnings.push_back(std::move(line));
    move();
    return std::move(done_);
  }

 private:
  MovedThread& thread_of(std::int32_t world, std::int32_t rank, std::uint32_t thread) {
    return threads_[{world, rank, thread}];
  }

  void add(const EventRow& row) {
    if (row.kind != EventKind::call && row.kind != EventKind::flush) return;
    MovedThread& thread = thread_of(row.world, row.rank, row.thread);
    thread.process = row.process;
    thread.wrapper_ns = call_ns_[row.process];
    end_call(thread);
    const std::int64_t end_ns = sum(row.start_ns, row.duration_ns);
    if (row.kind == EventKind::flush) {
      thread.map.add(row.start_ns, thread.offset_ns);
      thread.offset_ns = difference(thread.offset_ns, row.duration_ns);
      thread.map.add(end_ns, thread.offset_ns);
      thread.free_ns = end_ns;
      done_.flush_ns = sum(done_.flush_ns, row.duration_ns);
      return;
    }
    take_out_wrapper(thread, row.start_ns);
    thread.enter_ns = row.start_ns;
    thread.leave_ns = end_ns;
    thread.waits_until_ns = INT64_MIN;
  }

  // Takes out the wrapper, which lies before the call; at most the time since the last call or flush.
  void take_out_wrapper(MovedThread& thread, std::int64_t enter_ns) {
    if (thread.free_ns == INT64_MIN) return;
    thread.owed_ns += thread.wrapper_ns;
    const std::int64_t gap_ns = std::max<std::int64_t>(difference(enter_ns, thread.free_ns), 0);
    const std::int64_t taken_ns = std::min(static_cast<std::int64_t>(thread.owed_ns), gap_ns);
    thread.owed_ns = std::min(thread.owed_ns - static_cast<double>(taken_ns), thread.wrapper_ns);
    thread.offset_ns = difference(thread.offset_ns, taken_ns);
    done_.wrapper_ns = sum(done_.wrapper_ns, taken_ns);
    if (++thread.since_knot < calls_of_a_knot) return;
    thread.since_knot = 0;
    thread.map.add(enter_ns, thread.offset_ns);
  }

  // Ends the current call. By now it is known what the call waited for.
  void end_call(MovedThread& thread) {
    if (thread.enter_ns == INT64_MIN) return;
    if (thread.waits_until_ns != INT64_MIN) {
      const std::int64_t offset_ns = difference(thread.waits_until_ns, thread.leave_ns);
      if (offset_ns != thread.offset_ns) {
        thread.map.add(thread.enter_ns, thread.offset_ns);
        thread.map.add(thread.leave_ns, offset_ns);
        thread.offset_ns = thread.map.last_offset_ns();
      }
    }
    thread.free_ns = thread.leave_ns;
    thread.enter_ns = INT64_MIN;
  }

  // Adds the ends that one row made known. After the move, another rank may be the last to enter a collective. So if
  // all ranks wait for all, the latest of the known moved begins is used.
  void add(const std::vector<End>& ends) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, std::int64_t> last_ns;
    const auto is_of_all = [](const End& end) {
      return end.kind == End::Kind::collective && end.role == CallRole::to_all;
    };
    const auto key_of = [](const End& end) { return std::tuple{end.communicator, end.other_rank, end.other.enter_ns}; };
    for (const End& end : ends) {
      if (!is_of_all(end)) continue;
      std::int64_t& last = last_ns.try_emplace(key_of(end), INT64_MIN).first->second;
      last = std::max({last, moved(thread_of(end.world, end.rank, end.posted.thread), end.posted.enter_ns),
                       moved(thread_of(end.world, end.other_rank, end.other.thread), end.other.enter_ns)});
    }
    for (const End& end : ends)
      add(end, is_of_all(end) ? last_ns.at(key_of(end))
                              : moved(thread_of(end.world, end.other_rank, end.other.thread), end.other.enter_ns));
  }

  // `other_ns`: the moved begin of the call that it waited for.
  void add(const End& end, std::int64_t other_ns) {
    MovedThread& thread = thread_of(end.world, end.rank, end.completed.thread);
    const PartCall& call = end.completed;
    const bool is_last = thread.enter_ns == call.enter_ns && thread.leave_ns == call.leave_ns;
    if (!is_last || end.other.enter_ns > call.leave_ns) return;  // the clocks disagree
    // The receive was posted before the send, so the send did not wait for it.
    if (end.kind == End::Kind::sent && end.other.enter_ns <= call.enter_ns) return;
    const std::int64_t begin_ns = sum(call.enter_ns, thread.offset_ns);
    const std::int64_t lasts_ns = difference(call.leave_ns, std::max(call.enter_ns, end.other.enter_ns));
    thread.waits_until_ns = std::max(thread.waits_until_ns, sum(std::max(begin_ns, other_ns), lasts_ns));
  }

  // The moved time of a thread; `ns` is at most the begin of its current call.
  static std::int64_t moved(const MovedThread& thread, std::int64_t ns) {
    return ns == thread.enter_ns ? sum(ns, thread.offset_ns) : thread.map(ns);
  }

  void move() {
    std::map<std::size_t, std::shared_ptr<TimeMaps>> maps;
    for (const auto& [key, thread] : threads_) {
      auto& of = maps[thread.process];
      if (!of) of = std::make_shared<TimeMaps>();
      const auto& before = run_.processes()[thread.process].moved;
      if (before) of->process = before->process;
      const std::uint32_t number = std::get<2>(key);
      of->threads[number] = before ? before->of(number).then(thread.map) : thread.map;
    }
    done_.maps.resize(run_.processes().size());
    for (const auto& [process, map] : maps) done_.maps[process] = map;
    run_.move_times(done_.maps);
  }

  Run& run_;
  std::vector<double> call_ns_;  // by process
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, MovedThread> threads_;
  Compensation done_;
};

}  // namespace

Result<Compensation> compensate(Run& run) { return Compensator(run).compensate(); }

}  // namespace tare::reader
