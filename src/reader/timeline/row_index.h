// Finds the rows of a timeline by world, rank and thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "reader/timeline/timeline.h"

namespace tare::reader {

// A thread without a row gets the first row of its rank.
class RowIndex {
 public:
  explicit RowIndex(const Timeline& timeline) {
    for (std::uint32_t row = 0; row < timeline.rows().size(); ++row) {
      const Timeline::Row& of = timeline.rows()[row];
      rows_.try_emplace({of.process->world, of.process->record.rank, of.thread}, row);
      for (const Timeline::ThreadSince& each : of.threads)
        rows_.try_emplace({of.process->world, of.process->record.rank, each.thread}, row);
      first_.try_emplace({of.process->world, of.process->record.rank}, row);
    }
  }
  std::optional<std::uint32_t> find(int world, std::int32_t rank, std::uint32_t thread) const {
    if (const auto found = rows_.find({world, rank, thread}); found != rows_.end()) return found->second;
    if (const auto found = first_.find({world, rank}); found != first_.end()) return found->second;
    return std::nullopt;
  }

 private:
  std::map<std::tuple<int, std::int32_t, std::uint32_t>, std::uint32_t> rows_;
  std::map<std::pair<int, std::int32_t>, std::uint32_t> first_;
};

}  // namespace tare::reader
