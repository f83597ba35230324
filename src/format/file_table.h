// What a process did with files: by file, interface and thread. Part of the segment: FileTable. Also on disk: the
// payload of a files chunk is a FileTableHead, its FileEntries, its FileUses and the bytes of the names, each as many
// as are in use.
#pragma once

#include <cstdint>

namespace tare::format {

// The functions through which a file was used.
enum class FileInterface : std::uint32_t {
  posix = 0,
  stdio = 1,
  mpi_io = 2,
};
inline constexpr std::uint32_t file_interfaces = 3;

enum class FileKind : std::uint8_t {
  unknown = 0,
  regular = 1,
  directory = 2,
  device = 3,
  terminal = 4,
  pipe = 5,
  socket = 6,
  other = 7,
};

enum FileFlags : std::uint8_t {
  name_cut = 1,      // the name is longer; these are its first bytes
  name_unknown = 2,  // the system did not say the name
  other_files = 4,   // all files for which the table had no room
};

struct FileEntry {
  std::uint32_t name_at;  // in the names
  std::uint16_t name_bytes;
  FileKind kind;
  std::uint8_t flags;  // FileFlags
  std::uint64_t device;
  std::uint64_t inode;
};
static_assert(sizeof(FileEntry) == 24);

inline constexpr unsigned file_size_bins = 10;

// Calls that read, or calls that write. Only those that did not fail have bytes, a bin and an offset. Which accesses
// are consecutive, sequential and strided is known of those that have an offset: of regular files, through POSIX. They
// are compared with the access before, in the same direction, of the same open file.
struct FileTransfers {
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t ticks;
  std::uint64_t ticks_max;    // of the longest call
  std::uint64_t located;      // calls that have an offset
  std::uint64_t consecutive;  // began where the one before ended
  std::uint64_t sequential;   // began there or behind it
  std::uint64_t strided;      // as far from the one before as that was from the one before it, but not consecutive
  std::uint64_t end;          // the largest offset that one reached
  std::uint64_t failed;
  std::uint64_t sizes[file_size_bins];  // calls by their bytes: see file_size_bin()
};
static_assert(sizeof(FileTransfers) == 160);

// What a thread did with a file.
struct FileUse {
  std::uint32_t file;  // its entry
  FileInterface interface;
  std::uint32_t block;  // of the thread's location; threads that had it one after the other share the row
  std::uint32_t reserved;
  FileTransfers reads;
  FileTransfers writes;
  std::uint64_t switches;  // located accesses in the other direction than the one before
  std::uint64_t opens;
  std::uint64_t closes;
  std::uint64_t seeks;
  std::uint64_t syncs;
  std::uint64_t other_calls;
  std::uint64_t sync_ticks;
  std::uint64_t meta_ticks;  // of opens, closes, seeks and other calls
  std::uint64_t failed;      // opens, closes, seeks, syncs and other calls
};
static_assert(sizeof(FileUse) == 408);

// What is in use. On disk, of the parts that follow.
struct FileTableHead {
  std::uint32_t files;
  std::uint32_t uses;
  std::uint32_t name_bytes;
  std::uint32_t reserved;
  std::uint64_t unused;  // earlier files: a number of calls
};
static_assert(sizeof(FileTableHead) == 24);

inline constexpr std::uint32_t file_capacity = 1024;
inline constexpr std::uint32_t file_use_capacity = 1024;
inline constexpr std::uint32_t file_names_bytes = 128 * 1024;
inline constexpr std::uint32_t max_file_name = 1024;

// The first entries, and the first rows: one for each interface, of all threads.
inline constexpr std::uint32_t unknown_file = 0;
inline constexpr std::uint32_t file_without_room = 1;

struct FileTable {
  FileTableHead head;
  FileEntry files[file_capacity];
  FileUse uses[file_use_capacity];
  char names[file_names_bytes];
};

// The bins of Darshan: at most 100 bytes, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, and more. These
// are the first sizes that are too large for them.
inline constexpr std::uint64_t file_size_limits[file_size_bins - 1] = {
    100 + 1,         (1 << 10) + 1,   (10 << 10) + 1,
    (100 << 10) + 1, (1 << 20) + 1,   (4 << 20) + 1,
    (10 << 20) + 1,  (100 << 20) + 1, (std::uint64_t{1} << 30) + 1};

inline unsigned file_size_bin(std::uint64_t bytes) noexcept {
  unsigned bin = 0;
  while (bin < file_size_bins - 1 && bytes >= file_size_limits[bin]) ++bin;
  return bin;
}

}  // namespace tare::format
