// Online monitoring in the process: at its offload points it copies its profile into a ring in its segment, where the
// node's tared finds it (src/tared/monitor). No system call, thread, signal or memory is needed for that, and nobody is
// waited for, unless the policy is to block. docs/monitoring.md says what a user sees.
#pragma once

#include "recorder/options.h"

namespace tare::monitor {

// For Options::monitor of a library.
extern const recorder::MonitorHooks hooks;

}  // namespace tare::monitor
