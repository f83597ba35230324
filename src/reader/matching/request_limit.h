// How many requests of a rank the reader follows at a time.
#pragma once

#include <cstddef>

namespace tare::reader {

// A limit is needed because freed requests are never completed. The recorder keeps fewer requests than this.
constexpr std::size_t max_started = 1U << 15;

}  // namespace tare::reader
