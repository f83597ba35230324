#include "recorder/step.h"

#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "format/segment.h"
#include "recorder/system.h"

namespace tare::recorder {

namespace {

constinit std::atomic<std::uint32_t> alone{0};
constinit char joined[PATH_MAX] = "";

}  // namespace

constinit std::atomic<std::uint32_t>* drains_of_node = &alone;

void fall_in(const char* directory, const char* run_id) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/tare-%s%s", directory, run_id, format::step_suffix);
  if (std::strcmp(path, joined) == 0) return;  // in a forked child
  create_file(path);
  // The word of a run before stays where it is: other threads may be reading it.
  void* memory = map_file(path, 0, sizeof(std::atomic<std::uint32_t>));
  if (memory == nullptr) return;
  std::memcpy(joined, path, sizeof joined);
  drains_of_node = static_cast<std::atomic<std::uint32_t>*>(memory);
}

void fall_out() noexcept {
  if (joined[0] != '\0') unlink(joined);
}

}  // namespace tare::recorder
