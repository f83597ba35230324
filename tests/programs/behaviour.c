/* behaviour: programs end, and treat their process, in many ways; a tool must survive all of them.
 *
 * usage: behaviour MODE
 * Every rank does work(): ALLREDUCES MPI_Allreduce and SENDS MPI_Send to MPI_PROC_NULL. Rank 0 prints
 * "worked". Then each does what MODE says; see the table `modes`. tests/integration/test_harmless.py runs it with
 * and without tare and compares.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALLREDUCES = 10, SENDS = 1000, LAST_FD = 1024, OWN_FILES = 8 };

static int rank;
static char** arguments;

static void work(void) {
  double one = 1.0, sum = 0.0;
  for (int i = 0; i < ALLREDUCES; i++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < SENDS; i++) MPI_Send(&one, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/* Rank 0 alone: launchers mix the lines of several ranks. */
static void say(const char* text) {
  if (rank == 0) printf("%s\n", text);
  fflush(stdout);
}

static int finalize(int status) {
  MPI_Finalize();
  return status;
}

/* When all have done their work, the other ranks wait until the launcher ends them. */
static void others_wait(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0)
    for (;;) pause();
}

static int mode_plain(void) { return finalize(0); }
static int mode_exit_late(void) { return finalize(7); }

/* All have done their work by then: a launcher may kill the others as soon as one has returned from main. */
static int mode_no_finalize(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}


static int mode_abort(void) {
  others_wait();
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 1;
}

static int mode_exit(void) {
  others_wait();
  exit(7);
}

static int mode_exit_at_once(void) {
  others_wait();
  _exit(7);
}

static int mode_segv(void) {
  others_wait();
  raise(SIGSEGV);
  return 1;
}

static int mode_term(void) {
  others_wait();
  raise(SIGTERM);
  return 1;
}

static int wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int mode_fork_exit(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) exit(5); /* with all destructors, as a careless child does */
  int status = wait_for(child);
  work();
  return finalize(status == 5 ? 0 : 1);
}

static int mode_fork_exec(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 6", (char*)NULL);
    _exit(1);
  }
  int status = wait_for(child);
  work();
  return finalize(status == 6 ? 0 : 1);
}

static int mode_shell(void) {
  int failed = system("ls -d / && bash -c 'echo from bash >&2; ls -d /tmp | cat'");
  return finalize(failed);
}

static int mode_chdir(void) {
  int failed = chdir("/");
  work();
  return finalize(failed);
}

/* Closes every descriptor of a file, a tool's among them, and opens files of its own in their place:
 * a tool that keeps a number writes into them, which shows in their size: it must be 0. (MPI's sockets
 * stay: without them it cannot end.) */
static int mode_close_fds(void) {
  struct stat status;
  char path[4096];
  for (int fd = 3; fd < LAST_FD; fd++)
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) close(fd);
  for (int i = 0; i < OWN_FILES; i++) {
    snprintf(path, sizeof path, "%s.own.%d.%d", arguments[0], rank, i);
    if (open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) < 0) return finalize(1);
  }
  for (int i = 0; i < 100; i++) work(); /* enough to fill a small event buffer many times */
  return finalize(0);
}

/* Without a launcher: closes everything before MPI starts. */
static int mode_close_all_first(void) { return finalize(0); }

static int mode_spawn(void) {
  MPI_Comm children;
  MPI_Barrier(MPI_COMM_WORLD); /* where it fails, it fails after everybody's work */
  MPI_Comm_spawn(arguments[0], (char*[]){"spawned", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  MPI_Barrier(children);
  MPI_Comm_disconnect(&children);
  return finalize(0);
}

static int mode_spawned(void) {
  MPI_Comm parents;
  MPI_Comm_get_parent(&parents);
  MPI_Barrier(parents);
  MPI_Comm_disconnect(&parents);
  return finalize(0);
}

static const struct {
  const char* name;
  int (*run)(void);
} modes[] = {
    {"plain", mode_plain},               /* nothing special */
    {"exit_late", mode_exit_late},       /* MPI_Finalize, then exit code 7 */
    {"no_finalize", mode_no_finalize},   /* returns from main without MPI_Finalize */
    {"abort", mode_abort},               /* rank 0: MPI_Abort(MPI_COMM_WORLD, 3) */
    {"exit", mode_exit},                 /* rank 0: exit(7) without MPI_Finalize */
    {"exit_at_once", mode_exit_at_once}, /* rank 0: _exit(7), no destructors */
    {"segv", mode_segv},                 /* rank 0 dies of SIGSEGV */
    {"term", mode_term},                 /* rank 0 dies of SIGTERM */
    {"fork_exit", mode_fork_exit},       /* a child exits; more work */
    {"fork_exec", mode_fork_exec},       /* a child executes sh; more work */
    {"shell", mode_shell},               /* system() with ls and bash */
    {"chdir", mode_chdir},               /* changes its working directory; more work */
    {"close_fds", mode_close_fds},       /* closes files and opens its own; 100 times more work */
    {"close_all_first", mode_close_all_first},
    {"spawn", mode_spawn}, /* MPI_Comm_spawn of one more of itself */
    {"spawned", mode_spawned},
};

int main(int argc, char** argv) {
  arguments = argv;
  for (size_t mode = 0; mode < sizeof modes / sizeof modes[0]; mode++) {
    if (argc < 2 || strcmp(argv[1], modes[mode].name) != 0) continue;
    if (modes[mode].run == mode_close_all_first)
      for (int fd = 3; fd < LAST_FD; fd++) close(fd);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work();
    say("worked");
    return modes[mode].run();
  }
  fprintf(stderr, "usage: behaviour MODE\n");
  return 2;
}
