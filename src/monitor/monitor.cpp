#include "monitor/monitor.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "format/monitor_spec.h"
#include "monitor/cadence.h"
#include "monitor/control_reader.h"
#include "monitor/cost_meter.h"
#include "monitor/ring_writer.h"
#include "monitor/snapshot_copy.h"
#include "monitor/timer.h"
#include "recorder/clock.h"
#include "recorder/event_types.h"
#include "recorder/monitored.h"
#include "recorder/node_words.h"
#include "recorder/segment.h"
#include "recorder/start_tared.h"
#include "recorder/system.h"
#include "recorder/warning.h"

namespace tare::monitor {
namespace {

using recorder::Location;

constexpr std::uint32_t max_locations = 512;  // of a process, in its snapshots

class Monitor {
 public:
  // Called in the first thread of a process, before it reaches a point.
  void begin() noexcept;
  void add(Location& location) noexcept;

  // A point that the program makes. Only those of one thread count, the first that makes one, because threads reach
  // points in no order.
  void point(Location& location, std::uint64_t ticks) noexcept;
  void point_by_clock(Location& location, std::uint64_t ticks) noexcept;
  void entered(Location& location, std::uint32_t region) noexcept;

  // What is known about profiles of so many events, and what offloads have cost here.
  void find(std::uint32_t events, recorder::MonitorFindings& found) const noexcept;

  // The next message of a user to this rank.
  bool control(format::ControlMessage& message, std::uint64_t& lost) noexcept;

  void reset() noexcept;

 private:
  // While one thread offloads, another that reaches a point goes on: the first offloads for it, too.
  class Turn {
   public:
    explicit Turn(std::atomic<bool>& taken) noexcept
        : taken_(taken), ours_(!taken.exchange(true, std::memory_order_acquire)) {}
    ~Turn() {
      if (ours_) taken_.store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const noexcept { return ours_; }

   private:
    std::atomic<bool>& taken_;
    bool ours_;
  };

  // An offload point: whether it is an offload, and of which round.
  void come_to(Location& location, bool offloads, std::uint64_t round, std::uint64_t ticks) noexcept;
  void offload(std::uint64_t round, std::uint64_t ticks) noexcept;

  recorder::SpinLock adding_;
  bool begun_ = false;
  RingWriter ring_;
  Cadence cadence_;
  Timer timer_;
  CostMeter costs_;
  recorder::SpinLock reading_controls_;
  ControlReader controls_;
  std::atomic<std::uint64_t> reached_{0};  // the last offload point
  std::uint64_t region_every_ = 0;
  std::uint32_t region_ = 0;  // entries of this region are points; 0: of none
  std::uint64_t region_entries_ = 0;
  std::uint64_t points_ = 0;
  std::uint64_t last_by_clock_ = 0;  // round
  const Location* counted_ = nullptr;
  std::atomic<bool> offloading_{false};
  std::atomic<std::uint32_t> locations_{0};
  std::atomic<std::uint32_t> unmonitored_{0};
  Location* location_[max_locations] = {};
};

constinit Monitor monitor;

void Monitor::begin() noexcept {
  format::MonitorSpec spec;
  const char* text = secure_getenv(recorder::monitor_variable);
  format::OffloadRing* ring = recorder::offload_ring();
  if (ring == nullptr || text == nullptr || format::parse_monitor_spec(text, spec) != nullptr) return;
  ring_.begin(*ring, spec);
  controls_.begin(recorder::node_words->last_control);
  cadence_ = Cadence(spec.every);
  timer_.begin(spec.interval_ns, spec.epoch_ns, recorder::segment()->process.clock_start);
  region_every_ = spec.region_every;
  if (region_every_ == 0) return;
  const recorder::EventType type{format::EventClass::region, 1, {format::ParameterType::u8}};
  region_ = recorder::register_event_type(type, spec.region, nullptr);
}

void Monitor::add(Location& location) noexcept {
  const recorder::Locked locked(adding_);
  if (!begun_) begin();
  begun_ = true;
  location.update_mode();  // sets the mode anew: it is known now whether the thread must look at the clock
  // Closes regions that an earlier thread of this block has left open.
  for (std::uint32_t i = 0; i < location.spans_used; ++i) location.spans[i].since = location.spans[i].depth = 0;
  const std::uint32_t count = locations_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i)
    if (location_[i] == &location) return;
  if (count == max_locations) {
    unmonitored_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  location_[count] = &location;
  locations_.store(count + 1, std::memory_order_release);
}

void Monitor::point(Location& location, std::uint64_t ticks) noexcept {
  const Turn turn(offloading_);
  if (!turn) return;
  if (counted_ == nullptr) counted_ = &location;
  if (counted_ != &location) return;
  const bool offloads = cadence_.takes(++points_, recorder::node_words->cadence.load(std::memory_order_relaxed));
  costs_.point(ticks, offloads);
  reached_.store(points_, std::memory_order_relaxed);
  come_to(location, offloads, points_, ticks);
}

void Monitor::point_by_clock(Location& location, std::uint64_t ticks) noexcept {
  const Turn turn(offloading_);
  if (!turn) return;
  const std::uint64_t point = timer_.round_at(ticks);
  if (point == 0) return;
  reached_.store(point, std::memory_order_relaxed);
  // The offload belongs to this round, even if the thread was busy when it was due.
  const std::uint64_t round = cadence_.last(point, recorder::node_words->cadence.load(std::memory_order_relaxed));
  come_to(location, round > last_by_clock_, round, ticks);
  last_by_clock_ = std::max(last_by_clock_, round);
}

void Monitor::entered(Location& location, std::uint32_t region) noexcept {
  if (region != region_ || region_ == 0 || (counted_ != nullptr && counted_ != &location)) return;
  if (++region_entries_ % region_every_ == 0) point(location, recorder::now());
}

void Monitor::come_to(Location& location, bool offloads, std::uint64_t round, std::uint64_t ticks) noexcept {
  if (recorder::segment() == nullptr) return;
  format::OffloadAccount& account = ring_.account();
  ++account.points;
  if (!offloads) return;
  offload(round, ticks);
  const std::uint64_t took = recorder::now() - ticks;
  account.ticks += took;
  if (took > account.ticks_max) account.ticks_max = took;
  costs_.offloaded(took);
  location.weighing.flush_ticks -= took;  // for a call that is being weighed: the cost account has this time already
}

void Monitor::offload(std::uint64_t round, std::uint64_t ticks) noexcept {
  const std::uint32_t count = locations_.load(std::memory_order_acquire);
  Extent extents[max_locations];
  std::uint64_t bytes = sizeof(format::SnapshotHead);
  for (std::uint32_t i = 0; i < count; ++i) {
    extents[i] = extent_of(*location_[i]);
    bytes += extents[i].bytes();
  }
  format::OffloadAccount& account = ring_.account();
  char* entry = ring_.reserve(bytes);
  if (entry == nullptr) {
    ++account.lost;
    return;
  }
  *reinterpret_cast<format::SnapshotHead*>(entry) = {{static_cast<std::uint32_t>(bytes), format::EntryKind::snapshot},
                                                     round,
                                                     ticks,
                                                     account.lost,
                                                     count,
                                                     unmonitored_.load(std::memory_order_relaxed)};
  char* out = entry + sizeof(format::SnapshotHead);
  for (std::uint32_t i = 0; i < count; ++i) out = copy_section(*location_[i], extents[i], ticks, out);
  ++account.offloads;
  ring_.publish();
}

void Monitor::find(std::uint32_t events, recorder::MonitorFindings& found) const noexcept {
  format::SweetSpots known;
  recorder::node_words->sweet_spots.read(known);
  found.spot = spot_of(known, events);
  found.direct_ns = found.spot.direct_ns;
  // This process has offloaded profiles of their present size.
  CostMeter::Costs costs;
  if (found.spot.events != known.events || !costs_.costs(costs)) return;
  const double ns = 1 / timer_.ticks_per_ns(recorder::now());
  found.direct_ns = costs.direct * ns;
  found.direct_deviation_ns = costs.direct_deviation * ns;
  if (costs.comparisons == 0) return;
  found.overall_ns = costs.overall * ns;
  found.overall_deviation_ns = costs.overall_deviation * ns;
}

bool Monitor::control(format::ControlMessage& message, std::uint64_t& lost) noexcept {
  if (recorder::offload_ring() == nullptr) return false;
  const recorder::Locked locked(reading_controls_);
  const bool is_there =
      controls_.take(recorder::node_words->last_control, recorder::node_words->controls,
                     recorder::segment()->process.rank, reached_.load(std::memory_order_relaxed), message);
  lost = controls_.lost();
  return is_there;
}

void Monitor::reset() noexcept {
  adding_.reset();
  reading_controls_.reset();
  reached_ = 0;
  begun_ = false;
  region_ = 0;
  region_entries_ = points_ = last_by_clock_ = 0;
  counted_ = nullptr;
  offloading_ = false;
  costs_.reset();
  locations_ = unmonitored_ = 0;
  recorder::offload_due = UINT64_MAX;
}

std::uint64_t ring_bytes(const char* text) noexcept {
  format::MonitorSpec spec;
  const char* wrong = format::parse_monitor_spec(text, spec);
  if (wrong == nullptr) return spec.ring_bytes;
  char line[256];
  std::snprintf(line, sizeof line, "%s=%.120s: %s; the run is not monitored", recorder::monitor_variable, text, wrong);
  recorder::warn(line);
  return 0;
}

void begin_thread(Location& location) noexcept { monitor.add(location); }
void offload(Location& location) noexcept { monitor.point(location, recorder::now()); }
void due(Location& location, std::uint64_t ticks) noexcept { monitor.point_by_clock(location, ticks); }
void span(Location& location, recorder::SpanEvent event, std::uint32_t type, std::uint64_t value) noexcept {
  if (note_span(location, event, type, value)) monitor.entered(location, type);
}
void find(std::uint32_t events, recorder::MonitorFindings& found) noexcept { monitor.find(events, found); }
bool control(format::ControlMessage& message, std::uint64_t& lost) noexcept { return monitor.control(message, lost); }
void forked() noexcept { monitor.reset(); }

}  // namespace

constinit const recorder::MonitorHooks hooks{ring_bytes, begin_thread, offload, due, span, find, control, forked};

}  // namespace tare::monitor
