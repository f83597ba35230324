// Roles of point-to-point calls that are sampled (src/mpi/sampling/). They stand behind the other roles of a wrapper,
// in a table of wrappers of its own (wrappers.h), so that a run without sampling has none of them.
#pragma once

#include <cstdio>

#include "mpi/roles/completion.h"
#include "mpi/roles/message.h"
#include "mpi/roles/volume.h"
#include "mpi/sampling/persistents.h"
#include "mpi/sampling/sampler.h"
#include "mpi/site.h"

namespace tare::mpi {

using sampling::sampler;

// The communicator of a call, described now if it is new: its messages have to be numbered from the first one on.
template <class A>
[[gnu::cold, gnu::noinline]] const Communicator* describe_now(Thread& thread, typename A::Comm comm) noexcept {
  describe_communicator<A>(comm);
  return &known_communicator(thread, bits(comm));
}
template <class A>
[[gnu::always_inline]] inline const Communicator& usable(Thread& thread, recorder::Call& call, On<A>& on) noexcept {
  if (call.communicator == format::no_communicator && on.comm != A::comm_null()) [[unlikely]] {
    on.known = describe_now<A>(thread, on.comm);
    call.communicator = on.known->number;
  }
  return *on.known;
}

// Whether the thread has asked for its calls not to be recorded (MPI_Pcontrol). Its messages are numbered all the same.
inline bool is_paused(const Thread& thread) noexcept { return thread.mode == recorder::Mode::paused; }

inline sampling::Endpoint endpoint_of(const Communicator& c) noexcept { return {c.number, c.key, c.peers}; }

// The name of a communicator, if the spec asks for one.
template <class A>
const char* sampled_name(typename A::Comm comm, char* name) noexcept {
  name[0] = '\0';
  if (!sampler.asks_for_names()) return name;
  int length = 0;
  library<int(typename A::Comm, char*, int*)>(Function::MPI_Comm_get_name)(comm, name, &length);
  return name;
}

// Room for what a send of a chosen message keeps until its end. Apart from the role that uses it, of which nothing need
// lie in memory.
struct HoldsTicket : Role {
  sampling::Ticket ticket;
  HoldsTicket() noexcept {}  // not filled
};

// A call that sends a message.
template <class A, class Count>
struct SamplesSend : Role {
  On<A>& on;
  sampling::Ticket& ticket;
  int destination, tag;
  Count count;
  typename A::Datatype datatype;
  sampling::SendChannel* channel = nullptr;  // if the message was numbered without a ticket
  bool holds = false;                        // the ticket is filled
  bool ends = false;                         // something is to be done when the call has succeeded
  SamplesSend(On<A>& o, HoldsTicket& h, int d, int t, Count c, typename A::Datatype type) noexcept
      : on(o), ticket(h.ticket), destination(d), tag(t), count(c), datatype(type) {}

  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    const Communicator& known = usable(thread, call, on);
    if (!is_paused(thread)) [[likely]] {
      channel = sampler.number_sent(call.communicator, destination, tag);
      if (channel != nullptr && !sampler.chooses(*channel)) [[likely]]
        return;
    }
    holds = true;
    ends = channel != nullptr ? chosen(thread, call, ticket, *channel, on.comm, count, datatype)
                              : begin(thread, call, ticket, known, on.comm, destination, tag, count, datatype);
  }
  [[gnu::always_inline]] void after(Thread&, recorder::Call& call, int result) noexcept {
    if (ends || result != A::success) [[unlikely]]
      end(holds ? &ticket : nullptr, channel, result == A::success);
    sampler.look(call.leave);
  }

 private:
  // Static, as are those of the roles below, so that a role need not lie in memory.
  [[gnu::noinline]] static bool chosen(Thread& thread, const recorder::Call& call, sampling::Ticket& ticket,
                                       sampling::SendChannel& channel, typename A::Comm comm, Count count,
                                       typename A::Datatype datatype) noexcept {
    char name[A::max_object_name + 1];
    return sampler.chosen(ticket, channel,
                          {static_cast<std::uint64_t>(count) * size_of<A>(thread, datatype), call.site, call.function,
                           sampled_name<A>(comm, name)});
  }
  [[gnu::noinline]] static bool begin(Thread& thread, const recorder::Call& call, sampling::Ticket& ticket,
                                      const Communicator& known, typename A::Comm comm, int destination, int tag,
                                      Count count, typename A::Datatype datatype) noexcept {
    ticket.channel = nullptr;
    if (!sampler.active() || destination < 0) return false;
    char name[A::max_object_name + 1];
    const sampling::Sent sent{static_cast<std::uint64_t>(count) * size_of<A>(thread, datatype), call.site,
                              call.function, sampled_name<A>(comm, name)};
    return sampler.begin_send(ticket, endpoint_of(known), destination, tag, false, is_paused(thread), sent);
  }
  [[gnu::noinline, gnu::cold]] static void end(sampling::Ticket* ticket, sampling::SendChannel* channel,
                                               bool success) noexcept {
    if (ticket != nullptr) return sampler.end_send(*ticket, success);
    if (channel != nullptr) sampling::Sampler::failed_send(*channel);
  }
};

// Whether a call that failed did so because a message was too long, and so took it.
template <class A>
[[gnu::cold]] bool was_truncated(int result) noexcept {
  int error_class = result;
  library<int(int, int*)>(Function::MPI_Error_class)(result, &error_class);
  return error_class == A::err_truncate;
}

// A receive that is posted in steps. Handed over by value, so that nothing of it lies in memory where that is not done.
template <class A>
struct Posting {
  const Communicator* known;
  int source, tag;
  std::uint32_t receive;

  bool takes_part() const noexcept {
    return sampler.active() && source != A::proc_null && known->number != format::no_communicator;
  }
  // Before the call, if something else may be posted meanwhile.
  [[gnu::noinline, gnu::cold]] static std::uint32_t before(Posting posting) noexcept {
    return posting.takes_part() ? posting.post() : 0;
  }
  // When the call has returned, and nothing else was posted meanwhile or it is known what.
  void after(const recorder::Call& call, const format::ProfileRow& row) noexcept {
    if (!sampler.shared()) receive = post();
    sampler.posted(receive, false, call.enter, row.site);
  }

 private:
  std::uint32_t post() const noexcept { return sampler.post(endpoint_of(*known), pattern_of<A>(source, tag), false); }
};

// A call that posts a receive. While one thread at a time calls MPI nothing else can be posted during the call, and it
// is posted when the call has returned, which is cheaper; else before, so that receives posted meanwhile are seen.
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
    posting.after(call, row);
    if (result != A::success && !was_truncated<A>(result)) return sampler.lose(posting.receive);
    if (!sampler.match(posting.receive, pattern_of<A>(received))) return;
    if (result == A::success)
      sampler.complete(posting.receive, call.enter, call.leave, received_bytes<A>(received));
    else
      sampler.drop(posting.receive);
  }
};

// A matched probe: takes the message out of the queue, so that it is numbered here and received later.
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
      return sampler.cancel(posting.receive);  // took nothing
    posting.after(call, row);
    if (!sampler.match(posting.receive, pattern_of<A>(*status.status()))) return;
    if (!note_receive(bits(*message), posting.receive)) sampler.drop(posting.receive);
  }
};

// MPI_Mrecv: the message of a matched probe is there.
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

// Notes in the table of requests the receive that the call has started, so that its completion is found.
template <class A>
void note_sampled(const Thread& thread, const typename A::Request* request, std::uint32_t receive) noexcept {
  if (receive == 0) return;
  bool noted = false;
  if (!is_paused(thread))
    requests.change(bits(*request), [&](Request& entry) {
      if (!entry.receives() && !entry.exchanges()) return;  // not the one: it found no room
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

// MPI_Irecv, and the receiving half of MPI_Isendrecv. `starts`: the role of the request.
template <class A, class Starts>
struct SamplesPosting : PostsReceive<A> {
  const typename A::Request* request;
  const Starts& starts;
  SamplesPosting(On<A>& o, int s, int t, const typename A::Request* r, const Starts& st) noexcept
      : PostsReceive<A>(o, s, t), request(r), starts(st) {}

  [[gnu::always_inline]] void committed(Thread& thread, const recorder::Call& call, const format::ProfileRow& row,
                                        int result) noexcept {
    sampler.look(call.leave);
    // The entry of the request says what else is to be known of a receive whose number is, if it is that of a receive.
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

// What stands for the receive that is under way with a request, if there is one.
inline std::uint32_t* receive_of(Request& entry) noexcept {
  if ((entry.message & sampling::persistent_bit) == 0) return &entry.message;
  sampling::Persistent& p = sampling::persistents[entry.message];
  return p.receives ? &p.receive : nullptr;
}

// MPI_Send_init and the like, MPI_Recv_init.
template <class A, class Count, bool receives>
struct SamplesInit : Role {
  On<A>& on;
  int peer, tag;
  Count count;
  typename A::Datatype datatype;
  const typename A::Request* request;
  SamplesInit(On<A>& o, int p, int t, Count c, typename A::Datatype d, const typename A::Request* r) noexcept
      : on(o), peer(p), tag(t), count(c), datatype(d), request(r) {}

  void committed(Thread& thread, const recorder::Call&, const format::ProfileRow&, int result) noexcept {
    if (result != A::success || !sampler.active() || peer == A::proc_null) return;
    sampling::Persistent persistent{};
    persistent.receives = receives;
    persistent.endpoint = endpoint_of(known_communicator(thread, bits(on.comm)));
    persistent.pattern = pattern_of<A>(peer, tag);
    persistent.bytes = static_cast<std::uint64_t>(count) * size_of<A>(thread, datatype);
    if (!receives && sampler.asks_for_names()) {
      char name[A::max_object_name + 1];
      std::snprintf(persistent.communicator, sizeof persistent.communicator, "%s", sampled_name<A>(on.comm, name));
    }
    const std::uint32_t place = sampling::persistents.add(persistent);
    requests.change(bits(*request), [&](Request& entry) {
      if (entry.persistent()) entry.message = place;
    });
  }
};

// Before a persistent request is started by itself: true if that is all, which it nearly always is.
[[gnu::always_inline]] inline bool starts_simply(const Thread& thread, sampling::Persistent& p) noexcept {
  if (p.receives) {
    p.receive = sampler.number_posted(p.receives_on, p.endpoint.communicator, p.pattern);
    return p.receive != 0;
  }
  p.ticket.channel = nullptr;
  return !is_paused(thread) && sampler.pass(p.ticket, p.sends_on, p.endpoint.communicator, p.pattern);
}
// Before any other is, or `together` with others of which some may be of its channel. True if something is to be done
// when the call has succeeded.
[[gnu::noinline]] inline bool begin_start(const Thread& thread, const recorder::Call& call, sampling::Persistent& p,
                                          bool together) noexcept {
  if (!sampler.active()) return false;
  if (p.receives) {
    p.receive = sampler.post(p.endpoint, p.pattern, together);
    return true;
  }
  const sampling::Sent sent{p.bytes, call.site, call.function, p.communicator};
  if (!together && p.ticket.channel != nullptr) return sampler.chosen(p.ticket, *p.ticket.channel, sent);
  return sampler.begin_send(p.ticket, p.endpoint, p.pattern.source, p.pattern.tag, together, is_paused(thread), sent);
}
template <class A>
[[gnu::noinline]] void end_start(sampling::Persistent& p, bool together, const recorder::Call& call,
                                 const format::ProfileRow& row, int result) noexcept {
  if (!p.receives) return sampler.end_send(p.ticket, result == A::success);
  if (p.receive == 0) return;
  if ((p.receive & sampling::numbered_bit) == 0)
    sampler.posted(p.receive, together, call.enter, row.site);
  else if (result != A::success)
    p.receive = sampler.keep_posted(p.receive, call.enter, row.site);
  if (result != A::success) sampler.lose(p.receive);
}

// MPI_Start.
template <class A>
struct SamplesStart : Role {
  const typename A::Request* request;
  sampling::Persistent* started = nullptr;
  bool pending = false;  // there is something to do when the call has succeeded
  explicit SamplesStart(const typename A::Request* r) noexcept : request(r) {}

  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    const std::uint32_t place = requests.message_of(bits(*request));
    if ((place & sampling::persistent_bit) == 0) return;
    started = &sampling::persistents[place];
    if (!starts_simply(thread, *started)) [[unlikely]]
      pending = begin_start(thread, call, *started, false);
  }
  [[gnu::always_inline]] void committed(Thread&, const recorder::Call& call, const format::ProfileRow& row,
                                        int result) noexcept {
    sampler.look(call.leave);
    if (started != nullptr && (pending || result != A::success)) [[unlikely]]
      end_start<A>(*started, false, call, row, result);
  }
};

// MPI_Startall. The order in which it starts is MPI's choice, so what it starts on one channel is ambiguous; mostly its
// requests are of a channel each, and then it is as if each was started alone.
template <class A>
struct SamplesStartall : Role {
  int count;
  const typename A::Request* handles;
  sampling::Persistent* first = nullptr;  // of a list of those that are sampled
  int sampled = 0;                        // its length
  bool together = false;                  // some may be of one channel
  bool pending = false;                   // there is something to do when the call has succeeded
  SamplesStartall(int n, const typename A::Request* h) noexcept : count(n), handles(h) {}

  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    if (!sampler.active()) return;
    find();
    each([&](sampling::Persistent& p) {
      if (together || !starts_simply(thread, p)) pending |= begin_start(thread, call, p, together);
    });
  }
  void committed(Thread&, const recorder::Call& call, const format::ProfileRow& row, int result) noexcept {
    sampler.look(call.leave);
    if (!pending && result == A::success) [[likely]]
      return;
    each([&](sampling::Persistent& p) { end_start<A>(p, together, call, row, result); });
  }

 private:
  // Also if the program wrongly starts a request twice, so that the list is a ring.
  template <class Each>
  [[gnu::always_inline]] void each(Each apply) const noexcept {
    sampling::Persistent* p = first;
    for (int i = 0; i < sampled; ++i, p = p->next) apply(*p);
  }
  [[gnu::noinline]] void find() noexcept {
    sampling::Persistent** last = &first;
    const std::uint32_t start = sampler.next_start();
    together = count > 1 && sampler.shared();
    for (int i = 0; i < count; ++i) {
      const std::uint32_t place = requests.message_of(bits(handles[i]));
      if ((place & sampling::persistent_bit) == 0) continue;
      sampling::Persistent& p = sampling::persistents[place];
      *last = &p;
      last = &p.next;
      ++sampled;
      together = together || (count > 1 && !is_apart(p, start));
    }
  }
  static bool is_apart(sampling::Persistent& p, std::uint32_t start) noexcept {
    return p.receives ? sampler.receives_apart(p.receives_on, p.endpoint.communicator, p.pattern, start)
                      : sampler.sends_apart(p.sends_on, p.endpoint.communicator, p.pattern, start);
  }
};

// MPI_Cancel.
template <class A>
struct SamplesCancel : Role {
  const typename A::Request* request;
  explicit SamplesCancel(const typename A::Request* r) noexcept : request(r) {}

  void before(Thread&, recorder::Call&) noexcept {
    if (!sampler.active() || request == nullptr || *request == A::request_null()) return;
    // Of none of the receives is it sure any more what takes a message.
    if (!sampler.shared())
      requests.for_each([](Request& each) {
        if (std::uint32_t* receive = receive_of(each)) *receive = kept(each, *receive);
      });
    const Request entry = requests.find(bits(*request));
    if (entry.handle != 0 && entry.receives() && entry.message == 0) return;
    const bool persistent = (entry.message & sampling::persistent_bit) != 0;
    if (entry.message == 0 || (persistent && !sampling::persistents[entry.message].receives))
      sampler.cancelling_send();  // as far as anybody knows
    else
      sampler.doubt(persistent ? sampling::persistents[entry.message].receive : entry.message);
  }
};

// MPI_Request_free; before the table of requests forgets it.
template <class A>
struct SamplesFree : Role {
  const typename A::Request* request;
  explicit SamplesFree(const typename A::Request* r) noexcept : request(r) {}

  void before(Thread&, recorder::Call&) noexcept {
    if (!sampler.active() || request == nullptr || *request == A::request_null()) return;
    const Request entry = requests.find(bits(*request));
    if (entry.message == 0) return;
    if ((entry.message & sampling::persistent_bit) == 0) return sampler.drop(kept(entry, entry.message));
    sampling::Persistent& p = sampling::persistents[entry.message];
    if (p.receives && entry.active) sampler.drop(kept(entry, p.receive));
    sampling::persistents.remove(entry.message);
  }
};

// MPI_Comm_free, MPI_Comm_disconnect; before the table of communicators forgets it.
template <class A>
struct SamplesCommFree : Role {
  const typename A::Comm* comm;
  explicit SamplesCommFree(const typename A::Comm* c) noexcept : comm(c) {}

  void before(Thread& thread, recorder::Call&) noexcept {
    if (comm != nullptr) sampler.forget_communicator(known_communicator(thread, bits(*comm)).number);
  }
};

}  // namespace tare::mpi
