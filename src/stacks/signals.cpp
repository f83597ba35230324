#include "stacks/signals.h"

#include <pthread.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

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
constinit NextOfLibrary<Handler, int, Handler> next_sysv_signal{"__sysv_signal"};
constinit NextOfLibrary<Handler, int, Handler> next_sigset{"sigset"};
constinit NextOfLibrary<int, int> next_sigignore{"sigignore"};
constinit NextOfLibrary<int, int, int> next_siginterrupt{"siginterrupt"};

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_sigaction, next_signal, next_sysv_signal, next_sigset, next_sigignore, next_siginterrupt);
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
  std::memcpy(&mask, &interrupted.uc_sigmask, bytes_of_mask);  // the system has stored no more
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

bool is_kept(int number) noexcept {
  return number == signal_number && is_taken.load(std::memory_order_acquire) && recorder::is_own_process();
}

bool is_handled() noexcept {
  const Undisturbed undisturbed;
  return has_handler(of_program);
}

}  // namespace tare::stacks

#define TARE_EXPORT [[gnu::visibility("default")]]

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
}
