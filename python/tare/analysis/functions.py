"""What kinds of MPI functions there are, by name; large-count forms are like the others."""

from __future__ import annotations

import re

# What begins and ends the net time does not count into it.
OUTSIDE_NET = frozenset({"MPI_Init", "MPI_Init_thread", "MPI_Finalize"})

_COLLECTIVE = re.compile(
    r"MPI_(Barrier|Bcast|Reduce(_scatter(_block)?)?|Allreduce|Scan|Exscan|(All)?[Gg]atherv?|Scatterv?"
    r"|Alltoall[vw]?|Neighbor_(allgatherv?|alltoall[vw]?)|Comm_(create|dup(_with_info)?|split(_type)?|"
    r"accept|connect|disconnect|free|spawn(_multiple)?|create_from_group)|Intercomm_(create|merge)"
    r"|Cart_(create|sub)|Graph_create|Dist_graph_create(_adjacent)?|Win_(create(_dynamic)?|allocate"
    r"(_shared)?|fence|free)|File_(open|close|set_size|set_view|preallocate|sync"
    r"|(read|write)(_at)?_all(_begin|_end)?|(read|write)_ordered(_begin|_end)?))"
)


def base(function: str) -> str:
    """Without the `_c` of a large-count form."""
    return function.removesuffix("_c")


def is_collective(function: str) -> bool:
    """Blocking, and called by every rank of a communicator: who comes first waits for who comes last."""
    return _COLLECTIVE.fullmatch(base(function)) is not None
