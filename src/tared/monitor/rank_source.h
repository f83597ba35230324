// The snapshots of one process: turns numbers from its ring into named events, by the definitions in its segment
// (format/definition.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/definition.h"
#include "format/process_record.h"
#include "recorder/clock.h"
#include "tared/filters/snapshot.h"
#include "tared/monitor/chosen.h"
#include "tared/monitor/ring_reader.h"
#include "tared/open_segment.h"

namespace tare::tared {

// Reads the definition log of a process as it grows, up to the first invalid entry.
class DefinitionLog {
 public:
  // The log now has `published` bytes; those of earlier calls have not changed. Calls take(head, entry) for new
  // entries.
  template <class Take>
  void read(const char* log, std::uint64_t published, Take take) {
    while (!broken_ && published > read_ && published - read_ >= sizeof(format::DefinitionHead)) {
      format::DefinitionHead head;
      std::memcpy(&head, log + read_, sizeof head);
      broken_ = head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > published - read_;
      if (broken_) return;
      take(head, log + read_);
      read_ += head.bytes;
    }
  }

 private:
  std::uint64_t read_ = 0;
  bool broken_ = false;
};

// Events of the API by type number.
class EventTypes {
 public:
  struct Type {
    format::EventClass event_class;
    std::string identity;  // "region solve", "phase init", "counter residual"
    std::string unit;      // of a counter
  };

  // Reads an entry of the kind event_type.
  void take(const char* entry, std::uint32_t bytes);
  // nullptr: not defined, or not of a kind that snapshots contain.
  const Type* find(std::uint32_t type) const;

 private:
  std::unordered_map<std::uint32_t, Type> types_;
};

// Converts ticks of a process of this node to times.
class TickClock {
 public:
  explicit TickClock(const format::ProcessRecord& process)
      : start_(process.clock_start), realtime_start_ns_(static_cast<std::int64_t>(process.realtime_start_ns)) {}

  // The rate is measured since the process began, so it becomes more exact.
  void update() {
    const format::ClockPair now = recorder::read_clock_pair();
    if (now.ticks > start_.ticks && now.monotonic_ns > start_.monotonic_ns)
      ns_per_tick_ =
          static_cast<double>(now.monotonic_ns - start_.monotonic_ns) / static_cast<double>(now.ticks - start_.ticks);
  }
  double duration_ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
  // Since the epoch. A time too far from now is replaced by now.
  std::int64_t unix_ns(std::uint64_t ticks) const {
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - start_.ticks)) * ns_per_tick_;
    constexpr double longest = 1e18;
    if (!(since > -longest && since < longest)) return static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME));
    return realtime_start_ns_ + static_cast<std::int64_t>(since);
  }

 private:
  format::ClockPair start_;
  std::int64_t realtime_start_ns_;
  double ns_per_tick_ = 1;
};

// What snapshots contain.
struct Chosen {
  ChosenEvents events;
  ChosenSites sites;
};

class RankSource {
 public:
  RankSource(const std::string& path, pid_t pid);

  // False if it is not the segment of a monitored process.
  bool is_ready() const { return ring_ != nullptr; }
  bool is_alive() const { return life_ != format::Life::gone; }  // as far as is known, at the last look
  format::Life life() const { return file_.life(); }
  void look() { life_ = file_.life(); }
  bool has_more() const { return ring_->has_more(); }
  // The rank in MPI_COMM_WORLD; none before MPI_Init, for a spawned process, or if the ring is broken.
  std::optional<std::uint32_t> rank() const;
  std::uint32_t world() const;  // ranks in there; 0 if it has no rank

  // Passes on only these events, and, if there are sites, only calls of these: from a round on; 0: from now on.
  void choose(std::uint64_t from_round, const std::shared_ptr<const Chosen>& chosen) {
    if (chosen == chosen_) return;
    next_chosen_ = chosen;
    chosen_from_ = from_round;
    if (from_round == 0) change_chosen();
  }

  // Rounds of this process count from this one on; earlier programs had the rounds before.
  void begin_at(std::uint64_t round) { first_round_ = round; }
  std::optional<std::uint64_t> first_round() const { return first_round_; }

  // Passes what is in the ring to `taker`, as long as that has room. Returns the number of snapshots. `last_round`
  // increases to the last round.
  std::size_t poll(SnapshotTaker& taker, std::uint64_t& last_round);

 private:
  // One event: the sums of all rows of all threads that count for it.
  struct Event {
    EventKey key;
    bool is_counter;
    Metrics now;
    double time_ns;  // the value before, because times must not decrease
  };
  using Numbers = std::vector<std::uint32_t>;  // the event of each row, phase or span; or unknown, or left out

  struct Block {
    std::unique_ptr<Mapping> memory;
    Numbers rows, phases;
  };

  void add_section(const RingReader::Section& section, SnapshotTaker& taker);
  Block* block_at(std::uint32_t number);
  void read_definitions();
  bool is_chosen(const std::string& identity) const { return chosen_->events.has(identity); }
  void change_chosen();
  std::uint32_t event_of(const std::string& identity, bool is_counter, const std::string& unit, SnapshotTaker& taker);
  std::uint32_t event_of_call(const format::ProfileRow& row, SnapshotTaker& taker);
  std::uint32_t event_of_row(Block& block, std::uint32_t row, SnapshotTaker& taker);
  std::uint32_t event_of_phase(Block& block, std::uint32_t phase, SnapshotTaker& taker);
  std::uint32_t event_of_span(std::uint32_t span, SnapshotTaker& taker);
  std::uint64_t round() const { return first_round_.value_or(0) + ring_->head().round; }
  void hand_over(std::uint32_t rank, std::uint64_t& last_round, SnapshotTaker& taker);

  OpenSegment file_;
  std::unique_ptr<Mapping> offloads_;
  std::unique_ptr<Mapping> log_;
  std::unique_ptr<RingReader> ring_;
  std::unique_ptr<TickClock> clock_;
  std::optional<std::uint64_t> first_round_;
  std::uint64_t lost_ = 0;  // snapshots, as the last one says
  format::Life life_ = format::Life::lives;
  std::shared_ptr<const Chosen> chosen_ = std::make_shared<const Chosen>();  // everything
  std::shared_ptr<const Chosen> next_chosen_;  // from chosen_from_ on; nullptr: there is no change
  std::uint64_t chosen_from_ = 0;
  DefinitionLog definitions_;
  EventTypes types_;
  CallSites sites_;
  std::vector<Block> blocks_;
  Numbers spans_;
  std::vector<Event> events_;
  std::unordered_map<EventKey, std::uint32_t> by_key_;
  std::vector<std::uint32_t> order_;  // events by their keys
  std::vector<EventKey> keys_;
  std::vector<Metrics> values_;
};

}  // namespace tare::tared
