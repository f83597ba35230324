// Records sampled messages as events of the trace.
#pragma once

#include <cstdint>

#include "mpi/sampling/classes.h"
#include "mpi/sampling/receives.h"

namespace tare::mpi::sampling {

class MessageEvents {
 public:
  // Records a message of which both sides are known. Times are nanoseconds.
  void write(const Pair& pair, std::uint64_t number, const ReceiveChannel& channel) noexcept;

 private:
  std::uint32_t type_ = 0;  // 0: not registered yet
};

}  // namespace tare::mpi::sampling
