// Constructs of OpenMP whose times are known: what a thread does takes as long as it sleeps.
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#  include <mpi.h>
#endif

// What threads worked, by their numbers in their teams: a machine that is busy makes them sleep longer.
static long long worked_ns[2];

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void work(int ms) {
  const long long begin = now_ns();
  usleep(ms * 1000);
  __atomic_fetch_add(&worked_ns[omp_get_thread_num()], now_ns() - begin, __ATOMIC_RELAXED);
}

// Thread 0 works 12 ms, thread 1 works 4 ms, in each of 5 calls.
static void uneven(void) {
  for (int i = 0; i < 5; ++i) {
#pragma omp parallel num_threads(2)  // LINE uneven
    work(omp_get_thread_num() == 0 ? 12 : 4);
  }
}

// Each thread waits 10 ms for the other one, once in each of the two barriers.
static void barriers(void) {
#pragma omp parallel num_threads(2)  // LINE barriers
  {
    work(omp_get_thread_num() == 0 ? 15 : 5);
#pragma omp barrier
    work(omp_get_thread_num() == 0 ? 5 : 15);
#pragma omp barrier
  }
}

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

// One of the threads waits 10 ms for the other one, in each.
static void mutexes(void) {
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
#pragma omp parallel num_threads(2)  // LINE critical
  {
#pragma omp critical
    work(10);
  }
#pragma omp parallel num_threads(2)  // LINE named
  {
#pragma omp critical(name)
    work(10);
  }
#pragma omp parallel num_threads(2)  // LINE lock
  {
    omp_set_lock(&lock);  // LINE sets
    work(10);
    omp_unset_lock(&lock);
  }
#pragma omp parallel num_threads(2)  // LINE nest
  {
    omp_set_nest_lock(&nest_lock);  // LINE takes
    omp_set_nest_lock(&nest_lock);  // LINE again
    work(10);
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
  }
}

// 6 tasks of 10 ms for 2 threads, of which one makes them and waits.
static void tasks(void) {
#pragma omp parallel num_threads(2)  // LINE tasks
#pragma omp single
  {
    for (int i = 0; i < 6; ++i) {
#pragma omp task firstprivate(i)
      work(10 + 0 * i);
    }
#pragma omp taskwait
  }
}

// The same in a group, with data that are large, or not aligned to a word; and tasks that are not deferred.
#ifndef LARGE
#define LARGE 96
#endif
static void groups(void) {
  char small[3] = {1, 2, 3};
  double large[LARGE];
  for (int i = 0; i < LARGE; ++i) large[i] = i;
  int wrong = 0;
#pragma omp parallel num_threads(2)  // LINE groups
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 4; ++i) {
#pragma omp task firstprivate(small, large, i) shared(wrong)
        {
          work(10);
          if (small[2] != 3 || large[LARGE - 1] != LARGE - 1 || i > 3) {
#pragma omp atomic write
            wrong = 1;
          }
        }
      }
    }
#pragma omp task if (0) firstprivate(small) shared(wrong)
    {
      work(10);
      if (small[1] != 2) wrong = 1;
    }
  }
  int sum = 0;
#pragma omp parallel num_threads(2)  // LINE taskloop
#pragma omp single
  {
#pragma omp taskloop num_tasks(4) shared(sum)  // LINE shared
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
      sum += i;
    }
  }
  if (wrong || sum != 4950) exit(9);
}

// Loops with and without a barrier at their end, sections, a reduction.
static void loops(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)  // LINE loops
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 8; ++i) sum += i;
#pragma omp for schedule(guided, 2) nowait
    for (int i = 0; i < 8; ++i) sum += i;
#pragma omp for schedule(dynamic)
    for (unsigned long long i = 20; i > 4; i -= 2) sum += 1;
#pragma omp sections
    {
#pragma omp section
      work(5);
#pragma omp section
      work(5);
    }
  }
  if (sum != 28 + 28 + 8) exit(9);
#pragma omp parallel for num_threads(2) schedule(dynamic) reduction(+ : sum)  // LINE combined
  for (int i = 0; i < 4; ++i) sum += i;
  if (sum != 28 + 28 + 8 + 6) exit(9);
}

// 2 threads, each of which encounters a region of 2.
static void nested(void) {
  omp_set_max_active_levels(2);
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)  // LINE outer
    {
#pragma omp parallel num_threads(2)  // LINE inner
      work(omp_get_thread_num() == 0 ? 10 : 5);
      work(5);
    }
  }
}

static void jumps(void) {
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)
    {
      jmp_buf back;
      if (setjmp(back) == 0) longjmp(back, 1);
#pragma omp critical
      work(1);
    }
  }
}

static void cancels(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
    }
    for (int i = 0; i < 1000; ++i) {
#pragma omp cancellation point parallel
      usleep(100);
    }
  }
  uneven();
}

// The child uses OpenMP, too; GNU's runtime can do so if the parent has no threads yet.
static void forks(void) {
  const pid_t child = fork();
  if (child == 0) {
    uneven();
    exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  uneven();
  exit(WEXITSTATUS(status));
}

// A fork within a region, after which runtimes of LLVM do not work in the child.
static void forks_inside(void) {
  int status = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    const pid_t child = fork();
    if (child == 0) _exit(4);
    waitpid(child, &status, 0);
  }
  exit(WEXITSTATUS(status));
}

// Threads of the program's own have teams, and one of them goes on when main has ended.
static void* run_uneven(void* unused) {
  uneven();
  return unused;
}
static void* run_long(void* unused) {
  uneven();
  exit(5);
  return unused;
}
static void threads(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, run_uneven, NULL);
  pthread_join(first, NULL);
  pthread_create(&second, NULL, run_long, NULL);
  pthread_exit(NULL);
}

static void repeats(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) ++sum;
  }
  printf("%d\n", sum);
}

#ifdef WITH_LIBRARY
void library_region(void);
#endif

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
#ifdef WITH_MPI
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i <= rank; ++i) uneven();
  work(20 * (1 - rank));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
#endif
  if (strcmp(what, "uneven") == 0) uneven();
  if (strcmp(what, "barriers") == 0) barriers();
  if (strcmp(what, "mutexes") == 0) mutexes();
  if (strcmp(what, "tasks") == 0) tasks();
  if (strcmp(what, "groups") == 0) groups();
  if (strcmp(what, "loops") == 0) loops();
  if (strcmp(what, "nested") == 0) nested();
  if (strcmp(what, "jumps") == 0) jumps();
  if (strcmp(what, "cancels") == 0) cancels();
  if (strcmp(what, "forks") == 0) forks();
  if (strcmp(what, "forks inside") == 0) forks_inside();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "repeats") == 0) repeats(atoi(argv[2]));
  if (strcmp(what, "repeats") != 0) printf("%lld %lld\n", worked_ns[0], worked_ns[1]);
#ifdef WITH_LIBRARY
  if (strcmp(what, "both") == 0) {
    uneven();
    library_region();  // LINE call
  }
#endif
  return 0;
}
