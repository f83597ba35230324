// The payload of a chunk, decompressed.
#pragma once

#include <string>
#include <vector>

#include "format/chunk.h"

namespace tare::format {

// `stored`: the payload, whose checksum has been verified. False and `error` if it is malformed. May throw
// std::bad_alloc.
bool decompress(const ChunkHeader& header, const char* stored, std::vector<char>& raw, std::string& error);

}  // namespace tare::format
