#include "format/number.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tare::format {
namespace {

__extension__ using Wide = unsigned __int128;

// With more of them, every number of 64 bits is 0 for each use.
constexpr unsigned max_places = 400;

// The value of a digit; more than any base has if it is none.
unsigned digit_of(char letter) noexcept {
  if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
  const char lower = static_cast<char>(letter | 0x20);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a' + 10) : 99;
}

bool begins_with_digit(std::string_view text) noexcept { return !text.empty() && digit_of(text.front()) < 10; }

bool has_room(std::uint64_t digits) noexcept { return digits <= (UINT64_MAX - 9) / 10; }

unsigned first_digit(std::string_view& text) noexcept {
  const unsigned digit = digit_of(text.front());
  text.remove_prefix(1);
  return digit;
}

}  // namespace

bool parse_count(std::string_view text, std::uint64_t& value) noexcept {
  const unsigned base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  if (text.empty()) return false;
  std::uint64_t read = 0;
  for (const char letter : text) {
    const unsigned digit = digit_of(letter);
    if (digit >= base || read > (UINT64_MAX - digit) / base) return false;
    read = read * base + digit;
  }
  value = read;
  return true;
}

bool parse_decimal(std::string_view& text, Decimal& out) noexcept {
  Decimal read;
  bool has_digits = false;
  for (; begins_with_digit(text); has_digits = true) {
    if (!has_room(read.digits)) return false;
    read.digits = read.digits * 10 + first_digit(text);
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    for (; begins_with_digit(text); has_digits = true) {
      const unsigned digit = first_digit(text);
      if (!has_room(read.digits) || read.places == max_places) continue;  // what follows makes no difference
      read.digits = read.digits * 10 + digit;
      ++read.places;
    }
  }
  if (!has_digits) return false;
  if (text.starts_with("e-") && text.size() > 2 && digit_of(text[2]) < 10) {
    text.remove_prefix(2);
    unsigned power = 0;
    while (begins_with_digit(text)) power = std::min(max_places, power * 10 + first_digit(text));
    read.places += power;
  }
  out = read;
  return true;
}

// All operations of the processor on type double are exact here, so no mode of it makes a difference.
double Decimal::value() const noexcept {
  if (digits == 0) return 0;
  Wide scaled = digits;  // scaled * 2^exponent
  int exponent = 0;
  const auto shift = [&] {
    while (scaled >> 127 == 0) {
      scaled <<= 1;
      --exponent;
    }
  };
  for (unsigned i = 0; i < places; ++i) {
    shift();
    scaled /= 10;
  }
  shift();
  const auto high = static_cast<std::uint64_t>(scaled >> 64);
  const std::uint64_t rounded = (high >> 11) + ((high >> 10) & 1U);  // at most 2^53
  exponent += 64 + 11;
  constexpr int min_exponent = -1022;
  if (exponent < min_exponent) return 0;
  return static_cast<double>(rounded) * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

bool Decimal::times(std::uint64_t unit, std::uint64_t& product) const noexcept {
  Wide scaled = Wide{digits} * unit;
  bool rounds_up = false;
  for (unsigned i = 0; i < places; ++i) {
    rounds_up = scaled % 10 >= 5;
    scaled /= 10;
  }
  if (rounds_up) ++scaled;
  if (scaled > UINT64_MAX) return false;
  product = static_cast<std::uint64_t>(scaled);
  return true;
}

}  // namespace tare::format
