// Finds the chunks of a file of a run directory, also in a file that was cut off or damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/chunk.h"
#include "reader/result.h"

namespace tare::reader {

// Chunks larger than this, after decompression, are taken for damage.
inline constexpr std::uint32_t max_chunk_bytes = 64u << 20;

struct ChunkRef {
  format::ChunkHeader header;
  const char* payload;  // header.stored_bytes bytes, in the memory that was scanned
  std::uint64_t offset;
  std::uint32_t file;  // which file of the run
};

struct ChunkScan {
  std::vector<ChunkRef> chunks;  // in the order of the file
  std::vector<std::string> warnings;
};

// Steps from header to header; where none follows, looks for the next one and warns of the bytes between.
// The payload of event chunks is not touched (load_chunk verifies it), that of others is verified here.
// Fails only on a whole chunk of another version. `name` is what messages call the file.
Result<ChunkScan> scan_chunks(std::string_view bytes, const std::string& name, std::uint32_t file = 0);

// Verifies the payload and decompresses it into `raw`. False and `error` if it is damaged.
bool load_chunk(const ChunkRef& chunk, std::vector<char>& raw, std::string& error);

// The warning that a chunk could not be read.
std::string damaged_chunk(const std::string& file, const ChunkRef& chunk, const std::string& reason);

}  // namespace tare::reader
