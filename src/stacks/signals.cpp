#include "stacks/signals.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "recorder/errno_guard.h"
#include "recorder/next.h"
#include "recorder/own_process.h"
#include "recorder/system.h"
#include "stacks/timer.h"

namespace tare::stacks {
namespace {

using recorder::Next;
using recorder::NextOfLibrary;

using Handler = void (*)(int);
constinit NextOfLibrary<int, int, const struct sigaction*, struct sigaction*> next_sigaction{"sigaction"};
constinit NextOfLibrary<Handler, int, Handler> next_signal{"signal"};
constinit NextOfLibrary<Handler, int, Handler> next_sysv_signal{"__sysv_signal"};
constinit NextOfLibrary<Handler, int, Handler> next_sigset{"sigset"};
constinit NextOfLibrary<int, int> next_sigignore{"sigignore"};
constinit NextOfLibrary<int, int, int> next_siginterrupt{"siginterrupt"};
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
constexpr std::size_t mask_bytes = _NSIG / 8;

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_sigaction, next_signal, next_sysv_signal, next_sigset, next_sigignore, next_siginterrupt,
                     next_sigpending, next_sigtimedwait, next_signalfd, next_ppoll, next_ppoll_chk, next_pselect,
                     next_sigsuspend, next_epoll_pwait, next_epoll_pwait2);
}

constinit std::atomic<bool> is_taken{false};
constinit recorder::SpinLock lock;
constinit OfTimers* timers_handler = nullptr;
constinit struct sigaction of_program {};  // what the program has set for the signal, once it is taken
constinit sigset_t all_signals{};
constinit int flags_of_signal = SA_RESTART;  // what signal() sets, which siginterrupt() changes

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

bool has_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;  // by default, it is ignored, too
}

// Sets the handler of the signal, which interrupts system calls and chooses its stack as the program's does, if it has
// one.
void set_handler() noexcept;

// The mask of the thread becomes the one with which the system calls a handler.
void block_for(const struct sigaction& action, const ucontext_t& interrupted) noexcept {
  sigset_t mask;
  sigemptyset(&mask);
  std::memcpy(&mask, &interrupted.uc_sigmask, mask_bytes);  // the system has stored no more
  sigorset(&mask, &mask, &action.sa_mask);
  if ((action.sa_flags & static_cast<int>(SA_NODEFER)) == 0) sigaddset(&mask, signal_number);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

// The signal was sent by another than the timers. Apart, so that the handler takes little of the stack.
[[gnu::noinline]] void pass_on(int number, siginfo_t* info, void* context) noexcept {
  struct sigaction action;
  {
    const recorder::Locked locked(lock);
    action = of_program;
    if (has_handler(action) && (action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
      of_program.sa_handler = SIG_DFL;
      set_handler();
    }
  }
  if (!has_handler(action)) return;
  block_for(action, *static_cast<const ucontext_t*>(context));
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

// Signals are blocked only now, not as the signal is delivered: then the system would turn what is pending for the
// whole process at that moment to another thread. A handler of the program may be called, and may jump, before this.
void handle(int number, siginfo_t* info, void* context) noexcept {
  pthread_sigmask(SIG_SETMASK, &all_signals, nullptr);
  if (is_of_timer(*info))
    timers_handler(context);
  else
    pass_on(number, info, context);
}

void set_handler() noexcept {
  constexpr int flags = SA_RESTART | SA_ONSTACK;
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | (has_handler(of_program) ? of_program.sa_flags & flags : flags);
  next_sigaction(signal_number, &action, nullptr);
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

// Whether the program handles the signal.
bool is_handled() noexcept {
  const Undisturbed undisturbed;
  return has_handler(of_program);
}

// Keeps the setting, if there is one, and returns the one before.
struct sigaction keep(const struct sigaction* action) noexcept {
  const Undisturbed undisturbed;
  const struct sigaction before = of_program;
  if (action != nullptr) {
    of_program = *action;
    set_handler();
  }
  return before;
}

// Keeps a handler that is set without a mask, and returns the one before.
Handler keep_handler(Handler handler, int flags) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return keep(&action).sa_handler;
}

sigset_t only_the_signal() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  return set;
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

void take_signal(OfTimers* of_timers) noexcept {
  recorder::note_own_process();
  const Undisturbed undisturbed;
  if (is_taken.load(std::memory_order_relaxed)) return;
  timers_handler = of_timers;
  if (next_sigaction(signal_number, nullptr, &of_program) != 0) return;
  sigfillset(&all_signals);
  set_handler();
  is_taken.store(true, std::memory_order_release);
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

// A name of the C library for sigaction.
TARE_EXPORT int __sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  return sigaction(number, action, before);
}

TARE_EXPORT __sighandler_t signal(int number, __sighandler_t handler) noexcept {
  using namespace tare::stacks;
  return is_kept(number) ? keep_handler(handler, flags_of_signal) : next_signal(number, handler);
}

// Other names for signal.
TARE_EXPORT __sighandler_t bsd_signal(int number, __sighandler_t handler) noexcept { return signal(number, handler); }
TARE_EXPORT __sighandler_t ssignal(int number, __sighandler_t handler) noexcept { return signal(number, handler); }

// What signal is where a program asks for System V's.
TARE_EXPORT __sighandler_t __sysv_signal(int number, __sighandler_t handler) noexcept {
  using namespace tare::stacks;
  return is_kept(number) ? keep_handler(handler, static_cast<int>(SA_RESETHAND | SA_NODEFER))
                         : next_sysv_signal(number, handler);
}
TARE_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler) noexcept {
  return __sysv_signal(number, handler);
}

TARE_EXPORT __sighandler_t sigset(int number, __sighandler_t handler) noexcept {
  using namespace tare::stacks;
  if (!is_kept(number)) return next_sigset(number, handler);
  const bool holds = handler == SIG_HOLD;
  const sigset_t set = only_the_signal();
  sigset_t blocked;
  pthread_sigmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &set, &blocked);
  const Handler before = holds ? keep(nullptr).sa_handler : keep_handler(handler, 0);
  return sigismember(&blocked, number) == 1 ? SIG_HOLD : before;
}

TARE_EXPORT int sigignore(int number) noexcept {
  using namespace tare::stacks;
  if (!is_kept(number)) return next_sigignore(number);
  keep_handler(SIG_IGN, 0);
  return 0;
}

TARE_EXPORT int siginterrupt(int number, int interrupts) noexcept {
  using namespace tare::stacks;
  if (!is_kept(number)) return next_siginterrupt(number, interrupts);
  const Undisturbed undisturbed;
  flags_of_signal = interrupts != 0 ? 0 : SA_RESTART;
  of_program.sa_flags = (of_program.sa_flags & ~SA_RESTART) | flags_of_signal;
  set_handler();
  return 0;
}

TARE_EXPORT int sigpending(sigset_t* signals) noexcept {
  using namespace tare::stacks;
  const int error = next_sigpending(signals);
  if (error == 0 && is_taken.load(std::memory_order_acquire) && sigismember(signals, signal_number) == 1 &&
      !is_pending_of_program())
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

// A descriptor would tell of the signals of timers, too, so it has none of this signal.
TARE_EXPORT int signalfd(int descriptor, const sigset_t* signals, int flags) noexcept {
  using namespace tare::stacks;
  sigset_t others = *signals;
  if (is_taken.load(std::memory_order_acquire)) sigdelset(&others, signal_number);
  return next_signalfd(descriptor, &others, flags);
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
  return next_epoll_pwait2(descriptor, events, most, timeout, MaskOfWait(mask).get(), mask_bytes);
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
