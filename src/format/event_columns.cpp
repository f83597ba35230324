#include "format/event_columns.h"

#include <array>
#include <cstring>
#include <map>

#include "format/column.h"
#include "format/record_kind.h"
#include "format/sequence.h"
#include "format/spans.h"

namespace tare::format {
namespace {

using Group = RecordGroup::Number;
constexpr unsigned groups = RecordGroup::count;
constexpr unsigned groups_of_format_1 = RecordGroup::source_calls;

// Reads columns one after another. After the first failure all further reads fail. Columns without values are not in
// the file.
class ColumnReader {
 public:
  ColumnReader(const char* in, const char* end) : in_(in), end_(end) {}
  void next(std::size_t n, std::vector<std::int64_t>& values) {
    values.resize(n);
    read(n, values.data());
  }
  // For unsigned values.
  void next(std::size_t n, std::vector<std::uint64_t>& values) {
    values.resize(n);
    read(n, reinterpret_cast<std::int64_t*>(values.data()));
  }
  // The values lie in scratch memory, valid until the next read.
  const std::vector<std::int64_t>& next(std::size_t n) {
    next(n, scratch_);
    return scratch_;
  }
  bool ok() const { return in_ != nullptr; }
  // The end of the last column that was read; nullptr if a read has failed.
  const char* at() const { return in_; }
  // The next n bytes; nullptr if there are fewer.
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

// Kinds of the records that take part in the sequence, and whether they have a request of their own.
struct Kind {
  Group group;
  bool starts;
};

// False if a signature is of another kind of record.
bool read_signatures(ColumnReader& in, std::size_t n, EventColumns::Signatures& s, std::vector<Kind>& kinds) {
  for (auto* column :
       {&s.function, &s.site, &s.peer, &s.tag, &s.bytes, &s.communicator, &s.received, &s.source, &s.source_tag})
    in.next(n, *column);
  const auto& starts = in.next(n);
  kinds.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t function = s.function[i];
    if (function >= first_other && function != completion && function != start) return false;
    kinds[i] = {function == completion ? RecordGroup::completions
                : function == start    ? RecordGroup::starts
                                       : RecordGroup::calls,
                starts[i] != 0};
  }
  return in.ok();
}

bool read_sequence(ColumnReader& in, std::size_t misses, std::size_t records, std::size_t signatures,
                   std::vector<std::uint16_t>& numbers) {
  thread_local std::vector<std::int64_t> runs;
  in.next(misses, runs);
  const auto& missed = in.next(misses);
  return in.ok() && decode_sequence(runs, missed, records, signatures, numbers);
}

// Distributes the records of the sequence to their groups, and lists the requests that they start. False if their
// numbers differ from `counts`.
bool sort_out(const std::vector<std::uint16_t>& numbers, const std::vector<Kind>& kinds, const std::uint32_t* counts,
              EventColumns& out) {
  std::uint32_t found[groups] = {};
  std::size_t requests = 0;
  out.calls.signature.resize(numbers.size());
  out.completions.signature.resize(numbers.size());
  out.completions.call.resize(numbers.size());
  out.starts.signature.resize(numbers.size());
  out.starts.call.resize(numbers.size());
  out.requests.call.resize(numbers.size());
  out.requests.nth.resize(numbers.size());
  for (const std::uint16_t number : numbers) {
    const Kind kind = kinds[number];
    const std::uint32_t i = found[kind.group]++;
    if (kind.group == RecordGroup::calls) {
      out.calls.signature[i] = number;
      out.requests.call[requests] = i;
      out.requests.nth[requests] = UINT32_MAX;
    } else if (kind.group == RecordGroup::completions) {
      out.completions.signature[i] = number;
      out.completions.call[i] = found[RecordGroup::calls] - 1;  // UINT32_MAX if there was none
    } else {
      out.starts.signature[i] = number;
      out.starts.call[i] = found[RecordGroup::calls] - 1;
      out.requests.call[requests] = UINT32_MAX;
      out.requests.nth[requests] = i;
    }
    requests += kind.starts ? 1 : 0;
  }
  for (const Group group : {RecordGroup::calls, RecordGroup::completions, RecordGroup::starts})
    if (found[group] != counts[group]) return false;
  out.calls.signature.resize(counts[RecordGroup::calls]);
  out.completions.signature.resize(counts[RecordGroup::completions]);
  out.completions.call.resize(counts[RecordGroup::completions]);
  out.starts.signature.resize(counts[RecordGroup::starts]);
  out.starts.call.resize(counts[RecordGroup::starts]);
  out.requests.call.resize(requests);
  out.requests.nth.resize(requests);
  return true;
}

// Sets the request numbers in the records that started them.
bool read_requests(ColumnReader& in, EventColumns& out) {
  const auto& started = in.next(out.requests.call.size());
  if (!in.ok()) return false;
  out.calls.request.assign(out.calls.signature.size(), no_request);
  out.starts.request.assign(out.starts.signature.size(), no_request);
  for (std::size_t i = 0; i < started.size(); ++i) {
    const std::uint32_t call = out.requests.call[i];
    (call != UINT32_MAX ? out.calls.request[call] : out.starts.request[out.requests.nth[i]]) = started[i];
  }
  return true;
}

bool read_spans_of_calls(const char* in, const char* end, std::uint64_t time_base, EventColumns::Calls& to) {
  const std::size_t n = to.signature.size();
  to.enter.resize(n);
  to.duration.resize(n);
  if (n == 0) return in == end;
  return decode_spans(in, end, time_base, n, to.enter.data(), to.duration.data());
}

// Finds the starts of the completions' requests, if they are in this chunk.
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

bool read_parameters(ColumnReader& in, const EventColumns::Events& to, std::vector<std::uint64_t>& parameters) {
  const std::size_t n = to.type.size();
  parameters.resize(to.first.back());
  const auto count_of = [&](std::size_t event) { return to.first[event + 1] - to.first[event]; };
  Shapes shapes;
  for (std::uint32_t i = 0; i < n; ++i) shapes.add(to.type[i], count_of(i), i);
  for (const auto& members : shapes.members()) {
    const std::uint32_t count = count_of(members.front());
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto& values = in.next(members.size());
      for (std::size_t i = 0; i < members.size(); ++i)
        parameters[to.first[members[i]] + p] = static_cast<std::uint64_t>(values[i]);
    }
  }
  return in.ok();
}

bool read_events(ColumnReader& in, std::size_t n, std::uint64_t time_base, EventColumns& out) {
  return read_event_heads(in, n, time_base, max_parameters, out.events) &&
         read_parameters(in, out.events, out.parameters);
}

bool read_source_calls(ColumnReader& in, std::size_t n, std::uint64_t time_base, EventColumns& out) {
  EventColumns::SourceCalls& to = out.source_calls;
  if (!read_event_heads(in, n, time_base, max_parameters, to)) return false;
  in.next(n, to.duration);
  in.next(n, to.site);
  in.next(n, to.object);
  return in.ok() && read_parameters(in, to, out.arguments);
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
  const std::size_t counts_bytes = 4 * (header.version == 1 ? groups_of_format_1 : groups);
  const std::size_t head_bytes = counts_bytes + 16;
  error = "malformed event chunk";
  if (bytes < head_bytes) return false;
  std::uint32_t counts[groups] = {};
  std::uint32_t signatures;
  std::uint32_t misses;
  std::uint64_t time_base;
  std::memcpy(counts, payload, counts_bytes);
  std::memcpy(&signatures, payload + counts_bytes, 4);
  std::memcpy(&misses, payload + counts_bytes + 4, 4);
  std::memcpy(&time_base, payload + counts_bytes + 8, 8);
  std::uint64_t n = 0;
  for (const std::uint32_t count : counts) n += count;
  if (n != header.records || n > chunk_records) return false;
  const std::uint32_t in_sequence =
      counts[RecordGroup::calls] + counts[RecordGroup::completions] + counts[RecordGroup::starts];
  if (signatures > in_sequence || misses > in_sequence) return false;
  ColumnReader in(payload + head_bytes, payload + bytes);
  thread_local std::vector<Kind> kinds;
  thread_local std::vector<std::uint16_t> numbers;
  thread_local std::vector<std::int64_t> steps;
  if (!read_signatures(in, signatures, columns.signatures, kinds)) return false;
  if (!read_sequence(in, misses, in_sequence, signatures, numbers)) return false;
  if (!sort_out(numbers, kinds, counts, columns) || !read_requests(in, columns)) return false;
  in.next(counts[RecordGroup::completions], steps);
  in.next(counts[RecordGroup::completions], columns.completions.request);
  if (!in.ok() || !find_starts(steps, columns)) return false;
  read_spans(in, counts[RecordGroup::flushes], time_base, true, columns.flushes);
  read_spans(in, counts[RecordGroup::losses], time_base, false, columns.losses);
  if (!read_events(in, counts[RecordGroup::events], time_base, columns)) return false;
  if (!read_raw_events(in, counts[RecordGroup::raw_events], time_base, columns)) return false;
  if (!read_source_calls(in, counts[RecordGroup::source_calls], time_base, columns)) return false;
  if (!in.ok() || !read_spans_of_calls(in.at(), payload + bytes, time_base, columns.calls)) return false;
  error.clear();
  return true;
}

}  // namespace tare::format
