// Online monitoring in the process. At its offload points, the process copies its profile into a ring in its segment,
// from which the node's tared takes it (src/tared/monitor). That needs no system call, thread, signal or allocation,
// and does not wait, unless the policy is to block. docs/monitoring.md is for users.
#pragma once

#include "recorder/options.h"

namespace tare::monitor {

// For Options::monitor of a library.
extern const recorder::MonitorHooks hooks;

}  // namespace tare::monitor
