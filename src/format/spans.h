// The times of the calls of a chunk: the gap since the call before, and the duration. Most are short and none repeats
// itself, so a general compressor finds little. So each value takes only the bits that it needs, and half a byte for
// their number.
//
//   widths   u8 for each call: low half of the gap, high half of the duration; 0 to 14: so many bits b follow, and the
//            value is 2^b - 1 + these; 15: it is at least 2^15 - 1, and six bits (b - 14) and b bits follow, the value
//            being 2^b + these
//   bits     of the gap and the duration of the first call, of the second, ...; lowest bits first in lowest bytes
//            first, then zeros to the end of a byte and eight bytes of zeros
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::format {

inline constexpr std::size_t span_zeros = 8;  // bytes behind the bits, so that words of them may be read

class SpanWriter {
 public:
  // The largest size of the widths and bits of `calls` calls.
  static constexpr std::size_t bits_bound(std::size_t calls) { return calls * 18 + 24; }

  // `widths` must have room for a byte for each call, `bits` for bits_bound(calls). The caller owns both.
  void begin(unsigned char* widths, unsigned char* bits) noexcept {
    width_ = widths;
    at_ = bits;
    word_ = 0;
    used_ = 0;
  }
  [[gnu::always_inline]] void add(std::uint64_t gap, std::uint64_t duration) noexcept {
    const Field field = ((gap | duration) >> 14) == 0 ? short_field(gap, duration) : long_field(gap, duration);
    if (field.bits > max_bits) [[unlikely]]
      return add_longest(gap, duration);
    *width_++ = static_cast<unsigned char>(field.widths);
    put(field.value, field.bits);
  }
  // How many calls were added since begin(widths, ...).
  std::size_t count(const unsigned char* widths) const noexcept { return static_cast<std::size_t>(width_ - widths); }
  // The end of the bits.
  unsigned char* finish() const noexcept {
    __builtin_memcpy(at_, &word_, sizeof word_);
    unsigned char* behind = at_ + (used_ + 7) / 8;
    __builtin_memset(behind, 0, span_zeros);
    return behind + span_zeros;
  }

 private:
  // What is written for a call.
  struct Field {
    std::uint64_t value;
    unsigned bits;
    unsigned widths;
  };
  static constexpr unsigned max_bits = 56;  // that are put at once

  static unsigned log2(std::uint64_t value) noexcept { return 63U - static_cast<unsigned>(__builtin_clzll(value)); }
  static std::uint64_t low(std::uint64_t value, unsigned bits) noexcept {
    return value & ((std::uint64_t{1} << bits) - 1);
  }
  [[gnu::always_inline]] static Field short_field(std::uint64_t gap, std::uint64_t duration) noexcept {
    const unsigned gap_bits = log2(gap + 1);
    const unsigned duration_bits = log2(duration + 1);
    return {low(gap + 1, gap_bits) | low(duration + 1, duration_bits) << gap_bits, gap_bits + duration_bits,
            gap_bits | duration_bits << 4};
  }
  // If this has more than max_bits, its value is not known.
  [[gnu::const]] static Field long_field(std::uint64_t gap, std::uint64_t duration) noexcept;
  [[gnu::always_inline]] void put(std::uint64_t value, unsigned bits) noexcept {
    word_ |= value << used_;
    used_ += bits;
    __builtin_memcpy(at_, &word_, sizeof word_);
    at_ += used_ / 8;
    word_ >>= used_ & ~7U;
    used_ %= 8;
  }
  // Another object does it, so that this one can stay in registers.
  void add_longest(std::uint64_t gap, std::uint64_t duration) noexcept {
    SpanWriter other;
    other.width_ = width_;
    other.at_ = at_;
    other.word_ = word_;
    other.used_ = used_;
    other.add_any(gap, duration);
    width_ = other.width_;
    at_ = other.at_;
    word_ = other.word_;
    used_ = other.used_;
  }
  void add_any(std::uint64_t gap, std::uint64_t duration) noexcept;
  unsigned put_any(std::uint64_t value) noexcept;

  unsigned char* width_;
  unsigned char* at_;
  std::uint64_t word_;  // `used_` bits that were not stored yet
  unsigned used_;
};

// Decodes the spans of n calls, which take all of [in, end). The first gap begins at `time`. False if they are
// malformed.
bool decode_spans(const char* in, const char* end, std::uint64_t time, std::size_t n, std::uint64_t* enter,
                  std::uint64_t* duration) noexcept;

}  // namespace tare::format
