// Sources of events: what intercepts a kind of calls, each in a folder of its own (README.md, "Sources of events").
#pragma once

#include <cstdint>

namespace tare::recorder {

struct Location;

// A source, as it takes part in recording. Hooks that it does not need are nullptr. No hook allocates, throws or calls
// functions that are intercepted.
struct Source {
  const char* name = "";      // as its functions.toml and TARE_WITH say
  bool is_always_on = false;  // else TARE_WITH has to name it
  // The process begins to record; also a forked child, after `forked`.
  void (*begins)() noexcept = nullptr;
  // Called in a thread that has got a location, which another thread may have had before.
  void (*started)(Location& location) noexcept = nullptr;
  // Called in a thread that pauses.
  void (*pauses)(Location& location) noexcept = nullptr;
  // Called in a thread that has a location when it is found that a measured call, which has begun, will not return
  // (stack/inside.h). The call may be of another source.
  void (*left)(Location& location) noexcept = nullptr;
  // Called when a thread begins or ends only counting, and when Location::requests_open of such a thread changes.
  void (*depth_changes)(const Location& location) noexcept = nullptr;
  // Called in a thread that has a location: `ended` when the thread ends, `exiting` when it lets the process exit.
  void (*ended)(Location& location) noexcept = nullptr;
  void (*exiting)(Location& location) noexcept = nullptr;
  // Called in a forked child, which forgets what the parent recorded.
  void (*forked)() noexcept = nullptr;
  // What only one source has. How many classes of sampled messages need room, asked once for each segment; 0: messages
  // are not sampled.
  std::uint32_t (*sample_classes)() noexcept = nullptr;
  // Whether stacks are sampled, so that there must be room for them; asked once for each segment.
  bool (*samples_stacks)() noexcept = nullptr;
  // The same for the table of files.
  bool (*counts_files)() noexcept = nullptr;
  // Changes which messages are sampled. Returns nullptr, or an error message for the text.
  const char* (*change_sampling)(const char* spec) noexcept = nullptr;
  // Whether this thread may complete requests that are under way. Called where a spell begins that only counts
  // (spells.h).
  bool (*has_open_requests)() noexcept = nullptr;
};

}  // namespace tare::recorder
