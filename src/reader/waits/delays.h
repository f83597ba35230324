// Finds what made a rank wait: the delay costs of Böhme et al. (docs/analyses.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/waits/history.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

// Compares the time of two threads since they last synchronised, activity by activity.
class Delays {
  static constexpr std::uint32_t activities_of_site = 6;

 public:
  // `sites`: number of sites of the run.
  explicit Delays(std::size_t sites) : spent_(activities_of_site * (sites + 1)) {}

  // The calls from the synchronisation on, if one is known, and the time outside MPI before call `to`.
  struct Of {
    const History& history;
    std::optional<std::uint64_t> met;  // number of the call in which the threads synchronised
    std::uint64_t to;
  };
  // Sets the delay, the passed-on part and the root causes of a wait.
  void charge(WaitState& wait, const Of& waiting, const Of& cause);

 private:
  struct Spent {
    std::int64_t waiting_ns = 0, cause_ns = 0;
  };
  struct Totals {
    std::int64_t outside_ns = 0, in_calls_ns = 0, waits_ns = 0;
  };
  // Adds the times of a thread by activity, from `since_ns` on.
  Totals add(const Of& of, std::int64_t since_ns, std::int64_t Spent::*to);
  void add(const SiteActivity& activity, std::int64_t ns, std::int64_t Spent::*to);
  // The roots of the waits of the cause. `share`: that of a nanosecond of them.
  static void pass_on(WaitState& wait, const Of& cause, std::int64_t since_ns, double share);

  // Activities are numbered, those of a site one behind the other.
  static std::uint32_t number_of(const SiteActivity& activity);
  static SiteActivity activity_of(std::uint32_t number);

  std::vector<Spent> spent_;            // by activity; only used during charge()
  std::vector<std::uint32_t> touched_;  // activities that are not 0 in it
};

}  // namespace tare::reader
