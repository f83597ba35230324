// A filter reduces the snapshots of a round to one result, node by node.
//
// Results do not depend on the shape of the tree, but for rounding; each filter says how far. A node merges what
// arrives at once, so nobody waits for the last child with all work still to do.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tared/filters/clock.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

// What a filter knows of one round at one node. Used again for later rounds: clear() keeps its memory.
class Reduction {
 public:
  virtual ~Reduction() = default;
  virtual void add(const Snapshot& snapshot) = 0;
  // Of what another node wrote. False if these bytes are no result of this filter; what was reduced is unchanged then.
  virtual bool merge(std::span<const std::byte> reduced) = 0;
  // At the root, before what it has is written: there is nothing more to come.
  virtual void conclude() {}
  virtual void write(Writer& out) const = 0;
  virtual void clear() = 0;
  // When the last merge() had understood the bytes and began to reduce (CLOCK_MONOTONIC), if the filter says it.
  std::int64_t unpacked_at_ns() const { return unpacked_at_ns_; }

 protected:
  void note_unpacked() { unpacked_at_ns_ = monotonic_ns(); }

 private:
  std::int64_t unpacked_at_ns_ = 0;
};

class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::unique_ptr<Reduction> begin() const = 0;
};

// `specification` is a name, and for some filters options behind a colon:
//   statistics | histogram[:BINS] | quantiles[:ERROR] | groups[:COUNT] | none | FILE.so[:ARGUMENTS]
// Returns nothing if there is no such filter, with the reason in `error`.
std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error);

// More events than this in one profile are refused everywhere.
constexpr std::uint32_t max_events = 1U << 18U;

}  // namespace tare::tared
