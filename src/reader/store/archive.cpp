#include "reader/store/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "format/chunk.h"
#include "reader/store/chunk_scan.h"
#include "reader/store/mapped_file.h"
#include "reader/store/run_directory.h"

namespace tare::reader {
namespace {

using format::ArchivedFileRecord;
using format::ArchiveEndRecord;
using format::ChunkHeader;
using format::ChunkType;
using format::MemberKind;

constexpr std::size_t copy_bytes = 1 << 20;

// Whether the path is relative and has no "." or "..", so that the extracted file lies below the directory of the
// member.
bool stays_below(std::string_view path) {
  while (true) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos) return false;
    if (end == std::string_view::npos) return true;
    path.remove_prefix(end + 1);
  }
}

bool is_member_name(std::string_view name) { return stays_below(name) && name.find('/') == std::string_view::npos; }

class IndexBuilder {
 public:
  IndexBuilder(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Result<ArchiveIndex> build() {
    std::size_t at = 0;
    while (at < bytes_.size()) {
      const std::optional<ChunkHeader> header = chunk_at(at);
      if (header && !format::is_known_version(header->version)) return unknown_version(name_, header->version);
      at = header ? take(*header, at + sizeof *header) : skip(at);
    }
    if (ends_ == 0) warn("is cut off: its end is missing");
    return std::move(index_);
  }

 private:
  // The header at `at` if a complete chunk of an archive begins there, or a chunk of another version.
  std::optional<ChunkHeader> chunk_at(std::size_t at) const {
    if (bytes_.size() - at < sizeof(ChunkHeader) || !format::is_chunk_header(bytes_.data() + at)) return std::nullopt;
    ChunkHeader header;
    std::memcpy(&header, bytes_.data() + at, sizeof header);
    if (!format::is_known_version(header.version)) return header;
    if (header.type != ChunkType::file && header.type != ChunkType::archive_end) return std::nullopt;
    const std::string_view payload = bytes_.substr(at + sizeof header, header.stored_bytes);
    if (payload.size() < header.stored_bytes || header.compression != format::Compression::none) return std::nullopt;
    if (format::crc32c(payload.data(), payload.size()) != header.payload_crc) return std::nullopt;
    return header;
  }

  // Takes the chunk whose payload is at `at`; returns where the next one is.
  std::size_t take(const ChunkHeader& header, std::size_t at) {
    const std::string_view payload = bytes_.substr(at, header.stored_bytes);
    at += payload.size();
    if (header.type == ChunkType::file) return take_file(payload, at);
    ArchiveEndRecord record{};
    std::memcpy(&record, payload.data(), std::min(payload.size(), sizeof record));
    ++ends_;
    if (record.files != seen_)
      warn("is damaged: " + std::to_string(seen_) + " of its " + std::to_string(record.files) + " files are found");
    return at;
  }

  std::size_t take_file(std::string_view payload, std::size_t at) {
    ArchivedFileRecord record{};
    if (payload.size() >= sizeof record) std::memcpy(&record, payload.data(), sizeof record);
    if (payload.size() != sizeof record + std::uint64_t{record.member_bytes} + record.name_bytes) {
      warn("is damaged: the description at offset " + std::to_string(at - payload.size()) + " makes no sense");
      return at;
    }
    ++seen_;
    ArchivedFile file;
    file.member = payload.substr(sizeof record, record.member_bytes);
    file.name = payload.substr(sizeof record + record.member_bytes);
    file.kind = record.kind;
    file.offset = at;
    file.size = record.size;
    file.crc = record.crc;
    file.present = std::min<std::uint64_t>(record.size, bytes_.size() - at);
    add(std::move(file));
    return at + static_cast<std::size_t>(std::min<std::uint64_t>(record.size, bytes_.size() - at));
  }

  void add(ArchivedFile file) {
    const bool is_run = file.kind == MemberKind::run;
    const bool named = is_run ? stays_below(file.name) : file.kind == MemberKind::file && file.name.empty();
    if (!is_member_name(file.member) || !named)
      return warn("is damaged: the file at offset " + std::to_string(file.offset) + " has an impossible name");
    if (file.present < file.size)
      warn("is cut off: it holds " + std::to_string(file.present) + " of " + std::to_string(file.size) + " bytes of " +
           file.member + (is_run ? "/" + file.name : ""));
    index_.files.push_back(std::move(file));
  }

  // Skips damage: returns where the next chunk of an archive begins, or the end of the bytes.
  std::size_t skip(std::size_t at) {
    std::size_t next = at;
    do {
      const std::string_view rest = bytes_.substr(next + 1);
      const void* found = ::memmem(rest.data(), rest.size(), &format::chunk_magic, sizeof format::chunk_magic);
      next =
          found == nullptr ? bytes_.size() : static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data());
    } while (next < bytes_.size() && !chunk_at(next));
    warn("is damaged: " + std::to_string(next - at) + " bytes at offset " + std::to_string(at) + " were skipped");
    return next;
  }

  void warn(const std::string& what) { index_.warnings.push_back(name_ + " " + what); }

  std::string_view bytes_;
  const std::string& name_;
  ArchiveIndex index_;
  std::uint64_t seen_ = 0;
  int ends_ = 0;
};

// A file that the user names.
format::Descriptor open_named(const std::string& path, int flags) {
  return format::Descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600));
}

Failure cannot(const char* what, const std::string& path) {
  return Failure{std::string("cannot ") + what + " " + path + ": " + std::strerror(errno)};
}

bool write_all(int fd, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool write_at(int fd, const std::string& bytes, std::uint64_t offset) {
  return ::lseek(fd, static_cast<off_t>(offset), SEEK_SET) >= 0 && write_all(fd, bytes.data(), bytes.size());
}

struct Copied {
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
};

Result<format::Descriptor> open_source(const Source& source) {
  if (source.run_dir) {
    const auto directory = RunDirectory::open(*source.run_dir);
    return directory ? directory->open_file(source.path) : Result<format::Descriptor>(directory.failure());
  }
  format::Descriptor file = open_named(source.path, O_RDONLY);
  struct stat status {};
  if (!file || ::fstat(file.fd(), &status) != 0) return cannot("read", source.path);
  if (!S_ISREG(status.st_mode)) return Failure{source.path + " is not a regular file"};
  return file;
}

// Appends the source to `to`, whose name is `path`.
Result<Copied> copy(const Source& source, int to, const std::string& path, const Progress& progress) {
  const auto from = open_source(source);
  if (!from) return from.failure();
  const auto buffer = std::make_unique<char[]>(copy_bytes);
  Copied copied;
  while (!source.size || copied.size < *source.size) {
    const std::uint64_t wanted = source.size ? *source.size - copied.size : copy_bytes;
    const ssize_t got = ::pread(from->fd(), buffer.get(), std::min<std::uint64_t>(wanted, copy_bytes),
                                static_cast<off_t>(source.offset + copied.size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", source.path);
    if (got == 0) break;
    const auto bytes = static_cast<std::size_t>(got);
    if (!write_all(to, buffer.get(), bytes)) return cannot("write", path);
    copied.crc = format::crc32c(buffer.get(), bytes, copied.crc);
    copied.size += bytes;
    progress(bytes);
  }
  if ((source.size && copied.size != *source.size) || (source.crc && copied.crc != *source.crc))
    return Failure{source.path + " is damaged: wrong checksum of " + std::to_string(copied.size) + " bytes at offset " +
                   std::to_string(source.offset)};
  return copied;
}

std::string sealed_chunk(ChunkType type, const std::string& payload) {
  ChunkHeader header{};
  header.type = type;
  header.stored_bytes = header.raw_bytes = static_cast<std::uint32_t>(payload.size());
  format::seal(header, payload.data());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

template <typename Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

}  // namespace

Result<ArchiveIndex> ArchiveIndex::of_memory(std::string_view bytes, const std::string& name) {
  return IndexBuilder(bytes, name).build();
}

Result<ArchiveIndex> ArchiveIndex::open(const std::string& path) {
  const auto map = MappedFile::open(path);
  if (!map) return map.failure();
  return of_memory(map->bytes(), path);
}

bool is_archive(std::string_view bytes) {
  if (bytes.size() < sizeof(ChunkHeader) || !format::is_chunk_header(bytes.data())) return false;
  const auto type = static_cast<ChunkType>(bytes[offsetof(ChunkHeader, type)]);
  return type == ChunkType::file || type == ChunkType::archive_end;
}

bool is_archive_file(const std::string& path) {
  const format::Descriptor file = open_named(path, O_RDONLY);
  char begin[sizeof(ChunkHeader)];
  return file && ::pread(file.fd(), begin, sizeof begin, 0) == sizeof begin && is_archive({begin, sizeof begin});
}

std::optional<Failure> extract(const Source& source, const std::string& to, const Progress& progress) {
  const format::Descriptor file = open_named(to, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return cannot("write", to);
  const auto copied = copy(source, file.fd(), to, progress);
  if (!copied) return copied.failure();
  return std::nullopt;
}

Result<ArchiveWriter> ArchiveWriter::create(const std::string& path) {
  format::Descriptor file = open_named(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return cannot("write", path);
  return ArchiveWriter(std::move(file), path);
}

std::optional<Failure> ArchiveWriter::add(const std::string& member, MemberKind kind, const std::string& name,
                                          const Source& source, const Progress& progress) {
  ArchivedFileRecord record{0, 0, kind, static_cast<std::uint32_t>(member.size()),
                            static_cast<std::uint32_t>(name.size())};
  const auto chunk = [&] { return sealed_chunk(ChunkType::file, bytes_of(record) + member + name); };
  const std::uint64_t contents_at = bytes_ + chunk().size();
  if (::lseek(file_.fd(), static_cast<off_t>(contents_at), SEEK_SET) < 0) return cannot("write", path_);
  const auto copied = copy(source, file_.fd(), path_, progress);
  if (!copied) return copied.failure();
  // The size and the checksum are known only after the copy.
  record.size = copied->size;
  record.crc = copied->crc;
  if (!write_at(file_.fd(), chunk(), bytes_)) return cannot("write", path_);
  bytes_ = contents_at + copied->size;
  ++files_;
  return std::nullopt;
}

std::optional<Failure> ArchiveWriter::finish() {
  const std::string end = sealed_chunk(ChunkType::archive_end, bytes_of(ArchiveEndRecord{files_}));
  if (!write_at(file_.fd(), end, bytes_) || ::fsync(file_.fd()) != 0) return cannot("write", path_);
  return std::nullopt;
}

}  // namespace tare::reader
