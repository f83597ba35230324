#include "reader/events/event_table_schema.h"

#include <cstdio>

#include "reader/events/event_filter.h"

namespace tare::reader {
namespace {

using arrow::Field;
using arrow::Type;

std::int32_t number_unless_empty(arrow::Dictionary& texts, const std::string& text) {
  return text.empty() ? absent : texts.number_of(text);
}

// In the order of format::EventClass.
const std::vector<std::string> kinds = {"event", "packed", "raw", "region", "counter", "marker", "phase"};

using Texts = std::shared_ptr<const arrow::Array>;

// The texts of the dictionary columns.
struct Dictionaries {
  Texts functions, callers, files, communicators, scopes, keys, threads, names, units;
};

Field number(const char* name, Type type, bool nullable = true) { return {name, type, nullable, {}, {}}; }
Field texts(const char* name, const Texts& of) { return {name, Type::dictionary, true, {}, of}; }

// In the order of EventColumn.
arrow::Schema schema_of(const Dictionaries& of) {
  const Field request{
      "item",
      Type::structure,
      false,
      {number("request", Type::int64), number("starter", Type::int32), texts("communicator", of.communicators),
       texts("communicator_key", of.keys), number("peer", Type::int32), number("peer_world", Type::int32),
       number("tag", Type::int32), number("bytes", Type::int64)},
      {}};
  return {number("start_ns", Type::int64, false),
          number("duration_ns", Type::int64),
          number("world", Type::int32, false),
          number("rank", Type::int32, false),
          number("thread", Type::int32, false),
          texts("thread_name", of.threads),
          texts("function", of.functions),
          number("site", Type::int32),
          texts("caller", of.callers),
          texts("file", of.files),
          number("line", Type::int32),
          texts("communicator", of.communicators),
          texts("communicator_key", of.keys),
          texts("window", of.scopes),
          texts("window_key", of.keys),
          texts("mpi_file", of.scopes),
          texts("mpi_file_key", of.keys),
          number("peer", Type::int32),
          number("peer_world", Type::int32),
          number("root", Type::int32),
          number("tag", Type::int32),
          number("source", Type::int32),
          number("source_world", Type::int32),
          number("source_tag", Type::int32),
          number("bytes", Type::int64),
          number("received", Type::int64),
          number("request", Type::int64),
          number("starter", Type::int32),
          Field{"requests", Type::list, true, {request}, {}},
          number("records", Type::int64),
          texts("kind", std::make_shared<arrow::Array>(arrow::text_array(kinds))),
          texts("name", of.names),
          number("begin", Type::boolean),
          number("value", Type::float64),
          texts("unit", of.units),
          Field{"parameters", Type::list, true, {number("item", Type::float64, false)}, {}},
          Field{"words", Type::list, true, {number("item", Type::uint64, false)}, {}},
          number("text", Type::utf8)};
}

}  // namespace

std::int32_t key_number(arrow::Dictionary& keys, std::uint64_t key) {
  if (key == 0) return absent;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(key));
  return keys.number_of(text);
}

EventTexts::EventTexts(Run& run, bool with_sites) {
  for (const std::string& name : run.functions().names()) function_numbers_.push_back(functions_.number_of(name));
  flush_ = functions_.number_of(flush_name);
  drain_ = functions_.number_of(drain_name);
  loss_ = functions_.number_of(loss_name);
  if (with_sites) {
    for (const SiteInfo& site : run.sites())
      sites_.push_back({number_unless_empty(callers_, site.symbol.caller),
                        number_unless_empty(files_, site.symbol.file),
                        site.symbol.line == 0 ? absent : static_cast<std::int32_t>(site.symbol.line)});
  }
  for (const CommunicatorInfo& communicator : run.communicators())
    communicators_.push_back({communicator_names_.number_of(communicator.name), key_number(keys_, communicator.key)});
  for (const ScopeInfo& scope : run.scopes())
    scopes_.push_back({scope.is_file, scope_names_.number_of(scope.name), key_number(keys_, scope.key)});
  lost_type_ = {names_.number_of(other_name), absent};
  for (const EventType& type : run.event_types()) {
    const bool is_counter = type.event_class == format::EventClass::counter;
    types_.push_back({names_.number_of(type.name), is_counter ? units_.number_of(type.unit) : absent});
  }
  for (const Process& process : run.processes())
    for (const auto& [thread, name] : process.thread_names) threads_.number_of(name);
}

std::int32_t EventTexts::thread_name(const Process& process, std::uint32_t thread) const {
  const auto named = process.thread_names.find(thread);
  return named == process.thread_names.end() ? absent : threads_.find(named->second);
}

arrow::Schema EventTexts::schema() const {
  return schema_of({functions_.array(), callers_.array(), files_.array(), communicator_names_.array(),
                    scope_names_.array(), keys_.array(), threads_.array(), names_.array(), units_.array()});
}

std::vector<std::string> event_column_names() {
  std::vector<std::string> names;
  for (const Field& field : schema_of({})) names.push_back(field.name);
  return names;
}

}  // namespace tare::reader
