#include "reader/testing/synthetic.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "format/chunk_writer.h"
#include "format/definition.h"
#include "format/functions.h"
#include "format/machine.h"
#include "reader/store/buffer_encoder.h"
#include "reader/store/function_names.h"

namespace tare::reader::synthetic {

using namespace tare::format;

namespace {

constexpr std::uint32_t row_capacity = 16;
constexpr std::uint64_t definitions_capacity = 4096;
constexpr std::uint32_t max_locations = 4;

template <typename Entry>
std::string entry(Entry head, DefinitionKind kind, std::string_view text) {
  const std::size_t bytes = (sizeof head + text.size() + 7) / 8 * 8;
  head.head.kind = kind;
  head.head.bytes = static_cast<std::uint32_t>(bytes);
  std::string log = bytes_of(head) + std::string(text);
  log.resize(bytes);
  return log;
}

ChunkHeader identity_of(const ProcessRecord& process, ChunkType type) {
  ChunkHeader identity{};
  identity.type = type;
  identity.process = process.process;
  return identity;
}

}  // namespace

TempDir::TempDir() {
  std::string pattern = std::filesystem::temp_directory_path() / "tare-reader-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void TempDir::write(const std::string& name, std::string_view bytes) const { write_file(path(name), bytes); }

std::string TempDir::read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool TempDir::has(const std::string& name) const { return std::filesystem::exists(path(name)); }

unsigned dead_pid() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  return static_cast<unsigned>(pid);
}

std::string this_host() {
  char name[64] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::uint16_t function_number(std::string_view name) {
  for (unsigned i = 1; i <= function_count; ++i)
    if (name == function_name(i)) return static_cast<std::uint16_t>(i);
  throw std::runtime_error("no such function");
}

ProcessRecord process_record(std::uint32_t rank, ProcessState state, unsigned pid) {
  ProcessRecord record{};
  record.process = 0x7000'0000'0000 + rank;
  record.pid = pid;
  record.state = state;
  record.rank = static_cast<std::int32_t>(rank);
  record.size = 2;
  record.exit_code = exit_code_unknown;
  record.threads = 1;
  record.clock_start = {1000, 1000};
  record.clock_last = record.clock_start;
  record.realtime_start_ns = 1'700'000'000'000'001'000;
  record.attach = 1000;
  record.init_leave = 2000;
  record.finalize_enter = 8000;
  record.finalize_leave = 8500;
  record.end = 9000;
  record.lookup_cost_ps = 5'000;
  std::strncpy(record.host, this_host().c_str(), sizeof record.host - 1);
  std::strcpy(record.executable, "/bin/app");
  std::strcpy(record.mpi_library, "An MPI 1.0\nbuilt yesterday");
  return record;
}

WeighedCalls weighed_calls(unsigned kind, std::uint64_t calls, std::uint64_t ticks) {
  WeighedCalls weighed{};
  weighed.kind = kind;
  weighed.calls = calls;
  weighed.ticks = calls * ticks;
  weighed.ticks_squared = static_cast<double>(calls * ticks * ticks);
  return weighed;
}

ProfileRow profile_row(std::string_view function, std::uint32_t site, std::uint64_t calls, std::uint64_t ticks,
                       std::uint64_t bytes, std::uint32_t communicator) {
  ProfileRow row{};
  row.function = function_number(function);
  row.size_class = bytes == 0 ? no_size : 4;
  row.communicator = communicator;
  row.site = site;
  row.calls = calls;
  row.ticks = ticks;
  row.ticks_min = ticks / (calls * 2);
  row.ticks_max = ticks;
  row.bytes = bytes;
  return row;
}

CallRecord call_record(std::string_view function, std::uint32_t site, std::uint64_t enter, std::uint64_t leave) {
  CallRecord call{};
  call.head = {function_number(function), sizeof call / 8};
  call.site = site;
  call.enter = enter;
  call.leave = leave;
  call.bytes = no_bytes;
  call.peer = no_peer;
  call.tag = no_tag;
  call.communicator = 1;
  return call;
}

std::string module_definition(std::uint32_t module, std::string_view path, std::string_view build_id,
                              std::uint16_t flags) {
  ModuleDefinition in{};
  in.head.flags = flags;
  in.module = module;
  in.path_bytes = static_cast<std::uint32_t>(path.size());
  in.build_id_bytes = static_cast<std::uint32_t>(build_id.size());
  std::memcpy(in.build_id, build_id.data(), build_id.size());
  return entry(in, DefinitionKind::module, path);
}

std::string frame_definition(std::uint32_t frame, std::uint32_t module, std::uint64_t address) {
  FrameDefinition in{};
  in.frame = frame;
  in.module = module;
  in.address = address;
  return entry(in, DefinitionKind::frame, "");
}

std::string python_frame_definition(std::uint32_t frame, std::string_view file, std::string_view function,
                                    std::uint32_t line) {
  PythonFrameDefinition in{};
  in.head.flags = of_program;
  in.frame = frame;
  in.line = line;
  in.file_bytes = static_cast<std::uint32_t>(file.size());
  in.function_bytes = static_cast<std::uint32_t>(function.size());
  return entry(in, DefinitionKind::python_frame, std::string(file) + std::string(function));
}

std::string path_definition(std::uint32_t site, const std::vector<std::uint32_t>& frames, std::uint16_t flags) {
  SiteDefinition in{};
  in.head.flags = flags;
  in.site = site;
  in.frames = static_cast<std::uint32_t>(frames.size());
  return entry(in, DefinitionKind::site,
               {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(std::uint32_t)});
}

std::string site_definition(std::uint32_t site, std::uint32_t module, std::uint64_t address) {
  return frame_definition(site, module, address) + path_definition(site, {site});
}

std::string python_site_definition(std::uint32_t site, std::string_view file, std::string_view function,
                                   std::uint32_t line) {
  return python_frame_definition(site, file, function, line) + path_definition(site, {site});
}

std::string communicator_definition(std::uint32_t communicator, std::int32_t size, std::string_view name) {
  CommunicatorDefinition in{};
  in.communicator = communicator;
  in.size = size;
  return communicator_definition(in, name);
}

std::string communicator_definition(CommunicatorDefinition communicator, std::string_view name) {
  communicator.name_bytes = static_cast<std::uint32_t>(name.size());
  return entry(communicator, DefinitionKind::communicator, name);
}

std::string group_definition(std::uint32_t group, const std::vector<MemberRun>& runs, std::uint16_t flags) {
  GroupDefinition in{};
  in.head.flags = flags;
  in.group = group;
  for (const MemberRun& run : runs) in.size += static_cast<std::int32_t>(run.count);
  in.runs = static_cast<std::uint32_t>(runs.size());
  return entry(in, DefinitionKind::group,
               {reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(MemberRun)});
}

namespace {
std::string name_definition(DefinitionKind kind, std::uint32_t number, std::string_view name) {
  NameDefinition in{};
  in.number = number;
  in.name_bytes = static_cast<std::uint32_t>(name.size());
  return entry(in, kind, name);
}
std::string scope_definition(DefinitionKind kind, ScopeDefinition in, std::string_view name) {
  in.name_bytes = static_cast<std::uint32_t>(name.size());
  return entry(in, kind, name);
}
}  // namespace

std::string communicator_name(std::uint32_t communicator, std::string_view name) {
  return name_definition(DefinitionKind::communicator_name, communicator, name);
}

std::string window_definition(std::uint32_t window, std::uint32_t communicator, std::uint64_t key) {
  return scope_definition(DefinitionKind::window, {{}, window, communicator, key, WindowFlavour::allocate, {}, 0}, "");
}

std::string window_name(std::uint32_t window, std::string_view name) {
  return name_definition(DefinitionKind::window_name, window, name);
}

std::string file_definition(std::uint32_t file, std::uint32_t communicator, std::uint64_t key, std::string_view name) {
  return scope_definition(DefinitionKind::file, {{}, file, communicator, key, WindowFlavour::none, {}, 0}, name);
}

std::string thread_definition(std::uint32_t thread, std::string_view name) {
  ThreadDefinition in{};
  in.thread = thread;
  in.name_bytes = static_cast<std::uint32_t>(name.size());
  return entry(in, DefinitionKind::thread, name);
}

std::string event_type_definition(std::uint32_t type, EventClass event_class, std::string_view name,
                                  const std::vector<ParameterType>& parameters, std::string_view unit) {
  EventTypeDefinition in{};
  in.type = type;
  in.event_class = event_class;
  in.parameters = static_cast<std::uint8_t>(parameters.size());
  std::copy(parameters.begin(), parameters.end(), in.parameter_types);
  in.name_bytes = static_cast<std::uint16_t>(name.size());
  in.unit_bytes = static_cast<std::uint16_t>(unit.size());
  return entry(in, DefinitionKind::event_type, std::string(name) + std::string(unit));
}

std::string event_record(std::uint32_t type, std::uint64_t time, const std::vector<std::uint64_t>& parameters) {
  const EventRecord record{
      {event, static_cast<std::uint16_t>(sizeof(EventRecord) / 8 + parameters.size())}, type, time};
  std::string bytes = bytes_of(record);
  for (const std::uint64_t parameter : parameters) bytes += bytes_of(parameter);
  return bytes;
}

std::string raw_event_record(std::uint32_t type, std::uint64_t time, std::string_view bytes) {
  const std::size_t words = (bytes.size() + 7) / 8;
  const RawEventRecord record{
      {raw_event, static_cast<std::uint16_t>(sizeof(RawEventRecord) / 8 + words)}, type, time, bytes.size()};
  std::string out = bytes_of(record) + std::string(bytes);
  out.resize(sizeof record + words * 8);
  return out;
}

std::string chunk(ChunkHeader identity, std::string_view payload) {
  std::string out(chunk_bound(payload.size()), '\0');
  out.resize(make_chunk(identity, payload.data(), payload.size(), out.data(), nullptr));
  return out;
}

std::string functions_chunk() {
  ChunkHeader identity{};
  identity.type = ChunkType::functions;
  return chunk(identity, functions_payload());
}

std::string functions_chunk(const std::vector<std::string>& names) {
  ChunkHeader identity{};
  identity.type = ChunkType::functions;
  const auto count = static_cast<std::uint32_t>(names.size());
  std::string payload(reinterpret_cast<const char*>(&count), sizeof count);
  payload.append("MPI").push_back('\0');
  for (const std::string& name : names) payload.append(name).append(2, '\0');
  return chunk(identity, payload);
}

std::string process_chunk(const ProcessRecord& process) {
  return chunk(identity_of(process, ChunkType::process), bytes_of(process));
}

std::string definitions_chunk(const ProcessRecord& process, std::string_view log) {
  return chunk(identity_of(process, ChunkType::definitions), log);
}

std::string profile_chunk(const ProcessRecord& process, std::uint32_t block, const std::vector<ProfileRow>& rows,
                          const std::vector<CountedCalls>& counted) {
  return profile_chunk(process, block, Profile{{}, rows, {}, {}, {weighed_calls(0, 2, 20)}, counted});
}

std::string profile_chunk(const ProcessRecord& process, std::uint32_t block, Profile profile) {
  profile.summary.rows = static_cast<std::uint32_t>(profile.rows.size());
  profile.summary.peers = static_cast<std::uint32_t>(profile.peers.size());
  profile.summary.phases = static_cast<std::uint32_t>(profile.phases.size());
  profile.summary.weighed = static_cast<std::uint32_t>(profile.weighed.size());
  std::string payload = bytes_of(profile.summary);
  for (const ProfileRow& row : profile.rows) payload += bytes_of(row);
  for (const PeerEntry& peer : profile.peers) payload += bytes_of(peer);
  for (const PhaseEntry& phase : profile.phases) payload += bytes_of(phase);
  for (const WeighedCalls& weighed : profile.weighed) payload += bytes_of(weighed);
  for (const CountedCalls& calls : profile.counted) payload += bytes_of(calls);
  ChunkHeader identity = identity_of(process, ChunkType::profile);
  identity.location = identity.block = block;
  return chunk(identity, payload);
}

std::string samples_chunk(const ProcessRecord& process, const std::vector<SampleClass>& classes) {
  SampleSummary summary{};
  summary.classes = static_cast<std::uint32_t>(classes.size());
  summary.paired = classes.size();
  std::string payload = bytes_of(summary);
  for (const SampleClass& c : classes) payload += bytes_of(c);
  return chunk(identity_of(process, ChunkType::samples), payload);
}

std::string events_chunk(const ProcessRecord& process, std::uint32_t block, std::uint32_t sequence,
                         std::string_view records, std::optional<std::uint32_t> thread) {
  BufferCopy buffer;
  buffer.parts.push_back({thread.value_or(block), {records.begin(), records.end()}});
  buffer.sequence = sequence;
  std::string out;
  for (const std::string& sealed : BufferEncoder().encode(process, block, buffer).chunks) out += sealed;
  return out;
}

Segment::Segment(const TempDir& dir, const ProcessRecord& process, std::uint64_t buffer_bytes, unsigned counter)
    : name_(std::string("tare-") + run_id + "-" + std::to_string(process.pid) + "-" + std::to_string(counter)) {
  const RingShape ring{2, static_cast<std::uint32_t>(buffer_bytes / 2), Policy::block};
  const std::uint64_t stride = (buffer_at(row_capacity) + ring.total() + 4095) / 4096 * 4096;
  const std::uint64_t requests_at = segment_header_bytes + definitions_capacity;
  const std::uint64_t locations_at = requests_at + (sizeof(RequestTable) + 63) / 64 * 64;
  size_ = locations_at + max_locations * stride;
  const int fd = ::open(dir.path(name_).c_str(), O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_)) != 0) throw std::runtime_error("segment");
  data_ = static_cast<char*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::close(fd);
  SegmentHeader& h = header();
  h.layout = segment_layout;
  h.functions = function_count;
  h.definitions_at = segment_header_bytes;
  h.definitions_capacity = definitions_capacity;
  h.requests_at = requests_at;
  h.locations_at = locations_at;
  h.location_stride = stride;
  h.row_capacity = row_capacity;
  h.ring = ring;
  h.maker = {machine_name(), pid_namespace_name(), 0, 0};
  h.process = process;
  h.magic = segment_magic;
}

Segment::~Segment() { unmap(); }

void Segment::unmap() {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
}

SegmentHeader& Segment::header() { return *reinterpret_cast<SegmentHeader*>(data_); }

LocationHeader& Segment::location(std::uint32_t block) {
  return *reinterpret_cast<LocationHeader*>(data_ + header().locations_at + block * header().location_stride);
}

void Segment::define(std::string_view log) {
  std::memcpy(data_ + header().definitions_at + header().definitions_bytes, log.data(), log.size());
  header().definitions_bytes += log.size();
}

void Segment::add_location() {
  const std::uint32_t block = header().locations++;
  location(block).block = block;
  location(block).summary.number = block;
  LocationSummary& summary = location(block).summary;
  summary.in_use = 1;
  summary.rows = summary.peers = 1;
  summary.phase = outside_phases;
  summary.phases = outside_phases + 1;
  location(block).head = header().ring.begin(0);
}

void Segment::add_row(std::uint32_t block, const ProfileRow& row) {
  rows_of(&location(block))[location(block).summary.rows++] = row;
}

void Segment::add_peer(std::uint32_t block, const PeerEntry& peer) {
  location(block).peers[location(block).summary.peers++] = peer;
}

void Segment::add_phase(std::uint32_t block, const PhaseEntry& phase) {
  location(block).phases[location(block).summary.phases++] = phase;
}

void Segment::add_request(const RequestEntry& request) {
  auto& table = *reinterpret_cast<RequestTable*>(data_ + header().requests_at);
  table.entries[++table.used] = request;
}

void Segment::add_record(std::uint32_t block, std::string_view record) {
  const RingShape& ring = header().ring;
  LocationHeader& to = location(block);
  const std::uint64_t open = ring.ordinal(to.head);
  const std::uint64_t at = to.head - ring.begin(open);
  if (at + record.size() > ring.bytes) {
    next_sub_buffer(block, to.summary.number);
    return add_record(block, record);
  }
  std::memcpy(sub_buffer(block, open) + sizeof(SubBufferHead) + at, record.data(), record.size());
  to.head += record.size();
}

char* Segment::sub_buffer(std::uint32_t block, std::uint64_t ordinal) {
  return buffer_of(&location(block), row_capacity) + header().ring.place(ordinal);
}

void Segment::next_sub_buffer(std::uint32_t block, std::uint32_t thread) {
  const RingShape& ring = header().ring;
  LocationHeader& of = location(block);
  const std::uint64_t open = ring.ordinal(of.head);
  reinterpret_cast<SubBufferHead*>(sub_buffer(block, open))->bytes = of.head - ring.begin(open);
  *reinterpret_cast<SubBufferHead*>(sub_buffer(block, open + 1)) = {0, thread, 0};
  of.head = ring.begin(open + 1);
}

void Segment::set_drained(std::uint32_t block, Drained drained) { location(block).drained = drained.word(); }

}  // namespace tare::reader::synthetic
