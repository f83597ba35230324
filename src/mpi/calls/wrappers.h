// The wrappers of all MPI functions for one ABI, and their tables. One source file for each ABI includes it.
#pragma once

#include "mpi/calls/calibrate.h"
#include "mpi/calls/measure.h"
#include "mpi/calls/measured_poll.h"
#include "mpi/interposition/dispatch.h"
#include "mpi/roles/communicator.h"
#include "mpi/roles/completion.h"
#include "mpi/roles/lifecycle.h"
#include "mpi/roles/message.h"
#include "mpi/roles/pcontrol.h"
#include "mpi/roles/sampling.h"
#include "mpi/roles/sampling_start.h"
#include "mpi/roles/scope.h"
#include "mpi/roles/sync_point.h"
#include "mpi/roles/volume.h"
#include "recorder/process.h"
#include "recorder/segment.h"

namespace tare::mpi {

// Measures every function.
template <class A>
struct Wrappers {
  static constexpr bool samples = false;
// The wrappers use the types.
// clang-format off
#include "types.inc"
#include "wrappers.inc"
  // clang-format on
};

// Counts look-up functions. `around_tool`: those of another tool (tool.h), which may make further calls for one.
template <class A, bool around_tool>
struct Counted {
// The wrappers use the types.
// clang-format off
#include "types.inc"
#include "counted.inc"
  // clang-format on
};

// Measures functions whose messages can be sampled, and samples them.
template <class A>
struct Sampled {
  static constexpr bool samples = true;
// The wrappers use the types.
// clang-format off
#include "types.inc"
#include "sampled.inc"
  // clang-format on
};

// Begins recording in this process. attach_ticks: what filling the tables took.
template <class A>
[[gnu::cold]] void attached(std::uint64_t attach_ticks) noexcept {
  const std::uint64_t start = recorder::now();
  if (!recorder::attach()) return;
  stack::notice_modules();  // MPI may have been loaded after the process began to record
  recorder::Location* location = recorder::here();
  format::ProcessRecord& process = recorder::segment()->process;
  if (location == nullptr || process.abi != format::Abi::none) return;  // another thread has attached meanwhile
  process.abi = A::kind;
  if (lookups_timed()) process.flags |= format::time_lookups;
  // Beginning to record takes long enough to measure the rate of the clock.
  const format::ClockPair before = process.clock_start;
  const auto ticks = static_cast<double>(cost_of_lookups(static_cast<Thread&>(*location)));
  const format::ClockPair after = recorder::read_clock_pair();
  const double ns_per_tick =
      static_cast<double>(after.monotonic_ns - before.monotonic_ns) / static_cast<double>(after.ticks - before.ticks);
  process.lookup_cost_ps = static_cast<std::uint32_t>(1000.0 * ns_per_tick * ticks / calibration_calls);
  begin_sampling(before, after);
  process.hook_init += attach_ticks + recorder::now() - start;
}

// nullptr for number 0, then the functions in order.
template <class A>
inline void* const timed_table[] = {
    nullptr,
#define TARE_FUNCTION(name, counted) reinterpret_cast<void*>(&Wrappers<A>::name),
#include "functions.inc"
#undef TARE_FUNCTION
};

template <class A, bool around_tool>
inline void* const counted_table[] = {
    nullptr,
#define TARE_WRAPPER_false(name) reinterpret_cast<void*>(&Wrappers<A>::name)
#define TARE_WRAPPER_true(name) reinterpret_cast<void*>(&Counted<A, around_tool>::name)
#define TARE_FUNCTION(name, counted) TARE_WRAPPER_##counted(name),
#include "functions.inc"
#undef TARE_FUNCTION
#undef TARE_WRAPPER_true
#undef TARE_WRAPPER_false
};

template <class A>
inline const SampledWrapper sampled_table[] = {
#define TARE_SAMPLED(name) {Function::name, reinterpret_cast<void*>(&Sampled<A>::name)},
#include "sampled_functions.inc"
#undef TARE_SAMPLED
    {Function::none, nullptr},
};

template <class A>
inline const NestedWrapper nested_table[] = {
    {Function::MPI_Comm_free, reinterpret_cast<void*>(&nested_comm_free<A, Function::MPI_Comm_free, false>),
     reinterpret_cast<void*>(&nested_comm_free<A, Function::MPI_Comm_free, true>)},
    {Function::MPI_Comm_disconnect, reinterpret_cast<void*>(&nested_comm_free<A, Function::MPI_Comm_disconnect, false>),
     reinterpret_cast<void*>(&nested_comm_free<A, Function::MPI_Comm_disconnect, true>)},
    {Function::MPI_Type_free, reinterpret_cast<void*>(&nested_type_free<A, false>),
     reinterpret_cast<void*>(&nested_type_free<A, true>)},
    {Function::none, nullptr, nullptr},
};

}  // namespace tare::mpi
