// The constructs of OpenMP that a thread is in, and their records.
//
// Constructs contain one another, and calls of MPI and of other sources. So a thread keeps those that it is in on a
// stack of its own, and each becomes a record when it ends. A construct that was left (by longjmp, an exception or a
// cancellation) ends with no event; it has no record, and is dropped when one around it ends.
//
// What a record worked on (SourceCallRecord::object) is the parallel region in which the thread was: the number of the
// region's call site and the size of its team among those of regions. So the profile has the time of each construct by
// region.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "format/functions.h"
#include "recorder/clock.h"
#include "stack/inside.h"
#include "stack/site.h"

namespace tare::openmp {

using format::Function;

// A parallel region as all threads of its team know it; or a task of it. It fits into the word that OMPT has for each.
struct Region {
  std::uint32_t site = 0;    // the call site of the construct; 0: none
  std::uint16_t number = 0;  // of the region with its team; 0: in none, or there is no number left
  // Of the process that has made it: a forked child does not know the sites of its parent. The top bit is not in use.
  std::uint16_t age : 14 = 0;
  // It began in a thread that only counts, or in such a region: no thread of its team has rows of the region, so that
  // those of all are of the same regions.
  std::uint16_t is_counted : 1 = 0;

  std::uint64_t word() const noexcept {
    return site | std::uint64_t{number} << 32 | std::uint64_t{age} << 48 | std::uint64_t{is_counted} << 62;
  }
  static Region of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint16_t>(word >> 32),
            static_cast<std::uint16_t>(word >> 48 & max_age), static_cast<std::uint16_t>(word >> 62 & 1)};
  }
  static constexpr std::uint16_t max_age = 0x3fff;
  // Whether this process has made it.
  bool is_known() const noexcept;
};

// A construct that a thread is in.
struct Construct {
  std::uint64_t enter;         // ticks
  std::uint64_t arguments[2];  // of which the record has the first `argument_count`
  Region region;
  std::uint32_t site;
  Function function;
  std::uint8_t argument_count;
  bool is_counted;  // it is only counted, and has no record
};

struct Constructs;

// An event of a runtime in this thread. As long as it lives, the thread is in tare's own code.
class Event {
 public:
  // Something begins. `caller`: the frame that has called the function of this library. The thread gets a location.
  static Event of_begin(const stack::Frame& caller) noexcept;
  // Something may have ended: a thread that has begun nothing does not record.
  static Event of_end(const stack::Frame& caller) noexcept;
  ~Event() {
    if (constructs_ != nullptr) tare_inside = 0;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Whether it is to be recorded; else no other function may be called. It is not if the thread is in a call of MPI or
  // in tare's own code, if recording is impossible, and if the thread pauses.
  explicit operator bool() const noexcept { return constructs_ != nullptr; }

  // The call site of the frame `caller`; 0 if what begins there is only counted. `code`: where the program goes on
  // behind the call, as the runtime says. If that is in the runtime, one of its functions has called another, or the
  // compiler has made the call a jump at the end of the function that the runtime has called. Then the stack of a
  // thread that the runtime has begun has no frame of the program, and the site is that of the region.
  std::uint32_t site(const void* code) noexcept;
  // The same of a task, also in a thread that only counts: another one may run it, and records it.
  std::uint32_t site_of_task(const void* code) noexcept;
  // That of a region which the frame `caller` begins, also in a thread that only counts. `function`: what its threads
  // run, if that is known. Its first line is that of the region, which GCC does not give the call; so it is the
  // innermost frame.
  std::uint32_t site_of_region(void (*function)(void*) = nullptr) noexcept;
  // The region that the thread is in; a new one; a task of the region that the thread is in.
  Region region() const noexcept;
  Region new_region(std::uint32_t site) const noexcept;
  Region new_task(std::uint32_t site) const noexcept;
  // Whether the thread waits in a construct, so that a task that begins now runs meanwhile.
  bool is_waiting() const noexcept;
  // The innermost construct of the function that the thread is in; nullptr if it is in none. Valid until it ends.
  Construct* innermost(Function function) noexcept;

  // A construct begins now. A thread that only counts counts it, and knows that it is in it. Within a region that is
  // measured, it does not: what all threads wait in a region belongs to the time of the region.
  void begin(Function function, std::uint32_t site, Region region,
             std::initializer_list<std::uint64_t> arguments = {}) noexcept;
  // The part of a thread of this number in its team of a region begins.
  void begin_part(Region region, unsigned number, unsigned threads) noexcept;
  // The innermost construct of one of the functions has ended, and with it those that it contains. Nothing happens if
  // the thread is in none.
  void end(std::initializer_list<Function> functions) noexcept;

 private:
  Event(const stack::Frame& caller, bool is_begin) noexcept;
  bool prepare(bool is_begin) noexcept;
  // Whether what begins now in the region is only counted.
  bool only_counts(Region region) const noexcept;

  const stack::Frame caller_;
  stack::Thread* thread_ = nullptr;
  Constructs* constructs_ = nullptr;
};

// Hooks of the source (recorder/source.h).
void forget_thread(recorder::Location& location) noexcept;
void forget_parent() noexcept;

}  // namespace tare::openmp
