#include "recorder/segment.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "format/functions.h"
#include "format/machine.h"
#include "recorder/clock.h"
#include "recorder/full_buffer.h"
#include "recorder/identity.h"
#include "recorder/maker.h"
#include "recorder/options.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

using format::SegmentHeader;

constexpr std::size_t page = 4096;
constexpr std::uint64_t definition_bytes = 512 * 1024;

constinit std::atomic<SegmentHeader*> own{nullptr};
constinit char path[512] = "";  // of the segment's file
constinit SpinLock clock_lock;

constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

std::uint32_t sample_classes() noexcept {
  return library_options.sample_classes == nullptr ? 0 : library_options.sample_classes();
}

// The size of the ring of snapshots; 0: the run is not monitored.
std::uint64_t offload_bytes(const Configuration& configuration) noexcept {
  const MonitorHooks* monitor = library_options.monitor;
  return monitor == nullptr || configuration.monitor == nullptr ? 0 : monitor->ring_bytes(configuration.monitor);
}

// Offsets of the parts that come before the locations.
struct Layout {
  std::uint64_t requests_at;    // 0: there are none
  std::uint64_t samples_at;     // 0: there are none
  std::uint64_t spell_sums_at;  // 0: there are none
  std::uint64_t offloads_at;    // 0: there are none
  std::uint64_t locations_at;
};

Layout layout_of(std::uint32_t classes, bool has_spells, std::uint64_t offload_bytes) noexcept {
  Layout layout{};
  std::uint64_t at = format::segment_header_bytes + definition_bytes;
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
  layout.locations_at = at;
  return layout;
}

// Creates the file in `directory`, with room for all that comes before the locations.
SegmentHeader* create_file_in(const char* directory, const char* run_id, std::uint64_t name,
                              std::uint64_t bytes) noexcept {
  std::snprintf(path, sizeof path, "%s/tare-%s-%d-%016llx", directory, run_id, static_cast<int>(getpid()),
                static_cast<unsigned long long>(name));
  if (!create_file(path)) return nullptr;
  void* memory = map_file(path, 0, bytes);
  if (memory == nullptr) unlink(path);
  return static_cast<SegmentHeader*>(memory);
}

std::uint32_t process_flags(const Configuration& configuration) noexcept {
  if (configuration.ring.count == 0) return 0;
  return format::traced | (configuration.writes ? 0U : format::not_written) | flags_of(configuration.ring.policy);
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
  p.realtime_start_ns = read_ns(CLOCK_REALTIME);
  p.attach = now();
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
  const Layout layout = layout_of(classes, has_spells, for_monitor);
  SegmentHeader* created = create_file_in(configuration.segment_dir, configuration.run_id, name, layout.locations_at);
  if (created == nullptr)
    created = create_file_in(configuration.run_dir, configuration.run_id, name, layout.locations_at);
  if (created == nullptr) {
    complain("no room for a segment, neither in shared memory nor in the run directory: this process is not measured");
    return nullptr;
  }
  created->maker = become_maker(path);
  created->layout = format::segment_layout;
  created->functions = format::function_count;
  created->definitions_at = format::segment_header_bytes;
  created->definitions_capacity = definition_bytes;
  created->requests_at = layout.requests_at;
  created->samples_at = layout.samples_at;
  created->spell_sums_at = layout.spell_sums_at;
  created->offloads_at = layout.offloads_at;
  created->locations_at = layout.locations_at;
  created->row_capacity = library_options.rows;
  created->ring = configuration.ring;
  const std::uint64_t spans = for_monitor == 0 ? 0 : sizeof(format::SpanEntry) * format::span_capacity;
  created->location_stride = whole_pages(format::spans_at(library_options.rows, configuration.ring) + spans);
  describe_process(created->process, name);
  created->keep_ns = configuration.ring.policy == format::Policy::overwrite ? configuration.keep_ns : 0;
  created->process.flags = process_flags(configuration);
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

format::LocationHeader* map_block(std::uint32_t block) noexcept {
  const SegmentHeader& header = *own;
  const std::uint64_t at = header.locations_at + block * header.location_stride;
  return static_cast<format::LocationHeader*>(map_file(path, at, header.location_stride));
}

void unmap_block(format::LocationHeader* block) noexcept { unmap_memory(block, segment()->location_stride); }

void remove_segment_file() noexcept { unlink(path); }

void forget_segment() noexcept {
  clock_lock.reset();
  own = nullptr;
}

}  // namespace tare::recorder
