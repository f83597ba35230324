// The filter "quantiles" (format/round_quantiles.h).
#pragma once

#include <cstdint>
#include <vector>

#include "format/round_quantiles.h"
#include "tared/filters/filter.h"

namespace tare::tared {

using format::QuantileSketch;
using format::QuantileTable;

class QuantileReduction : public Reduction {
 public:
  explicit QuantileReduction(double error) { table_.error = error; }
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void write(Writer& out) const override { table_.write(out); }
  void clear() override;
  const QuantileTable& table() const { return table_; }

 private:
  QuantileTable table_;
  QuantileTable other_;  // being merged
  std::vector<std::uint32_t> place_;
};

class QuantileFilter : public Filter {
 public:
  static constexpr double default_error = 0.01;
  explicit QuantileFilter(double error = default_error) : error_(error) {}
  std::unique_ptr<Reduction> begin() const override { return std::make_unique<QuantileReduction>(error_); }

 private:
  double error_;
};

}  // namespace tare::tared
