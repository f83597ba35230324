// The name of a thread. A thread inherits the name of its creator and usually keeps it. So only the name of the first
// thread and names that differ from it are defined.
#pragma once

#include <cstdint>

namespace tare::recorder {

struct ThreadName {
  char text[16];  // as noted last

  // A thread that starts has the name of the first one until its own is noted.
  void inherit() noexcept;
  // Defines what the thread of this number is called now, if that is new.
  void note(std::uint32_t thread) noexcept;
};

// For a forked child.
void reset_thread_names() noexcept;

}  // namespace tare::recorder
