// Numbers in texts that users, launchers and tare itself write. What is read depends on the text alone. It does not
// depend on the locale, the rounding mode, or whether denormal numbers are zero: a measured program may change them.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare::format {

// Reads a whole number of 64 bits, decimal, or hexadecimal behind 0x. If the text is anything else, the result is
// false, and `value` is as before.
bool parse_count(std::string_view text, std::uint64_t& value) noexcept;

// digits / 10^places.
struct Decimal {
  std::uint64_t digits = 0;
  unsigned places = 0;

  // The number of type double that is nearest; 0 for those below 1e-290.
  double value() const noexcept;
  // The whole number that is nearest to the product. False if 64 bits do not hold it.
  bool times(std::uint64_t unit, std::uint64_t& product) const noexcept;
};

// Reads a number like 0.25 or 1e-4 from the beginning of the text, which then begins behind it. False if there is none,
// or one that is too large.
bool parse_decimal(std::string_view& text, Decimal& out) noexcept;

}  // namespace tare::format
