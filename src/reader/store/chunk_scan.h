// Finds the chunks of a file of a run directory, also if the file is cut off or damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/chunk.h"
#include "reader/result.h"

namespace tare::reader {

// Chunks that are larger than this after decompression are taken for damaged.
inline constexpr std::uint32_t max_chunk_bytes = 64u << 20;

// A chunk in the memory that was scanned, which must outlive it.
struct ChunkRef {
  format::ChunkHeader header;
  const char* payload;   // header.stored_bytes bytes
  std::uint64_t offset;  // of the header in the file
  std::uint32_t file;    // index in RunFiles::names
};

struct ChunkScan {
  std::vector<ChunkRef> chunks;  // in the order of the file
  std::vector<std::string> warnings;
};

// Goes from header to header. If no header follows a chunk, it searches for the next one and warns about the bytes in
// between. The checksum of event chunks is not verified here if another chunk or the end of the file follows
// (load_chunk does that); that of other chunks is. Fails only if a chunk has another version of the format. `name`: the
// name of the file in messages.
Result<ChunkScan> scan_chunks(std::string_view bytes, const std::string& name, std::uint32_t file = 0);

// The failure that a file has chunks of a format version that this tare does not read.
Failure unknown_version(const std::string& file, unsigned version);

// Verifies the payload and decompresses it into `raw`. If it is damaged, returns false and sets `error`.
bool load_chunk(const ChunkRef& chunk, std::vector<char>& raw, std::string& error);

// The text of the warning that a chunk could not be read.
std::string damaged_chunk(const std::string& file, const ChunkRef& chunk, const std::string& reason);

}  // namespace tare::reader
