#include "reader/store/chunk_scan.h"

#include <cstring>
#include <optional>

#include "format/decompress.h"
#include "format/event_codec.h"
#include "reader/store/crc_ranges.h"

namespace tare::reader {
namespace {

using format::ChunkHeader;
using format::ChunkType;

class Scanner {
 public:
  Scanner(std::string_view bytes, const std::string& name, std::uint32_t file)
      : bytes_(bytes), name_(name), file_(file) {}

  Result<ChunkScan> scan() {
    if (bytes_.empty()) scan_.warnings.push_back(name_ + " is empty");
    std::size_t at = 0;
    while (at < bytes_.size()) {
      const std::size_t end = chunk_at(at);
      if (wrong_version_ != 0) return unknown_version(name_, wrong_version_);
      at = end != 0 ? end : skip(at);
    }
    return std::move(scan_);
  }

 private:
  bool header_at(std::size_t at) const {
    return at <= bytes_.size() && bytes_.size() - at >= sizeof(ChunkHeader) &&
           format::is_chunk_header(bytes_.data() + at);
  }

  // Adds the chunk at `at`. Returns where it ends, or 0 if there is no complete chunk.
  std::size_t chunk_at(std::size_t at) {
    if (!header_at(at)) return 0;
    ChunkRef chunk{{}, bytes_.data() + at + sizeof(ChunkHeader), at, file_};
    std::memcpy(&chunk.header, bytes_.data() + at, sizeof chunk.header);
    if (!format::is_known_version(chunk.header.version)) {
      wrong_version_ = chunk.header.version;
      return 0;
    }
    const std::size_t begin = at + sizeof(ChunkHeader);
    if (chunk.header.stored_bytes > bytes_.size() - begin) return 0;
    const std::size_t end = begin + chunk.header.stored_bytes;
    // A payload may be cut off, with other chunks appended after it. If the next header is where it belongs, the
    // payload has its full length. Event chunks are then not read here.
    const bool followed = end == bytes_.size() || header_at(end);
    if ((!followed || chunk.header.type != ChunkType::events) && !is_whole(begin, end, chunk.header.payload_crc))
      return 0;
    scan_.chunks.push_back(chunk);
    return end;
  }

  // Headers in a file that somebody made may overlap, each with a payload up to the end of the file. Once as many bytes
  // have been read in vain as there are, no byte is read again for each.
  bool is_whole(std::size_t begin, std::size_t end, std::uint32_t crc) {
    if (in_vain_ > bytes_.size()) {
      if (!ranges_) ranges_.emplace(bytes_);
      return ranges_->of(begin, end) == crc;
    }
    if (format::crc32c(bytes_.data() + begin, end - begin) == crc) return true;
    in_vain_ += end - begin;
    return false;
  }

  // Skips damage: returns where the next header begins, or the end of the bytes.
  std::size_t skip(std::size_t at) {
    std::size_t next = at + 1;
    for (; next < bytes_.size(); ++next) {
      const void* found =
          ::memmem(bytes_.data() + next, bytes_.size() - next, &format::chunk_magic, sizeof format::chunk_magic);
      if (found == nullptr) break;
      next = static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data());
      if (header_at(next)) {
        warn(at, next);
        return next;
      }
    }
    warn(at, bytes_.size());
    return bytes_.size();
  }

  void warn(std::size_t from, std::size_t to) {
    // Damage may contain bytes that look like headers. Extends the previous warning then.
    if (from == warned_to_ && !scan_.warnings.empty()) {
      from = warned_from_;
      scan_.warnings.pop_back();
    }
    warned_from_ = from;
    warned_to_ = to;
    scan_.warnings.push_back(name_ + ": " + std::to_string(to - from) + " bytes at offset " + std::to_string(from) +
                             " are not a whole chunk and were skipped");
  }

  std::string_view bytes_;
  const std::string& name_;
  std::uint32_t file_;
  ChunkScan scan_;
  std::uint16_t wrong_version_ = 0;
  std::size_t warned_from_ = 0;
  std::size_t warned_to_ = 0;
  std::uint64_t in_vain_ = 0;  // bytes of payloads whose checksum was wrong
  std::optional<CrcRanges> ranges_;
};

bool plausible(const ChunkHeader& header) {
  if (header.type == ChunkType::events && header.records > format::chunk_records) return false;
  return header.raw_bytes <= max_chunk_bytes;
}

}  // namespace

Failure unknown_version(const std::string& file, unsigned version) {
  return Failure{file + " has format version " + std::to_string(version) + ", this tare reads versions " +
                 std::to_string(format::oldest_format_version) + " to " + std::to_string(format::format_version) +
                 ": read it with the tare that wrote it, or a newer one"};
}

Result<ChunkScan> scan_chunks(std::string_view bytes, const std::string& name, std::uint32_t file) {
  return Scanner(bytes, name, file).scan();
}

bool load_chunk(const ChunkRef& chunk, std::vector<char>& raw, std::string& error) {
  if (!plausible(chunk.header)) {
    error = "impossible size";
    return false;
  }
  if (format::crc32c(chunk.payload, chunk.header.stored_bytes) != chunk.header.payload_crc) {
    error = "wrong checksum";
    return false;
  }
  return format::decompress(chunk.header, chunk.payload, raw, error);
}

std::string damaged_chunk(const std::string& file, const ChunkRef& chunk, const std::string& reason) {
  return file + ": the chunk at offset " + std::to_string(chunk.offset) + " is damaged (" +
         (reason.empty() ? "malformed" : reason) + ") and was skipped";
}

}  // namespace tare::reader
