#include "stacks/timer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "recorder/clock.h"

namespace tare::stacks {
namespace {

// The number that the kernel gives it.
using KernelTimer = int;
constexpr KernelTimer none = -1;
constinit thread_local KernelTimer timer [[gnu::tls_model("initial-exec")]] = none;

constinit thread_local std::uint64_t last_ns [[gnu::tls_model("initial-exec")]] = 0;

struct Pause {
  bool is_on;
  itimerspec left;          // of the timer
  std::uint64_t before_ns;  // of the time that ns_since_last() is to return
};
constinit thread_local Pause pause [[gnu::tls_model("initial-exec")]] = {};

constinit char cookie = 0;  // its address distinguishes the signals of these timers

// Timers that may send signals; an unused entry is 0, others are 1 more than the number of the timer. A thread that
// finds no room is not sampled.
constinit std::atomic<KernelTimer> timers[8192] = {};
constinit std::atomic<bool> are_silent{false};

bool replace(KernelTimer old, KernelTimer by) noexcept {
  return std::ranges::any_of(timers, [&](std::atomic<KernelTimer>& each) {
    KernelTimer expected = old + 1;
    return each.load(std::memory_order_relaxed) == expected && each.compare_exchange_strong(expected, by + 1);
  });
}

bool set(const itimerspec& when, itimerspec* before = nullptr) noexcept {
  const itimerspec never{};
  bool is_silent = false;
  do {
    is_silent = are_silent.load();
    if (syscall(SYS_timer_settime, timer, 0, is_silent ? &never : &when, before) != 0) return false;
  } while (is_silent != are_silent.load());
  return true;
}

bool set_timer(std::uint64_t interval_ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec each{static_cast<time_t>(interval_ns / second), static_cast<long>(interval_ns % second)};
  return set({each, each});
}

}  // namespace

bool begin_timer(std::uint64_t interval_ns) noexcept {
  if (timer != none) return true;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number;
  event.sigev_value.sival_ptr = &cookie;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  KernelTimer made = none;
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &made) != 0) return false;
  timer = made;
  pause = {};
  last_ns = recorder::read_ns(CLOCK_THREAD_CPUTIME_ID);
  if (replace(none, made) && set_timer(interval_ns)) return true;
  end_timer();
  return false;
}

void change_timer(std::uint64_t interval_ns) noexcept {
  if (timer != none) set_timer(interval_ns);
}

void pause_timer() noexcept {
  if (timer == none || pause.is_on) return;
  const itimerspec never{};
  if (!set(never, &pause.left)) return;
  pause.before_ns = ns_since_last();
  pause.is_on = true;
}

void resume_timer() noexcept {
  if (!pause.is_on) return;
  last_ns = recorder::read_ns(CLOCK_THREAD_CPUTIME_ID);
  pause.is_on = false;
  set(pause.left);
}

std::uint64_t ns_since_last() noexcept {
  const std::uint64_t before_pause = std::exchange(pause.before_ns, 0);
  if (pause.is_on) return before_pause;
  const std::uint64_t before = std::exchange(last_ns, recorder::read_ns(CLOCK_THREAD_CPUTIME_ID));
  return before_pause + last_ns - before;
}

void end_timer() noexcept {
  if (timer == none) return;
  syscall(SYS_timer_delete, timer);
  replace(timer, none);
  timer = none;
  pause = {};
}

bool has_timer() noexcept { return timer != none; }

void forget_timer() noexcept {
  for (std::atomic<KernelTimer>& each : timers)
    if (each.load(std::memory_order_relaxed) != none + 1) each.store(none + 1, std::memory_order_relaxed);
  timer = none;
  pause = {};
}

void silence_timers() noexcept {
  are_silent.store(true);
  const itimerspec never{};
  for (const std::atomic<KernelTimer>& each : timers)
    if (const KernelTimer number = each.load() - 1; number != none)
      syscall(SYS_timer_settime, number, 0, &never, nullptr);
}

bool is_of_timer(const siginfo_t& info) noexcept {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == &cookie;
}

}  // namespace tare::stacks
