#include "files/process.h"

#include <pthread.h>
#include <unistd.h>

#include "files/source.h"
#include "recorder/process.h"
#include "recorder/sources.h"

namespace tare::files {

constinit bool is_on = false;

namespace {

constinit pid_t own_process = 0;

void note_process() noexcept { own_process = getpid(); }

// Not at the first call, which may be in a signal handler.
[[gnu::constructor]] void choose() noexcept {
  if (!recorder::run_given() || !recorder::is_on(source) || recorder::is_launcher()) return;
  note_process();
  pthread_atfork(nullptr, nullptr, note_process);
  is_on = true;
}

}  // namespace

bool is_own_process() noexcept { return own_process == getpid(); }

}  // namespace tare::files
