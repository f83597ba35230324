#include "bindings/current_calls.h"

#include "bindings/convert.h"
#include "reader/run/current_calls.h"

namespace tare::bindings {
namespace {

nb::dict request_dict(const reader::PendingRequest& request, const std::vector<nb::object>& functions) {
  nb::dict row;
  row["function"] = functions[request.function];
  row["site"] = request.site;
  row["communicator"] = request.communicator;
  row["peer"] = number_or_none(request.peer);
  row["peer_world"] = number_or_none(request.peer_world);
  row["tag"] = number_or_none(request.tag);
  row["bytes"] = nb::none();
  if (!request.receives) row["bytes"] = request.bytes;
  row["start_ns"] = request.start_ns;
  row["receives"] = request.receives;
  row["waited_for"] = request.waited_for;
  return row;
}

}  // namespace

nb::list current_call_rows(const reader::Run& run) {
  const std::vector<nb::object> names = function_texts(run.functions());
  nb::list rows;
  for (const reader::CurrentCall& call : reader::current_calls(run)) {
    const reader::Process& process = run.processes()[call.process];
    nb::dict row;
    row["world"] = process.world;
    row["rank"] = process.record.rank;
    row["process"] = call.process;
    row["thread"] = call.thread;
    row["function"] = names[call.function];
    row["inside"] = call.inside;
    row["site"] = call.site;
    row["communicator"] = call.communicator;
    row["peer"] = number_or_none(call.peer);
    row["peer_world"] = number_or_none(call.peer_world);
    row["tag"] = number_or_none(call.tag);
    row["source"] = number_or_none(call.source);
    row["source_world"] = number_or_none(call.source_world);
    row["source_tag"] = number_or_none(call.source_tag);
    row["enter_ticks"] = call.enter_ticks;
    row["enter_ns"] = call.enter_ns;
    row["leave_ns"] = nb::none();
    if (!call.inside) row["leave_ns"] = call.leave_ns;
    row["requests"] = call.requests;
    nb::list pending;
    for (const reader::PendingRequest& request : call.pending) pending.append(request_dict(request, names));
    row["pending"] = pending;
    rows.append(row);
  }
  return rows;
}

}  // namespace tare::bindings
