// Roles of calls that send a message, if messages are sampled.
#pragma once

#include "mpi/roles/failure.h"
#include "mpi/roles/sampled_communicator.h"
#include "mpi/roles/volume.h"

namespace tare::mpi {

// Room for the ticket of a chosen message. It is not part of the role, which then needs no memory.
struct HoldsTicket : Role {
  sampling::Ticket ticket;
  HoldsTicket() noexcept {}  // deliberately not initialised
};

// What became of the message of a call with this result.
template <class A>
sampling::Outcome outcome_of(int result) noexcept {
  if (result == A::success) return sampling::Outcome::sent;
  return was_refused<A>(result) ? sampling::Outcome::refused : sampling::Outcome::unknown;
}

// A call that sends a message.
template <class A, class Count>
struct SamplesSend : Role {
  On<A>& on;
  sampling::Ticket& ticket;
  int destination, tag;
  Count count;
  typename A::Datatype datatype;
  sampling::SendChannel* channel = nullptr;  // set if the message was numbered without a ticket
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
      end(holds ? &ticket : nullptr, channel, result);
    sampler.look(call.leave);
  }

 private:
  // Static, as in the roles below, so that the role needs no memory.
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
                                               int result) noexcept {
    const sampling::Outcome outcome = outcome_of<A>(result);
    if (ticket != nullptr) return sampler.end_send(*ticket, outcome);
    if (channel != nullptr) sampler.failed_send(*channel, outcome);
  }
};

}  // namespace tare::mpi
