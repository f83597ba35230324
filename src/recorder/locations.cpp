#include "recorder/locations.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "recorder/event_cost.h"
#include "recorder/event_types.h"
#include "recorder/location.h"
#include "recorder/node_words.h"
#include "recorder/options.h"
#include "recorder/process.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::recorder {

static_assert(offsetof(Location, weighing) + offsetof(Weighing, left) + sizeof(Weighing::left) <= 64,
              "what every call reads lies in one cache line");

constinit thread_local Location* this_location = nullptr;

namespace {

using format::LocationHeader;
using format::SegmentHeader;

constinit SpinLock blocks_lock;
pthread_key_t thread_end;
constinit bool complained = false;  // whether the message about a thread without a buffer was printed

// The attempt to record (process.h) in which this thread failed to get a location. It does not try again at every call.
constinit thread_local std::uint32_t without_location [[gnu::tls_model("initial-exec")]] = 0;

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
    if (slot != nullptr && *slot != nullptr && (*slot)->shared->summary.in_use == 0) return *slot;
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
  location->shared = shared;
  location->shared->block = block;
  location->rows = format::rows_of(location->shared);
  location->row_capacity = header.row_capacity;
  if (has_buffer) location->ring = header.ring;
  location->spans = spans_of(shared);
  location->rows[0].ticks_min = UINT64_MAX;
  location->shared->current.source = format::no_peer;
  location->shared->current.source_tag = format::no_tag;
  location->shared->peers[0].peer = format::no_peer;
  location->shared->phases[0].type = format::other_phase;
  location->shared->phases[0].flags = format::bytes_as_in_rows;
  location->shared->phases[format::outside_phases].flags = format::bytes_as_in_rows;
  location->phase = &location->shared->phases[format::outside_phases];
  format::LocationSummary& summary = location->shared->summary;
  summary.phase_since = now();
  summary.phase = format::outside_phases;
  summary.phases = format::outside_phases + 1;
  summary.peers = summary.rows = 1;
  if (!has_buffer && header.ring.count != 0) summary.full |= format::without_buffer;
  *slot = location;
  header.locations.store(block + 1, std::memory_order_release);
  return location;
}

// A thread ends. Its block becomes free for another thread when its records have left the buffer. In a flight recorder,
// the newest events stay there.
void at_thread_end(void* value) noexcept {
  auto* location = static_cast<Location*>(value);
  const ErrnoGuard guard;
  // If the process was forked meanwhile, the location belongs to the parent's segment.
  if (segment() == nullptr || this_location != location) return;
  if (library_options.ended != nullptr) library_options.ended(*location);
  location->pause(false);
  location->end_gap(now());
  location->note_name();
  if (location->ring.policy != format::Policy::overwrite) location->drain();
  location->leave_all_phases();
  this_location = nullptr;
  const Locked locked(blocks_lock);
  location->shared->summary.in_use = 0;
}

}  // namespace

LocationHeader* block_at(std::uint32_t block) noexcept {
  const Locked locked(blocks_lock);
  Location** slot = location_slot(block);
  return slot == nullptr || *slot == nullptr ? nullptr : (*slot)->shared;
}

const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept {
  const LocationHeader* location = block_at(block);
  return location == nullptr ? nullptr : format::rows_of(location) + row;
}

Location* start_location() noexcept {
  const std::uint32_t attempt = attempts() + 1;
  if (without_location == attempt) return nullptr;
  const ErrnoGuard guard;
  // A forked child also arrives here without a segment, and gets one of its own.
  if (!attach()) {
    without_location = attempt;
    return nullptr;
  }
  Location* location = nullptr;
  SegmentHeader& header = *segment();
  {
    const Locked locked(blocks_lock);
    location = free_location(header);
    if (location != nullptr) location->shared->summary.phase_since = now();
    if (location == nullptr) location = new_location(header);
    if (location != nullptr) {
      format::LocationSummary& summary = location->shared->summary;
      summary.number = header.process.threads++;
      summary.thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
      location->drains_seen = node_words->drains.load(std::memory_order_relaxed);
      location->shared->current.function = 0;  // the call that the earlier thread was in
      summary.in_use = 1;
    }
  }
  if (location == nullptr) {
    without_location = attempt;
    const Locked locked(blocks_lock);
    ++header.process.unmeasured_threads;
    if (!std::exchange(complained, true))
      complain("no memory for another thread's buffer: this thread is not measured");
    return nullptr;
  }
  if (location->ring.count != 0) location->begin_thread();
  if (library_options.started != nullptr) library_options.started(*location);
  if (location->spans != nullptr) library_options.monitor->begin_thread(*location);
  location->inherit_name();
  location->note_name();
  this_location = location;
  pthread_setspecific(thread_end, location);
  if (any_event_type()) measure_event_cost(*location);
  return location;
}

void watch_thread_ends() noexcept { pthread_key_create(&thread_end, at_thread_end); }

void forget_locations() noexcept {
  blocks_lock.reset();
  this_location = nullptr;
  without_location = 0;
  complained = false;
  for (auto& page : location_pages) page = nullptr;
}

}  // namespace tare::recorder
