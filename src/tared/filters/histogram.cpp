#include "tared/filters/histogram.h"

#include <algorithm>
#include <cmath>

#include "tared/filters/key_union.h"

namespace tare::tared {

namespace {

constexpr double largest = 0x1p62;
constexpr std::uint32_t max_exponent = 62;

// The form in which it is written, before the counts.
struct [[gnu::packed]] Head {
  std::uint16_t exponent;
  std::uint16_t size;
  std::uint64_t first;
};

// Other nodes' numbers of ranks may be wrong. A sum that wraps around could become 0.
void add_to(std::uint32_t& count, std::uint32_t more) { count += std::min(more, UINT32_MAX - count); }

std::uint64_t whole(double value) {
  if (!(value > 0)) return 0;
  return static_cast<std::uint64_t>(std::min(value, largest));
}

}  // namespace

double Histogram::width() const { return std::ldexp(1.0, static_cast<int>(exponent_)); }
double Histogram::begin() const { return static_cast<double>(first_) * width(); }

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
  const std::uint64_t number = whole(value);
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
  out.put(Head{static_cast<std::uint16_t>(exponent_), static_cast<std::uint16_t>(size_), first_});
  out.put_all(counts.first(size_));
}

bool Histogram::read(Reader& in, Histogram& histogram, std::span<std::uint32_t> counts, std::uint32_t bins) {
  const Head head = in.get<Head>();
  histogram.exponent_ = head.exponent;
  histogram.size_ = head.size;
  histogram.first_ = head.first;
  if (head.size > bins || head.exponent > max_exponent) return in.fail();
  const auto bytes = in.take(head.size * sizeof(std::uint32_t));
  if (!in.ok()) return false;
  if (head.size == 0) return true;
  std::memcpy(counts.data(), bytes.data(), bytes.size());
  if (counts.front() == 0 || counts[head.size - 1U] == 0) return in.fail();
  // The last bin begins at 2^62 or before.
  const std::uint64_t last = std::uint64_t{1} << (max_exponent - head.exponent);
  if (head.first > last || head.size - 1U > last - head.first) return in.fail();
  return true;
}

void HistogramTable::write(Writer& out) const {
  out.put(bins);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put_all(keys);
  for (std::size_t i = 0; i < histograms.size(); ++i) histograms[i].write(out, counts_of(i));
}

void HistogramReduction::clear() {
  table_.keys.clear();
  table_.histograms.clear();
  table_.counts.clear();
}

void HistogramReduction::make_room_for(std::span<const EventKey> keys) {
  if (std::ranges::equal(keys, table_.keys) && place_.size() == keys.size()) return;
  std::vector<EventKey> all = unite_keys(table_.keys, keys);
  if (all.size() != table_.keys.size()) {
    find_places(table_.keys, all, place_);
    spread(table_.histograms, place_, all.size(), table_.metrics, Histogram{});
    spread(table_.counts, place_, all.size(), table_.metrics * table_.bins, 0U);
    table_.keys = std::move(all);
  }
  find_places(keys, table_.keys, place_);
}

void HistogramReduction::add(const Snapshot& snapshot) {
  make_room_for(snapshot.keys);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    const Metrics& values = snapshot.values[i];
    const std::size_t at = place_[i] * table_.metrics;
    if (table_.metrics == 1) {
      add(at, values.time_ns == 0 ? values.bytes : values.time_ns);
      continue;
    }
    add(at, values.calls);
    add(at + 1, values.time_ns);
    add(at + 2, values.bytes);
  }
}

bool HistogramReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  other_.bins = in.get<std::uint32_t>();
  const auto count = in.get<std::uint32_t>();
  if (other_.bins != table_.bins || count > max_events) return in.fail();
  if (!in.get_all(other_.keys, count) || !are_ascending(other_.keys)) return in.fail();
  other_.histograms.assign(count * table_.metrics, {});
  // Keeps the memory, whose content is overwritten.
  other_.counts.resize(std::max(other_.counts.size(), in.left() / sizeof(std::uint32_t)));
  auto room = std::span(other_.counts);
  for (Histogram& histogram : other_.histograms) {
    if (!Histogram::read(in, histogram, room, other_.bins)) return false;
    room = room.subspan(histogram.size());
  }
  return in.at_end();
}

bool HistogramReduction::unite() {
  make_room_for(other_.keys);
  auto its_counts = std::span<const std::uint32_t>(other_.counts);
  for (std::size_t i = 0; i < other_.histograms.size(); ++i) {
    const std::size_t at = place_[i / table_.metrics] * table_.metrics + i % table_.metrics;
    table_.histograms[at].merge(other_.histograms[i], its_counts, table_.counts_of(at));
    its_counts = its_counts.subspan(other_.histograms[i].size());
  }
  return true;
}

}  // namespace tare::tared
