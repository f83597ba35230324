// Whether calls of functions on files are measured in this process.
#pragma once

namespace tare::files {

// False until the library's constructors have run.
[[gnu::visibility("hidden")]] extern constinit bool is_on;

}  // namespace tare::files
