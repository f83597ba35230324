#include "tared/monitor/monitor_job.h"

#include <algorithm>
#include <ctime>

#include "format/monitor_spec.h"
#include "recorder/clock.h"
#include "recorder/node_words.h"
#include "tared/monitor/node_reduction.h"
#include "tared/monitor/node_source.h"
#include "tared/monitor/round_file.h"

namespace tare::tared {
namespace {

constexpr std::int64_t least_patience_ns = 2'000'000'000;

// No rank wakes tared, which would be a system call of the program's. So it looks at the rings: soon again when it has
// found something, and then the longer the less it finds. The delay this adds is at most an eighth of the interval in
// which snapshots come, and a rank that offloads once a second costs a few hundred looks.
class Pauses {
 public:
  std::uint64_t next(bool found, std::uint64_t now_ns) {
    if (found) last_found_ns_ = now_ns;
    return std::clamp((now_ns - last_found_ns_) / 8, shortest_ns, longest_ns);
  }

 private:
  static constexpr std::uint64_t shortest_ns = 100'000;
  static constexpr std::uint64_t longest_ns = 10'000'000;
  std::uint64_t last_found_ns_ = 0;
};

void sleep_ns(std::uint64_t ns) {
  const timespec time{0, static_cast<long>(ns)};
  nanosleep(&time, nullptr);
}

}  // namespace

std::string value_of(const std::string& spec, const std::string& key, const std::string& otherwise) {
  for (std::size_t at = 0; at < spec.size();) {
    if (spec.compare(at, 7, "region=") == 0) break;  // the last key, which may hold anything
    const std::size_t end = std::min(spec.find(',', at), spec.size());
    if (spec.compare(at, key.size() + 1, key + "=") == 0)
      return spec.substr(at + key.size() + 1, end - at - key.size() - 1);
    at = end + 1;
  }
  return otherwise;
}

void monitor(const Job& job, const char* text, const char* host) {
  format::MonitorSpec spec;
  if (format::parse_monitor_spec(text, spec) != nullptr) return;
  std::string why;
  const std::string specification = value_of(text, "filter", "statistics");
  const std::unique_ptr<Filter> filter = make_filter(specification, why);
  if (filter == nullptr) return;
  NodeSource source(job.places, spec.interval_ns);
  RoundFile file(job.places.run_directory, host);
  const auto interval_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(spec.interval_ns, 1ULL << 60U));
  NodeReduction reduction(*filter, specification, file, std::max(least_patience_ns, 2 * interval_ns));
  const auto advance = [&] {
    reduction.advance(source.ranks(), static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME)));
  };
  Pauses pauses;
  std::uint64_t looked = 0;
  std::uint32_t seen = 0;
  while (told_to_end == 0) {
    const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC);
    const std::uint32_t begun = recorder::node_words->processes.load(std::memory_order_acquire);
    const bool looks = begun != seen || now - looked >= look_every_ns;
    if (looks) {
      source.look(reduction);
      if (!job.starter.is_there() && !source.any_alive()) break;
      seen = begun;
      looked = now;
    }
    const bool found = source.poll(reduction) != 0;
    if (found || looks) advance();
    file.write_due(now);
    sleep_ns(pauses.next(found, now));
  }
  source.look(reduction);
  source.poll(reduction);
  reduction.finish(source.ranks(), static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME)));
  file.write();
}

}  // namespace tare::tared
