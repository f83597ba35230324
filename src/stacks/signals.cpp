#include "stacks/signals.h"

#include <sys/signalfd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "recorder/errno_guard.h"
#include "recorder/next.h"
#include "recorder/own_process.h"
#include "recorder/system.h"
#include "stacks/timer.h"

namespace tare::stacks {
namespace {

using recorder::NextOfLibrary;

using Handler = void (*)(int);
constinit NextOfLibrary<int, int, const struct sigaction*, struct sigaction*> next_sigaction{"sigaction"};
constinit NextOfLibrary<Handler, int, Handler> next_signal{"signal"};
constinit NextOfLibrary<int, const sigset_t*, siginfo_t*, const timespec*> next_sigtimedwait{"sigtimedwait"};
constinit NextOfLibrary<int, int, const sigset_t*, int> next_signalfd{"signalfd"};

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_sigaction, next_signal, next_sigtimedwait, next_signalfd);
}

constinit std::atomic<bool> is_taken{false};
constinit recorder::SpinLock lock;
constinit OfTimers* timers_handler = nullptr;
constinit struct sigaction of_program {};  // what the program has set for the signal, once it is taken

// Holds the lock, while no signal interrupts this thread: the handler needs the lock.
class Undisturbed {
 public:
  Undisturbed() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    lock.lock();
  }
  ~Undisturbed() {
    lock.unlock();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_;
};

// The signal was sent by another than the timers.
void pass_on(int number, siginfo_t* info, void* context) noexcept {
  struct sigaction action;
  {
    const recorder::Locked locked(lock);
    action = of_program;
  }
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return;  // by default, it is ignored, too
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

void handle(int number, siginfo_t* info, void* context) noexcept {
  if (is_of_timer(*info))
    timers_handler(context);
  else
    pass_on(number, info, context);
}

// a - b; nothing, if that is negative.
timespec difference(const timespec& a, const timespec& b) noexcept {
  timespec result{a.tv_sec - b.tv_sec, a.tv_nsec - b.tv_nsec};
  if (result.tv_nsec < 0) result = {result.tv_sec - 1, result.tv_nsec + 1'000'000'000};
  return result.tv_sec < 0 ? timespec{} : result;
}

timespec monotonic_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now;
}

// Whether the program's setting of the signal is to be kept here instead. A child of vfork, which shares this memory,
// but not the handlers, sets its own.
bool is_kept(int number) noexcept {
  return number == signal_number && is_taken.load(std::memory_order_acquire) && recorder::is_own_process();
}

// Keeps the setting, if there is one, and returns the one before.
struct sigaction keep(const struct sigaction* action) noexcept {
  const Undisturbed undisturbed;
  const struct sigaction before = of_program;
  if (action != nullptr) of_program = *action;
  return before;
}

// Waits for `timeout` (nullptr: without an end) for one of the signals that no timer has sent. Returns its number; -1
// with errno as sigtimedwait sets it.
int wait_for(const sigset_t& signals, siginfo_t* info, const timespec* timeout) {
  siginfo_t own_info;
  if (info == nullptr) info = &own_info;
  const timespec begin = monotonic_now();
  timespec left = timeout == nullptr ? timespec{} : *timeout;
  for (;;) {
    const int number = next_sigtimedwait(&signals, info, timeout == nullptr ? nullptr : &left);
    if (number != signal_number || !is_of_timer(*info)) return number;
    if (timeout != nullptr) left = difference(*timeout, difference(monotonic_now(), begin));
  }
}

}  // namespace

void take_signal(OfTimers* of_timers) noexcept {
  recorder::note_own_process();
  const Undisturbed undisturbed;
  if (is_taken.load(std::memory_order_relaxed)) return;
  timers_handler = of_timers;
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (next_sigaction(signal_number, &action, &of_program) == 0) is_taken.store(true, std::memory_order_release);
}

void release_signal() noexcept { lock.reset(); }

}  // namespace tare::stacks

#define TARE_EXPORT [[gnu::visibility("default")]]

// Not noexcept: those that wait are cancellation points.
extern "C" {

TARE_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  using namespace tare::stacks;
  if (!is_kept(number)) return next_sigaction(number, action, before);
  const struct sigaction kept = keep(action);
  if (before != nullptr) *before = kept;
  return 0;
}

TARE_EXPORT __sighandler_t signal(int number, __sighandler_t handler) noexcept {
  using namespace tare::stacks;
  if (!is_kept(number)) return next_signal(number, handler);
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return keep(&action).sa_handler;
}

TARE_EXPORT int sigwait(const sigset_t* signals, int* number) {
  using namespace tare::stacks;
  for (;;) {
    const int found = wait_for(*signals, nullptr, nullptr);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) return errno;
    *number = found;
    return 0;
  }
}

TARE_EXPORT int sigwaitinfo(const sigset_t* signals, siginfo_t* info) {
  return tare::stacks::wait_for(*signals, info, nullptr);
}

TARE_EXPORT int sigtimedwait(const sigset_t* signals, siginfo_t* info, const timespec* timeout) {
  return tare::stacks::wait_for(*signals, info, timeout);
}

// A descriptor would tell of the signals of timers, too, so it has none of this signal.
TARE_EXPORT int signalfd(int descriptor, const sigset_t* signals, int flags) noexcept {
  using namespace tare::stacks;
  sigset_t others = *signals;
  if (is_taken.load(std::memory_order_acquire)) sigdelset(&others, signal_number);
  return next_signalfd(descriptor, &others, flags);
}
}
