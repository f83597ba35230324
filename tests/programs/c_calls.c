/* c_calls: a known number of MPI calls of every kind, from known lines; 2 ranks; prints "ok".
 *
 * A comment "expect: FUNCTION calls=N bytes=B" says what the calls on its own line are: N and B in
 * each rank, or in the one given by rank=R; N+ is at least N; without bytes= they are not compared;
 * completes=B says how many bytes the receives have got that the call completed. "lookup" marks
 * functions that may be counted without a call site. Expectations of a function that the compiled
 * program does not refer to (MPI older than 4) do not count, nor those that say since=FUNCTION
 * where it does not refer to FUNCTION. tests/support/expectations.py reads them.
 */
// An expectation stands on the very line of its calls, so these lines stay as they are.
// clang-format off
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1000 };

static double out[CELLS], in[CELLS]; /* 8 bytes each */
static int rank, peer;

static void check(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "c_calls: wrong result: %s\n", what);
        exit(1);
    }
}

static void blocking(void)
{
    if (rank == 0) {
        for (int i = 0; i < 10; i++) MPI_Send(out, 100, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); /* expect: MPI_Send calls=10 bytes=8000 rank=0 */
        for (int i = 0; i < 3; i++) MPI_Ssend(out, 10, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); /* expect: MPI_Ssend calls=3 bytes=240 rank=0 */
        MPI_Recv(in, CELLS, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=1 bytes=400 rank=0 */
    } else {
        MPI_Status status;
        for (int i = 0; i < 10; i++) MPI_Recv(in, CELLS, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=10 bytes=8000 rank=1 */
        for (int i = 0; i < 3; i++) MPI_Recv(in, CELLS, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &status); /* expect: MPI_Recv calls=3 bytes=240 rank=1 */
        MPI_Send(out, 50, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); /* expect: MPI_Send calls=1 bytes=400 rank=1 */
    }
    for (int i = 0; i < 4; i++) MPI_Send(out, 100, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD); /* expect: MPI_Send calls=4 bytes=0 */
    MPI_Recv(in, 100, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=1 bytes=0 */
    for (int i = 0; i < 5; i++) MPI_Sendrecv(out, 10, MPI_DOUBLE, peer, 2, in, CELLS, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Sendrecv calls=5 bytes=400 */
    MPI_Sendrecv_replace(in, 20, MPI_DOUBLE, peer, 2, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Sendrecv_replace calls=1 bytes=160 */
    if (rank == 0) MPI_Send(out, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD); /* expect: MPI_Send calls=1 bytes=8 rank=0 */
    else MPI_Recv(in, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=1 bytes=8 rank=1 */
    static char attached[CELLS * sizeof(double) + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(attached, sizeof attached); /* expect: MPI_Buffer_attach calls=1 */
    MPI_Bsend(out, 12, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD); /* expect: MPI_Bsend calls=1 bytes=96 */
    MPI_Recv(in, CELLS, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=1 bytes=96 */
    MPI_Buffer_detach(&detached, &size); /* expect: MPI_Buffer_detach calls=1 */
}

static void nonblocking(void)
{
    MPI_Request requests[8];
    MPI_Status statuses[8];
    int index, indices[8], done, count;

    for (int i = 0; i < 4; i++) MPI_Irecv(in + 100 * i, 100, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &requests[i]); /* expect: MPI_Irecv calls=4 bytes=1600 */
    for (int i = 0; i < 4; i++) MPI_Isend(out, 50, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &requests[4 + i]); /* expect: MPI_Isend calls=4 bytes=1600 */
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE); /* expect: MPI_Waitall calls=1 bytes=0 completes=1600 */

    for (int i = 0; i < 2; i++) MPI_Irecv(in + 100 * i, 100, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &requests[i]); /* expect: MPI_Irecv calls=2 bytes=32 */
    for (int i = 0; i < 2; i++) MPI_Isend(out, 2, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &requests[2 + i]); /* expect: MPI_Isend calls=2 bytes=32 */
    for (int i = 0; i < 4; i++) MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE); /* expect: MPI_Waitany calls=4 bytes=0 completes=32 */

    MPI_Irecv(in, 100, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=24 */
    MPI_Issend(out, 3, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Issend calls=1 bytes=24 */
    for (int left = 2; left > 0; left -= count) MPI_Waitsome(2, requests, &count, indices, statuses); /* expect: MPI_Waitsome calls=1+ bytes=0 completes=24 */

    MPI_Irecv(in, 100, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=56 */
    MPI_Isend(out, 7, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Isend calls=1 bytes=56 */
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=1 bytes=0 */
    for (done = 0; !done;) MPI_Test(&requests[0], &done, &statuses[0]); /* expect: MPI_Test calls=1+ bytes=0 completes=56 */
    MPI_Get_count(&statuses[0], MPI_DOUBLE, &count); /* expect: MPI_Get_count calls=1 lookup */
    check(count == 7, "count of a received message");

    MPI_Irecv(in, 100, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=8 */
    MPI_Isend(out, 1, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Isend calls=1 bytes=8 */
    for (done = 0; !done;) MPI_Testall(2, requests, &done, statuses); /* expect: MPI_Testall calls=1+ bytes=0 completes=8 */

    MPI_Irecv(in, 100, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=16 */
    MPI_Isend(out, 2, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Isend calls=1 bytes=16 */
    for (int left = 2; left > 0; left -= done) MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE); /* expect: MPI_Testany calls=2+ bytes=0 completes=16 */

    MPI_Irecv(in, 100, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=8 */
    MPI_Isend(out, 1, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Isend calls=1 bytes=8 */
    for (int left = 2; left > 0; left -= count) MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE); /* expect: MPI_Testsome calls=1+ bytes=0 completes=8 */

    MPI_Irecv(in, 100, MPI_DOUBLE, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=0 */
    MPI_Wait(&requests[0], &statuses[0]); /* expect: MPI_Wait calls=1 bytes=0 */
    MPI_Irecv(in, 100, MPI_DOUBLE, peer, 99, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Irecv calls=1 bytes=0 */
    MPI_Cancel(&requests[0]); /* expect: MPI_Cancel calls=1 */
    MPI_Wait(&requests[0], &statuses[0]); /* expect: MPI_Wait calls=1 bytes=0 */
    MPI_Isend(out, 1, MPI_DOUBLE, peer, 10, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Isend calls=1 bytes=8 */
    MPI_Request_free(&requests[0]); /* expect: MPI_Request_free calls=1 */
    MPI_Recv(in, 1, MPI_DOUBLE, peer, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=1 bytes=8 */
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(in, 100, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Recv_init calls=1 */
    MPI_Send_init(out, 25, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Send_init calls=1 */
    for (int i = 0; i < 6; i++) {
        MPI_Startall(2, requests); /* expect: MPI_Startall calls=6 */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* expect: MPI_Waitall calls=6 bytes=0 completes=1200 */
    }
    for (int i = 0; i < 2; i++) MPI_Start(&requests[i]); /* expect: MPI_Start calls=2 */
    for (int i = 0; i < 2; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=2 bytes=0 completes=200 */
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]); /* expect: MPI_Request_free calls=2 */
}

static void probes(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int found;
    for (int i = 0; i < 4; i++) MPI_Isend(out, 30, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &request), MPI_Request_free(&request); /* expect: MPI_Isend calls=4 bytes=960; MPI_Request_free calls=4 */
    MPI_Probe(peer, 0, MPI_COMM_WORLD, &status); /* expect: MPI_Probe calls=1 */
    MPI_Recv(in, CELLS, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &status); /* expect: MPI_Recv calls=1 bytes=240 */
    for (found = 0; !found;) MPI_Iprobe(peer, 1, MPI_COMM_WORLD, &found, &status); /* expect: MPI_Iprobe calls=1+ */
    MPI_Recv(in, CELLS, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &status); /* expect: MPI_Recv calls=1 bytes=240 */
    MPI_Mprobe(peer, 2, MPI_COMM_WORLD, &message, &status); /* expect: MPI_Mprobe calls=1 */
    MPI_Mrecv(in, CELLS, MPI_DOUBLE, &message, &status); /* expect: MPI_Mrecv calls=1 bytes=240 */
    for (found = 0; !found;) MPI_Improbe(peer, 3, MPI_COMM_WORLD, &found, &message, &status); /* expect: MPI_Improbe calls=1+ */
    MPI_Imrecv(in, CELLS, MPI_DOUBLE, &message, &request); /* expect: MPI_Imrecv calls=1 bytes=240 */
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=1 bytes=0 completes=240 */
}

static void collectives(void)
{
    int counts[2] = {30, 30}, displacements[2] = {0, 30};
    for (int i = 0; i < 7; i++) MPI_Barrier(MPI_COMM_WORLD); /* expect: MPI_Barrier calls=7 bytes=0 */
    for (int i = 0; i < 5; i++) MPI_Bcast(in, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* expect: MPI_Bcast calls=5 bytes=400 */
    for (int i = 0; i < 3; i++) MPI_Allreduce(out, in, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Allreduce calls=3 bytes=96 */
    MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Allreduce calls=1 bytes=32 */
    MPI_Reduce(out, in, 6, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD); /* expect: MPI_Reduce calls=1 bytes=48 */
    MPI_Gather(out, 20, MPI_DOUBLE, in, 20, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* expect: MPI_Gather calls=1 bytes=160 */
    MPI_Gatherv(out, 30, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* expect: MPI_Gatherv calls=1 bytes=240 */
    MPI_Scatter(out, 20, MPI_DOUBLE, in, 20, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* expect: MPI_Scatter calls=1 bytes=320 rank=0; MPI_Scatter calls=1 bytes=160 rank=1 */
    MPI_Scatterv(out, counts, displacements, MPI_DOUBLE, in, 30, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* expect: MPI_Scatterv calls=1 bytes=480 rank=0; MPI_Scatterv calls=1 bytes=240 rank=1 */
    MPI_Allgather(out, 11, MPI_DOUBLE, in, 11, MPI_DOUBLE, MPI_COMM_WORLD); /* expect: MPI_Allgather calls=1 bytes=88 */
    MPI_Allgatherv(out, 30, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD); /* expect: MPI_Allgatherv calls=1 bytes=240 */
    MPI_Alltoall(out, 13, MPI_DOUBLE, in, 13, MPI_DOUBLE, MPI_COMM_WORLD); /* expect: MPI_Alltoall calls=1 bytes=208 */
    MPI_Alltoallv(out, counts, displacements, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD); /* expect: MPI_Alltoallv calls=1 bytes=480 */
    MPI_Scan(out, in, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Scan calls=1 bytes=40 */
    MPI_Exscan(out, in, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Exscan calls=1 bytes=40 */
    MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Reduce_scatter calls=1 bytes=480 */
    MPI_Reduce_scatter_block(out, in, 30, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Reduce_scatter_block calls=1 bytes=480 */
    MPI_Reduce_local(out, in, 3, MPI_DOUBLE, MPI_SUM); /* expect: MPI_Reduce_local calls=1 */
}

static void nonblocking_collectives(void)
{
    static double in2[CELLS], in3[CELLS], in4[CELLS], in5[CELLS];
    MPI_Request requests[6];
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]); /* expect: MPI_Ibarrier calls=1 bytes=0 */
    MPI_Ibcast(in, 10, MPI_DOUBLE, 1, MPI_COMM_WORLD, &requests[1]); /* expect: MPI_Ibcast calls=1 bytes=80 */
    MPI_Iallreduce(out, in2, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[2]); /* expect: MPI_Iallreduce calls=1 bytes=32 */
    MPI_Iallgather(out, 11, MPI_DOUBLE, in3, 11, MPI_DOUBLE, MPI_COMM_WORLD, &requests[3]); /* expect: MPI_Iallgather calls=1 bytes=88 */
    MPI_Ialltoall(out, 13, MPI_DOUBLE, in4, 13, MPI_DOUBLE, MPI_COMM_WORLD, &requests[4]); /* expect: MPI_Ialltoall calls=1 bytes=208 */
    MPI_Ireduce(out, in5, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &requests[5]); /* expect: MPI_Ireduce calls=1 bytes=16 */
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE); /* expect: MPI_Waitall calls=1 bytes=0 */
}

static void datatypes(void)
{
    MPI_Datatype row, column, both;
    int lengths[2] = {1, 1}, position = 0, size;
    MPI_Aint addresses[2];
    char packed[256];
    MPI_Type_contiguous(3, MPI_DOUBLE, &row); /* expect: MPI_Type_contiguous calls=1 */
    MPI_Type_vector(4, 2, 10, MPI_DOUBLE, &column); /* expect: MPI_Type_vector calls=1 */
    MPI_Type_commit(&row); /* expect: MPI_Type_commit calls=1 */
    MPI_Type_commit(&column); /* expect: MPI_Type_commit calls=1 */
    for (int i = 0; i < 2; i++) MPI_Get_address(out + 50 * i, &addresses[i]); /* expect: MPI_Get_address calls=2 lookup */
    addresses[1] -= addresses[0], addresses[0] = 0;
    MPI_Type_create_struct(2, lengths, addresses, (MPI_Datatype[]){row, column}, &both); /* expect: MPI_Type_create_struct calls=1 */
    MPI_Type_commit(&both); /* expect: MPI_Type_commit calls=1 */
    for (int i = 0; i < 5; i++) MPI_Type_size(both, &size); /* expect: MPI_Type_size calls=5 lookup */
    check(size == 11 * 8, "size of a derived type");
    MPI_Sendrecv(out, 5, row, peer, 1, in, 3 * 5, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Sendrecv calls=1 bytes=120 */
    MPI_Sendrecv(out, 2, column, peer, 1, in, 2, column, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Sendrecv calls=1 bytes=128 */
    if (rank == 0) MPI_Send(out, 1, both, peer, 1, MPI_COMM_WORLD); /* expect: MPI_Send calls=1 bytes=88 rank=0 */
    else MPI_Recv(in, 11, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv calls=1 bytes=88 rank=1 */
    MPI_Pack(out, 2, row, packed, sizeof packed, &position, MPI_COMM_WORLD); /* expect: MPI_Pack calls=1 */
    MPI_Bcast(packed, position, MPI_PACKED, 0, MPI_COMM_WORLD); /* expect: MPI_Bcast calls=1 bytes=48 */
    position = 0;
    MPI_Unpack(packed, sizeof packed, &position, in, 2, row, MPI_COMM_WORLD); /* expect: MPI_Unpack calls=1 */
    MPI_Type_free(&both); /* expect: MPI_Type_free calls=1 */
    MPI_Type_free(&column); /* expect: MPI_Type_free calls=1 */
    MPI_Type_free(&row); /* expect: MPI_Type_free calls=1 */
}

static void communicators(void)
{
    MPI_Comm copy, alone, later, ring, bridge, merged;
    MPI_Group world, first;
    MPI_Request request;
    int size, dimensions[1] = {2}, periodic[1] = {1}, zero = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* expect: MPI_Comm_dup calls=1 */
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone); /* expect: MPI_Comm_split calls=1 */
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &request); /* expect: MPI_Comm_idup calls=1 */
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=1 bytes=0 */
    MPI_Comm_set_name(copy, "a copy"); /* expect: MPI_Comm_set_name calls=1 lookup */
    MPI_Comm_size(alone, &size); /* expect: MPI_Comm_size calls=1 lookup */
    check(size == 1, "size of a split communicator");
    MPI_Allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, alone); /* expect: MPI_Allgather calls=1 bytes=16 */
    MPI_Alltoall(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, alone); /* expect: MPI_Alltoall calls=1 bytes=24 */
    MPI_Bcast(in, 2, MPI_DOUBLE, 0, later); /* expect: MPI_Bcast calls=1 bytes=16 */
    MPI_Cart_create(copy, 1, dimensions, periodic, 0, &ring); /* expect: MPI_Cart_create calls=1 */
    MPI_Neighbor_allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring); /* expect: MPI_Neighbor_allgather calls=1 */
    MPI_Intercomm_create(alone, 0, copy, peer, 5, &bridge); /* expect: MPI_Intercomm_create calls=1 */
    MPI_Sendrecv(out, 1, MPI_DOUBLE, 0, 1, in, 1, MPI_DOUBLE, 0, 1, bridge, MPI_STATUS_IGNORE); /* expect: MPI_Sendrecv calls=1 bytes=8 */
    MPI_Intercomm_merge(bridge, rank, &merged); /* expect: MPI_Intercomm_merge calls=1 */
    MPI_Barrier(merged); /* expect: MPI_Barrier calls=1 bytes=0 */
    MPI_Comm_group(MPI_COMM_WORLD, &world); /* expect: MPI_Comm_group calls=1 lookup */
    MPI_Group_incl(world, 1, &zero, &first); /* expect: MPI_Group_incl calls=1 lookup */
    MPI_Group_free(&first); /* expect: MPI_Group_free calls=1 lookup */
    MPI_Group_free(&world); /* expect: MPI_Group_free calls=1 lookup */
    MPI_Comm_free(&merged); /* expect: MPI_Comm_free calls=1 */
    MPI_Comm_free(&bridge); /* expect: MPI_Comm_free calls=1 */
    MPI_Comm_free(&ring); /* expect: MPI_Comm_free calls=1 */
    MPI_Comm_free(&later); /* expect: MPI_Comm_free calls=1 */
    MPI_Comm_free(&alone); /* expect: MPI_Comm_free calls=1 */
    MPI_Comm_free(&copy); /* expect: MPI_Comm_free calls=1 */
}

static void one_sided(void)
{
    double *window_memory;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_allocate(CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window); /* expect: MPI_Win_allocate calls=1 */
    MPI_Win_fence(0, window); /* expect: MPI_Win_fence calls=1 */
    for (int i = 0; i < 3; i++) MPI_Put(out, 40, MPI_DOUBLE, peer, 0, 40, MPI_DOUBLE, window); /* expect: MPI_Put calls=3 bytes=960 */
    MPI_Win_fence(0, window); /* expect: MPI_Win_fence calls=1 */
    MPI_Get(in, 20, MPI_DOUBLE, peer, 100, 20, MPI_DOUBLE, window); /* expect: MPI_Get calls=1 bytes=160 */
    MPI_Accumulate(out, 10, MPI_DOUBLE, peer, 200, 10, MPI_DOUBLE, MPI_SUM, window); /* expect: MPI_Accumulate calls=1 bytes=80 */
    MPI_Win_fence(0, window); /* expect: MPI_Win_fence calls=1 */
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, window); /* expect: MPI_Win_lock calls=1 */
    MPI_Rput(out, 5, MPI_DOUBLE, peer, 300, 5, MPI_DOUBLE, window, &request); /* expect: MPI_Rput calls=1 bytes=40 */
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=1 bytes=0 */
    MPI_Win_flush(peer, window); /* expect: MPI_Win_flush calls=1 */
    MPI_Fetch_and_op(out, in, MPI_DOUBLE, peer, 400, MPI_SUM, window); /* expect: MPI_Fetch_and_op calls=1 bytes=8 */
    MPI_Win_unlock(peer, window); /* expect: MPI_Win_unlock calls=1 */
    MPI_Win_free(&window); /* expect: MPI_Win_free calls=1 */
}

static void files(const char *path)
{
    MPI_File file;
    MPI_Request request;
    MPI_Offset size, place = rank * 4096;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file); /* expect: MPI_File_open calls=1 */
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); /* expect: MPI_File_set_view calls=1 */
    for (int i = 0; i < 4; i++) MPI_File_write_at(file, place + 800 * i, out, 100, MPI_DOUBLE, MPI_STATUS_IGNORE); /* expect: MPI_File_write_at calls=4 bytes=3200 */
    MPI_File_write_at_all(file, place, out, 100, MPI_DOUBLE, MPI_STATUS_IGNORE); /* expect: MPI_File_write_at_all calls=1 bytes=800 */
    MPI_File_iwrite_at(file, place, out, 10, MPI_DOUBLE, &request); /* expect: MPI_File_iwrite_at calls=1 bytes=80 */
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=1 bytes=0 */
    MPI_File_read_at(file, place, in, 50, MPI_DOUBLE, MPI_STATUS_IGNORE); /* expect: MPI_File_read_at calls=1 bytes=400 */
    MPI_File_get_size(file, &size); /* expect: MPI_File_get_size calls=1 lookup */
    MPI_File_close(&file); /* expect: MPI_File_close calls=1 */
}

static void version_4(void)
{
#if MPI_VERSION >= 4
    MPI_Request requests[2];
    MPI_Count counts[2] = {30, 30};
    MPI_Aint displacements[2] = {0, 30};
    for (int i = 0; i < 3; i++) MPI_Irecv_c(in, 100, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[0]), MPI_Send_c(out, 10, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD), MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* expect: MPI_Irecv_c calls=3 bytes=240; MPI_Send_c calls=3 bytes=240; MPI_Wait calls=3 bytes=0 completes=240 since=MPI_Send_c */
    if (rank == 0) MPI_Recv_c(in, 100, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Recv_c calls=1 bytes=56 rank=0 */
    else MPI_Ssend_c(out, 7, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); /* expect: MPI_Ssend_c calls=1 bytes=56 rank=1 */
    MPI_Bcast_c(in, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* expect: MPI_Bcast_c calls=1 bytes=80 */
    MPI_Allreduce_c(out, in, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* expect: MPI_Allreduce_c calls=1 bytes=32 */
    MPI_Alltoallv_c(out, counts, displacements, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD); /* expect: MPI_Alltoallv_c calls=1 bytes=480 */
    MPI_Allreduce_init(out, in, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]); /* expect: MPI_Allreduce_init calls=1 */
    for (int i = 0; i < 2; i++) MPI_Start(&requests[0]), MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* expect: MPI_Start calls=2 since=MPI_Allreduce_init; MPI_Wait calls=2 bytes=0 since=MPI_Allreduce_init */
    MPI_Request_free(&requests[0]); /* expect: MPI_Request_free calls=1 since=MPI_Allreduce_init */
    if (rank == 0) MPI_Psend_init(out, 2, 10, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]); /* expect: MPI_Psend_init calls=1 rank=0 */
    else MPI_Precv_init(in, 2, 10, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]); /* expect: MPI_Precv_init calls=1 rank=1 */
    MPI_Start(&requests[0]); /* expect: MPI_Start calls=1 since=MPI_Psend_init */
    if (rank == 0) for (int i = 0; i < 2; i++) MPI_Pready(i, requests[0]); /* expect: MPI_Pready calls=2 rank=0 */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* expect: MPI_Wait calls=1 since=MPI_Psend_init */
    MPI_Request_free(&requests[0]); /* expect: MPI_Request_free calls=1 since=MPI_Psend_init */
#endif
}

int main(int argc, char **argv)
{
    int size;
    char path[4096];
    double start;
    MPI_Init(&argc, &argv); /* expect: MPI_Init calls=1 */
    for (int i = 0; i < 6; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* expect: MPI_Comm_rank calls=6 lookup */
    MPI_Comm_size(MPI_COMM_WORLD, &size); /* expect: MPI_Comm_size calls=1 lookup */
    for (int i = 0; i < 9; i++) start = MPI_Wtime(); /* expect: MPI_Wtime calls=9 lookup */
    check(size == 2 && start > 0, "not 2 ranks");
    peer = 1 - rank;
    snprintf(path, sizeof path, "%s.data", argv[0]);
    blocking();
    nonblocking();
    persistent();
    probes();
    collectives();
    nonblocking_collectives();
    datatypes();
    communicators();
    one_sided();
    files(path);
    version_4();
    if (rank == 0) printf("ok\n");
    MPI_Finalize(); /* expect: MPI_Finalize calls=1 */
    return 0;
}
