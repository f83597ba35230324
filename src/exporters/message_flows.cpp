#include "exporters/message_flows.h"

#include "format/record.h"

namespace tare::exporters {
namespace {

using namespace tare::reader;
using format::any_source;
using format::any_tag;
using format::no_bytes;
using format::no_peer;
using format::no_request;
using format::no_tag;

std::uint64_t request_key(std::uint32_t thread, std::uint32_t request) { return std::uint64_t{thread} << 32 | request; }

}  // namespace

MessageFlows::MessageFlows(Run& run, const EventFilter& filter) : run_(run), roles_(roles_of_calls(run.functions())) {
  // Only these can be met again.
  if (filter.ranks) ranks_.emplace(filter.ranks->begin(), filter.ranks->end());
  posted_.resize(run.processes().size());
}

bool MessageFlows::is_known(const Transfer& of) const {
  return of.communicator >= 0 && of.peer >= 0 && of.peer_world >= 0 && of.tag >= 0 &&
         (!ranks_ || ranks_->contains(of.peer_world)) &&
         run_.communicators()[static_cast<std::size_t>(of.communicator)].key != 0;
}

std::uint64_t MessageFlows::number(const Channel& channel, Direction direction) {
  return channels_.match(channel, direction, [this] { return ++last_; }).first;
}

void MessageFlows::send(const EventRow& row, const Transfer& of, Flows& flows) {
  if (is_known(of)) flows.sent.push_back(number({of.communicator, row.rank, of.peer_world, of.tag}, Direction::sent));
}

void MessageFlows::receive(const EventRow& row, const Transfer& of, Flows& flows) {
  const bool is_open = of.peer == any_source || of.tag == any_tag || of.tag == no_tag;
  std::uint64_t message = 0;
  if (!is_open) {
    if (!is_known(of)) return;
    message = number({of.communicator, of.peer_world, row.rank, of.tag}, Direction::received);
  }
  if (of.request != no_request)
    posted_[row.process][request_key(row.thread, of.request)] = {message, of.communicator};
  else if (message != 0)
    flows.received.push_back(message);
}

// Only starts of sends have bytes, and only transfers have a peer.
void MessageFlows::start(const EventRow& row, const Transfer& of, std::uint64_t bytes, Flows& flows) {
  if (of.peer == no_peer) return;
  if (bytes != no_bytes)
    send(row, of, flows);
  else
    receive(row, of, flows);
}

void MessageFlows::complete(const EventRow& row, const EventRequest& request, Flows& flows) {
  const std::uint32_t starter = request.starter == UINT32_MAX ? row.thread : request.starter;
  auto& posted = posted_[row.process];
  const auto found = posted.find(request_key(starter, request.request));
  if (found == posted.end()) return;
  const Posted of = found->second;
  posted.erase(found);
  const Transfer transfer{of.communicator, request.peer, request.peer_world, request.tag, no_request};
  if (of.message != 0)
    flows.received.push_back(of.message);
  else if (is_known(transfer))
    flows.received.push_back(number({of.communicator, request.peer_world, row.rank, request.tag}, Direction::received));
}

void MessageFlows::find(const EventRow& row, Flows& flows) {
  flows.clear();
  if (row.kind == EventKind::loss) lose();
  if (row.kind != EventKind::call || !obstacle_.empty()) return;
  const Transfer transfer{row.communicator, row.peer, row.peer_world, row.tag, row.request};
  switch (roles_[row.function]) {
    case CallRole::send:
    case CallRole::synchronous_send:
      if (has_sent(row)) send(row, transfer, flows);
      break;
    case CallRole::receive:
      receive(row, transfer, flows);
      break;
    case CallRole::exchange: {
      if (has_sent(row)) send(row, transfer, flows);
      // If it starts a request, the source is known at completion.
      const std::int32_t source = row.request != no_request ? any_source : row.source;
      receive(row, {row.communicator, source, row.source_world, row.source_tag, row.request}, flows);
      break;
    }
    case CallRole::starts:
      if (row.requests.empty()) start(row, transfer, row.bytes, flows);
      for (const EventRequest& request : row.requests)
        start(row, {request.communicator, request.peer, request.peer_world, request.tag, request.request},
              request.bytes, flows);
      break;
    case CallRole::completes:
      for (const EventRequest& request : row.requests) complete(row, request, flows);
      break;
    default:
      break;
  }
}

}  // namespace tare::exporters
