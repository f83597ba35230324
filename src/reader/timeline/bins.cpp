#include "reader/timeline/bins.h"

#include <algorithm>
#include <cmath>

namespace tare::reader {
namespace {

std::uint16_t as_share(double part) {
  return static_cast<std::uint16_t>(std::lround(std::clamp(part, 0.0, 1.0) * Bin::whole));
}

// Calls `use` with each bin that an interval touches, and with the part of the bin that it covers.
template <typename Use>
void for_parts(const Grid& grid, std::int64_t start_ns, std::int64_t end_ns, const Use& use) {
  const double from = grid.place(start_ns), to = grid.place(end_ns);
  if (to <= from) return;
  const auto last = std::min(static_cast<std::size_t>(to), grid.bins - 1);
  for (auto i = std::min(static_cast<std::size_t>(from), last); i <= last; ++i) {
    const double begin = std::max(from, static_cast<double>(i)), end = std::min(to, static_cast<double>(i + 1));
    if (end > begin) use(i, end - begin);
  }
}

}  // namespace

void Bin::add(Activity activity, double part) {
  std::uint16_t& at = share[static_cast<std::size_t>(activity)];
  at = static_cast<std::uint16_t>(std::min<unsigned>(at + unsigned{as_share(part)}, whole));
}

double Grid::place(std::int64_t time_ns) const {
  if (time_ns <= from_ns) return 0;
  if (time_ns >= to_ns) return static_cast<double>(bins);
  return static_cast<double>(difference(time_ns, from_ns)) / width_ns();
}

BinFiller::BinFiller(const Grid& grid, Bin* bins, std::size_t functions)
    : grid_(grid), bins_(bins), of_function_(functions) {}

void BinFiller::add_call(std::int64_t start_ns, std::int64_t end_ns, Activity activity, std::uint16_t function) {
  double from = std::max(grid_.place(start_ns), reached_);
  const double to = grid_.place(end_ns);
  if (to <= from) return;
  reached_ = to;
  const auto last = std::min(static_cast<std::size_t>(to), grid_.bins - 1);
  auto first = std::min(static_cast<std::size_t>(from), last);
  while (true) {
    if (first != current_) {
      close();
      current_ = first;
    }
    const double end = first == last ? to : static_cast<double>(first + 1);
    spent_[static_cast<std::size_t>(activity)] += end - from;
    if (function < of_function_.size()) {
      if (of_function_[function] == 0) touched_.push_back(function);
      of_function_[function] += end - from;
    }
    if (first == last) return;
    ++first;
    from = static_cast<double>(first);
    if (first == last) continue;
    // Bins that the call covers completely.
    close();
    for (; first < last; ++first) {
      Bin& bin = bins_[first];
      bin.add(activity, 1);
      bin.function = function;
      bin.function_share = Bin::whole;
    }
    current_ = first;
    from = static_cast<double>(first);
  }
}

void BinFiller::add_flush(std::int64_t start_ns, std::int64_t end_ns) {
  for_parts(grid_, start_ns, end_ns, [this](std::size_t i, double part) { bins_[i].add(Activity::flush, part); });
}

void mark_wait(const Grid& grid, Bin* bins, std::int64_t start_ns, std::int64_t end_ns, Activity activity) {
  for_parts(grid, start_ns, end_ns, [&](std::size_t i, double part) {
    std::uint16_t& from = bins[i].share[static_cast<std::size_t>(activity)];
    std::uint16_t& to = bins[i].share[static_cast<std::size_t>(Activity::waiting)];
    const std::uint16_t moved = std::min(from, as_share(part));
    from = static_cast<std::uint16_t>(from - moved);
    to = static_cast<std::uint16_t>(std::min<unsigned>(to + unsigned{moved}, Bin::whole));
  });
}

void BinFiller::finish() { close(); }

void BinFiller::close() {
  if (touched_.empty() && std::all_of(spent_, spent_ + activities, [](double spent) { return spent == 0; })) return;
  Bin& bin = bins_[current_];
  for (std::size_t i = 0; i < activities; ++i) {
    if (spent_[i] > 0) bin.add(static_cast<Activity>(i), spent_[i]);
    spent_[i] = 0;
  }
  double most = 0;
  for (const std::uint16_t function : touched_) {
    if (of_function_[function] > most) {
      most = of_function_[function];
      bin.function = function;
    }
    of_function_[function] = 0;
  }
  bin.function_share = as_share(most);
  touched_.clear();
}

void BinSum::add(const Bin& bin, double weight) {
  for (std::size_t i = 0; i < activities; ++i) share_[i] += weight * bin.share[i];
  weight_ += weight;
  if (bin.function == Bin::no_function) return;
  const double share = weight * bin.function_share;
  for (OfFunction& of : functions_)
    if (of.function == bin.function) {
      of.share += share;
      return;
    }
  functions_.push_back({bin.function, share});
}

Bin BinSum::take() {
  Bin bin;
  double most = 0;
  for (const OfFunction& of : functions_)
    if (of.share > most) {
      most = of.share;
      bin.function = of.function;
    }
  if (weight_ > 0) {
    for (std::size_t i = 0; i < activities; ++i)
      bin.share[i] = static_cast<std::uint16_t>(std::lround(share_[i] / weight_));
    bin.function_share = static_cast<std::uint16_t>(std::lround(most / weight_));
  }
  *this = {};
  return bin;
}

std::vector<Bin> coarser(const std::vector<Bin>& bins, std::size_t factor) {
  std::vector<Bin> result;
  result.reserve(bins.size() / factor + 1);
  BinSum sum;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    sum.add(bins[i], 1);
    if ((i + 1) % factor == 0 || i + 1 == bins.size()) result.push_back(sum.take());
  }
  return result;
}

}  // namespace tare::reader
