// The role of a blocking collective operation that no rank leaves before all have entered it. If all ranks of the world
// take part, spells begin and end after it (recorder/spells.h).
#pragma once

#include "mpi/roles/envelope.h"
#include "recorder/segment.h"
#include "recorder/spell_sums.h"
#include "recorder/spells.h"

namespace tare::mpi {

template <class A>
struct Passes : Role {
  typename A::Comm comm;
  explicit Passes(typename A::Comm c) noexcept : comm(c) {}

  // A call that ends a spell is recorded, because its call site distinguishes spells.
  bool is_needed(Thread& thread) const noexcept { return recorder::spells.end_with_next() && has_all_ranks(thread); }
  void counted(Thread& thread) noexcept {
    if (has_all_ranks(thread)) recorder::spells.pass_silently(thread);
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow& row, int) noexcept {
    if (recorder::spells.are_asked() && has_all_ranks(thread)) [[unlikely]]
      pass(thread, call, row);
  }

 private:
  [[gnu::cold, gnu::noinline]] static void pass(Thread& thread, const recorder::Call& call,
                                                const format::ProfileRow& row) noexcept {
    if (recorder::spells.end_with_next()) {
      const std::uint64_t ticks = call.leave != 0 ? call.leave - call.enter : recorder::mean_ticks(row);
      const std::uint64_t bytes = call.bytes == format::no_bytes ? 0 : call.bytes;
      recorder::spell_summer.leave_out(thread, row, ticks, bytes);
    }
    if (thread.counts_only) recorder::spells.leave_out(call.leave - call.enter);
    recorder::spells.pass(thread, call.site, call.leave);
  }
  [[gnu::cold, gnu::noinline]] bool has_all_ranks(Thread& thread) const noexcept {
    const Communicator& known = known_communicator(thread, bits(comm));
    const auto* segment = recorder::segment();
    return segment != nullptr && known.remote_size == 0 && known.size == segment->process.size;
  }
};

}  // namespace tare::mpi
