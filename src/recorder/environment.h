// The environment of the process. All in-process code reads it by secure_getenv(): a program that has more rights than
// its caller (set-user-ID, capabilities) must not obey its caller, and tare is off in it.
#pragma once

#include <cstdint>

namespace tare::recorder {

// Whether the process may record.
bool may_record() noexcept;

// The whole number in a variable; `otherwise` if it is not set. If it is something else, says so, and the same.
std::uint64_t count_of(const char* variable, std::uint64_t otherwise) noexcept;

// Says once that a variable has a value that cannot be used. `meaning`: what its values are.
void warn_of(const char* variable, const char* value, const char* meaning) noexcept;

}  // namespace tare::recorder
