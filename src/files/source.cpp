#include "files/source.h"

#include <pthread.h>
#include <unistd.h>

#include "files/measure.h"
#include "format/functions.h"
#include "recorder/commit_call.h"
#include "recorder/process.h"
#include "recorder/sources.h"

namespace tare::files {
namespace {

constinit pid_t own_process = 0;

void note_process() noexcept { own_process = getpid(); }

// Not at the first call, which may be in a signal handler.
[[gnu::constructor]] void choose() noexcept {
  if (!recorder::run_given() || !recorder::is_on(source)) return;
  note_process();
  pthread_atfork(nullptr, nullptr, note_process);
  is_on = true;
}

// Records a call that was left, as far as it is known.
void record_left(recorder::Location& location) noexcept {
  format::CurrentCall& current = location.shared().current;
  const std::uint32_t function = current.function.load(std::memory_order_relaxed);
  if (!format::is_of_source(function, source.name)) return;
  const std::uint64_t leave = current.leave = recorder::now();
  current.function.store(function | format::returned, std::memory_order_release);
  recorder::commit_call(
      location, {static_cast<std::uint16_t>(function), current.site, 0, current.enter, leave, format::no_bytes, {}},
      location.any_rows);
}

}  // namespace

bool is_own_process() noexcept { return own_process == getpid(); }

constinit const recorder::Source source{.name = "files", .left = record_left};

}  // namespace tare::files
