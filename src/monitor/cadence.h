// Says which offload points are offloads: every k-th, known to all ranks before they reach the point.
//
// tared writes "from point R on, every k-th" into a word that the ranks of its node share (recorder/node_words.h). A
// rank reads the word at its points, and keeps to the previous setting until it reaches point R. So ranks that have
// read the word before their point R offload at the same points, however far apart in time they are. Points are counted
// from R, so a rank that reads the word late agrees with the others from its next offload on. tared writes no new word
// before all ranks have passed the last R.
//
// Where rounds are requested (`--monitor=pull`), a word says "point R alone": k is `once`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "format/monitor_spec.h"
#include "format/sweet_spot.h"

namespace tare::monitor {

class Cadence {
 public:
  static constexpr unsigned every_bits = format::MonitorSpec::every_bits;
  static constexpr std::uint64_t once = format::MonitorSpec::once;
  static constexpr std::uint64_t most = once - 1;
  static constexpr std::uint64_t word(std::uint64_t from, std::uint64_t every) noexcept {
    return from << every_bits | std::min(every, once);
  }

  // With `once`, no point is an offload before there is a word.
  explicit constexpr Cadence(std::uint64_t every = 1) noexcept : every_(every) {}

  // Whether the point is an offload. Points must ascend. `word`: the newest one, 0 if there is none.
  bool takes(std::uint64_t point, std::uint64_t word) noexcept { return last(point, word) == point; }

  // The last offload up to the point, for a rank that skips points. The rank may have made it already. 0: there is
  // none.
  std::uint64_t last(std::uint64_t point, std::uint64_t word) noexcept {
    listen(point, word);
    // A process that starts later has no part in a round that was requested before.
    if (every_ == once) return from_ >= first_ ? from_ : 0;
    return point - (point - from_) % every_;
  }

 private:
  void listen(std::uint64_t point, std::uint64_t word) noexcept {
    if (first_ == 0) first_ = point;
    if (word != seen_ && (word & once) != 0) seen_ = word;
    if (seen_ != 0 && point >= seen_ >> every_bits) {
      from_ = seen_ >> every_bits;
      every_ = seen_ & once;
    }
  }

  std::uint64_t first_ = 0;  // point
  std::uint64_t seen_ = 0;   // word
  std::uint64_t from_ = 0;
  std::uint64_t every_;
};

// What is known about profiles of any size, from the sizes that are known.
// Values for profiles of `events` events; 0: of the size that the program's profiles have now. Between two known sizes,
// the logarithms of values are interpolated linearly, because times grow by powers of the size. Below the smallest and
// above the largest known size, no BOI is known.
format::SweetSpot spot_of(const format::SweetSpots& known, std::uint32_t events) noexcept;

}  // namespace tare::monitor
