#include "importers/run_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "format/chunk_writer.h"
#include "format/location_summary.h"
#include "reader/store/function_names.h"

namespace tare::importers {

using namespace tare::format;

namespace {

constexpr std::size_t much = std::size_t{1} << 20;
constexpr std::size_t max_held = std::size_t{64} << 20;  // of a thread, however long requests last
constexpr std::size_t max_started = 1U << 16;

template <typename Record>
std::string_view bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

}  // namespace

ProcessRecord new_process(std::uint64_t number, std::size_t threads, std::uint64_t start_ns) {
  ProcessRecord record{};
  record.process = number;
  record.pid = static_cast<std::uint32_t>(number);
  record.state = ProcessState::finalized;
  record.rank = -1;
  record.exit_code = exit_code_unknown;
  record.flags = traced;
  record.threads = static_cast<std::uint32_t>(threads);
  record.clock_start = {first_ticks, first_ticks};
  record.realtime_start_ns = start_ns;
  return record;
}

RunFile::RunFile(std::string path) : path_(std::move(path)) {
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_) fail(errno);
  ChunkHeader functions{};
  functions.type = ChunkType::functions;
  write_chunk(functions, reader::functions_payload());
}

void RunFile::write(std::string_view bytes) {
  while (!bytes.empty() && !has_failed()) {
    const ssize_t written = ::write(file_.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void RunFile::write_chunk(const ChunkHeader& identity, std::string_view payload) {
  std::vector<char> scratch(chunk_context_bytes() + 8);
  auto* aligned = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 7) & ~std::uintptr_t{7});
  std::string out(chunk_bound(payload.size()), '\0');
  out.resize(make_chunk(identity, payload.data(), payload.size(), out.data(), aligned));
  write(out);
}

void RunFile::fail(int error) {
  if (failure_.empty()) failure_ = "cannot write " + path_ + ": " + std::strerror(error);
}

std::string RunFile::finish() {
  if (!file_.close()) fail(errno);
  return failure_;
}

template <typename Body>
void ProcessWriter::define(DefinitionKind kind, Body body, std::string_view behind) {
  const std::size_t bytes = (sizeof body + behind.size() + 7) / 8 * 8;
  body.head.kind = kind;
  body.head.bytes = static_cast<std::uint32_t>(bytes);
  const std::size_t at = log_.size();
  log_.append(bytes_of(body)).append(behind);
  log_.resize(at + bytes);
}

std::uint32_t ProcessWriter::group(const std::vector<std::int32_t>& members) {
  std::vector<MemberRun> runs;
  for (const std::int32_t member : members) {
    if (!runs.empty() && runs.back().stride == 1 &&
        runs.back().first + static_cast<std::int32_t>(runs.back().count) == member)
      ++runs.back().count;
    else
      runs.push_back({member, 1, 1});
  }
  GroupDefinition body{};
  body.group = ++groups_;
  body.size = static_cast<std::int32_t>(members.size());
  body.runs = static_cast<std::uint32_t>(runs.size());
  define(DefinitionKind::group, body, {reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(MemberRun)});
  return groups_;
}

void ProcessWriter::define_communicator(const Membership& of) {
  CommunicatorDefinition body{};
  body.communicator = of.number;
  body.size = static_cast<std::int32_t>(of.members.size());
  body.rank = of.rank;
  body.remote_size = static_cast<std::int32_t>(of.remote_members.size());
  body.key = of.key;
  body.group = group(of.members);
  body.remote_group = of.remote_members.empty() ? 0 : group(of.remote_members);
  body.name_bytes = static_cast<std::uint32_t>(of.name.size());
  define(DefinitionKind::communicator, body, of.name);
}

void ProcessWriter::name_thread(std::uint32_t thread, std::string_view name) {
  ThreadDefinition body{};
  body.thread = thread;
  body.name_bytes = static_cast<std::uint32_t>(name.size());
  define(DefinitionKind::thread, body, name);
}

std::uint32_t ProcessWriter::site(const std::vector<Place>& path) {
  if (path.empty()) return 0;
  std::vector<std::uint32_t> numbers;
  for (const Place& place : path) {
    if (numbers.size() == max_frames) break;
    const auto [at, is_new] = frames_.emplace(place, static_cast<std::uint32_t>(frames_.size() + 1));
    numbers.push_back(at->second);
    if (!is_new) continue;
    PythonFrameDefinition body{};
    // As of other runs: a call is shown at the innermost line of its path that has a source file.
    if (!place.file.empty()) body.head.flags = of_program;
    body.frame = at->second;
    body.line = place.line;
    body.file_bytes = static_cast<std::uint32_t>(place.file.size());
    body.function_bytes = static_cast<std::uint32_t>(place.function.size());
    define(DefinitionKind::python_frame, body, place.file + place.function);
  }
  const auto [at, is_new] = sites_.emplace(numbers, static_cast<std::uint32_t>(sites_.size() + 1));
  if (is_new) {
    SiteDefinition body{};
    body.site = at->second;
    body.frames = static_cast<std::uint32_t>(numbers.size());
    define(DefinitionKind::site, body,
           {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint32_t)});
  }
  return at->second;
}

std::uint32_t ProcessWriter::event_type(EventClass event_class, const std::string& name, const std::string& unit,
                                        const std::vector<ParameterType>& types) {
  constexpr std::size_t most = UINT16_MAX;
  const auto next = static_cast<std::uint32_t>(event_types_.size() + 1);
  const auto [at, is_new] = event_types_.emplace(std::tuple{event_class, name, unit, types}, next);
  if (is_new) {
    EventTypeDefinition body{};
    body.type = at->second;
    body.event_class = event_class;
    if (event_class == EventClass::regular) {
      body.parameters = static_cast<std::uint8_t>(std::min(types.size(), std::size(body.parameter_types)));
      std::copy_n(types.begin(), body.parameters, body.parameter_types);
    } else if (event_class != EventClass::packed && event_class != EventClass::raw) {
      body.parameters = 1;
      body.parameter_types[0] = event_class == EventClass::counter ? ParameterType::f64 : ParameterType::u8;
    }
    body.name_bytes = static_cast<std::uint16_t>(std::min(name.size(), most));
    body.unit_bytes = static_cast<std::uint16_t>(std::min(unit.size(), most));
    define(DefinitionKind::event_type, body, name.substr(0, most) + unit.substr(0, most));
  }
  return at->second;
}

void ProcessWriter::saw(std::uint64_t ticks) {
  if (record_.attach == 0 || ticks < record_.attach) record_.attach = ticks;
  record_.end = std::max(record_.end, ticks);
}

void ProcessWriter::finish() {
  if (record_.attach == 0) record_.attach = record_.end = record_.clock_start.ticks;
  if (record_.init_leave == 0) record_.init_enter = record_.init_leave = record_.attach;
  if (record_.finalize_enter == 0) record_.finalize_enter = record_.end;
  if (record_.finalize_leave == 0) record_.finalize_leave = record_.end;
  record_.clock_last = {record_.end, record_.end};
  ChunkHeader identity{};
  identity.process = record_.process;
  identity.type = ChunkType::definitions;
  if (!log_.empty()) file_.write_chunk(identity, log_);
  identity.type = ChunkType::process;
  file_.write_chunk(identity, bytes_of(record_));
}

void ThreadWriter::add_event(std::uint32_t type, std::uint64_t ticks, std::span<const std::uint64_t> parameters) {
  const auto words = static_cast<std::uint16_t>(sizeof(EventRecord) / 8 + parameters.size());
  add(EventRecord{{event, words}, type, ticks});
  records_.append(reinterpret_cast<const char*>(parameters.data()), parameters.size_bytes());
}

void ThreadWriter::add_raw_event(std::uint32_t type, std::uint64_t ticks, std::string_view data) {
  data = data.substr(0, max_raw_bytes);
  const std::size_t padded = (data.size() + 7) / 8 * 8;
  const auto words = static_cast<std::uint16_t>((sizeof(RawEventRecord) + padded) / 8);
  add(RawEventRecord{{raw_event, words}, type, ticks, data.size()});
  records_.append(data).append(padded - data.size(), '\0');
}

void ThreadWriter::release(std::size_t position) {
  if (records_.size() >= max_held) position = end();
  if (position > begin_ && position - begin_ >= much) write_out(position - begin_);
}

ThreadWriter::RowKey ThreadWriter::add_to_profile(const CallRecord& call, std::uint64_t received) {
  const bool has_size = call.bytes != no_bytes;
  const auto size_class = has_size ? static_cast<std::uint8_t>(std::bit_width(call.bytes)) : no_size;
  const RowKey key{call.head.kind, call.site, call.communicator, size_class};
  ProfileRow& row = rows_[key];
  const std::uint64_t ticks = call.leave - call.enter;
  if (row.calls++ == 0) {
    row.function = call.head.kind;
    row.site = call.site;
    row.communicator = call.communicator;
    row.size_class = size_class;
    row.ticks_min = ticks;
  }
  row.ticks += ticks;
  row.ticks_min = std::min(row.ticks_min, ticks);
  row.ticks_max = std::max(row.ticks_max, ticks);
  row.ticks_squared += static_cast<double>(ticks) * static_cast<double>(ticks);
  if (has_size) row.bytes += call.bytes;
  if (received != no_bytes) row.received += received;
  ++row.histogram[duration_bin(ticks)];
  return key;
}

void ThreadWriter::count(const char* record, std::size_t size) {
  RecordHead head{};
  std::memcpy(&head, record, sizeof head);
  ++count_;
  if (head.kind < first_other) {
    ExchangeRecord call{};
    call.received = no_bytes;
    std::memcpy(&call, record, std::min(size, sizeof call));
    last_row_ = add_to_profile(call.call, size == sizeof call ? call.received : no_bytes);
    if (started_.size() >= max_started) started_.clear();  // of requests that are never completed
    if (call.call.request != no_request) started_[call.call.request] = last_row_;
  } else if (head.kind == start) {
    StartRecord one{};
    std::memcpy(&one, record, sizeof one);
    started_[one.request] = last_row_;
  } else if (head.kind == completion) {
    CompletionRecord one{};
    std::memcpy(&one, record, sizeof one);
    ++completions_;
    const auto found = started_.find(one.request);
    if (found == started_.end()) return;
    if (one.bytes != no_bytes) rows_[found->second].bytes += one.bytes;
    started_.erase(found);
  } else if (head.kind == event || head.kind == raw_event) {
    ++api_events_;
  }
}

void ThreadWriter::write_out(std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    RecordHead head{};
    std::memcpy(&head, records_.data() + at, sizeof head);
    count(records_.data() + at, std::size_t{head.words} * 8);
    at += std::size_t{head.words} * 8;
  }
  reader::BufferCopy buffer;
  const auto end = records_.begin() + static_cast<std::ptrdiff_t>(bytes);
  buffer.parts.push_back({thread_, {records_.begin(), end}});
  buffer.sequence = sequence_;
  const auto encoded = encoder_.encode(process_.record(), thread_, buffer);
  sequence_ += static_cast<std::uint32_t>(encoded.chunks.size());
  for (const std::string& chunk : encoded.chunks) process_.file().write(chunk);
  records_.erase(records_.begin(), end);
  begin_ += bytes;
}

void ThreadWriter::finish() {
  if (!records_.empty()) write_out(records_.size());
  LocationSummary summary{};
  summary.number = thread_;
  summary.rows = static_cast<std::uint32_t>(rows_.size());
  summary.events = count_ - api_events_;
  summary.completions = completions_;
  summary.api_events = api_events_;
  std::string payload(bytes_of(summary));
  for (const auto& [key, row] : rows_) payload.append(bytes_of(row));
  ChunkHeader identity{};
  identity.process = process_.record().process;
  identity.type = ChunkType::profile;
  identity.location = identity.block = thread_;
  process_.file().write_chunk(identity, payload);
}

}  // namespace tare::importers
