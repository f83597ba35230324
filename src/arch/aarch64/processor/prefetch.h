// Fetches lines of memory ahead.
#pragma once

namespace tare::processor {

// Fetches a line that will be written.
inline void fetch_to_write(const void* line) noexcept { __builtin_prefetch(line, 1); }

}  // namespace tare::processor
