// Small files in the run directory that nodes of the tree and the user's verbs leave for one another. Only regular
// files of this user are read, no link is followed, and no read waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/descriptor.h"

namespace tare::tared {

// Opens one for reading; nothing if it is not there, or is not such a file. If it `is_private`, no one else may be able
// to read it.
format::Descriptor open_own_file(const std::string& path, bool is_private = false);
// Up to `max_bytes` of one, from `offset` on; empty if there is nothing.
std::string read_own_file(const std::string& path, std::size_t max_bytes, std::uint64_t offset = 0,
                          bool is_private = false);

// Makes a file that must not exist, for this user alone. False with errno set if that fails.
bool write_new_file(const std::string& path, std::string_view text);
// Appends a line in one write. What fails is left out.
void append_to_file(const std::string& path, std::string_view line);

}  // namespace tare::tared
