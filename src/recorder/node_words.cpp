#include "recorder/node_words.h"

#include <climits>
#include <cstdio>
#include <cstring>

#include "format/segment_name.h"
#include "recorder/system.h"

namespace tare::recorder {

namespace {

constinit NodeWords alone{};
constinit char joined[PATH_MAX] = "";

}  // namespace

constinit NodeWords* node_words = &alone;

bool map_node_words(const char* directory, const char* run_id) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/tare-%s%s", directory, run_id, format::step_suffix);
  if (std::strcmp(path, joined) == 0) return true;  // a forked child has joined already
  create_file(path);
  // The words of an earlier run stay mapped, because other threads may be reading them.
  void* memory = map_file(path, 0, sizeof(NodeWords));
  if (memory == nullptr) return false;
  std::memcpy(joined, path, sizeof joined);
  node_words = static_cast<NodeWords*>(memory);
  return true;
}

void remove_node_words() noexcept {
  if (joined[0] != '\0') remove_file(joined);
}

bool has_keeper() noexcept {
  const std::uint32_t kept = node_words->kept.load(std::memory_order_acquire);
  return kept == keeper_marked ? is_marked(joined) : kept != not_kept;
}

bool takes_on_keeper() noexcept {
  std::uint32_t kept = node_words->kept.load(std::memory_order_acquire);
  const bool has_none = kept == not_kept || (kept == keeper_marked && !is_marked(joined));
  return has_none && node_words->kept.compare_exchange_strong(kept, keeper_started, std::memory_order_acq_rel);
}

Kept note_keeper() noexcept {
  const Kept kept = mark_file(joined) ? keeper_marked : keeper_started;
  node_words->kept.store(kept, std::memory_order_release);
  return kept;
}

void call_tared() noexcept {
  node_words->full.fetch_add(1, std::memory_order_release);
  if (tared_serves()) wake(&node_words->full);
}

}  // namespace tare::recorder
