// How a thread drains its own event buffer: it encodes and compresses the records, and appends them to the node's file.
#pragma once

#include <cstdint>

#include "recorder/clock.h"
#include "recorder/event_buffer.h"
#include "recorder/thread_name.h"

namespace tare::recorder {

// Encodes and appends all that is in the buffer to the node's file; empties it. Notes the name of the thread. False if
// the records cannot be written: then they stay there, and from now on the newest events are kept. `enter`: when it
// began to take the thread's time.
bool drain(EventBuffer& events, ThreadName& name, std::uint64_t enter = now()) noexcept;

// Writes what the records in the buffer refer to. To be called before the node's tared can see that a sub-buffer is
// full.
void write_references(const EventBuffer& events, ThreadName& name) noexcept;

}  // namespace tare::recorder
