// The name of a node's file in the run directory.
#pragma once

#include <cstddef>
#include <cstring>

namespace tare::format {

// "<host>.tare". `name` must have room for at least 16 bytes. The result is always a visible file of that directory:
// each character except letters, digits, ".", "-" and "_", and a "." at the beginning, becomes "_".
inline void node_file_name(char* out, std::size_t bytes, const char* host) noexcept {
  constexpr char suffix[] = ".tare";
  if (host[0] == '\0') host = "unknown";
  const std::size_t length = strnlen(host, bytes - sizeof suffix);
  for (std::size_t i = 0; i < length; ++i) {
    const char c = host[i];
    const bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || (c == '.' && i != 0);
    out[i] = usual ? c : '_';
  }
  std::memcpy(out + length, suffix, sizeof suffix);
}

}  // namespace tare::format
