#include "recorder/sources.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "recorder/environment.h"

namespace tare::recorder {
namespace {

constexpr const char* variable = "TARE_WITH";
constexpr std::uint32_t is_read = 1U << 31;

// Bit i: source i is on; and `is_read`.
constinit std::atomic<std::uint32_t> sources_on{0};

// Calls each(name) for the names in TARE_WITH.
template <class Each>
void each_name(Each each) noexcept {
  const char* text = secure_getenv(variable);
  std::string_view left(text == nullptr ? "" : text);
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(','), left.size());
    if (end != 0) each(std::string_view(left.data(), end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
}

std::uint32_t read_sources() noexcept {
  std::uint32_t on = is_read;
  std::uint32_t bit = 1;
  for (const Source* source : library_options.sources) {
    if (source->is_always_on) on |= bit;
    each_name([&](std::string_view name) {
      if (name == source->name) on |= bit;
    });
    bit <<= 1;
  }
  return on;
}

}  // namespace

bool is_on(const Source& source) noexcept {
  std::uint32_t on = sources_on.load(std::memory_order_relaxed);
  if (on == 0) sources_on.store(on = read_sources(), std::memory_order_relaxed);
  std::uint32_t bit = 1;
  for (const Source* each : library_options.sources) {
    if (each == &source) return (on & bit) != 0;
    bit <<= 1;
  }
  return false;
}

void check_sources() noexcept {
  each_name([](std::string_view name) {
    char known[128] = "";
    std::size_t used = 0;
    for (const Source* source : library_options.sources) {
      if (name == source->name) return;
      if (source->is_always_on || used >= sizeof known) continue;
      used += static_cast<std::size_t>(
          std::snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ", source->name));
    }
    char unknown[64];
    std::snprintf(unknown, sizeof unknown, "%.*s", static_cast<int>(name.size()), name.data());
    warn_of(variable, unknown, known);
  });
}

}  // namespace tare::recorder
