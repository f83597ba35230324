#include <algorithm>
#include <cstring>

#include "format/chunk_writer.h"
#include "format/column.h"
#include "format/event_codec.h"
#include "format/record_kind.h"
#include "format/sequence.h"
#include "format/signature.h"
#include "format/spans.h"
#include "format/started_requests.h"
#include "processor/extensions.h"

namespace tare::format {
namespace {

using Group = RecordGroup;

// A record has one kind, so the columns of all kinds share the room. Each type of event has columns of its own.
constexpr unsigned max_columns = 10 + 2 + 2 + max_parameters;
constexpr std::size_t max_event_shapes = 255;  // of events, and of source calls, in one chunk
constexpr std::size_t max_text = 128 * 1024;   // bytes of raw events in one chunk
constexpr std::size_t payload_head = 10 * 4 + 8;
constexpr std::size_t raw_bound = payload_head + max_columns * column_bound(chunk_records) +
                                  2 * (max_event_shapes * max_parameters + 32) * column_bound(0) + max_text;
constexpr std::size_t span_bytes = chunk_records + SpanWriter::bits_bound(chunk_records);

// How far ahead records are prefetched, in bytes. The program's data has evicted them since they were written, and the
// processor's own prefetching ends at each page.
constexpr std::size_t records_ahead = 2048;

constexpr std::int64_t as_signed(std::uint64_t value) noexcept { return static_cast<std::int64_t>(value); }
constexpr std::int64_t low_half(std::uint64_t word) noexcept { return static_cast<std::int32_t>(word); }
constexpr std::int64_t high_half(std::uint64_t word) noexcept { return static_cast<std::int32_t>(word >> 32); }

// Records of a group that have parameters: events, or source calls. Their shape is their type and number of parameters.
struct Shaped {
  std::uint32_t at[chunk_records];  // offsets in the buffer
  std::uint8_t shape[chunk_records];
  std::uint64_t shapes[max_event_shapes];  // type and words
};

}  // namespace

struct alignas(64) EventEncoder::Workspace {
  std::int64_t column[4][chunk_records];
  std::uint32_t started[chunk_records];  // requests that were started, or completed_in_chunk
  OtherValues<chunk_records> outliving;  // of them: those that outlive the chunk
  OtherValues<chunk_records> steps;      // of completions: those that are not 0
  OtherValues<chunk_records> earlier;    // and requests that were started before the chunk
  SignatureTable signatures;
  SequenceTables<chunk_records> sequence;
  StartedRequests requests;
  unsigned char spans[span_bytes];  // widths, and from chunk_records on the bits
  unsigned char order[chunk_records];
  Shaped events, source_calls;
  char raw[raw_bound];
  alignas(64) char chunk[sizeof(ChunkHeader) + chunk_payload_bound(raw_bound, span_bytes)];
  ZSTD_CCtx_s* context;
  // The compression context lies behind.
};

namespace {

using Workspace = EventEncoder::Workspace;

// What the pass over the records finds, in addition to the content of the workspace.
struct Scan {
  std::uint32_t counts[Group::count] = {};
  std::uint32_t misses = 0;
  unsigned event_shapes = 0, call_shapes = 0;
  std::uint64_t time_base = 0;
  std::size_t consumed = 0;  // bytes of records
  std::size_t records = 0;
  unsigned char* spans_end = nullptr;
};

// Finds the shape of the i-th record of a group among those of the chunk. False if there are too many.
bool note_shape(Shaped& of, const char* at, std::size_t offset, std::size_t i, unsigned& shapes) noexcept {
  EventRecord record;  // a SourceCallRecord begins like it
  std::memcpy(&record, at, sizeof record);
  const std::uint64_t shape = std::uint64_t{record.type} << 16 | record.head.words;
  unsigned k = i == 0 ? 0 : of.shape[i - 1];  // often the same as before
  if (k >= shapes || of.shapes[k] != shape)
    for (k = 0; k < shapes && of.shapes[k] != shape;) ++k;
  if (k == max_event_shapes) return false;
  if (k == shapes) of.shapes[shapes++] = shape;
  of.at[i] = static_cast<std::uint32_t>(offset);
  of.shape[i] = static_cast<std::uint8_t>(k);
  return true;
}

// The first time in the records; 0 if there is none.
std::uint64_t first_time(const char* at, std::size_t bytes) noexcept {
  while (bytes >= sizeof(RecordHead)) {
    RecordHead head;
    std::memcpy(&head, at, sizeof head);
    const std::size_t size = size_of_record(at, bytes);
    if (size == 0) break;
    const unsigned group = group_of(head.kind);
    if (group != Group::completions && group != Group::starts) return first_word(at + 8);
    at += size;
    bytes -= size;
  }
  return 0;
}

// One pass over the records, for calls and completions, which are nearly all; the other kinds are gathered afterwards.
// Its state is in local variables, and is little, so that the compiler keeps it in registers. It is compiled twice,
// because it shifts by variable numbers: with BMI2 such a shift is one instruction, without it three.
[[gnu::always_inline]] inline Scan scan_body(Workspace& w, const char* const records, const std::size_t bytes,
                                             const unsigned tick_shift) noexcept {
  Scan result;
  const char* const end = records + bytes;
  const char* at = records;
  std::uint32_t others = 0;        // records that are not in the sequence
  std::int64_t start_before = -1;  // start of the completion before
  std::size_t text = 0;
  SequenceWriter<chunk_records> sequence(w.sequence, w.signatures.count);
  w.signatures.clear();
  w.requests.clear();
  w.steps.clear();
  w.earlier.clear();
  SpanWriter spans;
  spans.begin(w.spans, w.spans + chunk_records);
  result.time_base = first_time(records, bytes) >> tick_shift;
  std::uint64_t leave_before = result.time_base;  // of the call before

  const auto add_to_sequence = [&](const auto& record, unsigned group) __attribute__((always_inline)) {
    w.order[sequence.count() + others] = static_cast<unsigned char>(group);
    const std::uint32_t expected = sequence.expected();
    if (has(record, w.signatures.entries[expected])) [[likely]]
      return sequence.add_expected(expected);
    sequence.add_unexpected(w.signatures.number_of(record));
  };
  const auto add_start = [&](std::uint32_t request) __attribute__((always_inline)) {
    if (request == no_request) return;
    w.started[w.requests.starts] = request;
    w.requests.start(request);
  };
  const auto add_call = [&](const CallRecord& call) __attribute__((always_inline)) {
    add_to_sequence(call, Group::calls);
    const std::uint64_t enter = call.enter >> tick_shift;
    const std::uint64_t leave = call.leave >> tick_shift;
    spans.add(enter - leave_before, leave - enter);
    leave_before = leave;
    add_start(call.request);
  };
  const auto completions = [&] {
    return static_cast<std::uint32_t>(sequence.count() - spans.count(w.spans) - result.counts[Group::starts]);
  };
  const auto add_completion = [&](const CompletionRecord& completed, bool foreign) __attribute__((always_inline)) {
    // A foreign completion does not refer to this thread's request with the same number.
    const std::uint32_t found = foreign ? 0 : w.requests.complete(completed.request);
    const bool here = found != 0;
    const std::int64_t start = here ? std::int64_t{found} - 1 : start_before + 1;
    if (start != start_before + 1) w.steps.add(completions(), start - start_before - 1);
    start_before = start;
    if (here) [[likely]]
      w.started[start] = completed_in_chunk;
    else
      w.earlier.add(completions(), std::max(completed.request, 1U));
    add_to_sequence(completed, Group::completions);
  };
  // False if the chunk has no room for it.
  const auto add_other = [&](unsigned group, std::size_t size) {
    if (group == Group::starts) {
      const auto& started = *reinterpret_cast<const StartRecord*>(at);
      add_to_sequence(started, group);
      add_start(started.request);
      ++result.counts[group];
      return true;
    }
    const auto offset = static_cast<std::size_t>(at - records);
    if (group == Group::events && !note_shape(w.events, at, offset, result.counts[group], result.event_shapes))
      return false;
    if (group == Group::source_calls &&
        !note_shape(w.source_calls, at, offset, result.counts[group], result.call_shapes))
      return false;
    if (group == Group::raw_events) {
      if (text + size > max_text) return false;
      text += size;
    }
    w.order[sequence.count() + others++] = static_cast<unsigned char>(group);
    ++result.counts[group];
    return true;
  };

  constexpr std::uint32_t call_head = sizeof(CallRecord) / 8 << 16;
  constexpr std::uint32_t completion_head = sizeof(CompletionRecord) / 8 << 16 | completion;
  while (sequence.count() + others < chunk_records) {
    const auto left = static_cast<std::size_t>(end - at);
    __builtin_prefetch(at + records_ahead);
    if (left >= sizeof(CallRecord)) [[likely]] {  // the two most frequent kinds first
      std::uint32_t head;
      std::memcpy(&head, at, sizeof head);
      if ((head & ~(first_other - 1U)) == call_head) {
        add_call(*reinterpret_cast<const CallRecord*>(at));
        at += sizeof(CallRecord);
        continue;
      }
      if (head == completion_head) {
        add_completion(*reinterpret_cast<const CompletionRecord*>(at), false);
        at += sizeof(CompletionRecord);
        continue;
      }
    }
    if (left < sizeof(RecordHead)) break;
    const std::size_t size = size_of_record(at, left);
    if (size == 0) break;
    RecordHead head;
    std::memcpy(&head, at, sizeof head);
    const unsigned group = group_of(head.kind);
    if (group == Group::calls)
      add_call(*reinterpret_cast<const CallRecord*>(at));
    else if (group == Group::completions)
      add_completion(*reinterpret_cast<const CompletionRecord*>(at), head.kind == foreign_completion);
    else if (!add_other(group, size))
      break;
    at += size;
  }
  result.counts[Group::calls] = static_cast<std::uint32_t>(spans.count(w.spans));
  result.counts[Group::completions] = completions();
  result.misses = sequence.misses();
  result.consumed = static_cast<std::size_t>(at - records);
  result.records = sequence.count() + others;
  result.spans_end = spans.finish();
  return result;
}

Scan scan_anywhere(Workspace& w, const char* records, std::size_t bytes, unsigned tick_shift) noexcept {
  return scan_body(w, records, bytes, tick_shift);
}
TARE_BITS Scan scan_with_bits(Workspace& w, const char* records, std::size_t bytes, unsigned tick_shift) noexcept {
  return scan_body(w, records, bytes, tick_shift);
}
Scan scan(Workspace& w, const char* records, std::size_t bytes, unsigned tick_shift) noexcept {
  return processor::has_bits() ? scan_with_bits(w, records, bytes, tick_shift)
                               : scan_anywhere(w, records, bytes, tick_shift);
}

// Writes the result of the scan as columns, in the order of event_codec.h. Columns without values are left out.
class ColumnWriter {
 public:
  ColumnWriter(Workspace& w, const Scan& scan, const char* records, unsigned tick_shift) noexcept
      : w_(w), scan_(scan), records_(records), tick_shift_(tick_shift), out_(w.raw) {}

  // Returns the end of the payload in the workspace's `raw`.
  char* write() noexcept {
    write_head();
    write_signatures();
    write_sequence();
    write_requests();
    write_flushes_and_losses();
    write_events();
    write_raw_events();
    write_source_calls();
    return out_;
  }

 private:
  template <class Value>
  void put(const Value& value) noexcept {
    std::memcpy(out_, &value, sizeof value);
    out_ += sizeof value;
  }

  template <class ValueAt>
  void column(std::size_t rows, ValueAt value_at) noexcept {
    if (rows == 0) return;
    for (std::size_t i = 0; i < rows; ++i) w_.column[0][i] = value_at(i);
    out_ = encode_column(w_.column[0], rows, out_);
  }

  void sparse_column(const OtherValues<chunk_records>& others, std::size_t rows, std::int64_t usual) noexcept {
    if (rows == 0) return;
    out_ = encode_sparse_column(others.places, others.values, others.count, rows, usual, w_.column[0], out_);
  }

  template <class Field>
  void signature_column(Field field) noexcept {
    column(w_.signatures.count, [&](std::size_t i) { return field(w_.signatures.entries[i]); });
  }

  // Calls visit(record) for each record of a group, in order.
  template <class Record, class Visit>
  void for_each(unsigned group, Visit visit) noexcept {
    if (scan_.counts[group] == 0) return;
    const char* at = records_;
    for (std::size_t i = 0; i < scan_.records; ++i) {
      RecordHead head;
      std::memcpy(&head, at, sizeof head);
      if (w_.order[i] == group) visit(*reinterpret_cast<const Record*>(at));
      at += head.words * std::size_t{8};
    }
  }

  void write_columns(unsigned width, std::size_t rows) noexcept {
    if (rows == 0) return;
    for (unsigned c = 0; c < width; ++c) out_ = encode_column(w_.column[c], rows, out_);
  }

  void write_head() noexcept {
    put(scan_.counts);
    put(w_.signatures.count);
    put(scan_.misses);
    put(scan_.time_base);
  }

  void write_signatures() noexcept {
    signature_column([](const Signature& s) { return as_signed(s.what & 0xffff); });
    signature_column([](const Signature& s) { return as_signed(s.what >> 32); });
    signature_column([](const Signature& s) { return low_half(s.peer_tag); });
    signature_column([](const Signature& s) { return high_half(s.peer_tag); });
    signature_column([](const Signature& s) { return as_signed(s.bytes); });
    signature_column([](const Signature& s) { return as_signed(s.communicator & 0xffffffff); });
    signature_column([](const Signature& s) { return as_signed(s.received); });
    signature_column([](const Signature& s) { return low_half(s.source_tag); });
    signature_column([](const Signature& s) { return high_half(s.source_tag); });
    signature_column([](const Signature& s) { return as_signed(s.communicator >> 32); });
  }

  void write_sequence() noexcept {
    column(scan_.misses, [&](std::size_t i) { return std::int64_t{w_.sequence.runs[i]}; });
    column(scan_.misses, [&](std::size_t i) { return std::int64_t{w_.sequence.missed[i]}; });
  }

  void write_requests() noexcept {
    const std::uint32_t starts = w_.requests.starts;
    w_.outliving.clear();
    for (std::size_t i = 0; i < starts; ++i)
      if (w_.started[i] != completed_in_chunk) [[unlikely]]
        w_.outliving.add(i, w_.started[i]);
    sparse_column(w_.outliving, starts, completed_in_chunk);
    const std::uint32_t completions = scan_.counts[Group::completions];
    sparse_column(w_.steps, completions, 0);
    sparse_column(w_.earlier, completions, no_request);
  }

  void write_flushes_and_losses() noexcept {
    const auto span = [&](const auto& record, std::size_t i) {
      w_.column[0][i] = as_signed((record.enter >> tick_shift_) - scan_.time_base);
      w_.column[1][i] = as_signed((record.leave >> tick_shift_) - (record.enter >> tick_shift_));
      w_.column[2][i] = as_signed(record.records);
    };
    std::size_t flushes = 0;
    for_each<FlushRecord>(Group::flushes, [&](const FlushRecord& record) {
      w_.column[3][flushes] = as_signed(record.bytes);
      span(record, flushes++);
    });
    write_columns(4, flushes);
    std::size_t losses = 0;
    for_each<LossRecord>(Group::losses, [&](const LossRecord& record) { span(record, losses++); });
    write_columns(3, losses);
  }

  void write_events() noexcept {
    const std::size_t count = scan_.counts[Group::events];
    std::uint64_t previous = scan_.time_base;
    for (std::size_t i = 0; i < count; ++i) {
      EventRecord record;
      std::memcpy(&record, records_ + w_.events.at[i], sizeof record);
      w_.column[0][i] = record.type;
      w_.column[1][i] = record.head.words - static_cast<int>(sizeof record / 8);
      w_.column[2][i] = as_signed((record.time >> tick_shift_) - previous);
      previous = record.time >> tick_shift_;
    }
    write_columns(3, count);
    write_parameters(w_.events, scan_.event_shapes, count, sizeof(EventRecord));
  }

  void write_source_calls() noexcept {
    const std::size_t count = scan_.counts[Group::source_calls];
    const auto each = [&](auto visit) {
      for (std::size_t i = 0; i < count; ++i) {
        SourceCallRecord record;
        std::memcpy(&record, records_ + w_.source_calls.at[i], sizeof record);
        visit(record, i);
      }
    };
    std::uint64_t previous = scan_.time_base;
    each([&](const SourceCallRecord& record, std::size_t i) {
      w_.column[0][i] = record.function;
      w_.column[1][i] = record.head.words - static_cast<int>(sizeof record / 8);
      w_.column[2][i] = as_signed((record.enter >> tick_shift_) - previous);
      w_.column[3][i] = as_signed((record.leave >> tick_shift_) - (record.enter >> tick_shift_));
      previous = record.enter >> tick_shift_;
    });
    write_columns(4, count);
    each([&](const SourceCallRecord& record, std::size_t i) {
      w_.column[0][i] = record.site;
      w_.column[1][i] = record.object;
    });
    write_columns(2, count);
    write_parameters(w_.source_calls, scan_.call_shapes, count, sizeof(SourceCallRecord));
  }

  // The parameters of the records of a group, which stand behind `head` bytes: for each shape a column for each.
  void write_parameters(const Shaped& of, unsigned shapes, std::size_t records, std::size_t head) noexcept {
    for (unsigned k = 0; k < shapes; ++k) {
      const auto parameters = static_cast<unsigned>(of.shapes[k] & 0xffff) - head / 8;
      for (unsigned p = 0; p < parameters; ++p) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < records; ++i)
          if (of.shape[i] == k) std::memcpy(&w_.column[0][n++], records_ + of.at[i] + head + std::size_t{8} * p, 8);
        out_ = encode_shorter_column(w_.column[0], n, w_.column[1], out_);
      }
    }
  }

  void write_raw_events() noexcept {
    std::uint64_t previous = scan_.time_base;
    std::size_t n = 0;
    for_each<RawEventRecord>(Group::raw_events, [&](const RawEventRecord& record) {
      w_.column[0][n] = record.type;
      w_.column[1][n] = as_signed(record.bytes);
      w_.column[2][n++] = as_signed((record.time >> tick_shift_) - previous);
      previous = record.time >> tick_shift_;
    });
    write_columns(3, n);
    for_each<RawEventRecord>(Group::raw_events, [&](const RawEventRecord& record) {
      std::memcpy(out_, reinterpret_cast<const char*>(&record) + sizeof record, record.bytes);
      out_ += record.bytes;
    });
  }

  Workspace& w_;
  const Scan& scan_;
  const char* records_;
  unsigned tick_shift_;
  char* out_;
};

}  // namespace

std::size_t EventEncoder::workspace_bytes() noexcept { return sizeof(Workspace) + chunk_context_bytes(); }

EventEncoder::EventEncoder(void* workspace, Memory memory) noexcept : workspace_(static_cast<Workspace*>(workspace)) {
  char* behind = static_cast<char*>(workspace) + sizeof(Workspace);
  if (memory == Memory::used) {
    std::memset(&workspace_->signatures, 0, sizeof workspace_->signatures);
    std::memset(&workspace_->sequence, 0, sizeof workspace_->sequence);
    std::memset(&workspace_->requests, 0, sizeof workspace_->requests);
  }
  workspace_->context = make_chunk_context(behind);
}

EventEncoder::Chunk EventEncoder::encode(const ChunkHeader& identity, const char* records, std::size_t bytes,
                                         unsigned tick_shift) noexcept {
  Workspace& w = *workspace_;
  const Scan found = scan(w, records, bytes, tick_shift);
  if (found.records == 0) return {nullptr, 0, 0, 0, 0};
  const char* end = ColumnWriter(w, found, records, tick_shift).write();

  ChunkHeader header = identity;
  header.type = ChunkType::events;
  header.records = static_cast<std::uint32_t>(found.records);
  // The array of widths is as long as the most calls of a chunk.
  const std::uint32_t calls = found.counts[Group::calls];
  unsigned char* const widths = w.spans + chunk_records - calls;
  std::memmove(widths, w.spans, calls);
  const ByteView dense{widths, calls == 0 ? 0 : static_cast<std::size_t>(found.spans_end - widths)};
  // Most bytes of the program's own events, and of source calls, are parameters and raw bytes.
  const bool has_events =
      found.counts[Group::events] + found.counts[Group::raw_events] + found.counts[Group::source_calls] != 0;
  const std::size_t size = write_chunk(w.context, has_events ? Effort::usual : Effort::little, header,
                                       {w.raw, static_cast<std::size_t>(end - w.raw)}, dense, w.chunk);
  return {w.chunk, size, found.consumed, found.records, calls};
}

}  // namespace tare::format
