/* received: four ranks use every collective that puts in and takes out; prints "ok", and whether
   persistent ones are among them. In the comments: the bytes that each rank receives beside what it puts in; "-":
   nothing. */
#include <mpi.h>
#include <stdio.h>

enum { n = 4 };
static int rank;
static int out[400], in[400];
static int counts[n], displacements[n];
static int theirs[n]; /* counts of what others send here */
static MPI_Datatype types[n];

static void intracommunicator(MPI_Comm c) {
  MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, c);                                            /* 12 12 12 12 */
  MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, c);                                   /* 12 12 12 12 */
  MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, c);                                                 /* 8 8 8 8 */
  MPI_Exscan(out, in, 2, MPI_INT, MPI_SUM, c);                                               /* - 8 8 8 */
  MPI_Reduce(out, in, 5, MPI_INT, MPI_SUM, 1, c);                                            /* - 20 - - */
  MPI_Bcast(in, 5, MPI_INT, 1, c);                                                           /* - - - - */
  MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, 2, c);                                         /* - - 32 - */
  MPI_Gather(rank == 2 ? MPI_IN_PLACE : (void*)out, 2, MPI_INT, in, 2, MPI_INT, 2, c);       /* - - 32 - */
  MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, 3, c);             /* - - - 40 */
  MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, 0, c);                                        /* 8 - - - */
  MPI_Scatter(out, 2, MPI_INT, rank == 0 ? MPI_IN_PLACE : (void*)in, 2, MPI_INT, 0, c);      /* - - - - */
  MPI_Scatterv(out, counts, displacements, MPI_INT, in, rank + 1, MPI_INT, 3, c);            /* - - - 16 */
  MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, c);                                         /* 32 32 32 32 */
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, c);                      /* 32 32 32 32 */
  MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, c);             /* 40 40 40 40 */
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c);                                          /* 16 16 16 16 */
  MPI_Alltoallv(out, counts, displacements, MPI_INT, in, theirs, displacements, MPI_INT, c); /* 16 32 48 64 */
  MPI_Alltoallw(out, counts, displacements, types, in, theirs, displacements, types, c);     /* 16 32 48 64 */
  MPI_Reduce_scatter_block(out, in, 3, MPI_INT, MPI_SUM, c);                                 /* 12 12 12 12 */
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, c);                                  /* 4 8 12 16 */
}

static void nonblocking(MPI_Comm c) {
  MPI_Request request;
  MPI_Iallgather(out, 2, MPI_INT, in, 2, MPI_INT, c, &request); /* 32 32 32 32 */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ireduce(out, in, 5, MPI_INT, MPI_SUM, 1, c, &request); /* - 20 - - */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Each rank receives from rank 0 alone, which receives from all others. */
static void neighbours(void) {
  MPI_Comm star;
  static const int everyone[n] = {0, 1, 2, 3}, hub[1] = {0};
  const int degree = rank == 0 ? n : 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, rank == 0 ? everyone : hub, MPI_UNWEIGHTED,
                                 rank == 0 ? n : 1, rank == 0 ? everyone : hub, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
  static const int twos[n] = {2, 2, 2, 2};
  static const MPI_Aint places[n] = {0};
  MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, star);                                /* 32 8 8 8 */
  MPI_Neighbor_allgatherv(out, 2, MPI_INT, in, twos, displacements, MPI_INT, star);             /* 32 8 8 8 */
  MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, star);                                 /* 32 8 8 8 */
  MPI_Neighbor_alltoallv(out, twos, displacements, MPI_INT, in, twos, displacements, MPI_INT, star); /* 32 8 8 8 */
  MPI_Neighbor_alltoallw(out, twos, places, types, in, twos, places, types, star);              /* 32 8 8 8 */
  MPI_Comm_free(&star);
}

/* The neighbours of the first and the last rank on one side are MPI_PROC_NULL. */
static void line(void) {
  MPI_Comm grid;
  static const int length[1] = {n}, periodic[1] = {0}, twos[2] = {2, 2};
  static const MPI_Aint places[2] = {0, 8};
  MPI_Cart_create(MPI_COMM_WORLD, 1, length, periodic, 0, &grid);
  MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, grid);                   /* 8 16 16 8 */
  MPI_Neighbor_alltoallw(out, twos, places, types, in, twos, places, types, grid); /* 8 16 16 8 */
  MPI_Comm_free(&grid);
}

/* Ranks 0 and 2, and ranks 1 and 3. */
static void intercommunicator(void) {
  MPI_Comm half, bridge;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &bridge);
  const int root = rank == 0 ? MPI_ROOT : rank == 2 ? MPI_PROC_NULL : 0;
  MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, bridge);        /* 16 16 16 16 */
  MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, bridge);         /* 24 24 24 24 */
  MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, root, bridge);     /* - - - - */
  MPI_Reduce(out, in, 5, MPI_INT, MPI_SUM, root, bridge);        /* - - - - */
  MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, bridge);           /* 12 12 12 12 */
  MPI_Comm_free(&bridge);
  MPI_Comm_free(&half);
}

#if MPI_VERSION >= 4
static const char* const with = "ok, persistent too";
static void persistent(MPI_Comm c) {
  MPI_Request requests[2];
  MPI_Allreduce_init(out, in, 3, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &requests[0]);
  MPI_Reduce_init(out, in + 50, 5, MPI_INT, MPI_SUM, 1, c, MPI_INFO_NULL, &requests[1]);
  MPI_Start(&requests[0]); /* 12 12 12 12 */
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Start(&requests[1]); /* - 20 - - */
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Startall(2, requests); /* 12 32 12 12 */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Gatherv_init(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, 3, c, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(in, 5, MPI_INT, 1, c, MPI_INFO_NULL, &requests[1]);
  MPI_Start(&requests[0]); /* - - - 40 */
  MPI_Start(&requests[1]); /* - - - - */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
#else
static const char* const with = "ok";
static void persistent(MPI_Comm c) { (void)c; }
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < n; i++) {
    counts[i] = i + 1;
    theirs[i] = rank + 1;
    displacements[i] = 50 * i;
    types[i] = MPI_INT;
  }
  intracommunicator(MPI_COMM_WORLD);
  nonblocking(MPI_COMM_WORLD);
  persistent(MPI_COMM_WORLD);
  neighbours();
  line();
  intercommunicator();
  MPI_Finalize();
  if (rank == 0) puts(with);
  return 0;
}
