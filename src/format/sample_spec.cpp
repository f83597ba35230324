#include "format/sample_spec.h"

#include <cstring>
#include <string_view>

#include "format/function_meaning.h"
#include "format/functions.h"
#include "format/number.h"

namespace tare::format {
namespace {

// The text up to the next comma, copied so that it ends there; moves on behind the comma.
struct Words {
  const char* at;
  char word[SampleSpec::object_bytes];

  bool next() noexcept {
    if (at == nullptr) return false;
    const std::size_t length = std::strcspn(at, ",\n");
    if (length >= sizeof word) return false;
    std::memcpy(word, at, length);
    word[length] = '\0';
    at = at[length] == ',' ? at + length + 1 : nullptr;
    return true;
  }
};

bool starts_with(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// Like 64K or 1M.
bool parse_size(const char* text, std::size_t length, std::uint64_t& value) noexcept {
  char digits[32];
  if (length == 0 || length >= sizeof digits) return false;
  std::memcpy(digits, text, length);
  digits[length] = '\0';
  std::uint64_t unit = 1;
  switch (digits[length - 1]) {
    case 'K':
    case 'k':
      unit = 1 << 10;
      break;
    case 'M':
    case 'm':
      unit = 1 << 20;
      break;
    case 'G':
    case 'g':
      unit = 1 << 30;
      break;
    default:
      break;
  }
  if (unit != 1) digits[length - 1] = '\0';
  if (!parse_count(digits, value) || value > UINT64_MAX / unit) return false;
  value *= unit;
  return true;
}

bool parse_range(const char* text, SampleSpec& spec) noexcept {
  const std::size_t length = std::strlen(text);
  if (length == 0) return false;
  const char* dash = std::strchr(text, '-');
  const std::size_t first = dash == nullptr ? length : static_cast<std::size_t>(dash - text);
  spec.size_from = 0;
  if (first != 0 && !parse_size(text, first, spec.size_from)) return false;
  spec.size_to = dash == nullptr ? spec.size_from : UINT64_MAX;
  if (dash != nullptr && first + 1 < length && !parse_size(dash + 1, length - first - 1, spec.size_to)) return false;
  return spec.size_from <= spec.size_to;
}

// Like 1ms or 250us, in nanoseconds.
bool parse_time(std::string_view text, std::uint64_t& ns) noexcept {
  constexpr std::uint64_t max_ns = 1'000'000'000'000'000'000;
  Decimal number;
  if (!parse_decimal(text, number)) return false;
  const std::uint64_t unit = text == "ns"   ? 1
                             : text == "us" ? 1'000
                             : text == "ms" ? 1'000'000
                             : text == "s"  ? 1'000'000'000
                                            : 0;
  return unit != 0 && number.times(unit, ns) && ns <= max_ns;
}

bool parse_threshold(std::string_view text, double& threshold) noexcept {
  Decimal number;
  if (!parse_decimal(text, number) || !text.empty()) return false;
  const double value = number.value();
  if (!(value > 0) || value > 1) return false;
  threshold = value;
  return true;
}

template <std::size_t size>
bool copy_name(const char* text, char (&name)[size]) noexcept {
  const std::size_t length = std::strlen(text);
  if (length == 0 || length >= size) return false;
  std::memcpy(name, text, length + 1);
  return true;
}

// Only those that send: the choice is the sender's.
bool sends(const FunctionMeaning& function) noexcept {
  const bool is_sent = function.kind == CallClass::send || function.kind == CallClass::exchange;
  return function.kind == CallClass::start || (is_sent && function.form != CallForm::persistent);
}

bool parse_function(const char* text, std::uint16_t& function) noexcept {
  for (unsigned i = 1; i <= function_count; ++i) {
    if (std::strcmp(text, function_name(i)) != 0) continue;
    function = static_cast<std::uint16_t>(i);
    return sends(meaning_of(i));
  }
  return false;
}

// Finds the place of a name among the files of the sites, or gives it one.
bool place_file(const char* name, std::size_t length, SampleSpec& spec, std::uint32_t& place) noexcept {
  if (length == 0 || length >= SampleSpec::name_bytes) return false;
  for (place = 0; place < spec.site_file_count; ++place)
    if (std::strlen(spec.site_files[place]) == length && std::memcmp(spec.site_files[place], name, length) == 0)
      return true;
  if (place == SampleSpec::max_site_files) return false;
  std::memcpy(spec.site_files[place], name, length);
  spec.site_files[place][length] = '\0';
  ++spec.site_file_count;
  return true;
}

// OFFSET, which a call returns to, or LOW-HIGH, code that calls lie in.
bool parse_addresses(char* text, SampleSpec::Site& site) noexcept {
  char* dash = std::strchr(text, '-');
  if (dash == nullptr) {
    if (!parse_count(text, site.high) || site.high == 0) return false;
    site.low = site.high - 1;
    return true;
  }
  *dash = '\0';
  return parse_count(text, site.low) && parse_count(dash + 1, site.high) && site.low < site.high;
}

constexpr const char* site_usage =
    "site is OBJECT+OFFSET, OBJECT+LOW-HIGH or FILE.py:LINE, like site=app+0x1234; at most 64 of them, in 8 files";
constexpr const char* compiled_line =
    "lines of compiled code are looked up before the program starts: "
    "`tare run --sample SPEC --print-sample -- COMMAND` prints SPEC with addresses for them";

const char* parse_site(char* text, SampleSpec& spec) noexcept {
  char* mark = nullptr;
  for (char* at = text; *at != '\0'; ++at)
    if (*at == '+' || *at == ':') mark = at;
  if (mark == nullptr || spec.site_count == SampleSpec::max_sites) return site_usage;
  SampleSpec::Site& site = spec.sites[spec.site_count];
  const auto length = static_cast<std::size_t>(mark - text);
  site.python = *mark == ':';
  if (site.python ? !parse_count(mark + 1, site.low) : !parse_addresses(mark + 1, site)) return site_usage;
  if (site.python && (length < 4 || std::memcmp(mark - 3, ".py", 3) != 0))
    return length == 0 ? site_usage : compiled_line;
  if (!place_file(text, length, spec, site.file)) return site_usage;
  ++spec.site_count;
  return nullptr;
}

// FILE.so[:ARGUMENTS]
bool names_object(const char* text) noexcept {
  const char* end = std::strstr(text, ".so:");
  const std::size_t file = end == nullptr ? std::strlen(text) : static_cast<std::size_t>(end - text) + 3;
  return file > 3 && std::memcmp(text + file - 3, ".so", 3) == 0;
}

constexpr const char* counter_usage =
    "counter is counter:PERIOD or counter:PERIOD,VARIANCE in messages, the variance smaller, like counter:256,16";
constexpr const char* timer_usage =
    "timer is timer:PERIOD or timer:PERIOD,VARIANCE with units, the variance smaller, like timer:1ms,0.2ms";

const char* parse_strategy(const char* text, Words& words, SampleSpec& spec) noexcept {
  if (std::strcmp(text, "none") == 0) {
    spec.strategy = SampleStrategy::none;
    return nullptr;
  }
  if (starts_with(text, "random:")) {
    spec.strategy = SampleStrategy::random;
    if (parse_threshold(text + 7, spec.threshold)) return nullptr;
    return "random is random:THRESHOLD, above 0 and at most 1, like random:0.01";
  }
  if (names_object(text)) {
    spec.strategy = SampleStrategy::user;
    copy_name(text, spec.chooser);
    return nullptr;
  }
  const bool counts = starts_with(text, "counter:");
  if (!counts && !starts_with(text, "timer:"))
    return "it begins with a strategy: random:0.01, counter:256,16, timer:1ms,0.2ms, FILE.so, or none";
  const char* usage = counts ? counter_usage : timer_usage;
  spec.strategy = counts ? SampleStrategy::counter : SampleStrategy::timer;
  const auto number = counts ? parse_count : parse_time;
  if (!number(text + (counts ? 8 : 6), spec.period) || spec.period == 0) return usage;
  // The variance is behind a comma, and may be missing.
  spec.variance = 0;
  if (words.at != nullptr && *words.at >= '0' && *words.at <= '9')
    if (!words.next() || !number(words.word, spec.variance)) return usage;
  return spec.variance < spec.period && spec.period < UINT64_MAX / 4 ? nullptr : usage;
}

bool parse_method(const char* text, SampleMethod& method) noexcept {
  constexpr const char* names[] = {"stat", "freq", "write", "off"};
  for (unsigned i = 0; i < 4; ++i) {
    if (std::strcmp(text, names[i]) != 0) continue;
    method = static_cast<SampleMethod>(i);
    return true;
  }
  return false;
}

const char* parse_option(char* text, SampleSpec& spec) noexcept {
  const auto value = [&](const char* key) -> char* {
    return starts_with(text, key) ? text + std::strlen(key) : nullptr;
  };
  const auto unless = [](bool fine, const char* usage) { return fine ? nullptr : usage; };
  if (const char* v = value("seed=")) return unless(parse_count(v, spec.seed), "seed is a whole number, like seed=7");
  if (const char* v = value("size="))
    return unless(parse_range(v, spec), "size is a range of bytes per message, like size=1K-64K or size=64K-");
  if (const char* v = value("communicator="))
    return unless(copy_name(v, spec.communicator), "communicator is a name of up to 95 bytes");
  if (const char* v = value("function="))
    return unless(parse_function(v, spec.function), "function is one that sends, like function=MPI_Isend");
  if (const char* v = value("phase=")) return unless(copy_name(v, spec.phase), "phase is a name of up to 95 bytes");
  if (char* v = value("site=")) return parse_site(v, spec);
  if (const char* v = value("analysis="))
    return unless(names_object(v) && copy_name(v, spec.analysis), "analysis is a FILE.so, or FILE.so:ARGUMENTS");
  return unless(parse_method(text, spec.method),
                "behind the strategy come stat, freq, write or off, and seed=, size=, communicator=, function=, "
                "phase=, site=, analysis=");
}

}  // namespace

const char* parse_sample_spec(const char* text, SampleSpec& spec) noexcept {
  SampleSpec parsed{};
  parsed.seed = spec.seed;
  std::memcpy(parsed.analysis, spec.analysis, sizeof parsed.analysis);
  Words words{text == nullptr ? "" : text, ""};
  constexpr const char* too_long = "no part of it has more than 511 bytes";
  if (!words.next()) return too_long;
  if (const char* wrong = parse_strategy(words.word, words, parsed)) return wrong;
  while (words.at != nullptr) {
    if (!words.next()) return too_long;
    if (const char* wrong = parse_option(words.word, parsed)) return wrong;
  }
  spec = parsed;
  return nullptr;
}

}  // namespace tare::format
