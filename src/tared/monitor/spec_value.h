#pragma once

#include <algorithm>
#include <string>

namespace tare::tared {

// The value of a key in a text like that of TARE_MONITOR (format/monitor_spec.h); `otherwise` if there is none.
inline std::string value_of(const std::string& spec, const std::string& key, const std::string& otherwise) {
  for (std::size_t at = 0; at < spec.size();) {
    if (spec.compare(at, 7, "region=") == 0) break;  // the last key, whose value may contain anything
    const std::size_t end = std::min(spec.find(',', at), spec.size());
    if (spec.compare(at, key.size() + 1, key + "=") == 0)
      return spec.substr(at + key.size() + 1, end - at - key.size() - 1);
    at = end + 1;
  }
  return otherwise;
}

}  // namespace tare::tared
