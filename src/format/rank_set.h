// A set of ranks, as ascending runs. A regular set of any size takes a few bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/bytes.h"

namespace tare::format {

class RankSet {
 public:
  struct Run {
    std::uint32_t first;
    std::uint32_t count;
    bool operator==(const Run&) const = default;
  };

  RankSet() = default;
  static RankSet of_range(std::uint32_t first, std::uint32_t count);

  // Runs in any order, which may overlap.
  static RankSet of_runs(std::vector<Run> runs);

  void insert(std::uint32_t rank);
  void unite(const RankSet& other);
  void remove(const RankSet& other);
  bool contains(std::uint32_t rank) const;
  bool overlaps(const RankSet& other) const;
  bool empty() const { return runs_.empty(); }
  std::uint64_t size() const;
  void clear() { runs_.clear(); }
  const std::vector<Run>& runs() const { return runs_; }
  bool operator==(const RankSet&) const = default;
  std::string text() const;  // "0-3,7"

  void write(Writer& out) const;
  // False if write() makes no such bytes.
  static bool read(Reader& in, RankSet& ranks);

 private:
  // `run` begins no earlier than the last one.
  void append(const Run& run);

  std::vector<Run> runs_;  // neither overlapping nor adjacent
};

// A packet has no room for more runs: 8 MiB.
constexpr std::uint32_t max_rank_runs = 1U << 20U;

}  // namespace tare::format
