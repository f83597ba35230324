#include "importers/otf2/import_otf2.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/otf2/archive_definitions.h"
#include "importers/run_file.h"
#include "reader/store/function_names.h"

namespace tare::importers::otf2 {
namespace {

using namespace tare::format;

constexpr OTF2_CallbackCode go_on = OTF2_CALLBACK_SUCCESS;
constexpr std::size_t deepest = 4096;  // regions in one another

// The first error of libotf2 is the cause of the others.
class Errors {
 public:
  Errors() { OTF2_Error_RegisterCallback(take, this); }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;
  ~Errors() { OTF2_Error_RegisterCallback(nullptr, nullptr); }
  const std::string& first() const { return first_; }

 private:
  static OTF2_ErrorCode take(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                             std::va_list) {
    std::string& first = static_cast<Errors*>(self)->first_;
    if (code > OTF2_SUCCESS && first.empty()) first = OTF2_Error_GetDescription(code);
    return code;
  }
  std::string first_;
};

struct Message {
  std::uint32_t peer, communicator, tag;
  std::uint64_t bytes;
};
struct Start {
  Message message;
  std::uint32_t request;
  bool sends;
};
struct Completion {
  std::uint32_t request;
  std::uint64_t bytes;
  std::int32_t source, tag;
};
struct CollectiveEnd {
  OTF2_CollectiveOp op;
  std::uint32_t communicator, root;
  std::uint64_t sent, received;
};

// A region that a thread is in.
struct Open {
  OTF2_RegionRef region;
  std::uint32_t site;
};

// The outermost MPI call that a thread is in, and the records in it.
struct Call {
  std::uint16_t function = 0;
  std::uint32_t site = 0;
  std::uint64_t enter = 0;
  std::size_t depth = 0;
  std::optional<Message> sent, received;
  std::vector<Start> starts;
  std::vector<Completion> completions;
  std::optional<CollectiveEnd> collective;
  std::uint32_t collective_request = no_request;
};

class Importer;

// What has been read of one location.
struct Thread {
  Importer* importer = nullptr;
  ProcessWriter* process = nullptr;
  ThreadWriter* writer = nullptr;
  std::unordered_map<std::uint64_t, std::uint32_t>* requests = nullptr;  // of the process: its numbers
  std::uint32_t* last_request = nullptr;
  std::vector<Open> open;
  std::optional<Call> call;
  std::unordered_map<std::uint32_t, std::size_t> waiting;  // by request: the record that starts it
  std::unordered_map<std::uint32_t, bool> is_start_record;
};

class Importer {
 public:
  Importer(OTF2_Reader* reader, RunFile& file, std::uint64_t start_ns)
      : reader_(reader), file_(file), start_ns_(start_ns) {}

  std::string read_definitions();
  std::string read_events();
  const Imported& done() const { return done_; }
  const ArchiveDefinitions& definitions() const { return definitions_; }
  std::uint32_t communicator_number(OTF2_CommRef of) const {
    const auto found = communicator_numbers_.find(of);
    return found == communicator_numbers_.end() ? no_communicator : found->second;
  }
  // 0: no function of MPI that tare knows.
  std::uint16_t function_of(OTF2_RegionRef region) const {
    const auto found = functions_.find(region);
    return found == functions_.end() ? std::uint16_t{0} : found->second;
  }
  void leave_call(Thread& thread, std::uint64_t leave);
  // A matched probe posts the receive of its message, which this function completes.
  bool receives_matched(std::uint16_t function) const { return function == matched_receive_; }

 private:
  std::string read_process(OTF2_LocationGroupRef group, const std::vector<const Location*>& threads,
                           std::uint64_t number);
  std::string read_thread(ProcessWriter& process, const Location& location, std::uint32_t thread);
  void define_communicators(ProcessWriter& process);
  std::vector<std::int32_t> members(OTF2_GroupRef group, std::int32_t rank) const;

  OTF2_Reader* reader_;
  RunFile& file_;
  std::uint64_t start_ns_;
  ArchiveDefinitions definitions_;
  std::unordered_map<OTF2_CommRef, std::uint32_t> communicator_numbers_;
  std::unordered_map<OTF2_RegionRef, std::uint16_t> functions_;
  std::uint16_t init_ = 0, init_thread_ = 0, finalize_ = 0, matched_probe_ = 0, matched_receive_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> requests_;
  std::uint32_t last_request_ = 0;
  std::uint64_t first_ = UINT64_MAX, last_ = 0;
  Imported done_;
};

Thread& of(void* data) { return *static_cast<Thread*>(data); }

std::string Importer::read_definitions() {
  std::uint64_t read = 0;
  OTF2_GlobalDefReader* reader = OTF2_Reader_GetGlobalDefReader(reader_);
  if (reader == nullptr) return "it has no definitions";
  OTF2_GlobalDefReaderCallbacks* callbacks = ArchiveDefinitions::make_callbacks();
  OTF2_Reader_RegisterGlobalDefCallbacks(reader_, reader, callbacks, &definitions_);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(reader_, reader, &read);
  if (code != OTF2_SUCCESS) return std::string("its definitions are damaged: ") + OTF2_Error_GetDescription(code);
  if (definitions_.locations.empty()) return "it has no locations";
  std::unordered_map<std::string, std::uint16_t> numbers;
  const reader::FunctionNames names;
  for (std::size_t i = 1; i < names.names().size(); ++i)
    numbers.emplace(names.names()[i], static_cast<std::uint16_t>(i));
  init_ = numbers["MPI_Init"];
  init_thread_ = numbers["MPI_Init_thread"];
  finalize_ = numbers["MPI_Finalize"];
  matched_probe_ = numbers["MPI_Mprobe"];
  matched_receive_ = numbers["MPI_Mrecv"];
  for (const auto& [number, region] : definitions_.regions) {
    const auto found = numbers.find(definitions_.text(region.name));
    if (found != numbers.end()) functions_[number] = found->second;
  }
  if (definitions_.realtime_ns != OTF2_UNDEFINED_TIMESTAMP && definitions_.realtime_ns < INT64_MAX)
    start_ns_ = definitions_.realtime_ns;
  for (const OTF2_CommRef each : definitions_.communicator_order)
    communicator_numbers_.emplace(each, static_cast<std::uint32_t>(communicator_numbers_.size() + 1));
  return {};
}

std::vector<std::int32_t> Importer::members(OTF2_GroupRef group, std::int32_t rank) const {
  const auto found = definitions_.groups.find(group);
  if (found == definitions_.groups.end()) return {};
  if (found->second.is_self) return {rank};
  std::vector<std::int32_t> members;
  for (const std::uint64_t member : found->second.members) {
    if (member >= definitions_.comm_locations.size()) return {};
    members.push_back(static_cast<std::int32_t>(member));
  }
  return members;
}

void Importer::define_communicators(ProcessWriter& process) {
  const std::int32_t rank = process.record().rank;
  if (rank < 0) return;
  for (const OTF2_CommRef each : definitions_.communicator_order) {
    const Communicator& communicator = definitions_.communicators.at(each);
    Membership of;
    of.number = communicator_numbers_.at(each);
    of.name = definitions_.text(communicator.name);
    of.members = members(communicator.group, rank);
    if (communicator.inter) of.remote_members = members(communicator.remote_group, rank);
    if (communicator.inter && std::find(of.members.begin(), of.members.end(), rank) == of.members.end())
      std::swap(of.members, of.remote_members);
    const auto own = std::find(of.members.begin(), of.members.end(), rank);
    if (own == of.members.end()) continue;
    of.rank = static_cast<std::int32_t>(own - of.members.begin());
    // Equal for all members, and for nobody else.
    const auto group = definitions_.groups.find(communicator.group);
    const std::uint64_t owner =
        group != definitions_.groups.end() && group->second.is_self ? static_cast<std::uint64_t>(rank) + 1 : 0;
    of.key = (std::uint64_t{of.number} * 0x9e3779b97f4a7c15) ^ owner;
    process.define_communicator(of);
  }
}

std::string Importer::read_events() {
  for (const Location& location : definitions_.locations) OTF2_Reader_SelectLocation(reader_, location.number);
  if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS) return "its events cannot be opened";
  // Local definitions map numbers; where there are none, nothing is to be mapped.
  if (OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS) {
    for (const Location& location : definitions_.locations) {
      OTF2_DefReader* reader = OTF2_Reader_GetDefReader(reader_, location.number);
      std::uint64_t read = 0;
      if (reader == nullptr) continue;
      OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read);
      OTF2_Reader_CloseDefReader(reader_, reader);
    }
    OTF2_Reader_CloseDefFiles(reader_);
  }
  ChunkHeader functions{};
  functions.type = ChunkType::functions;
  file_.write_chunk(functions, reader::functions_payload());
  // In the order of their first locations.
  std::vector<std::pair<OTF2_LocationGroupRef, std::vector<const Location*>>> processes;
  std::unordered_map<OTF2_LocationGroupRef, std::size_t> index;
  for (const Location& location : definitions_.locations) {
    const auto [at, is_new] = index.emplace(location.group, processes.size());
    if (is_new) processes.push_back({location.group, {}});
    processes[at->second].second.push_back(&location);
  }
  for (std::size_t i = 0; i < processes.size(); ++i)
    if (std::string error = read_process(processes[i].first, processes[i].second, i + 1); !error.empty()) return error;
  done_.processes = processes.size();
  done_.start_ns = start_ns_;
  if (first_ <= last_) {
    done_.start_ns += first_ - ArchiveDefinitions::first_ticks;
    done_.wall_ns = last_ - first_;
  }
  return file_.has_failed() ? file_.finish() : std::string();
}

std::string Importer::read_process(OTF2_LocationGroupRef group, const std::vector<const Location*>& threads,
                                   std::uint64_t number) {
  ProcessRecord record{};
  record.process = number;
  record.pid = static_cast<std::uint32_t>(number);
  record.state = ProcessState::finalized;
  record.rank = -1;
  record.size = static_cast<std::int32_t>(definitions_.comm_locations.size());
  record.exit_code = exit_code_unknown;
  record.flags = traced;
  record.thread_level = threads.size() > 1 ? 3 : 0;
  record.threads = static_cast<std::uint32_t>(threads.size());
  record.clock_start = {ArchiveDefinitions::first_ticks, ArchiveDefinitions::first_ticks};
  record.realtime_start_ns = start_ns_;
  for (std::size_t i = 0; i < definitions_.comm_locations.size(); ++i)
    for (const Location* thread : threads)
      if (thread->number == definitions_.comm_locations[i]) record.rank = static_cast<std::int32_t>(i);
  const auto found = definitions_.location_groups.find(group);
  if (found != definitions_.location_groups.end()) {
    const auto node = definitions_.nodes.find(found->second.node);
    const std::string host = node == definitions_.nodes.end() ? "" : definitions_.text(node->second);
    std::snprintf(record.host, sizeof record.host, "%s", host.c_str());
    std::snprintf(record.executable, sizeof record.executable, "%s", definitions_.text(found->second.name).c_str());
    if (done_.host.empty()) done_.host = host;
  }
  ProcessWriter process(file_, record);
  define_communicators(process);
  requests_.clear();
  last_request_ = 0;
  std::uint32_t thread = 0;
  for (const Location* location : threads)
    if (std::string error = read_thread(process, *location, thread++); !error.empty()) return error;
  process.finish();
  first_ = std::min(first_, process.record().attach);
  last_ = std::max(last_, process.record().end);
  return {};
}

// Which of the program's regions a call lies in is its call path, where the trace does not say more.
std::uint32_t site_of_regions(Thread& thread) {
  std::vector<Place> path;
  for (auto open = thread.open.rbegin(); open != thread.open.rend() && path.size() < max_frames; ++open)
    path.push_back(thread.importer->definitions().place(open->region));
  return thread.process->site(path);
}

std::uint32_t site_of(Thread& thread, const OTF2_AttributeList* attributes) {
  const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(attributes);
  for (std::uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef name = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value;
    if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &name, &type, &value) == OTF2_SUCCESS &&
        type == OTF2_TYPE_CALLING_CONTEXT)
      return thread.process->site(thread.importer->definitions().path(value.callingContextRef));
  }
  return site_of_regions(thread);
}

OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                           OTF2_AttributeList* attributes, OTF2_RegionRef region) {
  Thread& thread = of(data);
  const Importer& importer = *thread.importer;
  const std::uint64_t ticks = importer.definitions().ticks(time);
  thread.process->saw(ticks);
  if (thread.open.size() >= deepest) return OTF2_CALLBACK_INTERRUPT;
  const std::uint16_t function = importer.function_of(region);
  if (!thread.call && function != 0) {
    thread.call.emplace();
    thread.call->function = function;
    thread.call->enter = ticks;
    thread.call->site = site_of(thread, attributes);
    thread.call->depth = thread.open.size();
  } else if (function == 0) {
    const auto found = importer.definitions().regions.find(region);
    const bool is_phase =
        found != importer.definitions().regions.end() && (found->second.flags & OTF2_REGION_FLAG_PHASE) != 0;
    const std::uint32_t type = thread.process->event_type(is_phase ? EventClass::phase : EventClass::region,
                                                          importer.definitions().place(region).function, "");
    // Within a call its own record comes first, at its end.
    if (!thread.call) thread.writer->add_event(type, ticks, 1);
  }
  thread.open.push_back({region, 0});
  return go_on;
}

OTF2_CallbackCode on_leave(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, OTF2_AttributeList*,
                           OTF2_RegionRef region) {
  Thread& thread = of(data);
  const Importer& importer = *thread.importer;
  const std::uint64_t ticks = importer.definitions().ticks(time);
  thread.process->saw(ticks);
  if (thread.open.empty()) return go_on;
  thread.open.pop_back();
  if (thread.call) {
    if (thread.open.size() == thread.call->depth) thread.importer->leave_call(thread, ticks);
    return go_on;
  }
  const auto found = importer.definitions().regions.find(region);
  const bool is_phase =
      found != importer.definitions().regions.end() && (found->second.flags & OTF2_REGION_FLAG_PHASE) != 0;
  thread.writer->add_event(thread.process->event_type(is_phase ? EventClass::phase : EventClass::region,
                                                      importer.definitions().place(region).function, ""),
                           ticks, 0);
  return go_on;
}

std::uint32_t begin_request(Thread& thread, std::uint64_t request) {
  std::uint32_t number = ++*thread.last_request;
  if (number == no_request) number = ++*thread.last_request;
  (*thread.requests)[request] = number;
  return number;
}

OTF2_CallbackCode on_send(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) {
  Thread& thread = of(data);
  if (thread.call) thread.call->sent = {receiver, thread.importer->communicator_number(communicator), tag, bytes};
  return go_on;
}

OTF2_CallbackCode on_receive(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                             std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) {
  Thread& thread = of(data);
  if (thread.call) thread.call->received = {sender, thread.importer->communicator_number(communicator), tag, bytes};
  return go_on;
}

OTF2_CallbackCode on_isend(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                           std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                           std::uint64_t request) {
  Thread& thread = of(data);
  if (!thread.call) return go_on;
  const Message message{receiver, thread.importer->communicator_number(communicator), tag, bytes};
  thread.call->starts.push_back({message, begin_request(thread, request), true});
  return go_on;
}

// Where the message comes from is said when it has come.
OTF2_CallbackCode on_irecv_request(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                                   std::uint64_t request) {
  Thread& thread = of(data);
  if (thread.call) thread.call->starts.push_back({{}, begin_request(thread, request), false});
  return go_on;
}

// Its number, which nobody asks for again; no_request if it is not known.
std::uint32_t end_request(Thread& thread, std::uint64_t request) {
  const auto found = thread.requests->extract(request);
  return found.empty() ? no_request : found.mapped();
}

void complete(Thread& thread, std::uint32_t request, std::uint64_t bytes, std::int32_t source, std::int32_t tag) {
  if (thread.call && request != no_request) thread.call->completions.push_back({request, bytes, source, tag});
}

OTF2_CallbackCode on_isend_complete(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                                    std::uint64_t request) {
  Thread& thread = of(data);
  complete(thread, end_request(thread, request), no_bytes, no_peer, no_tag);
  return go_on;
}

// The record that started the request, to be completed; nothing if it is of another thread, or long ago.
template <typename OfCall, typename OfStart>
void with_start(Thread& thread, std::uint32_t request, const OfCall& of_call, const OfStart& of_start) {
  const auto found = thread.waiting.extract(request);
  if (found.empty()) return;
  const bool is_start = thread.is_start_record.extract(request).mapped();
  if (is_start) {
    if (auto* record = thread.writer->at<StartRecord>(found.mapped())) of_start(*record);
  } else if (auto* record = thread.writer->at<CallRecord>(found.mapped())) {
    of_call(*record);
  }
}

OTF2_CallbackCode on_irecv(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                           std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                           std::uint64_t request) {
  Thread& thread = of(data);
  const std::uint32_t number = end_request(thread, request);
  const auto say = [&](auto& record) {
    record.communicator = thread.importer->communicator_number(communicator);
    record.peer = static_cast<std::int32_t>(sender);
    record.tag = static_cast<std::int32_t>(tag);
  };
  with_start(thread, number, say, say);
  if (thread.call && thread.importer->receives_matched(thread.call->function)) {
    thread.call->received = {sender, thread.importer->communicator_number(communicator), tag, bytes};
    return go_on;
  }
  complete(thread, number, bytes, static_cast<std::int32_t>(sender), static_cast<std::int32_t>(tag));
  return go_on;
}

OTF2_CallbackCode on_cancelled(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                               std::uint64_t request) {
  Thread& thread = of(data);
  const std::uint32_t number = end_request(thread, request);
  thread.waiting.erase(number);
  thread.is_start_record.erase(number);
  complete(thread, number, no_bytes, no_peer, no_tag);
  return go_on;
}

OTF2_CallbackCode on_collective_end(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                                    OTF2_CollectiveOp op, OTF2_CommRef communicator, std::uint32_t root,
                                    std::uint64_t sent, std::uint64_t received) {
  Thread& thread = of(data);
  if (thread.call)
    thread.call->collective = {op, thread.importer->communicator_number(communicator), root, sent, received};
  return go_on;
}

OTF2_CallbackCode on_collective_request(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data,
                                        OTF2_AttributeList*, std::uint64_t request) {
  Thread& thread = of(data);
  if (thread.call) thread.call->collective_request = begin_request(thread, request);
  return go_on;
}

std::int32_t peer_of_root(std::uint32_t root) {
  if (root == OTF2_COLLECTIVE_ROOT_NONE) return no_peer;
  if (root == OTF2_COLLECTIVE_ROOT_SELF) return root_of_other_group;
  if (root == OTF2_COLLECTIVE_ROOT_THIS_GROUP) return proc_null;
  return static_cast<std::int32_t>(root);
}

bool moves_data(OTF2_CollectiveOp op) {
  return op > OTF2_COLLECTIVE_OP_BARRIER && op < OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

// What a call takes out that puts nothing in are its bytes (docs/bytes.md).
void say_collective(ExchangeRecord& exchange, const CollectiveEnd& of) {
  exchange.call.communicator = of.communicator;
  exchange.call.peer = peer_of_root(of.root);
  if (!moves_data(of.op)) return;
  exchange.call.bytes = of.sent != 0 ? of.sent : of.received;
  exchange.received = of.sent != 0 ? of.received : 0;
}

OTF2_CallbackCode on_collective_complete(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data,
                                         OTF2_AttributeList*, OTF2_CollectiveOp op, OTF2_CommRef communicator,
                                         std::uint32_t root, std::uint64_t sent, std::uint64_t received,
                                         std::uint64_t request) {
  Thread& thread = of(data);
  const std::uint32_t number = end_request(thread, request);
  const CollectiveEnd end{op, thread.importer->communicator_number(communicator), root, sent, received};
  with_start(
      thread, number, [&](CallRecord& call) { say_collective(reinterpret_cast<ExchangeRecord&>(call), end); },
      [](StartRecord&) {});
  complete(thread, number, no_bytes, no_peer, no_tag);
  return go_on;
}

OTF2_CallbackCode on_metric(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, OTF2_AttributeList*,
                            OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types,
                            const OTF2_MetricValue* values) {
  Thread& thread = of(data);
  const ArchiveDefinitions& definitions = thread.importer->definitions();
  const auto members = definitions.metrics.find(metric);
  if (members == definitions.metrics.end() || thread.call) return go_on;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, members->second.size()); ++i) {
    const auto member = definitions.metric_members.find(members->second[i]);
    if (member == definitions.metric_members.end()) continue;
    const double value = types[i] == OTF2_TYPE_DOUBLE  ? values[i].floating_point
                         : types[i] == OTF2_TYPE_INT64 ? static_cast<double>(values[i].signed_int)
                                                       : static_cast<double>(values[i].unsigned_int);
    const std::uint32_t type = thread.process->event_type(EventClass::counter, definitions.text(member->second.name),
                                                          definitions.text(member->second.unit));
    thread.writer->add_event(type, definitions.ticks(time), std::bit_cast<std::uint64_t>(value));
  }
  return go_on;
}

void Importer::leave_call(Thread& thread, std::uint64_t leave) {
  const Call call = std::move(*thread.call);
  thread.call.reset();
  ProcessRecord& process = thread.process->record();
  if (call.function == init_ || call.function == init_thread_) {
    process.init_enter = call.enter;
    process.init_leave = leave;
  } else if (call.function == finalize_) {
    process.finalize_enter = call.enter;
    process.finalize_leave = leave;
  }
  ExchangeRecord whole{};
  CallRecord& record = whole.call;
  record = {{call.function, sizeof(CallRecord) / 8},
            call.site,
            call.enter,
            std::max(leave, call.enter),
            no_bytes,
            no_peer,
            no_tag,
            no_communicator,
            no_request};
  whole.received = no_bytes;
  whole.source = no_peer;
  whole.source_tag = no_tag;
  bool exchanges = false;
  const auto say = [](CallRecord& to, const Message& message) {
    to.communicator = message.communicator;
    to.peer = static_cast<std::int32_t>(message.peer);
    to.tag = static_cast<std::int32_t>(message.tag);
    to.bytes = message.bytes;
  };
  if (call.sent) {
    say(record, *call.sent);
    if (call.received) {
      exchanges = true;
      whole.received = call.received->bytes;
      whole.source = static_cast<std::int32_t>(call.received->peer);
      whole.source_tag = static_cast<std::int32_t>(call.received->tag);
    }
  } else if (call.received) {
    say(record, *call.received);
  } else if (call.collective) {
    say_collective(whole, *call.collective);
    exchanges = whole.received != no_bytes && whole.received != 0;
  }
  const bool starts_one = call.starts.size() == 1;
  if (call.starts.size() > 1)
    for (const Start& each : call.starts)
      if (each.sends) record.bytes = (record.bytes == no_bytes ? 0 : record.bytes) + each.message.bytes;
  const bool is_probe = call.function == matched_probe_;
  if (starts_one) {
    if (!is_probe) record.request = call.starts.front().request;
    if (call.starts.front().sends) say(record, call.starts.front().message);
  } else if (call.collective_request != no_request) {
    record.request = call.collective_request;
    exchanges = true;  // it has room for what is known when it completes
  }
  if (exchanges) record.head.words = sizeof(ExchangeRecord) / 8;
  const std::size_t at = exchanges ? thread.writer->add(whole) : thread.writer->add(record);
  if ((starts_one && !call.starts.front().sends) || (!starts_one && call.collective_request != no_request)) {
    const std::uint32_t request = starts_one ? call.starts.front().request : record.request;
    thread.waiting[request] = at;
    thread.is_start_record[request] = false;
  }
  for (const Start& each : call.starts) {
    if (starts_one) break;
    StartRecord one{{start, sizeof(StartRecord) / 8}, each.request, no_bytes, any_source, any_tag, no_communicator, 0};
    if (each.sends) {
      one.bytes = each.message.bytes;
      one.peer = static_cast<std::int32_t>(each.message.peer);
      one.tag = static_cast<std::int32_t>(each.message.tag);
      one.communicator = each.message.communicator;
    }
    const std::size_t position = thread.writer->add(one);
    if (each.sends) continue;
    thread.waiting[each.request] = position;
    thread.is_start_record[each.request] = true;
  }
  for (const Completion& each : call.completions)
    thread.writer->add(
        CompletionRecord{{completion, sizeof(CompletionRecord) / 8}, each.request, each.bytes, each.source, each.tag});
  std::size_t oldest = thread.writer->end();
  if (thread.waiting.size() > 4096) thread.waiting.clear(), thread.is_start_record.clear();
  for (const auto& [request, position] : thread.waiting) oldest = std::min(oldest, position);
  thread.writer->release(oldest);
  ++done_.calls;
}

std::string Importer::read_thread(ProcessWriter& process, const Location& location, std::uint32_t number) {
  ThreadWriter writer(process, number);
  process.name_thread(number, definitions_.text(location.name));
  OTF2_EvtReader* reader = OTF2_Reader_GetEvtReader(reader_, location.number);
  ++done_.threads;
  if (reader == nullptr) return {};  // it has no events
  Thread thread{this, &process, &writer, &requests_, &last_request_, {}, {}, {}, {}};
  const std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> callbacks(
      OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  OTF2_EvtReaderCallbacks* to = callbacks.get();
  OTF2_EvtReaderCallbacks_SetEnterCallback(to, on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, on_leave);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(to, on_send);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(to, on_receive);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(to, on_isend);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(to, on_isend_complete);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(to, on_irecv_request);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(to, on_irecv);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(to, on_cancelled);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(to, on_collective_end);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(to, on_collective_request);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(to, on_collective_complete);
  OTF2_EvtReaderCallbacks_SetMetricCallback(to, on_metric);
  OTF2_Reader_RegisterEvtCallbacks(reader_, reader, to, &thread);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(reader_, reader, &read);
  OTF2_Reader_CloseEvtReader(reader_, reader);
  if (code != OTF2_SUCCESS)
    return "the events of location " + std::to_string(location.number) +
           " are damaged: " + OTF2_Error_GetDescription(code);
  done_.unfinished += thread.open.size();
  writer.finish();
  return {};
}

}  // namespace

reader::Result<Imported> import_otf2(const std::string& anchor, const std::string& file,
                                     std::uint64_t fallback_start_ns) {
  const Errors errors;
  const auto failure = [&](const std::string& reason) {
    return reader::Failure{anchor + " cannot be imported: " + reason +
                           (errors.first().empty() ? "" : " (" + errors.first() + ")")};
  };
  const std::unique_ptr<OTF2_Reader, OTF2_ErrorCode (*)(OTF2_Reader*)> reader(OTF2_Reader_Open(anchor.c_str()),
                                                                              OTF2_Reader_Close);
  if (!reader) return failure("it is no OTF2 archive");
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  RunFile out(file);
  Importer importer(reader.get(), out, fallback_start_ns);
  if (const std::string error = importer.read_definitions(); !error.empty()) return failure(error);
  if (const std::string error = importer.read_events(); !error.empty()) return failure(error);
  if (std::string error = out.finish(); !error.empty()) return reader::Failure{std::move(error)};
  return importer.done();
}

}  // namespace tare::importers::otf2
