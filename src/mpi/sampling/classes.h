// The table of message classes of a process. Messages of a class have source, call sites, length and the exponent of
// their weight in common. The table lies in the segment, so it survives the process. When it is full, further classes
// are counted in class 0.
#pragma once

#include <atomic>
#include <bit>

#include "format/sample.h"
#include "format/time_arithmetic.h"
#include "mpi/sampling/mapped_memory.h"
#include "mpi/sampling/message.h"

namespace tare::mpi::sampling {

// A sampled message of which both sides are known. Times are nanoseconds of one clock.
struct Pair {
  std::int32_t source;
  std::uint32_t send_site;
  std::uint32_t receive_site;
  std::uint64_t bytes;
  std::int64_t start;   // of the send
  std::int64_t posted;  // of the receive
  std::int64_t waited;
  std::int64_t ended;
  double weight;
  bool between_nodes;
  std::uint64_t uncertainty_ns;
};

class Classes {
 public:
  void use(format::SampleSummary* summary, format::SampleClass* classes) noexcept {
    summary_ = summary;
    classes_ = classes;
  }

  void add(const Pair& pair, bool histogram) noexcept {
    using format::difference;
    format::SampleClass& c = class_of(pair);
    const std::int64_t latency = positive(difference(pair.ended, pair.start));
    const std::int64_t both_there = pair.posted > pair.start ? pair.posted : pair.start;
    ++c.count;
    if (pair.posted > pair.start) ++c.unexpected;
    c.weight += pair.weight;
    c.weight_squared += pair.weight * pair.weight;
    c.latency += static_cast<std::uint64_t>(latency);
    if (static_cast<std::uint64_t>(latency) < c.latency_min) c.latency_min = static_cast<std::uint64_t>(latency);
    if (static_cast<std::uint64_t>(latency) > c.latency_max) c.latency_max = static_cast<std::uint64_t>(latency);
    c.latency_squared += static_cast<double>(latency) * static_cast<double>(latency);
    c.late_sender += static_cast<std::uint64_t>(positive(difference(pair.start, pair.waited)));
    const std::int64_t unposted = positive(difference(pair.posted, pair.start));
    const std::int64_t unwaited = positive(difference(pair.waited, both_there));
    c.unposted += static_cast<std::uint64_t>(unposted);
    c.unwaited += static_cast<std::uint64_t>(unwaited);
    c.transfer += static_cast<std::uint64_t>(positive(difference(latency - unposted, unwaited)));
    if (pair.uncertainty_ns > c.uncertainty_ns) c.uncertainty_ns = pair.uncertainty_ns;
    if (histogram) {
      c.flags |= format::histogram_kept;
      ++c.histogram[bin_of(static_cast<std::uint64_t>(latency))];
    }
  }

  static unsigned bin_of(std::uint64_t latency) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(latency));
    if (width <= format::first_latency_width) return 0;
    const unsigned bin = width - format::first_latency_width;
    return bin < format::latency_bins ? bin : format::latency_bins - 1;
  }

 private:
  static std::int64_t positive(std::int64_t ns) noexcept { return ns > 0 ? ns : 0; }
  static std::uint64_t hash(std::int32_t source, std::uint32_t send_site, std::uint32_t receive_site,
                            std::uint64_t bytes) noexcept {
    const std::uint64_t sites = std::uint64_t{send_site} << 32 | receive_site;
    return mix(sites * 0x9e3779b97f4a7c15U ^ bytes * 0xc2b2ae3d27d4eb4fU ^ static_cast<std::uint32_t>(source));
  }

  [[gnu::always_inline]] format::SampleClass& class_of(const Pair& pair) noexcept {
    const std::uint32_t kind = format::exponent_of(pair.weight) | (pair.between_nodes ? format::between_nodes : 0U);
    const auto is_it = [&](std::uint32_t place) {
      const format::SampleClass& c = classes_[place];
      return c.source == pair.source && c.send_site == pair.send_site && c.receive_site == pair.receive_site &&
             c.bytes == pair.bytes && (c.flags & (format::weight_exponent | format::between_nodes)) == kind;
    };
    // Most programs use few classes at a time.
    std::uint32_t& recent =
        recent_[(static_cast<std::uint32_t>(pair.source) + 3 * pair.send_site + 5 * pair.receive_site + pair.bytes) %
                recents];
    if (recent != 0 && is_it(recent)) [[likely]]
      return classes_[recent];
    const std::uint64_t h = hash(pair.source, pair.send_site, pair.receive_site, pair.bytes);
    const std::uint32_t known = index_.find(h, is_it);
    if (known == 0) return new_class(h, pair, kind);
    recent = known;
    return classes_[known];
  }
  [[gnu::noinline]] format::SampleClass& new_class(std::uint64_t h, const Pair& pair, std::uint32_t kind) noexcept {
    const std::uint32_t place = summary_->classes == 0 ? 1 : summary_->classes;
    const bool fits = place < summary_->capacity && index_.put(h, place);
    format::SampleClass& c = classes_[fits ? place : 0];
    if (pair.weight == 0) c.flags |= format::weight_unknown;
    if (fits) {
      c.source = pair.source;
      c.send_site = pair.send_site;
      c.receive_site = pair.receive_site;
      c.bytes = pair.bytes;
      c.flags |= kind;
      std::atomic_ref(summary_->classes).store(place + 1, std::memory_order_release);
    }
    if (c.count != 0) return c;
    c.latency_min = UINT64_MAX;
    if (fits) return c;
    c.source = -1;
    if (summary_->classes == 0) std::atomic_ref(summary_->classes).store(1, std::memory_order_release);
    return c;
  }

  static constexpr unsigned recents = 128;

  format::SampleSummary* summary_ = nullptr;
  format::SampleClass* classes_ = nullptr;
  PlaceIndex index_;
  std::uint32_t recent_[recents] = {};
};

}  // namespace tare::mpi::sampling
