#include "format/round_statistics.h"

#include <algorithm>
#include <cmath>

namespace tare::format {

double Statistic::deviation() const {
  return std::sqrt(std::max(squares, 0.0) / static_cast<double>(std::max<std::uint64_t>(ranks, 1)));
}

void StatisticsTable::clear() {
  keys.clear();
  ranks.clear();
  for (auto* column : {&mean, &squares, &least, &most}) column->clear();
  for (auto* column : {&least_rank, &most_rank}) column->clear();
}

void StatisticsTable::write(Writer& out) const {
  out.put(static_cast<std::uint32_t>(size()));
  out.put_all(keys);
  out.put_all(ranks);
  for (const auto* column : {&mean, &squares, &least, &most}) out.put_all(*column);
  for (const auto* column : {&least_rank, &most_rank}) out.put_all(*column);
}

bool StatisticsTable::read(Reader& in, StatisticsTable& table) {
  const auto count = in.get<std::uint32_t>();
  if (count > max_events) return in.fail();
  const std::uint64_t wide = std::uint64_t{count} * metric_count;
  if (!in.get_all(table.keys, count) || !in.get_all(table.ranks, count)) return false;
  for (auto* column : {&table.mean, &table.squares, &table.least, &table.most})
    if (!in.get_all(*column, wide)) return false;
  for (auto* column : {&table.least_rank, &table.most_rank})
    if (!in.get_all(*column, wide)) return false;
  if (!are_ascending(table.keys)) return in.fail();
  for (const std::uint32_t ranks : table.ranks)
    if (ranks == 0) return in.fail();
  return in.ok();
}

}  // namespace tare::format
