// The end of this process: what is noted in its segment, and what the process writes if nobody collects the segment.
#pragma once

namespace tare::recorder {

// From now on the end of the process is noticed. Called once in a process. A forked child inherits it.
void watch_end() noexcept;

// Whether `tare run` on this host collects the segment. If not, the process writes its data itself.
void set_collected(bool collected) noexcept;

// Its rank and host are known. If nobody collects the segment, the run directory says from now on where it lies: the
// process writes its record early.
void note_place() noexcept;

// The program calls _exit, possibly in a signal handler.
void note_exit(int status) noexcept;

// The program is about to abort. No code of this library may run after this call.
void note_abort() noexcept;

}  // namespace tare::recorder
