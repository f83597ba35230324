#include "exporters/otf2/mpi_records.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "exporters/timeline.h"
#include "format/function_meaning.h"
#include "format/record.h"

namespace tare::exporters::otf2 {

using format::CallClass;
using format::Waits;

OTF2_RegionRole role_of(std::uint16_t function) {
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  switch (meaning.kind) {
    case CallClass::send:
    case CallClass::receive:
    case CallClass::exchange:
    case CallClass::probe:
    case CallClass::start:
    case CallClass::completion:
    case CallClass::request:
      return OTF2_REGION_ROLE_POINT2POINT;
    case CallClass::one_sided:
    case CallClass::epoch:
      return OTF2_REGION_ROLE_RMA;
    case CallClass::file:
      return OTF2_REGION_ROLE_FILE_IO;
    case CallClass::collective:
      if (meaning.waits == Waits::root) return OTF2_REGION_ROLE_COLL_ONE2ALL;
      if (meaning.waits == Waits::at_root) return OTF2_REGION_ROLE_COLL_ALL2ONE;
      if (meaning.waits == Waits::all || meaning.waits == Waits::contributors) return OTF2_REGION_ROLE_COLL_ALL2ALL;
      return OTF2_REGION_ROLE_COLL_OTHER;
    default:
      return OTF2_REGION_ROLE_FUNCTION;
  }
}

std::optional<OTF2_CollectiveOp> collective_op_of(std::uint16_t function) {
  using format::Operation;
  static const std::unordered_map<Operation, OTF2_CollectiveOp> ops{
      {Operation::barrier, OTF2_COLLECTIVE_OP_BARRIER},
      {Operation::broadcast, OTF2_COLLECTIVE_OP_BCAST},
      {Operation::gather, OTF2_COLLECTIVE_OP_GATHER},
      {Operation::gatherv, OTF2_COLLECTIVE_OP_GATHERV},
      {Operation::scatter, OTF2_COLLECTIVE_OP_SCATTER},
      {Operation::scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
      {Operation::allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
      {Operation::allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
      {Operation::alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
      {Operation::alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
      {Operation::alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
      {Operation::allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
      {Operation::reduce, OTF2_COLLECTIVE_OP_REDUCE},
      {Operation::reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
      {Operation::reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
      {Operation::scan, OTF2_COLLECTIVE_OP_SCAN},
      {Operation::exscan, OTF2_COLLECTIVE_OP_EXSCAN}};
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  if (meaning.kind != CallClass::collective || meaning.form == format::CallForm::persistent) return std::nullopt;
  if (meaning.makes_communicator && meaning.waits == Waits::all) return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  if (meaning.frees_communicator) return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
  const auto found = ops.find(meaning.operation);
  return found == ops.end() ? std::nullopt : std::optional(found->second);
}

namespace {

using namespace tare::reader;
using format::any_source;
using format::meaning_of;
using format::no_bytes;
using format::no_peer;
using format::no_request;

// Whether a call may write records about this request, or about itself (no_request): always, unless the trace has gaps.
bool may_write(const MpiRecords::Matched& matched, MatchedEnd::Kind kind, std::uint32_t request) {
  return !matched || std::any_of(matched->begin(), matched->end(),
                                 [&](const MatchedEnd& end) { return end.kind == kind && end.request == request; });
}

}  // namespace

MpiRecords::MpiRecords(Run& run, const EventFilter& filter, const CommunicatorNumbers& communicators)
    : run_(run),
      communicators_(communicators),
      roles_(roles_of_calls(run.functions())),
      processes_(run.processes().size()),
      obstacle_(filter.start_ns > first_time_ns(run, INT64_MAX) ? "the start of the trace was left out" : "") {
  if (filter.ranks) ranks_.emplace(filter.ranks->begin(), filter.ranks->end());
}

void MpiRecords::lose(const EventRow& loss, const Matched& matched) {
  if (!matched) return lose();
  // Requests get new numbers.
  Process& process = processes_[loss.process];
  process.started.clear();
  process.probed.clear();
}

void MpiRecords::start_send(const Transfer& of, std::uint64_t time, Sink& sink, Process& process, Started& started) {
  if (!is_known(of)) return;
  started.sent = ++process.last_request;
  sink.write(OTF2_EvtWriter_MpiIsend, time, as_u32(of.peer), communicators_.of(of.communicator), as_u32(of.tag),
             or_none(of.bytes), started.sent);
}

void MpiRecords::start_receive(const Transfer& of, std::uint64_t time, Sink& sink, Process& process, Started& started) {
  const bool is_open = of.peer == any_source || of.peer == no_peer;
  if (!communicators_.has(of.communicator) || (!is_open && !is_known(of))) return;
  started.received = ++process.last_request;
  started.receive = of;
  sink.write(OTF2_EvtWriter_MpiIrecvRequest, time, started.received);
}

void MpiRecords::start(const EventRow& row, std::uint32_t request, const Started& started) {
  if (started.sent == 0 && started.received == 0 && started.collective == 0) return;
  auto& all = processes_[row.process].started;
  if (all.size() >= max_under_way) all.clear();
  all[request_key(row.thread, request)] = started;
}

std::optional<MpiRecords::Operation> MpiRecords::operation_of(const EventRow& row) const {
  const std::optional<OTF2_CollectiveOp> op = collective_op_of(row.function);
  if (!op || row.scope >= 0 || !communicators_.has(row.communicator)) return std::nullopt;
  Operation of{*op, row.communicator, OTF2_COLLECTIVE_ROOT_NONE, or_none(row.bytes), or_none(row.received)};
  if (row.rooted) {
    of.root = row.peer == format::root_of_other_group ? OTF2_COLLECTIVE_ROOT_SELF
              : row.peer < 0                          ? OTF2_COLLECTIVE_ROOT_THIS_GROUP
                                                      : as_u32(row.peer);
    // For a call that only takes data out, those are its bytes (docs/bytes.md).
    const bool from_root = roles_[row.function] == CallRole::from_root;
    const CommunicatorInfo& communicator = run_.communicators()[static_cast<std::size_t>(row.communicator)];
    const bool is_root = communicator.inter ? row.peer == format::root_of_other_group : row.peer_world == row.rank;
    // Between groups, the root of such a call takes out alone, and that of the others puts in alone.
    const bool to_root_alone = communicator.inter && is_root && roles_[row.function] == CallRole::to_root;
    if ((from_root && !is_root) || to_root_alone) of.received = std::exchange(of.sent, 0);
  }
  return of;
}

bool MpiRecords::will_tell(const EventRow& row, const Matched& matched) const {
  if (!obstacle_.empty()) return false;
  using enum MatchedEnd::Kind;
  switch (roles_[row.function]) {
    case CallRole::send:
    case CallRole::synchronous_send:
    case CallRole::exchange:
      return reader::has_sent(row) && may_write(matched, sent, row.request) &&
             is_known({row.communicator, row.peer, row.peer_world, row.tag, 0});
    case CallRole::receive:
      return may_write(matched, posted, row.request) &&
             (row.request != no_request || is_known({row.communicator, row.peer, row.peer_world, row.tag, 0}));
    case CallRole::starts:
    case CallRole::completes:
      return !matched;
    default:
      return may_write(matched, collective, row.request) && operation_of(row).has_value();
  }
}

void MpiRecords::begin(const EventRow& row, const Matched& matched, std::uint64_t time, Sink& sink) {
  if (!obstacle_.empty()) return;
  using enum MatchedEnd::Kind;
  Process& process = processes_[row.process];
  const bool blocks = row.request == no_request;
  const Transfer sends{row.communicator, row.peer, row.peer_world, row.tag, row.bytes};
  const bool may_send = may_write(matched, sent, row.request), may_receive = may_write(matched, posted, row.request);
  const auto send = [&] {
    if (may_send && is_known(sends) && reader::has_sent(row))
      sink.write(OTF2_EvtWriter_MpiSend, time, as_u32(row.peer), communicators_.of(row.communicator), as_u32(row.tag),
                 or_none(row.bytes));
  };
  Started started;
  switch (roles_[row.function]) {
    case CallRole::send:
    case CallRole::synchronous_send:
      if (blocks) return send();
      if (may_send) start_send(sends, time, sink, process, started);
      break;
    case CallRole::receive:
      if (blocks) return;
      if (meaning_of(row.function).receives_matched()) started.received = take_probed(process, sends);
      if (started.received != 0)
        started.receive = sends;
      else if (may_receive)
        start_receive(sends, time, sink, process, started);
      break;
    case CallRole::local:
      if (meaning_of(row.function).is_matched_probe() && may_receive && is_known(sends) && row.tag >= 0) {
        start_receive(sends, time, sink, process, started);
        process.probed[{row.communicator, row.peer, row.tag}].push_back(started.received);
      }
      return;
    case CallRole::exchange:
      if (blocks) return send();
      if (may_send) start_send(sends, time, sink, process, started);
      if (may_receive)
        start_receive({row.communicator, row.source, row.source_world, row.source_tag, no_bytes}, time, sink, process,
                      started);
      started.is_exchange = true;
      break;
    case CallRole::starts:
      return begin_starts(row, matched, time, sink);
    case CallRole::completes:
      return;
    default: {
      const auto operation = operation_of(row);
      if (!operation || !may_write(matched, collective, row.request)) return;
      if (blocks) {
        sink.write(OTF2_EvtWriter_MpiCollectiveBegin, time);
        sink.in_collective = true;
        return;
      }
      started.collective = ++process.last_request;
      started.operation = *operation;
      sink.write(OTF2_EvtWriter_NonBlockingCollectiveRequest, time, started.collective);
    }
  }
  start(row, row.request, started);
}

// Only starts of sends have bytes, and only transfers have a peer.
void MpiRecords::begin_starts(const EventRow& row, const Matched& matched, std::uint64_t time, Sink& sink) {
  Process& process = processes_[row.process];
  const auto start_one = [&](std::uint32_t request, const Transfer& of) {
    if (of.peer == no_peer) return;
    Started started;
    const bool sends = of.bytes != no_bytes;
    if (!may_write(matched, sends ? MatchedEnd::Kind::sent : MatchedEnd::Kind::posted, request)) return;
    if (sends)
      start_send(of, time, sink, process, started);
    else
      start_receive(of, time, sink, process, started);
    start(row, request, started);
  };
  if (row.requests.empty()) start_one(row.request, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes});
  for (const EventRequest& each : row.requests)
    start_one(each.request, {each.communicator, each.peer, each.peer_world, each.tag, each.bytes});
}

void MpiRecords::end(const EventRow& row, const Matched& matched, std::uint64_t time, Sink& sink) {
  if (!obstacle_.empty() && !sink.in_collective) return;
  const bool blocks = row.request == no_request;
  switch (roles_[row.function]) {
    case CallRole::receive:
      if (blocks) receive(row, matched, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes}, time, sink);
      return;
    case CallRole::exchange:
      if (blocks)
        receive(row, matched, {row.communicator, row.source, row.source_world, row.source_tag, row.received}, time,
                sink);
      return;
    case CallRole::completes:
      for (const EventRequest& request : row.requests) complete(row, request, time, sink);
      return;
    case CallRole::send:
    case CallRole::synchronous_send:
    case CallRole::starts:
      return;
    default:
      if (!std::exchange(sink.in_collective, false)) return;
      if (const auto of = operation_of(row))
        sink.write(OTF2_EvtWriter_MpiCollectiveEnd, time, of->op, communicators_.of(of->communicator), of->root,
                   of->sent, of->received);
  }
}

std::uint64_t MpiRecords::take_probed(Process& process, const Transfer& of) {
  const auto found = process.probed.find({of.communicator, of.peer, of.tag});
  if (found == process.probed.end()) return 0;
  const std::uint64_t request = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) process.probed.erase(found);
  return request;
}

void MpiRecords::receive(const EventRow& row, const Matched& matched, const Transfer& of, std::uint64_t time,
                         Sink& sink) {
  if (!is_known(of) || of.tag < 0) return;
  const std::uint64_t request =
      meaning_of(row.function).receives_matched() ? take_probed(processes_[row.process], of) : 0;
  if (request != 0)
    sink.write(OTF2_EvtWriter_MpiIrecv, time, as_u32(of.peer), communicators_.of(of.communicator), as_u32(of.tag),
               or_none(of.bytes), request);
  else if (may_write(matched, MatchedEnd::Kind::posted, no_request))
    sink.write(OTF2_EvtWriter_MpiRecv, time, as_u32(of.peer), communicators_.of(of.communicator), as_u32(of.tag),
               or_none(of.bytes));
}

void MpiRecords::complete(const EventRow& row, const EventRequest& request, std::uint64_t time, Sink& sink) {
  const std::uint32_t starter = request.starter == UINT32_MAX ? row.thread : request.starter;
  const auto found = processes_[row.process].started.extract(request_key(starter, request.request));
  if (found.empty()) return;
  const Started& of = found.mapped();
  if (of.sent != 0) sink.write(OTF2_EvtWriter_MpiIsendComplete, time, of.sent);
  if (of.received != 0) {
    // The status of an exchange may not say what it received.
    const bool names_peer = request.peer != no_peer;
    const Transfer& posted = of.receive;
    const Transfer got = names_peer || !of.is_exchange ? Transfer{posted.communicator, request.peer, request.peer_world,
                                                                  request.tag, request.bytes}
                                                       : posted;
    if (is_known(got) && got.tag >= 0)
      sink.write(OTF2_EvtWriter_MpiIrecv, time, as_u32(got.peer), communicators_.of(got.communicator), as_u32(got.tag),
                 or_none(got.bytes), of.received);
    else
      sink.write(OTF2_EvtWriter_MpiRequestCancelled, time, of.received);
  }
  if (of.collective == 0) return;
  const Operation& operation = of.operation;
  sink.write(OTF2_EvtWriter_NonBlockingCollectiveComplete, time, operation.op,
             communicators_.of(operation.communicator), operation.root, operation.sent, operation.received,
             of.collective);
}

}  // namespace tare::exporters::otf2
