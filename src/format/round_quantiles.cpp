#include "format/round_quantiles.h"

#include <algorithm>
#include <cmath>

namespace tare::format {

namespace {
double base_of(double error) { return (1 + error) / (1 - error); }
}  // namespace

void QuantileSketch::add(double value, double error) {
  if (!(value >= 1)) {
    ++zeros_;
    collapsed_ |= value != 0;
    return;
  }
  value = std::min(value, 0x1p1000);
  const auto index = static_cast<std::uint32_t>(std::ceil(std::log(value) / std::log(base_of(error))));
  const auto at = std::ranges::lower_bound(buckets_, index, {}, &Bucket::index);
  if (at != buckets_.end() && at->index == index) {
    ++at->count;
    return;
  }
  buckets_.insert(at, {index, 1});
  collapse();
}

void QuantileSketch::collapse() {
  const std::uint32_t last = buckets_.back().index;
  if (last - buckets_.front().index < max_buckets) return;
  const std::uint32_t lowest = last - max_buckets + 1;
  const auto kept = std::ranges::upper_bound(buckets_, lowest, {}, &Bucket::index);
  std::uint32_t count = 0;
  for (auto bucket = buckets_.begin(); bucket != kept; ++bucket) count += bucket->count;
  *std::prev(kept) = {lowest, count};
  buckets_.erase(buckets_.begin(), std::prev(kept));
  collapsed_ = true;
}

void QuantileSketch::merge(const QuantileSketch& other) {
  zeros_ += other.zeros_;
  collapsed_ |= other.collapsed_;
  if (other.buckets_.empty()) return;
  std::vector<Bucket> all;
  all.reserve(buckets_.size() + other.buckets_.size());
  std::ranges::merge(buckets_, other.buckets_, std::back_inserter(all), {}, &Bucket::index, &Bucket::index);
  buckets_.clear();
  for (const Bucket& bucket : all) {
    if (buckets_.empty() || buckets_.back().index != bucket.index)
      buckets_.push_back(bucket);
    else
      buckets_.back().count += bucket.count;
  }
  collapse();
}

std::uint64_t QuantileSketch::count() const {
  std::uint64_t count = zeros_;
  for (const Bucket& bucket : buckets_) count += bucket.count;
  return count;
}

const QuantileSketch::Bucket* QuantileSketch::bucket_of(double q) const {
  const double rank = std::floor(q * static_cast<double>(count() - 1));
  double below = static_cast<double>(zeros_);
  for (const Bucket& bucket : buckets_) {
    if (below > rank) break;
    below += bucket.count;
    if (below > rank) return &bucket;
  }
  return nullptr;
}

double QuantileSketch::quantile(double q, double error) const {
  if (count() == 0) return 0;
  const Bucket* bucket = bucket_of(q);
  const double base = base_of(error);
  return bucket == nullptr ? 0 : 2 * std::pow(base, bucket->index) / (base + 1);
}

bool QuantileSketch::is_bounded(double q) const {
  if (!collapsed_ || count() == 0) return true;
  const Bucket* bucket = bucket_of(q);
  return bucket != nullptr && bucket->index + max_buckets > buckets_.back().index + 1;
}

void QuantileSketch::write(Writer& out) const {
  out.put(zeros_);
  out.put(static_cast<std::uint32_t>(buckets_.size()));
  out.put(static_cast<std::uint32_t>(collapsed_));
  out.put_all(buckets_);
}

bool QuantileSketch::read(Reader& in, QuantileSketch& sketch) {
  sketch.zeros_ = in.get<std::uint64_t>();
  const auto count = in.get<std::uint32_t>();
  const auto collapsed = in.get<std::uint32_t>();
  if (count > max_buckets || collapsed > 1 || !in.get_all(sketch.buckets_, count)) return in.fail();
  sketch.collapsed_ = collapsed == 1;
  for (std::size_t i = 0; i < count; ++i)
    if (sketch.buckets_[i].count == 0 || (i > 0 && sketch.buckets_[i].index <= sketch.buckets_[i - 1].index))
      return in.fail();
  if (count > 0 && sketch.buckets_.back().index - sketch.buckets_.front().index >= max_buckets) return in.fail();
  return true;
}

void QuantileTable::write(Writer& out) const {
  out.put(error);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put_all(keys);
  for (const QuantileSketch& sketch : sketches) sketch.write(out);
}

bool QuantileTable::read(Reader& in, QuantileTable& table) {
  table.error = in.get<double>();
  const auto count = in.get<std::uint32_t>();
  if (count > max_events || !(table.error >= QuantileTable::min_error && table.error <= QuantileTable::max_error))
    return in.fail();
  if (!in.get_all(table.keys, count) || !are_ascending(table.keys)) return in.fail();
  table.sketches.assign(count * metric_count, {});
  for (QuantileSketch& sketch : table.sketches)
    if (!QuantileSketch::read(in, sketch)) return false;
  return in.ok();
}

}  // namespace tare::format
