// How a run is monitored, as processes and tareds read it from TARE_MONITOR. `tare run --monitor` writes it
// (docs/monitoring.md); this form has no units and no defaults of its own:
//
//   KEY=VALUE[,KEY=VALUE]...
//
//   policy=block | nonblock | lossy
//   interval=NS      the clock makes offload points, each so many nanoseconds; 0: the program alone does
//   epoch=NS         Unix time of round 0 of the clock
//   every=N          at first each N-th point is an offload
//   region=N:NAME    each N-th entry of the region NAME is a point (the last key: NAME is what follows)
//   ring=BYTES       of a process; a power of two
//   depth=N          snapshots of a process that may wait for tared; 0: as many as fit
//   wait=NS          that a process waits for room, under block
#pragma once

#include <cstdint>

namespace tare::format {

enum class MonitorPolicy : std::uint8_t { block, nonblock, lossy };

struct MonitorSpec {
  static constexpr unsigned name_bytes = 96;  // with a zero at the end
  static constexpr unsigned every_bits = 24;
  // Of the text of TARE_MONITOR, which is handed on in memory of the stack (recorder/start_tared.cpp).
  static constexpr std::size_t max_text_bytes = 1000;
  // As `every`: points are offloads only when rounds are requested (`--monitor=pull`).
  static constexpr std::uint64_t once = (std::uint64_t{1} << every_bits) - 1;
  // The maximum number of children of a node of the tree, unless the user says otherwise.
  static constexpr std::uint32_t default_fan_out = 8;

  MonitorPolicy policy = MonitorPolicy::lossy;
  std::uint64_t interval_ns = 0;
  std::uint64_t epoch_ns = 0;
  std::uint64_t every = 1;
  std::uint64_t region_every = 0;  // 0: no region makes points
  char region[name_bytes] = "";
  std::uint64_t ring_bytes = std::uint64_t{1} << 20U;
  std::uint64_t depth = 4;
  std::uint64_t wait_ns = 10'000'000;
};

// Returns nullptr if the text is a spec; else an error message, and `spec` is unchanged. Unknown keys are ignored,
// because the text is also for tared. Allocates nothing.
const char* parse_monitor_spec(const char* text, MonitorSpec& spec) noexcept;

}  // namespace tare::format
