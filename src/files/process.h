// Whether calls of functions on files are measured in this process.
#pragma once

namespace tare::files {

// False until the library's constructors have run.
[[gnu::visibility("hidden")]] extern constinit bool is_on;

// Whether this process is the one that has loaded the library, or a fork of it; not a child of vfork.
bool is_own_process() noexcept;

}  // namespace tare::files
