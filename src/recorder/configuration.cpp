#include "recorder/configuration.h"

#include <cstdlib>
#include <cstring>

#include "recorder/full_buffer.h"
#include "recorder/start_tared.h"

namespace tare::recorder {
namespace {

bool is(const char* variable, const char* value) noexcept {
  const char* text = getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

std::uint64_t number(const char* variable) noexcept {
  const char* text = getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

const char* program(const char* variable) noexcept {
  const char* path = getenv(variable);
  return path != nullptr && path[0] == '/' ? path : nullptr;
}

// The part that does not depend on the run.
Configuration configured(bool traced) noexcept {
  Configuration configuration{};
  configuration.group = getenv(group_variable);
  configuration.weigh = getenv("TARE_WEIGH");
  configuration.budget = getenv("TARE_BUDGET");
  configuration.keep_ns = number("TARE_KEEP_NS");
  configuration.writes = !is("TARE_WRITE", "none");
  configuration.monitor = getenv(monitor_variable);
  if (configuration.monitor != nullptr) configuration.tared = program("TARE_TARED");
  if (!traced) return configuration;
  const format::Policy policy = policy_of(getenv("TARE_POLICY"));
  // The buffer of a flight recorder is not drained.
  const char* drains = policy == format::Policy::overwrite ? nullptr : program("TARE_DRAIN");
  configuration.drains = drains != nullptr;
  if (drains != nullptr) configuration.tared = drains;
  const bool has_budget = configuration.budget != nullptr;
  configuration.ring = ring_of(number("TARE_BUFFER"), policy, configuration.drains, has_budget);
  return configuration;
}

}  // namespace

bool environment_has_run() noexcept { return getenv("TARE_RUN_DIR") != nullptr; }

Configuration configuration_from_environment() noexcept {
  Configuration configuration = configured(is("TARE_TRACE", "1"));
  const char* run_dir = getenv("TARE_RUN_DIR");
  const char* segment_dir = getenv("TARE_SEGMENT_DIR");
  configuration.run_dir = run_dir != nullptr && run_dir[0] == '/' ? run_dir : nullptr;
  configuration.run_id = getenv("TARE_RUN_ID");
  configuration.segment_dir = segment_dir == nullptr ? "/dev/shm" : segment_dir;
  configuration.collector = getenv("TARE_COLLECTOR");
  return configuration;
}

Configuration configuration_of(const OwnRun& run) noexcept {
  Configuration configuration = configured(true);
  configuration.run_dir = run.directory;
  configuration.run_id = run.id;
  configuration.segment_dir = run.segment_directory;
  return configuration;
}

}  // namespace tare::recorder
