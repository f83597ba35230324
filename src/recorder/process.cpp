#include "recorder/process.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "format/event_codec.h"
#include "format/functions.h"
#include "format/record.h"
#include "format/sample.h"
#include "recorder/drain.h"
#include "recorder/event_cost.h"
#include "recorder/event_types.h"
#include "recorder/identity.h"
#include "recorder/location.h"
#include "recorder/node_file.h"
#include "recorder/step.h"
#include "recorder/system.h"

namespace tare::recorder {

constinit thread_local Location* this_location = nullptr;

namespace {

using format::LocationHeader;
using format::ProcessState;
using format::SegmentHeader;

constexpr std::size_t page = 4096;
constexpr std::uint64_t definition_bytes = 512 * 1024;
// A sub-buffer of this size is one chunk, 4096 calls, or more records of which some are shorter.
constexpr std::uint64_t usual_sub_buffer = 4096 * sizeof(format::CallRecord);
static_assert(usual_sub_buffer / sizeof(format::CompletionRecord) <= format::chunk_records);
constexpr std::uint64_t default_buffer = 2 * usual_sub_buffer;
constexpr std::uint64_t default_tared_buffer = 4 * default_buffer;  // it may be late
constexpr std::uint64_t default_flight_buffer = 4 << 20;
constexpr std::uint64_t smallest_sub_buffer = 4 * 1024;  // takes the longest record and a LossRecord

constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

enum class End : std::uint8_t { none, writing, written };

// All state of the process; plain data, so that it needs no construction and survives every destructor.
struct State {
  std::atomic<SegmentHeader*> header;
  SpinLock lock;  // guards the definition log, the clock pair, the blocks and attaching
  bool failed;
  bool collected_here;  // `tare run` on this host picks the segment up
  Options options;
  pthread_key_t thread_end;
  bool handlers_installed;
  char path[512];                       // of the segment
  std::atomic<std::uint32_t> attempts;  // to record, made by the program itself
  std::atomic<End> end;
  bool complained;  // of a thread without a buffer
  OwnRun own;       // the run that the program began itself; empty strings if none
};
constinit State state{};

// The attempt to record (State::attempts + 1) in which this thread could not get a location, so that it does not try
// again at every call.
constinit thread_local std::uint32_t without_location [[gnu::tls_model("initial-exec")]] = 0;

// Private halves of the blocks, by block number, in pages of 64 that are never moved or freed.
constexpr std::uint32_t per_page = 64;
constexpr std::uint32_t max_pages = 4096;
constinit Location** location_pages[max_pages] = {};

class Locked {
 public:
  Locked() noexcept { state.lock.lock(); }
  ~Locked() { state.lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

LocationHeader* block_at(std::uint32_t block) noexcept;

// Where and how to record.
struct Configuration {
  const char* run_dir;  // nullptr: nowhere
  const char* run_id;
  const char* segment_dir;
  const char* collector;
  const char* tared;  // the program that drains; nullptr: the threads do
  format::RingShape ring;
  std::uint64_t keep_ns;
  bool writes;  // events, or all but that
};

// The event buffer of about `bytes` bytes of records. What is overwritten, drained by tared, or taken by a thread that
// has ended, is a sub-buffer, so there are more and smaller ones where that makes the buffer smaller.
format::RingShape ring_of(std::uint64_t bytes, format::Policy policy, bool has_tared) noexcept {
  if (bytes > UINT32_MAX * usual_sub_buffer) bytes = UINT32_MAX * usual_sub_buffer;
  std::uint64_t each = bytes / (policy == format::Policy::block && !has_tared ? 2 : 8);
  each = each / sizeof(format::SubBufferHead) * sizeof(format::SubBufferHead);
  if (each > usual_sub_buffer) each = usual_sub_buffer;
  if (each < smallest_sub_buffer) each = smallest_sub_buffer;
  const std::uint64_t count = bytes < 2 * each ? 2 : bytes / each;
  return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(each), policy};
}

// Whether what processes of a node share is of use: to drain in step, or by tared.
bool shares(const Configuration& configuration) noexcept {
  if (configuration.ring.count == 0) return false;
  return configuration.ring.policy == format::Policy::block || configuration.tared != nullptr;
}

bool is(const char* variable, const char* value) noexcept {
  const char* text = getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

std::uint64_t number(const char* variable) noexcept {
  const char* text = getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

format::Policy policy_from_environment() noexcept {
  return is("TARE_POLICY", "overwrite") ? format::Policy::overwrite
         : is("TARE_POLICY", "drop")    ? format::Policy::drop
                                        : format::Policy::block;
}

// A flight recorder is not drained.
const char* tared_from_environment() noexcept {
  const char* program = getenv("TARE_DRAIN");
  const bool named = program != nullptr && program[0] == '/';
  return named && policy_from_environment() != format::Policy::overwrite ? program : nullptr;
}

format::RingShape ring_from_environment() noexcept {
  const format::Policy policy = policy_from_environment();
  const bool has_tared = tared_from_environment() != nullptr;
  const std::uint64_t asked = number("TARE_BUFFER");
  const bool flight = policy == format::Policy::overwrite;
  const std::uint64_t usual = flight ? default_flight_buffer : has_tared ? default_tared_buffer : default_buffer;
  return ring_of(asked != 0 ? asked : usual, policy, has_tared);
}

// With a trace or not, as the environment says further.
Configuration configured(const char* run_dir, const char* run_id, const char* segment_dir, const char* collector,
                         bool traced) noexcept {
  return {run_dir,
          run_id,
          segment_dir,
          collector,
          traced ? tared_from_environment() : nullptr,
          traced ? ring_from_environment() : format::RingShape{},
          number("TARE_KEEP_NS"),
          !is("TARE_WRITE", "none")};
}

Configuration configuration_from_environment() noexcept {
  const char* run_dir = getenv("TARE_RUN_DIR");
  const char* segment_dir = getenv("TARE_SEGMENT_DIR");
  return configured(run_dir != nullptr && run_dir[0] == '/' ? run_dir : nullptr, getenv("TARE_RUN_ID"),
                    segment_dir == nullptr ? "/dev/shm" : segment_dir, getenv("TARE_COLLECTOR"), is("TARE_TRACE", "1"));
}

std::uint32_t flags_of(const Configuration& configuration) noexcept {
  if (configuration.ring.count == 0) return 0;
  std::uint32_t flags = format::traced;
  if (!configuration.writes) flags |= format::not_written;
  if (configuration.ring.policy == format::Policy::drop) flags |= format::drops;
  if (configuration.ring.policy == format::Policy::overwrite) flags |= format::overwrites;
  return flags;
}

void describe_process(format::ProcessRecord& p, std::uint64_t name) noexcept {
  p.pid = static_cast<std::uint32_t>(getpid());
  p.process = name;
  p.state = ProcessState::running;
  p.rank = p.size = -1;
  p.exit_code = format::exit_code_unknown;
  p.clock = clock_kind();
  p.tick_shift = static_cast<std::uint8_t>(tick_shift());
  p.clock_start = p.clock_last = read_clock_pair();
  p.realtime_start_ns = read_ns(CLOCK_REALTIME);
  p.attach = now();
  gethostname(p.host, sizeof p.host - 1);
  const ssize_t n = readlink("/proc/self/exe", p.executable, sizeof p.executable - 1);
  if (n < 0) p.executable[0] = '\0';
}

constexpr std::uint64_t requests_at = format::segment_header_bytes + definition_bytes;

std::uint64_t samples_at() noexcept {
  return requests_at + (state.options.requests ? whole_pages(sizeof(format::RequestTable)) : 0);
}

std::uint64_t locations_at() noexcept {
  const std::uint32_t classes = state.options.sample_classes;
  const std::uint64_t bytes = sizeof(format::SampleSummary) + classes * sizeof(format::SampleClass);
  return samples_at() + (classes == 0 ? 0 : whole_pages(bytes));
}

// Creates the segment file in `directory`: head, definition log and request table.
SegmentHeader* create_segment(const char* directory, const char* run_id, std::uint64_t name) noexcept {
  std::snprintf(state.path, sizeof state.path, "%s/tare-%s-%d-%016llx", directory, run_id, static_cast<int>(getpid()),
                static_cast<unsigned long long>(name));
  if (!create_file(state.path)) return nullptr;
  void* memory = map_file(state.path, 0, locations_at());
  if (memory == nullptr) unlink(state.path);
  return static_cast<SegmentHeader*>(memory);
}

void at_thread_end(void* value) noexcept;

// Threads of the parent do not exist in the child, and its segment is not the child's: forget both.
void in_forked_child() noexcept {
  state.lock.reset();
  state.header = nullptr;
  this_location = nullptr;
  without_location = 0;
  state.failed = state.complained = false;
  state.end = End::none;
  release_event_types();
  release_node_file();
  release_encoders();
  for (auto& page : location_pages) page = nullptr;
  forget_thread_names();
  if (state.options.forked != nullptr) state.options.forked();
}

// Registered at the first MPI call, so it runs before the handlers registered earlier; what they and later
// destructors record still reaches the segment.
void at_exit(int status, void*) noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr || header->process.pid != static_cast<std::uint32_t>(getpid())) return;
  header->process.exit_code = status & 0xff;
  if (this_location != nullptr) {
    if (state.options.exiting != nullptr) state.options.exiting(*this_location);
    this_location->note_name();
  }
  header->process.end = now();
  note_clock();
  if (header->process.state != ProcessState::aborted) header->process.state = ProcessState::exited;
}

// quick_exit runs no other handlers, and tells no status.
void at_quick_exit() noexcept { note_exit(format::exit_code_unknown); }

// On a host without a collector the process writes all itself, after its exit handlers.
[[gnu::destructor]] void at_unload() noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr || state.collected_here) return;
  if (header->process.pid != static_cast<std::uint32_t>(getpid())) return;
  state.end = End::writing;
  if (write_everything(*header, block_at)) unlink(state.path);
  fall_out();
  state.end = End::written;
}

void install_handlers() noexcept {
  if (state.handlers_installed) return;
  state.handlers_installed = true;
  pthread_atfork(nullptr, nullptr, in_forked_child);
  on_exit(at_exit, nullptr);
  ::at_quick_exit(at_quick_exit);
  pthread_key_create(&state.thread_end, at_thread_end);
}

// Where there is a collector, it has started one before the program.
void call_or_start_tared(const Configuration& configuration) noexcept {
  node_words->processes.fetch_add(1, std::memory_order_release);
  call_tared();
  if (!state.collected_here)
    start_tared({configuration.tared, configuration.run_dir, configuration.run_id, configuration.segment_dir});
}

bool attach_locked(const Configuration& configuration) noexcept {
  if (configuration.run_dir == nullptr || configuration.run_id == nullptr) return false;
  state.options = default_options();
  choose_clock();
  open_to_group(getenv(group_variable));
  const std::uint64_t name = new_process_name();
  SegmentHeader* header = create_segment(configuration.segment_dir, configuration.run_id, name);
  if (header == nullptr) header = create_segment(configuration.run_dir, configuration.run_id, name);
  if (header == nullptr) {
    complain("no room for a segment, neither in shared memory nor in the run directory: this process is not measured");
    return false;
  }
  header->layout = format::segment_layout;
  header->functions = format::function_count;
  header->definitions_at = format::segment_header_bytes;
  header->definitions_capacity = definition_bytes;
  header->requests_at = state.options.requests ? requests_at : 0;
  header->samples_at = state.options.sample_classes == 0 ? 0 : samples_at();
  header->locations_at = locations_at();
  header->row_capacity = state.options.rows;
  header->ring = configuration.ring;
  header->location_stride = whole_pages(format::buffer_at(state.options.rows) + header->ring.total());
  describe_process(header->process, name);
  header->keep_ns = configuration.ring.policy == format::Policy::overwrite ? configuration.keep_ns : 0;
  header->process.flags = flags_of(configuration);
  set_node_file(configuration.run_dir, header->process.host);
  state.collected_here =
      configuration.collector != nullptr && std::strcmp(configuration.collector, header->process.host) == 0;
  const bool shared = shares(configuration) && (fall_in(configuration.segment_dir, configuration.run_id) ||
                                                fall_in(configuration.run_dir, configuration.run_id));
  header->magic = format::segment_magic;  // last: a reader believes a segment from here on
  if (shared && configuration.tared != nullptr) call_or_start_tared(configuration);
  state.header = header;
  install_handlers();
  return true;
}

Location** location_slot(std::uint32_t block) noexcept {
  if (block / per_page >= max_pages) return nullptr;
  Location**& slots = location_pages[block / per_page];
  if (slots == nullptr) slots = static_cast<Location**>(map_memory(per_page * sizeof(Location*)));
  return slots == nullptr ? nullptr : &slots[block % per_page];
}

LocationHeader* block_at(std::uint32_t block) noexcept {
  const Locked locked;
  Location** slot = location_slot(block);
  return slot == nullptr || *slot == nullptr ? nullptr : (*slot)->shared;
}

// A block whose thread has ended; nullptr if there is none.
Location* free_location(const SegmentHeader& header) noexcept {
  for (std::uint32_t block = 0; block < header.locations; ++block) {
    Location** slot = location_slot(block);
    if (slot != nullptr && *slot != nullptr && (*slot)->shared->summary.in_use == 0) return *slot;
  }
  return nullptr;
}

Location* new_location(SegmentHeader& header) noexcept {
  const std::uint32_t block = header.locations;
  Location** slot = location_slot(block);
  if (slot == nullptr) return nullptr;
  void* memory = map_memory(state.options.location_bytes);
  void* shared = map_file(state.path, header.locations_at + block * header.location_stride, header.location_stride);
  if (memory == nullptr || shared == nullptr) {
    if (memory != nullptr) unmap_memory(memory, state.options.location_bytes);
    if (shared != nullptr) unmap_memory(shared, header.location_stride);
    return nullptr;
  }
  auto* location = static_cast<Location*>(memory);
  location->shared = static_cast<LocationHeader*>(shared);
  location->shared->block = block;
  location->rows = format::rows_of(location->shared);
  location->row_capacity = header.row_capacity;
  location->ring = header.ring;
  location->rows[0].ticks_min = UINT64_MAX;
  location->shared->current.source = format::no_peer;
  location->shared->current.source_tag = format::no_tag;
  location->shared->peers[0].peer = format::no_peer;
  location->shared->phases[0].type = format::other_phase;
  location->phase = &location->shared->phases[format::outside_phases];
  format::LocationSummary& summary = location->shared->summary;
  summary.phase_since = now();
  summary.phase = format::outside_phases;
  summary.phases = format::outside_phases + 1;
  summary.peers = summary.rows = 1;
  *slot = location;
  header.locations.store(block + 1, std::memory_order_release);
  return location;
}

// The end of a thread: its block is free for the next one, once what it recorded has left the buffer. A flight
// recorder's newest events stay in it.
void at_thread_end(void* value) noexcept {
  auto* location = static_cast<Location*>(value);
  const ErrnoGuard guard;
  // After a fork in between, the location belongs to the parent's segment.
  if (state.header == nullptr || this_location != location) return;
  if (state.options.ended != nullptr) state.options.ended(*location);
  location->pause(false);
  location->note_name();
  if (location->ring.policy != format::Policy::overwrite) location->drain();
  location->leave_all_phases();
  this_location = nullptr;
  const Locked locked;
  location->shared->summary.in_use = 0;
}

}  // namespace

format::SegmentHeader* segment() noexcept { return state.header; }

format::RequestTable* request_table() noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr || header->requests_at == 0) return nullptr;
  return reinterpret_cast<format::RequestTable*>(reinterpret_cast<char*>(header) + header->requests_at);
}

format::SampleSummary* sample_summary() noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr || header->samples_at == 0) return nullptr;
  auto* summary = reinterpret_cast<format::SampleSummary*>(reinterpret_cast<char*>(header) + header->samples_at);
  summary->capacity = state.options.sample_classes;
  return summary;
}

const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept {
  const LocationHeader* location = block_at(block);
  return location == nullptr ? nullptr : format::rows_of(location) + row;
}

bool traced() noexcept {
  const SegmentHeader* header = state.header;
  return header != nullptr && header->ring.count != 0;
}

bool wait_if_ended() noexcept {
  while (state.end.load(std::memory_order_acquire) == End::writing) sched_yield();
  return state.end.load(std::memory_order_acquire) == End::written;
}

namespace {

Configuration configuration_of_own_run() noexcept {
  return configured(state.own.directory, state.own.id, state.own.segment_directory, nullptr, true);
}

bool attach_with(const Configuration& configuration) noexcept {
  const ErrnoGuard guard;
  {
    const Locked locked;
    if (state.header != nullptr) return true;
    if (!state.failed) state.failed = !attach_locked(configuration);
    if (state.failed) return false;
  }
  define_event_types();
  return true;
}

}  // namespace

bool attach() noexcept {
  return attach_with(state.own.id[0] == '\0' ? configuration_from_environment() : configuration_of_own_run());
}

bool run_given() noexcept { return getenv("TARE_RUN_DIR") != nullptr || state.own.id[0] != '\0'; }

bool attach_to(const OwnRun& run) noexcept {
  {
    const Locked locked;
    if (state.header != nullptr || state.own.id[0] != '\0') return true;
    state.own = run;
    state.failed = false;  // threads that found nothing to record to look again
    ++state.attempts;
  }
  return attach_with(configuration_of_own_run());
}

Location* start_location() noexcept {
  const std::uint32_t attempt = state.attempts + 1;
  if (without_location == attempt) return nullptr;
  const ErrnoGuard guard;
  // Also a forked child comes here without a segment, and gets one of its own.
  if (!attach()) {
    without_location = attempt;
    return nullptr;
  }
  Location* location = nullptr;
  SegmentHeader& header = *state.header;
  {
    const Locked locked;
    location = free_location(header);
    if (location != nullptr) location->shared->summary.phase_since = now();
    if (location == nullptr) location = new_location(header);
    if (location != nullptr) {
      format::LocationSummary& summary = location->shared->summary;
      summary.number = header.process.threads++;
      summary.thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
      location->drains_seen = node_words->drains.load(std::memory_order_relaxed);
      location->shared->current.function = 0;  // what another thread was in
      summary.in_use = 1;
    }
  }
  if (location == nullptr) {
    without_location = attempt;
    const Locked locked;
    ++header.process.unmeasured_threads;
    if (!std::exchange(state.complained, true))
      complain("no memory for another thread's buffer: this thread is not measured");
    return nullptr;
  }
  if (location->ring.count != 0) location->begin_thread();
  if (state.options.started != nullptr) state.options.started(*location);
  location->inherit_name();
  location->note_name();
  this_location = location;
  pthread_setspecific(state.thread_end, location);
  if (any_event_type()) weigh_events(*location);
  return location;
}

void define(void* head, std::size_t head_bytes, Text first, Text second) noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr) return;
  const std::size_t text_bytes = first.bytes + second.bytes;
  const std::size_t bytes = (head_bytes + text_bytes + 7) / 8 * 8;
  static_cast<format::DefinitionHead*>(head)->bytes = static_cast<std::uint32_t>(bytes);
  const Locked locked;
  const std::uint64_t at = header->definitions_bytes.load(std::memory_order_relaxed);
  if (at + bytes > header->definitions_capacity) {
    ++header->process.definitions_lost;
    return;
  }
  char* out = reinterpret_cast<char*>(header) + header->definitions_at + at;
  std::memcpy(out, head, head_bytes);
  if (first.bytes != 0) std::memcpy(out + head_bytes, first.data, first.bytes);
  if (second.bytes != 0) std::memcpy(out + head_bytes + first.bytes, second.data, second.bytes);
  header->definitions_bytes.store(at + bytes, std::memory_order_release);
}

void note_clock() noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr) return;
  const Locked locked;  // threads that drain at the same time must not mix their pairs
  header->process.clock_last = read_clock_pair();
}

void note_exit(int status) noexcept {
  SegmentHeader* header = state.header;
  // The child of vfork, which shares this memory, is another process.
  if (header == nullptr || header->process.pid != static_cast<std::uint32_t>(getpid())) return;
  format::ProcessRecord& process = header->process;
  if (process.state == ProcessState::exited) return;  // by exit, which ends so
  process.exit_code = status == format::exit_code_unknown ? status : status & 0xff;
  process.end = now();
  if (process.state != ProcessState::aborted) process.state = ProcessState::exited;
}

void note_abort() noexcept {
  SegmentHeader* header = state.header;
  if (header == nullptr) return;
  const ErrnoGuard guard;
  header->process.state = ProcessState::aborted;
  header->process.end = now();
  note_clock();
  if (!state.collected_here) write_everything(*header, block_at);
}

format::ProfileRow& Location::new_row(unsigned slot, std::uint32_t site, std::uint64_t what) noexcept {
  const ErrnoGuard guard;
  // The last quarter of the table is kept for one row a function, without call site, when the rest is full; row 0,
  // "other", for what does not fit even there. Probing stays short with the index not full.
  const std::uint32_t number = shared->summary.rows;
  if (site != 0 && number >= row_capacity - row_capacity / 4) {
    shared->summary.full |= format::full_rows;
    return row(0, static_cast<std::uint16_t>(what), format::no_size, format::no_communicator);
  }
  if (number >= row_capacity) return rows[0];
  format::ProfileRow& row = rows[number];
  row = {};
  row.site = site;
  std::memcpy(&row.function, &what, sizeof what);
  row.ticks_min = UINT64_MAX;
  std::atomic_ref(shared->summary.rows).store(number + 1, std::memory_order_release);
  shared->index[slot] = static_cast<std::uint16_t>(number);
  return row;
}

format::PeerEntry& Location::new_peer(unsigned slot, std::uint64_t key) noexcept {
  const std::uint32_t number = shared->summary.peers;
  if (number == format::peer_capacity) {
    shared->summary.full |= format::full_peers;
    return shared->peers[0];
  }
  std::memcpy(&shared->peers[number], &key, sizeof key);
  std::atomic_ref(shared->summary.peers).store(number + 1, std::memory_order_release);
  shared->peer_index[slot] = static_cast<std::uint16_t>(number);
  return shared->peers[number];
}

}  // namespace tare::recorder
