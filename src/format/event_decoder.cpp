#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "format/column.h"
#include "format/event_codec.h"

namespace tare::format {
namespace {

constexpr unsigned groups = 7;

// Reads columns one after another; after the first failure every further read fails too.
class ColumnReader {
 public:
  ColumnReader(const char* in, const char* end) : in_(in), end_(end) {}
  std::vector<std::int64_t> next(std::size_t n) {
    std::vector<std::int64_t> values(n);
    if (in_ != nullptr) in_ = decode_column(in_, end_, values.data(), n);
    return values;
  }
  bool ok() const { return in_ != nullptr; }
  bool at_end() const { return in_ == end_; }
  // The next n bytes as they are; nullptr if there are not so many.
  const char* bytes(std::size_t n) {
    if (in_ == nullptr || static_cast<std::size_t>(end_ - in_) < n) return in_ = nullptr;
    const char* start = in_;
    in_ += n;
    return start;
  }

 private:
  const char* in_;
  const char* end_;
};

struct Signatures {
  std::vector<std::int64_t> function, site, peer, tag, bytes, communicator, received, source, source_tag;
};

Signatures read_signatures(ColumnReader& in, std::size_t n) {
  Signatures s;
  s.function = in.next(n);
  s.site = in.next(n);
  s.peer = in.next(n);
  s.tag = in.next(n);
  s.bytes = in.next(n);
  s.communicator = in.next(n);
  s.received = in.next(n);
  s.source = in.next(n);
  s.source_tag = in.next(n);
  return s;
}

bool read_calls(ColumnReader& in, std::size_t n, const Signatures& s, std::uint64_t time_base,
                std::vector<DecodedCall>& calls) {
  const std::uint64_t signatures = s.function.size();
  const auto signature = in.next(n);
  const auto gap = in.next(n);
  const auto duration = in.next(n);
  const auto request = in.next(n);
  if (!in.ok()) return false;
  calls.resize(n);
  std::uint64_t before = time_base;
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::uint64_t>(signature[i]);
    if (k >= signatures) return false;
    DecodedCall& call = calls[i];
    call.enter = before + static_cast<std::uint64_t>(gap[i]);
    call.leave = before = call.enter + static_cast<std::uint64_t>(duration[i]);
    call.bytes = static_cast<std::uint64_t>(s.bytes[k]);
    call.site = static_cast<std::uint32_t>(s.site[k]);
    call.communicator = static_cast<std::uint32_t>(s.communicator[k]);
    call.request = static_cast<std::uint32_t>(request[i]);
    call.peer = static_cast<std::int32_t>(s.peer[k]);
    call.tag = static_cast<std::int32_t>(s.tag[k]);
    call.function = static_cast<std::uint16_t>(s.function[k]);
    call.received = static_cast<std::uint64_t>(s.received[k]);
    call.source = static_cast<std::int32_t>(s.source[k]);
    call.source_tag = static_cast<std::int32_t>(s.source_tag[k]);
  }
  return true;
}

bool read_starts(ColumnReader& in, std::size_t n, const Signatures& s, std::vector<DecodedStart>& starts) {
  const auto signature = in.next(n);
  const auto request = in.next(n);
  if (!in.ok()) return false;
  starts.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::uint64_t>(signature[i]);
    if (k >= s.function.size()) return false;
    starts[i] = {UINT32_MAX,
                 static_cast<std::uint32_t>(request[i]),
                 static_cast<std::uint32_t>(s.communicator[k]),
                 static_cast<std::uint64_t>(s.bytes[k]),
                 static_cast<std::int32_t>(s.peer[k]),
                 static_cast<std::int32_t>(s.tag[k])};
  }
  return true;
}

// The call that each completion and each start follows. Without an order there are no calls.
void attach_to_calls(const char* order, std::size_t n, DecodedEvents& events) {
  std::uint32_t call = UINT32_MAX;
  std::size_t completion = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; order != nullptr && i < n; ++i) {
    if (order[i] == 0) ++call;
    if (order[i] == 1 && completion < events.completions.size()) events.completions[completion++].call = call;
    if (order[i] == 6 && start < events.starts.size()) events.starts[start++].call = call;
  }
}

// What started a request: a call, or one of DecodedEvents::starts.
struct Place {
  std::uint32_t call, nth;
};

// Of all requests that were started in the chunk, in this order.
std::vector<Place> places_of_requests(const DecodedEvents& events) {
  std::vector<Place> places;
  std::uint32_t nth = 0;
  const auto add_starts_of = [&](std::uint32_t call) {
    for (; nth < events.starts.size() && events.starts[nth].call == call; ++nth)
      if (events.starts[nth].request != no_request) places.push_back({UINT32_MAX, nth});
  };
  add_starts_of(UINT32_MAX);
  for (std::uint32_t i = 0; i < events.calls.size(); ++i) {
    if (events.calls[i].request != no_request) places.push_back({i, UINT32_MAX});
    add_starts_of(i);
  }
  return places;
}

bool read_completions(ColumnReader& in, std::size_t n, const Signatures& s, std::vector<DecodedCompletion>& completions,
                      std::vector<std::int64_t>& steps) {
  const auto signature = in.next(n);
  steps = in.next(n);
  const auto request = in.next(n);
  if (!in.ok()) return false;
  completions.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::uint64_t>(signature[i]);
    if (k >= s.function.size()) return false;
    completions[i] = {UINT32_MAX,
                      UINT32_MAX,
                      UINT32_MAX,
                      static_cast<std::uint32_t>(request[i]),
                      static_cast<std::uint64_t>(s.bytes[k]),
                      static_cast<std::int32_t>(s.peer[k]),
                      static_cast<std::int32_t>(s.tag[k])};
  }
  return true;
}

// Where the requests of the completions were started, if in this chunk.
bool find_starts(const std::vector<std::int64_t>& steps, DecodedEvents& events) {
  const std::vector<Place> places = places_of_requests(events);
  std::uint64_t start = UINT64_MAX;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // Wraps around on malformed input, and is then out of range.
    start += static_cast<std::uint64_t>(steps[i]) + 1;
    DecodedCompletion& completion = events.completions[i];
    if (completion.request != no_request) continue;
    if (start >= places.size()) return false;
    completion.start = places[start].call;
    completion.nth = places[start].nth;
  }
  return true;
}

std::vector<DecodedSpan> read_spans(ColumnReader& in, std::size_t n, std::uint64_t time_base, bool has_bytes) {
  const auto enter = in.next(n);
  const auto duration = in.next(n);
  const auto records = in.next(n);
  const auto bytes = has_bytes ? in.next(n) : std::vector<std::int64_t>(n);
  std::vector<DecodedSpan> spans(n);
  for (std::size_t i = 0; i < n; ++i) {
    spans[i].enter = time_base + static_cast<std::uint64_t>(enter[i]);
    spans[i].leave = spans[i].enter + static_cast<std::uint64_t>(duration[i]);
    spans[i].records = static_cast<std::uint64_t>(records[i]);
    spans[i].bytes = static_cast<std::uint64_t>(bytes[i]);
  }
  return spans;
}

// The columns that all events begin with: type, count of parameters or bytes, time.
bool read_event_heads(ColumnReader& in, std::size_t n, std::uint64_t time_base, std::uint64_t most,
                      std::vector<DecodedEvent>& events) {
  const auto type = in.next(n);
  const auto count = in.next(n);
  const auto gap = in.next(n);
  if (!in.ok()) return false;
  events.resize(n);
  std::uint64_t time = time_base;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (count[i] < 0 || static_cast<std::uint64_t>(count[i]) > most) return false;
    time += static_cast<std::uint64_t>(gap[i]);
    events[i] = {time, static_cast<std::uint32_t>(type[i]), static_cast<std::uint32_t>(count[i]), at};
    at += events[i].count;
  }
  return true;
}

bool read_events(ColumnReader& in, std::size_t n, std::uint64_t time_base, DecodedEvents& out) {
  if (!read_event_heads(in, n, time_base, max_parameters, out.events)) return false;
  out.parameters.resize(out.events.back().at + out.events.back().count);
  // Events by shape, the shapes in the order of their first event.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
  std::vector<std::vector<std::size_t>> shapes;
  for (std::size_t i = 0; i < n; ++i) {
    const auto [at, is_new] = numbers.try_emplace({out.events[i].type, out.events[i].count}, shapes.size());
    if (is_new) shapes.emplace_back();
    shapes[at->second].push_back(i);
  }
  for (const auto& members : shapes) {
    for (std::uint32_t p = 0; p < out.events[members.front()].count; ++p) {
      const auto values = in.next(members.size());
      for (std::size_t i = 0; i < members.size(); ++i)
        out.parameters[out.events[members[i]].at + p] = static_cast<std::uint64_t>(values[i]);
    }
  }
  return in.ok();
}

bool read_raw_events(ColumnReader& in, std::size_t n, std::uint64_t time_base, DecodedEvents& out) {
  if (!read_event_heads(in, n, time_base, max_raw_bytes, out.raw_events)) return false;
  const std::size_t bytes = out.raw_events.back().at + out.raw_events.back().count;
  const char* text = in.bytes(bytes);
  if (text == nullptr) return false;
  out.text.assign(text, bytes);
  return true;
}

}  // namespace

bool decode_events(const ChunkHeader& header, const char* payload, std::size_t bytes, DecodedEvents& events,
                   std::string& error) {
  constexpr std::size_t head_bytes = 4 * groups + 12;
  events = {};
  error = "malformed event chunk";
  if (bytes < head_bytes) return false;
  std::uint32_t counts[groups];
  std::uint32_t signatures;
  std::uint64_t time_base;
  std::memcpy(counts, payload, sizeof counts);
  std::memcpy(&signatures, payload + sizeof counts, 4);
  std::memcpy(&time_base, payload + sizeof counts + 4, 8);
  std::uint64_t n = 0;
  for (const std::uint32_t count : counts) n += count;
  if (n != header.records || n > chunk_records || signatures > counts[0] + counts[1] + counts[6]) return false;
  const char* at = payload + head_bytes;
  const char* end = payload + bytes;
  const char* order = nullptr;
  if (std::find(std::begin(counts), std::end(counts), n) == std::end(counts)) {
    if (static_cast<std::uint64_t>(end - at) < n) return false;
    order = at;
    at += n;
  }
  ColumnReader in(at, end);
  const Signatures table = signatures == 0 ? Signatures{} : read_signatures(in, signatures);
  if (counts[0] != 0 && !read_calls(in, counts[0], table, time_base, events.calls)) return false;
  std::vector<std::int64_t> steps;
  if (counts[1] != 0 && !read_completions(in, counts[1], table, events.completions, steps)) return false;
  if (counts[6] != 0 && !read_starts(in, counts[6], table, events.starts)) return false;
  attach_to_calls(order, n, events);
  if (!find_starts(steps, events)) return false;
  if (counts[2] != 0) events.flushes = read_spans(in, counts[2], time_base, true);
  if (counts[3] != 0) events.losses = read_spans(in, counts[3], time_base, false);
  if (counts[4] != 0 && !read_events(in, counts[4], time_base, events)) return false;
  if (counts[5] != 0 && !read_raw_events(in, counts[5], time_base, events)) return false;
  if (!in.ok() || !in.at_end()) return false;
  error.clear();
  return true;
}

namespace {

// zstd's state is large to set up, beside most chunks: each thread keeps one.
std::size_t decompress_frame(char* out, std::size_t bytes, const char* in, std::size_t in_bytes) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  return ZSTD_decompressDCtx(context.get(), out, bytes, in, in_bytes);
}

}  // namespace

bool decompress(const ChunkHeader& header, const char* stored, std::vector<char>& raw, std::string& error) {
  // What a header claims is not trusted with memory: no chunk of tare's is larger.
  constexpr std::uint32_t largest = 1U << 28;
  error.clear();
  if (header.raw_bytes > largest) error = "chunk claims an impossible size";
  if (header.compression == Compression::none) {
    if (header.raw_bytes != header.stored_bytes) error = "uncompressed chunk of two sizes";
    if (error.empty()) raw.assign(stored, stored + header.stored_bytes);
  } else if (header.compression == Compression::zstd) {
    if (!error.empty()) return false;
    raw.resize(header.raw_bytes);
    const std::size_t size = decompress_frame(raw.data(), raw.size(), stored, header.stored_bytes);
    if (ZSTD_isError(size) || size != raw.size()) error = "chunk does not decompress to its size";
  } else {
    error = "unknown compression " + std::to_string(static_cast<int>(header.compression));
  }
  return error.empty();
}

}  // namespace tare::format
