// Whether OpenMP is recorded in this process.
#pragma once

namespace tare::openmp {

// False until the library's constructors have run.
[[gnu::visibility("hidden")]] extern constinit bool is_on;

// Sets `is_on`. A runtime may ask for tools before the library's constructors have run.
void choose() noexcept;

}  // namespace tare::openmp
