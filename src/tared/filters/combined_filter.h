// Several filters on the same snapshots. The result is that of each filter in their order, each after its length (u32).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

class CombinedReduction : public Reduction {
 public:
  explicit CombinedReduction(std::vector<std::unique_ptr<Reduction>> parts) : parts_(std::move(parts)) {}
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void conclude() override;
  void write(Writer& out) const override;
  void clear() override;

 private:
  std::vector<std::unique_ptr<Reduction>> parts_;
};

class CombinedFilter : public Filter {
 public:
  // Input must be checked by all before any of them merges it, so a user's filter must try it (user_filter.h).
  explicit CombinedFilter(std::vector<std::unique_ptr<Filter>> filters) : filters_(std::move(filters)) {}
  std::unique_ptr<Reduction> begin() const override;
  void define(const EventName& name) override;

 private:
  std::vector<std::unique_ptr<Filter>> filters_;
};

}  // namespace tare::tared
