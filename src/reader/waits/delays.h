// Finds what made a rank wait: the delay costs of Böhme et al. (docs/analyses.md).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reader/waits/history.h"
#include "reader/waits/synchronisations.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

// Compares the time of two threads since they last synchronised, activity by activity.
class Delays {
 public:
  // `sites`: number of sites of the run.
  explicit Delays(std::size_t sites) : spent_(2 * (sites + 1)) {}

  struct Of {
    const History& history;
    std::uint64_t from, to;  // numbers of calls: [from, to), and the time outside MPI before `to`
  };
  // Sets the delay and the passed-on part of a wait, and adds them to the sums.
  void charge(WaitState& wait, const Of& waiting, const Of& cause);
  std::vector<DelaySum> sums() const;

 private:
  struct Spent {
    std::int64_t waiting_ns = 0, cause_ns = 0;
  };
  // Adds the times of a thread by activity. Returns the time that it waited. Both lack what is no longer in its
  // history.
  std::int64_t add(const Of& of, std::int64_t Spent::*to);
  void add(std::int32_t site, bool in_call, std::int64_t ns, std::int64_t Spent::*to);

  std::vector<Spent> spent_;            // by activity; only used during charge()
  std::vector<std::uint32_t> touched_;  // activities that are not 0 in it

  struct Key {
    std::uint64_t place, activity;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t hash = (key.place ^ key.activity << 32 ^ key.activity >> 32) * 0x9e3779b97f4a7c15;
      return hash ^ hash >> 29;
    }
  };
  struct Sum {
    double cost_ns = 0;
    std::uint64_t waits = 0;
  };
  std::unordered_map<Key, Sum, Hash> sums_;
};

}  // namespace tare::reader
