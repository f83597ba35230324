// The state of online monitoring that the path of a call reads (src/monitor).
#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::recorder {

constinit std::atomic<std::uint64_t> offload_due{UINT64_MAX};
constinit bool records_plainly = false;

void Location::offload_by_clock(std::uint64_t ticks) noexcept {
  if (spans != nullptr) library_options.monitor->due(*this, ticks);
}

}  // namespace tare::recorder
