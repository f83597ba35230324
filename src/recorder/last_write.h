// Whether this process has written its data, as its last act (process_end.h).
#pragma once

namespace tare::recorder {

// The process writes its data from now on; or has written them.
void begin_last_write() noexcept;
void end_last_write() noexcept;

// Whether it has. What other threads still record is lost. If the data are being written now, waits until they are.
bool wait_if_ended() noexcept;

// For a forked child.
void reset_last_write() noexcept;

}  // namespace tare::recorder
