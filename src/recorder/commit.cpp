#include "recorder/commit.h"

#include "recorder/options.h"

namespace tare::recorder {

void offload_by_clock(Location& location, std::uint64_t ticks) noexcept {
  if (location.spans != nullptr) library_options.monitor->due(location, ticks);
}

}  // namespace tare::recorder
