#include "recorder/monitored.h"

namespace tare::recorder {

constinit std::atomic<std::uint64_t> offload_due{UINT64_MAX};
constinit bool records_plainly = false;

}  // namespace tare::recorder
