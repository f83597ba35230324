/* files MODE DIRECTORY: calls of functions on files, as many and of as many bytes as test_sources.py says. Fails, with
 * the line, if a call does not do what it does alone. With MPI, if WITH_MPI is defined. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);         \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static char buffer[4096];
static int null;
static volatile sig_atomic_t handled;

static int open_file(const char* directory, const char* name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  return file;
}

static void write_times(int file, int times, size_t bytes) {
  for (int i = 0; i < times; i++) CHECK(write(file, buffer, bytes) == (ssize_t)bytes);
}

static void sleep_ms(int ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static void* write_later(void* to) {
  sleep_ms(50);
  CHECK(write(*(int*)to, buffer, 1) == 1);
  return NULL;
}

static void counts(const char* directory) {
  const int file = open_file(directory, "counts");
  write_times(file, 10, 4096);
  for (int i = 0; i < 5; i++) CHECK(pwrite(file, buffer, 1000, i * 1000) == 1000);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  for (int i = 0; i < 7; i++) CHECK(read(file, buffer, 512) == 512);
  for (int i = 0; i < 3; i++) CHECK(pread(file, buffer, 100, 50) == 100);
  CHECK(fsync(file) == 0 && fsync(file) == 0 && fdatasync(file) == 0);
  CHECK(sync_file_range(file, 4096, 8192, SYNC_FILE_RANGE_WRITE) == 0);
  void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(memory != MAP_FAILED && msync(memory, 4096, MS_SYNC) == 0);
  errno = 77;
  CHECK(read(-1, buffer, 1) == -1 && errno == EBADF);
  errno = 77;
  CHECK(write(null, buffer, 3) == 3 && errno == 77);
  int ends[2];
  pthread_t writer;
  CHECK(pipe(ends) == 0 && pthread_create(&writer, NULL, write_later, &ends[1]) == 0);
  CHECK(read(ends[0], buffer, 2) == 1); /* after 50 ms */
  CHECK(pthread_join(writer, NULL) == 0);
}

static void forks(void) {
  write_times(null, 4, 10);
  const pid_t child = fork();
  if (child == 0) {
    write_times(null, 6, 10);
    _exit(3);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
  const pid_t other = vfork();
  if (other == 0) {
    ssize_t written = write(null, buffer, 20);
    _exit(written == 20 ? 0 : 1);
  }
  CHECK(waitpid(other, &status, 0) == other && WEXITSTATUS(status) == 0);
  write_times(null, 1, 30);
}

static void* read_forever(void* from) {
  CHECK(read(*(int*)from, buffer, 1) == 0);
  return NULL;
}

static void cancels(void) {
  int ends[2];
  pthread_t reader;
  void* result = NULL;
  CHECK(pipe(ends) == 0);
  CHECK(pthread_create(&reader, NULL, read_forever, &ends[0]) == 0);
  sleep_ms(50);
  CHECK(pthread_cancel(reader) == 0 && pthread_join(reader, &result) == 0 && result == PTHREAD_CANCELED);
  write_times(null, 2, 10);
}

static void on_signal(int number) {
  const int saved = errno;
  (void)number;
  if (write(null, "x", 1) == 1) handled++;
  errno = saved;
}

static void in_handlers(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGPROF, &action, NULL) == 0);
  CHECK(raise(SIGUSR1) == 0 && handled == 1); /* before any other call of the thread */
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  CHECK(setitimer(ITIMER_PROF, &often, NULL) == 0);
  for (int i = 0; i < 300000; i++) {
    errno = 77;
    CHECK(write(null, buffer, 10) == 10 && errno == 77);
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
  printf("%d\n", (int)handled);
}

static void closes(const char* directory) {
  const int file = open_file(directory, "closed");
  write_times(null, 1, 10);
  CHECK(dup2(file, 100) == 100);
  for (int i = 3; i < 100; i++) close(i);
  write_times(100, 3, 10);
  CHECK(lseek(100, 0, SEEK_END) == 30);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  null = open("/dev/null", O_WRONLY);
  CHECK(null >= 0);
#ifdef WITH_MPI
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[32];
  snprintf(name, sizeof name, "rank%d", rank);
  const int file = open_file(argv[2], name);
  write_times(file, 10 * (rank + 1), 1000);
  CHECK(fsync(file) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "kill") == 0 && rank == 1) raise(SIGKILL);
  MPI_File shared;
  CHECK(chdir(argv[2]) == 0);
  const char* path = "./shared";
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &shared) == MPI_SUCCESS);
  MPI_File_write_at(shared, rank * 4096L, buffer, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&shared);
  const int again = open(path, O_RDONLY);
  CHECK(again >= 0 && read(again, buffer, 100) == 100 && close(again) == 0);
  MPI_Finalize();
#else
  if (strcmp(argv[1], "counts") == 0) counts(argv[2]);
  if (strcmp(argv[1], "forks") == 0) forks();
  if (strcmp(argv[1], "cancels") == 0) cancels();
  if (strcmp(argv[1], "handlers") == 0) in_handlers();
  if (strcmp(argv[1], "closes") == 0) closes(argv[2]);
  if (strcmp(argv[1], "kill") == 0) {
    write_times(null, 100, 10);
    raise(SIGKILL);
  }
#endif
  return 0;
}
