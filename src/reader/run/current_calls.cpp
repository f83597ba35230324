#include "reader/run/current_calls.h"

#include "format/function_meaning.h"
#include "reader/run/used_file_names.h"

namespace tare::reader {
namespace {

using namespace tare::format;

// Translates the numbers of one process to indices in the tables of the run.
class Translation {
 public:
  Translation(const Run& run, std::uint32_t number, UsedFileNames& files)
      : run_(run), process_(run.processes()[number]), number_(number), files_(files) {}

  std::uint16_t function(std::uint32_t number) const {
    return FunctionNames::lookup(*process_.functions, static_cast<std::uint16_t>(number));
  }
  std::int32_t site(std::uint32_t number) const { return process_.sites.find(number); }
  std::int32_t communicator(std::uint32_t number) const { return process_.communicators.find(number); }
  std::int32_t world_rank(std::int32_t communicator, std::int32_t peer) const {
    return run_.world_rank(communicator, process_.record.rank, peer);
  }
  // The name of the file of a call, as the table of files or MPI_File_open has it; empty: none.
  std::string file(std::uint16_t function, const ThreadCall& call) const {
    if (meaning_of(function).access == FileAccess::none) return {};
    if ((call.flags & of_other_source) == 0) {
      const std::int32_t scope = process_.scopes.find(call.communicator);
      return scope < 0 ? std::string() : run_.scopes()[static_cast<std::size_t>(scope)].name;
    }
    const UsedFiles::File* used = files_.find(number_, function, call.object);
    return used == nullptr ? std::string() : used->name;
  }
  std::int64_t unix_ns(std::uint64_t ticks) const { return process_.clock.unix_ns(ticks); }
  // A call that is measured all the same is known.
  std::int64_t counted_since_ns(const ThreadCall& call) const {
    const ProcessRecord& record = process_.record;
    const bool is_known = call.thread != 0 || (call.function & returned) == 0 || record.finalize_enter != 0;
    return is_known || record.counted_since == 0 ? 0 : unix_ns(record.counted_since);
  }

 private:
  const Run& run_;
  const Process& process_;
  const std::uint32_t number_;  // of the process
  UsedFileNames& files_;
};

// Whether the function waits for requests: MPI_Wait and similar functions.
bool waits(std::uint16_t function) { return meaning_of(function).waits == Waits::requests; }

PendingRequest pending_request(const Translation& means, const RequestEntry& entry) {
  PendingRequest request;
  request.function = means.function(entry.function);
  request.site = means.site(entry.site);
  request.communicator = means.communicator(entry.communicator);
  request.peer = entry.peer;
  request.peer_world = means.world_rank(request.communicator, entry.peer);
  request.tag = entry.tag;
  request.bytes = entry.bytes;
  request.start_ns = means.unix_ns(entry.started);
  request.receives = entry.receives();
  return request;
}

CurrentCall current_call(const Translation& means, const ThreadCall& copy) {
  CurrentCall call;
  call.thread = copy.thread;
  call.inside = (copy.function & returned) == 0;
  call.function = means.function(copy.function & ~returned);
  call.made_mpi_calls = (copy.flags & never_in_mpi) == 0;
  call.site = means.site(copy.site);
  call.used_file = means.file(call.function, copy);
  call.communicator = means.communicator(copy.communicator);
  call.peer = copy.peer;
  call.peer_world = means.world_rank(call.communicator, copy.peer);
  call.tag = copy.tag;
  call.source = copy.source;
  call.source_world = means.world_rank(call.communicator, copy.source);
  call.source_tag = copy.source_tag;
  call.enter_ticks = copy.enter;
  call.enter_ns = means.unix_ns(copy.enter);
  call.leave_ns = call.inside ? 0 : means.unix_ns(copy.leave);
  call.counted_since_ns = means.counted_since_ns(copy);
  return call;
}

void append_calls(const Run& run, std::uint32_t number, UsedFileNames& files, std::vector<CurrentCall>& calls) {
  const Process& process = run.processes()[number];
  const Translation means(run, number, files);
  for (const ThreadCall& copy : process.calls) {
    if (copy.function == 0) continue;
    CurrentCall& call = calls.emplace_back(current_call(means, copy));
    call.process = number;
    const bool waiting = call.inside && waits(call.function);
    if (waiting) call.requests = copy.requests;
    for (const RequestEntry& entry : process.requests) {
      if (entry.persistent() && entry.active == 0) continue;
      call.pending.push_back(pending_request(means, entry));
      call.pending.back().waited_for = waiting && entry.waiter == copy.block + 1;
    }
  }
}

}  // namespace

std::vector<CurrentCall> current_calls(const Run& run) {
  std::vector<CurrentCall> calls;
  UsedFileNames files(run);
  for (std::uint32_t number = 0; number < run.processes().size(); ++number) append_calls(run, number, files, calls);
  return calls;
}

}  // namespace tare::reader
