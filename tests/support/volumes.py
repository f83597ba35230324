"""A program of one call of nearly every function, and the bytes that each rank moves by it.

A case is a call in C, written for 3 ranks, and its bytes by rank (docs/bytes.md). Each becomes one line of a
program, in all forms that the MPI library has: blocking, non-blocking (`MPI_Ibcast`), persistent
(`MPI_Bcast_init`, whose bytes are those of `MPI_Start`), and of these the large-count ones (`MPI_Bcast_c`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

RANKS = 3
Volume = int | tuple[int, int, int]

# In the arguments, names in braces are arrays of counts or displacements; large-count forms have theirs.
# `a` is sent, `b` received; `pair` is 16 bytes with a gap between and behind them.
PREAMBLE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { CELLS = 600 };
static double a[CELLS], b[CELLS];
static char packed[4096];
static int rank, to, from, position, found, expected_by = 1;
static MPI_Datatype dense_pair, pair;
static MPI_Request request, receive, both[2];
static MPI_Aint wide_position;
static MPI_Message message;
static MPI_Comm bridge, ring, line, star, web;
static MPI_Win window;
static MPI_File file;
static int counts[3] = {1, 2, 3}, displs[3] = {0, 1, 3};            /* rank r has r + 1 */
static int each[3], each_displs[3], each_bytes[3];                   /* rank + i + 1, symmetric */
static int across[2], across_displs[2], across_bytes[2];             /* for the other group of bridge */
static int halves[2], ring_send[2] = {1, 2}, ring_receive[2] = {2, 1}, ring_counts[2], two_displs[2] = {0, 3};
static MPI_Aint ring_bytes[2];
static MPI_Datatype types[3], pairs[3];
#if MPI_VERSION >= 4
static MPI_Count counts_c[3], each_c[3], across_c[2], halves_c[2];
static MPI_Count ring_send_c[2], ring_receive_c[2], ring_counts_c[2], position_c;
static MPI_Aint displs_c[3], each_displs_c[3], each_bytes_c[3];
static MPI_Aint across_displs_c[2], across_bytes_c[2], two_displs_c[2];
#endif
static int root_left, root_right; /* of bridge: rank 0, rank 1 */

static void set_up(const char* path) {
  int neighbours[2], index[3] = {2, 3, 4}, edges[4] = {1, 2, 0, 0}, three = 3, yes = 1, no = 0, degree, n = 0;
  double* memory;
  MPI_Comm side;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &dense_pair);
  MPI_Type_create_resized(dense_pair, 0, 4 * sizeof(double), &pair);
  MPI_Type_commit(&pair);
  to = (rank + 1) % 3, from = (rank + 2) % 3;
  for (int i = 0; i < 3; i++) {
    each[i] = rank + i + 1, each_displs[i] = n, each_bytes[i] = n * 32, n += each[i];
    types[i] = (rank + i) % 2 ? pair : MPI_DOUBLE, pairs[i] = pair;
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 3, &bridge);
  across[0] = rank == 2 ? 2 : 1, across[1] = 2, across_displs[1] = 1, across_bytes[1] = 32;
  halves[0] = rank == 0 ? 3 : 1, halves[1] = 2;
  root_left = rank == 0 ? MPI_ROOT : 0;
  root_right = rank == 1 ? MPI_ROOT : rank == 2 ? MPI_PROC_NULL : 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &three, &yes, 0, &ring);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &three, &no, 0, &line);
  ring_counts[0] = from + 1, ring_counts[1] = to + 1, ring_bytes[1] = 96;
  MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 0, &web);
  degree = rank == 0 ? 2 : 1, neighbours[0] = rank == 0 ? 1 : 0, neighbours[1] = 2;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, neighbours, MPI_UNWEIGHTED, degree, neighbours,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
  MPI_Win_allocate(CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  MPI_Buffer_attach(malloc(1 << 16), 1 << 16);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_write_at(file, 8192 * rank, packed, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
  for (int i = 0; i < 3; i++) {
    counts_c[i] = counts[i], displs_c[i] = displs[i], each_c[i] = each[i], each_displs_c[i] = each_displs[i];
    each_bytes_c[i] = each_bytes[i];
  }
  for (int i = 0; i < 2; i++) {
    across_c[i] = across[i], across_displs_c[i] = across_displs[i], across_bytes_c[i] = across_bytes[i];
    halves_c[i] = halves[i], ring_send_c[i] = ring_send[i], ring_receive_c[i] = ring_receive[i];
    ring_counts_c[i] = ring_counts[i], two_displs_c[i] = two_displs[i];
  }
#endif
}

static void end(void) {
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_File_close(&file);
  MPI_Type_free(&pair);
  MPI_Type_free(&dense_pair);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
}

int main(int argc, char** argv) {
  char path[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s.data", argv[0]);
  set_up(path);
"""


@dataclass(frozen=True)
class Case:
    """A call `name(arguments)`; `prepare` and `finish` are statements before and behind it."""

    name: str
    arguments: str
    volume: Volume
    prepare: str = ""
    finish: str = ""


W = "MPI_COMM_WORLD"
OWN = (16, 32, 48)  # counts of pairs

COLLECTIVES = [
    Case("Barrier", W, 0),
    Case("Bcast", f"b, 2, pair, 1, {W}", 32),
    Case("Reduce", f"a, b, 5, MPI_DOUBLE, MPI_SUM, 1, {W}", 40),
    Case("Reduce", f"rank == 1 ? MPI_IN_PLACE : a, b, 5, MPI_DOUBLE, MPI_SUM, 1, {W}", 40),
    Case("Allreduce", f"a, b, 5, MPI_DOUBLE, MPI_SUM, {W}", 40),
    Case("Allreduce", f"MPI_IN_PLACE, b, 5, MPI_DOUBLE, MPI_SUM, {W}", 40),
    Case("Scan", f"a, b, 5, MPI_DOUBLE, MPI_SUM, {W}", 40),
    Case("Scan", f"MPI_IN_PLACE, b, 5, MPI_DOUBLE, MPI_SUM, {W}", 40),
    Case("Exscan", f"a, b, 5, MPI_DOUBLE, MPI_SUM, {W}", 40),
    Case("Gather", f"a, 2, pair, b, 4, MPI_DOUBLE, 1, {W}", 32),
    Case("Gather", f"rank == 1 ? MPI_IN_PLACE : a, 2, pair, b, 4, MPI_DOUBLE, 1, {W}", 32),
    Case("Gatherv", f"a, rank + 1, pair, b, {{counts}}, {{displs}}, pair, 2, {W}", OWN),
    Case(
        "Gatherv",
        f"rank == 2 ? MPI_IN_PLACE : a, rank + 1, pair, b, {{counts}}, {{displs}}, pair, 2, {W}",
        OWN,
    ),
    Case("Scatter", f"a, 4, MPI_DOUBLE, b, 2, pair, 2, {W}", (32, 32, 96)),
    Case("Scatter", f"a, 4, MPI_DOUBLE, rank == 2 ? MPI_IN_PLACE : b, 2, pair, 2, {W}", (32, 32, 96)),
    Case("Scatterv", f"a, {{counts}}, {{displs}}, pair, b, rank + 1, pair, 0, {W}", (96, 32, 48)),
    Case("Allgather", f"a, 1, pair, b, 2, MPI_DOUBLE, {W}", 16),
    Case("Allgather", f"MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_DOUBLE, {W}", 16),
    Case("Allgatherv", f"a, rank + 1, pair, b, {{counts}}, {{displs}}, pair, {W}", OWN),
    Case("Allgatherv", f"MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, {{counts}}, {{displs}}, pair, {W}", OWN),
    Case("Alltoall", f"a, 1, pair, b, 2, MPI_DOUBLE, {W}", 48),
    Case("Alltoall", f"MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_DOUBLE, {W}", 48),
    Case(
        "Alltoallv",
        f"a, {{each}}, {{each_displs}}, pair, b, {{each}}, {{each_displs}}, pair, {W}",
        (96, 144, 192),
    ),
    Case(
        "Alltoallv",
        f"MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, {{each}}, {{each_displs}}, pair, {W}",
        (96, 144, 192),
    ),
    Case(
        "Alltoallw",
        f"a, {{each}}, {{each_bytes}}, types, b, {{each}}, {{each_bytes}}, types, {W}",
        (64, 120, 128),
    ),
    Case(
        "Alltoallw",
        f"MPI_IN_PLACE, NULL, NULL, NULL, b, {{each}}, {{each_bytes}}, types, {W}",
        (64, 120, 128),
    ),
    Case("Reduce_scatter", f"a, b, {{counts}}, MPI_DOUBLE, MPI_SUM, {W}", 48),
    Case("Reduce_scatter", f"MPI_IN_PLACE, b, {{counts}}, MPI_DOUBLE, MPI_SUM, {W}", 48),
    Case("Reduce_scatter_block", f"a, b, 2, MPI_DOUBLE, MPI_SUM, {W}", 48),
    Case("Reduce_scatter_block", f"MPI_IN_PLACE, b, 2, MPI_DOUBLE, MPI_SUM, {W}", 48),
]

ACROSS = (48, 16, 32)
BETWEEN_GROUPS = [
    Case("Barrier", "bridge", 0),
    Case("Bcast", "b, 2, pair, root_left, bridge", 32),
    Case("Bcast", "b, 2, pair, root_right, bridge", (32, 32, 0)),
    Case("Reduce", "a, b, 4, MPI_DOUBLE, MPI_SUM, root_left, bridge", 32),
    Case("Reduce", "a, b, 4, MPI_DOUBLE, MPI_SUM, root_right, bridge", (32, 32, 0)),
    Case("Allreduce", "a, b, 4, MPI_DOUBLE, MPI_SUM, bridge", 32),
    Case("Gather", "a, 2, pair, b, 2, pair, root_left, bridge", (64, 32, 32)),
    Case("Gather", "a, 2, pair, b, 2, pair, root_right, bridge", (32, 32, 0)),
    Case("Gatherv", "a, rank, pair, b, {across}, {across_displs}, pair, root_left, bridge", ACROSS),
    Case("Scatter", "a, 2, pair, b, 2, pair, root_left, bridge", (64, 32, 32)),
    Case("Scatter", "a, 2, pair, b, 2, pair, root_right, bridge", (32, 32, 0)),
    Case("Scatterv", "a, {across}, {across_displs}, pair, b, rank, pair, root_left, bridge", ACROSS),
    Case("Allgather", "a, 2, pair, b, 2, pair, bridge", 32),
    Case(
        "Allgatherv",
        "a, rank == 0 ? 3 : rank, pair, b, rank == 0 ? {across} : {counts} + 2, {across_displs}, pair, "
        "bridge",
        ACROSS,
    ),
    Case("Alltoall", "a, 1, pair, b, 1, pair, bridge", (32, 16, 16)),
    Case(
        "Alltoallv",
        "a, {across}, {across_displs}, pair, b, {across}, {across_displs}, pair, bridge",
        ACROSS,
    ),
    Case(
        "Alltoallw", "a, {across}, {across_bytes}, pairs, b, {across}, {across_bytes}, pairs, bridge", ACROSS
    ),
    Case("Reduce_scatter", "a, b, {halves}, MPI_DOUBLE, MPI_SUM, bridge", 24),
    Case("Reduce_scatter_block", "a, b, rank == 0 ? 2 : 1, MPI_DOUBLE, MPI_SUM, bridge", 16),
]

NEIGHBOURHOODS = [
    Case("Neighbor_allgather", "a, 2, pair, b, 2, pair, ring", 32),
    Case("Neighbor_allgatherv", "a, rank + 1, pair, b, {ring_counts}, {two_displs}, pair, ring", OWN),
    Case("Neighbor_alltoall", "a, 1, pair, b, 1, pair, ring", 32),
    Case("Neighbor_alltoall", "a, 1, pair, b, 1, pair, line", (16, 32, 16)),
    Case("Neighbor_alltoall", "a, 1, pair, b, 1, pair, web", (32, 16, 16)),
    Case("Neighbor_alltoall", "a, 1, pair, b, 1, pair, star", (32, 16, 16)),
    Case(
        "Neighbor_alltoallv",
        "a, {ring_send}, {two_displs}, pair, b, {ring_receive}, {two_displs}, pair, ring",
        48,
    ),
    Case(
        "Neighbor_alltoallv",
        "a, {ring_send}, {two_displs}, pair, b, {ring_receive}, {two_displs}, pair, line",
        (32, 48, 16),
    ),
    Case(
        "Neighbor_alltoallw",
        "a, {ring_send}, ring_bytes, pairs, b, {ring_receive}, ring_bytes, pairs, ring",
        48,
    ),
    Case(
        "Neighbor_alltoallw",
        "a, {ring_send}, ring_bytes, pairs, b, {ring_receive}, ring_bytes, pairs, line",
        (32, 48, 16),
    ),
]

POST = f"MPI_Irecv(b, 100, pair, from, 5, {W}, &receive); MPI_Barrier({W}); "
WAIT = " MPI_Wait(&receive, MPI_STATUS_IGNORE);"
SEND = f"MPI_Isend(a, 3, pair, to, 5, {W}, &receive); "
SENDS = [
    case
    for name in ("Send", "Ssend", "Rsend", "Bsend")
    for case in (
        Case(name, f"a, 3, pair, to, 5, {W}", 48, POST, WAIT),
        Case(name, f"a, 3, pair, MPI_PROC_NULL, 5, {W}", 0),
    )
]
RECEIVES = [
    Case("Recv", f"b, 100, pair, from, 5, {W}, MPI_STATUS_IGNORE", 48, SEND, WAIT),
    Case("Recv", f"b, 100, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, {W}, MPI_STATUS_IGNORE", 48, SEND, WAIT),
    Case("Recv", f"b, 100, pair, MPI_PROC_NULL, 5, {W}, MPI_STATUS_IGNORE", 0),
]
PROBE = f"{SEND}MPI_Mprobe(from, 5, {W}, &message, MPI_STATUS_IGNORE); "
MATCHED = [
    Case("Mrecv", "b, 100, pair, &message, MPI_STATUS_IGNORE", 48, PROBE, WAIT),
    Case(
        "Mrecv",
        "b, 100, pair, &message, MPI_STATUS_IGNORE",
        0,
        f"MPI_Mprobe(MPI_PROC_NULL, 5, {W}, &message, MPI_STATUS_IGNORE); ",
    ),
]
# No derived datatypes: MPICH 4.0 fails in MPI_Isendrecv of them.
EXCHANGES = [
    Case("Sendrecv", f"a, 6, MPI_DOUBLE, to, 5, b, 100, MPI_DOUBLE, from, 5, {W}, MPI_STATUS_IGNORE", 48),
    Case(
        "Sendrecv",
        f"a, 6, MPI_DOUBLE, MPI_PROC_NULL, 5, b, 100, MPI_DOUBLE, MPI_PROC_NULL, 5, {W}, MPI_STATUS_IGNORE",
        0,
    ),
    Case("Sendrecv_replace", f"b, 6, MPI_DOUBLE, to, 5, from, 5, {W}, MPI_STATUS_IGNORE", 48),
]

FLUSH = " MPI_Win_flush_all(window);"
ONE_SIDED = [
    case
    for target, volume in (("to", 32), ("MPI_PROC_NULL", 0))
    for case in (
        Case("Put", f"a, 2, pair, {target}, 0, 2, pair, window", volume, "", FLUSH),
        Case("Get", f"b, 2, pair, {target}, 0, 4, MPI_DOUBLE, window", volume, "", FLUSH),
        Case("Accumulate", f"a, 2, pair, {target}, 9, 2, pair, MPI_SUM, window", volume, "", FLUSH),
        Case(
            "Get_accumulate",
            f"a, 2, pair, b, 2, pair, {target}, 9, 2, pair, MPI_SUM, window",
            volume,
            "",
            FLUSH,
        ),
    )
]
ATOMIC = [
    Case("Fetch_and_op", "a, b, MPI_DOUBLE, to, 30, MPI_SUM, window", 8, "", FLUSH),
    Case("Compare_and_swap", "&rank, &expected_by, &position, MPI_INT, to, 40, window", 4, "", FLUSH),
    Case("Fetch_and_op", "a, b, MPI_DOUBLE, MPI_PROC_NULL, 30, MPI_SUM, window", 0, "", FLUSH),
]

IGNORED = ", MPI_STATUS_IGNORE"
AT = "8192 * rank, "
FILES = [
    Case(f"File_{verb}{where}", f"file, {AT if '_at' in where else ''}b, 3, pair", 48)
    for verb in ("write", "read")
    for where in ("", "_at", "_all", "_at_all", "_shared", "_ordered")
]


@dataclass(frozen=True)
class Statement:
    """A line as it is, and for functions in it: how often each is called, and its bytes."""

    text: str
    expected: dict[str, tuple[int, Volume]]


def _managing(text: str) -> Statement:
    """One that moves nothing: every function is called as often as it is written."""
    names = re.findall(r"(MPI_\w+)\(", text)
    return Statement(f"{{ {text} }}", {name: (names.count(name), 0) for name in names})


POSTED = f"MPI_Irecv(b, 100, pair, from, 5, {W}, &receive); MPI_Send(a, 3, pair, to, 5, {W}); found = 0; "
OTHERS = [
    *(
        Statement(POSTED + completion, {"MPI_Irecv": (1, 48), "MPI_Send": (1, 48)})
        for completion in (
            "MPI_Waitall(1, &receive, MPI_STATUSES_IGNORE);",
            "MPI_Waitany(1, &receive, &position, MPI_STATUS_IGNORE);",
            "MPI_Waitsome(1, &receive, &found, &position, MPI_STATUSES_IGNORE);",
            "while (!found) MPI_Test(&receive, &found, MPI_STATUS_IGNORE);",
            "while (!found) MPI_Testall(1, &receive, &found, MPI_STATUSES_IGNORE);",
            "while (!found) MPI_Testany(1, &receive, &position, &found, MPI_STATUS_IGNORE);",
            "while (!found) MPI_Testsome(1, &receive, &found, &position, MPI_STATUSES_IGNORE);",
        )
    ),
    Statement(
        f"MPI_Irecv(b, 9, pair, from, 77, {W}, &receive); MPI_Cancel(&receive);{WAIT}",
        {"MPI_Irecv": (1, 0), "MPI_Cancel": (1, 0)},
    ),
    Statement(
        f"MPI_Send_init(a, 3, pair, to, 5, {W}, &both[0]); "
        f"MPI_Recv_init(b, 99, pair, from, 5, {W}, &both[1]); "
        "for (found = 0; found < 2; found++) "
        "MPI_Startall(2, both), MPI_Waitall(2, both, MPI_STATUSES_IGNORE); "
        "MPI_Request_free(&both[0]); MPI_Request_free(&both[1]);",
        {"MPI_Send_init": (1, 0), "MPI_Recv_init": (1, 0), "MPI_Startall": (2, 192)},
    ),
    Statement("MPI_Reduce_local(a, b, 5, MPI_DOUBLE, MPI_SUM);", {"MPI_Reduce_local": (1, 40)}),
    Statement(
        f"position = 0; MPI_Pack(a, 2, pair, packed, sizeof packed, &position, {W});", {"MPI_Pack": (1, 32)}
    ),
    Statement(
        f"position = 0; MPI_Unpack(packed, sizeof packed, &position, b, 2, pair, {W});",
        {"MPI_Unpack": (1, 32)},
    ),
    Statement(
        'MPI_Pack_external("external32", a, 2, pair, packed, sizeof packed, &wide_position);',
        {"MPI_Pack_external": (1, 32)},
    ),
    Statement(
        "wide_position = 0; "
        'MPI_Unpack_external("external32", packed, sizeof packed, &wide_position, b, 2, pair);',
        {"MPI_Unpack_external": (1, 32)},
    ),
    Statement(f"MPI_Pack_c(a, 2, pair, packed, sizeof packed, &position_c, {W});", {"MPI_Pack_c": (1, 32)}),
    Statement(
        f"position_c = 0; MPI_Unpack_c(packed, sizeof packed, &position_c, b, 2, pair, {W});",
        {"MPI_Unpack_c": (1, 32)},
    ),
    Statement(
        f"MPI_Psend_init(a, 4, 3, pair, to, 5, {W}, MPI_INFO_NULL, &both[0]); "
        f"MPI_Precv_init(b, 4, 3, pair, from, 5, {W}, MPI_INFO_NULL, &both[1]); "
        "MPI_Startall(2, both); MPI_Pready(0, both[0]); MPI_Pready_range(1, 2, both[0]); "
        "position = 3; MPI_Pready_list(1, &position, both[0]); "
        "for (found = 0; !found;) MPI_Parrived(both[1], 1, &found); "
        "MPI_Waitall(2, both, MPI_STATUSES_IGNORE); "
        "MPI_Request_free(&both[0]); MPI_Request_free(&both[1]);",
        {
            "MPI_Psend_init": (1, 0),
            "MPI_Precv_init": (1, 0),
            "MPI_Startall": (1, 2 * 192),
            "MPI_Pready": (1, 0),
            "MPI_Pready_range": (1, 0),
            "MPI_Pready_list": (1, 0),
        },
    ),
    *map(
        _managing,
        (
            f'MPI_Comm c; MPI_Comm_dup({W}, &c); MPI_Comm_set_name(c, "c"); MPI_Comm_free(&c);',
            f"MPI_Comm c; MPI_Comm_dup_with_info({W}, MPI_INFO_NULL, &c); MPI_Comm_disconnect(&c);",
            f"MPI_Comm c; MPI_Comm_split({W}, rank % 2, 0, &c); MPI_Comm_free(&c);",
            f"MPI_Comm c; MPI_Comm_split_type({W}, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c); "
            "MPI_Comm_free(&c);",
            "int n = 3, yes = 1; MPI_Comm c, d; "
            f"MPI_Cart_create({W}, 1, &n, &yes, 0, &c); MPI_Cart_sub(c, &yes, &d); "
            "MPI_Comm_free(&d); MPI_Comm_free(&c);",
            "MPI_Comm c; MPI_Intercomm_merge(bridge, rank, &c); MPI_Comm_free(&c);",
            "int key; void* value = &key; int set; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, "
            f"MPI_COMM_NULL_DELETE_FN, &key, NULL); MPI_Comm_set_attr({W}, key, value); "
            f"MPI_Comm_delete_attr({W}, key); MPI_Comm_free_keyval(&key); (void)set;",
            'MPI_Info i, j; MPI_Info_create(&i); MPI_Info_set(i, "key", "value"); MPI_Info_dup(i, &j); '
            'MPI_Info_delete(j, "key"); MPI_Info_free(&j); MPI_Info_free(&i);',
            "MPI_Datatype t, u; MPI_Type_contiguous(3, MPI_INT, &t); MPI_Type_dup(t, &u); "
            "MPI_Type_commit(&u); MPI_Type_free(&t); MPI_Type_free(&u);",
            "MPI_Datatype t; int n[2] = {1, 2}, d[2] = {0, 4}; MPI_Type_indexed(2, n, d, MPI_INT, &t); "
            "MPI_Type_free(&t);",
            "MPI_Datatype t; int d[2] = {0, 4}; MPI_Type_create_indexed_block(2, 2, d, MPI_INT, &t); "
            "MPI_Type_free(&t);",
            "MPI_Datatype t; MPI_Type_create_hvector(2, 1, 32, MPI_INT, &t); MPI_Type_free(&t);",
            "MPI_Datatype t; int n = 9, m = 3, d = 1; "
            "MPI_Type_create_subarray(1, &n, &m, &d, MPI_ORDER_C, MPI_INT, &t); MPI_Type_free(&t);",
            f"MPI_Win w; MPI_Win_create(b, sizeof b, 8, MPI_INFO_NULL, {W}, &w); "
            'MPI_Win_fence(0, w); MPI_Win_set_name(w, "w"); MPI_Win_free(&w);',
            f"MPI_Win w; MPI_Win_create_dynamic(MPI_INFO_NULL, {W}, &w); MPI_Win_attach(w, a, 64); "
            "MPI_Win_detach(w, a); MPI_Win_free(&w);",
            f"MPI_Win w; void* at; MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, {W}, &at, &w); "
            "MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w); MPI_Win_sync(w); MPI_Win_unlock(0, w); "
            "MPI_Win_free(&w);",
            "void* at; MPI_Alloc_mem(64, MPI_INFO_NULL, &at); MPI_Free_mem(at);",
            "MPI_File_seek(file, 0, MPI_SEEK_SET); MPI_File_sync(file); MPI_File_set_atomicity(file, 0); "
            "MPI_File_set_size(file, 40000); MPI_File_preallocate(file, 100);",
            f"MPI_Comm_set_errhandler({W}, MPI_ERRORS_ARE_FATAL);",
        ),
    ),
]


def forms(case: Case) -> Iterator[tuple[str, str, str]]:
    """(function that has the bytes, the form's own function, statement) of each form in MPI."""
    blocking = case.name not in ("Put", "Get", "Accumulate", "Get_accumulate")
    for large in ("", "_c"):
        arguments = _arguments(case.arguments, large)
        started = arguments.removesuffix(IGNORED)
        if case.name.startswith("File"):
            yield from _file_forms(case, arguments, large)
            continue
        name = f"MPI_{case.name}{large}"
        yield name, name, f"{name}({arguments});"
        if blocking:
            name = f"MPI_I{case.name.lower()}{large}"
            yield name, name, f"{name}({started}, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);"
            name = f"MPI_{case.name}_init{large}"
            info = "" if case.name.endswith(("end", "ecv")) else "MPI_INFO_NULL, "
            start = "MPI_Start(&request); MPI_Wait(&request, MPI_STATUS_IGNORE); MPI_Request_free(&request);"
            yield "MPI_Start", name, f"{name}({started}, {info}&request); {start}"
        else:
            name = f"MPI_R{case.name.lower()}{large}"
            yield name, name, f"{name}({arguments}, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);"


def _file_forms(case: Case, arguments: str, large: str) -> Iterator[tuple[str, str, str]]:
    name = f"MPI_{case.name}{large}"
    yield name, name, f"{name}({arguments}{IGNORED});"
    verb = case.name.removeprefix("File_")
    if "ordered" not in verb:
        name = f"MPI_File_i{verb}{large}"
        yield name, name, f"{name}({arguments}, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);"
    if "all" in verb or "ordered" in verb:
        name = f"MPI_File_{verb}_begin{large}"
        yield name, name, f"{name}({arguments}); MPI_File_{verb}_end(file, b{IGNORED});"


def _arguments(text: str, large: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: found[1] + large, text)


@dataclass(frozen=True)
class Line:
    """What a line of the program does by one function, each rank of it."""

    number: int
    function: str
    calls: int
    volume: Volume

    def bytes_of(self, rank: int) -> int:
        return self.volume if isinstance(self.volume, int) else self.volume[rank]


def program(cases: Sequence[Case | Statement], exported: set[str]) -> tuple[str, list[Line]]:
    """Its text, and what it does; what the library does not export is left out."""
    text = PREAMBLE
    lines = []
    for case in cases:
        if isinstance(case, Statement):
            if case.expected.keys() <= exported:
                text += f"  {case.text}\n"
                number = text.count("\n")
                lines += [Line(number, name, *wanted) for name, wanted in case.expected.items()]
            continue
        for function, own, statement in forms(case):
            if own in exported:
                text += f"  {case.prepare}{statement}{case.finish}\n"
                lines.append(Line(text.count("\n"), function, 1, case.volume))
    return text + "  end();\n  return 0;\n}\n", lines
