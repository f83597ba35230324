#include "tared/drain/segment.h"

#include "recorder/outside_drain.h"

namespace tare::tared {

using namespace format;

void Segment::map_new_locations() {
  const std::uint32_t count = file_.locations();
  while (locations_.size() < count) {
    const auto block = static_cast<std::uint32_t>(locations_.size());
    auto location = std::make_unique<Mapping>(file_.fd(), file_.location_at(block), file_.header().location_stride);
    if (!*location) return;
    locations_.push_back(std::move(location));
  }
}

Segment::Drained Segment::drain() {
  SegmentHeader& header = file_.header();
  const RingShape& ring = header.ring;
  if (ring.count == 0 || ring.policy == Policy::overwrite) return Drained::nothing;
  map_new_locations();
  copy_.resize(ring.bytes / sizeof(std::uint64_t));
  auto result = Drained::nothing;
  for (std::uint32_t block = 0; block < locations_.size(); ++block) {
    auto& location = *locations_[block]->as<LocationHeader>();
    const auto handled = recorder::drain_one_full(header, location, block, copy_.data());
    if (handled == recorder::Handled::failed) return Drained::failed;
    if (handled == recorder::Handled::one) result = Drained::some;
  }
  return result;
}

}  // namespace tare::tared
