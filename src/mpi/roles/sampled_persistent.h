// Roles of persistent requests, if messages are sampled.
#pragma once

#include <cstdio>

#include "mpi/roles/completion.h"
#include "mpi/roles/sampled_communicator.h"
#include "mpi/roles/sampled_send.h"
#include "mpi/roles/volume.h"
#include "mpi/sampling/persistents.h"

namespace tare::mpi {

// MPI_Send_init and similar functions, MPI_Recv_init.
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

// Before a persistent request is started on its own. True if nothing more is to be done, which is the usual case.
[[gnu::always_inline]] inline bool starts_simply(const Thread& thread, sampling::Persistent& p) noexcept {
  if (p.receives) {
    p.receive = sampler.number_posted(p.receives_on, p.endpoint.communicator, p.pattern);
    return p.receive != 0;
  }
  p.ticket.channel = nullptr;
  return !is_paused(thread) && sampler.pass(p.ticket, p.sends_on, p.endpoint.communicator, p.pattern);
}
// Before any other persistent request is started. `together`: with others that may have the same channel. True if
// something is to be done when the call has succeeded.
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
[[gnu::noinline]] inline void end_start(sampling::Persistent& p, bool together, const recorder::Call& call,
                                        const format::ProfileRow& row, sampling::Outcome outcome) noexcept {
  using sampling::Outcome;
  if (!p.receives) return sampler.end_send(p.ticket, outcome);
  if (p.receive == 0) return;
  if ((p.receive & sampling::numbered_bit) == 0)
    sampler.posted(p.receive, together, call.enter, row.site);
  else if (outcome != Outcome::sent)
    p.receive = sampler.keep_posted(p.receive, call.enter, row.site);
  if (outcome == Outcome::refused)
    sampler.cancel(p.receive);
  else if (outcome == Outcome::unknown)
    sampler.lose(p.receive);
}

// MPI_Start.
template <class A>
struct SamplesStart : Role {
  const typename A::Request* request;
  sampling::Persistent* started = nullptr;
  bool pending = false;  // something is to be done when the call has succeeded
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
      end_start(*started, false, call, row, outcome_of<A>(result));
  }
};

// MPI_Startall. MPI chooses the order in which it starts the requests, so those of one channel are ambiguous. Mostly
// each request has a channel of its own. Then the requests are treated as if each was started alone.
template <class A>
struct SamplesStartall : Role {
  int count;
  const typename A::Request* handles;
  sampling::Persistent* first = nullptr;  // list of the sampled requests
  int sampled = 0;                        // its length
  bool together = false;                  // some may have the same channel
  bool pending = false;                   // something is to be done when the call has succeeded
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
    // Of several requests, some may have been started before the one that failed.
    const sampling::Outcome outcome = result == A::success ? sampling::Outcome::sent : sampling::Outcome::unknown;
    each([&](sampling::Persistent& p) { end_start(p, together, call, row, outcome); });
  }

 private:
  // Ends also if the program wrongly starts a request twice, so that the list is a ring.
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

}  // namespace tare::mpi
