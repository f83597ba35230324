#define ZSTD_STATIC_LINKING_ONLY  // static contexts: compression without malloc
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "format/column.h"
#include "format/event_codec.h"
#include "format/sequence.h"
#include "format/spans.h"

namespace tare::format {
namespace {

// Level 1 and below trade little size for speed on byte planes; measured in bench/. The window covers the
// payload of a usual chunk; larger ones only lose matches between their far ends.
constexpr int zstd_level = 1;
constexpr unsigned window_log = 17;

// A record is of one kind, so the columns of the kinds share the room; a type of event has columns of its own.
constexpr unsigned max_columns = 10 + 2 + 2 + max_parameters;
constexpr std::size_t max_event_shapes = 255;  // of events in one chunk
constexpr std::size_t max_text = 128 * 1024;   // bytes of raw events in one chunk
constexpr std::size_t payload_head = 9 * 4 + 8;
constexpr std::size_t raw_bound = payload_head + max_columns * column_bound(chunk_records) +
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

struct Bytes {
  const void* data;
  std::size_t size;
};

constexpr std::size_t frame_block = std::size_t{128} * 1024;  // the largest of a zstd frame
constexpr std::size_t frame_bound(std::size_t bytes) { return bytes + 9 + 3 * (bytes / frame_block + 1); }

// Puts bytes into a zstd frame as they are (RFC 8878); returns its size.
std::size_t put_frame(Bytes bytes, char* out) noexcept {
  constexpr std::uint32_t magic = 0xfd2fb528;
  constexpr unsigned char single_segment_of_four_bytes_size = 0xa0;
  const auto size = static_cast<std::uint32_t>(bytes.size);
  std::memcpy(out, &magic, 4);
  std::memcpy(out + 4, &single_segment_of_four_bytes_size, 1);
  std::memcpy(out + 5, &size, 4);
  char* at = out + 9;
  const char* from = static_cast<const char*>(bytes.data);
  for (std::size_t left = bytes.size;;) {
    const std::size_t block = std::min(left, frame_block);
    const auto head = static_cast<std::uint32_t>(block << 3 | (block == left ? 1 : 0));
    std::memcpy(at, &head, 3);
    std::memcpy(at + 3, from, block);
    at += 3 + block;
    from += block;
    left -= block;
    if (left == 0) return static_cast<std::size_t>(at - out);
  }
}

// Puts raw bytes, compressed if that is smaller, behind a sealed header at `out`; of `dense` ones behind them it is
// known that they cannot be made smaller. Returns the chunk's size.
std::size_t finish_chunk(ZSTD_CCtx* context, ChunkHeader header, Bytes raw, Bytes dense, char* out) noexcept {
  char* payload = out + sizeof(ChunkHeader);
  const std::size_t bytes = raw.size + dense.size;
  std::size_t stored =
      context == nullptr ? 0 : ZSTD_compress2(context, payload, ZSTD_COMPRESSBOUND(raw.size), raw.data, raw.size);
  header.compression = Compression::zstd;
  if (stored == 0 || ZSTD_isError(stored) || stored + (dense.size == 0 ? 0 : frame_bound(dense.size)) >= bytes) {
    std::memcpy(payload, raw.data, raw.size);
    if (dense.size != 0) std::memcpy(payload + raw.size, dense.data, dense.size);
    stored = bytes;
    header.compression = Compression::none;
  } else if (dense.size != 0) {
    stored += put_frame(dense, payload + stored);
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
  std::uint64_t communicator;  // and above it whether there is a request
  std::uint64_t received;
  std::uint64_t source_tag;
  bool operator==(const Signature&) const = default;
};

std::uint64_t first_word(const void* record) noexcept {
  std::uint64_t word;
  std::memcpy(&word, record, sizeof word);
  return word;
}

template <class Record>
std::uint64_t communicator_word(const Record& record) noexcept {
  return record.communicator | std::uint64_t{record.request != no_request} << 32;
}

constexpr std::uint64_t exchange_words = sizeof(ExchangeRecord) / 8;

[[gnu::always_inline]] inline Signature signature_of(const CallRecord& call) noexcept {
  Signature s{first_word(&call), call.bytes, first_word(&call.peer), communicator_word(call), no_bytes, no_source};
  if (call.head.words == exchange_words) {
    const auto& exchange = reinterpret_cast<const ExchangeRecord&>(call);
    s.received = exchange.received;
    s.source_tag = first_word(&exchange.source);
  }
  return s;
}

Signature signature_of(const CompletionRecord& completed) noexcept {
  return {completion, completed.bytes, first_word(&completed.source), 0, no_bytes, no_source};
}

Signature signature_of(const StartRecord& started) noexcept {
  return {start, started.bytes, first_word(&started.peer), communicator_word(started), no_bytes, no_source};
}

// Whether a record has a signature. Words that say what it is are different for records of different kinds, and sizes.
[[gnu::always_inline]] inline bool has(const CallRecord& call, const Signature& s) noexcept {
  const std::uint64_t differ = (s.what ^ first_word(&call)) | (s.bytes ^ call.bytes) |
                               (s.peer_tag ^ first_word(&call.peer)) | (s.communicator ^ communicator_word(call));
  if (differ != 0) return false;
  if (call.head.words != exchange_words) [[likely]]
    return true;
  const auto& exchange = reinterpret_cast<const ExchangeRecord&>(call);
  return s.received == exchange.received && s.source_tag == first_word(&exchange.source);
}

[[gnu::always_inline]] inline bool has(const CompletionRecord& completed, const Signature& s) noexcept {
  return ((s.what ^ completion) | (s.bytes ^ completed.bytes) | (s.peer_tag ^ first_word(&completed.source))) == 0;
}

inline bool has(const StartRecord& started, const Signature& s) noexcept { return signature_of(started) == s; }

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
inline unsigned group_of(std::uint16_t kind) noexcept {
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
  // Away from where most records have the signature that is expected.
  template <class Record>
  [[gnu::noinline]] std::uint32_t number_of(const Record& record) noexcept {
    return number(signature_of(record));
  }
};

// What in this chunk started each request. Several may be under way with the same number, as MPI gives sends that are
// complete at once the same handle: who completes takes the latest that nobody has taken.
struct RequestTable {
  struct Slot {
    std::uint32_t request;  // 0: empty
    std::uint16_t latest;   // 1 + the start; 0: all of them have been taken
  };
  static constexpr std::size_t slots_count = 2 * chunk_records;
  Slot slots[slots_count];
  std::uint16_t used[chunk_records];    // slot of each start
  std::uint16_t before[chunk_records];  // of each start: `latest` without it
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
  void start(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    before[starts] = s.latest;
    used[starts++] = static_cast<std::uint16_t>(&s - slots);
    s = {request, static_cast<std::uint16_t>(starts)};
  }
  // 1 + the start that has completed; 0 if that was not in this chunk.
  std::uint32_t complete(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    const std::uint16_t latest = s.latest;
    if (latest != 0) s.latest = before[latest - 1];
    return latest;
  }
};

}  // namespace

struct alignas(64) EventEncoder::Workspace {
  std::int64_t column[4][chunk_records];
  std::int64_t completed[2][chunk_records];  // columns of completions: step, request
  std::int64_t started[chunk_records];       // of requests that were started
  SignatureTable signatures;
  SequenceTables<chunk_records> sequence;
  RequestTable requests;
  unsigned char spans[chunk_records + SpanWriter::bits_bound(chunk_records)];
  unsigned char order[chunk_records];
  std::uint32_t event_at[chunk_records];  // offsets of events in the buffer
  std::uint8_t event_shape[chunk_records];
  std::uint64_t shapes[max_event_shapes];  // type and words
  char raw[raw_bound];
  alignas(64) char chunk[sizeof(ChunkHeader) + ZSTD_COMPRESSBOUND(raw_bound) + frame_bound(sizeof spans)];
  ZSTD_CCtx* context;
  // The zstd context lies behind.
};

std::size_t EventEncoder::workspace_bytes() noexcept { return sizeof(Workspace) + context_bytes() + 64; }

EventEncoder::EventEncoder(void* workspace) noexcept : workspace_(static_cast<Workspace*>(workspace)) {
  char* behind = static_cast<char*>(workspace) + sizeof(Workspace);
  std::memset(&workspace_->signatures, 0, sizeof workspace_->signatures);
  std::memset(&workspace_->sequence, 0, sizeof workspace_->sequence);
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
  std::uint32_t call_count = 0;
  std::uint32_t completion_count = 0;
  std::uint64_t time_base = 0;
  std::uint64_t before = 0;        // leave of the call before
  std::int64_t start_before = -1;  // start of the completion before
  bool timed = false;
  unsigned shapes = 0;
  std::size_t text = 0;
  std::size_t consumed = 0;
  std::size_t n = 0;
  SequenceWriter<chunk_records> sequence(w.sequence, w.signatures.count);
  w.signatures.clear();
  w.requests.clear();
  SpanWriter spans;
  unsigned char* const bits = w.spans + chunk_records;
  spans.begin(w.spans, bits);

  const auto add_to_sequence = [&](const auto& record) {
    const std::uint32_t expected = sequence.expected();
    if (has(record, w.signatures.entries[expected])) [[likely]]
      return sequence.add_expected(expected);
    sequence.add_unexpected(w.signatures.number_of(record));
  };
  const auto add_start = [&](std::uint32_t request) {
    if (request == no_request) return;
    w.started[w.requests.starts] = request;
    w.requests.start(request);
  };

  // One pass over the records for calls and completions, which are nearly all; the other kinds are gathered after.
  while (n < chunk_records && bytes - consumed >= sizeof(RecordHead)) {
    const char* at = records + consumed;
    RecordHead head;
    std::memcpy(&head, at, sizeof head);
    const std::size_t size = size_of_record(at, bytes - consumed);
    if (size == 0) break;
    if (head.kind < first_other) {
      const auto& call = *reinterpret_cast<const CallRecord*>(at);
      add_to_sequence(call);
      const std::uint64_t enter = call.enter >> tick_shift;
      const std::uint64_t leave = call.leave >> tick_shift;
      if (!timed) [[unlikely]]
        time_base = before = enter;
      timed = true;
      spans.add(enter - before, leave - enter);
      before = leave;
      add_start(call.request);
      w.order[n] = calls;
      ++call_count;
    } else if (head.kind == completion || head.kind == foreign_completion) {
      const auto& completed = *reinterpret_cast<const CompletionRecord*>(at);
      add_to_sequence(completed);
      // Of a foreign one, what this thread started with the same number is another.
      const std::uint32_t found = head.kind == foreign_completion ? 0 : w.requests.complete(completed.request);
      const bool here = found != 0;
      const std::int64_t start = here ? std::int64_t{found} - 1 : start_before + 1;
      w.completed[0][completion_count] = start - start_before - 1;
      w.completed[1][completion_count++] = here ? no_request : std::max(completed.request, 1U);
      start_before = start;
      if (here) w.started[start] = completed_in_chunk;
      w.order[n] = completions;
    } else {
      const unsigned group = group_of(head.kind);
      if (group == events && !note_event(w, at, consumed, counts[events], shapes)) break;
      if (group == raw_events) {
        if (text + size > max_text) break;
        text += size;
      }
      if (group == starts) {
        const auto& started = *reinterpret_cast<const StartRecord*>(at);
        add_to_sequence(started);
        add_start(started.request);
      } else if (!timed) {
        time_base = before = first_word(at + 8) >> tick_shift;
        timed = true;
      }
      ++counts[group];
      w.order[n] = static_cast<unsigned char>(group);
    }
    ++n;
    consumed += size;
  }
  if (n == 0) return {nullptr, 0, 0, 0, 0};
  counts[calls] = call_count;
  counts[completions] = completion_count;

  char* out = w.raw;
  const auto put = [&](const auto& value) {
    std::memcpy(out, &value, sizeof value);
    out += sizeof value;
  };
  const std::uint32_t signatures = w.signatures.count;
  const std::uint32_t misses = sequence.misses();
  put(counts);
  put(signatures);
  put(misses);
  put(time_base);

  // Columns are left out if they have no values.
  const auto column_of = [&](std::size_t rows, auto value) {
    if (rows == 0) return;
    for (std::size_t i = 0; i < rows; ++i) w.column[0][i] = value(i);
    out = encode_column(w.column[0], rows, out);
  };
  const auto signature_column = [&](auto value) {
    column_of(signatures, [&](std::size_t i) { return value(w.signatures.entries[i]); });
  };
  signature_column([](const Signature& s) { return as_signed(s.what & 0xffff); });
  signature_column([](const Signature& s) { return as_signed(s.what >> 32); });
  signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.peer_tag)}; });
  signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.peer_tag >> 32)}; });
  signature_column([](const Signature& s) { return as_signed(s.bytes); });
  signature_column([](const Signature& s) { return as_signed(s.communicator & 0xffffffff); });
  signature_column([](const Signature& s) { return as_signed(s.received); });
  signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.source_tag)}; });
  signature_column([](const Signature& s) { return std::int64_t{static_cast<std::int32_t>(s.source_tag >> 32)}; });
  signature_column([](const Signature& s) { return as_signed(s.communicator >> 32); });
  column_of(misses, [&](std::size_t i) { return std::int64_t{w.sequence.runs[i]}; });
  column_of(misses, [&](std::size_t i) { return std::int64_t{w.sequence.missed[i]}; });
  if (w.requests.starts != 0) out = encode_sparse_column(w.started, w.requests.starts, completed_in_chunk, out);
  if (counts[completions] != 0)
    for (auto& column : w.completed) out = encode_sparse_column(column, counts[completions], 0, out);

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
  // The widths of spans have room for more calls than there are.
  unsigned char* const widths = bits - counts[calls];
  std::memmove(widths, w.spans, counts[calls]);
  const Bytes dense{widths, counts[calls] == 0 ? 0 : static_cast<std::size_t>(spans.finish() - widths)};
  const std::size_t size =
      finish_chunk(w.context, header, {w.raw, static_cast<std::size_t>(out - w.raw)}, dense, w.chunk);
  return {w.chunk, size, consumed, n, counts[calls]};
}

std::size_t chunk_bound(std::size_t raw_bytes) noexcept { return sizeof(ChunkHeader) + ZSTD_COMPRESSBOUND(raw_bytes); }

std::size_t chunk_context_bytes() noexcept { return context_bytes() + 64; }

std::size_t make_chunk(const ChunkHeader& identity, const void* raw, std::size_t bytes, char* out,
                       void* context) noexcept {
  ZSTD_CCtx* zstd = context == nullptr ? nullptr : make_context(context);
  return finish_chunk(zstd, identity, {raw, bytes}, {nullptr, 0}, out);
}

}  // namespace tare::format
