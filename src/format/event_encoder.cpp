#define ZSTD_STATIC_LINKING_ONLY  // static contexts: compression without malloc
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "format/column.h"
#include "format/event_codec.h"

namespace tare::format {
namespace {

// Level 1 and below trade little size for speed on byte planes; measured in bench/. The window covers the
// payload of a usual chunk; larger ones only lose matches between their far ends.
constexpr int zstd_level = 1;
constexpr unsigned window_log = 17;

// A record is of one kind, so the columns of the kinds share the room; a type of event has columns of its own.
constexpr unsigned max_columns = 9 + 3 + max_parameters;
constexpr std::size_t max_event_shapes = 255;  // of events in one chunk
constexpr std::size_t max_text = 128 * 1024;   // bytes of raw events in one chunk
constexpr std::size_t payload_head = 8 * 4 + 8;
constexpr std::size_t raw_bound = payload_head + chunk_records + max_columns * column_bound(chunk_records) +
                                  (max_event_shapes * max_parameters + 32) * column_bound(0) + max_text;

constexpr unsigned hash_log = 14;

std::size_t context_bytes() noexcept {
  ZSTD_compressionParameters p = ZSTD_getCParams(zstd_level, raw_bound, 0);
  p.windowLog = window_log;
  p.hashLog = p.chainLog = hash_log;
  return ZSTD_estimateCCtxSize_usingCParams(p);
}

// A compression context in `memory` of context_bytes(); nullptr if zstd wants more than it estimated.
ZSTD_CCtx* make_context(void* memory) noexcept {
  ZSTD_CCtx* context = ZSTD_initStaticCCtx(memory, context_bytes());
  if (context == nullptr) return nullptr;
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, zstd_level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, hash_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, hash_log);
  return context;
}

// Puts raw bytes, compressed if that is smaller, behind a sealed header at `out`. Returns the chunk's size.
std::size_t finish_chunk(ZSTD_CCtx* context, ChunkHeader header, const void* raw, std::size_t bytes,
                         char* out) noexcept {
  char* payload = out + sizeof(ChunkHeader);
  std::size_t stored = context == nullptr ? 0 : ZSTD_compress2(context, payload, ZSTD_COMPRESSBOUND(bytes), raw, bytes);
  header.compression = Compression::zstd;
  if (stored == 0 || ZSTD_isError(stored) || stored >= bytes) {
    std::memcpy(payload, raw, bytes);
    stored = bytes;
    header.compression = Compression::none;
  }
  header.stored_bytes = static_cast<std::uint32_t>(stored);
  header.raw_bytes = static_cast<std::uint32_t>(bytes);
  seal(header, payload);
  std::memcpy(out, &header, sizeof header);
  return sizeof header + stored;
}

// Source and tag of what a call received, if it received nothing beside its `bytes`.
constexpr std::uint64_t no_source =
    static_cast<std::uint32_t>(no_peer) | std::uint64_t{static_cast<std::uint32_t>(no_tag)} << 32;

// The part of a record that recurs. Compared as six words.
struct Signature {
  std::uint64_t what;  // function, size and site: the record's first word; or `completion`, or `start`
  std::uint64_t bytes;
  std::uint64_t peer_tag;
  std::uint64_t communicator;
  std::uint64_t received;
  std::uint64_t source_tag;
  bool operator==(const Signature&) const = default;
};

Signature signature_of(const CallRecord& call) noexcept {
  Signature s;
  std::memcpy(&s.what, &call, 8);
  s.bytes = call.bytes;
  std::memcpy(&s.peer_tag, &call.peer, 8);
  s.communicator = call.communicator;
  s.received = no_bytes;
  s.source_tag = no_source;
  if (call.head.words == sizeof(ExchangeRecord) / 8) {
    const auto& exchange = reinterpret_cast<const ExchangeRecord&>(call);
    s.received = exchange.received;
    std::memcpy(&s.source_tag, &exchange.source, 8);
  }
  return s;
}

Signature signature_of(const CompletionRecord& completed) noexcept {
  Signature s{completion, completed.bytes, 0, 0, no_bytes, no_source};
  std::memcpy(&s.peer_tag, &completed.source, 8);
  return s;
}

Signature signature_of(const StartRecord& started) noexcept {
  Signature s{start, started.bytes, 0, started.communicator, no_bytes, no_source};
  std::memcpy(&s.peer_tag, &started.peer, 8);
  return s;
}

constexpr std::size_t signature_slots = 4 * chunk_records;

std::size_t slot_of(const Signature& s) noexcept {
  std::uint64_t h = (s.what ^ s.communicator << 16 ^ s.bytes << 40) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ h >> 32 ^ s.bytes ^ s.peer_tag ^ s.received << 8 ^ s.source_tag << 4) * 0xc2b2ae3d27d4eb4fULL;
  return (h >> 40) % signature_slots;
}

// Size of a record by its kind, 0 if it is none that the encoder knows; `at` has a whole RecordHead.
[[gnu::always_inline]] inline std::size_t size_of_record(const char* at, std::size_t available) noexcept {
  RecordHead head;
  std::memcpy(&head, at, sizeof head);
  const std::size_t size = head.words * std::size_t{8};
  if (size > available) return 0;
  if (head.kind < first_other) return size == sizeof(CallRecord) || size == sizeof(ExchangeRecord) ? size : 0;
  switch (head.kind) {
    case completion:
    case foreign_completion:
      return size == sizeof(CompletionRecord) ? size : 0;
    case start:
      return size == sizeof(StartRecord) ? size : 0;
    case flush:
      return size == sizeof(FlushRecord) ? size : 0;
    case loss:
      return size == sizeof(LossRecord) ? size : 0;
    case event:
      return size >= sizeof(EventRecord) && size <= sizeof(EventRecord) + 8 * max_parameters ? size : 0;
    case raw_event: {
      RawEventRecord record;
      if (size < sizeof record) return 0;
      std::memcpy(&record, at, sizeof record);
      return record.bytes <= max_raw_bytes && size == sizeof record + (record.bytes + 7) / 8 * 8 ? size : 0;
    }
    default:
      return 0;
  }
}

// Order of the kinds in counts, order column and column groups.
enum Group : unsigned { calls, completions, flushes, losses, events, raw_events, starts, groups };
unsigned group_of(std::uint16_t kind) noexcept {
  if (kind == foreign_completion) return completions;
  return kind < first_other ? unsigned{calls} : kind - first_other;
}

constexpr std::int64_t as_signed(std::uint64_t value) noexcept { return static_cast<std::int64_t>(value); }

// Signatures of one chunk, by number. Clearing empties the slots that were used, which are few.
struct SignatureTable {
  Signature entries[chunk_records];
  std::uint16_t used[chunk_records];     // slot of each entry
  std::uint16_t slots[signature_slots];  // signature number + 1
  std::uint32_t count;

  void clear() noexcept {
    for (std::uint32_t i = 0; i < count; ++i) slots[used[i]] = 0;
    count = 0;
    entries[0] = {};  // no record's: functions are numbered from 1
  }
  std::uint32_t number(const Signature& s) noexcept {
    std::size_t slot = slot_of(s);
    while (slots[slot] != 0 && !(entries[slots[slot] - 1] == s)) slot = (slot + 1) % signature_slots;
    if (slots[slot] == 0) {
      entries[count] = s;
      used[count] = static_cast<std::uint16_t>(slot);
      slots[slot] = static_cast<std::uint16_t>(++count);
    }
    return slots[slot] - 1U;
  }
};

// What in this chunk started each request last.
struct RequestTable {
  struct Slot {
    std::uint32_t request;  // 0: empty
    std::uint16_t start;    // counts the starts of this chunk
  };
  static constexpr std::size_t slots_count = 2 * chunk_records;
  Slot slots[slots_count];
  std::uint16_t
      places[chunk_records];  // of each start: number of the call, or chunk_records + number of the start record
  std::uint16_t used[chunk_records];  // slot of each start
  std::uint32_t starts;

  void clear() noexcept {
    for (std::uint32_t i = 0; i < starts; ++i) slots[used[i]] = {};
    starts = 0;
  }
  Slot& slot(std::uint32_t request) noexcept {
    std::size_t at = (request * 0x9e3779b9U) >> 18;
    static_assert(slots_count == std::size_t{1} << (32 - 18));
    while (slots[at].request != 0 && slots[at].request != request) at = (at + 1) % slots_count;
    return slots[at];
  }
  void start(std::uint32_t request, std::size_t place) noexcept {
    Slot& s = slot(request);
    s = {request, static_cast<std::uint16_t>(starts)};
    used[starts] = static_cast<std::uint16_t>(&s - slots);
    places[starts++] = static_cast<std::uint16_t>(place);
  }
};

}  // namespace

struct alignas(64) EventEncoder::Workspace {
  std::int64_t column[4][chunk_records];     // of calls, then of other kinds
  std::int64_t completed[3][chunk_records];  // columns of completions
  std::int64_t started[2][chunk_records];    // of starts
  SignatureTable signatures;
  RequestTable requests;
  unsigned char order[chunk_records];
  std::uint32_t event_at[chunk_records];  // offsets of events in the buffer
  std::uint8_t event_shape[chunk_records];
  std::uint64_t shapes[max_event_shapes];  // type and words
  char raw[raw_bound];
  alignas(64) char chunk[sizeof(ChunkHeader) + ZSTD_COMPRESSBOUND(raw_bound)];
  ZSTD_CCtx* context;
  // The zstd context lies behind.
};

std::size_t EventEncoder::workspace_bytes() noexcept { return sizeof(Workspace) + context_bytes() + 64; }

EventEncoder::EventEncoder(void* workspace) noexcept : workspace_(static_cast<Workspace*>(workspace)) {
  char* behind = static_cast<char*>(workspace) + sizeof(Workspace);
  std::memset(&workspace_->signatures, 0, sizeof workspace_->signatures);
  std::memset(&workspace_->requests, 0, sizeof workspace_->requests);
  workspace_->context = make_context(behind);
}

// Finds the shape of an event, type and number of parameters, among those of the chunk; false if there are too many.
bool EventEncoder::note_event(Workspace& w, const char* at, std::size_t offset, std::size_t i,
                              unsigned& shapes) noexcept {
  EventRecord record;
  std::memcpy(&record, at, sizeof record);
  const std::uint64_t shape = std::uint64_t{record.type} << 16 | record.head.words;
  unsigned k = i == 0 ? 0 : w.event_shape[i - 1];  // often the same as before
  if (k >= shapes || w.shapes[k] != shape)
    for (k = 0; k < shapes && w.shapes[k] != shape;) ++k;
  if (k == max_event_shapes) return false;
  if (k == shapes) w.shapes[shapes++] = shape;
  w.event_at[i] = static_cast<std::uint32_t>(offset);
  w.event_shape[i] = static_cast<std::uint8_t>(k);
  return true;
}

char* EventEncoder::encode_api_events(Workspace& w, const char* records, std::size_t count, unsigned shapes,
                                      std::uint64_t time_base, unsigned tick_shift, char* out) noexcept {
  std::uint64_t previous = time_base;
  for (std::size_t i = 0; i < count; ++i) {
    EventRecord record;
    std::memcpy(&record, records + w.event_at[i], sizeof record);
    w.column[0][i] = record.type;
    w.column[1][i] = record.head.words - static_cast<int>(sizeof record / 8);
    w.column[2][i] = as_signed((record.time >> tick_shift) - previous);
    previous = record.time >> tick_shift;
  }
  for (unsigned c = 0; c < 3; ++c) out = encode_column(w.column[c], count, out);
  for (unsigned k = 0; k < shapes; ++k) {
    const auto parameters = static_cast<unsigned>(w.shapes[k] & 0xffff) - sizeof(EventRecord) / 8;
    for (unsigned p = 0; p < parameters; ++p) {
      std::size_t n = 0;
      for (std::size_t i = 0; i < count; ++i)
        if (w.event_shape[i] == k)
          std::memcpy(&w.column[0][n++], records + w.event_at[i] + sizeof(EventRecord) + 8 * p, 8);
      out = encode_shorter_column(w.column[0], n, w.column[1], out);
    }
  }
  return out;
}

EventEncoder::Chunk EventEncoder::encode(const ChunkHeader& identity, const char* records, std::size_t bytes,
                                         unsigned tick_shift) noexcept {
  Workspace& w = *workspace_;
  std::uint32_t counts[groups] = {};
  std::uint64_t time_base = 0;
  std::uint64_t before = 0;        // leave of the call before
  std::int64_t start_before = -1;  // start of the completion before
  std::uint32_t signature = 0;     // of the call before
  bool timed = false;
  unsigned shapes = 0;
  std::size_t text = 0;
  std::size_t consumed = 0;
  std::size_t n = 0;
  w.signatures.clear();
  w.requests.clear();

  // One pass over the records for calls and completions, which are nearly all; the other kinds are gathered after.
  while (n < chunk_records && bytes - consumed >= sizeof(RecordHead)) {
    const char* at = records + consumed;
    RecordHead head;
    std::memcpy(&head, at, sizeof head);
    const bool is_call = head.kind < first_other;
    const std::size_t size = size_of_record(at, bytes - consumed);
    if (size == 0) break;
    const unsigned group = group_of(head.kind);
    if (!is_call) [[unlikely]] {
      if (group == events && !note_event(w, at, consumed, counts[events], shapes)) break;
      if (group == raw_events) {
        if (text + size > max_text) break;
        text += size;
      }
    }
    w.order[n++] = static_cast<unsigned char>(group);
    consumed += size;
    if (!timed && group != completions && group != starts) [[unlikely]] {
      std::uint64_t enter;
      std::memcpy(&enter, at + 8, 8);
      time_base = before = enter >> tick_shift;
      timed = true;
    }
    const std::size_t i = counts[group]++;
    if (group == calls) {
      const auto& call = *reinterpret_cast<const CallRecord*>(at);
      const Signature s = signature_of(call);
      const Signature& last = w.signatures.entries[signature];  // often it is the one before
      if (((s.what ^ last.what) | (s.bytes ^ last.bytes) | (s.peer_tag ^ last.peer_tag) |
           (s.communicator ^ last.communicator) | (s.received ^ last.received) | (s.source_tag ^ last.source_tag)) != 0)
        signature = w.signatures.number(s);
      const std::uint64_t enter = call.enter >> tick_shift;
      const std::uint64_t leave = call.leave >> tick_shift;
      w.column[0][i] = signature;
      w.column[1][i] = as_signed(enter - before);
      w.column[2][i] = as_signed(leave - enter);
      w.column[3][i] = call.request;
      if (call.request != no_request) w.requests.start(call.request, i);
      before = leave;
    } else if (group == completions) {
      const auto& completed = *reinterpret_cast<const CompletionRecord*>(at);
      w.completed[0][i] = w.signatures.number(signature_of(completed));
      const RequestTable::Slot& slot = w.requests.slot(completed.request);
      // What this thread started of the same number is another one.
      const bool here = slot.request != no_request && head.kind != foreign_completion;
      const std::int64_t start = here ? slot.start : start_before + 1;
      w.completed[1][i] = start - start_before - 1;
      w.completed[2][i] = here ? no_request : std::max(completed.request, 1U);
      start_before = start;
      if (here) {
        const std::size_t place = w.requests.places[slot.start];
        (place < chunk_records ? w.column[3][place] : w.started[1][place - chunk_records]) = completed_in_chunk;
      }
    } else if (group == starts) {
      const auto& started = *reinterpret_cast<const StartRecord*>(at);
      w.started[0][i] = w.signatures.number(signature_of(started));
      w.started[1][i] = started.request;
      if (started.request != no_request) w.requests.start(started.request, chunk_records + i);
    }
  }
  if (n == 0) return {nullptr, 0, 0, 0, 0};

  char* out = w.raw;
  std::memcpy(out, counts, sizeof counts);
  std::memcpy(out + sizeof counts, &w.signatures.count, 4);
  std::memcpy(out + sizeof counts + 4, &time_base, 8);
  out += payload_head;
  if (std::find(std::begin(counts), std::end(counts), n) == std::end(counts)) {
    std::memcpy(out, w.order, n);
    out += n;
  }

  // The call columns occupy w.column, so the signature columns are gathered where the finished chunk will be.
  if (w.signatures.count != 0) {
    auto* scratch = reinterpret_cast<std::int64_t*>(w.chunk);
    const std::uint32_t signatures = w.signatures.count;
    const auto signature_column = [&](auto value) {
      for (std::uint32_t i = 0; i < signatures; ++i) scratch[i] = value(w.signatures.entries[i]);
      out = encode_column(scratch, signatures, out);
    };
    signature_column([](const Signature& s) { return as_signed(s.what & 0xffff); });
    signature_column([](const Signature& s) { return as_signed(s.what >> 32); });
    signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.peer_tag)}; });
    signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.peer_tag >> 32)}; });
    signature_column([](const Signature& s) { return as_signed(s.bytes); });
    signature_column([](const Signature& s) { return as_signed(s.communicator); });
    signature_column([](const Signature& s) { return as_signed(s.received); });
    signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.source_tag)}; });
    signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.source_tag >> 32)}; });
  }
  if (counts[calls] != 0)
    for (auto& column : w.column) out = encode_column(column, counts[calls], out);
  if (counts[completions] != 0)
    for (auto& column : w.completed) out = encode_column(column, counts[completions], out);
  if (counts[starts] != 0)
    for (auto& column : w.started) out = encode_column(column, counts[starts], out);

  // Gathers four fields of every record of one kind into columns; `width` of them are written.
  const auto gather = [&](unsigned group, unsigned width, auto fields) {
    if (counts[group] == 0) return;
    std::size_t at = 0;
    std::size_t i = 0;
    for (std::size_t record = 0; record < n; ++record) {
      if (w.order[record] == group) {
        fields(records + at, i);
        ++i;
      }
      RecordHead head;
      std::memcpy(&head, records + at, sizeof head);
      at += head.words * 8U;
    }
    for (unsigned c = 0; c < width; ++c) out = encode_column(w.column[c], i, out);
  };
  gather(flushes, 4, [&](const char* at, std::size_t i) {
    const auto& r = *reinterpret_cast<const FlushRecord*>(at);
    w.column[0][i] = as_signed((r.enter >> tick_shift) - time_base);
    w.column[1][i] = as_signed((r.leave >> tick_shift) - (r.enter >> tick_shift));
    w.column[2][i] = r.records;
    w.column[3][i] = as_signed(r.bytes);
  });
  gather(losses, 3, [&](const char* at, std::size_t i) {
    const auto& r = *reinterpret_cast<const LossRecord*>(at);
    w.column[0][i] = as_signed((r.enter >> tick_shift) - time_base);
    w.column[1][i] = as_signed((r.leave >> tick_shift) - (r.enter >> tick_shift));
    w.column[2][i] = as_signed(r.records);
  });

  if (counts[events] != 0) out = encode_api_events(w, records, counts[events], shapes, time_base, tick_shift, out);
  std::uint64_t previous = time_base;
  gather(raw_events, 3, [&](const char* at, std::size_t i) {
    const auto& r = *reinterpret_cast<const RawEventRecord*>(at);
    w.column[0][i] = r.type;
    w.column[1][i] = as_signed(r.bytes);
    w.column[2][i] = as_signed((r.time >> tick_shift) - previous);
    previous = r.time >> tick_shift;
  });
  if (counts[raw_events] != 0) {
    std::size_t at = 0;
    for (std::size_t record = 0; record < n; ++record) {
      RecordHead head;
      std::memcpy(&head, records + at, sizeof head);
      if (w.order[record] == raw_events) {
        const auto& r = *reinterpret_cast<const RawEventRecord*>(records + at);
        std::memcpy(out, records + at + sizeof r, r.bytes);
        out += r.bytes;
      }
      at += head.words * std::size_t{8};
    }
  }

  ChunkHeader header = identity;
  header.type = ChunkType::events;
  header.records = static_cast<std::uint32_t>(n);
  const auto raw_bytes = static_cast<std::size_t>(out - w.raw);
  const std::size_t size = finish_chunk(w.context, header, w.raw, raw_bytes, w.chunk);
  return {w.chunk, size, consumed, n, counts[calls]};
}

std::size_t chunk_bound(std::size_t raw_bytes) noexcept { return sizeof(ChunkHeader) + ZSTD_COMPRESSBOUND(raw_bytes); }

std::size_t chunk_context_bytes() noexcept { return context_bytes() + 64; }

std::size_t make_chunk(const ChunkHeader& identity, const void* raw, std::size_t bytes, char* out,
                       void* context) noexcept {
  ZSTD_CCtx* zstd = context == nullptr ? nullptr : make_context(context);
  return finish_chunk(zstd, identity, raw, bytes, out);
}

}  // namespace tare::format
