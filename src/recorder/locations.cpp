#include "recorder/locations.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/inside.h"
#include "recorder/node_words.h"
#include "recorder/scheduling.h"
#include "recorder/segment.h"
#include "recorder/sources.h"
#include "recorder/system.h"

namespace tare::recorder {

constinit thread_local Location* this_location = nullptr;

namespace {

using format::LocationHeader;
using format::SegmentHeader;

constinit SpinLock blocks_lock;
pthread_key_t thread_end;

// Private halves of the blocks, by block number, in pages of 64 that are never moved or freed.
constexpr std::uint32_t per_page = 64;
constexpr std::uint32_t max_pages = 4096;
constinit Location** location_pages[max_pages] = {};

Location** location_slot(std::uint32_t block) noexcept {
  if (block / per_page >= max_pages) return nullptr;
  Location**& slots = location_pages[block / per_page];
  if (slots == nullptr) slots = static_cast<Location**>(map_memory(per_page * sizeof(Location*)));
  return slots == nullptr ? nullptr : &slots[block % per_page];
}

// A block whose thread has ended, or nullptr.
Location* free_location(const SegmentHeader& header) noexcept {
  for (std::uint32_t block = 0; block < header.locations; ++block) {
    Location** slot = location_slot(block);
    if (slot != nullptr && *slot != nullptr && (*slot)->shared().summary.in_use == 0) return *slot;
  }
  return nullptr;
}

Location* new_location(SegmentHeader& header) noexcept {
  const std::uint32_t block = header.locations;
  Location** slot = location_slot(block);
  if (slot == nullptr) return nullptr;
  auto* location = static_cast<Location*>(map_memory(library_options.location_bytes));
  bool has_buffer = false;
  LocationHeader* shared = map_block(block, has_buffer);
  if (location == nullptr || shared == nullptr) {
    if (location != nullptr) unmap_memory(location, library_options.location_bytes);
    if (shared != nullptr) unmap_block(shared);
    return nullptr;
  }
  shared->block = block;
  location->begin(*shared, header.row_capacity, has_buffer ? format::buffer_of(shared, header.row_capacity) : nullptr,
                  header.ring);
  location->spans = spans_of(shared);
  if (!has_buffer && header.ring.count != 0) shared->summary.full |= format::without_buffer;
  *slot = location;
  header.locations.store(block + 1, std::memory_order_release);
  return location;
}

// A thread ends. Its block becomes free for another thread when its records have left the buffer.
void at_thread_end(void* value) noexcept {
  auto* location = static_cast<Location*>(value);
  const ErrnoGuard guard;
  // If the process was forked meanwhile, the location belongs to the parent's segment.
  if (segment() == nullptr || this_location != location) return;
  tell_sources<&Source::ended>(*location);
  const OwnCode own;
  read_last_scheduling(*location);
  location->end_thread();
  this_location = nullptr;
  const Locked locked(blocks_lock);
  location->shared().summary.in_use = 0;
}

}  // namespace

LocationHeader* block_at(std::uint32_t block) noexcept {
  const Locked locked(blocks_lock);
  Location** slot = location_slot(block);
  return slot == nullptr || *slot == nullptr ? nullptr : &(*slot)->shared();
}

const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept {
  const LocationHeader* location = block_at(block);
  return location == nullptr ? nullptr : format::rows_of(location) + row;
}

Location* take_location(SegmentHeader& header) noexcept {
  const Locked locked(blocks_lock);
  Location* location = free_location(header);
  if (location != nullptr) location->shared().summary.phase_since = now();
  if (location == nullptr) location = new_location(header);
  if (location == nullptr) return nullptr;
  format::LocationSummary& summary = location->shared().summary;
  summary.number = header.process.threads++;
  summary.thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  location->drains_seen = node_words->drains.load(std::memory_order_relaxed);
  location->shared().current.function = 0;  // what the earlier thread was in
  location->shared().others.call.function = location->shared().others.construct.function = 0;
  summary.in_use = 1;
  return location;
}

void begin_thread(Location& location) noexcept {
  if (location.events.ring.count != 0) open_for_thread(location.events, location.name);
  location.begin_scheduling();
  location.scheduling.is_of_begin = true;
  tell_sources<&Source::started>(location);
  if (location.spans != nullptr) library_options.monitor->begin_thread(location);
  location.name.inherit();
  location.name.note(location.shared().summary.number);
  this_location = &location;
  pthread_setspecific(thread_end, &location);
}

void watch_thread_ends() noexcept { pthread_key_create(&thread_end, at_thread_end); }

void reset_locations() noexcept {
  blocks_lock.reset();
  this_location = nullptr;
  for (auto& page : location_pages) page = nullptr;
}

}  // namespace tare::recorder
