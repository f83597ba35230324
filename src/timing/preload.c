/* tare-timing LIBRARY COMMAND...: puts LIBRARY first in LD_PRELOAD and executes COMMAND.
 *
 * On the command line it stands directly before the program, after launchers and wrappers of tools, so that LIBRARY
 * lies above what they preload. It is linked statically, so that what they preload is loaded into the program only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

extern char** environ;

/* The value of LD_PRELOAD. If the variable is set several times, the last one, which the loader uses. EZTrace sets a
 * second one if something was preloaded before it. */
static const char* preloaded(void) {
  static const char name[] = "LD_PRELOAD=";
  const char* found = NULL;
  for (char** variable = environ; *variable; ++variable)
    if (strncmp(*variable, name, sizeof name - 1) == 0) found = *variable + sizeof name - 1;
  return found;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: tare-timing LIBRARY COMMAND...\n");
    return 2;
  }
  const char* others = preloaded();
  const size_t size = strlen(argv[1]) + (others ? strlen(others) : 0) + 2;
  char* all = malloc(size);
  if (!all) return 1;
  snprintf(all, size, "%s%s%s", argv[1], others && *others ? ":" : "", others ? others : "");
  unsetenv("LD_PRELOAD"); /* removes all of them */
  setenv("LD_PRELOAD", all, 1);
  execvp(argv[2], argv + 2);
  fprintf(stderr, "tare-timing: cannot start %s: %s\n", argv[2], strerror(errno));
  return errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}
