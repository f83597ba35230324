#include "mpi/sampling/persistents.h"

namespace tare::mpi::sampling {

constinit Persistents persistents;

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

}  // namespace tare::mpi::sampling
