#include "format/monitor_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "format/number.h"
#include "format/offload_ring.h"

namespace tare::format {
namespace {

// As std::string_view::substr, which can throw, and would link C++'s exceptions into the preload library.
std::string_view part(std::string_view text, std::size_t from, std::size_t count = std::string_view::npos) noexcept {
  const std::size_t begin = std::min(from, text.size());
  return {text.data() + begin, std::min(count, text.size() - begin)};
}

const char* set_policy(std::string_view value, MonitorSpec& spec) noexcept {
  if (value == "block")
    spec.policy = MonitorPolicy::block;
  else if (value == "nonblock")
    spec.policy = MonitorPolicy::nonblock;
  else if (value == "lossy")
    spec.policy = MonitorPolicy::lossy;
  else
    return "policy is one of block, nonblock and lossy";
  return nullptr;
}

const char* set_region(std::string_view value, MonitorSpec& spec) noexcept {
  const auto colon = value.find(':');
  if (colon == std::string_view::npos || !parse_count(part(value, 0, colon), spec.region_every) ||
      spec.region_every == 0)
    return "region is a number above 0, a colon and a name";
  const std::string_view name = part(value, colon + 1);
  if (name.empty() || name.size() >= MonitorSpec::name_bytes) return "the region has no name, or too long a one";
  std::memcpy(spec.region, name.data(), name.size());
  spec.region[name.size()] = '\0';
  return nullptr;
}

const char* set_ring(std::string_view value, MonitorSpec& spec) noexcept {
  std::uint64_t bytes = 0;
  if (!parse_count(value, bytes) || (bytes & (bytes - 1)) != 0 || bytes < min_offload_bytes ||
      bytes > max_offload_bytes)
    return "ring is a power of two, from 16384 to 1073741824";
  spec.ring_bytes = bytes;
  return nullptr;
}

const char* set(std::string_view key, std::string_view value, MonitorSpec& spec) noexcept {
  if (key == "policy") return set_policy(value, spec);
  if (key == "ring") return set_ring(value, spec);
  std::uint64_t* const target = key == "interval" ? &spec.interval_ns
                                : key == "epoch"  ? &spec.epoch_ns
                                : key == "every"  ? &spec.every
                                : key == "depth"  ? &spec.depth
                                : key == "wait"   ? &spec.wait_ns
                                                  : nullptr;
  if (target == nullptr) return nullptr;
  if (!parse_count(value, *target)) return "a value is no number";
  return spec.every == 0 ? "every is a number above 0" : nullptr;
}

}  // namespace

const char* parse_monitor_spec(const char* text, MonitorSpec& spec) noexcept {
  MonitorSpec parsed;
  std::string_view rest(text);
  while (!rest.empty()) {
    const auto equals = rest.find('=');
    if (equals == std::string_view::npos) return "a key has no value";
    const std::string_view key = part(rest, 0, equals);
    rest.remove_prefix(equals + 1);
    // The name of a region may contain any character.
    const auto comma = key == "region" ? std::string_view::npos : rest.find(',');
    const std::string_view value = part(rest, 0, comma);
    if (const char* wrong = key == "region" ? set_region(value, parsed) : set(key, value, parsed)) return wrong;
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  spec = parsed;
  return nullptr;
}

}  // namespace tare::format
