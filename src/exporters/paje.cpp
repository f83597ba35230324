#include "exporters/formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "exporters/output_file.h"
#include "exporters/texts.h"

namespace tare::exporters {
namespace {

using namespace tare::reader;
using format::EventClass;

// The definitions of lines, whose numbers begin the lines. Fields after the value are tare's; readers that do not know
// them skip them.
enum Line : unsigned {
  define_container = 0,
  define_state,
  define_variable,
  define_event,
  define_link,
  define_value,
  create_container,
  destroy_container,
  push_state,
  push_call,
  pop_state,
  set_variable,
  new_event,
  start_link,
  end_link
};
struct Definition {
  std::string_view name;
  std::vector<std::string_view> fields;  // name and type
};
std::string header() {
  constexpr std::string_view time = "Time date", type = "Type string", alias = "Alias string", name = "Name string",
                             container = "Container string", value = "Value string", key = "Key string",
                             color = "Color color";
  const Definition definitions[] = {
      {"DefineContainerType", {alias, type, name}},
      {"DefineStateType", {alias, type, name}},
      {"DefineVariableType", {alias, type, name, color}},
      {"DefineEventType", {alias, type, name}},
      {"DefineLinkType", {alias, type, "StartContainerType string", "EndContainerType string", name}},
      {"DefineEntityValue", {alias, type, name, color}},
      {"CreateContainer", {time, alias, type, container, name}},
      {"DestroyContainer", {time, type, name}},
      {"PushState", {time, type, container, value}},
      {"PushState",
       {time, type, container, value, "Site string", "Communicator string", "Peer int", "Tag int", "Bytes string"}},
      {"PopState", {time, type, container}},
      {"SetVariable", {time, type, container, "Value double"}},
      {"NewEvent", {time, type, container, value, "Text string"}},
      {"StartLink", {time, type, container, "StartContainer string", value, key}},
      {"EndLink", {time, type, container, "EndContainer string", value, key}}};
  std::string text;
  unsigned number = 0;
  for (const Definition& definition : definitions) {
    text.append("%EventDef Paje").append(definition.name).append(" " + std::to_string(number++) + "\n");
    for (const std::string_view field : definition.fields) text.append("% ").append(field).append("\n");
    text += "%EndEventDef\n";
  }
  return text;
}

// The colours of Okabe and Ito, which colour-blind people can distinguish.
constexpr std::array<std::string_view, 8> colors = {"0.00 0.45 0.70", "0.90 0.62 0.00", "0.00 0.62 0.45",
                                                    "0.80 0.47 0.65", "0.34 0.71 0.91", "0.84 0.37 0.00",
                                                    "0.94 0.89 0.26", "0.60 0.60 0.60"};

// Finds messages with both ends in the exported part: readers of Pajé refuse links with one end.
class MessageEnds : public TimelineWriter {
 public:
  void begin_track(const Track&) override {}
  void enter(const Track&, std::int64_t, const Span& span) override { add(sent_, span.flows.sent); }
  void leave(const Track&, std::int64_t, const Span& span) override { add(received_, span.flows.received); }
  void event(const Track&, std::int64_t, const EventRow&) override {}
  bool has_failed() const override { return false; }

  bool has_both(std::uint64_t message) const { return has(sent_, message) && has(received_, message); }

 private:
  static void add(std::vector<bool>& to, const std::vector<std::uint64_t>& messages) {
    for (const std::uint64_t message : messages) {
      if (message >= to.size()) to.resize(message + 1 + message / 2);
      to[message] = true;
    }
  }
  static bool has(const std::vector<bool>& in, std::uint64_t message) { return message < in.size() && in[message]; }

  std::vector<bool> sent_, received_;  // by number of the message
};

class PajeWriter : public TimelineWriter {
 public:
  PajeWriter(Run& run, const std::string& path, const ExportOptions& options, const MessageEnds& ends)
      : run_(run), ends_(ends), names_(run), out_(path), zero_ns_(first_time_ns(run, options.start_ns)) {
    last_ns_ = zero_ns_;
    out_.write(header());
    line(define_container).word("P").word("0").quoted("process").end();
    line(define_container).word("T").word("P").quoted("thread").end();
    line(define_state).word("S").word("T").quoted("state").end();
    line(define_event).word("E").word("T").quoted("event").end();
    line(define_link).word("L").word("0").word("T").word("T").quoted("message").end();
    line(define_value).word("m").word("L").quoted("message").quoted("0.2 0.2 0.2").end();
  }

  void begin_track(const Track& track) override;
  void enter(const Track& track, std::int64_t time_ns, const Span& span) override;
  void leave(const Track& track, std::int64_t time_ns, const Span& span) override;
  void event(const Track& track, std::int64_t time_ns, const EventRow& row) override;
  bool has_failed() const override { return out_.has_failed(); }
  std::string finish();

 private:
  PajeWriter& line(Line kind) { return number(kind, false); }
  PajeWriter& time(std::int64_t time_ns);
  PajeWriter& word(std::string_view text) {
    out_.buffer().append(1, ' ').append(text);
    return *this;
  }
  PajeWriter& number(std::uint64_t value, bool is_field = true) {
    char digits[24];
    if (is_field) out_.buffer().push_back(' ');
    out_.buffer().append(digits, std::to_chars(digits, std::end(digits), value).ptr);
    return *this;
  }
  // A letter and a number.
  PajeWriter& alias(char kind, std::uint64_t value) {
    out_.buffer().append({' ', kind});
    return number(value, false);
  }
  PajeWriter& quoted(std::string_view text);
  void end() {
    out_.buffer().push_back('\n');
    out_.wrote();
  }
  std::uint32_t value_of(const EventRow& row, char type);
  void create_process(std::uint32_t process);
  void write_link(Line kind, const Track& track, std::int64_t time_ns, std::uint64_t message);

  Run& run_;
  const MessageEnds& ends_;
  Names names_;
  OutputFile out_;
  std::int64_t zero_ns_, last_ns_ = 0;
  std::set<std::uint32_t> processes_;
  std::vector<std::uint32_t> process_of_;                           // by track
  std::map<std::pair<char, std::uint32_t>, std::uint32_t> values_;  // by type, kind and number of events
  std::set<std::int32_t> variables_;                                // types of counters
};

// The format needs times in order. Spans that are open at the start of the exported part have begun before it.
PajeWriter& PajeWriter::time(std::int64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  const auto since = static_cast<std::uint64_t>(last_ns_ - zero_ns_);
  number(since / 1'000'000'000);
  char fraction[11] = ".000000000";
  std::uint64_t rest = since % 1'000'000'000;
  for (int i = 9; i > 0; --i, rest /= 10) fraction[i] = static_cast<char>('0' + rest % 10);
  out_.buffer().append(fraction, sizeof fraction - 1);
  return *this;
}

PajeWriter& PajeWriter::quoted(std::string_view text) {
  std::string& to = out_.buffer();
  to.append(" \"");
  if (text.empty()) text = "-";  // PajeNG cannot read an empty text
  // The format cannot escape it.
  for (const char c : text) to.push_back(c == '"' ? '\'' : c);
  to.push_back('"');
  return *this;
}

void PajeWriter::create_process(std::uint32_t process) {
  if (!processes_.insert(process).second) return;
  line(create_container).time(last_ns_).alias('p', process).word("P").word("0").quoted(names_.process(process)).end();
}

void PajeWriter::begin_track(const Track& track) {
  create_process(track.process);
  process_of_.push_back(track.process);
  // Some readers identify containers by name.
  const std::string name = names_.process(track.process) + " " + names_.thread(track) +
                           (track.thread == 0 ? "" : " (" + std::to_string(track.thread) + ")");
  line(create_container).time(last_ns_).alias('t', track.number).word("T").alias('p', track.process).quoted(name).end();
}

std::uint32_t PajeWriter::value_of(const EventRow& row, char type) {
  const std::uint32_t key = name_key(row, is_of_program(row.kind) ? EventKind::event : row.kind);
  const auto [at, is_new] = values_.emplace(std::pair{type, key}, static_cast<std::uint32_t>(values_.size()));
  if (is_new)
    line(define_value)
        .alias('v', at->second)
        .word(std::string_view(&type, 1))
        .quoted(names_.event(row))
        .quoted(colors[at->second % colors.size()])
        .end();
  return at->second;
}

void PajeWriter::write_link(Line kind, const Track& track, std::int64_t time_ns, std::uint64_t message) {
  if (!ends_.has_both(message)) return;
  line(kind).time(time_ns).word("L").word("0").alias('t', track.number).word("m").alias('k', message).end();
}

void PajeWriter::enter(const Track& track, std::int64_t time_ns, const Span& span) {
  const EventRow& row = span.row;
  const std::uint32_t value = value_of(row, 'S');
  const bool is_call = reader::is_call(row.kind);
  line(is_call ? push_call : push_state).time(time_ns).word("S").alias('t', track.number).alias('v', value);
  if (is_call) {
    quoted(place_text(names_.site(row.site)));
    quoted(row.communicator < 0 ? std::string() : names_.communicator(row.communicator));
    const auto number_or_none = [&](std::int32_t of, std::int32_t none) { word(std::to_string(of == none ? -1 : of)); };
    number_or_none(row.peer, format::no_peer);
    number_or_none(row.tag, format::no_tag);
    quoted(row.bytes == format::no_bytes ? std::string() : std::to_string(row.bytes));
  }
  end();
  for (const std::uint64_t message : span.flows.sent) write_link(start_link, track, time_ns, message);
}

void PajeWriter::leave(const Track& track, std::int64_t time_ns, const Span& span) {
  for (const std::uint64_t message : span.flows.received) write_link(end_link, track, time_ns, message);
  line(pop_state).time(time_ns).word("S").alias('t', track.number).end();
}

void PajeWriter::event(const Track& track, std::int64_t time_ns, const EventRow& row) {
  const EventClass event_class = class_of(run_, row);
  if (event_class == EventClass::counter) {
    const double value = std::bit_cast<double>(row.parameters.empty() ? 0 : row.parameters.front());
    if (!std::isfinite(value)) return;  // the format has no such values
    if (variables_.insert(row.event_type).second) {
      const std::string& unit = run_.event_types()[static_cast<std::size_t>(row.event_type)].unit;
      const std::string name = names_.event(row) + (unit.empty() ? "" : " (" + plain_text(unit) + ")");
      const auto color = colors[static_cast<std::size_t>(row.event_type) % colors.size()];
      line(define_variable).alias('c', static_cast<std::uint64_t>(row.event_type)).word("P").quoted(name);
      quoted(color).end();
    }
    char digits[32];
    const auto last = std::to_chars(digits, std::end(digits), value).ptr;
    line(set_variable).time(time_ns).alias('c', static_cast<std::uint64_t>(row.event_type));
    return alias('p', track.process).word(std::string_view(digits, static_cast<std::size_t>(last - digits))).end();
  }
  const std::uint32_t value = value_of(row, 'E');
  line(new_event).time(time_ns).word("E").alias('t', track.number).alias('v', value);
  quoted(event_class == EventClass::raw ? plain_text(row.text) : parameters_text(run_, row)).end();
}

std::string PajeWriter::finish() {
  for (std::size_t i = 0; i < process_of_.size(); ++i)
    line(destroy_container).time(last_ns_).word("T").alias('t', i).end();
  for (const std::uint32_t process : processes_)
    line(destroy_container).time(last_ns_).word("P").alias('p', process).end();
  return out_.finish();
}

}  // namespace

Result<TimelineSummary> write_paje(Run& run, const std::string& path, ExportOptions options) {
  const TimelineOptions timeline{
      .filter = std::move(options.filter), .finds_messages = true, .is_ordered = true, .goes_on = options.goes_on};
  MessageEnds ends;
  auto first = write_timeline(run, timeline, ends);
  if (!first || first->was_stopped) return first;
  PajeWriter writer(run, path, options, ends);
  return write_file(run, timeline, writer);
}

}  // namespace tare::exporters
