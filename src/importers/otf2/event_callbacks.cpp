#include "importers/otf2/event_callbacks.h"

#include "importers/otf2/thread_import.h"

namespace tare::importers::otf2 {
namespace {

constexpr OTF2_CallbackCode go_on = OTF2_CALLBACK_SUCCESS;
using At = OTF2_LocationRef;
using Time = OTF2_TimeStamp;
using Attributes = OTF2_AttributeList;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

ThreadImport& of(void* data) { return *static_cast<ThreadImport*>(data); }

void add_message_callbacks(OTF2_EvtReaderCallbacks* to) {
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(
      to, [](At, Time, u64, void* data, Attributes*, u32 receiver, OTF2_CommRef on, u32 tag, u64 bytes) {
        of(data).send(on, receiver, tag, bytes);
        return go_on;
      });
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(
      to, [](At, Time, u64, void* data, Attributes*, u32 sender, OTF2_CommRef on, u32 tag, u64 bytes) {
        of(data).receive(on, sender, tag, bytes);
        return go_on;
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      to, [](At, Time, u64, void* data, Attributes*, u32 receiver, OTF2_CommRef on, u32 tag, u64 bytes, u64 request) {
        of(data).isend(on, receiver, tag, bytes, request);
        return go_on;
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(to, [](At, Time, u64, void* data, Attributes*, u64 request) {
    of(data).isend_complete(request);
    return go_on;
  });
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(to, [](At, Time, u64, void* data, Attributes*, u64 request) {
    of(data).irecv_request(request);
    return go_on;
  });
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(
      to, [](At, Time, u64, void* data, Attributes*, u32 sender, OTF2_CommRef on, u32 tag, u64 bytes, u64 request) {
        of(data).irecv(on, sender, tag, bytes, request);
        return go_on;
      });
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(to, [](At, Time, u64, void* data, Attributes*, u64 request) {
    of(data).cancelled(request);
    return go_on;
  });
}

void add_collective_callbacks(OTF2_EvtReaderCallbacks* to) {
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      to, [](At, Time, u64, void* data, Attributes*, OTF2_CollectiveOp op, OTF2_CommRef on, u32 root, u64 sent,
             u64 received) {
        of(data).collective_end({op, on, root, sent, received});
        return go_on;
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      to, [](At, Time, u64, void* data, Attributes*, u64 request) {
        of(data).collective_request(request);
        return go_on;
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      to, [](At, Time, u64, void* data, Attributes*, OTF2_CollectiveOp op, OTF2_CommRef on, u32 root, u64 sent,
             u64 received, u64 request) {
        of(data).collective_complete({op, on, root, sent, received}, request);
        return go_on;
      });
}

}  // namespace

std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> make_event_callbacks() {
  OTF2_EvtReaderCallbacks* to = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(
      to, [](At, Time time, u64, void* data, Attributes* attributes, OTF2_RegionRef region) {
        return of(data).enter(time, region, attributes) ? go_on : OTF2_CALLBACK_INTERRUPT;
      });
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, [](At, Time time, u64, void* data, Attributes*, OTF2_RegionRef region) {
    of(data).leave(time, region);
    return go_on;
  });
  add_message_callbacks(to);
  add_collective_callbacks(to);
  OTF2_EvtReaderCallbacks_SetMetricCallback(
      to, [](At, Time time, u64, void* data, Attributes*, OTF2_MetricRef metric, std::uint8_t count,
             const OTF2_Type* types, const OTF2_MetricValue* values) {
        of(data).metric(time, metric, count, types, values);
        return go_on;
      });
  return {to, OTF2_EvtReaderCallbacks_Delete};
}

}  // namespace tare::importers::otf2
