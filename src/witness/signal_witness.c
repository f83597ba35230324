/* signal-witness: a process that does nothing but receive what is sent to the process group of `tare run`.
 *
 * A signal that `tare run` receives was sent to it alone, or to the whole group (by a terminal, by kill with a negative
 * number), and then the measured command has it already. The kernel does not say which; but if the witness has
 * received the signal as well, it was sent to the group.
 *
 * It starts with all signals blocked. A byte on standard input asks for the signals since the last question; the answer
 * on standard output has a byte for each signal from 1 to 64: how often it came, up to 255. It ends when standard input
 * does. What its parent sends does not count: SIGCONT wakes it if the whole group was stopped.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 64 };

int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  syscall(SYS_close_range, 3, ~0U, 0);
  if (chdir("/") != 0) return 1;
  char question;
  while (read(STDIN_FILENO, &question, 1) == 1) {
    unsigned char came[SIGNALS] = {0};
    const struct timespec at_once = {0, 0};
    siginfo_t info;
    int number;
    while ((number = sigtimedwait(&all, &info, &at_once)) > 0) {
      const int is_of_parent = info.si_code == SI_USER && info.si_pid == getppid();
      if (number <= SIGNALS && !is_of_parent && came[number - 1] < 255) ++came[number - 1];
    }
    if (write(STDOUT_FILENO, came, sizeof came) != (ssize_t)sizeof came) return 1;
  }
  return 0;
}
