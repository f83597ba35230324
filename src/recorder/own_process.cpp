#include "recorder/own_process.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace tare::recorder {
namespace {

constinit pid_t own_process = 0;
constinit std::atomic<bool> is_noted{false};

void note() noexcept { own_process = getpid(); }

}  // namespace

bool is_own_process() noexcept { return own_process == getpid(); }

void note_own_process() noexcept {
  if (is_noted.exchange(true, std::memory_order_relaxed)) return;
  note();
  pthread_atfork(nullptr, nullptr, note);
}

}  // namespace tare::recorder
