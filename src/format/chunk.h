// The file of a node is a sequence of chunks without gaps. A chunk is a ChunkHeader and its payload. Both have a
// CRC-32C, so a reader recognises an incomplete chunk, and can search for the next one. Chunks of many processes are
// interleaved. Each is appended by one write(). docs/format.md describes every byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::format {

inline constexpr std::uint32_t chunk_magic = 0xe54a5a54;  // "TZJ\xe5": no text, no zeros
inline constexpr std::uint16_t format_version = 2;
inline constexpr std::uint16_t oldest_format_version = 1;  // that readers read
constexpr bool is_known_version(std::uint16_t version) noexcept {
  return version >= oldest_format_version && version <= format_version;
}

enum class ChunkType : std::uint8_t {
  functions = 1,    // the sources of events, with the names of their functions (functions.h)
  process = 2,      // a ProcessRecord; the newest of a process counts
  definitions = 3,  // a stretch of the definition log; sequence = offset of its first byte in the log / 8
  events = 4,       // encoded records of one location (event_codec.h)
  profile = 5,      // LocationSummary, rows, then CountedCalls; the newest counts
  symbols = 6,      // what call sites mean, found after the run (symbol.h; written by the collector)
  file = 7,         // archives only: an ArchivedFileRecord (archive.h); the file's bytes follow the chunk
  archive_end = 8,  // archives only: an ArchiveEndRecord
  samples = 9,      // a SampleSummary and its classes (sample.h); the newest of a process counts
  calls = 10,  // of a process that did not finish: the calls that its threads were in, and their requests (segment.h)
  offloads = 11,    // an OffloadAccount (offload_ring.h); the newest of a process counts
  rounds = 12,      // rounds of a monitored run, and the names of their events (round.h)
  spell_sums = 13,  // SpellSums of each function and call site (spell_sums.h); the newest of a process counts
  analysis = 14,    // the result of the user's analysis of sampled messages: any bytes; the newest of a process counts
  scheduling = 15,  // of each location SchedulingSums and its spans (scheduling.h); the newest of a process counts
  stacks = 16,      // StackSamples and its SampledStacks (stack_samples.h); the newest of a process counts
  files = 17,       // what a process did with files (file_table.h); the newest of a process counts
};

enum class Compression : std::uint8_t { none = 0, zstd = 1 };

struct ChunkHeader {
  std::uint32_t magic;
  std::uint16_t version;
  ChunkType type;
  Compression compression;
  std::uint64_t process;   // ProcessRecord::process
  std::uint32_t location;  // events: number of the thread; profile: index of the location block
  std::uint32_t sequence;  // counts chunks of this type, process and block; equal ones are copies
  std::uint32_t stored_bytes;
  std::uint32_t raw_bytes;  // after decompression
  std::uint32_t records;    // events: number of records
  std::uint32_t block;      // events: location block that the chunk came from
  std::uint64_t ticks;      // clock pair at writing
  std::uint64_t monotonic_ns;
  std::uint32_t payload_crc;  // of the stored bytes
  std::uint32_t header_crc;   // of the bytes before this field
};
static_assert(sizeof(ChunkHeader) == 64);
static_assert(offsetof(ChunkHeader, header_crc) == 60);

// CRC-32C (Castagnoli), as in RFC 3720, of `bytes` bytes. Uses the processor's instruction where it has one.
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t crc = 0) noexcept;

// Fills in magic, version and both checksums; payload must hold header.stored_bytes bytes.
void seal(ChunkHeader& header, const void* payload) noexcept;

// True if the 64 bytes at `header` are a header of any version with a correct header checksum.
bool is_chunk_header(const void* header) noexcept;

}  // namespace tare::format
