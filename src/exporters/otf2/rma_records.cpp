#include "exporters/otf2/rma_records.h"

#include <algorithm>

#include "exporters/otf2/mpi_records.h"
#include "format/record.h"

namespace tare::exporters::otf2 {
namespace {

using namespace tare::reader;
using format::CallClass;
using format::CompletesAccesses;
using format::meaning_of;
using format::no_request;
using format::Operation;

// A collective that completes accesses.
bool is_fence(const format::FunctionMeaning& of) {
  return of.kind == CallClass::collective && of.completes_accesses != CompletesAccesses::none;
}

}  // namespace

RmaRecords::RmaRecords(const Run& run, const CommunicatorNumbers& communicators)
    : run_(run), communicators_(communicators), processes_(run.processes().size()) {}

bool RmaRecords::is_written(std::int32_t scope) const {
  if (scope < 0) return false;
  const ScopeInfo& of = run_.scopes()[static_cast<std::size_t>(scope)];
  return !of.is_file && of.key != 0 && communicators_.has(of.communicator);
}

OTF2_RmaWinRef RmaRecords::number_of(std::int32_t scope) {
  const auto [at, is_new] = numbers_.emplace(scope, static_cast<OTF2_RmaWinRef>(windows_.size()));
  if (is_new) windows_.push_back(scope);
  return at->second;
}

bool RmaRecords::will_tell(const EventRow& row) const {
  const bool has_failed = row.bytes == format::no_bytes;
  return meaning_of(row.function).kind == CallClass::one_sided && row.peer >= 0 && !has_failed && is_written(row.scope);
}

void RmaRecords::begin(const EventRow& row, std::uint64_t time, Sink& sink) {
  const format::FunctionMeaning& meaning = meaning_of(row.function);
  if (is_fence(meaning) && is_written(row.scope)) {
    number_of(row.scope);
    sink.write(OTF2_EvtWriter_RmaCollectiveBegin, time);
  }
  if (!will_tell(row)) return;
  Process& process = processes_[row.process];
  const std::uint64_t number = ++process.last;
  const std::uint32_t window = number_of(row.scope), target = as_u32(row.peer);
  const std::uint64_t bytes = or_none(row.bytes);
  const auto atomic = [&](OTF2_RmaAtomicType type) {
    sink.write(OTF2_EvtWriter_RmaAtomic, time, window, target, type, bytes, or_none(row.received), number);
  };
  // Which operation an accumulating call does is not recorded, so not of a fetching one, either.
  switch (meaning.operation) {
    case Operation::put:
      sink.write(OTF2_EvtWriter_RmaPut, time, window, target, bytes, number);
      break;
    case Operation::get:
      sink.write(OTF2_EvtWriter_RmaGet, time, window, target, bytes, number);
      break;
    case Operation::accumulate:
      atomic(OTF2_RMA_ATOMIC_TYPE_ACCUMULATE);
      break;
    case Operation::fetch_and_accumulate:
      atomic(OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE);
      break;
    case Operation::compare_and_swap:
      atomic(OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP);
      break;
    default:
      break;
  }
  std::vector<UnderWay>& under_way = process.under_way[row.scope];
  if (under_way.size() < max_under_way) under_way.push_back({row.peer, number});
  if (row.request == no_request) return;
  if (process.by_request.size() >= max_under_way) process.by_request.clear();  // freed, and never completed
  process.by_request[request_key(row.thread, row.request)] = {row.scope, number};
}

void RmaRecords::complete(const EventRow& row, std::uint64_t time, Sink& sink, CompletesAccesses which) {
  const auto found = processes_[row.process].under_way.find(row.scope);
  if (found == processes_[row.process].under_way.end()) return;
  const bool of_all = which == CompletesAccesses::all || which == CompletesAccesses::all_locally;
  const OTF2_RmaWinRef window = number_of(row.scope);
  const bool locally = which == CompletesAccesses::target_locally || which == CompletesAccesses::all_locally;
  std::erase_if(found->second, [&](const UnderWay& access) {
    if (!of_all && access.target != row.peer) return false;
    sink.check(locally ? OTF2_EvtWriter_RmaOpCompleteNonBlocking(sink.writer, nullptr, time, window, access.number)
                       : OTF2_EvtWriter_RmaOpCompleteRemote(sink.writer, nullptr, time, window, access.number));
    return true;
  });
}

void RmaRecords::complete_requests(const EventRow& row, std::uint64_t time, Sink& sink) {
  auto& by_request = processes_[row.process].by_request;
  if (by_request.empty()) return;
  for (const EventRequest& request : row.requests) {
    const std::uint32_t starter = request.starter == UINT32_MAX ? row.thread : request.starter;
    const auto found = by_request.extract(request_key(starter, request.request));
    if (found.empty()) continue;
    const auto [window, number] = found.mapped();
    sink.write(OTF2_EvtWriter_RmaOpCompleteNonBlocking, time, number_of(window), number);
  }
}

void RmaRecords::end(const EventRow& row, std::uint64_t time, Sink& sink) {
  const format::FunctionMeaning& meaning = meaning_of(row.function);
  complete_requests(row, time, sink);
  if (meaning.completes_accesses == CompletesAccesses::none || !is_written(row.scope)) return;
  complete(row, time, sink, meaning.completes_accesses);
  if (!is_fence(meaning)) return;
  constexpr auto both = static_cast<OTF2_RmaSyncLevel>(OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY);
  sink.write(OTF2_EvtWriter_RmaCollectiveEnd, time, OTF2_COLLECTIVE_OP_BARRIER, both, number_of(row.scope),
             OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
}

}  // namespace tare::exporters::otf2
