// What tare's own path costs on this machine: measured at start, so that a run can say what it weighs
// without timing itself at every call. Warm caches make these the least a call can cost; bench/ compares
// the estimate with the truth.
#pragma once

#include <algorithm>

#include "mpi/poll.h"
#include "mpi/roles/completion.h"
#include "mpi/roles/volume.h"

namespace tare::mpi {

// Ticks a step.
struct Costs {
  std::uint32_t call;
  std::uint32_t lookup;
  std::uint32_t completion;
  std::uint32_t poll;  // in vain, and not timed; 0: with a trace, all are
};

constexpr int calibration_steps = 64;

// Cheapest of several batches of `step`, in ticks a step.
template <class Step, class Reset>
std::uint32_t cheapest(Step step, Reset reset) noexcept {
  constexpr int batches = 12;
  constexpr int steps = calibration_steps;
  std::uint64_t best = UINT64_MAX;
  for (int batch = 0; batch < batches; ++batch) {
    reset();
    const std::uint64_t start = recorder::now();
    for (int i = 0; i < steps; ++i) step(i);
    best = std::min(best, recorder::now() - start);
  }
  return static_cast<std::uint32_t>(best / steps);
}

// A call that moves something.
struct MovesEight : Role {
  void after(Thread&, recorder::Call& call, int) noexcept { call.bytes = 8; }
};

// Of one that is not timed.
template <class A>
std::uint32_t cost_of_poll(Thread& thread, const Frame& caller) noexcept {
  const auto one_poll = [&](int) {
    poll<A, Function::none>(
        caller, [] { return A::success; }, [] { return true; });
  };
  for (unsigned i = 0; i < 2 * Polls::period; ++i) one_poll(0);
  Polls::Site& site = thread.polls.site(Polls::key_of(caller.return_address, 0));
  return cheapest(one_poll, [&] { site.allow(calibration_steps); });
}

// Runs the path on a location without calls and leaves it so; events of the API stay.
template <class A>
[[gnu::cold, gnu::noinline]] Costs calibrate(Thread& thread) noexcept {
  format::LocationHeader& shared = *thread.shared;
  const recorder::Location::Mark begin = thread.mark(calibration_steps * sizeof(format::CallRecord));
  const auto empty = [&] { thread.rewind(begin); };
  const Frame caller = TARE_CALLER;
  skip_site(thread, caller);
  const auto one_call = [&](int i) {
    Peer<A> peer{0};
    Tag<A> tagged{i};
    MovesEight moves;
    Sends sending;
    measure<A, Function::none>(
        caller, [] { return 0; }, peer, tagged, moves, sending);
  };
  Costs costs{};
  RequestCopy copy;
  costs.call = cheapest(one_call, empty);
  costs.lookup = cheapest([](int) { count_call(Function::none, Caller::asks, __builtin_return_address(0)); }, [] {});
  costs.completion = cheapest(
      [&](int i) {
        const std::uint64_t handle = 0x10000U + static_cast<unsigned>(i) * 64U;
        requests.put(handle, starter_of(thread, thread.rows[0], format::plain_request),
                     [&](Request& entry) { start(entry, {}, thread.rows[0]); });
        complete<A, false>(thread, recording_block(thread), handle, look_up(thread, handle, true, &copy), nullptr, 0);
      },
      empty);
  if (!thread.traced()) costs.poll = cost_of_poll<A>(thread, caller);
  empty();
  forget_paths(thread);
  thread.rows[0].waited_ticks = 0;
  for (std::uint32_t row = 1; row < shared.summary.rows; ++row) thread.rows[row] = {};
  shared.peers[1] = {};
  shared.summary.rows = shared.summary.peers = 1;
  shared.summary.completions = 0;
  shared.lookups[0] = 0;
  std::fill(std::begin(shared.index), std::end(shared.index), std::uint16_t{0});
  std::fill(std::begin(shared.peer_index), std::end(shared.peer_index), std::uint16_t{0});
  return costs;
}

}  // namespace tare::mpi
