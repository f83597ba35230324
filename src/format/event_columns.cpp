#include "format/event_columns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "format/column.h"

namespace tare::format {
namespace {

constexpr unsigned groups = 7;
enum Group : unsigned { calls, completions, flushes, losses, events, raw_events, starts };

// Reads columns one after another; after the first failure every further read fails too. Columns without values are
// not in the file.
class ColumnReader {
 public:
  ColumnReader(const char* in, const char* end) : in_(in), end_(end) {}
  void next(std::size_t n, std::vector<std::int64_t>& values) {
    values.resize(n);
    read(n, values.data());
  }
  // Of values that are unsigned.
  void next(std::size_t n, std::vector<std::uint64_t>& values) {
    values.resize(n);
    read(n, reinterpret_cast<std::int64_t*>(values.data()));
  }
  // Into scratch memory, valid until the next.
  const std::vector<std::int64_t>& next(std::size_t n) {
    next(n, scratch_);
    return scratch_;
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
  void read(std::size_t n, std::int64_t* values) {
    if (in_ != nullptr && n != 0) in_ = decode_column(in_, end_, values, n);
  }

  const char* in_;
  const char* end_;
  std::vector<std::int64_t> scratch_;
};

void read_signatures(ColumnReader& in, std::size_t n, EventColumns::Signatures& s) {
  for (auto* column :
       {&s.function, &s.site, &s.peer, &s.tag, &s.bytes, &s.communicator, &s.received, &s.source, &s.source_tag})
    in.next(n, *column);
}

bool are_below(const std::vector<std::int64_t>& values, std::size_t limit) {
  std::uint64_t largest = 0;
  for (const std::int64_t value : values) largest = std::max(largest, static_cast<std::uint64_t>(value));
  return values.empty() || largest < limit;
}

bool read_calls(ColumnReader& in, std::size_t n, std::size_t signatures, std::uint64_t time_base,
                EventColumns::Calls& to) {
  in.next(n, to.signature);
  in.next(n, to.enter);  // the gaps, at first
  in.next(n, to.duration);
  in.next(n, to.request);
  if (!in.ok() || !are_below(to.signature, signatures)) return false;
  std::uint64_t before = time_base;
  for (std::size_t i = 0; i < n; ++i) {
    to.enter[i] += before;
    before = to.enter[i] + to.duration[i];
  }
  return true;
}

bool read_starts(ColumnReader& in, std::size_t n, std::size_t signatures, EventColumns::Starts& to) {
  in.next(n, to.signature);
  in.next(n, to.request);
  to.call.assign(n, UINT32_MAX);
  return in.ok() && are_below(to.signature, signatures);
}

bool read_completions(ColumnReader& in, std::size_t n, std::size_t signatures, EventColumns::Completions& to,
                      std::vector<std::int64_t>& steps) {
  in.next(n, to.signature);
  in.next(n, steps);
  in.next(n, to.request);
  to.call.assign(n, UINT32_MAX);
  return in.ok() && are_below(to.signature, signatures);
}

// The call that each completion and each start follows. Without an order there are no calls.
void attach_to_calls(const char* order, std::size_t n, EventColumns& out) {
  if (order == nullptr || (out.completions.call.empty() && out.starts.call.empty())) return;
  std::uint32_t call = UINT32_MAX;
  std::size_t completion = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (order[i] == Group::calls) ++call;
    if (order[i] == Group::completions && completion < out.completions.call.size())
      out.completions.call[completion++] = call;
    if (order[i] == Group::starts && start < out.starts.call.size()) out.starts.call[start++] = call;
  }
}

void number_requests(EventColumns& out) {
  const auto& request = out.calls.request;
  std::vector<std::uint32_t>& call = out.requests.call;
  std::vector<std::uint32_t>& nth = out.requests.nth;
  call.resize(request.size() + out.starts.request.size());
  std::size_t count = 0;
  if (out.starts.request.empty()) {
    for (std::size_t i = 0; i < request.size(); ++i) {
      call[count] = static_cast<std::uint32_t>(i);
      count += static_cast<std::uint32_t>(request[i]) != no_request;
    }
    call.resize(count);
    nth.assign(count, UINT32_MAX);
    return;
  }
  nth.resize(call.size());
  std::uint32_t start = 0;
  const auto add_starts_of = [&](std::uint32_t of) {
    for (; start < out.starts.call.size() && out.starts.call[start] == of; ++start) {
      call[count] = UINT32_MAX;
      nth[count] = start;
      count += static_cast<std::uint32_t>(out.starts.request[start]) != no_request;
    }
  };
  add_starts_of(UINT32_MAX);
  for (std::uint32_t i = 0; i < request.size(); ++i) {
    call[count] = i;
    nth[count] = UINT32_MAX;
    count += static_cast<std::uint32_t>(request[i]) != no_request;
    add_starts_of(i);
  }
  call.resize(count);
  nth.resize(count);
}

// Where the requests of the completions were started, if in this chunk.
bool find_starts(const std::vector<std::int64_t>& steps, EventColumns& out) {
  auto& to = out.completions;
  to.start.resize(steps.size());
  std::uint64_t start = UINT64_MAX;  // on malformed input it wraps around, and is then out of range
  for (std::size_t i = 0; i < steps.size(); ++i) {
    start += static_cast<std::uint64_t>(steps[i]) + 1;
    const bool is_here = static_cast<std::uint32_t>(to.request[i]) == no_request;
    if (is_here && start >= out.requests.call.size()) return false;
    to.start[i] = is_here ? static_cast<std::uint32_t>(start) : UINT32_MAX;
  }
  return true;
}

void read_spans(ColumnReader& in, std::size_t n, std::uint64_t time_base, bool has_bytes,
                std::vector<DecodedSpan>& spans) {
  spans.resize(n);
  const auto read = [&](std::uint64_t DecodedSpan::*field) {
    const auto& values = in.next(n);
    for (std::size_t i = 0; i < n; ++i) spans[i].*field = static_cast<std::uint64_t>(values[i]);
  };
  read(&DecodedSpan::enter);
  read(&DecodedSpan::leave);  // durations, at first
  read(&DecodedSpan::records);
  if (has_bytes) read(&DecodedSpan::bytes);
  for (DecodedSpan& span : spans) {
    span.enter += time_base;
    span.leave += span.enter;
    if (!has_bytes) span.bytes = 0;
  }
}

// The columns that all events begin with: type, count of parameters or bytes, time.
bool read_event_heads(ColumnReader& in, std::size_t n, std::uint64_t time_base, std::uint64_t most,
                      EventColumns::Events& to) {
  to.type.resize(n);
  const auto& types = in.next(n);
  for (std::size_t i = 0; i < n; ++i) to.type[i] = static_cast<std::uint32_t>(types[i]);
  to.first.resize(n + 1);
  to.first[0] = 0;
  const auto& counts = in.next(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (static_cast<std::uint64_t>(counts[i]) > most) return false;
    to.first[i + 1] = to.first[i] + static_cast<std::uint32_t>(counts[i]);
  }
  in.next(n, to.time);
  std::uint64_t time = time_base;
  for (std::uint64_t& gap : to.time) gap = time += gap;
  return in.ok();
}

// Events by shape: type and number of parameters; the shapes in the order of their first event.
class Shapes {
 public:
  void add(std::uint32_t type, std::uint32_t count, std::uint32_t event) {
    const std::uint64_t key = static_cast<std::uint64_t>(type) * (max_parameters + 1) + count;
    Recent& recent = recent_[key % recent_.size()];
    if (recent.key != key) {
      const auto [at, is_new] = numbers_.try_emplace(key, members_.size());
      if (is_new) members_.emplace_back();
      recent = {key, at->second};
    }
    members_[recent.shape].push_back(event);
  }
  const std::vector<std::vector<std::uint32_t>>& members() const { return members_; }

 private:
  struct Recent {
    std::uint64_t key = UINT64_MAX;
    std::size_t shape = 0;
  };

  std::array<Recent, 64> recent_{};
  std::map<std::uint64_t, std::size_t> numbers_;
  std::vector<std::vector<std::uint32_t>> members_;
};

bool read_events(ColumnReader& in, std::size_t n, std::uint64_t time_base, EventColumns& out) {
  EventColumns::Events& to = out.events;
  if (!read_event_heads(in, n, time_base, max_parameters, to)) return false;
  out.parameters.resize(to.first.back());
  const auto count_of = [&](std::size_t event) { return to.first[event + 1] - to.first[event]; };
  Shapes shapes;
  for (std::uint32_t i = 0; i < n; ++i) shapes.add(to.type[i], count_of(i), i);
  for (const auto& members : shapes.members()) {
    const std::uint32_t count = count_of(members.front());
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto& values = in.next(members.size());
      for (std::size_t i = 0; i < members.size(); ++i)
        out.parameters[to.first[members[i]] + p] = static_cast<std::uint64_t>(values[i]);
    }
  }
  return in.ok();
}

bool read_raw_events(ColumnReader& in, std::size_t n, std::uint64_t time_base, EventColumns& out) {
  if (!read_event_heads(in, n, time_base, max_raw_bytes, out.raw_events)) return false;
  const std::size_t bytes = out.raw_events.first.back();
  const char* text = in.bytes(bytes);
  if (text == nullptr) return false;
  out.text.assign(text, bytes);
  return true;
}

}  // namespace

bool decode_columns(const ChunkHeader& header, const char* payload, std::size_t bytes, EventColumns& columns,
                    std::string& error) {
  constexpr std::size_t head_bytes = 4 * groups + 12;
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
  const std::uint64_t most_signatures =
      std::uint64_t{counts[Group::calls]} + counts[Group::completions] + counts[Group::starts];
  if (n != header.records || n > chunk_records || signatures > most_signatures) return false;
  const char* at = payload + head_bytes;
  const char* end = payload + bytes;
  const char* order = nullptr;
  if (std::find(std::begin(counts), std::end(counts), n) == std::end(counts)) {
    if (static_cast<std::uint64_t>(end - at) < n) return false;
    order = at;
    at += n;
  }
  ColumnReader in(at, end);
  std::vector<std::int64_t> steps;
  read_signatures(in, signatures, columns.signatures);
  if (!read_calls(in, counts[Group::calls], signatures, time_base, columns.calls)) return false;
  if (!read_completions(in, counts[Group::completions], signatures, columns.completions, steps)) return false;
  if (!read_starts(in, counts[Group::starts], signatures, columns.starts)) return false;
  attach_to_calls(order, n, columns);
  number_requests(columns);
  if (!find_starts(steps, columns)) return false;
  read_spans(in, counts[Group::flushes], time_base, true, columns.flushes);
  read_spans(in, counts[Group::losses], time_base, false, columns.losses);
  if (!read_events(in, counts[Group::events], time_base, columns)) return false;
  if (!read_raw_events(in, counts[Group::raw_events], time_base, columns)) return false;
  if (!in.ok() || !in.at_end()) return false;
  error.clear();
  return true;
}

}  // namespace tare::format
