/* peak_rss: runs a command and says how much memory it had in use at most.
 *
 * usage: peak_rss COMMAND [ARGUMENT...]
 * Prints one line of JSON when the command has ended: {"peak_rss_kib": 11264}
 * The exit code is the command's; 126 if it could not be run, 128 + number if a signal ended it.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: peak_rss COMMAND [ARGUMENT...]\n");
    return 2;
  }
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    _exit(126);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
    perror("peak_rss");
    return 126;
  }
  printf("{\"peak_rss_kib\": %ld}\n", usage.ru_maxrss);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
