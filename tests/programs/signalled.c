/* signalled FILE default|handle: writes "ready PID PARENT" to FILE, and goes on until FILE.end exists. With `handle` it
 * writes "got N" for each signal that it receives. Its exit code is then 7. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int file;

static void say(const char* word, int first, int second) {
  char line[64];
  const int length = second != 0 ? snprintf(line, sizeof line, "%s %d %d\n", word, first, second)
                                 : snprintf(line, sizeof line, "%s %d\n", word, first);
  if (write(file, line, (size_t)length) != length) _exit(99);
}

static void got(int number) { say("got", number, 0); }

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  for (int number = 1; strcmp(argv[2], "handle") == 0 && number <= SIGRTMAX; ++number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = got;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
  }
  char end[4096];
  snprintf(end, sizeof end, "%s.end", argv[1]);
  say("ready", getpid(), getppid());
  while (access(end, F_OK) != 0) {
    const struct timespec wait = {0, 5000000};
    nanosleep(&wait, NULL);
  }
  return 7;
}
