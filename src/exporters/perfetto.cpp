#include "exporters/formats.h"

#include <algorithm>
#include <bit>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "exporters/output_file.h"
#include "exporters/texts.h"
#include "reader/run/used_file_names.h"

namespace tare::exporters {
namespace {

using namespace tare::reader;
using format::EventClass;
using protozero::pbf_writer;

// Numbers of fields of Perfetto's protobufs, from protos/perfetto/trace in its source. They never change.
namespace trace {
inline constexpr std::uint32_t packet = 1;
}
namespace trace_packet {
inline constexpr std::uint32_t clock_snapshot = 6, timestamp = 8, trusted_packet_sequence_id = 10, track_event = 11,
                               interned_data = 12, sequence_flags = 13, track_descriptor = 60, perf_sample = 66;
inline constexpr std::uint32_t incremental_state_cleared = 1, needs_incremental_state = 2;  // sequence_flags
}  // namespace trace_packet
namespace clock_snapshot {
inline constexpr std::uint32_t clocks = 1, clock_id = 1, timestamp = 2;  // the last two of a clock
inline constexpr std::uint32_t realtime = 1, boottime = 6;               // clock_id; the latter is that of timestamps
}  // namespace clock_snapshot
namespace track_descriptor {
inline constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
}
namespace process_descriptor {
inline constexpr std::uint32_t pid = 1, cmdline = 2, legacy_sort_index = 3, process_name = 6, process_labels = 8;
}
namespace thread_descriptor {
inline constexpr std::uint32_t pid = 1, tid = 2, legacy_sort_index = 3, thread_name = 5;
}
namespace counter_descriptor {
inline constexpr std::uint32_t unit_name = 6;
}
namespace track_event {
inline constexpr std::uint32_t category_iids = 3, debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11,
                               source_location_iid = 34, double_counter_value = 44, flow_ids = 47,
                               terminating_flow_ids = 48;
enum Type : std::uint32_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };
}  // namespace track_event
namespace debug_annotation {
inline constexpr std::uint32_t name_iid = 1, uint_value = 3, int_value = 4, double_value = 5, string_value = 6,
                               array_values = 12, string_value_iid = 17;
}
namespace perf_sample {
inline constexpr std::uint32_t pid = 2, tid = 3, callstack_iid = 4, cpu_mode = 5;
inline constexpr std::uint32_t mode_user = 2;  // cpu_mode
}  // namespace perf_sample
namespace interned_data {
inline constexpr std::uint32_t event_categories = 1, event_names = 2, debug_annotation_names = 3, source_locations = 4,
                               function_names = 5, frames = 6, callstacks = 7, mapping_paths = 17, source_paths = 18,
                               mappings = 19, debug_annotation_string_values = 29;
inline constexpr std::uint32_t iid = 1, name = 2;  // of an entry; of a string value `str`
inline constexpr std::uint32_t file_name = 2, function_name = 3, line_number = 4;  // of a source location
}  // namespace interned_data
namespace frame {
inline constexpr std::uint32_t function_name_id = 2, mapping_id = 3, rel_pc = 4, source_path_iid = 5, line_number = 6;
}
namespace callstack {
inline constexpr std::uint32_t frame_ids = 2;
}
namespace mapping {
inline constexpr std::uint32_t path_string_ids = 7;
}

// All packets belong to one sequence, so an interned name serves all tracks.
constexpr std::uint32_t sequence_id = 1;

enum Category : std::uint32_t { of_mpi = 1, of_program, of_tare, of_other_source };
constexpr const char* category_names[] = {"MPI", "program", "tare", "source"};

// Keys of arguments, named as in docs/json.md. Those of calls of other sources than MPI follow.
enum Argument : std::uint32_t {
  communicator = 1,
  window,
  mpi_file,
  peer,
  peer_world,
  root,
  tag,
  bytes,
  received,
  source,
  source_world,
  source_tag,
  requests,
  records,
  parameters,
  text,
  used_file
};  // clang-format off
constexpr const char* argument_names[] = {"communicator", "window", "mpi_file", "peer", "peer_world", "root", "tag",
    "bytes", "received", "source", "source_world", "source_tag", "requests", "records", "parameters", "text",
    "used_file"};
// clang-format on

// Adds a field of bytes that begins with their length.
void add_message(std::string& to, std::uint32_t field, std::string_view content) {
  pbf_writer(to).add_message(field, content.data(), content.size());
}

// Which names have been defined: a bit for each number.
class Known {
 public:
  // Whether it is new.
  bool add(std::uint32_t number) {
    if (number >= known_.size()) known_.resize(number + 1 + number / 2);
    const bool is_new = !known_[number];
    known_[number] = true;
    return is_new;
  }

 private:
  std::vector<bool> known_;
};

class PerfettoWriter : public TimelineWriter {
 public:
  PerfettoWriter(Run& run, const std::string& path, const ExportOptions& options)
      : run_(run), names_(run), out_(path), zero_ns_(first_time_ns(run, options.start_ns)), files_(run) {
    begin_trace();
    number_processes();
  }

  void begin_track(const Track& track) override;
  void enter(const Track& track, std::int64_t time_ns, const Span& span) override;
  void leave(const Track& track, std::int64_t time_ns, const Span& span) override;
  void event(const Track& track, std::int64_t time_ns, const EventRow& row) override;
  void sample(const Track& track, std::int64_t time_ns, const EventRow& row) override;
  bool has_failed() const override { return out_.has_failed(); }

  std::string finish() { return out_.finish(); }

 private:
  void begin_trace();
  void number_processes();
  std::uint64_t process_uuid(std::uint32_t process);
  std::uint64_t counter_uuid(const EventRow& row);
  void begin_event(std::uint64_t uuid, track_event::Type type);
  // Writes what event_ contains, a message of this field of packets.
  void end_event(std::int64_t time_ns, std::uint32_t field = trace_packet::track_event);
  void write_descriptor(std::string_view descriptor);
  void set_name(const EventRow& row, Category category);
  void add_site(const EventRow& row);
  // These define what a sample refers to.
  void intern_stack(std::uint32_t number, const std::vector<std::int32_t>& path);
  void intern_frame(std::int32_t frame);
  void add_call(const EventRow& row);
  void add_source_call(const EventRow& row);
  void add_parameters(const EventRow& row);

  void add_number(std::uint32_t name, std::int64_t value) {
    add_annotation(name, debug_annotation::int_value, static_cast<std::uint64_t>(value));
  }
  // A call has few distinct texts, so they are interned by `number`.
  void add_text(Argument name, std::uint32_t number, const std::string& value);
  void add_annotation(std::uint32_t name, std::uint32_t field, std::uint64_t value);
  // Defines a name: a message of a number and a text.
  void intern(std::uint32_t field, std::uint32_t number, std::string_view name);

  Run& run_;
  Names names_;
  OutputFile out_;
  std::int64_t zero_ns_;
  std::vector<std::int32_t> pids_;            // shown, by process
  std::int32_t next_tid_ = 1;                 // above all pids
  std::vector<std::uint64_t> process_uuids_;  // 0: not yet written
  std::vector<std::uint64_t> track_uuids_;
  std::vector<std::int32_t> tids_;                                                 // by track
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint64_t> counter_uuids_;  // by process and event type
  std::uint64_t last_uuid_ = 0;
  std::map<std::string, std::uint32_t> source_arguments_, file_texts_;  // their numbers
  UsedFileNames files_;
  Known names_known_, texts_known_, sites_known_, stacks_known_, frames_known_;
  std::string event_, packet_, interned_, part_;  // of the packet at hand
};

void PerfettoWriter::begin_trace() {
  std::string clocks;
  const auto add_clock = [&](std::uint32_t id, std::uint64_t time) {
    std::string clock;
    pbf_writer writer(clock);
    writer.add_uint32(clock_snapshot::clock_id, id);
    writer.add_uint64(clock_snapshot::timestamp, time);
    add_message(clocks, clock_snapshot::clocks, clock);
  };
  add_clock(clock_snapshot::boottime, 0);
  add_clock(clock_snapshot::realtime, static_cast<std::uint64_t>(zero_ns_));
  interned_.clear();
  for (std::uint32_t i = 0; i < std::size(category_names); ++i)
    intern(interned_data::event_categories, i + 1, category_names[i]);
  for (std::uint32_t i = 0; i < std::size(argument_names); ++i)
    intern(interned_data::debug_annotation_names, i + 1, argument_names[i]);
  packet_.clear();
  pbf_writer packet(packet_);
  packet.add_uint32(trace_packet::trusted_packet_sequence_id, sequence_id);
  packet.add_uint32(trace_packet::sequence_flags, trace_packet::incremental_state_cleared);
  add_message(packet_, trace_packet::clock_snapshot, clocks);
  add_message(packet_, trace_packet::interned_data, interned_);
  add_message(out_.buffer(), trace::packet, packet_);
  out_.wrote();
  interned_.clear();
}

// Perfetto identifies processes by pid, which is not unique across hosts, and reserves 0.
void PerfettoWriter::number_processes() {
  std::set<std::int32_t> seen;
  const std::vector<Process>& processes = run_.processes();
  for (const Process& process : processes) {
    const auto pid = static_cast<std::int32_t>(process.record.pid);
    if (pid > 0 && pid < INT32_MAX / 2) seen.insert(pid);
  }
  const bool are_distinct = seen.size() == processes.size();
  for (std::size_t i = 0; i < processes.size(); ++i)
    pids_.push_back(are_distinct ? static_cast<std::int32_t>(processes[i].record.pid)
                                 : static_cast<std::int32_t>(i + 1));
  if (!pids_.empty()) next_tid_ = *std::max_element(pids_.begin(), pids_.end()) + 1;
  process_uuids_.assign(processes.size(), 0);
}

void PerfettoWriter::write_descriptor(std::string_view descriptor) {
  packet_.clear();
  pbf_writer(packet_).add_uint32(trace_packet::trusted_packet_sequence_id, sequence_id);
  add_message(packet_, trace_packet::track_descriptor, descriptor);
  add_message(out_.buffer(), trace::packet, packet_);
  out_.wrote();
}

std::uint64_t PerfettoWriter::process_uuid(std::uint32_t number) {
  if (process_uuids_[number] != 0) return process_uuids_[number];
  const reader::Process& of = run_.processes()[number];
  const format::ProcessRecord& record = of.record;
  const std::uint64_t uuid = process_uuids_[number] = ++last_uuid_;
  std::string content, descriptor;
  pbf_writer process(content);
  process.add_int32(process_descriptor::pid, pids_[number]);
  process.add_string(process_descriptor::process_name, names_.process(number));
  process.add_int32(process_descriptor::legacy_sort_index, static_cast<std::int32_t>(number));
  process.add_string(process_descriptor::cmdline, plain_text(of.executable()));
  process.add_string(process_descriptor::process_labels,
                     plain_text(record.host) + ", process " + std::to_string(record.pid));
  pbf_writer(descriptor).add_uint64(track_descriptor::uuid, uuid);
  add_message(descriptor, track_descriptor::process, content);
  write_descriptor(descriptor);
  return uuid;
}

void PerfettoWriter::begin_track(const Track& track) {
  const std::uint64_t parent = process_uuid(track.process);
  const std::int32_t pid = pids_[track.process];
  const bool is_first = track.thread == 0 && !track.is_of_tared;
  std::string content, descriptor;
  pbf_writer thread(content);
  thread.add_int32(thread_descriptor::pid, pid);
  tids_.push_back(is_first ? pid : next_tid_++);
  thread.add_int64(thread_descriptor::tid, tids_.back());
  thread.add_string(thread_descriptor::thread_name, names_.thread(track));
  track_uuids_.push_back(++last_uuid_);
  pbf_writer writer(descriptor);
  writer.add_uint64(track_descriptor::uuid, last_uuid_);
  writer.add_uint64(track_descriptor::parent_uuid, parent);
  add_message(descriptor, track_descriptor::thread, content);
  write_descriptor(descriptor);
}

std::uint64_t PerfettoWriter::counter_uuid(const EventRow& row) {
  std::uint64_t& uuid = counter_uuids_[{row.process, row.event_type}];
  if (uuid != 0) return uuid;
  const std::uint64_t parent = process_uuid(row.process);
  uuid = ++last_uuid_;
  std::string content, descriptor;
  const std::string& unit = run_.event_types()[static_cast<std::size_t>(row.event_type)].unit;
  pbf_writer(content).add_string(counter_descriptor::unit_name, plain_text(unit));
  pbf_writer writer(descriptor);
  writer.add_uint64(track_descriptor::uuid, uuid);
  writer.add_uint64(track_descriptor::parent_uuid, parent);
  writer.add_string(track_descriptor::name, names_.event(row));
  add_message(descriptor, track_descriptor::counter, content);
  write_descriptor(descriptor);
  return uuid;
}

void PerfettoWriter::begin_event(std::uint64_t uuid, track_event::Type type) {
  event_.clear();
  pbf_writer event(event_);
  event.add_uint32(track_event::type, type);
  event.add_uint64(track_event::track_uuid, uuid);
}

void PerfettoWriter::end_event(std::int64_t time_ns, std::uint32_t field) {
  packet_.clear();
  pbf_writer packet(packet_);
  packet.add_uint64(trace_packet::timestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns - zero_ns_, 0)));
  packet.add_uint32(trace_packet::trusted_packet_sequence_id, sequence_id);
  packet.add_uint32(trace_packet::sequence_flags, trace_packet::needs_incremental_state);
  if (!interned_.empty()) {
    add_message(packet_, trace_packet::interned_data, interned_);
    interned_.clear();
  }
  add_message(packet_, field, event_);
  add_message(out_.buffer(), trace::packet, packet_);
  out_.wrote();
}

void PerfettoWriter::intern(std::uint32_t field, std::uint32_t number, std::string_view name) {
  part_.clear();
  pbf_writer entry(part_);
  entry.add_uint64(interned_data::iid, number);
  entry.add_string(interned_data::name, name.data(), name.size());
  add_message(interned_, field, part_);
}

void PerfettoWriter::set_name(const EventRow& row, Category category) {
  const auto functions = static_cast<std::uint32_t>(run_.functions().names().size());
  std::uint32_t number = 1;  // 0 is none
  if (is_call(row.kind))
    number += row.function;
  else if (is_of_program(row.kind))
    number += functions + 1 + static_cast<std::uint32_t>(row.event_type + 1);
  else
    number += functions + 1 + static_cast<std::uint32_t>(run_.event_types().size() + 1) +
              static_cast<std::uint32_t>(row.kind);
  if (names_known_.add(number)) intern(interned_data::event_names, number, names_.event(row));
  pbf_writer event(event_);
  event.add_uint64(track_event::category_iids, category);
  event.add_uint64(track_event::name_iid, number);
}

// Fields are short, so the length takes one byte.
void PerfettoWriter::add_annotation(std::uint32_t name, std::uint32_t field, std::uint64_t value) {
  part_.clear();
  pbf_writer annotation(part_);
  annotation.add_uint64(debug_annotation::name_iid, name);
  annotation.add_uint64(field, value);
  add_message(event_, track_event::debug_annotations, part_);
}

void PerfettoWriter::add_text(Argument name, std::uint32_t number, const std::string& value) {
  if (texts_known_.add(number)) intern(interned_data::debug_annotation_string_values, number, value);
  add_annotation(name, debug_annotation::string_value_iid, number);
}

void PerfettoWriter::add_site(const EventRow& row) {
  if (row.site < 0) return;
  const auto number = static_cast<std::uint32_t>(row.site) + 1;
  if (sites_known_.add(number)) {
    const CodePlace& place = names_.site(row.site);
    part_.clear();
    pbf_writer entry(part_);
    entry.add_uint64(interned_data::iid, number);
    entry.add_string(interned_data::file_name, place.file);
    entry.add_string(interned_data::function_name, place.caller);
    entry.add_uint32(interned_data::line_number, place.line);
    add_message(interned_, interned_data::source_locations, part_);
  }
  pbf_writer(event_).add_uint64(track_event::source_location_iid, number);
}

void PerfettoWriter::add_call(const EventRow& row) {
  add_site(row);
  if (row.communicator >= 0)
    add_text(communicator, static_cast<std::uint32_t>(row.communicator) + 1, names_.communicator(row.communicator));
  if (row.scope >= 0) {
    const std::size_t number = run_.communicators().size() + static_cast<std::size_t>(row.scope) + 1;
    const bool is_file = run_.scopes()[static_cast<std::size_t>(row.scope)].is_file;
    add_text(is_file ? mpi_file : window, static_cast<std::uint32_t>(number), names_.scope(row.scope));
  }
  if (row.peer != format::no_peer) add_number(row.rooted ? root : peer, row.peer);
  if (row.peer_world != format::no_peer && row.peer_world != row.peer && !row.rooted)
    add_number(peer_world, row.peer_world);
  if (row.tag != format::no_tag) add_number(tag, row.tag);
  if (row.bytes != format::no_bytes) add_number(bytes, static_cast<std::int64_t>(row.bytes));
  if (row.received != format::no_bytes) add_number(received, static_cast<std::int64_t>(row.received));
  if (row.source != format::no_peer) add_number(source, row.source);
  if (row.source_world != format::no_peer && row.source_world != row.source) add_number(source_world, row.source_world);
  if (row.source_tag != format::no_tag) add_number(source_tag, row.source_tag);
  if (!row.requests.empty()) add_number(requests, static_cast<std::int64_t>(row.requests.size()));
}

// Offsets of seeks may be negative, and no argument is too large for a number that has a sign.
void PerfettoWriter::add_source_call(const EventRow& row) {
  const std::vector<std::string>& names = run_.functions().arguments(row.function);
  for (std::size_t i = 0; i < std::min(names.size(), row.parameters.size()); ++i) {
    if (names[i] == "bytes" && row.bytes == format::no_bytes) continue;  // the call has failed
    const auto next = static_cast<std::uint32_t>(std::size(argument_names) + source_arguments_.size() + 1);
    const auto [at, is_new] = source_arguments_.emplace(names[i], next);
    if (is_new) intern(interned_data::debug_annotation_names, next, plain_text(names[i]));
    add_number(at->second, static_cast<std::int64_t>(row.parameters[i]));
  }
  const UsedFiles::File* file = files_.find(row.process, row.function, row.object);
  if (file == nullptr) return;
  const std::size_t next = run_.communicators().size() + run_.scopes().size() + file_texts_.size() + 1;
  const auto at = file_texts_.emplace(file->name, static_cast<std::uint32_t>(next)).first;
  add_text(used_file, at->second, plain_text(file->name));
}

void PerfettoWriter::enter(const Track& track, std::int64_t time_ns, const Span& span) {
  const EventRow& row = span.row;
  begin_event(track_uuids_[track.number], track_event::slice_begin);
  if (row.kind == EventKind::call) {
    set_name(row, of_mpi);
    add_call(row);
    for (const std::uint64_t flow : span.flows.sent) pbf_writer(event_).add_fixed64(track_event::flow_ids, flow);
  } else if (row.kind == EventKind::event) {
    set_name(row, of_program);
  } else if (row.kind == EventKind::source_call) {
    set_name(row, of_other_source);
    add_site(row);
    add_source_call(row);
  } else {
    set_name(row, of_tare);
    if (row.bytes != format::no_bytes) add_number(bytes, static_cast<std::int64_t>(row.bytes));
    add_number(records, static_cast<std::int64_t>(row.records));
  }
  end_event(time_ns);
}

// A message arrives at the end of a call, which may have begun before the message was sent.
void PerfettoWriter::leave(const Track& track, std::int64_t time_ns, const Span& span) {
  begin_event(track_uuids_[track.number], track_event::slice_end);
  for (const std::uint64_t flow : span.flows.received)
    pbf_writer(event_).add_fixed64(track_event::terminating_flow_ids, flow);
  end_event(time_ns);
}

void PerfettoWriter::add_parameters(const EventRow& row) {
  const std::vector<format::ParameterType> types = parameter_types(run_, row);
  std::string list;
  pbf_writer(list).add_uint64(debug_annotation::name_iid, parameters);
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    part_.clear();
    pbf_writer to(part_);
    with_value(row.parameters[i], types[i], [&to](auto value) {
      if constexpr (std::is_floating_point_v<decltype(value)>)
        to.add_double(debug_annotation::double_value, value);
      else if constexpr (std::is_signed_v<decltype(value)>)
        to.add_int64(debug_annotation::int_value, value);
      else
        to.add_uint64(debug_annotation::uint_value, value);
    });
    add_message(list, debug_annotation::array_values, part_);
  }
  add_message(event_, track_event::debug_annotations, list);
}

void PerfettoWriter::event(const Track& track, std::int64_t time_ns, const EventRow& row) {
  const EventClass event_class = class_of(run_, row);
  if (event_class == EventClass::counter) {
    begin_event(counter_uuid(row), track_event::counter);
    const std::uint64_t word = row.parameters.empty() ? 0 : row.parameters.front();
    pbf_writer(event_).add_double(track_event::double_counter_value, std::bit_cast<double>(word));
    return end_event(time_ns);
  }
  begin_event(track_uuids_[track.number], track_event::instant);
  set_name(row, of_program);
  if (!row.parameters.empty()) add_parameters(row);
  if (event_class == EventClass::raw) {
    part_.clear();
    pbf_writer annotation(part_);
    annotation.add_uint64(debug_annotation::name_iid, text);
    annotation.add_string(debug_annotation::string_value, plain_text(row.text));
    add_message(event_, track_event::debug_annotations, part_);
  }
  end_event(time_ns);
}

void PerfettoWriter::intern_frame(std::int32_t frame) {
  const auto number = static_cast<std::uint32_t>(frame) + 1;  // of all that belongs to it
  if (!frames_known_.add(number)) return;
  const FrameInfo& of = run_.frames()[static_cast<std::size_t>(frame)];
  intern(interned_data::function_names, number, of.symbol.caller.empty() ? "(unknown)" : plain_text(of.symbol.caller));
  const std::string object = plain_text(of.at.object);
  // Readers put a slash before it.
  intern(interned_data::mapping_paths, number, object.substr(object.starts_with('/') ? 1 : 0));
  part_.clear();
  pbf_writer object_entry(part_);
  object_entry.add_uint64(interned_data::iid, number);
  object_entry.add_uint64(mapping::path_string_ids, number);
  add_message(interned_, interned_data::mappings, part_);
  if (!of.symbol.file.empty()) intern(interned_data::source_paths, number, plain_text(of.symbol.file));
  part_.clear();
  pbf_writer entry(part_);
  entry.add_uint64(interned_data::iid, number);
  entry.add_uint64(frame::function_name_id, number);
  entry.add_uint64(frame::mapping_id, number);
  entry.add_uint64(frame::rel_pc, of.at.address);
  if (!of.symbol.file.empty()) {
    entry.add_uint64(frame::source_path_iid, number);
    entry.add_uint32(frame::line_number, of.symbol.line);
  }
  add_message(interned_, interned_data::frames, part_);
}

void PerfettoWriter::intern_stack(std::uint32_t number, const std::vector<std::int32_t>& path) {
  if (!stacks_known_.add(number)) return;
  for (const std::int32_t frame : path) intern_frame(frame);
  part_.clear();
  pbf_writer stack(part_);
  stack.add_uint64(interned_data::iid, number);
  for (auto frame = path.rbegin(); frame != path.rend(); ++frame)
    stack.add_uint64(callstack::frame_ids, static_cast<std::uint64_t>(*frame) + 1);
  add_message(interned_, interned_data::callstacks, part_);
}

void PerfettoWriter::sample(const Track& track, std::int64_t time_ns, const EventRow& row) {
  const auto number = static_cast<std::uint32_t>(row.site + 1);  // 0: the stack is not known
  if (number != 0) intern_stack(number, run_.sites()[number - 1].path);
  event_.clear();
  pbf_writer sample(event_);
  sample.add_int32(perf_sample::pid, pids_[track.process]);
  sample.add_int32(perf_sample::tid, tids_[track.number]);
  sample.add_uint64(perf_sample::callstack_iid, number);
  sample.add_uint32(perf_sample::cpu_mode, perf_sample::mode_user);
  end_event(time_ns, trace_packet::perf_sample);
}

}  // namespace

Result<TimelineSummary> write_perfetto(Run& run, const std::string& path, ExportOptions options) {
  PerfettoWriter writer(run, path, options);
  return write_file(
      run, {.filter = std::move(options.filter), .finds_messages = true, .goes_on = std::move(options.goes_on)},
      writer);
}

}  // namespace tare::exporters
