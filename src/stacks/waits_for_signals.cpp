// Functions of the C library that wait for signals, or that change the mask of the thread as they wait: no signal of a
// timer ends them, and none is pending.
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "recorder/errno_guard.h"
#include "recorder/next.h"
#include "stacks/signals.h"
#include "stacks/timer.h"

namespace tare::stacks {
namespace {

using recorder::Next;
using recorder::NextOfLibrary;

constinit NextOfLibrary<int, sigset_t*> next_sigpending{"sigpending"};
constinit NextOfLibrary<int, const sigset_t*, siginfo_t*, const timespec*> next_sigtimedwait{"sigtimedwait"};
constinit NextOfLibrary<int, int, const sigset_t*, int> next_signalfd{"signalfd"};
constinit NextOfLibrary<int, pollfd*, nfds_t, const timespec*, const sigset_t*> next_ppoll{"ppoll"};
constinit NextOfLibrary<int, pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t> next_ppoll_chk{
    "__ppoll_chk"};
constinit NextOfLibrary<int, int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*> next_pselect{"pselect"};
constinit NextOfLibrary<int, const sigset_t*> next_sigsuspend{"sigsuspend"};
constinit NextOfLibrary<int, int, epoll_event*, int, int, const sigset_t*> next_epoll_pwait{"epoll_pwait"};
// Older C libraries do not have it. The system call takes the size of the mask, too.
constexpr long epoll_pwait2_call = 441;
constinit Next<epoll_pwait2_call, int, int, epoll_event*, int, const timespec*, const sigset_t*, std::size_t>
    next_epoll_pwait2{"epoll_pwait2"};

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_sigpending, next_sigtimedwait, next_signalfd, next_ppoll, next_ppoll_chk, next_pselect,
                     next_sigsuspend, next_epoll_pwait, next_epoll_pwait2);
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

// Whether another than the timers has sent the signal, which is pending. Takes those of the timers away.
bool is_pending_of_program() noexcept {
  const sigset_t set = only_the_signal();
  const timespec at_once{};
  siginfo_t info{};
  do {
    if (next_sigtimedwait(&set, &info, &at_once) != signal_number) return false;
  } while (is_of_timer(info));
  // It goes back to where it was: to this thread, or to the process.
  if (info.si_code == SI_TKILL)
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal_number, &info);
  else
    syscall(SYS_rt_sigqueueinfo, getpid(), signal_number, &info);
  return true;
}

// The mask of a function that waits for a signal or something else, which a signal of a timer is not to end. It may be
// pending, if the thread has blocked it until then.
class MaskOfWait {
 public:
  explicit MaskOfWait(const sigset_t* mask) noexcept : mask_(mask) {
    if (mask == nullptr || sigismember(mask, signal_number) == 1 || !is_kept(signal_number)) return;
    if (is_handled()) {
      const recorder::ErrnoGuard guard;
      is_pending_of_program();  // takes those of the timers away
      return;
    }
    // By default, the signal ends no such function.
    without_ = *mask;
    sigaddset(&without_, signal_number);
    mask_ = &without_;
  }
  MaskOfWait(const MaskOfWait&) = delete;
  MaskOfWait& operator=(const MaskOfWait&) = delete;
  const sigset_t* get() const noexcept { return mask_; }

 private:
  const sigset_t* mask_;
  sigset_t without_;
};

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
}  // namespace tare::stacks

#define TARE_EXPORT [[gnu::visibility("default")]]

// Not noexcept: those that wait are cancellation points.
extern "C" {

TARE_EXPORT int sigpending(sigset_t* signals) noexcept {
  using namespace tare::stacks;
  const int error = next_sigpending(signals);
  if (error == 0 && is_kept(signal_number) && sigismember(signals, signal_number) == 1 && !is_pending_of_program())
    sigdelset(signals, signal_number);
  return error;
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

// A descriptor would tell of the signals of timers, too. So these end, and there are no more samples.
TARE_EXPORT int signalfd(int descriptor, const sigset_t* signals, int flags) noexcept {
  using namespace tare::stacks;
  if (is_kept(signal_number) && sigismember(signals, signal_number) == 1) {
    const tare::recorder::ErrnoGuard guard;
    silence_timers();
    is_pending_of_program();  // takes those of the timers away
  }
  return next_signalfd(descriptor, signals, flags);
}

TARE_EXPORT int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  using namespace tare::stacks;
  return next_ppoll(descriptors, count, timeout, MaskOfWait(mask).get());
}

// What ppoll is with _FORTIFY_SOURCE.
TARE_EXPORT int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask,
                            std::size_t bytes) {
  using namespace tare::stacks;
  return next_ppoll_chk(descriptors, count, timeout, MaskOfWait(mask).get(), bytes);
}

TARE_EXPORT int pselect(int count, fd_set* reads, fd_set* writes, fd_set* others, const timespec* timeout,
                        const sigset_t* mask) {
  using namespace tare::stacks;
  return next_pselect(count, reads, writes, others, timeout, MaskOfWait(mask).get());
}

TARE_EXPORT int epoll_pwait(int descriptor, epoll_event* events, int most, int ms, const sigset_t* mask) {
  using namespace tare::stacks;
  return next_epoll_pwait(descriptor, events, most, ms, MaskOfWait(mask).get());
}

TARE_EXPORT int epoll_pwait2(int descriptor, epoll_event* events, int most, const timespec* timeout,
                             const sigset_t* mask) {
  using namespace tare::stacks;
  return next_epoll_pwait2(descriptor, events, most, timeout, MaskOfWait(mask).get(), bytes_of_mask);
}

TARE_EXPORT int sigsuspend(const sigset_t* mask) {
  using namespace tare::stacks;
  return next_sigsuspend(MaskOfWait(mask).get());
}
TARE_EXPORT int __sigsuspend(const sigset_t* mask) { return sigsuspend(mask); }

// The older ones: of a signal, which the thread does not block meanwhile; and of a mask of the first 32.
TARE_EXPORT int __sigpause(int signal_or_mask, int is_signal) {
  sigset_t mask;
  if (is_signal != 0) {
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    if (sigdelset(&mask, signal_or_mask) != 0) return -1;
  } else {
    sigemptyset(&mask);
    for (int i = 0; i < 32; ++i)
      if ((static_cast<unsigned>(signal_or_mask) >> i & 1) != 0) sigaddset(&mask, i + 1);
  }
  return sigsuspend(&mask);
}
TARE_EXPORT int __xpg_sigpause(int number) { return __sigpause(number, 1); }
TARE_EXPORT int sigpause_of_mask(int mask) __asm__("sigpause");
TARE_EXPORT int sigpause_of_mask(int mask) { return __sigpause(mask, 0); }
}
