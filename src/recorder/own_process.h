// Whether this process has memory and descriptors of its own.
#pragma once

namespace tare::recorder {

// Whether this process is the one that has loaded the library, or a fork of it; not a child of vfork.
bool is_own_process() noexcept;

// This process is it. For sources that ask for it; idempotent.
void note_own_process() noexcept;

}  // namespace tare::recorder
