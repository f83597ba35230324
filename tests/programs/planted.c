/* Programs with known faults: planted NAME. In front of each stands what `tare explain` must say of it, which
 * tests/support/planted.py reads:
 *
 *   @NAME [N]: ranks=N KIND [cause=RANK] [named=RANKS] [seconds=S] [trend=WORD] [| further findings]
 *
 * KIND is that of the first finding; `none` says that there is none. `cause` is the rank that causes it, `named` are
 * the ranks that it names, `seconds` is what it costs all ranks together. The line in which the time goes by is marked
 * `here`, the one before which the rank that is late computes is marked `cause`. Sleeping stands for computing, except
 * where processors are short: it takes as long on a busy machine. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "by_name.h"

#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static int rank, size, left, right;
static double value = 1, sum;

static void compute(int ms) {
  const struct timespec span = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&span, NULL);
}

/* @late sender: ranks=2 late-sender cause=0 named=1 seconds=0.2 */
PROGRAM(late_sender) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      compute(20);
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD); /* cause */
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, WORLD, IGNORED); /* here */
    }
  }
}

/* @late receiver: ranks=2 late-receiver cause=0 named=1 seconds=0.2 */
PROGRAM(late_receiver) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      compute(20);
      MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, WORLD, IGNORED); /* cause */
    } else {
      MPI_Ssend(&value, 1, MPI_DOUBLE, 0, 0, WORLD); /* here */
    }
  }
}

/* @load imbalance: ranks=4 load-imbalance named=2,3 seconds=0.4 gain=0.1 */
PROGRAM(load_imbalance) {
  for (int step = 0; step < 10; ++step) {
    compute(rank >= 2 ? 30 : 10);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* @slow rank 16: ranks=16 slow-rank cause=1 named=1 seconds=4.5 */
/* @slow rank 64: ranks=64 slow-rank cause=1 named=1 seconds=18.9 */
/* @slow rank: ranks=4 slow-rank cause=1 named=1 seconds=0.9 gain=0.225 */
PROGRAM(slow_rank) {
  for (int step = 0; step < 10; ++step) {
    compute(rank == 1 ? 40 : 10);
    MPI_Barrier(WORLD); /* here cause */
  }
}

/* @late broadcast 32: ranks=32 late-broadcast cause=2 seconds=6.2 */
/* @late broadcast: ranks=3 late-broadcast cause=2 named=0,1 seconds=0.4 */
PROGRAM(late_broadcast) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 2) compute(20);
    MPI_Bcast(&value, 1, MPI_DOUBLE, 2, WORLD); /* here cause */
  }
}

/* @early reduce: ranks=3 early-reduce named=0 seconds=0.2 */
PROGRAM(early_reduce) {
  for (int step = 0; step < 10; ++step) {
    if (rank != 0) compute(20);
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD); /* here cause */
  }
}

/* @slow rank once: ranks=4 slow-rank cause=2 named=2 seconds=1.2 gain=0.3 */
PROGRAM(slow_rank_once) {
  if (rank == 2) compute(400);
  for (int step = 0; step < 20; ++step) {
    compute(5);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* The trace does not show for which of its neighbours a rank waits. */
/* @slow neighbour: ranks=3 slow-rank cause=1 named=1 seconds=0.6 */
PROGRAM(slow_neighbour) {
  const int both[2] = {left, right};
  double values[2] = {0, 0}, received[2];
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  for (int step = 0; step < 10; ++step) {
    compute(rank == 1 ? 35 : 5);
    MPI_Neighbor_alltoall(values, 1, MPI_DOUBLE, received, 1, MPI_DOUBLE, ring); /* here */
  }
  MPI_Comm_free(&ring);
}

/* Each rank is late as often as the others: they compute as long in all. */
/* @alternating imbalance: ranks=3 alternating-imbalance named=0,1,2 seconds=0.72 gain=0.24 */
PROGRAM(alternating_imbalance) {
  for (int step = 0; step < 12; ++step) {
    if (step % size == rank) compute(30);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* @serialised: ranks=4 serialised named=0,1,2,3 seconds=1.08 */
PROGRAM(serialised) {
  for (int step = 0; step < 6; ++step) {
    if (rank != 0 || step != 0) MPI_Recv(&value, 1, MPI_DOUBLE, left, 0, WORLD, IGNORED); /* here */
    compute(15);
    MPI_Send(&value, 1, MPI_DOUBLE, right, 0, WORLD); /* cause */
  }
  if (rank == 0) MPI_Recv(&value, 1, MPI_DOUBLE, left, 0, WORLD, IGNORED);
}

/* Rank 0 answers one rank after the other. */
/* @hot spot: ranks=4 hot-spot cause=0 named=1,2,3 */
PROGRAM(hot_spot) {
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
/* @needless barrier: ranks=3 needless-barrier seconds=0.48 */
PROGRAM(needless_barrier) {
  for (int step = 0; step < 12; ++step) {
    if (step % size == rank) compute(20);
    MPI_Barrier(WORLD);                                         /* here */
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD); /* cause */
  }
}

/* Each rank to itself, so that it waits for nobody. */
/* @tiny messages: ranks=2 tiny-messages */
PROGRAM(tiny_messages) {
  for (int step = 0; step < 500000; ++step)
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, rank, 0, &sum, 1, MPI_DOUBLE, rank, 0, WORLD, IGNORED); /* here */
}

/* @unsuccessful polling: ranks=2 unsuccessful-polling */
PROGRAM(unsuccessful_polling) {
  int there;
  for (int step = 0; step < 800000; ++step) MPI_Iprobe(MPI_ANY_SOURCE, 7, WORLD, &there, IGNORED); /* here */
}

/* @large collective: ranks=2 large-collective */
PROGRAM(large_collective) {
  const int many = 1 << 24;
  char* all = malloc((size_t)many * (size_t)size);
  char* own = malloc((size_t)many);
  memset(own, 1, (size_t)many);
  for (int step = 0; step < 12; ++step) MPI_Allgather(own, many, MPI_CHAR, all, many, MPI_CHAR, WORLD); /* here */
  free(all);
  free(own);
}

/* @slow iterations: ranks=2 slow-iterations */
PROGRAM(slow_iterations) {
  for (int step = 0; step < 20; ++step) {
    compute(10);
    if (step % 8 == 4) compute(200);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* @load imbalance with a slow iteration: ranks=2 load-imbalance seconds=0.35 */
PROGRAM(load_imbalance_with_a_slow_iteration) {
  for (int step = 0; step < 50; ++step) {
    compute(rank == 1 ? 10 : 4);
    if (rank == 1 && step == 30) compute(50);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* @ended early: ranks=2 ended-early */
PROGRAM(ended_early) {
  compute(50);
  if (rank == 1) raise(SIGSEGV);
  MPI_Barrier(WORLD);
}

/* Rank 2 ends what would last for ever. */
/* @deadlock: ranks=3 deadlock */
PROGRAM(deadlock) {
  if (rank == 2) {
    compute(2000);
    MPI_Abort(WORLD, 3);
  }
  MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 0, WORLD, IGNORED); /* here */
}

/* No fault. */
/* @balanced: ranks=2 none */
PROGRAM(balanced) {
  for (int step = 0; step < 3; ++step) {
    compute(300);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  }
}

/* No fault. */
/* @neighbours: ranks=3 none */
PROGRAM(neighbours) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int step = 0; step < 3; ++step) {
    MPI_Irecv(&sum, 1, MPI_DOUBLE, left, 0, WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_DOUBLE, right, 0, WORLD, &requests[1]);
    compute(300);
    MPI_Waitall(2, requests, statuses);
  }
}

/* Rank 1 passes on at once what it gets, so rank 0 lets both wait.
 * @chain 16: ranks=16 late-sender cause=0 seconds=3.0
 * @chain: ranks=3 late-sender cause=0 named=1,2 seconds=0.4 */
PROGRAM(chain) {
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) compute(20);
    if (rank > 0) MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, 0, WORLD, IGNORED); /* here */
    if (rank + 1 < size) MPI_Send(&value, 1, MPI_DOUBLE, rank + 1, 0, WORLD);   /* cause */
  }
}

/* One rank is slow in one of a hundred iterations; all wait for it, most of them for a neighbour.
 * @rare: ranks=4 slow-iterations cause=2 seconds=0.9 gain=0.3 */
PROGRAM(rare) {
  for (int step = 0; step < 100; ++step) {
    compute(3);
    if (rank == 2 && step == 50) compute(300);
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, right, 0, &sum, 1, MPI_DOUBLE, left, 0, WORLD, IGNORED); /* here cause */
  }
}

/* @growing imbalance: ranks=4 slow-rank cause=1 named=1 seconds=1.14 trend=grows */
PROGRAM(growing_imbalance) {
  for (int step = 0; step < 20; ++step) {
    compute(rank == 1 ? 5 + 2 * step : 5);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* At -O2 its frame is left before MPI_Send begins. */
__attribute__((noinline)) static void write_out(void) {
  compute(15);
  MPI_Send(&value, 1, MPI_DOUBLE, right, 0, WORLD); /* cause */
}

/* A token is passed round so that one rank at a time writes; in between all compute alike.
 * @token: ranks=4 serialised seconds=0.54 */
PROGRAM(token) {
  for (int step = 0; step < 3; ++step) {
    compute(30);
    if (rank > 0) MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, 0, WORLD, IGNORED);  /* here */
    write_out();                                                                 /* cause */
    if (rank == 0) MPI_Recv(&value, 1, MPI_DOUBLE, size - 1, 0, WORLD, IGNORED); /* here */
    MPI_Barrier(WORLD);                                                          /* here */
  }
}

static void farm_of(int tasks, int slow_ms) {
  MPI_Status status;
  int task = 0, working = size - 1;
  if (rank == 0) {
    while (working > 0) {
      MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, WORLD, &status); /* here */
      working -= task >= tasks;
      MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, task < tasks, WORLD);
      ++task;
    }
    return;
  }
  while (1) {
    MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, WORLD); /* cause */
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &status);
    if (status.MPI_TAG == 0) return;
    compute(rank == size - 1 ? slow_ms : 5);
  }
}

/* The last rank needs far longer for a task, so the others have nothing to do at the end.
 * @slow worker: ranks=4 farm cause=3 */
PROGRAM(slow_worker) { farm_of(43, 150); }

/* Of two workers, too. There are always tasks left.
 * @slow of two: ranks=3 farm cause=2 */
PROGRAM(slow_of_two) { farm_of(60, 20); }

/* The master alone has nothing to do.
 * @farm: ranks=4 farm named=0 */
PROGRAM(farm) { farm_of(120, 5); }

/* @rendezvous: ranks=2 late-receiver cause=0 named=1 seconds=0.2 */
PROGRAM(rendezvous) {
  const int many = 1 << 22;
  char* data = calloc((size_t)many, 1);
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      compute(20);
      MPI_Recv(data, many, MPI_CHAR, 1, 0, WORLD, IGNORED); /* cause */
    } else {
      MPI_Send(data, many, MPI_CHAR, 0, 0, WORLD); /* here */
    }
  }
  free(data);
}

/* The receiver is late, but MPI buffers the messages.
 * @eager: ranks=2 none */
PROGRAM(eager) {
  for (int step = 0; step < 20; ++step) {
    if (rank == 0) {
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD);
      compute(20);
    } else {
      compute(20);
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, WORLD, IGNORED);
    }
  }
}

/* @early scan: ranks=3 early-scan cause=0 named=1,2 seconds=0.4 */
PROGRAM(early_scan) {
  for (int step = 0; step < 10; ++step) {
    compute(rank == 0 ? 30 : 10);
    MPI_Scan(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* Computes for as long as it takes on a processor of its own. */
static void work(int ms) {
  struct timespec now;
  const long until = clock() + ms * (CLOCKS_PER_SEC / 1000);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (clock() < until);
}

/* @oversubscribed: ranks=4 oversubscription */
PROGRAM(oversubscribed) {
  cpu_set_t two;
  CPU_ZERO(&two);
  CPU_SET(0, &two);
  CPU_SET(1, &two);
  sched_setaffinity(0, sizeof two, &two);
  for (int step = 0; step < 20; ++step) {
    work(25);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  }
}

/* Something stops rank 1 twice.
 * @stopped: ranks=2 slow-iterations cause=1 seconds=0.8 blocked=1 gain=0.8 */
PROGRAM(stopped) {
  for (int step = 0; step < 40; ++step) {
    work(10);
    if (rank == 1 && (step == 10 || step == 30)) {
      const pid_t self = getpid(), other = fork();
      if (other == 0) {
        kill(self, SIGSTOP);
        usleep(400000);
        kill(self, SIGCONT);
        _exit(0);
      }
      waitpid(other, NULL, 0);
    }
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
}

/* Rank 0 takes the messages in the order of the ranks, but rank 1 is the last to send.
 * @wrong order: ranks=4 wrong-order cause=1 */
PROGRAM(wrong_order) {
  for (int step = 0; step < 6; ++step) {
    if (rank != 0) {
      compute(rank == 1 ? 30 : 5);
      MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, WORLD); /* cause */
      compute(rank == 1 ? 45 : 70);
    }
    for (int from = 1; rank == 0 && from < size; ++from) {
      MPI_Recv(&value, 1, MPI_DOUBLE, from, 0, WORLD, IGNORED); /* here */
      compute(15);
    }
    MPI_Barrier(WORLD);
  }
}

/* A window of one number, and the group of the ranks but this one. */
static MPI_Win window;
static MPI_Group others;

static void open_window(void) {
  MPI_Group all;
  double* of_window;
  MPI_Win_allocate(sizeof value, sizeof value, MPI_INFO_NULL, WORLD, &of_window, &window);
  MPI_Comm_group(WORLD, &all);
  MPI_Group_excl(all, 1, &rank, &others);
  MPI_Group_free(&all);
}

static void close_window(void) {
  MPI_Group_free(&others);
  MPI_Win_free(&window);
}

/* @fence: ranks=3 slow-rank cause=1 named=1 seconds=0.4 */
PROGRAM(fence) {
  open_window();
  MPI_Win_fence(0, window);
  for (int step = 0; step < 10; ++step) {
    compute(rank == 1 ? 25 : 5);
    MPI_Put(&sum, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window); /* cause */
    MPI_Win_fence(0, window);                                      /* here */
  }
  close_window();
}

/* The origin waits for its target, in whichever call the library does so.
 * @late post: ranks=2 late-post cause=1 named=0 seconds=0.2 */
PROGRAM(late_post) {
  open_window();
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      MPI_Win_start(others, 0, window);                            /* here */
      MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window); /* here */
      MPI_Win_complete(window);                                    /* here */
    } else {
      compute(20);
      MPI_Win_post(others, 0, window); /* cause */
      MPI_Win_wait(window);
    }
  }
  close_window();
}

/* @early wait: ranks=3 early-wait cause=2 named=0 seconds=0.25 */
PROGRAM(early_wait) {
  const int zero = 0;
  MPI_Group all, first;
  open_window();
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, 1, &zero, &first);
  MPI_Group_free(&all);
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      MPI_Win_post(others, 0, window);
      MPI_Win_wait(window); /* here */
    } else {
      MPI_Win_start(first, 0, window);
      compute(rank == 2 ? 25 : 5);
      MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window); /* cause */
      MPI_Win_complete(window);
      if (rank == 1) compute(20);
    }
  }
  MPI_Group_free(&first);
  close_window();
}

/* The accesses are made early, but the epoch is completed late.
 * @late complete: ranks=2 late-complete cause=1 named=0 seconds=0.2 */
PROGRAM(late_complete) {
  open_window();
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      MPI_Win_post(others, 0, window);
      MPI_Win_wait(window); /* here */
    } else {
      MPI_Win_start(others, 0, window);
      MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
      compute(20);
      MPI_Win_complete(window); /* cause */
    }
  }
  close_window();
}

/* Rank 1 computes while it has a lock that rank 0 needs.
 * @lock contention: ranks=2 lock-contention cause=1 named=0 seconds=0.3 */
PROGRAM(lock_contention) {
  open_window();
  for (int step = 0; step < 10; ++step) {
    if (rank == 1) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
      MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, WORLD);
      compute(30);
      MPI_Win_unlock(1, window); /* cause */
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, WORLD, IGNORED);
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, WORLD, IGNORED);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);              /* here */
      MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window); /* here */
      MPI_Win_unlock(1, window);                                   /* here */
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD);
    }
  }
  close_window();
}

/* Epochs of all kinds in which nobody waits for long. No fault.
 * @even epochs: ranks=2 none */
PROGRAM(even_epochs) {
  open_window();
  for (int step = 0; step < 10; ++step) {
    compute(30);
    MPI_Win_post(others, 0, window);
    MPI_Win_start(others, 0, window);
    MPI_Put(&value, 1, MPI_DOUBLE, 1 - rank, 0, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
    MPI_Get(&value, 1, MPI_DOUBLE, 1 - rank, 0, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(1 - rank, window);
    MPI_Barrier(WORLD);
  }
  close_window();
}

/* Rank 0 sends many messages before rank 1 receives any. That looks for the last one now and then. */
static void flood(int messages, int backwards, int ms) {
  for (int i = 0; rank == 0 && i <= messages; ++i) MPI_Send(&value, 1, MPI_DOUBLE, 1, i, WORLD);
  for (int there = rank == 0; !there; usleep(200)) MPI_Iprobe(0, messages, WORLD, &there, IGNORED);
  if (rank == 1) MPI_Recv(&value, 1, MPI_DOUBLE, 0, messages, WORLD, IGNORED);
  for (int i = 0; rank == 1 && i < messages; ++i) {
    const int tag = backwards ? messages - 1 - i : i;
    MPI_Recv(&value, 1, MPI_DOUBLE, 0, tag, WORLD, IGNORED); /* here */
  }
  compute(ms);
  MPI_Barrier(WORLD);
}

/* Each receive has to look through all messages that are left. The next takes them in the order in which they came.
 * @unexpected messages: ranks=2 unexpected-messages named=1 */
PROGRAM(unexpected_messages) {
  compute(1500);
  flood(20000, 1, 0);
}

/* @messages in order: ranks=2 none */
PROGRAM(messages_in_order) {
  for (int step = 0; step < 5; ++step) flood(200, 0, 100);
}

/* @file: ranks=3 slow-rank cause=2 named=2 seconds=0.4 */
PROGRAM(file) {
  MPI_File out;
  char name[] = "/tmp/planted-XXXXXX";
  if (rank == 0) close(mkstemp(name));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, WORLD);
  MPI_File_open(WORLD, name, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &out);
  for (int step = 0; step < 10; ++step) {
    compute(rank == 2 ? 25 : 5);
    /* Strided, so that the library has to collect it. */
    MPI_File_write_at_all(out, (step * size + rank) * 8, &value, 1, MPI_DOUBLE, IGNORED); /* here cause */
  }
  MPI_File_close(&out);
}

/* @end: ranks=3 slow-rank cause=2 named=2 seconds=0.6 */
PROGRAM(end) {
  compute(100);
  if (rank == 2) compute(300);
}

/* @two causes: ranks=4 slow-rank cause=3 seconds=0.9 | late-sender cause=0 seconds=0.3 */
PROGRAM(two_causes) {
  for (int step = 0; step < 10; ++step) {
    compute(rank == 3 ? 35 : 5);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* here cause */
  }
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) compute(30);
    if (rank > 1) compute(30);
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, WORLD, IGNORED);
  }
}

/* A ring in which all wait for rank 1, most for a neighbour.
 * @ring: ranks=4 late-sender cause=1 seconds=0.9 */
PROGRAM(ring) {
  for (int step = 0; step < 12; ++step) {
    compute(rank == 1 ? 35 : 5);
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, right, 0, &sum, 1, MPI_DOUBLE, left, 0, WORLD, IGNORED); /* here cause */
  }
}

/* The same with requests, and a neighbour on either side.
 * @halo: ranks=4 late-sender cause=1 */
PROGRAM(halo) {
  for (int step = 0; step < 12; ++step) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    double in[2];
    MPI_Irecv(&in[0], 1, MPI_DOUBLE, left, 0, WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_DOUBLE, right, 1, WORLD, &requests[1]);
    compute(rank == 1 ? 35 : 5);
    MPI_Isend(&value, 1, MPI_DOUBLE, right, 0, WORLD, &requests[2]); /* cause */
    MPI_Isend(&value, 1, MPI_DOUBLE, left, 1, WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses); /* here */
  }
}

/* Rank 1 is late in its row, and so its row is late in its columns.
 * @rows and columns: ranks=4 slow-rank cause=1 seconds=0.9 */
PROGRAM(rows_and_columns) {
  MPI_Comm row, column;
  MPI_Comm_split(WORLD, rank / 2, rank, &row);
  MPI_Comm_split(WORLD, rank % 2, rank, &column);
  for (int step = 0; step < 10; ++step) {
    compute(rank == 1 ? 35 : 5);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, row);    /* here cause */
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, column); /* here */
  }
}

/* @probe: ranks=2 late-sender cause=0 named=1 seconds=0.3 */
PROGRAM(probe) {
  MPI_Status status;
  for (int step = 0; step < 10; ++step) {
    if (rank == 0) {
      compute(30);
      MPI_Send(&value, 1, MPI_DOUBLE, 1, step, WORLD); /* cause */
    } else {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status); /* here */
      MPI_Recv(&value, 1, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, WORLD, IGNORED);
    }
  }
}

/* Rank 1 polls for a message that is late.
 * @polled: ranks=2 late-sender cause=0 named=1 */
PROGRAM(polled) {
  for (int step = 0; step < 5; ++step) {
    if (rank == 0) {
      compute(60);
      MPI_Send(&value, 1, MPI_DOUBLE, 1, step, WORLD); /* cause */
    } else {
      MPI_Request request;
      int done = 0;
      MPI_Irecv(&value, 1, MPI_DOUBLE, 0, step, WORLD, &request);
      while (!done) MPI_Test(&request, &done, IGNORED); /* here */
    }
  }
}

/* The ranks take turns in work that overlaps: a pipeline that is filled. No fault.
 * @filled pipeline: ranks=3 none */
PROGRAM(filled_pipeline) {
  for (int step = 0; step < 60; ++step) {
    if (rank > 0) MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, 0, WORLD, IGNORED);
    compute(10);
    if (rank + 1 < size) MPI_Send(&value, 1, MPI_DOUBLE, rank + 1, 0, WORLD);
  }
}

/* No fault.
 * @alone: ranks=1 none */
PROGRAM(alone) {
  for (int step = 0; step < 5; ++step) {
    compute(50);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  }
}

/* Enough computing between messages that wait for nobody. No fault.
 * @ping pong: ranks=2 none */
PROGRAM(ping_pong) {
  for (int step = 0; step < 5; ++step) {
    compute(200);
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, WORLD);
    MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 0, WORLD, IGNORED);
    if (rank == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  run(argv[1]);
  MPI_Finalize();
  return 0;
}
