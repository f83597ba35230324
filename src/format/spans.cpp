#include "format/spans.h"

#include <cstring>

namespace tare::format {
namespace {

constexpr unsigned escape = 15;
constexpr unsigned shortest_long = 14;  // bits of the shortest value that takes an escape, above 2^15 - 2

class BitReader {
 public:
  BitReader(const unsigned char* bits, std::size_t bytes) noexcept : bits_(bits), most_((bytes - span_zeros) * 8) {}
  // At most 56 bits.
  std::uint64_t take(unsigned bits) noexcept {
    std::uint64_t word;
    std::memcpy(&word, bits_ + at_ / 8, sizeof word);
    word = word >> at_ % 8 & ((std::uint64_t{1} << bits) - 1);
    at_ += bits;
    return word;
  }
  bool has(unsigned bits) const noexcept { return most_ - at_ >= bits; }
  bool at_end() const noexcept { return most_ - at_ < 8; }

 private:
  const unsigned char* bits_;
  std::size_t most_;  // bits, without the zeros behind them
  std::size_t at_ = 0;
};

bool take_long(BitReader& in, std::uint64_t& value) noexcept {
  if (!in.has(6)) return false;
  const unsigned bits = shortest_long + static_cast<unsigned>(in.take(6));
  if (bits > 63 || !in.has(bits)) return false;
  const unsigned low = bits < 32 ? bits : 32;
  value = in.take(low);
  value |= in.take(bits - low) << low;
  value |= std::uint64_t{1} << bits;
  return true;
}

bool take_any(BitReader& in, unsigned width, std::uint64_t& value) noexcept {
  if (width == escape) return take_long(in, value);
  if (!in.has(width)) return false;
  value = in.take(width) + (std::uint64_t{1} << width) - 1;
  return true;
}

}  // namespace

SpanWriter::Field SpanWriter::long_field(std::uint64_t gap, std::uint64_t duration) noexcept {
  // One value. If it is below 2^50, it has at most 56 bits.
  const auto field_of = [](std::uint64_t value) __attribute__((always_inline))->Field {
    if (value < (1U << escape) - 1) {
      const unsigned bits = log2(value + 1);
      return {low(value + 1, bits), bits, bits};
    }
    const unsigned bits = log2(value);
    return {low(value, bits) << 6 | (bits - shortest_long), bits + 6, escape};
  };
  const Field first = field_of(gap);
  const Field second = field_of(duration);
  const unsigned bits = first.bits + second.bits;
  return {first.value | second.value << first.bits % 64, bits, first.widths | second.widths << 4};
}

// Writes the bits of a value of any size; returns its width.
unsigned SpanWriter::put_any(std::uint64_t value) noexcept {
  if (value < (1U << escape) - 1) {
    const unsigned bits = log2(value + 1);
    put(low(value + 1, bits), bits);
    return bits;
  }
  const unsigned bits = log2(value);
  put(bits - shortest_long, 6);
  const unsigned lower = bits < 32 ? bits : 32;
  put(low(value, lower), lower);
  put(low(value, bits) >> lower, bits - lower);
  return escape;
}

void SpanWriter::add_any(std::uint64_t gap, std::uint64_t duration) noexcept {
  const unsigned gap_bits = put_any(gap);
  *width_++ = static_cast<unsigned char>(gap_bits | put_any(duration) << 4);
}

bool decode_spans(const char* in, const char* end, std::uint64_t time, std::size_t n, std::uint64_t* enter,
                  std::uint64_t* duration) noexcept {
  const auto bytes = static_cast<std::size_t>(end - in);
  if (bytes < n + span_zeros) return false;
  const auto* widths = reinterpret_cast<const unsigned char*>(in);
  BitReader bits(widths + n, bytes - n);
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned gap_width = widths[i] % 16;
    const unsigned duration_width = widths[i] / 16;
    std::uint64_t gap;
    if (gap_width != escape && duration_width != escape) [[likely]] {
      if (!bits.has(gap_width + duration_width)) return false;
      const std::uint64_t both = bits.take(gap_width + duration_width);
      gap = (both & ((std::uint64_t{1} << gap_width) - 1)) + (std::uint64_t{1} << gap_width) - 1;
      duration[i] = (both >> gap_width) + (std::uint64_t{1} << duration_width) - 1;
    } else if (!take_any(bits, gap_width, gap) || !take_any(bits, duration_width, duration[i])) {
      return false;
    }
    enter[i] = time + gap;
    time = enter[i] + duration[i];
  }
  return bits.at_end();
}

}  // namespace tare::format
