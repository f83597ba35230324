// The name of a segment's file: tare-<run id>-<pid>-<n>. Code that lists a directory accepts no other names, because
// files with such names are read, and removed when they have been collected.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace tare::format {

inline constexpr std::size_t run_id_digits = 16;

// All files of tare in shared memory have names that begin so.
inline constexpr char segment_prefix[] = "tare-";

// Beside the segments of a run lies tare-<run id>.step, which its processes on this node share (recorder/node_words.h).
inline constexpr char step_suffix[] = ".step";
// And tare-<run id>.mail-<node>, if messages are sampled, until all ranks of the node have mapped it.
inline constexpr char mail_suffix[] = ".mail-";

inline bool is_hexadecimal(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

inline bool is_run_id(std::string_view text) noexcept { return text.size() == run_id_digits && is_hexadecimal(text); }

struct SegmentFileName {
  std::string_view run_id;
  unsigned pid;
};

// The parts of a segment's name; empty if it is none.
inline std::optional<SegmentFileName> parse_segment_name(std::string_view name) noexcept {
  constexpr std::string_view prefix = segment_prefix;
  constexpr std::size_t max_digits = 16;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::string_view run_id = name.substr(0, run_id_digits);
  if (!is_run_id(run_id) || name.substr(run_id.size(), 1) != "-") return std::nullopt;
  name.remove_prefix(run_id.size() + 1);
  unsigned pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || pid == 0 || pid > INT32_MAX) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (name.size() < 2 || name.size() > 1 + max_digits || name[0] != '-' || !is_hexadecimal(name.substr(1)))
    return std::nullopt;
  return SegmentFileName{run_id, pid};
}

}  // namespace tare::format
