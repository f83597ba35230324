#include "tared/filters/combined_filter.h"

#include <algorithm>

namespace tare::tared {

void CombinedReduction::add(const Snapshot& snapshot) {
  for (const auto& part : parts_) part->add(snapshot);
}

bool CombinedReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  for (const auto& part : parts_) {
    const auto bytes = in.take(in.get<std::uint32_t>());
    if (!in.ok() || !part->unpack(bytes)) return false;
  }
  return in.at_end();
}

bool CombinedReduction::unite() {
  return std::ranges::all_of(parts_, [](const auto& part) { return part->unite(); });
}

void CombinedReduction::conclude() {
  for (const auto& part : parts_) part->conclude();
}

void CombinedReduction::write(Writer& out) const {
  for (const auto& part : parts_) {
    const std::size_t at = out.size();
    out.put(std::uint32_t{0});
    part->write(out);
    out.put_at(at, static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t)));
  }
}

void CombinedReduction::clear() {
  for (const auto& part : parts_) part->clear();
}

std::unique_ptr<Reduction> CombinedFilter::begin() const {
  std::vector<std::unique_ptr<Reduction>> parts;
  parts.reserve(filters_.size());
  for (const auto& filter : filters_) parts.push_back(filter->begin());
  return std::make_unique<CombinedReduction>(std::move(parts));
}

void CombinedFilter::define(const EventName& name) {
  for (const auto& filter : filters_) filter->define(name);
}

}  // namespace tare::tared
