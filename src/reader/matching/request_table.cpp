// The table of requests.
#include <unordered_map>
#include <utility>

#include "format/function_meaning.h"
#include "reader/events/event_stream.h"
#include "reader/matching/call_columns.h"
#include "reader/matching/request_limit.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

struct Request {
  std::int32_t world = 0, rank = -1;
  std::int32_t communicator = -1;
  std::int32_t peer_world = format::no_peer, tag = format::no_tag;
  std::uint64_t bytes = format::no_bytes;
  std::uint32_t number = 0;
  bool is_complete = false;
  PartCall started, completed;
};

class Requests {
 public:
  explicit Requests(Run& run) : roles_(roles_of_calls(run.functions())), under_way_(run.processes().size()) {}

  void add(const EventRow& row, std::vector<Request>& to) {
    if (row.kind != EventKind::call || row.process >= under_way_.size()) return;
    if (format::meaning_of(row.function).form == format::CallForm::persistent) return;  // has started nothing yet
    const PartCall call{row.start_ns, sum(row.start_ns, row.duration_ns), 0, row.thread, row.site, row.function};
    if (roles_[row.function] == CallRole::completes) return complete(row, call, to);
    if (row.request != format::no_request) {
      start(row, call, {row.request, row.starter, row.communicator, row.peer, row.peer_world, row.tag, row.bytes}, to);
      return;
    }
    for (const EventRequest& each : row.requests)
      if (each.request != format::no_request) start(row, call, each, to);
  }

  void finish(std::vector<Request>& to) {
    for (auto& process : under_way_) hand_over(process, to);
  }

 private:
  using Started = std::unordered_map<std::uint64_t, Request>;

  static std::uint64_t key_of(const EventRow& row, const EventRequest& of) {
    return std::uint64_t{of.starter == UINT32_MAX ? row.thread : of.starter} << 32 | of.request;
  }

  static void hand_over(Started& of, std::vector<Request>& to) {
    for (auto& [key, request] : of) to.push_back(request);
    of.clear();
  }

  void start(const EventRow& row, const PartCall& call, const EventRequest& of, std::vector<Request>& to) {
    Started& started = under_way_[row.process];
    // So many can only be freed requests, whose completion is not in the trace.
    if (started.size() >= max_started) hand_over(started, to);
    started[key_of(row, of)] = {row.world, row.rank,   of.communicator, of.peer_world, of.tag,
                                of.bytes,  of.request, false,           call,          {}};
  }

  void complete(const EventRow& row, const PartCall& call, std::vector<Request>& to) {
    for (const EventRequest& each : row.requests) {
      auto found = under_way_[row.process].extract(key_of(row, each));
      if (found.empty()) continue;  // its start is not in the trace
      Request& request = found.mapped();
      request.is_complete = true;
      request.completed = call;
      // The completion has the source and tag of the message that a receive with wildcards took.
      if (each.bytes != format::no_bytes) request.bytes = each.bytes;
      if (request.peer_world < 0 && each.peer_world >= 0) request.peer_world = each.peer_world;
      if (request.tag < 0 && each.tag >= 0) request.tag = each.tag;
      to.push_back(request);
    }
  }

  std::vector<CallRole> roles_;
  std::vector<Started> under_way_;  // by process
};

rows::Requests row_of(const Request& request, const RunTexts& texts) {
  return {.world_rank = {request.world, request.rank},
          .request = static_cast<std::int64_t>(request.number),
          .communicator = texts.communicator(request.communicator),
          .peer_world = if_known(request.peer_world),
          .tag = if_known(request.tag),
          .bytes = bytes_if_known(request.bytes),
          .traced_call = traced_call(request.started, texts),
          .completion_traced_call = request.is_complete ? traced_call(request.completed, texts) : rows::TracedCall{}};
}

}  // namespace

Result<TableStream> request_table(Run& run) {
  auto opened = EventStream::open(run, {.lists_all_requests = true});
  if (!opened) return opened.failure();
  const auto events = std::make_shared<EventStream>(std::move(*opened));
  const auto requests = std::make_shared<Requests>(run);
  const auto texts = std::make_shared<const RunTexts>(run, SiteTexts::lines);
  const auto more = [events, requests, texts, is_finished = false](std::vector<rows::Requests>& rows) mutable {
    std::vector<Request> complete;
    while (complete.empty() && !is_finished) {
      const auto some = events->next();
      for (const EventRow& row : some) requests->add(row, complete);
      is_finished = some.empty();
      if (is_finished) requests->finish(complete);
    }
    for (const Request& request : complete) rows.push_back(row_of(request, *texts));
  };
  return streamed_table<rows::Requests>(*texts, more, [events] { return events->warnings(); });
}

}  // namespace tare::reader
