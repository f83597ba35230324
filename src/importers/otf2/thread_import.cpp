#include "importers/otf2/thread_import.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "format/function_meaning.h"
#include "importers/otf2/archive_definitions.h"

namespace tare::importers::otf2 {

using namespace tare::format;

namespace {

constexpr std::size_t deepest = 4096;  // regions in one another

double as_double(OTF2_Type type, const OTF2_MetricValue& value) {
  if (type == OTF2_TYPE_DOUBLE) return value.floating_point;
  if (type == OTF2_TYPE_INT64) return static_cast<double>(value.signed_int);
  return static_cast<double>(value.unsigned_int);
}

}  // namespace

// If the trace has no call path, the regions around a call are its call path.
std::uint32_t ThreadImport::site_of_regions() {
  std::vector<Place> path;
  for (auto open = open_.rbegin(); open != open_.rend() && path.size() < max_frames; ++open)
    path.push_back(archive_.definitions.place(*open));
  return process_.site(path);
}

std::uint32_t ThreadImport::site(const OTF2_AttributeList* attributes) {
  const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(attributes);
  for (std::uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef name = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value;
    if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &name, &type, &value) == OTF2_SUCCESS &&
        type == OTF2_TYPE_CALLING_CONTEXT)
      return process_.site(archive_.definitions.path(value.callingContextRef));
  }
  return site_of_regions();
}

void ThreadImport::add_region(OTF2_RegionRef region, std::uint64_t ticks, bool begins) {
  const auto found = archive_.definitions.regions.find(region);
  const bool is_phase =
      found != archive_.definitions.regions.end() && (found->second.flags & OTF2_REGION_FLAG_PHASE) != 0;
  const std::uint32_t type = process_.event_type(is_phase ? EventClass::phase : EventClass::region,
                                                 archive_.definitions.place(region).function, "");
  const std::uint64_t parameter = begins ? 1 : 0;
  writer_.add_event(type, ticks, {&parameter, 1});
}

void ThreadImport::add_event(OTF2_RegionRef region, EventClass event_class, std::uint64_t ticks,
                             const OTF2_AttributeList* attributes) {
  const Parameters parameters = parameters_of(archive_.definitions, attributes);
  const std::uint32_t type =
      process_.event_type(event_class, archive_.definitions.place(region).function, "",
                          event_class == EventClass::regular ? parameters.types : std::vector<ParameterType>());
  if (event_class == EventClass::raw)
    writer_.add_raw_event(type, ticks, parameters.text);
  else
    writer_.add_event(type, ticks, parameters.words);
}

bool ThreadImport::enter(OTF2_TimeStamp time, OTF2_RegionRef region, const OTF2_AttributeList* attributes) {
  const std::uint64_t ticks = archive_.definitions.ticks(time);
  process_.saw(ticks);
  if (open_.size() >= deepest) return false;
  const std::uint16_t function = archive_.functions.of(region);
  // Within a call, the call's own record comes first; it is written at its end.
  if (!call_ && function != 0) {
    call_.emplace();
    call_->function = function;
    call_->enter = ticks;
    call_->site = site(attributes);
    call_->depth = open_.size();
  } else if (const auto event_class = event_class_of(archive_.definitions, region); !call_ && event_class) {
    add_event(region, *event_class, ticks, attributes);
  } else if (!call_) {
    add_region(region, ticks, true);
  }
  open_.push_back(region);
  return true;
}

void ThreadImport::leave(OTF2_TimeStamp time, OTF2_RegionRef region) {
  const std::uint64_t ticks = archive_.definitions.ticks(time);
  process_.saw(ticks);
  if (open_.empty()) return;
  open_.pop_back();
  if (!call_ && !event_class_of(archive_.definitions, region))
    add_region(region, ticks, false);
  else if (call_ && open_.size() == call_->depth)
    end_call(ticks);
}

void ThreadImport::end_call(std::uint64_t ticks) {
  const Call call = std::move(*call_);
  call_.reset();
  ProcessRecord& process = process_.record();
  const FunctionMeaning& meaning = meaning_of(call.function);
  if (meaning.begins_world) {
    process.init_enter = call.enter;
    process.init_leave = ticks;
  } else if (meaning.ends_world) {
    process.finalize_enter = call.enter;
    process.finalize_leave = ticks;
  }
  // A matched probe counts as the posting of the receive that a matched receive completes.
  records_.add(call, ticks, meaning.is_matched_probe());
  ++calls_;
}

void ThreadImport::complete(std::uint32_t request, std::uint64_t bytes, std::int32_t source, std::int32_t tag) {
  if (call_ && request != no_request) call_->completions.push_back({request, bytes, source, tag});
}

void ThreadImport::send(std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) {
  if (call_) call_->sent = message(communicator, receiver, tag, bytes);
}

void ThreadImport::receive(std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) {
  if (call_) call_->received = message(communicator, sender, tag, bytes);
}

void ThreadImport::isend(std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                         std::uint64_t request) {
  if (call_) call_->starts.push_back({message(communicator, receiver, tag, bytes), requests_.begin(request), true});
}

void ThreadImport::isend_complete(std::uint64_t request) {
  complete(requests_.end(request), no_bytes, no_peer, no_tag);
}

// The source of a message is known at its completion.
void ThreadImport::irecv_request(std::uint64_t request) {
  if (call_) call_->starts.push_back({{}, requests_.begin(request), false});
}

void ThreadImport::irecv(std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                         std::uint64_t request) {
  const std::uint32_t number = requests_.end(request);
  const Message of = message(communicator, sender, tag, bytes);
  records_.complete_receive(number, of);
  if (call_ && meaning_of(call_->function).receives_matched())
    call_->received = of;
  else
    complete(number, bytes, static_cast<std::int32_t>(sender), static_cast<std::int32_t>(tag));
}

void ThreadImport::cancelled(std::uint64_t request) {
  const std::uint32_t number = requests_.end(request);
  records_.remove(number);
  complete(number, no_bytes, no_peer, no_tag);
}

void ThreadImport::collective_end(OTF2_CollectiveOp op, OTF2_CommRef communicator, std::uint32_t root,
                                  std::uint64_t sent, std::uint64_t received) {
  if (call_) call_->collective = {op, archive_.communicators.number(communicator), root, sent, received};
}

void ThreadImport::collective_request(std::uint64_t request) {
  if (call_) call_->collective_request = requests_.begin(request);
}

void ThreadImport::collective_complete(OTF2_CollectiveOp op, OTF2_CommRef communicator, std::uint32_t root,
                                       std::uint64_t sent, std::uint64_t received, std::uint64_t request) {
  const std::uint32_t number = requests_.end(request);
  records_.complete_collective(number, {op, archive_.communicators.number(communicator), root, sent, received});
  complete(number, no_bytes, no_peer, no_tag);
}

void ThreadImport::metric(OTF2_TimeStamp time, OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types,
                          const OTF2_MetricValue* values) {
  const ArchiveDefinitions& definitions = archive_.definitions;
  const auto members = definitions.metrics.find(metric);
  if (members == definitions.metrics.end() || call_) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, members->second.size()); ++i) {
    const auto member = definitions.metric_members.find(members->second[i]);
    if (member == definitions.metric_members.end()) continue;
    const std::uint32_t type = process_.event_type(EventClass::counter, definitions.text(member->second.name),
                                                   definitions.text(member->second.unit));
    const auto value = std::bit_cast<std::uint64_t>(as_double(types[i], values[i]));
    writer_.add_event(type, definitions.ticks(time), {&value, 1});
  }
}

namespace {

// Calls the method with what the record has.
template <auto method, typename... Fields>
OTF2_CallbackCode pass(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                       Fields... fields) {
  (static_cast<ThreadImport*>(data)->*method)(fields...);
  return OTF2_CALLBACK_SUCCESS;
}

// The same for methods that need the time.
template <auto method, typename... Fields>
OTF2_CallbackCode pass_with_time(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, OTF2_AttributeList*,
                                 Fields... fields) {
  (static_cast<ThreadImport*>(data)->*method)(time, fields...);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode enter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                        OTF2_AttributeList* attributes, OTF2_RegionRef region) {
  const bool goes_on = static_cast<ThreadImport*>(data)->enter(time, region, attributes);
  return goes_on ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

}  // namespace

std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> make_event_callbacks() {
  using Import = ThreadImport;
  OTF2_EvtReaderCallbacks* to = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(to, enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, pass_with_time<&Import::leave>);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(to, pass<&Import::send>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(to, pass<&Import::receive>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(to, pass<&Import::isend>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(to, pass<&Import::isend_complete>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(to, pass<&Import::irecv_request>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(to, pass<&Import::irecv>);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(to, pass<&Import::cancelled>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(to, pass<&Import::collective_end>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(to, pass<&Import::collective_request>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(to, pass<&Import::collective_complete>);
  OTF2_EvtReaderCallbacks_SetMetricCallback(to, pass_with_time<&Import::metric>);
  return {to, OTF2_EvtReaderCallbacks_Delete};
}

}  // namespace tare::importers::otf2
