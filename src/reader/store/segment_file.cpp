#include "reader/store/segment_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "format/record.h"
#include "format/sample.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr std::uint32_t max_rows = 65536;  // a row number has 16 bits
constexpr int call_attempts = 8;

// Structs with atomic members are read as bytes and looked at in place.
template <typename T>
struct alignas(T) Bytes {
  char bytes[sizeof(T)] = {};
  const T& get() const { return *reinterpret_cast<const T*>(bytes); }
};

bool parse_name(const char* name, const std::string& prefix, SegmentName& segment) {
  if (std::strncmp(name, prefix.c_str(), prefix.size()) != 0) return false;
  segment.file = name;
  const std::size_t counter = segment.file.rfind('-');
  const std::size_t pid = counter == std::string::npos || counter == 0 ? counter : segment.file.rfind('-', counter - 1);
  if (pid == std::string::npos || pid < 5) return false;  // behind "tare-" comes the run
  segment.pid = static_cast<unsigned>(std::strtoul(name + pid + 1, nullptr, 10));
  return segment.pid != 0;
}

}  // namespace

std::vector<SegmentName> list_segments(const std::string& directory, const std::string& run_id) {
  std::vector<SegmentName> segments;
  const std::string prefix = run_id.empty() ? "tare-" : "tare-" + run_id + "-";
  DIR* dir = directory.empty() ? nullptr : ::opendir(directory.c_str());
  if (dir == nullptr) return segments;
  while (const dirent* entry = ::readdir(dir)) {
    SegmentName segment;
    if (parse_name(entry->d_name, prefix, segment)) segments.push_back(std::move(segment));
  }
  ::closedir(dir);
  std::sort(segments.begin(), segments.end(),
            [](const SegmentName& a, const SegmentName& b) { return a.file < b.file; });
  return segments;
}

std::uint64_t count_records(const BufferCopy& buffer) {
  std::uint64_t count = 0;
  for (const BufferCopy::Part& part : buffer.parts)
    count += format::count_records(part.records.data(), part.records.size());
  return count;
}

void remove_older(BufferCopy& buffer, std::uint64_t ticks) {
  for (BufferCopy::Part& part : buffer.parts) {
    const std::uint64_t older = skip_older(part.records.data(), part.records.size(), ticks);
    part.records.erase(part.records.begin(), part.records.begin() + static_cast<std::ptrdiff_t>(older));
  }
}

Result<SegmentFile> SegmentFile::open(const std::string& directory, const SegmentName& name) {
  const std::string path = directory + "/" + name.file;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return Failure{path + ": " + std::strerror(errno)};
  SegmentFile segment(fd, name);
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return Failure{path + " is not a file"};
  Bytes<SegmentHeader> copy;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < segment_header_bytes || !segment.read(copy.bytes, sizeof copy.bytes, 0)) return segment;
  const SegmentHeader& header = copy.get();
  if (header.magic == 0) return segment;
  if (header.magic != segment_magic || header.layout != segment_layout || header.functions >= max_functions)
    return Failure{path + " was written by another version of tare (layout " + std::to_string(header.layout) +
                   "): collect it with that version's `tare recover`, or remove it"};
  segment.functions_ = header.functions;
  segment.definitions_at_ = header.definitions_at;
  segment.definitions_capacity_ = header.definitions_capacity;
  segment.requests_at_ = header.requests_at;
  segment.samples_at_ = header.samples_at;
  segment.locations_at_ = header.locations_at;
  segment.location_stride_ = header.location_stride;
  segment.row_capacity_ = header.row_capacity;
  segment.ring_ = header.ring;
  segment.keep_ns_ = header.keep_ns;
  if (const auto reason = segment.check_layout(size)) return Failure{path + " is damaged: " + *reason};
  segment.max_locations_ = (size - header.locations_at) / header.location_stride;
  segment.initialised_ = true;
  return segment;
}

std::optional<std::string> SegmentFile::check_layout(std::uint64_t file_bytes) const {
  if (definitions_at_ < segment_header_bytes || definitions_at_ > file_bytes ||
      definitions_capacity_ > file_bytes - definitions_at_)
    return "the definition log lies outside the file";
  if (requests_at_ != 0 && (requests_at_ > file_bytes || sizeof(RequestTable) > file_bytes - requests_at_))
    return "the request table lies outside the file";
  if (locations_at_ < segment_header_bytes || locations_at_ > file_bytes || locations_at_ % 64 != 0)
    return "the locations lie outside the file";
  if (samples_at_ != 0 && (samples_at_ > locations_at_ || sizeof(SampleSummary) > locations_at_ - samples_at_))
    return "the samples lie outside the file";
  const std::uint64_t fixed = buffer_at(row_capacity_);
  if (row_capacity_ > max_rows || location_stride_ < fixed ||
      (ring_.count != 0 && ring_.stride() > (location_stride_ - fixed) / ring_.count))
    return "a location block is smaller than its parts";
  return std::nullopt;
}

SegmentFile::SegmentFile(SegmentFile&& other) noexcept : fd_(-1) { *this = std::move(other); }

SegmentFile& SegmentFile::operator=(SegmentFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
  initialised_ = other.initialised_;
  functions_ = other.functions_;
  definitions_at_ = other.definitions_at_;
  definitions_capacity_ = other.definitions_capacity_;
  requests_at_ = other.requests_at_;
  samples_at_ = other.samples_at_;
  locations_at_ = other.locations_at_;
  location_stride_ = other.location_stride_;
  max_locations_ = other.max_locations_;
  row_capacity_ = other.row_capacity_;
  ring_ = other.ring_;
  keep_ns_ = other.keep_ns_;
  return *this;
}

SegmentFile::~SegmentFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool SegmentFile::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

Failure SegmentFile::cut_off() const { return Failure{name_.file + " is damaged: it ends before its contents"}; }

Result<ProcessRecord> SegmentFile::process() const {
  ProcessRecord record;
  if (!read(&record, sizeof record, offsetof(SegmentHeader, process))) return cut_off();
  return record;
}

Result<std::string> SegmentFile::definitions(std::uint64_t from) const {
  std::uint64_t published = 0;
  if (!read(&published, sizeof published, offsetof(SegmentHeader, definitions_bytes))) return cut_off();
  published = std::min(published, definitions_capacity_);
  std::string log(published > from ? published - from : 0, '\0');
  if (!read(log.data(), log.size(), definitions_at_ + from)) return cut_off();
  return log;
}

Result<std::uint64_t> SegmentFile::definitions_written() const {
  std::uint64_t written = 0;
  if (!read(&written, sizeof written, offsetof(SegmentHeader, definitions_written))) return cut_off();
  return written;
}

Result<std::vector<RequestEntry>> SegmentFile::requests() const {
  std::vector<RequestEntry> entries;
  if (requests_at_ == 0) return entries;
  std::uint32_t used = 0;
  if (!read(&used, sizeof used, requests_at_ + offsetof(RequestTable, used))) return cut_off();
  entries.resize(std::min(used, request_capacity - 1));
  const std::uint64_t first = requests_at_ + offsetof(RequestTable, entries) + sizeof(RequestEntry);
  if (!read(entries.data(), entries.size() * sizeof(RequestEntry), first)) return cut_off();
  std::erase_if(entries, [](const RequestEntry& entry) { return entry.handle == 0; });
  return entries;
}

Result<std::string> SegmentFile::samples() const {
  if (samples_at_ == 0) return std::string{};
  SampleSummary summary;
  if (!read(&summary, sizeof summary, samples_at_)) return cut_off();
  const std::uint64_t room = (locations_at_ - samples_at_ - sizeof summary) / sizeof(SampleClass);
  summary.classes = static_cast<std::uint32_t>(std::min<std::uint64_t>(summary.classes, room));
  std::string payload(sizeof summary + summary.classes * sizeof(SampleClass), '\0');
  std::memcpy(payload.data(), &summary, sizeof summary);
  if (!read(payload.data() + sizeof summary, payload.size() - sizeof summary, samples_at_ + sizeof summary))
    return cut_off();
  return payload;
}

Result<std::uint32_t> SegmentFile::locations() const {
  std::uint32_t locations = 0;
  if (!read(&locations, sizeof locations, offsetof(SegmentHeader, locations))) return cut_off();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(locations, max_locations_));
}

Result<LocationCopy> SegmentFile::location(std::uint32_t block) const {
  if (block >= max_locations_) return cut_off();
  const std::uint64_t at = locations_at_ + block * location_stride_;
  const auto copy = std::make_unique<Bytes<LocationHeader>>();
  if (!read(copy->bytes, offsetof(LocationHeader, index), at)) return cut_off();
  const LocationHeader& header = copy->get();
  LocationCopy location;
  location.block = block;
  location.summary = summary_of(header.summary, header.tared);
  location.lookups.assign(header.lookups, header.lookups + functions_ + 1);
  location.rows.resize(std::min(header.summary.rows, row_capacity_));
  if (!read(location.rows.data(), location.rows.size() * sizeof(ProfileRow), at + rows_at)) return cut_off();
  location.summary.rows = static_cast<std::uint32_t>(location.rows.size());
  location.peers.resize(std::min(header.summary.peers, peer_capacity));
  if (!read(location.peers.data(), location.peers.size() * sizeof(PeerEntry), at + offsetof(LocationHeader, peers)))
    return cut_off();
  location.summary.peers = static_cast<std::uint32_t>(location.peers.size());
  location.phases.resize(std::min(header.summary.phases, phase_capacity));
  if (!read(location.phases.data(), location.phases.size() * sizeof(PhaseEntry), at + offsetof(LocationHeader, phases)))
    return cut_off();
  location.summary.phases = static_cast<std::uint32_t>(location.phases.size());
  if (!read_call(at, location.call)) return cut_off();
  location.call.block = block;
  location.call.thread = location.summary.number;
  return location;
}

// Until it is the same twice: a thread that goes on changes one word after the other. One that calls all the time is
// shown as it was at the last attempt.
bool SegmentFile::read_call(std::uint64_t location_at, ThreadCall& call) const {
  Bytes<CurrentCall> copy;
  Bytes<CurrentCall> before;
  for (int attempt = 0; attempt < call_attempts; ++attempt) {
    before = copy;
    if (!read(copy.bytes, sizeof copy.bytes, location_at + offsetof(LocationHeader, current))) return false;
    if (attempt > 0 && std::memcmp(copy.bytes, before.bytes, sizeof copy.bytes) == 0) break;
  }
  call = call_of(copy.get());
  return true;
}

// The records of a sub-buffer as far as they were published when `head` was read.
bool SegmentFile::read_sub_buffer(BufferCopy::Part& part, std::uint64_t buffer_at, std::uint64_t ordinal,
                                  std::uint64_t head) const {
  Bytes<SubBufferHead> copy;
  const std::uint64_t at = buffer_at + ring_.place(ordinal);
  if (!read(copy.bytes, sizeof copy.bytes, at)) return false;
  const std::uint64_t bytes = ring_.ordinal(head) == ordinal ? head - ring_.begin(ordinal) : copy.get().bytes;
  part.thread = copy.get().thread;
  part.records.resize(std::min<std::uint64_t>(bytes, ring_.bytes));
  return read(part.records.data(), part.records.size(), at + sizeof(SubBufferHead));
}

Result<BufferCopy> SegmentFile::buffer(std::uint32_t block) const {
  if (block >= max_locations_) return cut_off();
  const std::uint64_t at = locations_at_ + block * location_stride_;
  const std::uint64_t buffer_at = at + format::buffer_at(row_capacity_);
  std::uint64_t head = 0;
  std::uint64_t word = 0;
  const auto read_drained = [&] { return read(&word, sizeof word, at + offsetof(LocationHeader, drained)); };
  // `head` first: `drained` is then never further behind than the ring is long.
  if (!read(&head, sizeof head, at + offsetof(LocationHeader, head)) || !read_drained()) return cut_off();
  const auto drained = Drained::of(word);
  BufferCopy copy;
  copy.ring = ring_;
  copy.sequence = drained.sequence;
  if (ring_.count == 0 || head == 0) return copy;
  const std::uint64_t open = ring_.ordinal(head);
  if (drained.has_passed(open)) return copy;
  if (drained.waiting(open) > std::min<std::uint64_t>(ring_.count, open + 1) || head < ring_.begin(open))
    return Failure{name_.file + " is damaged: more events than fit its buffer"};
  const std::uint64_t oldest = open + 1 - drained.waiting(open);
  for (std::uint64_t ordinal = oldest; ordinal <= open; ++ordinal)
    if (!read_sub_buffer(copy.parts.emplace_back(), buffer_at, ordinal, head)) return cut_off();
  if (!read_drained()) return cut_off();
  const auto since = Drained::of(word);
  copy.sequence = since.sequence;
  std::uint64_t left = 0;
  while (left < copy.parts.size() && since.has_passed(oldest + left)) ++left;
  copy.parts.erase(copy.parts.begin(), copy.parts.begin() + static_cast<std::ptrdiff_t>(left));
  copy.oldest = oldest + left;
  return copy;
}

}  // namespace tare::reader
