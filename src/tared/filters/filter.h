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
  bool merge(std::span<const std::byte> reduced) {
    if (!unpack(reduced)) return false;
    unpacked_at_ns_ = monotonic_ns();
    return unite();
  }
  // The two halves of it. After the first, which changes nothing, the second does not fail, but of a user's filter.
  virtual bool unpack(std::span<const std::byte> reduced) = 0;
  virtual bool unite() = 0;
  // At the root, before what it has is written: there is nothing more to come.
  virtual void conclude() {}
  virtual void write(Writer& out) const = 0;
  virtual void clear() = 0;
  // When the last merge() had understood the bytes and began to reduce (CLOCK_MONOTONIC).
  std::int64_t unpacked_at_ns() const { return unpacked_at_ns_; }

 private:
  std::int64_t unpacked_at_ns_ = 0;
};

class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::unique_ptr<Reduction> begin() const = 0;
};

// `specification` is a name, and for some filters options behind a colon:
//   statistics | histogram[:BINS][:time] | quantiles[:ERROR] | groups[:COUNT] | none | FILE.so[:ARGUMENTS]
// Several of them, but files, with a plus between them give one result after the other (combined_filter.h).
// Returns nothing if there is no such filter, with the reason in `error`.
std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error);

// More events than this in one profile are refused everywhere.
constexpr std::uint32_t max_events = 1U << 18U;

}  // namespace tare::tared
