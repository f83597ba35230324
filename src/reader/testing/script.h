// For tests: makes runs call by call, so that all times are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/record.h"
#include "format/scheduling.h"

namespace tare::reader::synthetic {

// The events of a thread of a rank, from the end of MPI_Init on. A tick is a nanosecond.
class Script {
 public:
  static constexpr std::uint64_t init_leave = 2000;

  void compute(std::uint64_t ticks) { now_ += ticks; }
  // Time outside MPI on no processor: it could run, and then it is blocked.
  void loses_processor(std::uint64_t descheduled, std::uint64_t blocked);
  // The last call was descheduled for so long.
  void was_descheduled(std::uint64_t ticks);
  // The following calls are made from this site (1 to 9).
  void at(std::uint32_t site) { site_ = site; }
  // A call that takes `ticks`. It starts `request`, if there is one. A send has 8 bytes if they are not given.
  void call(std::string_view function, std::uint64_t ticks, std::int32_t peer = format::no_peer,
            std::int32_t tag = format::no_tag, std::uint32_t request = format::no_request,
            std::uint32_t communicator = 1, std::uint64_t bytes = format::no_bytes);
  // A call that returns an error.
  void fails(std::string_view function, std::uint64_t ticks, std::int32_t peer, std::int32_t tag);
  // A window of all ranks, and for epochs the group of one rank, or of all (-1).
  static constexpr std::uint32_t window = 3;
  static constexpr std::uint32_t group_of(std::int32_t rank) { return 100 + static_cast<std::uint32_t>(rank); }
  // A call on the window. `tag`: of record.h.
  void on_window(std::string_view function, std::uint64_t ticks, std::int32_t peer = format::no_peer,
                 std::int32_t tag = format::no_tag) {
    call(function, ticks, peer, tag, format::no_request, window);
  }
  void on_group(std::string_view function, std::uint64_t ticks, std::int32_t rank) {
    on_window(function, ticks, format::no_peer, static_cast<std::int32_t>(group_of(rank)));
  }
  // A call that sends and receives.
  void exchange(std::string_view function, std::uint64_t ticks, std::int32_t peer, std::int32_t tag,
                std::int32_t source, std::int32_t source_tag);
  // The last call completes the request: a receive from `source`, or, without a source, a send.
  void completes(std::uint32_t request, std::int32_t source = format::no_peer, std::int32_t tag = format::no_tag);
  void starts(std::uint32_t request, std::int32_t peer, std::int32_t tag, std::uint64_t bytes);
  void loses();
  // Only the newest events are kept. What the rank did in these `ticks` is not known.
  void is_overwritten(std::uint64_t ticks) {
    keeps_newest_ = true;
    now_ += ticks;
  }
  // A gap of `ticks` in the trace that ends with a traced spell. `flags`: further format::SpellFlags of it.
  void is_left_out(std::uint64_t ticks, std::uint32_t number, unsigned flags = 0);
  // A spell begins.
  void begins_spell(std::uint32_t number, unsigned flags);
  // A write of the event buffer that takes `ticks`.
  void flushes(std::uint64_t ticks);

  std::uint64_t now() const { return now_; }
  bool keeps_newest() const { return keeps_newest_; }
  const std::string& records() const { return records_; }
  // The definitions of its spells.
  const std::string& definitions() const { return definitions_; }
  // The payload of the chunk that tells how it was scheduled; empty if that is not known.
  std::string scheduling() const;

 private:
  std::uint64_t now_ = init_leave;
  bool keeps_newest_ = false;
  std::uint32_t site_ = 1;
  std::uint64_t last_ticks_ = 0;  // of the last call
  std::string records_, definitions_;
  std::vector<format::SchedulingSpan> spans_;
};

// A further thread of a rank.
struct SecondThread {
  std::size_t rank;
  Script script;
};

// The file of a run of these ranks, all in communicator 1, which is MPI_COMM_WORLD, with a window; sites 1 to 9 are
// lines 1 to 9 of "app.py".
std::string run_of(const std::vector<Script>& ranks, const std::vector<SecondThread>& second = {});

}  // namespace tare::reader::synthetic
