#include "recorder/commit_call.h"

#include <cstring>

#include "recorder/commit.h"

namespace tare::recorder {
namespace {

// There is room for it.
void append(EventBuffer& events, const SourceCall& call, std::uint32_t site, std::uint64_t bytes) noexcept {
  const format::SourceCallRecord record{{format::source_call, static_cast<std::uint16_t>(bytes / 8)},
                                        call.function,
                                        call.enter,
                                        call.leave,
                                        site,
                                        call.object};
  std::memcpy(events.place(), &record, sizeof record);
  if (!call.arguments.empty())
    std::memcpy(events.place() + sizeof record, call.arguments.data(), call.arguments.size_bytes());
  events.publish(bytes);
}

}  // namespace

void commit_call(Location& location, const SourceCall& call, KnownRows& known) noexcept {
  if (location.mode != Mode::usual) {
    if (call.leave >= offload_due.load(std::memory_order_relaxed)) offload_by_clock(location, call.leave);
    if (location.mode == Mode::paused) return;
  }
  Call of_row{.enter = call.enter, .leave = call.leave, .bytes = call.bytes};
  of_row.function = call.function;
  of_row.site = call.site;
  of_row.communicator = call.row_object;
  format::ProfileRow& row = choose_row(location.profile, of_row, known);
  add_to_row<no_traffic>(row, of_row);
  const std::uint64_t bytes = sizeof(format::SourceCallRecord) + call.arguments.size_bytes();
  if (location.traced() && has_made_room_in_step(location, bytes)) append(location.events, call, row.site, bytes);
}

}  // namespace tare::recorder
