// A filter reduces the snapshots of a round to one result, node by node.
//
// Results do not depend on the shape of the tree, except for rounding; each filter says how much. A node merges what
// arrives at once, so little is left to do when the last child's part arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

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

// A reduction whose state is the table that is its result (format/round_*.h).
template <class Table>
class TableReduction : public Reduction {
 public:
  bool unpack(std::span<const std::byte> reduced) override {
    Reader in(reduced);
    return Table::read(in, other_) && in.at_end();
  }
  void write(Writer& out) const override { table_.write(out); }
  const Table& table() const { return table_; }

 protected:
  Table table_;
  Table other_;                       // being merged
  std::vector<std::uint32_t> place_;  // the place in table_ of each event that is added
};

class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::unique_ptr<Reduction> begin() const = 0;
  // An event that snapshots and results have from now on.
  virtual void define(const EventName& /*name*/) {}
};

// A filter whose reductions all begin with the same arguments.
template <class R, class... Arguments>
class FilterOf : public Filter {
 public:
  explicit FilterOf(Arguments... arguments) : arguments_(arguments...) {}
  std::unique_ptr<Reduction> begin() const override {
    return std::apply([](auto... arguments) { return std::make_unique<R>(arguments...); }, arguments_);
  }

 private:
  std::tuple<Arguments...> arguments_;
};

// `specification` is a name, for some filters with options after a colon:
//   statistics | histogram[:BINS][:time] | quantiles[:ERROR] | groups[:COUNT] | none | FILE.so[:ARGUMENTS]
// Several of these can be joined by a plus: their results follow one another, each after its length (u32). A path may
// contain a plus, arguments may not (format/filter_names.h).
// Returns nothing if there is no such filter, with the reason in `error`.
std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error);

}  // namespace tare::tared
