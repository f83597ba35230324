/* Threads that use a processor for known times in known functions. usage: stacks MODE [MS]
 *
 *   alone    without MPI: the main thread MS ms in `first` and 3 MS in `second`, another thread 4 MS in `second`
 *   ranks    with MPI: each rank MS ms in `first`, the last one 4 MS more in `second`; then a barrier
 *   steps    with MPI: 40 times 0.1 MS in `first`, then a barrier
 *   paused   with MPI: 4 MS in `second` while tare is paused, then MS in `first`
 *   signals  as `first`, while the program uses SIGURG, SIGPROF, SIGSEGV on a stack of its own, and waits for signals
 *   handlers sets handlers of SIGURG by all functions that do, and counts the calls of them; which are pending at last
 *   urgent   with handlers of SIGURG that differ in flags and mask, and a system call that they interrupt
 *   turned   gets SIGALRM, when SIGURG is pending too, in MS ms in `first` beside a thread that would take SIGALRM as
 * well waits    waits for its own SIGURG in three ways, after a child of vfork has reset the handler descriptor  reads
 * its own SIGURG by signalfd, in three ways and in a child, after MS ms in `first` each unmasked  waits by all
 * functions that unblock signals meanwhile, for a time and for its own signals cramped  MS ms in `first`, before and
 * behind 4 MS in `second` in a signal handler whose stack is small coroutine  MS ms in `first`, then 4 MS in `second`
 * in a coroutine whose stack has room for little but a signal blocked  MS ms in `first`, then 4 MS while all signals
 * are blocked, then MS in `second` left     leaves a call of MPI by longjmp, then MS ms in `first` fork     MS ms in
 * `first` in a child, then in the parent exec     MS ms in `first`, then executes itself as `alone` with all signals
 * blocked killed   MS ms in `first`, then kills itself
 *
 * Times are processor time, so they do not depend on what else runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "compute.h"

static volatile sig_atomic_t urgent, profiled, faults;

/* The functions differ, so that no compiler makes one of them. */
__attribute__((noinline)) static void first(double ms) {
  compute(ms);
  sink += 1;
}
__attribute__((noinline)) static void second(double ms) {
  compute(ms);
  sink += 2;
}

static void* other_thread(void* ms) {
  second(4 * *(double*)ms);
  return NULL;
}

static int alone(double ms) {
  pthread_t thread;
  pthread_create(&thread, NULL, other_thread, &ms);
  first(ms);
  second(3 * ms);
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}

static int ranks(double ms) {
  int rank, size;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  first(ms);
  if (rank == size - 1) second(4 * ms);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}

static int steps(double ms) {
  MPI_Init(NULL, NULL);
  for (int step = 0; step < 40; step++) {
    first(ms / 10);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

static int paused(double ms) {
  MPI_Init(NULL, NULL);
  MPI_Pcontrol(0);
  second(4 * ms);
  MPI_Pcontrol(1);
  first(ms);
  MPI_Finalize();
  return 0;
}

static void on_urgent(int number, siginfo_t* info, void* context) {
  (void)context;
  if (number == SIGURG && info->si_code == SI_TKILL) ++urgent;
}
static void on_profile(int number) {
  (void)number;
  ++profiled;
}
static sigjmp_buf after_fault;
static void on_fault(int number) {
  (void)number;
  ++faults;
  siglongjmp(after_fault, 1);
}

static void* waiter(void* result) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  first(40);  // what a timer sends meanwhile is pending
  int number = 0;
  sigdelset(&all, SIGPROF);  // which the main thread handles
  sigwait(&all, &number);
  *(int*)result = number;
  return NULL;
}

static int signals(double ms) {
  static char small_stack[16384];
  const stack_t own = {.ss_sp = small_stack, .ss_size = sizeof small_stack};
  sigaltstack(&own, NULL);
  struct sigaction action = {.sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO}, before;
  sigaction(SIGURG, &action, NULL);
  sigaction(SIGURG, NULL, &before);
  const int is_own = before.sa_sigaction == on_urgent;
  struct sigaction profile = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &profile, NULL);
  struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &fault, NULL);
  const struct itimerval each = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_PROF, &each, NULL);
  int waited = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, waiter, &waited);
  first(ms);
  raise(SIGURG);
  raise(SIGURG);
  if (sigsetjmp(after_fault, 1) == 0) raise(SIGSEGV);
  first(ms);
  pthread_kill(thread, SIGUSR2);
  pthread_join(thread, NULL);
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &none, NULL);
  printf("urgent %d own %d profiled %d faults %d waited %s\n", (int)urgent, is_own, profiled > 0, (int)faults,
         waited == SIGUSR2 ? "well" : "badly");
  return 0;
}

static volatile sig_atomic_t counted;
static void count(int number) {
  (void)number;
  ++counted;
}
void (*bsd_signal(int, void (*)(int)))(int);
void (*ssignal(int, void (*)(int)))(int);
void (*__sysv_signal(int, void (*)(int)))(int);
void (*sysv_signal(int, void (*)(int)))(int);
int __sigaction(int, const struct sigaction*, struct sigaction*);
int sigignore(int);
void (*sigset(int, void (*)(int)))(int);
int siginterrupt(int, int);

static int flags_now(void) {
  struct sigaction now;
  sigaction(SIGURG, NULL, &now);
  return now.sa_flags & (int)(SA_RESTART | SA_RESETHAND | SA_NODEFER);
}

static void try_handler(const char* how, int has_set, double ms) {
  const int flags = flags_now();
  counted = 0;
  first(ms);
  raise(SIGURG);
  raise(SIGURG);
  struct sigaction now;
  sigaction(SIGURG, NULL, &now);
  printf("%s: set %d flags %x called %d, then %s\n", how, has_set, (unsigned)flags, (int)counted,
         now.sa_handler == count     ? "counts"
         : now.sa_handler == SIG_DFL ? "default"
                                     : "other");
}

static int handlers(double ms) {
  const struct sigaction counts = {.sa_handler = count}, once = {.sa_handler = count, .sa_flags = (int)SA_RESETHAND};
  try_handler("signal", signal(SIGURG, count) == SIG_DFL, ms);
  try_handler("bsd_signal", bsd_signal(SIGURG, count) == count, ms);
  try_handler("ssignal", ssignal(SIGURG, count) == count, ms);
  try_handler("sigignore", sigignore(SIGURG) == 0, ms);
  try_handler("sigset", sigset(SIGURG, count) == SIG_IGN, ms);
  try_handler("__sysv_signal", __sysv_signal(SIGURG, count) == count, ms);
  try_handler("sysv_signal", sysv_signal(SIGURG, count) == SIG_DFL, ms);
  try_handler("sigaction", sigaction(SIGURG, &once, NULL) == 0, ms);
  try_handler("__sigaction", __sigaction(SIGURG, &counts, NULL) == 0, ms);
  try_handler("signal again", signal(SIGURG, count) == count, ms);
  try_handler("siginterrupt", siginterrupt(SIGURG, 1) == 0, ms);
  try_handler("signal that interrupts", signal(SIGURG, count) == count, ms);
  try_handler("siginterrupt off", siginterrupt(SIGURG, 0) == 0, ms);
  printf("error %d\n", signal(SIGURG, SIG_ERR) == SIG_ERR);
  sigset_t pending;
  printf("hold %d", sigset(SIGURG, SIG_HOLD) == count);
  printf(" %d", sigset(SIGURG, SIG_HOLD) == SIG_HOLD);
  first(ms);
  sigpending(&pending);
  printf(" pending %d", sigismember(&pending, SIGURG));
  counted = 0;
  raise(SIGURG);
  kill(getpid(), SIGURG);
  sigpending(&pending);
  printf(" %d called %d", sigismember(&pending, SIGURG), (int)counted);
  const int was_held = sigset(SIGURG, count) == SIG_HOLD;
  first(ms);
  printf(" held %d then %d\n", was_held, counted > 0);
  return 0;
}

static stack_t signal_stack;
static volatile sig_atomic_t masked, is_on_signal_stack;
static void note_state(int number) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  masked = 0;
  for (int i = 1; i < NSIG; ++i)
    if (sigismember(&mask, i) == 1) masked = masked * 100 + i;
  char here;
  is_on_signal_stack = &here >= (char*)signal_stack.ss_sp && &here < (char*)signal_stack.ss_sp + signal_stack.ss_size;
  count(number);
}

/* Whether SIGURG interrupts a system call of this process, which another one ends later. */
static int reads(void) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t reader = getpid(), writer = fork();
  if (writer == 0) {
    usleep(100000);
    kill(reader, SIGURG);
    usleep(300000);
    _exit(write(ends[1], "x", 1) != 1);
  }
  char byte;
  const int result = (int)read(ends[0], &byte, 1);
  waitpid(writer, NULL, 0);
  close(ends[0]);
  close(ends[1]);
  return result;
}

static int urgent_handlers(double ms) {
  signal_stack = (stack_t){.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&signal_stack, NULL);
  const int flags[] = {0, SA_RESTART, SA_ONSTACK, SA_NODEFER, (int)SA_RESETHAND};
  for (int i = 0; i < 5; ++i) {
    struct sigaction action = {.sa_handler = note_state, .sa_flags = flags[i]};
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGURG, &action, NULL);
    counted = 0;
    first(ms);
    raise(SIGURG);
    printf("flags %x: masked %d on a stack of its own %d,", (unsigned)flags[i], (int)masked, (int)is_on_signal_stack);
    raise(SIGURG);
    printf(" called %d", (int)counted);
    const int result = reads();
    printf(" read %d\n", result);
  }
  return 0;
}

static pthread_t main_thread;
static volatile sig_atomic_t elsewhere;
static void note_thread(int number) {
  elsewhere += !pthread_equal(pthread_self(), main_thread);
  count(number);
}
static void* idle_thread(void* nothing) {
  for (;;) pause();
  return nothing;
}

static int turned(double ms) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one); /* so this process does not run while another sends it two signals */
  main_thread = pthread_self();
  const struct sigaction action = {.sa_handler = note_thread, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, idle_thread, NULL);
  const pid_t receiver = getpid(), sender = fork();
  for (; sender == 0; usleep(1000))
    if (kill(receiver, SIGALRM) != 0 || tgkill(receiver, receiver, SIGURG) != 0) _exit(0);
  first(ms);
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  printf("came %d elsewhere %d\n", (int)counted, (int)elsewhere);
  return 0;
}

static int waits(double ms) {
  struct sigaction action = {.sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO};
  sigaction(SIGURG, &action, NULL);
  alarm(20);  // rather than to wait for ever
  const pid_t child = vfork();
  if (child == 0) {
    signal(SIGURG, SIG_DFL);
    execl("/bin/true", "true", NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  raise(SIGURG);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGURG);
  pthread_sigmask(SIG_BLOCK, &own, NULL);
  int number = 0;
  siginfo_t info = {0};
  first(ms);  // what a timer sends meanwhile is pending
  kill(getpid(), SIGURG);
  sigwait(&own, &number);
  first(ms);
  kill(getpid(), SIGURG);
  sigwaitinfo(&own, &info);
  first(ms);
  const struct timespec moment = {0, 10000000};
  const int none = sigtimedwait(&own, NULL, &moment);
  printf("urgent %d waited %d %d none %d\n", (int)urgent, number == SIGURG, info.si_code == SI_USER,
         none == -1 && errno == EAGAIN);
  return 0;
}

static int epoll_descriptor, descriptor, go_on[2];

/* Whether the descriptor tells of a signal. */
static int is_told(int wait_ms) {
  struct pollfd polled = {.fd = descriptor, .events = POLLIN};
  return poll(&polled, 1, wait_ms);
}

static int reads_own(void) {
  struct signalfd_siginfo info = {0};
  return read(descriptor, &info, sizeof info) == sizeof info && info.ssi_signo == SIGURG && info.ssi_code == SI_USER;
}

static void* teller(void* ms) {
  char byte;
  if (read(go_on[0], &byte, 1) != 1) return NULL;
  first(*(double*)ms);
  return is_told(0) ? ms : NULL;
}

static int descriptors(double ms) {
  alarm(20);  // rather than to wait for ever
  first(ms);
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_t thread;
  if (pipe(go_on) != 0 || pthread_create(&thread, NULL, teller, &ms) != 0) return 1;
  first(ms);  // what a timer sends meanwhile is pending
  descriptor = signalfd(-1, &all, SFD_CLOEXEC);
  int early = is_told(0);
  first(ms);
  early += is_told(0);
  void* in_thread = NULL;
  if (write(go_on[1], "", 1) != 1 || pthread_join(thread, &in_thread) != 0) return 1;
  kill(getpid(), SIGURG);
  const int polled = is_told(1000) && reads_own();
  epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, descriptor, &event);
  first(ms);
  early += epoll_wait(epoll_descriptor, &event, 1, 0);
  kill(getpid(), SIGURG);
  const int told = epoll_wait(epoll_descriptor, &event, 1, 1000) == 1 && reads_own();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    first(ms);
    const int early_here = is_told(0);
    kill(getpid(), SIGURG);
    _exit(early_here == 0 && reads_own() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("early %d, in a thread %d, polled %d, by epoll %d, child %d\n", early, in_thread != NULL, polled, told,
         status);
  return 0;
}

int __ppoll_chk(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t);
int __sigsuspend(const sigset_t*);
int __sigpause(int, int);
int sigpause_of_mask(int) __asm__("sigpause");

/* All signals are blocked, but while it waits. */
static int wait_unmasked(int how, int wait_ms) {
  sigset_t none;
  sigemptyset(&none);
  const struct timespec time = {0, wait_ms * 1000000L};
  struct pollfd nothing[1] = {{.fd = -1}};
  struct epoll_event event;
  switch (how) {
    case 0:
      return ppoll(nothing, 1, &time, &none);
    case 1:
      return __ppoll_chk(nothing, 1, &time, &none, sizeof nothing);
    case 2:
      return pselect(0, NULL, NULL, NULL, &time, &none);
    case 3:
      return epoll_pwait(epoll_descriptor, &event, 1, wait_ms, &none);
    case 4:
      return epoll_pwait2(epoll_descriptor, &event, 1, &time, &none);
    case 5:
      return sigsuspend(&none);
    case 6:
      return __sigsuspend(&none);
    case 7:
      return sigpause(SIGALRM);
    case 8:
      return __sigpause(SIGALRM, 1);
    default:
      return sigpause_of_mask(0);
  }
}

static int unmasked(double ms) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  const struct sigaction counts = {.sa_handler = count};
  sigaction(SIGALRM, &counts, NULL);
  epoll_descriptor = epoll_create1(0);
  for (int urgent_too = 0; urgent_too < 2; ++urgent_too) {
    for (int how = 0; how < 10; ++how) {
      int interrupted = 0, early = 0;
      for (int i = 0; i < 5; ++i) {
        first(ms / 5); /* what a timer sends meanwhile is pending */
        if (how < 5) interrupted += wait_unmasked(how, 2) != 0;
        first(ms / 5);
        counted = 0;
        const struct itimerval soon = {{0, 0}, {0, 2000}};
        setitimer(ITIMER_REAL, &soon, NULL);
        early += wait_unmasked(how, 900) != -1 || errno != EINTR || counted != 1;
      }
      int urgent_seen = 0;
      if (urgent_too && (how < 7 || how == 9)) {
        first(ms / 5);
        counted = 0;
        kill(getpid(), SIGURG);
        urgent_seen = wait_unmasked(how, 900) == -1 && errno == EINTR && counted == 1;
      }
      printf("%d: interrupted %d, without its signal %d, urgent %d\n", how, interrupted, early, urgent_seen);
    }
    sigaction(SIGURG, &counts, NULL);
  }
  return 0;
}

static double cramped_ms;
static void on_cramped(int number) {
  (void)number;
  second(4 * cramped_ms);
}

static int cramped(double ms) {
  const size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 8192;
  const stack_t small = {.ss_sp = malloc(bytes), .ss_size = bytes};
  sigaltstack(&small, NULL);
  struct sigaction action = {.sa_handler = on_cramped, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  cramped_ms = ms;
  first(ms);
  raise(SIGUSR1);
  first(ms);
  puts("done");
  return 0;
}

static ucontext_t of_main, of_coroutine;
static void in_coroutine(void) { second(4 * cramped_ms); }

static int coroutine(double ms) {
  enum { below = 16384, mark = 0xab };
  const size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024;
  unsigned char* memory = malloc(below + bytes);
  memset(memory, mark, below + bytes);
  getcontext(&of_coroutine);
  of_coroutine.uc_stack.ss_sp = memory + below;
  of_coroutine.uc_stack.ss_size = bytes;
  of_coroutine.uc_link = &of_main;
  makecontext(&of_coroutine, in_coroutine, 0);
  cramped_ms = ms;
  first(ms);
  swapcontext(&of_main, &of_coroutine);
  int overwritten = 0;
  for (int i = 0; i < below; ++i) overwritten += memory[i] != mark;
  printf("overwritten %d\n", overwritten);
  return 0;
}

static int blocked(double ms) {
  sigset_t all, before;
  sigfillset(&all);
  first(ms);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  first(4 * ms);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  second(ms);
  puts("done");
  return 0;
}

static jmp_buf out_of_call;
static void leave(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  longjmp(out_of_call, 1);
}

static int left(double ms) {
  MPI_Errhandler handler;
  MPI_Init(NULL, NULL);
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (setjmp(out_of_call) == 0) MPI_Send(NULL, 0, MPI_BYTE, 1000, 0, MPI_COMM_WORLD);
  first(ms);
  MPI_Finalize();
  puts("done");
  return 0;
}

static int forked(double ms) {
  first(ms);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    first(ms);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  return 0;
}

static int executed(double ms, char* program, char* text) {
  sigset_t all;
  sigfillset(&all);
  first(ms);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  first(ms);
  char* const arguments[] = {program, "unblocked", text, NULL};
  execv(program, arguments);
  return 1;
}

static int unblocked(double ms) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  return alone(ms);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const double ms = argc > 2 ? atof(argv[2]) : 100;
  if (strcmp(mode, "alone") == 0) return alone(ms);
  if (strcmp(mode, "ranks") == 0) return ranks(ms);
  if (strcmp(mode, "steps") == 0) return steps(ms);
  if (strcmp(mode, "paused") == 0) return paused(ms);
  if (strcmp(mode, "signals") == 0) return signals(ms);
  if (strcmp(mode, "handlers") == 0) return handlers(ms);
  if (strcmp(mode, "urgent") == 0) return urgent_handlers(ms);
  if (strcmp(mode, "turned") == 0) return turned(ms);
  if (strcmp(mode, "waits") == 0) return waits(ms);
  if (strcmp(mode, "descriptor") == 0) return descriptors(ms);
  if (strcmp(mode, "unmasked") == 0) return unmasked(ms);
  if (strcmp(mode, "cramped") == 0) return cramped(ms);
  if (strcmp(mode, "coroutine") == 0) return coroutine(ms);
  if (strcmp(mode, "blocked") == 0) return blocked(ms);
  if (strcmp(mode, "left") == 0) return left(ms);
  if (strcmp(mode, "fork") == 0) return forked(ms);
  if (strcmp(mode, "exec") == 0) return executed(ms, argv[0], argv[2]);
  if (strcmp(mode, "unblocked") == 0) return unblocked(ms);
  if (strcmp(mode, "killed") == 0) {
    first(ms);
    kill(getpid(), SIGKILL);
  }
  return 2;
}
