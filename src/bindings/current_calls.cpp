#include "reader/run/current_calls.h"

#include "bindings/fields.h"
#include "bindings/parts.h"

namespace tare::bindings {
namespace {

struct Request : reader::PendingRequest {
  std::string name;  // of the function
};

struct Call : reader::CurrentCall {
  std::int32_t world = 0, rank = -1;
  std::string name;
  std::vector<Request> requests_of_process;
};

std::vector<Call> current_calls(PyRun& py_run) {
  const reader::Run& run = py_run.run();
  const std::vector<std::string>& names = run.functions().names();
  std::vector<Call> calls;
  for (const reader::CurrentCall& call : reader::current_calls(run)) {
    const reader::Process& process = run.processes()[call.process];
    Call& made = calls.emplace_back(Call{call, process.world, process.record.rank, names[call.function], {}});
    for (const reader::PendingRequest& each : call.pending)
      made.requests_of_process.push_back({each, names[each.function]});
  }
  return calls;
}

}  // namespace

void define_current_calls(nb::module_& module, nb::class_<PyRun>& run) {
  using format::no_peer, format::no_tag;
  Fields<Request>(module, "PendingRequest",
                  "A request of a process that has not been completed; numbers as in CurrentCall.")
      .field("function", &Request::name)
      .members<&Request::site, &Request::communicator>()
      .unless("peer", no_peer, &Request::peer)
      .unless("peer_world", no_peer, &Request::peer_world)
      .unless("tag", no_tag, &Request::tag)
      .value("bytes", [](const Request& of) { return of.receives ? std::nullopt : std::optional(of.bytes); })
      .members<&Request::start_ns, &Request::receives, &Request::waited_for>();
  Fields<Call>(
      module, "CurrentCall",
      "The call that a thread is in (`inside`), or its last one. `site`, `communicator` and `process` are indices "
      "in lists of the run. A thread that has not `made_mpi_calls` is in a call of another source. Peers are ranks in "
      "the communicator as they were passed, -1: any, -2: none; in the world, as far as they are known. It waits for "
      "so many `requests`; `pending` has those of the process. `counted_since_ns`: since then calls of the thread are "
      "only counted, and it is not known which one it is in.")
      .members<&Call::world, &Call::rank, &Call::process, &Call::thread>()
      .field("function", &Call::name)
      .members<&Call::used_file, &Call::inside, &Call::made_mpi_calls, &Call::site, &Call::communicator>()
      .unless("peer", no_peer, &Call::peer)
      .unless("peer_world", no_peer, &Call::peer_world)
      .unless("tag", no_tag, &Call::tag)
      .unless("source", no_peer, &Call::source)
      .unless("source_world", no_peer, &Call::source_world)
      .unless("source_tag", no_tag, &Call::source_tag)
      .members<&Call::enter_ticks, &Call::enter_ns>()
      .value("leave_ns", [](const Call& of) { return of.inside ? std::nullopt : std::optional(of.leave_ns); })
      .unless("counted_since_ns", std::int64_t{0}, &Call::counted_since_ns)
      .members<&Call::requests>()
      .field("pending", &Call::requests_of_process);
  run.def("current_calls", current_calls);
}

}  // namespace tare::bindings
