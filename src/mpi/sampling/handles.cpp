#include "mpi/sampling/handles.h"

namespace tare::mpi::sampling {

constinit Persistents persistents;
constinit ProbedMessages probed_messages;

std::uint32_t Persistents::add(const Persistent& request) noexcept {
  lock_.lock();
  const std::uint32_t place = places_.take();
  if (place != 0) places_[place] = request;
  lock_.unlock();
  return place == 0 ? 0 : place | persistent_bit;
}

void Persistents::remove(std::uint32_t place) noexcept {
  lock_.lock();
  places_.give_back(place & ~persistent_bit);
  lock_.unlock();
}

bool ProbedMessages::put(std::uint64_t message, std::uint32_t receive) noexcept {
  lock_.lock();
  unsigned at = 0;
  while (at < used_ && entries_[at].receive != 0) ++at;
  const bool fits = at < capacity;
  if (fits) {
    entries_[at] = {message, receive};
    if (at == used_) ++used_;
  }
  lock_.unlock();
  return fits;
}

std::uint32_t ProbedMessages::take(std::uint64_t message) noexcept {
  std::uint32_t receive = 0;
  lock_.lock();
  for (unsigned at = 0; at < used_ && receive == 0; ++at) {
    if (entries_[at].receive == 0 || entries_[at].message != message) continue;
    receive = entries_[at].receive;
    entries_[at].receive = 0;
  }
  lock_.unlock();
  return receive;
}

}  // namespace tare::mpi::sampling
