// Which offload points are offloads: each k-th, of which all ranks know before it comes.
//
// tared says "from point R on, each k-th" in a word that the ranks of its node share (recorder/node_words.h). A rank
// looks at the word at its points, and keeps to what held before until it comes to R. So ranks that have seen the word
// before their point R take the same points, however far they are apart. A rank that was told late joins the others at
// the next point that is theirs, because points are counted from R. tared gives no new word before all have passed the
// last one's R.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tare::monitor {

class Cadence {
 public:
  static constexpr unsigned every_bits = 24;
  static constexpr std::uint64_t most = (std::uint64_t{1} << every_bits) - 1;
  static constexpr std::uint64_t word(std::uint64_t from, std::uint64_t every) noexcept {
    return from << every_bits | std::min(every, most);
  }

  explicit constexpr Cadence(std::uint64_t every = 1) noexcept : every_(every) {}

  // Whether the point is an offload; points only rise. `word`: the newest one, 0 if there is none.
  bool takes(std::uint64_t point, std::uint64_t word) noexcept {
    listen(point, word);
    return (point - from_) % every_ == 0;
  }

  // The last offload up to the point, for points that a rank does not come to one by one. It may be one that the rank
  // has made already.
  std::uint64_t last(std::uint64_t point, std::uint64_t word) noexcept {
    listen(point, word);
    return point - (point - from_) % every_;
  }

 private:
  void listen(std::uint64_t point, std::uint64_t word) noexcept {
    if (word != seen_ && (word & most) != 0) seen_ = word;
    if (seen_ != 0 && point >= seen_ >> every_bits) {
      from_ = seen_ >> every_bits;
      every_ = seen_ & most;
    }
  }

  std::uint64_t seen_ = 0;
  std::uint64_t from_ = 0;
  std::uint64_t every_;
};

}  // namespace tare::monitor
