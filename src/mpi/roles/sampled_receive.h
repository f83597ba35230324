// Roles of calls that receive a message, post a receive or match a probe, if messages are sampled.
#pragma once

#include "mpi/roles/completion.h"
#include "mpi/roles/message.h"
#include "mpi/roles/sampled_communicator.h"

namespace tare::mpi {

// A receive that is posted in steps. Passed by value, so that it lies in memory only where the steps are needed.
template <class A>
struct Posting {
  const Communicator* known;
  int source, tag;
  std::uint32_t receive;

  bool takes_part() const noexcept {
    return sampler.active() && source != A::proc_null && known->number != format::no_communicator;
  }
  // Before the call, if another receive may be posted meanwhile.
  [[gnu::noinline, gnu::cold]] static std::uint32_t before(Posting posting) noexcept {
    return posting.takes_part() ? posting.post() : 0;
  }
  // After the call, if no other receive was posted meanwhile, or the outcome is known.
  void after(const recorder::Call& call, const format::ProfileRow& row) noexcept {
    if (!sampler.shared()) receive = post();
    sampler.posted(receive, false, call.enter, row.site);
  }

 private:
  std::uint32_t post() const noexcept { return sampler.post(endpoint_of(*known), pattern_of<A>(source, tag), false); }
};

// A call that posts a receive. If one thread at a time calls MPI, no other receive can be posted during the call, so
// the receive is posted after the call, which is cheaper. Else it is posted before, so that its order to others is
// known.
template <class A>
struct PostsReceive : Role {
  On<A>& on;
  int source, tag;
  const Communicator* known = nullptr;
  std::uint32_t receive = 0;
  PostsReceive(On<A>& o, int s, int t) noexcept : on(o), source(s), tag(t) {}

  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    known = &usable(thread, call, on);
    if (sampler.shared()) [[unlikely]]
      receive = Posting<A>::before(posting());
  }
  Posting<A> posting() const noexcept { return {known, source, tag, receive}; }
};

// A call that receives a message and returns with it.
template <class A, class Status>
struct SamplesReceive : PostsReceive<A> {
  Status& status;
  SamplesReceive(On<A>& o, int s, int t, Status& st) noexcept : PostsReceive<A>(o, s, t), status(st) {}

  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept { sampler.fetch_record(); }
  [[gnu::always_inline]] void committed(Thread&, const recorder::Call& call, const format::ProfileRow& row,
                                        int result) noexcept {
    constexpr bool also_sends = Status::traffic == recorder::exchanges;
    if (!also_sends) sampler.look(call.leave);
    if (result == A::success) [[likely]]
      if (sampling::ReceiveChannel* channel = sampler.number_received(
              call.communicator, also_sends ? call.source : call.peer, also_sends ? call.source_tag : call.tag)) {
        if (!sampler.known_unchosen(*channel, channel->count)) numbered(*channel, call, row.site);
        return;
      }
    finish(this->posting(), status, call, row, result);
  }

 private:
  [[gnu::noinline]] static void numbered(sampling::ReceiveChannel& channel, const recorder::Call& call,
                                         std::uint32_t site) noexcept {
    const std::uint64_t bytes = Status::traffic == recorder::exchanges ? call.received : call.bytes;
    sampler.numbered(channel, {{call.enter, call.enter, call.leave}, channel.count, bytes, site, false});
    sampler.poll();
  }
  [[gnu::noinline]] static void finish(Posting<A> posting, Status& status, const recorder::Call& call,
                                       const format::ProfileRow& row, int result) noexcept {
    if (!posting.takes_part()) return;
    const auto& received = *status.status();
    if (result == A::success && !sampler.shared())
      sampler.received(endpoint_of(*posting.known), pattern_of<A>(received), {call.enter, call.enter, call.leave},
                       received_bytes<A>(received), row.site);
    else
      step_by_step(posting, received, call, row, result);
    sampler.poll();
  }
  static void step_by_step(Posting<A> posting, const typename A::Status& received, const recorder::Call& call,
                           const format::ProfileRow& row, int result) noexcept {
    if (result != A::success && was_refused<A>(result)) return sampler.cancel(posting.receive);  // took no message
    posting.after(call, row);
    if (result != A::success && !was_truncated<A>(result)) return sampler.lose(posting.receive);
    if (!sampler.match(posting.receive, pattern_of<A>(received))) return;
    if (result == A::success)
      sampler.complete(posting.receive, call.enter, call.leave, received_bytes<A>(received));
    else
      sampler.drop(posting.receive);
  }
};

// A matched probe takes the message out of MPI's queue. So the message is numbered here, and received later.
template <class A, class Status>
struct SamplesMatch : PostsReceive<A> {
  const int* flag;
  Status& status;
  const typename A::Message* message;
  SamplesMatch(On<A>& o, int s, int t, const int* f, Status& st, const typename A::Message* m) noexcept
      : PostsReceive<A>(o, s, t), flag(f), status(st), message(m) {}

  void committed(Thread&, const recorder::Call& call, const format::ProfileRow& row, int result) noexcept {
    sampler.look(call.leave);
    Posting<A> posting = this->posting();
    if (!posting.takes_part()) return;
    if (result != A::success || (flag != nullptr && *flag == 0))
      return sampler.cancel(posting.receive);  // no message was taken
    posting.after(call, row);
    if (!sampler.match(posting.receive, pattern_of<A>(*status.status()))) return;
    if (!note_receive(bits(*message), posting.receive)) sampler.drop(posting.receive);
  }
};

// MPI_Mrecv: the message of a matched probe has arrived.
template <class A, class Status>
struct SamplesMatched : Role {
  const ReceivesMatched<A>& matched;
  Status& status;
  SamplesMatched(const ReceivesMatched<A>& m, Status& st) noexcept : matched(m), status(st) {}

  void committed(Thread&, const recorder::Call& call, const format::ProfileRow& row, int result) noexcept {
    const std::uint32_t receive = matched.receive;
    if (receive == 0 || !sampler.active()) return;
    sampler.at_site(receive, row.site);
    if (result == A::success)
      sampler.complete(receive, call.enter, call.leave, received_bytes<A>(*status.status()));
    else
      sampler.drop(receive);
    sampler.poll();
  }
};

// Stores the sampled receive in the entry of the request, so that its completion finds it.
template <class A>
void note_sampled(const Thread& thread, const typename A::Request* request, std::uint32_t receive) noexcept {
  if (receive == 0) return;
  bool noted = false;
  if (!is_paused(thread))
    requests.change(bits(*request), [&](Request& entry) {
      if (!entry.receives() && !entry.exchanges()) return;  // another request: there was no room for this one
      entry.message = receive;
      noted = true;
    });
  if (!noted) sampler.drop(receive);
}

// MPI_Imrecv.
template <class A>
struct SamplesMatchedStart : Role {
  const ReceivesMatched<A>& matched;
  const typename A::Request* request;
  SamplesMatchedStart(const ReceivesMatched<A>& m, const typename A::Request* r) noexcept : matched(m), request(r) {}

  void committed(Thread& thread, const recorder::Call&, const format::ProfileRow& row, int result) noexcept {
    const std::uint32_t receive = matched.receive;
    if (receive == 0 || !sampler.active()) return;
    sampler.at_site(receive, row.site);
    if (result == A::success)
      note_sampled<A>(thread, request, receive);
    else
      sampler.drop(receive);
  }
};

// MPI_Irecv, and the receive of MPI_Isendrecv. `starts`: the role of the request.
template <class A, class Starts>
struct SamplesPosting : PostsReceive<A> {
  const typename A::Request* request;
  const Starts& starts;
  SamplesPosting(On<A>& o, int s, int t, const typename A::Request* r, const Starts& st) noexcept
      : PostsReceive<A>(o, s, t), request(r), starts(st) {}

  [[gnu::always_inline]] void committed(Thread& thread, const recorder::Call& call, const format::ProfileRow& row,
                                        int result) noexcept {
    sampler.look(call.leave);
    // A receive that is numbered needs only the entry of its request, if that is an entry of a receive.
    if constexpr (Starts::kind == format::receive_request) {
      if (starts.entry != nullptr) [[likely]] {
        starts.entry->message = sampler.number_posted(call.communicator, {call.peer, call.tag});
        if (starts.entry->message != 0) [[likely]]
          return;
      }
    }
    post_in_steps(this->posting(), request, thread, call, row, result);
  }

 private:
  [[gnu::noinline]] static void post_in_steps(Posting<A> posting, const typename A::Request* request, Thread& thread,
                                              const recorder::Call& call, const format::ProfileRow& row,
                                              int result) noexcept {
    if (!posting.takes_part()) return;
    if (result != A::success) return sampler.cancel(posting.receive);
    posting.after(call, row);
    note_sampled<A>(thread, request, posting.receive);
  }
};

}  // namespace tare::mpi
