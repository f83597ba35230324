/* communicators: makes communicators of every kind on 4 ranks, names each, and uses each; prints "ok".
   communicators threads: two threads make communicators of the same members at the same time, in different orders. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

/* One MPI_Ibarrier on it: all members of an intercommunicator can do that in any order. */
static void use(MPI_Comm comm, const char* name) {
  MPI_Request request;
  MPI_Comm_set_name(comm, name);
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void use_in_any_order(MPI_Comm first, MPI_Comm second) {
  MPI_Request requests[2];
  MPI_Ibarrier(rank % 2 ? second : first, &requests[rank % 2]);
  MPI_Ibarrier(rank % 2 ? first : second, &requests[1 - rank % 2]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  use(first, "idup 1");
  use(second, "idup 2");
}

static void duplicates(void) {
  MPI_Comm one, two, again[2];
  MPI_Request requests[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  use(one, "dup 1");
  MPI_Comm_dup(MPI_COMM_WORLD, &two);
  MPI_Comm_free(&one);
  use(two, "dup 2");
  MPI_Comm_idup(two, &again[0], &requests[0]);
  MPI_Comm_idup(two, &again[1], &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  use_in_any_order(again[0], again[1]);
  MPI_Comm_free(&again[0]);
  MPI_Comm_free(&again[1]);
  MPI_Comm_free(&two);
}

/* Of ranks 1 to 3: rank 0 takes no part. */
static void groups(void) {
  static const int members[] = {1, 2, 3};
  MPI_Group world, three;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 3, members, &three);
  if (rank != 0) {
    MPI_Comm_create_group(MPI_COMM_WORLD, three, 5, &comm);
    use(comm, "create_group 5");
    MPI_Comm_free(&comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, three, 5, &comm);
    use(comm, "create_group 5 again");
    MPI_Comm_free(&comm);
  }
  MPI_Comm_create(MPI_COMM_WORLD, three, &comm);
  if (comm != MPI_COMM_NULL) {
    use(comm, "create");
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&three);
  MPI_Group_free(&world);
}

static void reversed(void) {
  MPI_Comm comm;
  MPI_Request request;
  int value = 0;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  use(comm, "reversed");
  if (rank == 3) { /* rank 0 of it */
    MPI_Send(&value, 1, MPI_INT, 1, 7, comm);
  } else if (rank == 2) {
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&comm);
}

static void intercommunicators(void) {
  MPI_Comm half, inter, merged;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  use(half, rank % 2 ? "odd" : "even");
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
  use(inter, "inter");
  if (rank == 0)
    MPI_Send(&rank, 1, MPI_INT, 1, 8, inter); /* to rank 3 of the world */
  else if (rank == 3)
    MPI_Recv(&rank, 1, MPI_INT, 0, 8, inter, MPI_STATUS_IGNORE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Intercomm_merge(inter, rank % 2, &merged);
  use(merged, "merged");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void topologies(void) {
  static const int dims[] = {2, 2}, periods[] = {0, 0}, columns[] = {1, 0};
  MPI_Comm cart, column;
  MPI_Comm_set_name(MPI_COMM_SELF, "self");
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  use(cart, "cart");
  MPI_Cart_sub(cart, columns, &column);
  use(column, "column");
  use(MPI_COMM_SELF, "self");
  MPI_Comm_free(&column);
  MPI_Comm_free(&cart);
}

static MPI_Comm parents[2], children[2];

static void* make_child(void* which) {
  const int i = *(int*)which;
  if (rank % 2 == i) usleep(50000);
  MPI_Comm_dup(parents[i], &children[i]);
  use(children[i], i == 0 ? "child 0" : "child 1");
  return NULL;
}

static void threads(void) {
  static int which[] = {0, 1};
  pthread_t thread;
  for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
  pthread_create(&thread, NULL, make_child, &which[0]);
  make_child(&which[1]);
  pthread_join(thread, NULL);
  for (int i = 0; i < 2; i++) MPI_Comm_free(&parents[i]);
  for (int i = 0; i < 2; i++) MPI_Comm_free(&children[i]);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    threads();
  } else {
    duplicates();
    groups();
    reversed();
    intercommunicators();
    topologies();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("ok\n");
  return 0;
}
