#include "recorder/process_chunks.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "format/file_table.h"
#include "format/offload_ring.h"
#include "format/sample.h"
#include "format/spell_sums.h"
#include "format/stack_samples.h"
#include "format/weighed.h"
#include "recorder/clock.h"
#include "recorder/event_chunks.h"
#include "recorder/node_file.h"
#include "recorder/outside_drain.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

constinit SpinLock definitions_lock;

// A flight recorder leaves out records before this time, in ticks. It is computed once: if MPI_Abort writes and a later
// end writes again, both begin at the same record.
constinit std::atomic<std::uint64_t> kept_from{0};

// A copy of the counters, because the thread may go on counting.
format::LocationSummary copy_of_summary(const format::LocationHeader& block) noexcept {
  format::LocationSummary own;
  format::TaredTotals tared;
  copy_words(&own, &block.summary, sizeof own);
  copy_words(&tared, &block.tared, sizeof tared);
  return format::summary_of(own, tared);
}

// Writes the summary, rows, peers, phases and the kinds of weighed calls that have any, as one chunk. `left_out_bytes`:
// of records that will not be written.
bool write_profile(const format::SegmentHeader& segment, const format::LocationHeader& block,
                   std::uint64_t left_out_bytes) noexcept {
  format::LocationSummary summary = copy_of_summary(block);
  summary.overwritten_bytes += left_out_bytes;
  format::WeighedCalls weighed[format::weighed_kinds];
  summary.weighed = 0;
  for (std::uint32_t kind = 0; kind < format::weighed_kinds; ++kind) {
    format::WeighedCalls& next = weighed[summary.weighed];
    copy_words(&next, &block.weighed[kind], sizeof next);
    next.kind = kind;
    if (next.first_calls != 0 || next.calls != 0 || next.interrupted != 0) ++summary.weighed;
  }
  const std::size_t rows = summary.rows;
  const std::size_t most = sizeof summary + rows * sizeof(format::ProfileRow) + sizeof block.peers +
                           sizeof block.phases + sizeof weighed + 2 * sizeof block.lookups;
  ChunkMemory memory(most);
  if (!memory) return false;
  char* out = memory.raw();
  const auto put = [&](const void* data, std::size_t bytes) {
    copy_words(out, data, bytes);
    out += bytes;
  };
  put(&summary, sizeof summary);
  put(format::rows_of(&block), rows * sizeof(format::ProfileRow));
  put(block.peers, summary.peers * sizeof(format::PeerEntry));
  put(block.phases, summary.phases * sizeof(format::PhaseEntry));
  put(weighed, summary.weighed * sizeof(format::WeighedCalls));
  for (std::uint64_t function = 0; function < format::max_functions; ++function) {
    format::CountedCalls counted{function, 0};
    copy_words(&counted.calls, &block.lookups[function], sizeof counted.calls);
    if (counted.calls != 0) put(&counted, sizeof counted);
  }
  format::ChunkHeader header = identity(segment, format::ChunkType::profile);
  header.location = header.block = block.block;
  return memory.append(header, memory.raw(), static_cast<std::size_t>(out - memory.raw()));
}

// Writes the calls and open requests of the threads of a process that ends early.
bool write_calls(const format::SegmentHeader& segment, BlockAt* block_at) noexcept {
  if (!format::ended_early(segment.process)) return true;
  const auto* table = segment.requests_at == 0 ? nullptr
                                               : reinterpret_cast<const format::RequestTable*>(
                                                     reinterpret_cast<const char*>(&segment) + segment.requests_at);
  const std::uint32_t used = table == nullptr ? 0 : table->used.load(std::memory_order_acquire);
  ChunkMemory memory(sizeof(format::CallsHead) + segment.locations * sizeof(format::ThreadCall) +
                     used * sizeof(format::RequestEntry));
  if (!memory) return false;
  format::CallsHead head{};
  char* out = memory.raw() + sizeof head;
  const auto put = [&](const void* data, std::size_t bytes) {
    std::memcpy(out, data, bytes);
    out += bytes;
  };
  for (std::uint32_t i = 0; i < segment.locations; ++i) {
    const format::LocationHeader* block = block_at(i);
    if (block == nullptr || block->summary.in_use == 0) continue;
    format::ThreadCall call = format::call_of(block->current, block->others);
    if (call.function == 0) continue;
    call.block = i;
    call.thread = block->summary.number;
    put(&call, sizeof call);
    ++head.threads;
  }
  for (std::uint32_t i = 1; i <= used; ++i) {
    if (table->entries[i].handle == 0) continue;
    put(&table->entries[i], sizeof table->entries[i]);
    ++head.requests;
  }
  std::memcpy(memory.raw(), &head, sizeof head);
  if (head.threads == 0) return true;
  return memory.append(identity(segment, format::ChunkType::calls), memory.raw(),
                       static_cast<std::size_t>(out - memory.raw()));
}

bool write_samples(const format::SegmentHeader& segment) noexcept {
  if (segment.samples_at == 0) return true;
  const char* area = reinterpret_cast<const char*>(&segment) + segment.samples_at;
  const auto& summary = *reinterpret_cast<const format::SampleSummary*>(area);
  const std::size_t bytes = sizeof summary + summary.classes * sizeof(format::SampleClass);
  ChunkMemory memory(bytes);
  return memory && memory.append(identity(segment, format::ChunkType::samples), area, bytes);
}

bool write_spell_sums(const format::SegmentHeader& segment) noexcept {
  if (segment.spell_sums_at == 0) return true;
  const auto& table =
      *reinterpret_cast<const format::SpellSumsTable*>(reinterpret_cast<const char*>(&segment) + segment.spell_sums_at);
  const std::size_t bytes = table.entries * sizeof(format::SpellSums);
  if (bytes == 0) return true;
  ChunkMemory memory(bytes);
  return memory && memory.append(identity(segment, format::ChunkType::spell_sums), table.sums, bytes);
}

bool write_stacks(const format::SegmentHeader& segment) noexcept {
  if (segment.stacks_at == 0) return true;
  const char* area = reinterpret_cast<const char*>(&segment) + segment.stacks_at;
  ChunkMemory memory(format::stack_samples_bytes);
  if (!memory) return false;
  format::StackSamples head;
  copy_words(&head, area, sizeof head);
  head.stacks = 0;
  char* out = memory.raw() + sizeof head;
  for (std::uint32_t slot = 0; slot < format::stack_slots; ++slot) {
    format::SampledStack stack;
    copy_words(&stack, area + sizeof head + slot * sizeof stack, sizeof stack);
    if (stack.samples == 0) continue;
    std::memcpy(out, &stack, sizeof stack);
    out += sizeof stack;
    ++head.stacks;
  }
  std::memcpy(memory.raw(), &head, sizeof head);
  return memory.append(identity(segment, format::ChunkType::stacks), memory.raw(),
                       static_cast<std::size_t>(out - memory.raw()));
}

bool write_files(const format::SegmentHeader& segment) noexcept {
  if (segment.files_at == 0) return true;
  const auto& table =
      *reinterpret_cast<const format::FileTable*>(reinterpret_cast<const char*>(&segment) + segment.files_at);
  ChunkMemory memory(sizeof table);
  if (!memory) return false;
  format::FileTableHead head;
  copy_words(&head, &table.head, sizeof head);
  char* out = memory.raw();
  const auto put = [&](const void* data, std::size_t bytes) {
    copy_words(out, data, bytes);
    out += bytes;
  };
  put(&head, sizeof head);
  put(table.files, head.files * sizeof(format::FileEntry));
  put(table.uses, head.uses * sizeof(format::FileUse));
  put(table.names, (head.name_bytes + 7) / 8 * 8);
  return memory.append(identity(segment, format::ChunkType::files), memory.raw(),
                       static_cast<std::size_t>(out - memory.raw()));
}

bool write_scheduling(const format::SegmentHeader& segment, BlockAt* block_at) noexcept {
  ChunkMemory memory(segment.locations *
                     (sizeof(format::SchedulingSums) + sizeof(format::LocationHeader::scheduling_spans)));
  if (!memory) return false;
  char* out = memory.raw();
  for (std::uint32_t i = 0; i < segment.locations; ++i) {
    const format::LocationHeader* block = block_at(i);
    if (block == nullptr || block->scheduling.readings == 0) continue;
    format::SchedulingSums sums;
    copy_words(&sums, &block->scheduling, sizeof sums);
    sums.block = i;
    sums.spans = std::min(sums.spans, format::max_scheduling_spans);
    std::memcpy(out, &sums, sizeof sums);
    copy_words(out + sizeof sums, block->scheduling_spans, sums.spans * sizeof(format::SchedulingSpan));
    out += sizeof sums + sums.spans * sizeof(format::SchedulingSpan);
  }
  const auto bytes = static_cast<std::size_t>(out - memory.raw());
  return bytes == 0 || memory.append(identity(segment, format::ChunkType::scheduling), memory.raw(), bytes);
}

bool write_offloads(const format::SegmentHeader& segment) noexcept {
  if (segment.offloads_at == 0) return true;
  const char* area = reinterpret_cast<const char*>(&segment) + segment.offloads_at;
  const auto& account = reinterpret_cast<const format::OffloadRing*>(area)->account;
  ChunkMemory memory(sizeof account);
  return memory && memory.append(identity(segment, format::ChunkType::offloads), &account, sizeof account);
}

// Passes on the records that are left in a block whose thread has ended, is blocked for good, or is running while the
// process ends, from the oldest on, until `write` has lost some. The block is not changed. If its thread or a collector
// writes the same records again, they get the same numbers, and a reader keeps the copy with the most records.
template <typename Write>
bool each_left(const format::SegmentHeader& segment, format::LocationHeader& block, const Write& write) noexcept {
  format::RingShape ring = segment.ring;
  if ((block.summary.full & format::kept_newest) != 0) ring.policy = format::Policy::overwrite;
  const std::uint64_t head = block.head.load(std::memory_order_acquire);
  if (ring.count == 0 || head == 0) return true;
  auto* copy = static_cast<std::uint64_t*>(map_memory(ring.bytes));
  if (copy == nullptr) return false;
  const std::uint64_t open = ring.ordinal(head);
  auto drained = format::Drained::of(block.drained.load(std::memory_order_acquire));
  bool written = true;
  while (written && drained.waiting(open) != 0 && drained.waiting(open) <= ring.count) {
    const std::uint64_t ordinal = open + 1 - drained.waiting(open);
    format::SubBufferHead from{};
    if (!copy_sub_buffer(segment, block, ordinal, head, copy, from)) {
      drained = format::Drained::of(block.drained.load(std::memory_order_acquire));
      if (!drained.has_passed(ordinal)) break;  // the values are inconsistent
      continue;
    }
    const char* records = reinterpret_cast<const char*>(copy);
    const std::uint64_t older = format::skip_older(records, from.bytes, kept_from);
    const Written result = write(FirstChunk{block.block, from.thread, drained.sequence}, records, from.bytes, older);
    written = result.lost == 0;
    drained = {static_cast<std::uint32_t>(ordinal + 1), ring.sequence_behind(ordinal, drained.sequence, result.chunks)};
  }
  unmap_memory(copy, ring.bytes);
  return written;
}

// The bytes of the records in a block that a flight recorder leaves out.
std::uint64_t older_bytes(const format::SegmentHeader& segment, format::LocationHeader& block) noexcept {
  std::uint64_t bytes = 0;
  if (kept_from == 0) return bytes;
  each_left(segment, block, [&](const FirstChunk&, const char*, std::uint64_t, std::uint64_t older) {
    bytes += older;
    return Written{};
  });
  return bytes;
}

// Writes the events that are left in a block.
bool write_events(const format::SegmentHeader& segment, format::LocationHeader& block) noexcept {
  return each_left(segment, block,
                   [&](const FirstChunk& first, const char* records, std::uint64_t bytes, std::uint64_t older) {
                     return write_records(segment, first, records + older, bytes - older);
                   });
}

}  // namespace

void reset_process_chunks() noexcept {
  definitions_lock.reset();
  kept_from = 0;
}

bool write_process(const format::SegmentHeader& segment) noexcept {
  ChunkMemory memory(sizeof segment.process);
  return memory &&
         memory.append(identity(segment, format::ChunkType::process), &segment.process, sizeof segment.process);
}

bool write_definitions(format::SegmentHeader& segment) noexcept {
  definitions_lock.lock();
  const std::uint64_t from = segment.definitions_written;
  const std::uint64_t bytes = segment.definitions_bytes.load(std::memory_order_acquire) - from;
  bool written = true;
  if (bytes != 0) {
    ChunkMemory memory(bytes);
    format::ChunkHeader header = identity(segment, format::ChunkType::definitions);
    header.sequence = static_cast<std::uint32_t>(from / 8);
    const char* log = reinterpret_cast<const char*>(&segment) + segment.definitions_at;
    written = memory && memory.append(header, log + from, bytes);
    if (written) segment.definitions_written = from + bytes;
  }
  definitions_lock.unlock();
  return written;
}

bool write_everything(format::SegmentHeader& segment, BlockAt* block_at) noexcept {
  bool written = write_definitions(segment);
  const format::ProcessRecord& process = segment.process;
  if (segment.keep_ns != 0 && kept_from == 0)
    kept_from = format::ticks_before(process.end, segment.keep_ns, process.clock_start, read_clock_pair());
  for (std::uint32_t i = 0; i < segment.locations; ++i) {
    format::LocationHeader* block = block_at(i);
    if (block == nullptr) continue;
    written = write_profile(segment, *block, older_bytes(segment, *block)) && written;
    written = write_events(segment, *block) && written;
  }
  written = write_calls(segment, block_at) && written;
  written = write_samples(segment) && written;
  written = write_spell_sums(segment) && written;
  written = write_stacks(segment) && written;
  written = write_files(segment) && written;
  written = write_scheduling(segment, block_at) && written;
  written = write_offloads(segment) && written;
  return write_process(segment) && written;
}

}  // namespace tare::recorder
