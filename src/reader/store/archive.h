// Reads and writes archives of runs (format/archive.h), and extracts files from them. Files are copied through a small
// buffer; at most two are open at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/archive.h"
#include "format/descriptor.h"
#include "reader/result.h"

namespace tare::reader {

// A file in an archive.
struct ArchivedFile {
  std::string member;  // the run that it belongs to
  format::MemberKind kind = format::MemberKind::run;
  std::string name;          // path below the run directory; empty if the member is the file
  std::uint64_t offset = 0;  // in the archive, in bytes
  std::uint64_t size = 0;
  std::uint64_t present = 0;  // bytes that the archive contains; less than `size` only if the archive is cut off
  std::uint32_t crc = 0;
};

struct ArchiveIndex {
  std::vector<ArchivedFile> files;    // in the order of the archive; paths that lead out of the member are rejected
  std::vector<std::string> warnings;  // empty if the archive is complete; the contents of files are not checked

  // `name`: for messages. Fails only if a complete chunk has another version of the format.
  static Result<ArchiveIndex> of_memory(std::string_view bytes, const std::string& name);
  static Result<ArchiveIndex> open(const std::string& path);
};

// Whether the bytes, or the file, begin like an archive of any version.
bool is_archive(std::string_view bytes);
bool is_archive_file(const std::string& path);

// A range of bytes of a file: a whole file on disk, or a file in an archive.
struct Source {
  std::string path;  // that the user names; or, if there is a directory, a name below it
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> size;                  // nothing: to the end of the file
  std::optional<std::uint32_t> crc;                   // CRC-32C that the bytes must have; nothing: not checked
  std::optional<std::string> run_dir = std::nullopt;  // the directory of the run that the file belongs to
};

// Called with the number of bytes copied since the last call. An exception from it ends the copy.
using Progress = std::function<void(std::uint64_t)>;

// Copies to a file that must not exist yet. After a failure the caller removes an incomplete file.
std::optional<Failure> extract(const Source& source, const std::string& to, const Progress& progress);

// Writes an archive. The file is complete only after finish(). If that is not reached, the caller removes the file.
class ArchiveWriter {
 public:
  // Creates the file, which must not exist yet.
  static Result<ArchiveWriter> create(const std::string& path);

  // Appends a file as `name` of the member. The files of a member must be added one after the other.
  std::optional<Failure> add(const std::string& member, format::MemberKind kind, const std::string& name,
                             const Source& source, const Progress& progress);
  // Writes the end of the archive and calls fsync().
  std::optional<Failure> finish();

 private:
  ArchiveWriter(format::Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  format::Descriptor file_;
  std::string path_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
};

}  // namespace tare::reader
