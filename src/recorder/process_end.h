// How this process ends: what is noted in its segment, and what is written if nobody collects that.
#pragma once

namespace tare::recorder {

// From here on the end of the process is seen. Called once in a process; a forked child inherits it.
void watch_end() noexcept;

// Whether `tare run` on this host picks the segment up. If not, the process writes all itself.
void set_collected(bool collected) noexcept;

// Whether this process has written all that it recorded, as the last thing that it does: what other threads still
// record goes nowhere. Where it is being written just now, waits for that.
bool wait_if_ended() noexcept;

// The program calls _exit, perhaps in a signal handler.
void note_exit(int status) noexcept;

// The program is about to abort: nothing of this library may run any more after this call.
void note_abort() noexcept;

// In a forked child.
void forget_end() noexcept;

}  // namespace tare::recorder
