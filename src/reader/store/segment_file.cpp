#include "reader/store/segment_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "format/file_table.h"
#include "format/offload_ring.h"
#include "format/record.h"
#include "format/sample.h"
#include "format/segment_name.h"
#include "format/spell_sums.h"
#include "format/stack_samples.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr int call_attempts = 8;

// Memory for a struct with atomic members, which cannot be copied: it is read as bytes and used in place.
template <typename T>
struct alignas(T) Bytes {
  char bytes[sizeof(T)] = {};
  const T& get() const { return *reinterpret_cast<const T*>(bytes); }
};

}  // namespace

ListedSegments list_segments(const std::string& directory, const std::string& run_id, const Owners& owners) {
  ListedSegments found;
  DIR* dir = directory.empty() ? nullptr : ::opendir(directory.c_str());
  if (dir == nullptr) return found;
  while (const dirent* entry = ::readdir(dir)) {
    const auto name = format::parse_segment_name(entry->d_name);
    struct stat status {};
    if (!name || name->run_id != run_id || ::fstatat(::dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (owners.trust(status))
      found.names.push_back({entry->d_name, name->pid});
    else
      ++found.foreign;
  }
  ::closedir(dir);
  std::sort(found.names.begin(), found.names.end(),
            [](const SegmentName& a, const SegmentName& b) { return a.file < b.file; });
  return found;
}

std::uint64_t count_records(const BufferCopy& buffer) {
  std::uint64_t count = 0;
  for (const BufferCopy::Part& part : buffer.parts)
    count += format::count_records(part.records.data(), part.records.size());
  return count;
}

std::uint64_t remove_older(BufferCopy& buffer, std::uint64_t ticks) {
  std::uint64_t bytes = 0;
  for (BufferCopy::Part& part : buffer.parts) {
    const std::uint64_t older = skip_older(part.records.data(), part.records.size(), ticks);
    part.records.erase(part.records.begin(), part.records.begin() + static_cast<std::ptrdiff_t>(older));
    bytes += older;
  }
  return bytes;
}

Result<SegmentFile> SegmentFile::open(const std::string& directory, const SegmentName& name, const Owners& owners) {
  const std::string path = directory + "/" + name.file;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return Failure{path + ": " + std::strerror(errno)};
  SegmentFile segment(std::move(file), name);
  struct stat status {};
  if (::fstat(segment.fd(), &status) != 0 || !owners.trust(status))
    return Failure{path + " is not a file of this run's owner, and was left alone"};
  Bytes<SegmentHeader> copy;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < segment_header_bytes || !segment.read(copy.bytes, sizeof copy.bytes, 0)) return segment;
  const SegmentHeader& header = copy.get();
  if (header.magic == 0) return segment;
  if (header.magic != segment_magic || header.layout != segment_layout || header.functions >= max_functions)
    return Failure{path + " was written by another version of tare (layout " + std::to_string(header.layout) +
                   "): collect it with that version's `tare recover`, or remove it"};
  segment.layout_ = format::layout_of(header);
  segment.maker_ = header.maker;
  segment.run_key_.assign(header.run_key.digits, ::strnlen(header.run_key.digits, sizeof header.run_key.digits));
  if (const char* fault = format::fault_of(segment.layout_, size)) return Failure{path + " is damaged: " + fault};
  segment.max_locations_ = (size - segment.layout_.locations_at) / segment.layout_.location_stride;
  segment.initialised_ = true;
  return segment;
}

bool SegmentFile::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd(), at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

Failure SegmentFile::cut_off() const { return Failure{name_.file + " is damaged: it ends before its contents"}; }

bool SegmentFile::is_new() const {
  constexpr std::int64_t new_s = 2;
  struct stat status {};
  timespec now{};
  if (fstat(fd(), &status) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  const std::int64_t age_s = difference(now.tv_sec, status.st_mtim.tv_sec);
  return age_s >= -new_s && age_s <= new_s;  // a clock may have been set meanwhile
}

Life SegmentFile::life() const {
  return initialised_ ? life_of(fd(), name_.file, name_.pid, maker_) : life_of_beginner(fd(), name_.file, name_.pid);
}

Result<ProcessRecord> SegmentFile::process() const {
  ProcessRecord record;
  if (!read(&record, sizeof record, offsetof(SegmentHeader, process))) return cut_off();
  return record;
}

Result<std::string> SegmentFile::definitions(std::uint64_t from) const {
  std::uint64_t published = 0;
  if (!read(&published, sizeof published, offsetof(SegmentHeader, definitions_bytes))) return cut_off();
  published = std::min(published, layout_.definitions_capacity);
  std::string log(published > from ? published - from : 0, '\0');
  if (!read(log.data(), log.size(), layout_.definitions_at + from)) return cut_off();
  return log;
}

Result<std::uint64_t> SegmentFile::definitions_written() const {
  std::uint64_t written = 0;
  if (!read(&written, sizeof written, offsetof(SegmentHeader, definitions_written))) return cut_off();
  return written;
}

Result<std::vector<RequestEntry>> SegmentFile::requests() const {
  std::vector<RequestEntry> entries;
  if (layout_.requests_at == 0) return entries;
  std::uint32_t used = 0;
  if (!read(&used, sizeof used, layout_.requests_at + offsetof(RequestTable, used))) return cut_off();
  entries.resize(std::min(used, request_capacity - 1));
  const std::uint64_t first = layout_.requests_at + offsetof(RequestTable, entries) + sizeof(RequestEntry);
  if (!read(entries.data(), entries.size() * sizeof(RequestEntry), first)) return cut_off();
  std::erase_if(entries, [](const RequestEntry& entry) { return entry.handle == 0; });
  return entries;
}

bool SegmentFile::read_samples(std::string& payload) const {
  SampleSummary summary;
  if (!read(&summary, sizeof summary, layout_.samples_at)) return false;
  const std::uint64_t room = (layout_.locations_at - layout_.samples_at - sizeof summary) / sizeof(SampleClass);
  summary.classes = static_cast<std::uint32_t>(std::min<std::uint64_t>(summary.classes, room));
  payload.resize(sizeof summary + summary.classes * sizeof(SampleClass));
  std::memcpy(payload.data(), &summary, sizeof summary);
  return read(payload.data() + sizeof summary, payload.size() - sizeof summary, layout_.samples_at + sizeof summary);
}

bool SegmentFile::read_scheduling(std::string& payload) const {
  const auto blocks = locations();
  if (!blocks) return false;
  for (std::uint32_t block = 0; block < *blocks; ++block) {
    const std::uint64_t at = layout_.locations_at + block * layout_.location_stride;
    SchedulingSums sums;
    if (!read(&sums, sizeof sums, at + offsetof(LocationHeader, scheduling))) return false;
    if (sums.readings == 0) continue;
    sums.block = block;
    sums.spans = std::min(sums.spans, max_scheduling_spans);
    payload.append(reinterpret_cast<const char*>(&sums), sizeof sums);
    const std::size_t known = payload.size(), bytes = sums.spans * sizeof(SchedulingSpan);
    payload.resize(known + bytes);
    if (!read(payload.data() + known, bytes, at + offsetof(LocationHeader, scheduling_spans))) return false;
  }
  return true;
}

bool SegmentFile::read_stacks(std::string& payload) const {
  format::StackSamples head;
  std::vector<SampledStack> stacks(stack_slots);
  if (!read(&head, sizeof head, layout_.stacks_at) ||
      !read(stacks.data(), stacks.size() * sizeof(SampledStack), layout_.stacks_at + sizeof head))
    return false;
  std::erase_if(stacks, [](const SampledStack& stack) { return stack.samples == 0; });
  head.stacks = static_cast<std::uint32_t>(stacks.size());
  payload.assign(reinterpret_cast<const char*>(&head), sizeof head);
  payload.append(reinterpret_cast<const char*>(stacks.data()), stacks.size() * sizeof(SampledStack));
  return true;
}

bool SegmentFile::read_files(std::string& payload) const {
  FileTableHead head;
  if (!read(&head, sizeof head, layout_.files_at)) return false;
  head.files = std::min(head.files, file_capacity);
  head.uses = std::min(head.uses, file_use_capacity);
  head.name_bytes = std::min(head.name_bytes, file_names_bytes);
  payload.assign(reinterpret_cast<const char*>(&head), sizeof head);
  const auto add = [&](std::uint64_t bytes, std::uint64_t offset) {
    const std::size_t known = payload.size();
    payload.resize(known + bytes);
    return read(payload.data() + known, bytes, layout_.files_at + offset);
  };
  return add(head.files * sizeof(FileEntry), offsetof(FileTable, files)) &&
         add(head.uses * sizeof(FileUse), offsetof(FileTable, uses)) &&
         add((head.name_bytes + 7U) / 8 * 8, offsetof(FileTable, names));
}

Result<std::vector<SegmentFile::Payload>> SegmentFile::payloads() const {
  std::vector<Payload> all;
  if (layout_.samples_at != 0) {
    all.push_back({ChunkType::samples, {}});
    if (!read_samples(all.back().bytes)) return cut_off();
  }
  if (layout_.spell_sums_at != 0) {
    std::uint32_t entries = 0;
    if (!read(&entries, sizeof entries, layout_.spell_sums_at + offsetof(SpellSumsTable, entries))) return cut_off();
    std::string& payload = all.emplace_back(Payload{ChunkType::spell_sums, {}}).bytes;
    payload.resize(std::min(entries, spell_sums_capacity) * sizeof(SpellSums));
    if (!read(payload.data(), payload.size(), layout_.spell_sums_at + offsetof(SpellSumsTable, sums))) return cut_off();
  }
  if (layout_.offloads_at != 0) {
    std::string& payload = all.emplace_back(Payload{ChunkType::offloads, std::string(sizeof(OffloadAccount), 0)}).bytes;
    if (!read(payload.data(), payload.size(), layout_.offloads_at + offsetof(OffloadRing, account))) return cut_off();
  }
  if (layout_.stacks_at != 0 && !read_stacks(all.emplace_back(Payload{ChunkType::stacks, {}}).bytes)) return cut_off();
  if (layout_.files_at != 0 && !read_files(all.emplace_back(Payload{ChunkType::files, {}}).bytes)) return cut_off();
  if (!read_scheduling(all.emplace_back(Payload{ChunkType::scheduling, {}}).bytes)) return cut_off();
  std::erase_if(all, [](const Payload& payload) { return payload.bytes.empty(); });
  return all;
}

Result<std::uint32_t> SegmentFile::locations() const {
  std::uint32_t locations = 0;
  if (!read(&locations, sizeof locations, offsetof(SegmentHeader, locations))) return cut_off();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(locations, max_locations_));
}

Result<LocationCopy> SegmentFile::location(std::uint32_t block) const {
  if (block >= max_locations_) return cut_off();
  const std::uint64_t at = layout_.locations_at + block * layout_.location_stride;
  const auto copy = std::make_unique<Bytes<LocationHeader>>();
  if (!read(copy->bytes, offsetof(LocationHeader, index), at)) return cut_off();
  const LocationHeader& header = copy->get();
  LocationCopy location;
  location.block = block;
  location.summary = summary_of(header.summary, header.tared);
  for (std::uint32_t kind = 0; kind < weighed_kinds; ++kind) {
    WeighedCalls weighed = header.weighed[kind];
    weighed.kind = kind;
    if (weighed.first_calls != 0 || weighed.calls != 0 || weighed.interrupted != 0) location.weighed.push_back(weighed);
  }
  location.summary.weighed = static_cast<std::uint32_t>(location.weighed.size());
  location.lookups.assign(header.lookups, header.lookups + layout_.functions + 1);
  location.rows.resize(std::min(header.summary.rows, layout_.row_capacity));
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
  if (!read_call(at, location)) return cut_off();
  location.call.block = block;
  location.call.thread = location.summary.number;
  return location;
}

// Reads the current call until two readings are equal, because a running thread changes it word by word. If the thread
// makes calls all the time, the result is the last attempt.
bool SegmentFile::read_call(std::uint64_t location_at, LocationCopy& location) const {
  Bytes<CurrentCall> copy, before;
  Bytes<OtherCalls> others, others_before;
  const auto is_as_before = [&] {
    return std::memcmp(copy.bytes, before.bytes, sizeof copy.bytes) == 0 &&
           std::memcmp(others.bytes, others_before.bytes, sizeof others.bytes) == 0;
  };
  for (int attempt = 0; attempt < call_attempts; ++attempt) {
    before = copy;
    others_before = others;
    if (!read(copy.bytes, sizeof copy.bytes, location_at + offsetof(LocationHeader, current)) ||
        !read(others.bytes, sizeof others.bytes, location_at + offsetof(LocationHeader, others)))
      return false;
    if (attempt > 0 && is_as_before()) break;
  }
  location.call = call_of(copy.get(), others.get());
  location.last_time = last_time(copy.get(), others.get());
  return true;
}

// Reads the records of a sub-buffer that had been published when `head` was read.
bool SegmentFile::read_sub_buffer(BufferCopy::Part& part, std::uint64_t buffer_at, std::uint64_t ordinal,
                                  std::uint64_t head) const {
  Bytes<SubBufferHead> copy;
  const std::uint64_t at = buffer_at + layout_.ring.place(ordinal);
  if (!read(copy.bytes, sizeof copy.bytes, at)) return false;
  const std::uint64_t bytes =
      layout_.ring.ordinal(head) == ordinal ? head - layout_.ring.begin(ordinal) : copy.get().bytes;
  part.thread = copy.get().thread;
  part.records.resize(std::min<std::uint64_t>(bytes, layout_.ring.bytes));
  return read(part.records.data(), part.records.size(), at + sizeof(SubBufferHead));
}

Result<BufferCopy> SegmentFile::buffer(std::uint32_t block) const {
  if (block >= max_locations_) return cut_off();
  const std::uint64_t at = layout_.locations_at + block * layout_.location_stride;
  const std::uint64_t buffer_at = at + format::buffer_at(layout_.row_capacity);
  std::uint64_t head = 0;
  std::uint64_t word = 0;
  const auto read_drained = [&] { return read(&word, sizeof word, at + offsetof(LocationHeader, drained)); };
  // `head` is read before `drained`. So the distance between the two is at most the length of the ring.
  if (!read(&head, sizeof head, at + offsetof(LocationHeader, head)) || !read_drained()) return cut_off();
  const auto drained = Drained::of(word);
  BufferCopy copy;
  copy.ring = layout_.ring;
  std::uint32_t full = 0;
  if (!read(&full, sizeof full, at + offsetof(LocationHeader, summary) + offsetof(LocationSummary, full)))
    return cut_off();
  if ((full & kept_newest) != 0) copy.ring.policy = Policy::overwrite;
  copy.sequence = drained.sequence;
  if (layout_.ring.count == 0 || head == 0) return copy;
  const std::uint64_t open = layout_.ring.ordinal(head);
  if (drained.has_passed(open)) return copy;
  if (drained.waiting(open) > std::min<std::uint64_t>(layout_.ring.count, open + 1) || head < layout_.ring.begin(open))
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
