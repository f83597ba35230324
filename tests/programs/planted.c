/* Programs with one fault each: planted KIND. The line in which the time goes by is marked `here`, the one before
 * which the rank that is late computes is marked `cause`. Sleeping stands for computing: it takes as long on a busy
 * machine. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static int rank, size;
static double value = 1, sum;

static void compute(int ms) {
  const struct timespec span = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&span, NULL);
}

static void late_sender(void) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      compute(20);
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD); /* cause */
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, WORLD, IGNORED); /* here */
    }
  }
}

static void late_receiver(void) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      compute(20);
      MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, WORLD, IGNORED); /* cause */
    } else {
      MPI_Ssend(&value, 1, MPI_DOUBLE, 0, 0, WORLD); /* here */
    }
  }
}

static void load_imbalance(void) {
  for (int step = 0; step < 10; ++step) {
    compute(rank >= 2 ? 30 : 10);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

static void slow_rank(void) {
  for (int step = 0; step < 10; ++step) {
    compute(rank == 1 ? 40 : 10);
    MPI_Barrier(WORLD); /* here cause */
  }
}

static void late_broadcast(void) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 2) compute(20);
    MPI_Bcast(&value, 1, MPI_DOUBLE, 2, WORLD); /* here cause */
  }
}

static void early_reduce(void) {
  for (int step = 0; step < 10; ++step) {
    if (rank != 0) compute(20);
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD); /* here cause */
  }
}

/* Each rank is late as often as the others: they compute as long in all. */
static void wait_at_nxn(void) {
  for (int step = 0; step < 12; ++step) {
    if (step % size == rank) compute(30);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

static void serialised(void) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int step = 0; step < 6; ++step) {
    if (rank != 0 || step != 0) MPI_Recv(&value, 1, MPI_DOUBLE, left, 0, WORLD, IGNORED); /* here */
    compute(15);
    MPI_Send(&value, 1, MPI_DOUBLE, right, 0, WORLD); /* cause */
  }
  if (rank == 0) MPI_Recv(&value, 1, MPI_DOUBLE, left, 0, WORLD, IGNORED);
}

/* Rank 0 answers one rank after the other. */
static void hot_spot(void) {
  const int steps = 8;
  MPI_Status status;
  for (int step = 0; step < steps * (rank == 0 ? size - 1 : 1); ++step) {
    if (rank == 0) {
      MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, WORLD, &status);
      compute(8);
      MPI_Send(&value, 1, MPI_DOUBLE, status.MPI_SOURCE, 1, WORLD); /* cause */
    } else {
      compute(8);
      MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, WORLD);
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 1, WORLD, IGNORED); /* here */
    }
  }
}

/* The reduction alone would let all but the root go on. */
static void needless_barrier(void) {
  for (int step = 0; step < 12; ++step) {
    if (step % size == rank) compute(20);
    MPI_Barrier(WORLD);                                         /* here */
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD); /* cause */
  }
}

/* Each rank to itself, so that it waits for nobody. */
static void tiny_messages(void) {
  for (int step = 0; step < 500000; ++step)
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, rank, 0, &sum, 1, MPI_DOUBLE, rank, 0, WORLD, IGNORED); /* here */
}

static void polling(void) {
  int there;
  for (int step = 0; step < 800000; ++step) MPI_Iprobe(MPI_ANY_SOURCE, 7, WORLD, &there, IGNORED); /* here */
}

static void large_collective(void) {
  const int many = 1 << 24;
  char* all = malloc((size_t)many * (size_t)size);
  char* own = malloc((size_t)many);
  memset(own, 1, (size_t)many);
  for (int step = 0; step < 12; ++step) MPI_Allgather(own, many, MPI_CHAR, all, many, MPI_CHAR, WORLD); /* here */
  free(all);
  free(own);
}

static void slow_iterations(void) {
  for (int step = 0; step < 20; ++step) {
    compute(10);
    if (step % 8 == 4) compute(200);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

static void crash(void) {
  compute(50);
  if (rank == 1) raise(SIGSEGV);
  MPI_Barrier(WORLD);
}

/* Rank 2 ends what would last for ever. */
static void deadlock(void) {
  if (rank == 2) {
    compute(2000);
    MPI_Abort(WORLD, 3);
  }
  MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 0, WORLD, IGNORED); /* here */
}

/* No fault. */
static void balanced(void) {
  for (int step = 0; step < 3; ++step) {
    compute(300);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  }
}

/* No fault. */
static void neighbours(void) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int step = 0; step < 3; ++step) {
    MPI_Irecv(&sum, 1, MPI_DOUBLE, left, 0, WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_DOUBLE, right, 0, WORLD, &requests[1]);
    compute(300);
    MPI_Waitall(2, requests, statuses);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} faults[] = {
    {"late sender", late_sender},
    {"late receiver", late_receiver},
    {"load imbalance", load_imbalance},
    {"slow rank", slow_rank},
    {"late broadcast", late_broadcast},
    {"early reduce", early_reduce},
    {"wait at NxN", wait_at_nxn},
    {"serialised", serialised},
    {"hot spot", hot_spot},
    {"needless barrier", needless_barrier},
    {"tiny messages", tiny_messages},
    {"unsuccessful polling", polling},
    {"large collective", large_collective},
    {"slow iterations", slow_iterations},
    {"ended early", crash},
    {"deadlock", deadlock},
    {"balanced", balanced},
    {"neighbours", neighbours},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
    if (strcmp(argv[1], faults[i].name) == 0) faults[i].run();
  MPI_Finalize();
  return 0;
}
