#include "recorder/last_write.h"

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace tare::recorder {
namespace {

enum class State : std::uint8_t { none, writing, written };
constinit std::atomic<State> state{State::none};

}  // namespace

void begin_last_write() noexcept { state = State::writing; }
void end_last_write() noexcept { state = State::written; }
void reset_last_write() noexcept { state = State::none; }

bool wait_if_ended() noexcept {
  while (state.load(std::memory_order_acquire) == State::writing) sched_yield();
  return state.load(std::memory_order_acquire) == State::written;
}

}  // namespace tare::recorder
