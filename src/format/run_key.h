// The key of a run: a secret that only meta.json, the environment of the run's processes and their segments have.
//
// The name of a segment has the id of its run, and all users of the machine can see it. So a run directory that names
// this id may be somebody else's. A segment is collected, and read, only for a run directory with the key of the
// segment. A directory that was moved or copied has it still.
#pragma once

#include <cstddef>

namespace tare::format {

// Hexadecimal digits. A run that was begun without `tare run`, by hand, may have no key: the empty text.
inline constexpr std::size_t run_key_digits = 32;

// As in a segment: padded with zeros.
struct RunKey {
  char digits[run_key_digits + 8];
};

}  // namespace tare::format
