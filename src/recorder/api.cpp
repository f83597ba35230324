// The public C API (include/tare/tare.h).

#include <bit>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "recorder/commit.h"
#include "recorder/environment.h"
#include "recorder/event_cost.h"
#include "recorder/event_types.h"
#include "recorder/here.h"
#include "recorder/inside.h"
#include "recorder/monitored.h"
#include "recorder/own_run.h"
#include "recorder/process.h"
#include "recorder/sources.h"
#include "recorder/spells.h"
#include "recorder/warning.h"
#include "tare/tare.h"

namespace tare::recorder {
namespace {

using format::EventClass;
using format::ParameterType;

// One letter of a format of Python's module struct. False if it is not the letter of a parameter type.
bool parameter_type(char letter, ParameterType& out) noexcept {
  constexpr char letters[] = "bhiqBHIQfd";  // in the order of ParameterType
  const char* at = letter == '\0' ? nullptr : std::strchr(letters, letter);
  if (at == nullptr) return false;
  out = static_cast<ParameterType>(at - letters);
  return true;
}

std::uint32_t define_span(EventClass event_class, const char* name) noexcept {
  return register_event_type({event_class, 1, {ParameterType::u8}}, name, nullptr);
}

// Does whatever may need a call: the first event of a thread, a full buffer, a clock that the kernel reads.
template <class... Words>
[[gnu::cold, gnu::noinline]] void record_slowly(std::uint32_t type, Words... words) noexcept {
  const OwnCode own;
  Location* location = here();
  if (location == nullptr || !location->traced() || type == 0) return;
  const std::uint64_t values[sizeof...(words) + 1] = {words..., 0};
  commit_event(*location, type, now(), values, sizeof...(words));
}

// Makes no call except as its last step, so the compiler saves no registers.
template <class... Words>
[[gnu::always_inline]] inline void record(std::uint32_t type, Words... words) noexcept {
  Location* location = this_location;
  const std::uintptr_t before = std::exchange(tare_inside, not_to_be_left);  // as OwnCode does
  if (location == nullptr || type == 0 || !records_plainly ||
      !location->events.has_room(EventBuffer::event_bytes(sizeof...(words)))) [[unlikely]] {
    tare_inside = before;
    return record_slowly(type, words...);
  }
  const std::uint64_t values[sizeof...(words) + 1] = {words..., 0};
  location->events.append_event(type, read_counter(), values, sizeof...(words));
  tare_inside = before;
}

// Tells the monitor of a region or a counter.
[[gnu::cold, gnu::noinline]] void record_span(SpanEvent event, std::uint32_t type, std::uint64_t value) noexcept {
  const OwnCode own;
  Location* location = here();
  if (location == nullptr || type == 0) return;
  if (location->spans != nullptr) library_options.monitor->span(*location, event, type, value);
  record_slowly(type, value);
}
[[gnu::always_inline]] inline void record(SpanEvent event, std::uint32_t type, std::uint64_t value) noexcept {
  if (!records_plainly) [[unlikely]]
    return record_span(event, type, value);
  record(type, value);
}

}  // namespace
}  // namespace tare::recorder

using tare::format::EventClass;
using tare::format::ParameterType;
using tare::recorder::record;
using tare::recorder::SpanEvent;

extern "C" {

int tare_start(const char* run_directory) {
  const tare::recorder::OwnCode own;
  tare::recorder::OwnRun run;
  if (tare::recorder::run_given()) return 0;
  if (!tare::recorder::may_record()) {
    errno = EPERM;
    return -1;
  }
  if (!tare::recorder::make_run(run_directory, run)) return -1;
  return tare::recorder::attach_to(run) ? 0 : -1;
}

int tare_recording(void) {
  const auto* location = tare::recorder::here();
  return location != nullptr && location->traced() ? 1 : 0;
}

tare_id tare_define_region(const char* name) { return tare::recorder::define_span(EventClass::region, name); }
void tare_enter(tare_id region) { record(SpanEvent::enter, region, 1); }
void tare_leave(tare_id region) { record(SpanEvent::leave, region, 0); }

tare_id tare_define_phase(const char* name) { return tare::recorder::define_span(EventClass::phase, name); }
void tare_begin_phase(tare_id phase) {
  record(phase, std::uint64_t{1});
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location != nullptr && phase != 0) location->enter_phase(phase);
}
void tare_end_phase(tare_id phase) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location != nullptr && phase != 0) location->leave_phase(phase);
  record(phase, std::uint64_t{0});
}

void tare_pause(void) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location == nullptr) return;
  tare::recorder::tell_sources<&tare::recorder::Source::pauses>(*location);
  location->pause();
}
void tare_resume(void) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location == nullptr) return;
  location->resume();
  if (tare::recorder::any_event_type()) tare::recorder::measure_event_cost(*location);  // with new names
}
void tare_flush(void) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location != nullptr) location->drain();
}

void tare_progress(void) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location != nullptr) tare::recorder::spells.progress(*location);
}

void tare_offload(void) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location != nullptr && location->spans != nullptr) tare::recorder::library_options.monitor->offload(*location);
}

int tare_find_sweet_spot(std::uint32_t events, tare_sweet_spot* spot) {
  tare::recorder::MonitorFindings known;
  known.spot.events = events;
  if (const auto* monitor = tare::recorder::library_options.monitor) monitor->find(events, known);
  // A time that is not known is -1. An overall cost may be negative, so for it the deviation says whether it is known.
  const auto seconds = [](double ns, bool is_known) { return is_known ? ns * 1e-9 : -1; };
  const auto time = [&seconds](double ns) { return seconds(ns, ns >= 0); };
  const tare::format::SweetSpot& of = known.spot;
  if (spot != nullptr)
    *spot = {of.events,
             static_cast<std::uint32_t>(of.source),
             of.is_bound,
             time(of.boi_ns),
             time(of.boi_spread_ns),
             time(of.rest_ns),
             time(of.rest_deviation_ns),
             time(of.delay_ns),
             time(of.delay_deviation_ns),
             time(known.direct_ns),
             time(known.direct_deviation_ns),
             seconds(known.overall_ns, known.overall_deviation_ns >= 0),
             time(known.overall_deviation_ns)};
  return of.boi_ns >= 0 ? 1 : 0;
}

int tare_control(tare_control_message* message) {
  tare_control_message found{};
  tare::format::ControlMessage of;
  const auto* monitor = tare::recorder::library_options.monitor;
  const bool is_there = monitor != nullptr && monitor->control(of, found.lost);
  if (is_there) {
    static_assert(sizeof found.name == sizeof of.name && sizeof found.text == sizeof of.text);
    std::memcpy(found.name, of.name.data(), sizeof found.name);
    std::memcpy(found.text, of.text.data(), sizeof found.text);
    found.type = static_cast<std::int32_t>(of.type);
    if (of.type == tare::format::ControlType::integer) found.integer = static_cast<std::int64_t>(of.value);
    if (of.type == tare::format::ControlType::real) found.real = std::bit_cast<double>(of.value);
  }
  if (message != nullptr) *message = found;
  return is_there ? 1 : 0;
}

int tare_sample(const char* spec) {
  const tare::recorder::OwnCode own;
  if (spec == nullptr) spec = "";
  const auto change = tare::recorder::only_hook<&tare::recorder::Source::change_sampling>();
  const char* wrong = change == nullptr ? "this program does not run under tare run --sample" : change(spec);
  if (wrong == nullptr) return 0;
  char line[512];
  std::snprintf(line, sizeof line, "tare_sample(\"%.200s\"): %s", spec, wrong);
  tare::recorder::warn(line);
  return -1;
}

tare_id tare_define_counter(const char* name, const char* unit) {
  return tare::recorder::register_event_type({EventClass::counter, 1, {ParameterType::f64}}, name, unit);
}
void tare_count(tare_id counter, double value) { record(SpanEvent::count, counter, tare_word_of_double(value)); }

tare_id tare_define_marker(const char* name) {
  return tare::recorder::register_event_type({EventClass::marker, 0, {}}, name, nullptr);
}
void tare_mark(tare_id marker) { record(marker); }

tare_id tare_define_event(const char* name, const char* types) {
  tare::recorder::EventType type{EventClass::regular, 0, {}};
  for (const char* letter = types == nullptr ? "" : types; *letter != '\0'; ++letter) {
    if (type.parameters == TARE_MAX_PARAMETERS) return 0;
    if (!tare::recorder::parameter_type(*letter, type.parameter_types[type.parameters++])) return 0;
  }
  return tare::recorder::register_event_type(type, name, nullptr);
}

tare_id tare_define_packed(const char* name) {
  return tare::recorder::register_event_type({EventClass::packed, 0, {}}, name, nullptr);
}

void tare_record(tare_id event, const uint64_t* parameters, unsigned count) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location == nullptr || !location->traced() || event == 0) return;
  tare::recorder::commit_event(*location, event, tare::recorder::now(), parameters,
                               count < TARE_MAX_PARAMETERS ? count : unsigned{TARE_MAX_PARAMETERS});
}

void tare_record0(tare_id event) { record(event); }
void tare_record1(tare_id event, uint64_t p1) { record(event, p1); }
void tare_record2(tare_id event, uint64_t p1, uint64_t p2) { record(event, p1, p2); }
void tare_record3(tare_id event, uint64_t p1, uint64_t p2, uint64_t p3) { record(event, p1, p2, p3); }
void tare_record4(tare_id event, uint64_t p1, uint64_t p2, uint64_t p3, uint64_t p4) { record(event, p1, p2, p3, p4); }

tare_id tare_define_raw(const char* name) {
  return tare::recorder::register_event_type({EventClass::raw, 0, {}}, name, nullptr);
}

void tare_record_raw(tare_id event, const void* data, size_t bytes) {
  const tare::recorder::OwnCode own;
  tare::recorder::Location* location = tare::recorder::here();
  if (location == nullptr || !location->traced() || event == 0) return;
  tare::recorder::commit_raw_event(*location, event, tare::recorder::now(), data,
                                   bytes < TARE_MAX_RAW_BYTES ? bytes : size_t{TARE_MAX_RAW_BYTES});
}

}  // extern "C"
