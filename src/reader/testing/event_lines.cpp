#include "reader/testing/event_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "reader/events/event_tables.h"

namespace tare::reader::testing {
namespace {

using arrow::Type;

template <typename T>
T value(const arrow::Buffer& buffer, std::size_t i) {
  return static_cast<const T*>(buffer.data)[i];
}

bool bit(const arrow::Buffer& buffer, std::size_t i) { return (value<std::uint8_t>(buffer, i / 8) >> i % 8 & 1) != 0; }

std::string number(double of) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", of);
  return text;
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string utf8(const arrow::Array& array, std::size_t i) {
  const auto first = static_cast<std::size_t>(value<std::int32_t>(array.values, i));
  const auto end = static_cast<std::size_t>(value<std::int32_t>(array.values, i + 1));
  return in_quotes({static_cast<const char*>(array.contents.data) + first, end - first});
}

// Makes a line of "name=value " for the values of a row that are not absent.
class Line {
 public:
  template <typename T>
  void add(const char* name, T of, T nothing) {
    if (of != nothing) line_ += std::string(name) + "=" + std::to_string(of) + " ";
  }
  void add(const char* name, const std::string& text) { line_ += std::string(name) + "=" + text + " "; }
  const std::string& text() const { return line_; }

 private:
  std::string line_;
};

std::string key_text(std::uint64_t key) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(key));
  return in_quotes(text);
}

void add_communicator(Line& line, const Run& run, std::int32_t number) {
  if (number < 0) return;
  const CommunicatorInfo& of = run.communicators()[static_cast<std::size_t>(number)];
  line.add("communicator", in_quotes(arrow::as_utf8(of.name)));
  if (of.key != 0) line.add("communicator_key", key_text(of.key));
}

void add_call(Line& line, Run& run, const EventRow& row) {
  line.add("function", in_quotes(EventStream::name(run, row)));
  if (row.site >= 0) {
    const SiteInfo& site = run.sites()[static_cast<std::size_t>(row.site)];
    line.add("site", row.site, -1);
    if (!site.symbol.caller.empty()) line.add("caller", in_quotes(site.symbol.caller));
    if (!site.symbol.file.empty()) line.add("file", in_quotes(site.symbol.file));
    line.add("line", site.symbol.line, 0U);
  }
  add_communicator(line, run, row.communicator);
  if (row.scope >= 0) {
    const ScopeInfo& scope = run.scopes()[static_cast<std::size_t>(row.scope)];
    const std::string name = scope.is_file ? "mpi_file" : "window";
    line.add(name.c_str(), in_quotes(scope.name));
    if (scope.key != 0) line.add((name + "_key").c_str(), key_text(scope.key));
  }
  if (!row.rooted) line.add("peer", row.peer, format::no_peer);
  if (!row.rooted) line.add("peer_world", row.peer_world, format::no_peer);
  if (row.rooted) line.add("root", row.peer, format::no_peer);
  line.add("tag", row.tag, format::no_tag);
  line.add("source", row.source, format::no_peer);
  line.add("source_world", row.source_world, format::no_peer);
  line.add("source_tag", row.source_tag, format::no_tag);
}

std::string requests_text(const Run& run, const std::vector<EventRequest>& requests) {
  std::string all;
  for (const EventRequest& of : requests) {
    Line line;
    line.add("request", of.request, format::no_request);
    line.add("starter", of.starter, UINT32_MAX);
    add_communicator(line, run, of.communicator);
    line.add("peer", of.peer, format::no_peer);
    line.add("peer_world", of.peer_world, format::no_peer);
    line.add("tag", of.tag, format::no_tag);
    line.add("bytes", of.bytes, format::no_bytes);
    all += "{" + line.text() + "} ";
  }
  return "[" + all + "]";
}

double number_of(std::uint64_t word, format::ParameterType type) {
  using enum format::ParameterType;
  const std::uint64_t low = type == i8 || type == u8     ? 8
                            : type == i16 || type == u16 ? 16
                            : type == i32 || type == u32 ? 32
                                                         : 64;
  if (type == f64) return std::bit_cast<double>(word);
  if (type == f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
  const std::uint64_t high = word << (64 - low);
  if (type == u8 || type == u16 || type == u32 || type == u64) return static_cast<double>(high >> (64 - low));
  return static_cast<double>(static_cast<std::int64_t>(high) >> (64 - low));
}

void add_lists(Line& line, const EventRow& row, const std::vector<format::ParameterType>& types) {
  std::string numbers, words;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    numbers += number(number_of(row.parameters[i], i < types.size() ? types[i] : format::ParameterType::u64)) + " ";
    words += std::to_string(row.parameters[i]) + " ";
  }
  line.add("parameters", "[" + numbers + "]");
  line.add("words", "[" + words + "]");
}

void add_event(Line& line, const Run& run, const EventRow& row) {
  static const char* kinds[] = {"event", "packed", "raw", "region", "counter", "marker", "phase"};
  static const EventType lost{format::EventClass::packed, "other", "", {}};
  using enum format::EventClass;
  const EventType& type = row.event_type < 0 ? lost : run.event_types()[static_cast<std::size_t>(row.event_type)];
  const bool is_raw = row.kind == EventKind::raw_event;
  const format::EventClass of = is_raw ? raw : type.event_class == raw ? packed : type.event_class;
  const std::uint64_t first = row.parameters.empty() ? 0 : row.parameters.front();
  line.add("kind", in_quotes(kinds[static_cast<std::size_t>(of)]));
  line.add("name", in_quotes(type.name));
  if (of == region || of == phase) line.add("begin", first != 0 ? "true" : "false");
  if (of == counter) {
    line.add("value", number(std::bit_cast<double>(first)));
    line.add("unit", in_quotes(type.unit));
  }
  if (of == regular || of == packed) add_lists(line, row, type.parameters);
  if (of == raw) line.add("text", in_quotes(arrow::as_utf8(row.text)));
}

}  // namespace

std::string text_of(const arrow::Field& field, const arrow::Array& array, std::size_t i) {
  if (array.nulls != 0 && !bit(array.validity, i)) return "";
  switch (field.type) {
    case Type::boolean:
      return bit(array.values, i) ? "true" : "false";
    case Type::int32:
      return std::to_string(value<std::int32_t>(array.values, i));
    case Type::int64:
      return std::to_string(value<std::int64_t>(array.values, i));
    case Type::uint64:
      return std::to_string(value<std::uint64_t>(array.values, i));
    case Type::float64:
      return number(value<double>(array.values, i));
    case Type::utf8:
      return utf8(array, i);
    case Type::dictionary:
      return utf8(*field.dictionary, static_cast<std::size_t>(value<std::int32_t>(array.values, i)));
    case Type::structure: {
      std::string all;
      for (std::size_t k = 0; k < field.children.size(); ++k) {
        const std::string of = text_of(field.children[k], array.children[k], i);
        if (!of.empty()) all += field.children[k].name + "=" + of + " ";
      }
      return "{" + all + "}";
    }
    case Type::list:
      break;
  }
  std::string all;
  for (auto k = value<std::int32_t>(array.values, i); k < value<std::int32_t>(array.values, i + 1); ++k)
    all += text_of(field.children[0], array.children[0], static_cast<std::size_t>(k)) + " ";
  return "[" + all + "]";
}

std::vector<std::string> lines_of(Run& run, const std::vector<EventRow>& rows) {
  std::vector<std::string> lines;
  for (const EventRow& row : rows) {
    Line line;
    const bool is_event = row.kind == EventKind::event || row.kind == EventKind::raw_event;
    line.add("start_ns", row.start_ns, INT64_MIN);
    if (!is_event) line.add("duration_ns", row.duration_ns, INT64_MIN);
    line.add("world", row.world, -1);
    line.add("rank", row.rank, INT32_MIN);
    line.add("thread", row.thread, UINT32_MAX);
    if (row.thread_name != nullptr) line.add("thread_name", in_quotes(*row.thread_name));
    if (!is_event) add_call(line, run, row);
    line.add("bytes", row.bytes, format::no_bytes);
    line.add("received", row.received, format::no_bytes);
    line.add("request", row.request, format::no_request);
    line.add("starter", row.starter, UINT32_MAX);
    if (!row.requests.empty()) line.add("requests", requests_text(run, row.requests));
    if (!is_event && !is_call(row.kind)) line.add("records", std::to_string(row.records));
    if (is_event) add_event(line, run, row);
    if (row.kind == EventKind::source_call) add_lists(line, row, {});
    lines.push_back(line.text());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> lines_of_tables(Run& run, const EventFilter& filter) {
  auto tables = event_table(run, filter);
  EXPECT_TRUE(tables) << tables.error();
  std::vector<std::string> lines;
  std::vector<arrow::Array> columns;
  const arrow::Schema& schema = tables->schema;
  for (std::size_t rows = tables->next(columns); rows != 0; rows = tables->next(columns)) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::string line;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::string of = text_of(schema[k], columns[k], i);
        if (!of.empty()) line += schema[k].name + "=" + of + " ";
      }
      lines.push_back(line);
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace tare::reader::testing
