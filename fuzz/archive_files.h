// The files of an OTF2 archive as one input of a fuzzer: for each a byte that says which one it is, its size in four
// bytes (the lowest first), and its contents.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tare::fuzz {

// Up to four locations; the exporter numbers the first threads of processes from 0.
inline constexpr std::array archive_files{
    "traces.otf2",  "traces.def",   "traces/0.evt", "traces/1.evt", "traces/2.evt",
    "traces/3.evt", "traces/0.def", "traces/1.def", "traces/2.def", "traces/3.def",
};

inline std::string packed(std::size_t which, std::string_view contents) {
  std::string text(1, static_cast<char>(which));
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(contents.size() >> shift & 0xff);
  return text.append(contents);
}

// False if not even the first file is there.
inline bool unpack(std::string_view input, const std::string& to) {
  constexpr std::size_t head = 5;
  std::filesystem::create_directories(to + "/traces");
  bool has_anchor = false;
  while (input.size() >= head) {
    const auto which = static_cast<std::uint8_t>(input[0]) % archive_files.size();
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size |= std::size_t{static_cast<std::uint8_t>(input[1 + i])} << 8 * i;
    input.remove_prefix(head);
    size = std::min(size, input.size());
    std::ofstream(to + "/" + archive_files[which], std::ios::binary).write(input.data(), static_cast<long>(size));
    input.remove_prefix(size);
    has_anchor = has_anchor || which == 0;
  }
  return has_anchor;
}

}  // namespace tare::fuzz
