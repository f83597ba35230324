// Archives: the files of many runs in one file. Each file is unchanged and follows a `file` chunk that describes it.
// docs/format.md, "Archives".
#pragma once

#include <cstdint>

namespace tare::format {

enum class MemberKind : std::uint32_t {
  run = 0,   // a run directory
  file = 1,  // a single file of one
};

// Payload of a `file` chunk: this struct, the name of the member, and the name of the file; never compressed. The
// `size` bytes of the file follow the chunk.
struct ArchivedFileRecord {
  std::uint64_t size;
  std::uint32_t crc;  // CRC-32C of these bytes
  MemberKind kind;
  std::uint32_t member_bytes;
  std::uint32_t name_bytes;  // path below the run directory, '/' between its parts; 0 if the member is the file
};
static_assert(sizeof(ArchivedFileRecord) == 24);

// Payload of the last chunk of an archive: without it, the archive is cut off.
struct ArchiveEndRecord {
  std::uint64_t files;
};

}  // namespace tare::format
