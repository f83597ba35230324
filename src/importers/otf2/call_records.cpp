#include "importers/otf2/call_records.h"

#include <algorithm>

#include "format/function_meaning.h"

namespace tare::importers::otf2 {

using namespace tare::format;

namespace {

constexpr std::size_t max_waiting = 4096;  // requests of a thread; more are hardly ever completed

void say(CallRecord& to, const Message& message) {
  to.communicator = message.communicator;
  to.peer = static_cast<std::int32_t>(message.peer);
  to.tag = static_cast<std::int32_t>(message.tag);
  to.bytes = message.bytes;
}

std::int32_t peer_of_root(std::uint32_t root) {
  if (root == OTF2_COLLECTIVE_ROOT_NONE) return no_peer;
  if (root == OTF2_COLLECTIVE_ROOT_SELF) return root_of_other_group;
  if (root == OTF2_COLLECTIVE_ROOT_THIS_GROUP) return proc_null;
  return static_cast<std::int32_t>(root);
}

bool moves_data(OTF2_CollectiveOp op) {
  return op > OTF2_COLLECTIVE_OP_BARRIER && op < OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

// For a call that only takes data out, those are its bytes (docs/bytes.md).
void say(ExchangeRecord& exchange, const CollectiveEnd& of) {
  exchange.call.communicator = of.communicator;
  exchange.call.peer = peer_of_root(of.root);
  if (!moves_data(of.op)) return;
  exchange.call.bytes = of.sent != 0 ? of.sent : of.received;
  exchange.received = of.sent != 0 ? of.received : 0;
}

// Everything except what its requests say. Returns whether it needs the longer record.
bool describe(const Call& call, ExchangeRecord& whole) {
  CallRecord& record = whole.call;
  if (call.sent) {
    say(record, *call.sent);
    if (!call.received) return false;
    whole.received = call.received->bytes;
    whole.source = static_cast<std::int32_t>(call.received->peer);
    whole.source_tag = static_cast<std::int32_t>(call.received->tag);
    return true;
  }
  if (call.received) {
    say(record, *call.received);
  } else if (call.collective) {
    say(whole, *call.collective);
    return whole.received != no_bytes && whole.received != 0;
  }
  return false;
}

}  // namespace

void CallRecords::add(const Call& call, std::uint64_t leave, bool is_matched_probe) {
  ExchangeRecord whole{{{call.function, sizeof(CallRecord) / 8},
                        call.site,
                        call.enter,
                        std::max(leave, call.enter),
                        no_bytes,
                        no_peer,
                        no_tag,
                        no_communicator,
                        no_request},
                       no_bytes,
                       no_peer,
                       no_tag};
  CallRecord& record = whole.call;
  bool exchanges = describe(call, whole);
  const bool starts_one = call.starts.size() == 1;
  const bool starts_collective = !starts_one && call.collective_request != no_request;
  if (starts_one) {
    const Start& only = call.starts.front();
    if (is_matched_probe)
      probed_.push_back(only.request);
    else
      record.request = only.request;
    if (only.sends) say(record, only.message);
  } else if (starts_collective) {
    record.request = call.collective_request;
    exchanges = true;  // the record has room for what the completion says
  }
  // MPI_Imrecv; MPI_Mrecv has received.
  const bool starts_probed = meaning_of(call.function).receives_matched() && !call.received && !probed_.empty();
  if (starts_probed) {
    record.request = probed_.front();
    probed_.erase(probed_.begin());
  }
  for (const Start& each : call.starts)
    if (!starts_one && each.sends) record.bytes = (record.bytes == no_bytes ? 0 : record.bytes) + each.message.bytes;
  if (exchanges) record.head.words = sizeof(ExchangeRecord) / 8;
  const std::size_t at = exchanges ? writer_.add(whole) : writer_.add(record);
  if (starts_one && !call.starts.front().sends) waiting_[call.starts.front().request] = {at, false};
  if (starts_collective) waiting_[record.request] = {at, false};
  if (starts_probed)
    if (const auto probe = waiting_.find(record.request); probe != waiting_.end())
      probe->second = {at, false, probe->second.at};
  if (!starts_one) add_starts(call);
  for (const Completion& each : call.completions)
    writer_.add(
        CompletionRecord{{completion, sizeof(CompletionRecord) / 8}, each.request, each.bytes, each.source, each.tag});
  if (waiting_.size() > max_waiting) waiting_.clear();
  if (probed_.size() > max_waiting) probed_.clear();
  std::size_t oldest = writer_.end();
  for (const auto& [request, one] : waiting_) oldest = std::min({oldest, one.at, one.probe});
  writer_.release(oldest);
}

void CallRecords::add_starts(const Call& call) {
  for (const Start& each : call.starts) {
    StartRecord one{{start, sizeof(StartRecord) / 8}, each.request, no_bytes, any_source, any_tag, no_communicator, 0};
    if (each.sends) {
      one.bytes = each.message.bytes;
      one.peer = static_cast<std::int32_t>(each.message.peer);
      one.tag = static_cast<std::int32_t>(each.message.tag);
      one.communicator = each.message.communicator;
    }
    const std::size_t at = writer_.add(one);
    if (!each.sends) waiting_[each.request] = {at, true};
  }
}

void CallRecords::complete_receive(std::uint32_t request, const Message& of) {
  std::erase(probed_, request);
  const auto found = waiting_.extract(request);
  if (found.empty()) return;
  const auto source = [&](auto* record) {
    if (record == nullptr) return;  // it has been written out
    record->communicator = of.communicator;
    record->peer = static_cast<std::int32_t>(of.peer);
    record->tag = static_cast<std::int32_t>(of.tag);
  };
  if (found.mapped().is_start)
    source(writer_.at<StartRecord>(found.mapped().at));
  else
    source(writer_.at<CallRecord>(found.mapped().at));
  if (found.mapped().probe != none) source(writer_.at<CallRecord>(found.mapped().probe));
}

void CallRecords::complete_collective(std::uint32_t request, const CollectiveEnd& of) {
  const auto found = waiting_.extract(request);
  if (found.empty() || found.mapped().is_start) return;
  const auto* record = writer_.at<CallRecord>(found.mapped().at);
  // In a wrong archive the number may be that of a receive, whose record is shorter.
  if (record == nullptr || record->head.words != sizeof(ExchangeRecord) / 8) return;
  say(*writer_.at<ExchangeRecord>(found.mapped().at), of);
}

}  // namespace tare::importers::otf2
