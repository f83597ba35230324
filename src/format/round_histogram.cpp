#include "format/round_histogram.h"

#include <algorithm>
#include <cmath>

namespace tare::format {

namespace {

constexpr double largest = 0x1p62;
constexpr std::uint32_t max_exponent = 62;

// The form in which it is written, before the counts.
struct [[gnu::packed]] HistogramHead {
  std::uint16_t exponent;
  std::uint16_t size;
  std::uint64_t first;
};

// Other nodes' numbers of ranks may be wrong. A sum that wraps around could become 0.
void add_to(std::uint32_t& count, std::uint32_t more) { count += std::min(more, UINT32_MAX - count); }

}  // namespace

double Histogram::width() const { return std::ldexp(1.0, static_cast<int>(exponent_)); }

void Histogram::widen(std::uint32_t by, std::span<std::uint32_t> counts) {
  if (by == 0) return;
  const std::uint64_t first = first_ >> by;
  for (std::uint32_t i = 0; i < size_; ++i) {
    const std::uint32_t count = counts[i];
    counts[i] = 0;
    add_to(counts[((first_ + i) >> by) - first], count);  // never after i
  }
  size_ = static_cast<std::uint32_t>((last() >> by) - first + 1);
  first_ = first;
  exponent_ += by;
}

void Histogram::cover(std::uint32_t exponent, std::uint64_t first, std::uint64_t last,
                      std::span<std::uint32_t> counts) {
  std::uint32_t widest = std::max(exponent_, exponent);
  const auto low = [&] { return std::min(first >> (widest - exponent), first_ >> (widest - exponent_)); };
  const auto high = [&] { return std::max(last >> (widest - exponent), this->last() >> (widest - exponent_)); };
  while (high() - low() >= counts.size()) ++widest;
  const std::uint64_t from = low();
  const std::uint64_t to = high();
  widen(widest - exponent_, counts);
  if (first_ > from) {
    const auto by = static_cast<std::ptrdiff_t>(first_ - from);
    std::shift_right(counts.begin(), counts.begin() + by + size_, by);
    std::fill_n(counts.begin(), by, 0U);
  }
  first_ = from;
  size_ = static_cast<std::uint32_t>(to - from + 1);
}

void Histogram::add(double value, std::span<std::uint32_t> counts) {
  if (!(value >= 0 && value <= largest)) return;
  const auto number = static_cast<std::uint64_t>(value);
  const std::uint64_t bin = (number >> exponent_) - first_;
  if (size_ != 0 && bin < counts.size()) {  // counts after the last bin are 0
    size_ = std::max(size_, static_cast<std::uint32_t>(bin) + 1);
    ++counts[bin];
    return;
  }
  if (size_ == 0) {
    first_ = number;
    size_ = 1;
  } else {
    cover(0, number, number, counts);
  }
  ++counts[(number >> exponent_) - first_];
}

void Histogram::merge(const Histogram& other, std::span<const std::uint32_t> its_counts,
                      std::span<std::uint32_t> counts) {
  if (other.size_ == 0) return;
  if (size_ == 0) {
    *this = other;
    std::copy_n(its_counts.begin(), size_, counts.begin());
    return;
  }
  cover(other.exponent_, other.first_, other.last(), counts);
  const std::uint32_t by = exponent_ - other.exponent_;
  for (std::uint32_t i = 0; i < other.size_; ++i) add_to(counts[((other.first_ + i) >> by) - first_], its_counts[i]);
}

void Histogram::write(Writer& out, std::span<const std::uint32_t> counts) const {
  out.put(HistogramHead{static_cast<std::uint16_t>(exponent_), static_cast<std::uint16_t>(size_), first_});
  out.put_all(counts.first(size_));
}

bool Histogram::read(Reader& in, Histogram& histogram, std::vector<std::uint32_t>& counts, std::uint32_t bins) {
  const HistogramHead head = in.get<HistogramHead>();
  histogram = {head.exponent, head.first, head.size};
  if (head.size > bins || head.exponent > max_exponent) return in.fail();
  const auto bytes = in.take(head.size * sizeof(std::uint32_t));
  if (!in.ok()) return false;
  if (head.size == 0) return true;
  const std::size_t at = counts.size();
  counts.resize(at + head.size);
  std::memcpy(counts.data() + at, bytes.data(), bytes.size());
  if (counts[at] == 0 || counts.back() == 0) return in.fail();
  // The last bin begins at 2^62 or before.
  const std::uint64_t last = std::uint64_t{1} << (max_exponent - head.exponent);
  if (head.first > last || head.size - 1U > last - head.first) return in.fail();
  return true;
}

bool HistogramTable::read(Reader& in, HistogramTable& table, std::size_t metrics) {
  table.bins = in.get<std::uint32_t>();
  const auto count = in.get<std::uint32_t>();
  if (table.bins > Histogram::max_bins || count > max_events) return in.fail();
  if (!in.get_all(table.keys, count) || !are_ascending(table.keys)) return in.fail();
  table.counts.clear();
  table.histograms.assign(count * metrics, {});
  for (Histogram& histogram : table.histograms)
    if (!Histogram::read(in, histogram, table.counts, table.bins)) return false;
  return true;
}

}  // namespace tare::format
