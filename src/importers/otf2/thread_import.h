// Converts the events of an archive's location to a thread of a run.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "importers/otf2/archive_definitions.h"
#include "importers/otf2/call_records.h"
#include "importers/otf2/numbers.h"
#include "importers/run_file.h"

namespace tare::importers::otf2 {

// One method for each kind of OTF2 event record; their parameters are those of the record. An archive may contain them
// in any order: records without a matching earlier one are left out.
class ThreadImport {
 public:
  // What all threads share. It must outlive them.
  struct Archive {
    const ArchiveDefinitions& definitions;
    const MpiFunctions& functions;
    const Communicators& communicators;
  };
  // `requests` are those of its process.
  ThreadImport(const Archive& archive, ProcessWriter& process, std::uint32_t number, RequestNumbers& requests)
      : archive_(archive), process_(process), writer_(process, number), records_(writer_), requests_(requests) {}

  // False if regions are nested deeper than makes sense.
  bool enter(OTF2_TimeStamp time, OTF2_RegionRef region, const OTF2_AttributeList* attributes);
  void leave(OTF2_TimeStamp time, OTF2_RegionRef region);

  void send(std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes);
  void receive(std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes);
  void isend(std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
             std::uint64_t request);
  void isend_complete(std::uint64_t request);
  void irecv_request(std::uint64_t request);
  void irecv(std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
             std::uint64_t request);
  void cancelled(std::uint64_t request);

  void collective_end(OTF2_CollectiveOp op, OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent,
                      std::uint64_t received);
  void collective_request(std::uint64_t request);
  void collective_complete(OTF2_CollectiveOp op, OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent,
                           std::uint64_t received, std::uint64_t request);

  void metric(OTF2_TimeStamp time, OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types,
              const OTF2_MetricValue* values);

  // Called after the last record.
  void finish() { writer_.finish(); }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t unfinished() const { return open_.size(); }  // regions without a leave

 private:
  Message message(OTF2_CommRef communicator, std::uint32_t peer, std::uint32_t tag, std::uint64_t bytes) const {
    return {peer, archive_.communicators.number(communicator), tag, bytes};
  }
  std::uint32_t site(const OTF2_AttributeList* attributes);
  std::uint32_t site_of_regions();
  void add_region(OTF2_RegionRef region, std::uint64_t ticks, bool begins);
  void add_event(OTF2_RegionRef region, format::EventClass event_class, std::uint64_t ticks,
                 const OTF2_AttributeList* attributes);
  void complete(std::uint32_t request, std::uint64_t bytes, std::int32_t source, std::int32_t tag);
  void end_call(std::uint64_t ticks);

  const Archive& archive_;
  ProcessWriter& process_;
  ThreadWriter writer_;
  CallRecords records_;
  RequestNumbers& requests_;
  std::vector<OTF2_RegionRef> open_;  // that the thread is in
  std::optional<Call> call_;
  std::uint64_t calls_ = 0;
};

// Callbacks whose data are a ThreadImport.
std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> make_event_callbacks();

}  // namespace tare::importers::otf2
