// Writing to the file of the node: <run directory>/<node>.tare.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/chunk.h"
#include "format/segment.h"

namespace tare::recorder {

// Sets the name of the file, after label_node() (maker.h). Called once, when the process attaches.
void set_node_file(const char* run_dir, const char* node) noexcept;

// The name of the file in the run directory.
const char* node_file_name() noexcept;
// Its path.
const char* node_file_path() noexcept;

// Appends one whole chunk. Creates the file, with the names of the functions in it, if it does not exist. False if any
// byte could not be written. A reader skips the incomplete chunk.
bool append_chunk(const char* chunk, std::size_t bytes) noexcept;

// The part of a chunk header that says which process writes it, and when.
format::ChunkHeader identity(const format::SegmentHeader& segment, format::ChunkType type) noexcept;

// Memory for one chunk of `raw_bytes` and for making it. It is freed at the end of the scope.
class ChunkMemory {
 public:
  explicit ChunkMemory(std::size_t raw_bytes) noexcept;
  ~ChunkMemory();
  ChunkMemory(const ChunkMemory&) = delete;
  ChunkMemory& operator=(const ChunkMemory&) = delete;
  explicit operator bool() const noexcept { return memory_ != nullptr; }
  char* raw() noexcept { return memory_; }

  // Makes a chunk and appends it to the file. False as for append_chunk().
  bool append(const format::ChunkHeader& header, const void* raw, std::size_t bytes) noexcept;

 private:
  std::size_t bytes_;
  char* memory_;
  std::size_t raw_bytes_;
};

}  // namespace tare::recorder
