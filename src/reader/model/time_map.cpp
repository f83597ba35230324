#include "reader/model/time_map.h"

#include <algorithm>

#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

// Moves a time that lies between two knots.
std::int64_t moved(const TimeMap::Knot& from, const TimeMap::Knot& to, std::int64_t ns) {
  __extension__ using Wide = __int128;
  const Wide length = Wide{to.at_ns} - from.at_ns;
  const Wide change = Wide{to.offset_ns} - from.offset_ns;
  const auto part = static_cast<std::int64_t>(change * (Wide{ns} - from.at_ns) / length);
  return sum(ns, sum(from.offset_ns, part));
}

std::int64_t image(const TimeMap::Knot& knot) { return sum(knot.at_ns, knot.offset_ns); }

}  // namespace

void TimeMap::add(std::int64_t at_ns, std::int64_t offset_ns) {
  if (!knots_.empty()) {
    Knot& last = knots_.back();
    at_ns = std::max(at_ns, last.at_ns);
    offset_ns = std::max(offset_ns, difference(image(last), at_ns));
    if (at_ns == last.at_ns) {
      last.offset_ns = offset_ns;
      return;
    }
  }
  knots_.push_back({at_ns, offset_ns});
}

std::int64_t TimeMap::operator()(std::int64_t ns) const {
  const auto is_before = [](std::int64_t time, const Knot& knot) { return time < knot.at_ns; };
  const auto next = std::upper_bound(knots_.begin(), knots_.end(), ns, is_before);
  if (next == knots_.begin()) return knots_.empty() ? ns : std::min(ns, image(knots_.front()));
  const Knot& from = *std::prev(next);
  return next == knots_.end() ? sum(ns, from.offset_ns) : moved(from, *next, ns);
}

std::int64_t TimeMap::inverse(std::int64_t ns) const {
  const auto is_before = [](std::int64_t time, const Knot& knot) { return time < image(knot); };
  const auto next = std::upper_bound(knots_.begin(), knots_.end(), ns, is_before);
  if (next == knots_.begin()) return knots_.empty() ? ns : std::min(ns, knots_.front().at_ns);
  const Knot& from = *std::prev(next);
  if (next == knots_.end()) return difference(ns, from.offset_ns);
  const std::int64_t length = difference(image(*next), image(from));  // above 0, because ns lies between the two images
  __extension__ using Wide = __int128;
  return sum(from.at_ns, static_cast<std::int64_t>(Wide{difference(next->at_ns, from.at_ns)} *
                                                   difference(ns, image(from)) / length));
}

TimeMap TimeMap::then(const TimeMap& next) const {
  std::vector<std::int64_t> times;
  for (const Knot& knot : knots_) times.push_back(knot.at_ns);
  for (const Knot& knot : next.knots_) times.push_back(inverse(knot.at_ns));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  TimeMap both;
  for (const std::int64_t time : times) both.add(time, difference(next((*this)(time)), time));
  return both;
}

}  // namespace tare::reader
