// The sampler's data of persistent requests.
#pragma once

#include "mpi/sampling/sampler.h"

namespace tare::mpi::sampling {

// A persistent request for a send or a receive. RequestEntry::message holds its place with persistent_bit. For any
// other receive it holds the place in the sampler.
inline constexpr std::uint32_t persistent_bit = 1U << 31;

struct Persistent {
  bool receives;
  Endpoint endpoint;
  Pattern pattern;  // of a receive; for a send, destination and tag
  KnownChannel<SendChannel> sends_on;
  KnownChannel<ReceiveChannel> receives_on;
  Persistent* next;       // next of those that one call is starting
  std::uint32_t receive;  // place of a receive under way
  std::uint64_t bytes;
  Ticket ticket;          // of a send under way
  char communicator[96];  // of a send: the name of its communicator, if the spec needs it
};

class Persistents {
 public:
  // The place of a copy; 0 if there is no room.
  std::uint32_t add(const Persistent& request) noexcept;
  Persistent& operator[](std::uint32_t place) noexcept { return places_[place & ~persistent_bit]; }
  void remove(std::uint32_t place) noexcept;

 private:
  Places<Persistent> places_{1U << 16};
  recorder::SpinLock lock_;
};
[[gnu::visibility("hidden")]] extern Persistents persistents;

}  // namespace tare::mpi::sampling
