#include "recorder/start_tared.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "format/monitor_spec.h"
#include "recorder/node_words.h"
#include "recorder/start_beside.h"

namespace tare::recorder {

void start_tared(const TaredArguments& given) noexcept {
  if (node_words->started.exchange(1, std::memory_order_acq_rel) != 0) return;
  char starter[16];
  std::snprintf(starter, sizeof starter, "%d", static_cast<int>(getpid()));
  char* const arguments[] = {const_cast<char*>(given.program),
                             const_cast<char*>(given.run_dir),
                             const_cast<char*>(given.run_id),
                             const_cast<char*>(given.segment_dir),
                             starter,
                             const_cast<char*>(given.drains ? "drain" : "monitor"),
                             nullptr};
  char group[32];
  const char* number = secure_getenv(group_variable);
  if (number != nullptr) std::snprintf(group, sizeof group, "%s=%.16s", group_variable, number);
  char monitor[sizeof monitor_variable + 1 + format::MonitorSpec::max_text_bytes];
  const char* spec = secure_getenv(monitor_variable);
  if (spec != nullptr) std::snprintf(monitor, sizeof monitor, "%s=%s", monitor_variable, spec);
  char collector[256];
  const char* seen = secure_getenv(collector_variable);
  if (seen != nullptr) std::snprintf(collector, sizeof collector, "%s=%s", collector_variable, seen);
  char* environment[4] = {};
  char** next = environment;
  if (number != nullptr) *next++ = group;
  if (spec != nullptr) *next++ = monitor;
  if (seen != nullptr) *next = collector;
  start_beside(arguments, environment);
}

}  // namespace tare::recorder
