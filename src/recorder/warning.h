#pragma once

namespace tare::recorder {

// Prints the line "tare: <text>" on stderr. For failures after which the library only forwards calls.
void warn(const char* text) noexcept;

}  // namespace tare::recorder
