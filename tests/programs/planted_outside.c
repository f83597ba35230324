/* Programs with faults outside MPI: planted_outside NAME. What stands in front of each is as in planted.c; besides,
 * code=FUNCTION is the function of the program that samples of the stacks name, and `what` marks the line of the call
 * on a file, or of the region, in which the rank that is late is longer.
 *
 * Threads and ranks that only take time sleep. What samples have to see computes. Reads last as long as a timer. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "by_name.h"

#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static int rank;
static double value = 1, sum;
static unsigned long long expired;

static void pass(int ms) {
  const struct timespec span = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&span, NULL);
}

static double processor_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void smooth(int ms) {
  for (const double end = processor_ms() + ms; processor_ms() < end;)
    for (int i = 0; i < 1000; ++i) value = value * 0.999 + 0.001;
}

/* A file; what is read of it next comes after so long. */
static int timer(void) { return timerfd_create(CLOCK_MONOTONIC, 0); }

static void start(int timer, int ms) {
  const struct itimerspec once = {{0, 0}, {ms / 1000, ms % 1000 * 1000000L}};
  timerfd_settime(timer, 0, &once, NULL);
}

/* @late by a function: ranks=2 late-sender cause=0 named=1 seconds=0.4 code=smooth */
PROGRAM(late_by_a_function) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      smooth(40);
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD); /* cause */
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, WORLD, IGNORED); /* here */
    }
  }
}

/* @uneven function: ranks=2 load-imbalance cause=1 named=1 seconds=0.35 code=smooth */
PROGRAM(uneven_function) {
  for (int step = 0; step < 10; ++step) {
    smooth(rank == 1 ? 40 : 5);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* @serial files: ranks=2 serial-files cause=0 named=0 seconds=0.3 */
PROGRAM(serial_files) {
  const int file = timer();
  for (int step = 0; step < 10; ++step) {
    pass(10);
    start(file, 30);
    if (rank == 0 && read(file, &expired, sizeof expired) < 0) perror("read"); /* what */
    MPI_Barrier(WORLD);                                                        /* here cause */
  }
}

/* @root that reads: ranks=2 late-broadcast cause=0 named=1 seconds=0.2 */
PROGRAM(root_that_reads) {
  const int file = timer();
  for (int step = 0; step < 10; ++step) {
    start(file, 20);
    if (rank == 0 && read(file, &expired, sizeof expired) < 0) perror("read"); /* what */
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, WORLD);                                /* here cause */
  }
}

/* @busy thread: ranks=2 idle-threads named=0,1 seconds=0.3 */
PROGRAM(busy_thread) {
  for (int step = 0; step < 10; ++step) {
#pragma omp parallel num_threads(2) /* here */
    pass(omp_get_thread_num() == 0 ? 40 : 10);
    MPI_Barrier(WORLD);
  }
}

/* @late region: ranks=2 load-imbalance cause=1 named=1 seconds=0.3 | idle-threads named=1 seconds=0.2 */
PROGRAM(late_region) {
  for (int step = 0; step < 10; ++step) {
#pragma omp parallel num_threads(2) /* what */
    pass(rank == 1 && omp_get_thread_num() == 1 ? 40 : rank == 1 ? 1 : 10);
    MPI_Barrier(WORLD); /* here cause */
  }
}

/* @critical section: ranks=1 contention named=0 seconds=0.2 */
PROGRAM(critical_section) {
#pragma omp parallel num_threads(2)
  for (int step = 0; step < 20; ++step) {
    pass(1);
#pragma omp critical /* here */
    pass(10);
  }
}

/* Who enters it last has the other wait at the end as long as it waited itself. */
/* @critical in turn: ranks=1 contention named=0 seconds=0.2 */
PROGRAM(critical_in_turn) {
  for (int step = 0; step < 20; ++step)
#pragma omp parallel num_threads(2)
#pragma omp critical /* here */
    pass(10);
}

/* @serial computing: ranks=1 serial-computing named=0 seconds=0.2 */
PROGRAM(serial_computing) {
  for (int step = 0; step < 10; ++step) {
    smooth(40);
#pragma omp parallel num_threads(2)
    pass(10);
  }
}

/* @tiny regions: ranks=1 tiny-regions named=0 */
PROGRAM(tiny_regions) {
  for (int step = 0; step < 60000; ++step) {
#pragma omp parallel num_threads(2) /* here */
    __asm__ volatile("");
  }
}

/* @small reads: ranks=1 small-accesses named=0 */
PROGRAM(small_reads) {
  const int file = open("/dev/zero", O_RDONLY);
  char bytes[64];
  for (int step = 0; step < 150000; ++step)
    if (read(file, bytes, sizeof bytes) < 0) perror("read"); /* here */
  close(file);
}

/* @even threads: ranks=2 none */
PROGRAM(even_threads) {
  for (int step = 0; step < 6; ++step) {
#pragma omp parallel num_threads(2)
    pass(60);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  }
}

/* @even files: ranks=2 none */
PROGRAM(even_files) {
  const int file = timer();
  for (int step = 0; step < 10; ++step) {
    pass(40);
    start(file, 2);
    if (read(file, &expired, sizeof expired) < 0) perror("read");
    MPI_Barrier(WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  run(argv[1]);
  MPI_Finalize();
}
