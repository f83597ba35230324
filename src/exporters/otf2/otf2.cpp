#include "exporters/formats.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "exporters/otf2/archive.h"
#include "exporters/otf2/definitions.h"
#include "exporters/otf2/io_records.h"
#include "exporters/otf2/mpi_records.h"
#include "exporters/otf2/rma_records.h"
#include "exporters/otf2/source_records.h"
#include "exporters/texts.h"

namespace tare::exporters::otf2 {
namespace {

using namespace tare::reader;
using format::EventClass;
using format::no_bytes;
using format::no_peer;
using format::no_tag;

using format::ParameterType;

// By format::ParameterType.
constexpr OTF2_Type parameter_types_of_otf2[] = {OTF2_TYPE_INT8,  OTF2_TYPE_INT16,  OTF2_TYPE_INT32,  OTF2_TYPE_INT64,
                                                 OTF2_TYPE_UINT8, OTF2_TYPE_UINT16, OTF2_TYPE_UINT32, OTF2_TYPE_UINT64,
                                                 OTF2_TYPE_FLOAT, OTF2_TYPE_DOUBLE};

struct ListDeleter {
  void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
};

class Otf2Writer : public TimelineWriter {
 public:
  Otf2Writer(Run& run, const std::string& path, const ExportOptions& options)
      : run_(run),
        names_(run),
        definitions_(run, names_),
        ranks_(run),
        communicators_(ranks_.known_communicators(run)),
        records_(run, options.filter, communicators_),
        rma_(run, communicators_),
        io_(run, communicators_),
        sources_(run, communicators_.count()),
        archive_(path),
        attributes_(OTF2_AttributeList_New()),
        zero_ns_(options.start_ns) {}

  void begin_track(const Track& track) override;
  void enter(const Track& track, std::int64_t time_ns, const Span& span) override;
  void leave(const Track& track, std::int64_t time_ns, const Span& span) override;
  void event(const Track& track, std::int64_t time_ns, const EventRow& row) override;
  void lose() override { records_.lose(); }
  bool has_failed() const override { return archive_.has_failed(); }

  const std::string& obstacle() const { return records_.obstacle(); }
  std::string finish();

 private:
  struct Place {
    Sink sink;
    LocationEntry entry;
  };

  std::uint64_t time_of(std::int64_t time_ns) {
    first_ns_ = std::min(first_ns_, time_ns);
    last_ns_ = std::max(last_ns_, time_ns);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  }
  void check(Place& place) {
    if (place.sink.failure != OTF2_SUCCESS) archive_.check(place.sink.failure);
  }
  void open(const LocationEntry& entry);
  void add_call(const Span& span);
  void add(Attribute name, std::int32_t value) {
    archive_.check(OTF2_AttributeList_AddInt32(attributes_.get(), name, value));
  }
  void add(Attribute name, std::uint64_t value) {
    archive_.check(OTF2_AttributeList_AddUint64(attributes_.get(), name, value));
  }
  void add_text(Attribute name, const std::string& value) {
    archive_.check(OTF2_AttributeList_AddStringRef(attributes_.get(), name, definitions_.string(value)));
  }
  void add_parameters(const EventRow& row);
  void write_marker(const Place& place, std::uint64_t time, const EventRow& row);

  Run& run_;
  Names names_;
  Definitions definitions_;
  CommLocations ranks_;
  CommunicatorNumbers communicators_;
  MpiRecords records_;
  RmaRecords rma_;
  IoRecords io_;
  SourceRecords sources_;
  Archive archive_;
  std::unique_ptr<OTF2_AttributeList, ListDeleter> attributes_;
  std::vector<Place> places_;
  std::map<std::int32_t, OTF2_MarkerRef> markers_;  // by event type
  std::int64_t zero_ns_, first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

void Otf2Writer::open(const LocationEntry& entry) {
  places_.push_back({{archive_.open_location(entry.reference)}, entry});
}

void Otf2Writer::begin_track(const Track& track) {
  const std::uint32_t slot = track.thread * 2 + (track.is_of_tared ? 1 : 0);
  open({CommLocations::location(track.process, slot), track.process, names_.thread(track)});
}

void Otf2Writer::add_call(const Span& span) {
  const EventRow& row = span.row;
  if (row.site >= 0) {
    OTF2_AttributeValue value;
    value.callingContextRef = definitions_.calling_context(row.site);
    archive_.check(OTF2_AttributeList_AddAttribute(attributes_.get(), call_path, OTF2_TYPE_CALLING_CONTEXT, value));
    value.sourceCodeLocationRef = definitions_.source(row.site);
    if (value.sourceCodeLocationRef != OTF2_UNDEFINED_SOURCE_CODE_LOCATION)
      archive_.check(
          OTF2_AttributeList_AddAttribute(attributes_.get(), call_site, OTF2_TYPE_SOURCE_CODE_LOCATION, value));
  }
  if (row.scope >= 0)
    add_text(run_.scopes()[static_cast<std::size_t>(row.scope)].is_file ? mpi_file : window, names_.scope(row.scope));
  // If there are MPI records after the enter, they contain the rest.
  if (records_.will_tell(row, span.matched) || rma_.will_tell(row)) return;
  if (row.peer != no_peer) add(row.rooted ? root : peer, row.peer);
  if (row.tag != no_tag) add(tag, row.tag);
  if (row.bytes != no_bytes) add(bytes, row.bytes);
  if (row.received != no_bytes) add(received, row.received);
}

void Otf2Writer::enter(const Track& track, std::int64_t time_ns, const Span& span) {
  Place& place = places_[track.number];
  if (has_failed()) return;
  const EventRow& row = span.row;
  const std::uint64_t time = time_of(time_ns);
  if (row.kind == EventKind::call) {
    add_call(span);
  } else if (row.kind != EventKind::event) {
    if (row.bytes != no_bytes) add(bytes, row.bytes);
    if (row.kind != EventKind::source_call) add(records, row.records);
  }
  if (row.kind == EventKind::loss) {
    place.entry.lost += row.records;
    records_.lose(row, span.matched);
  }
  place.sink.check(OTF2_EvtWriter_Enter(place.sink.writer, attributes_.get(), time, definitions_.region(row)));
  if (row.kind == EventKind::call) {
    records_.begin(row, span.matched, time, place.sink);
    rma_.begin(row, time, place.sink);
  } else if (row.kind == EventKind::source_call) {
    sources_.begin(row, place.entry.reference, time, place.sink);
  }
  if (is_call(row.kind)) io_.begin(row, time, place.sink);
  check(place);
}

void Otf2Writer::leave(const Track& track, std::int64_t time_ns, const Span& span) {
  Place& place = places_[track.number];
  if (has_failed()) return;
  const std::uint64_t time = time_of(time_ns);
  if (is_call(span.row.kind)) io_.end(span.row, time, place.sink);
  if (span.row.kind == EventKind::call) {
    records_.end(span.row, span.matched, time, place.sink);
    rma_.end(span.row, time, place.sink);
  } else if (span.row.kind == EventKind::source_call) {
    sources_.end(span.row, place.entry.reference, time, place.sink);
  }
  place.sink.write(OTF2_EvtWriter_Leave, time, definitions_.region(span.row));
  check(place);
}

void Otf2Writer::add_parameters(const EventRow& row) {
  const std::vector<ParameterType> types = parameter_types(run_, row);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const OTF2_Type type = parameter_types_of_otf2[static_cast<std::size_t>(types[i])];
    OTF2_AttributeValue value;
    value.uint64 = row.parameters[i];  // smaller types are its first bytes
    archive_.check(OTF2_AttributeList_AddAttribute(attributes_.get(), definitions_.parameter(i, type), type, value));
  }
}

void Otf2Writer::write_marker(const Place& place, std::uint64_t time, const EventRow& row) {
  OTF2_MarkerWriter* to = archive_.markers();
  if (to == nullptr) return;
  const auto [at, is_new] = markers_.emplace(row.event_type, static_cast<OTF2_MarkerRef>(markers_.size()));
  if (is_new)
    archive_.check(
        OTF2_MarkerWriter_WriteDefMarker(to, at->second, "tare", names_.event(row).c_str(), OTF2_SEVERITY_NONE));
  archive_.check(
      OTF2_MarkerWriter_WriteMarker(to, time, 0, at->second, OTF2_MARKER_SCOPE_LOCATION, place.entry.reference, ""));
}

void Otf2Writer::event(const Track& track, std::int64_t time_ns, const EventRow& row) {
  Place& place = places_[track.number];
  if (has_failed()) return;
  const std::uint64_t time = time_of(time_ns);
  const EventClass event_class = class_of(run_, row);
  if (event_class == EventClass::marker) return write_marker(place, time, row);
  if (event_class != EventClass::counter) {
    // OTF2 has no events with values of different types. It has regions with attributes; this one takes no time.
    if (event_class == EventClass::raw)
      add_text(text, plain_text(row.text));
    else
      add_parameters(row);
    const OTF2_RegionRef region = definitions_.region(row);
    place.sink.check(OTF2_EvtWriter_Enter(place.sink.writer, attributes_.get(), time, region));
    place.sink.write(OTF2_EvtWriter_Leave, time, region);
    return check(place);
  }
  constexpr OTF2_Type type = OTF2_TYPE_DOUBLE;
  OTF2_MetricValue value;
  value.floating_point = std::bit_cast<double>(row.parameters.empty() ? 0 : row.parameters.front());
  place.sink.write(OTF2_EvtWriter_Metric, time, definitions_.metric(row.event_type), 1, &type, &value);
  check(place);
}

std::string Otf2Writer::finish() {
  // Ranks without events are members of communicators as well.
  std::set<OTF2_LocationRef> known;
  for (const Place& place : places_) known.insert(place.entry.reference);
  for (const OTF2_LocationRef location : ranks_.locations())
    if (!known.contains(location)) open({location, static_cast<OTF2_LocationGroupRef>(location), "thread 0"});
  std::vector<LocationEntry> entries;
  std::uint64_t lost = 0;
  for (Place& place : places_) {
    place.entry.events = archive_.events_of(place.sink.writer);
    lost += place.entry.lost;
    entries.push_back(place.entry);
  }
  if (first_ns_ > last_ns_) first_ns_ = last_ns_ = zero_ns_;
  archive_.describe("tare", run_.processes().empty() ? "" : plain_text(run_.processes().front().record.host));
  if (lost != 0) archive_.set_property("TARE::LOST_RECORDS", std::to_string(lost));
  definitions_.write(archive_, ranks_, entries, {communicators_, rma_.windows(), sources_.teams(), io_}, first_ns_,
                     last_ns_, zero_ns_);
  return archive_.finish();
}

}  // namespace

Result<TimelineSummary> write_otf2(Run& run, const std::string& path, ExportOptions options) {
  Otf2Writer writer(run, path, options);
  auto summary = write_file(
      run, {.filter = std::move(options.filter), .finds_matched = true, .goes_on = std::move(options.goes_on)}, writer);
  if (!summary) return summary;
  if (!writer.obstacle().empty()) summary->obstacle = writer.obstacle();
  return summary;
}

}  // namespace tare::exporters::otf2
