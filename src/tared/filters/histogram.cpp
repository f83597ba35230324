#include "tared/filters/histogram.h"

#include <algorithm>
#include <cmath>

#include "tared/filters/key_union.h"

namespace tare::tared {

namespace {

constexpr double largest = 0x1p62;
constexpr std::uint32_t most_exponent = 62;

std::uint64_t whole(double value) {
  if (!(value > 0)) return 0;
  return static_cast<std::uint64_t>(std::min(value, largest));
}

}  // namespace

double Histogram::width() const { return std::ldexp(1.0, static_cast<int>(exponent_)); }
double Histogram::begin() const { return static_cast<double>(first_) * width(); }

void Histogram::widen(std::uint32_t exponent) {
  if (exponent == exponent_) return;
  const std::uint32_t by = exponent - exponent_;
  const std::uint64_t first = first_ >> by;
  std::vector<std::uint32_t> wide(((first_ + counts_.size() - 1) >> by) - first + 1, 0);
  for (std::size_t i = 0; i < counts_.size(); ++i) wide[((first_ + i) >> by) - first] += counts_[i];
  counts_ = std::move(wide);
  first_ = first;
  exponent_ = exponent;
}

void Histogram::cover(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t low = std::min(first, first_);
  const std::uint64_t high = std::max(last, first_ + counts_.size() - 1);
  counts_.insert(counts_.begin(), first_ - low, 0);
  counts_.resize(high - low + 1, 0);
  first_ = low;
}

void Histogram::merge(const Histogram& other, std::uint32_t bins) {
  if (other.counts_.empty()) return;
  if (counts_.empty()) {
    *this = other;
    return;
  }
  std::uint32_t exponent = std::max(exponent_, other.exponent_);
  const auto first_of = [&](const Histogram& of) { return of.first_ >> (exponent - of.exponent_); };
  const auto last_of = [&](const Histogram& of) {
    return (of.first_ + of.counts_.size() - 1) >> (exponent - of.exponent_);
  };
  while (std::max(last_of(*this), last_of(other)) - std::min(first_of(*this), first_of(other)) >= bins) ++exponent;
  widen(exponent);
  cover(first_of(other), last_of(other));
  for (std::size_t i = 0; i < other.counts_.size(); ++i)
    counts_[((other.first_ + i) >> (exponent - other.exponent_)) - first_] += other.counts_[i];
}

void Histogram::add(double value, std::uint32_t bins) {
  const std::uint64_t bin = whole(value) >> exponent_;
  if (!counts_.empty() && bin >= first_ && bin - first_ < counts_.size()) {
    ++counts_[bin - first_];
    return;
  }
  Histogram one;
  one.first_ = whole(value);
  one.counts_ = {1};
  merge(one, bins);
}

void Histogram::write(Writer& out) const {
  out.put(static_cast<std::uint16_t>(exponent_));
  out.put(static_cast<std::uint16_t>(counts_.size()));
  out.put(first_);
  out.put_all(counts_);
}

bool Histogram::read(Reader& in, Histogram& histogram, std::uint32_t bins) {
  histogram.exponent_ = in.get<std::uint16_t>();
  const auto count = in.get<std::uint16_t>();
  histogram.first_ = in.get<std::uint64_t>();
  if (count > bins || histogram.exponent_ > most_exponent) return in.fail();
  if (!in.get_all(histogram.counts_, count)) return false;
  if (count == 0) return true;
  if (histogram.counts_.front() == 0 || histogram.counts_.back() == 0) return in.fail();
  // The last bin begins at 2^62 or before.
  const std::uint64_t last = std::uint64_t{1} << (most_exponent - histogram.exponent_);
  if (histogram.first_ > last || count - 1U > last - histogram.first_) return in.fail();
  return true;
}

void HistogramTable::write(Writer& out) const {
  out.put(bins);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put_all(keys);
  for (const Histogram& histogram : histograms) histogram.write(out);
}

bool HistogramTable::read(Reader& in, HistogramTable& table) {
  table.bins = in.get<std::uint32_t>();
  const auto count = in.get<std::uint32_t>();
  if (table.bins < 2 || table.bins > Histogram::max_bins || count > max_events) return in.fail();
  if (!in.get_all(table.keys, count) || !are_ascending(table.keys)) return in.fail();
  table.histograms.assign(count * metric_count, {});
  for (Histogram& histogram : table.histograms)
    if (!Histogram::read(in, histogram, table.bins)) return false;
  return in.ok();
}

void HistogramReduction::clear() {
  table_.keys.clear();
  table_.histograms.clear();
}

void HistogramReduction::add(const Snapshot& snapshot) {
  make_room(table_.keys, table_.histograms, snapshot.keys, place_, metric_count);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    Histogram* of = &table_.histograms[place_[i] * metric_count];
    of[0].add(snapshot.values[i].calls, table_.bins);
    of[1].add(snapshot.values[i].time_ns, table_.bins);
    of[2].add(snapshot.values[i].bytes, table_.bins);
  }
}

bool HistogramReduction::merge(std::span<const std::byte> reduced) {
  Reader in(reduced);
  HistogramTable other;
  if (!HistogramTable::read(in, other) || !in.at_end() || other.bins != table_.bins) return false;
  note_unpacked();
  make_room(table_.keys, table_.histograms, other.keys, place_, metric_count);
  for (std::size_t i = 0; i < other.histograms.size(); ++i)
    table_.histograms[place_[i / metric_count] * metric_count + i % metric_count].merge(other.histograms[i],
                                                                                        table_.bins);
  return true;
}

}  // namespace tare::tared
