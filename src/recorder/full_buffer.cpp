#include "recorder/full_buffer.h"

#include "recorder/clock.h"
#include "recorder/drain.h"
#include "recorder/errno_guard.h"
#include "recorder/last_write.h"
#include "recorder/node_words.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

void go_on(EventBuffer& events, ThreadName& name) noexcept {
  const bool served = tared_serves();
  if (served) write_references(events, name);
  events.next_sub_buffer();
  if (served) call_tared();
}

// Called if the ring is full: waits for the node's tared. Returns whether it made room in time.
bool tared_makes_room(const EventBuffer& events) noexcept {
  if (!tared_serves()) return false;
  // About the time of one drain, so a late tared at most doubles the cost.
  constexpr std::uint64_t patience_ns = 10'000'000;
  const ErrnoGuard guard;
  const std::uint64_t begin = read_ns(CLOCK_MONOTONIC);
  for (std::uint64_t waited = 0; waited < patience_ns; waited = read_ns(CLOCK_MONOTONIC) - begin) {
    const format::Drained drained = events.drained();
    if (!events.is_full(drained)) return true;
    wait_on(&events.shared->drained, drained.sub_buffers, patience_ns - waited);
  }
  // tared has died, hangs, or gets no processor. No other thread waits for it. If it is alive, it registers again.
  node_words->tared.store(0, std::memory_order_relaxed);
  return false;
}

}  // namespace

bool make_room(EventBuffer& events, ThreadName& name, bool continues) noexcept {
  format::Drained drained = events.drained();
  bool full = events.is_full(drained);
  // The records that belong to a dropped record are dropped, too.
  if (events.ring.policy == format::Policy::drop && (full || (continues && events.loss != nullptr))) {
    events.drop(now());
    return false;
  }
  const std::uint64_t enter = full ? now() : 0;
  const bool waits = full && events.ring.policy == format::Policy::block;
  if (waits && !tared_makes_room(events)) {
    node_words->drains.fetch_add(1, std::memory_order_relaxed);
    if (drain(events, name, enter)) return true;
    drained = events.drained();
    full = events.is_full(drained);
  }
  if ((full || tared_serves()) && wait_if_ended()) {
    events.open_sub_buffer(events.open_ordinal());
    return true;
  }
  if (full && events.ring.policy == format::Policy::overwrite) events.drop_oldest(drained);
  go_on(events, name);
  if (waits && events.ring.policy == format::Policy::block) events.note_drain(0, enter, now(), 0);
  return true;
}

void drain_in_step(EventBuffer& events, ThreadName& name) noexcept {
  if (events.ring.policy != format::Policy::block || tared_serves()) return;
  if (2 * events.waiting_bytes() >= std::uint64_t{events.ring.count} * events.ring.bytes) drain(events, name);
}

void open_for_thread(EventBuffer& events, ThreadName& name) noexcept {
  if (events.head == 0)
    events.open_sub_buffer(0);
  else if (events.open_bytes() == 0)
    events.open_sub_buffer(events.open_ordinal());
  else
    make_room(events, name, false);
}

}  // namespace tare::recorder
