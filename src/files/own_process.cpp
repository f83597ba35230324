#include "files/own_process.h"

#include <pthread.h>
#include <unistd.h>

namespace tare::files {
namespace {

constinit pid_t own_process = 0;

void note() noexcept { own_process = getpid(); }

}  // namespace

bool is_own_process() noexcept { return own_process == getpid(); }

void note_own_process() noexcept {
  note();
  pthread_atfork(nullptr, nullptr, note);
}

}  // namespace tare::files
