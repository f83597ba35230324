#include "recorder/node_file.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "format/chunk_writer.h"
#include "format/functions.h"
#include "format/node_file_name.h"
#include "recorder/clock.h"
#include "recorder/maker.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

constinit char path[PATH_MAX] = "";

bool write_function_names() noexcept {
  const std::size_t bytes = format::functions_bytes();
  ChunkMemory memory(bytes);
  if (!memory) return false;
  format::put_functions(memory.raw());
  format::ChunkHeader header{};
  header.type = format::ChunkType::functions;
  return memory.append(header, memory.raw(), bytes);
}

}  // namespace

ChunkMemory::ChunkMemory(std::size_t raw_bytes) noexcept
    : bytes_(raw_bytes + 64 + format::chunk_bound(raw_bytes) + 64 + format::chunk_context_bytes()),
      memory_(static_cast<char*>(map_memory(bytes_))),
      raw_bytes_(raw_bytes) {}

ChunkMemory::~ChunkMemory() {
  if (memory_ != nullptr) unmap_memory(memory_, bytes_);
}

bool ChunkMemory::append(const format::ChunkHeader& header, const void* raw, std::size_t bytes) noexcept {
  char* chunk = memory_ + (raw_bytes_ + 63) / 64 * 64;
  char* context = chunk + (format::chunk_bound(raw_bytes_) + 63) / 64 * 64;
  return append_chunk(chunk, format::make_chunk(header, raw, bytes, chunk, context));
}

void set_node_file(const char* run_dir, const char* node) noexcept {
  char name[node_label_bytes + 8];
  format::node_file_name(name, sizeof name, node);
  std::snprintf(path, sizeof path, "%s/%s", run_dir, name);
}

const char* node_file_path() noexcept { return path; }

const char* node_file_name() noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool append_chunk(const char* chunk, std::size_t bytes) noexcept {
  if (append_file(path, chunk, bytes)) return true;
  // The first chunk of the node creates the file. A process that finds it created meanwhile appends to it.
  if (!create_file(path)) return errno == EEXIST && append_file(path, chunk, bytes);
  const bool named = write_function_names();
  return append_file(path, chunk, bytes) && named;
}

format::ChunkHeader identity(const format::SegmentHeader& segment, format::ChunkType type) noexcept {
  format::ChunkHeader header{};
  header.type = type;
  header.process = segment.process.process;
  const format::ClockPair pair = read_clock_pair();
  header.ticks = pair.ticks;
  header.monotonic_ns = pair.monotonic_ns;
  return header;
}

}  // namespace tare::recorder
