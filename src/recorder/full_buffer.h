// What happens when the event buffer of a thread is full, by its policy (buffer_policy.h). The buffer itself is in
// event_buffer.h; drain.h empties it.
#pragma once

#include "recorder/event_buffer.h"
#include "recorder/thread_name.h"

namespace tare::recorder {

// The next record does not fit: goes on to the next sub-buffer. False if the record is to be dropped; it is counted.
// `continues`: it belongs to the record before it.
[[gnu::cold]] bool make_room(EventBuffer& events, ThreadName& name, bool continues) noexcept;

// Another thread of this node drains: this one too, if it had to soon anyway.
[[gnu::cold]] void drain_in_step(EventBuffer& events, ThreadName& name) noexcept;

// A thread begins: in a sub-buffer of its own, behind those of the block's threads before.
void open_for_thread(EventBuffer& events, ThreadName& name) noexcept;

}  // namespace tare::recorder
