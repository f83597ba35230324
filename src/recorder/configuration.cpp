#include "recorder/configuration.h"

#include <cstdlib>
#include <cstring>

#include "recorder/buffer_policy.h"
#include "recorder/environment.h"
#include "recorder/event_buffer_size.h"
#include "recorder/room.h"
#include "recorder/start_tared.h"

namespace tare::recorder {
namespace {

bool is(const char* variable, const char* value) noexcept {
  const char* text = secure_getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

const char* program(const char* variable) noexcept {
  const char* path = secure_getenv(variable);
  return path != nullptr && path[0] == '/' ? path : nullptr;
}

// The part that does not depend on the run.
Configuration configured(bool traced) noexcept {
  Configuration configuration{};
  configuration.group = secure_getenv(group_variable);
  configuration.weigh = secure_getenv("TARE_WEIGH");
  configuration.budget = secure_getenv("TARE_BUDGET");
  configuration.keep_ns = count_of("TARE_KEEP_NS", 0);
  configuration.writes = !is("TARE_WRITE", "none");
  configuration.monitor = secure_getenv(monitor_variable);
  if (configuration.monitor != nullptr) configuration.tared = program("TARE_TARED");
  if (!traced) return configuration;
  const char* wanted = secure_getenv("TARE_POLICY");
  const format::Policy policy = policy_of(wanted);
  if (wanted != nullptr && policy == format::Policy::block && std::strcmp(wanted, "block") != 0)
    warn_of("TARE_POLICY", wanted, "block, drop or overwrite");
  // The buffer of a flight recorder is not drained.
  const char* drains = policy == format::Policy::overwrite ? nullptr : program("TARE_DRAIN");
  configuration.drains = drains != nullptr;
  if (drains != nullptr) configuration.tared = drains;
  const bool has_budget = configuration.budget != nullptr;
  configuration.ring = ring_of(count_of("TARE_BUFFER", 0), policy, configuration.drains, has_budget);
  return configuration;
}

}  // namespace

bool environment_has_run() noexcept { return secure_getenv("TARE_RUN_DIR") != nullptr; }

Configuration configuration_from_environment() noexcept {
  Configuration configuration = configured(is("TARE_TRACE", "1"));
  const char* run_dir = secure_getenv("TARE_RUN_DIR");
  const char* segment_dir = secure_getenv("TARE_SEGMENT_DIR");
  configuration.run_dir = run_dir != nullptr && run_dir[0] == '/' ? run_dir : nullptr;
  configuration.run_id = secure_getenv("TARE_RUN_ID");
  configuration.run_key = secure_getenv("TARE_RUN_KEY");
  configuration.segment_dir = segment_dir == nullptr ? shared_memory : segment_dir;
  configuration.collector = secure_getenv(collector_variable);
  configuration.keeper = program("TARE_KEEPER");
  return configuration;
}

Configuration configuration_of(const OwnRun& run) noexcept {
  Configuration configuration = configured(true);
  configuration.run_dir = run.directory;
  configuration.run_id = run.id;
  configuration.run_key = run.key;
  configuration.segment_dir = shared_memory;
  return configuration;
}

}  // namespace tare::recorder
