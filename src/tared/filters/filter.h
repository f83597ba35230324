// A filter reduces the snapshots of a round to one result, node by node.
//
// Results do not depend on the shape of the tree, except for rounding; each filter says how much. A node merges what
// arrives at once, so little is left to do when the last child's part arrives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tared/filters/clock.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

// The state of a filter for one round at one node. It is used again for later rounds: clear() keeps its memory.
class Reduction {
 public:
  virtual ~Reduction() = default;
  virtual void add(const Snapshot& snapshot) = 0;
  // Merges the result of another node. False if the bytes are no result of this filter; then nothing changes.
  bool merge(std::span<const std::byte> reduced) {
    if (!unpack(reduced)) return false;
    unpacked_at_ns_ = monotonic_ns();
    return unite();
  }
  // merge() in two steps. The first changes nothing. If it succeeds, the second does not fail, except for a user's
  // filter.
  virtual bool unpack(std::span<const std::byte> reduced) = 0;
  virtual bool unite() = 0;
  // Called at the root before the result is written. Nothing more will be merged.
  virtual void conclude() {}
  virtual void write(Writer& out) const = 0;
  virtual void clear() = 0;
  // The time at which the last merge() had checked the bytes and began to reduce (CLOCK_MONOTONIC).
  std::int64_t unpacked_at_ns() const { return unpacked_at_ns_; }

 private:
  std::int64_t unpacked_at_ns_ = 0;
};

class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::unique_ptr<Reduction> begin() const = 0;
  // An event that snapshots and results have from now on.
  virtual void define(const EventName& /*name*/) {}
};

}  // namespace tare::tared
