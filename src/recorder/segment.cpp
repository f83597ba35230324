#include "recorder/segment.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "format/file_table.h"
#include "format/functions.h"
#include "format/machine.h"
#include "format/segment_name.h"
#include "format/stack_samples.h"
#include "recorder/buffer_policy.h"
#include "recorder/clock.h"
#include "recorder/event_buffer_size.h"
#include "recorder/identity.h"
#include "recorder/maker.h"
#include "recorder/room.h"
#include "recorder/sources.h"
#include "recorder/system.h"
#include "recorder/warning.h"

namespace tare::recorder {
namespace {

using format::SegmentHeader;

constexpr std::size_t page = 4096;
// Threads whose blocks a segment in shared memory has claimed from the start, if there are as many processors.
constexpr std::uint32_t claimed_threads = 8;

constinit std::atomic<SegmentHeader*> own{nullptr};
constinit char path[PATH_MAX] = "";                // of the segment's file
constinit const char* shared_directory = nullptr;  // where it lies, if that is shared memory
constinit std::uint64_t claimed_bytes = 0;         // of shared memory (room.h)
constinit SpinLock clock_lock;

constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

std::uint32_t sample_classes() noexcept {
  const auto classes = only_hook<&Source::sample_classes>();
  return classes == nullptr ? 0 : classes();
}

// The size of the ring of snapshots; 0: the run is not monitored.
std::uint64_t offload_bytes(const Configuration& configuration) noexcept {
  const MonitorHooks* monitor = library_options.monitor;
  return monitor == nullptr || configuration.monitor == nullptr ? 0 : monitor->ring_bytes(configuration.monitor);
}

template <auto hook>
bool is_wanted() noexcept {
  const auto asked = only_hook<hook>();
  return asked != nullptr && asked();
}
bool samples_stacks() noexcept { return is_wanted<&Source::samples_stacks>(); }
bool counts_files() noexcept { return is_wanted<&Source::counts_files>(); }

// How much a segment holds, and the ProcessFlags that say what was reduced.
struct Size {
  format::RingShape ring;
  std::uint32_t rows;
  std::uint64_t definition_bytes;
  std::uint32_t reduced;
};

// What is tried one after the other until there is room: all that was asked for, a smaller event buffer, the profile
// alone, a small profile.
constexpr unsigned sizes = 5;

Size size_of(unsigned attempt, const Configuration& configuration) noexcept {
  constexpr std::uint64_t definition_bytes = 512 * 1024;
  // Stacks are more, and longer, than the paths of calls. They take half of the log at most.
  constexpr std::uint64_t with_stacks = 2048 * 1024;
  constexpr std::uint64_t few_definition_bytes = 64 * 1024;
  constexpr std::uint32_t few_rows = 512;
  Size size{configuration.ring, library_options.rows, samples_stacks() ? with_stacks : definition_bytes, 0};
  if (attempt == 1 || attempt == 2) {
    const unsigned divisor = attempt == 1 ? 4 : 16;
    size.ring = ring_of(configuration.ring.total() / divisor, configuration.ring.policy, configuration.drains,
                        configuration.budget != nullptr);
    size.reduced |= format::small_buffer;
  }
  if (attempt >= 3) {
    size.ring = {};
    if (configuration.ring.count != 0) size.reduced |= format::no_buffer;
  }
  if (attempt == 4) {
    if (size.rows > few_rows) size.rows = few_rows;
    size.definition_bytes = few_definition_bytes;
    size.reduced |= format::small_profile;
  }
  return size;
}

// Whether an attempt needs less memory than the one before it.
bool is_smaller(unsigned attempt, const Configuration& configuration) noexcept {
  const std::uint64_t asked = configuration.ring.total();
  return attempt == 0 || attempt == 4 ||
         (asked != 0 &&
          size_of(attempt, configuration).ring.total() < size_of(attempt - 1, configuration).ring.total());
}

// Offsets of the parts that come before the locations.
struct Layout {
  std::uint64_t requests_at;    // 0: there are none
  std::uint64_t samples_at;     // 0: there are none
  std::uint64_t spell_sums_at;  // 0: there are none
  std::uint64_t offloads_at;    // 0: there are none
  std::uint64_t stacks_at;      // 0: there are none
  std::uint64_t files_at;       // 0: there is no table of files
  std::uint64_t locations_at;
  std::uint64_t location_stride;
};

Layout layout_of(const Size& size, std::uint32_t classes, bool has_spells, std::uint64_t offload_bytes) noexcept {
  Layout layout{};
  std::uint64_t at = format::segment_header_bytes + size.definition_bytes;
  if (library_options.requests) {
    layout.requests_at = at;
    at += whole_pages(sizeof(format::RequestTable));
  }
  if (classes != 0) {
    layout.samples_at = at;
    at += whole_pages(sizeof(format::SampleSummary) + classes * sizeof(format::SampleClass));
  }
  if (has_spells) {
    layout.spell_sums_at = at;
    at += whole_pages(sizeof(format::SpellSumsTable));
  }
  if (offload_bytes != 0) {
    layout.offloads_at = at;
    at += whole_pages(sizeof(format::OffloadRing) + offload_bytes);
  }
  if (samples_stacks()) {
    layout.stacks_at = at;
    at += whole_pages(format::stack_samples_bytes);
  }
  if (counts_files()) {
    layout.files_at = at;
    at += whole_pages(sizeof(format::FileTable));
  }
  layout.locations_at = at;
  const std::uint64_t spans = offload_bytes == 0 ? 0 : sizeof(format::SpanEntry) * format::span_capacity;
  layout.location_stride = whole_pages(format::spans_at(size.rows, size.ring) + spans);
  return layout;
}

// Creates the file in `directory`, with room for the first location and all that comes before it, and maps the latter.
// `threads`: claims room for as many in shared memory; 0: the directory is the run's.
SegmentHeader* create_file_in(const char* directory, const char* run_id, std::uint64_t name, const Layout& layout,
                              std::uint32_t threads) noexcept {
  std::snprintf(path, sizeof path, "%s/%s%s-%d-%016llx", directory, format::segment_prefix, run_id,
                static_cast<int>(getpid()), static_cast<unsigned long long>(name));
  if (!create_file(path)) return nullptr;
  shared_directory = threads == 0 ? nullptr : directory;
  claimed_bytes = layout.locations_at + threads * layout.location_stride;
  void* memory = nullptr;
  if ((threads == 0 || claim_room(directory, path, claimed_bytes)) &&
      reserve_file(path, layout.locations_at + layout.location_stride))
    memory = map_file(path, 0, layout.locations_at);
  if (memory == nullptr) remove_file(path);
  return static_cast<SegmentHeader*>(memory);
}

std::uint32_t process_flags(const Configuration& configuration, const Size& size) noexcept {
  if (size.ring.count == 0) return size.reduced;
  return size.reduced | format::traced | (configuration.writes ? 0U : format::not_written) | flags_of(size.ring.policy);
}

format::SampleSummary* samples_of(SegmentHeader& segment) noexcept {
  return segment.samples_at == 0
             ? nullptr
             : reinterpret_cast<format::SampleSummary*>(reinterpret_cast<char*>(&segment) + segment.samples_at);
}

format::OffloadRing* offloads_of(SegmentHeader& segment) noexcept {
  return segment.offloads_at == 0
             ? nullptr
             : reinterpret_cast<format::OffloadRing*>(reinterpret_cast<char*>(&segment) + segment.offloads_at);
}

void describe_process(format::ProcessRecord& p, std::uint64_t name) noexcept {
  p.pid = static_cast<std::uint32_t>(getpid());
  p.process = name;
  p.state = format::ProcessState::running;
  p.rank = p.size = -1;
  p.exit_code = format::exit_code_unknown;
  p.clock = clock_kind();
  p.tick_shift = static_cast<std::uint8_t>(tick_shift());
  p.clock_start = p.clock_last = read_clock_pair();
  p.realtime_start_ns = realtime_at(p.clock_start.monotonic_ns);
  p.attach = now();
  p.before_attach_us = us_since_load(p.clock_start.monotonic_ns);
  gethostname(p.host, sizeof p.host - 1);
  const ssize_t n = readlink("/proc/self/exe", p.executable, sizeof p.executable - 1);
  if (n < 0) p.executable[0] = '\0';
}

}  // namespace

SegmentHeader* segment() noexcept { return own; }

format::RequestTable* request_table() noexcept {
  SegmentHeader* header = own;
  if (header == nullptr || header->requests_at == 0) return nullptr;
  return reinterpret_cast<format::RequestTable*>(reinterpret_cast<char*>(header) + header->requests_at);
}

format::SampleSummary* sample_summary() noexcept {
  SegmentHeader* header = own;
  return header == nullptr ? nullptr : samples_of(*header);
}

format::SpellSumsTable* spell_sums() noexcept {
  SegmentHeader* header = own;
  if (header == nullptr || header->spell_sums_at == 0) return nullptr;
  return reinterpret_cast<format::SpellSumsTable*>(reinterpret_cast<char*>(header) + header->spell_sums_at);
}

format::StackSamples* stack_samples() noexcept {
  SegmentHeader* header = own;
  if (header == nullptr || header->stacks_at == 0) return nullptr;
  return reinterpret_cast<format::StackSamples*>(reinterpret_cast<char*>(header) + header->stacks_at);
}

format::FileTable* file_table() noexcept {
  SegmentHeader* header = own;
  if (header == nullptr || header->files_at == 0) return nullptr;
  return reinterpret_cast<format::FileTable*>(reinterpret_cast<char*>(header) + header->files_at);
}

format::OffloadRing* offload_ring() noexcept {
  SegmentHeader* header = own;
  return header == nullptr ? nullptr : offloads_of(*header);
}

format::SpanEntry* spans_of(format::LocationHeader* block) noexcept {
  const SegmentHeader* header = own;
  if (header == nullptr || header->offloads_at == 0) return nullptr;
  return reinterpret_cast<format::SpanEntry*>(reinterpret_cast<char*>(block) +
                                              format::spans_at(header->row_capacity, header->ring));
}

bool traced() noexcept {
  const SegmentHeader* header = own;
  return header != nullptr && header->ring.count != 0;
}

void note_clock() noexcept {
  SegmentHeader* header = own;
  if (header == nullptr) return;
  const Locked locked(clock_lock);  // two pairs that are written at the same time must not mix
  header->process.clock_last = read_clock_pair();
}

SegmentHeader* create_segment(const Configuration& configuration) noexcept {
  const std::uint64_t name = new_process_name();
  const std::uint32_t classes = sample_classes();
  const std::uint64_t for_monitor = offload_bytes(configuration);
  const bool has_spells = configuration.weigh != nullptr || configuration.budget != nullptr;
  const std::uint32_t threads = std::min(processors(), claimed_threads);
  const bool has_shared_memory = std::strcmp(configuration.segment_dir, configuration.run_dir) != 0;
  SegmentHeader* created = nullptr;
  errno = 0;
  Size size{};
  Layout layout{};
  for (unsigned attempt = 0; attempt < sizes && created == nullptr; ++attempt) {
    if (!is_smaller(attempt, configuration)) continue;
    size = size_of(attempt, configuration);
    layout = layout_of(size, classes, has_spells, for_monitor);
    if (has_shared_memory)
      created = create_file_in(configuration.segment_dir, configuration.run_id, name, layout, threads);
    if (created == nullptr) created = create_file_in(configuration.run_dir, configuration.run_id, name, layout, 0);
  }
  if (created == nullptr) {
    warn(errno == EFBIG
             ? "the limit of the size of files (ulimit -f) leaves no room for a segment: this process is not measured"
             : "no room for a segment, neither in shared memory nor in the run directory (tare run -o DIR): this "
               "process is not measured");
    return nullptr;
  }
  created->maker = become_maker(path);
  created->layout = format::segment_layout;
  created->functions = format::function_count;
  created->definitions_at = format::segment_header_bytes;
  created->definitions_capacity = size.definition_bytes;
  created->requests_at = layout.requests_at;
  created->samples_at = layout.samples_at;
  created->spell_sums_at = layout.spell_sums_at;
  created->offloads_at = layout.offloads_at;
  created->stacks_at = layout.stacks_at;
  created->files_at = layout.files_at;
  created->locations_at = layout.locations_at;
  created->row_capacity = size.rows;
  created->ring = size.ring;
  created->location_stride = layout.location_stride;
  if (configuration.run_key != nullptr)
    std::strncpy(created->run_key.digits, configuration.run_key, sizeof created->run_key.digits - 1);
  describe_process(created->process, name);
  created->process.machine = static_cast<std::uint32_t>(created->maker.machine);
  created->keep_ns = size.ring.policy == format::Policy::overwrite ? configuration.keep_ns : 0;
  created->process.flags = process_flags(configuration, size);
  if (format::SampleSummary* samples = samples_of(*created)) samples->capacity = classes;
  if (format::OffloadRing* offloads = offloads_of(*created)) offloads->bytes = for_monitor;
  return created;
}

bool is_seen_by(const char* collector, const SegmentHeader& created) noexcept {
  char directory[sizeof path];
  std::memcpy(directory, path, sizeof path);
  if (char* slash = std::strrchr(directory, '/')) *slash = '\0';
  return collector_has(collector, "memory", format::shared_memory_name(directory)) &&
         (created.maker.is_marked != 0 || collector_has(collector, "pids", created.maker.pid_namespace));
}

void use_segment(SegmentHeader* created) noexcept { own = created; }

format::LocationHeader* map_block(std::uint32_t block, bool& has_buffer) noexcept {
  const SegmentHeader& header = *own;
  const std::uint64_t at = header.locations_at + block * header.location_stride;
  has_buffer = header.ring.count != 0;
  // What the rule forbids in a whole may be possible without the buffer.
  const bool claimed = shared_directory == nullptr || at + header.location_stride <= claimed_bytes;
  void* memory = nullptr;
  if (claimed || leaves_half(shared_directory, header.location_stride))
    memory = map_file(path, at, header.location_stride);
  if (memory == nullptr && has_buffer) {
    const std::size_t from = whole_pages(format::buffer_at(header.row_capacity));
    const std::size_t to = format::spans_at(header.row_capacity, header.ring) / page * page;
    has_buffer = false;
    if (from < to &&
        (shared_directory == nullptr || leaves_half(shared_directory, header.location_stride - (to - from))))
      memory = map_file(path, at, header.location_stride, {from, to - from});
  }
  return static_cast<format::LocationHeader*>(memory);
}

void unmap_block(format::LocationHeader* block) noexcept { unmap_memory(block, segment()->location_stride); }

void remove_segment_file() noexcept { remove_file(path); }

void reset_segment() noexcept {
  clock_lock.reset();
  own = nullptr;
}

}  // namespace tare::recorder
