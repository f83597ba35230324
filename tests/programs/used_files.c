/* used_files MODE DIRECTORY: uses files in ways of which test_files.py knows the figures. Fails, with the line, if a
 * call does not do what it does alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      dprintf(2, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

static char buffer[65536];
static const char* directory;

static const char* path_of(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static int open_new(const char* name) {
  const int file = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  return file;
}

/* Sizes that the compiler does not know, so that _FORTIFY_SOURCE has something to check. */
static void reads(int file, volatile size_t bytes, int times) {
  for (int i = 0; i < times; i++) CHECK(read(file, buffer, bytes) == (ssize_t)bytes);
}
static void writes(int file, volatile size_t bytes, int times) {
  for (int i = 0; i < times; i++) CHECK(write(file, buffer, bytes) == (ssize_t)bytes);
}

/* Longer than what is known of a descriptor is believed without asking the system. */
static void outlast(void) {
  const struct timespec time = {0, 5000000};
  nanosleep(&time, NULL);
}

static void patterns(void) {
  int file = open_new("consecutive");
  writes(file, 1000, 10);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  reads(file, 2000, 5);
  CHECK(read(file, buffer, sizeof buffer) == 0);
  CHECK(fsync(file) == 0 && close(file) == 0);

  file = open_new("strided");
  for (int i = 0; i < 10; i++) CHECK(pwrite(file, buffer, 100, i * 1000) == 100);
  volatile size_t bytes = 50;
  for (int i = 0; i < 10; i++) CHECK(pread(file, buffer, bytes, 9000 - i * 1000) == 50); /* backward */
  CHECK(pread(file, buffer, bytes, 0) == 50 && pread(file, buffer, bytes, 0) == 50);     /* the same again */
  CHECK(close(file) == 0);

  file = open_new("parts");
  struct iovec parts[2] = {{buffer, 300}, {buffer, 700}};
  CHECK(writev(file, parts, 2) == 1000 && pwritev(file, parts, 2, 1000) == 1000);
  CHECK(lseek(file, 0, SEEK_SET) == 0 && readv(file, parts, 2) == 1000 && preadv(file, parts, 2, 500) == 1000);
  CHECK(close(file) == 0);

  const int one = open(path_of("appended"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int other = openat(AT_FDCWD, path_of("appended"), O_WRONLY | O_APPEND);
  CHECK(one >= 0 && other >= 0);
  for (int i = 0; i < 3; i++) {
    writes(one, 10, 1);
    writes(other, 20, 1);
  }
  CHECK(pwrite(one, buffer, 10, 0) == 10); /* appends as well */
  CHECK(close(one) == 0 && close(other) == 0);

  CHECK(open(path_of("absent"), O_RDONLY) == -1 && errno == ENOENT);
  volatile int flags = O_RDONLY;
  CHECK((file = open(path_of("parts"), flags)) >= 0 && close(file) == 0);
}

static void streams(void) {
  FILE* stream = fopen(path_of("stream"), "w+");
  CHECK(stream != NULL);
  CHECK(fwrite(buffer, 8, 5, stream) == 5);
  CHECK(fputs("two\n", stream) >= 0);
  CHECK(fprintf(stream, "%d %s\n", 17, "texts") == 9);
  for (int i = 0; i < 1000; i++) CHECK(putc('x', stream) == 'x'); /* not seen */
  CHECK(fflush(stream) == 0);
  CHECK(fseek(stream, 40, SEEK_SET) == 0);
  char line[64];
  volatile int room = sizeof line;
  CHECK(fgets(line, room, stream) == line && strcmp(line, "two\n") == 0);
  volatile size_t elements = 2;
  CHECK(fread(line, 4, elements, stream) == 2);
  CHECK(fclose(stream) == 0);
  const int file = open(path_of("stream"), O_RDONLY);
  CHECK((stream = fdopen(file, "r")) != NULL);
  CHECK(fread(buffer, 1, sizeof buffer, stream) == 1053 && fread(buffer, 1, 1, stream) == 0);
  CHECK(freopen(path_of("reopened"), "w", stream) == stream && fwrite("abc", 3, 1, stream) == 1);
  CHECK(fclose(stream) == 0);
  char memory[16];
  CHECK((stream = fmemopen(memory, sizeof memory, "w")) != NULL && fputs("no file", stream) >= 0);
  errno = 77;
  CHECK(fclose(stream) == 0 && errno == 77);
}

/* Results that say nothing of errors, and errors of which results say nothing. */
static void ends(void) {
  FILE* stream = fopen(path_of("lines"), "w+");
  CHECK(stream != NULL && fputs("a\n", stream) >= 0 && fseek(stream, 0, SEEK_SET) == 0);
  char line[8];
  volatile int room = sizeof line;
  CHECK(fgets(line, room, stream) == line);
  errno = EDOM;
  CHECK(fgets(line, room, stream) == NULL && feof(stream) && errno == EDOM);
  CHECK(fclose(stream) == 0);
  CHECK((stream = fopen("/dev/full", "w")) != NULL && setvbuf(stream, NULL, _IONBF, 0) == 0);
  CHECK(fwrite("abc", 3, 1, stream) == 0 && errno == ENOSPC);
  CHECK(fputs("abc", stream) == EOF && errno == ENOSPC);
  CHECK(fprintf(stream, "%d", 5) < 0 && errno == ENOSPC);
  CHECK(fclose(stream) == 0);
}

static void descriptors(void) {
  const int first = open_new("first");
  const int copy = dup(first);
  writes(first, 10, 1);
  writes(copy, 10, 1);
  const int number = fcntl(first, F_DUPFD, 50);
  CHECK(copy >= 0 && number == 50);
  CHECK(close(first) == 0);
  const int second = open_new("second"); /* takes the number of the one that was closed */
  CHECK(second == first);
  writes(second, 7, 3);
  writes(number, 10, 1);
  CHECK(dup2(second, copy) == copy);
  writes(copy, 7, 1);
  /* What no function of the library tells of. */
  CHECK(syscall(SYS_close, second) == 0);
  CHECK(syscall(SYS_openat, AT_FDCWD, path_of("third"), O_RDWR | O_CREAT, 0600) == second);
  outlast();
  writes(second, 5, 2);
  CHECK(dup2(second, 60) == 60);
  CHECK(syscall(SYS_close, 60) == 0);
  CHECK(syscall(SYS_openat, AT_FDCWD, path_of("fifth"), O_RDWR | O_CREAT, 0600) < 60);
  CHECK(syscall(SYS_dup3, open_new("sixth"), 60, 0) == 60);
  outlast();
  writes(second, 5, 1); /* it shared its open file with the other one, which is not what it was */
  writes(60, 6, 1);
  int ends[2];
  CHECK(pipe(ends) == 0);
  writes(ends[1], 100, 1);
  reads(ends[0], 100, 1);
  CHECK(close_range(3, 100, 0) == 0);
  CHECK(read(second, buffer, 1) == -1 && errno == EBADF);
  writes(open_new("fourth"), 4, 1);
}

static void hostile(void) {
  writes(open_new("a\n\x1b[31m\xff<b>&"), 1, 1);
  CHECK(chdir(directory) == 0);
  memset(buffer, 'd', 250);
  buffer[250] = 0;
  for (int depth = 1; depth <= 20; depth++) {
    CHECK(mkdir(buffer, 0700) == 0 && chdir(buffer) == 0);
    if (depth != 6 && depth != 20) continue; /* some 1,500 and 5,000 bytes */
    const int file = open("leaf", O_WRONLY | O_CREAT, 0600);
    CHECK(file >= 0 && write(file, "0123456789", depth == 6 ? 6 : 9) > 0);
  }
}

static void many(void) {
  for (int i = 0; i < 1500; i++) {
    char name[32];
    snprintf(name, sizeof name, "%04d", i);
    const int file = open_new(name);
    writes(file, 3, 2);
    CHECK(close(file) == 0 && unlink(path_of(name)) == 0);
  }
}

/* Closes and opens in a signal handler, wherever it comes. */
static volatile sig_atomic_t handled;
static void use_number(int signal) {
  (void)signal;
  const int saved = errno;
  close(100);
  dup2(101, 100);
  if (write(100, "h", 1) == 1) handled++;
  errno = saved;
}
static void handlers(void) {
  const int file = open_new("handled");
  CHECK(dup2(open_new("other"), 101) == 101);
  CHECK(signal(SIGPROF, use_number) != SIG_ERR);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_PROF, &often, NULL) == 0);
  int copies = 0;
  for (; handled < 40; copies++) {
    const int copy = dup(file);
    writes(copy, 2, 2);
    CHECK(close(copy) == 0);
  }
  CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
  printf("%d %d\n", (int)handled, copies);
}

static void* write_shared(void* file) {
  writes(*(int*)file, 8, 20000);
  return NULL;
}
static void threads(void) {
  pthread_t ids[4];
  int file = open_new("shared");
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&ids[i], NULL, write_shared, &file) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(ids[i], NULL) == 0);
}

static sigjmp_buf out;
static void jump(int signal) {
  (void)signal;
  siglongjmp(out, 1);
}
static void jumps(void) {
  int ends[2];
  const int file = open_new("jumped");
  CHECK(pipe(ends) == 0 && signal(SIGALRM, jump) != SIG_ERR);
  const struct itimerval soon = {{0, 0}, {0, 20000}};
  if (sigsetjmp(out, 1) == 0) {
    writes(file, 10, 1);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    const ssize_t ended = read(ends[0], buffer, 1);
    CHECK(ended == 12345); /* it does not */
  }
  writes(file, 10, 1);
  writes(ends[1], 2, 1);
  reads(ends[0], 2, 1);
}

static void forks(void) {
  const int file = open_new("forked");
  writes(file, 10, 4);
  const pid_t child = fork();
  if (child == 0) {
    writes(file, 10, 6);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  outlast();
  writes(file, 10, 1);
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t other = vfork();
  if (other == 0) {
    dup2(ends[1], file);
    close(ends[0]);
    execlp("echo", "echo", "from a child", (char*)NULL);
    _exit(1);
  }
  CHECK(waitpid(other, &status, 0) == other && status == 0);
  writes(file, 10, 1);
  reads(ends[0], 0, 1);
}

static void limited(void) {
  const struct rlimit few = {8, 8};
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  int opened = 0;
  while (open(path_of("limit"), O_RDONLY | O_CREAT, 0600) >= 0) opened++;
  CHECK(errno == EMFILE && opened < 8);
  for (int i = 3; i < 8; i++) close(i);
  writes(open_new("after"), 9, 2);
}

static void killed(void) {
  const int file = open_new("killed");
  writes(file, 11, 100);
  FILE* stream = fopen(path_of("stream"), "w");
  CHECK(fwrite("1234", 4, 1, stream) == 1);
  raise(SIGKILL);
}

/* Before main. */
__attribute__((constructor)) static void early(int argc, char** argv) {
  if (argc != 3 || strcmp(argv[1], "early") != 0) return;
  directory = argv[2];
  const int file = open_new("early");
  writes(file, 12, 3);
  FILE* stream = fopen(path_of("early-stream"), "w");
  CHECK(stream != NULL && fputs("12345", stream) >= 0 && fclose(stream) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  directory = argv[2];
  const struct {
    const char* name;
    void (*run)(void);
  } modes[] = {{"patterns", patterns}, {"streams", streams}, {"ends", ends},       {"descriptors", descriptors},
               {"hostile", hostile},   {"many", many},       {"threads", threads}, {"jumps", jumps},
               {"forks", forks},       {"limited", limited}, {"killed", killed},   {"handlers", handlers}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(argv[1], modes[i].name) == 0) modes[i].run();
  if (strcmp(argv[1], "inherits") == 0) {
    reads(0, 5, 2);
    writes(1, 6, 3);
  }
  return 0;
}
