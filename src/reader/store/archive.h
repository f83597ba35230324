// Archives of runs (format/archive.h): what is in them, writing them, taking files out. Files are copied through
// a small buffer; no more than two are open at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/archive.h"
#include "reader/result.h"

namespace tare::reader {

struct ArchivedFile {
  std::string member;
  format::MemberKind kind = format::MemberKind::run;
  std::string name;  // path below the run directory; empty if the member is the file
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t present = 0;  // of `size`, bytes that are there: fewer only where the archive is cut off
  std::uint32_t crc = 0;
};

struct ArchiveIndex {
  std::vector<ArchivedFile> files;    // in the order of the archive; names stay below the member
  std::vector<std::string> warnings;  // empty if the archive is whole, but for the contents of files

  // `name` is what messages call the archive. Fails only on a whole chunk of another version.
  static Result<ArchiveIndex> of_memory(std::string_view bytes, const std::string& name);
  static Result<ArchiveIndex> open(const std::string& path);
};

// Whether the bytes, or the file, begin as an archive does; of any version.
bool is_archive(std::string_view bytes);
bool is_archive_file(const std::string& path);

// Bytes of a file on disk, or in an archive.
struct Source {
  std::string path;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> size;  // absent: to the end of the file
  std::optional<std::uint32_t> crc;   // what the bytes have to be
};

// Called with the number of bytes copied since the last call. What it throws ends the copy.
using Progress = std::function<void(std::uint64_t)>;

// Copies to a file that must not exist yet; what is there after a failure is for the caller to remove.
std::optional<Failure> extract(const Source& source, const std::string& to, const Progress& progress);

// Writes an archive. It is one only after finish(); until then, removing it is for the caller.
class ArchiveWriter {
 public:
  // Makes the file, which must not exist yet.
  static Result<ArchiveWriter> create(const std::string& path);
  ArchiveWriter(ArchiveWriter&& other) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&& other) noexcept;
  ~ArchiveWriter();

  // Appends a file as `name` of the member; the files of a member come one after the other.
  std::optional<Failure> add(const std::string& member, format::MemberKind kind, const std::string& name,
                             const Source& source, const Progress& progress);
  // Ends the archive and brings it to the disk.
  std::optional<Failure> finish();

 private:
  ArchiveWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
};

}  // namespace tare::reader
