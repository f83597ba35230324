#include "stacks/timer.h"

#include <sys/syscall.h>
#include <unistd.h>

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

bool set_timer(std::uint64_t interval_ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec each{static_cast<time_t>(interval_ns / second), static_cast<long>(interval_ns % second)};
  const itimerspec when{each, each};
  return syscall(SYS_timer_settime, timer, 0, &when, nullptr) == 0;
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
  if (set_timer(interval_ns)) return true;
  end_timer();
  return false;
}

void change_timer(std::uint64_t interval_ns) noexcept {
  if (timer != none) set_timer(interval_ns);
}

void pause_timer() noexcept {
  if (timer == none || pause.is_on) return;
  const itimerspec never{};
  if (syscall(SYS_timer_settime, timer, 0, &never, &pause.left) != 0) return;
  pause.before_ns = ns_since_last();
  pause.is_on = true;
}

void resume_timer() noexcept {
  if (!pause.is_on) return;
  last_ns = recorder::read_ns(CLOCK_THREAD_CPUTIME_ID);
  pause.is_on = false;
  syscall(SYS_timer_settime, timer, 0, &pause.left, nullptr);
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
  timer = none;
  pause = {};
}

bool has_timer() noexcept { return timer != none; }

void forget_timer() noexcept {
  timer = none;
  pause = {};
}

bool is_of_timer(const siginfo_t& info) noexcept {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == &cookie;
}

}  // namespace tare::stacks
