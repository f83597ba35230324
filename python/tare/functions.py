"""What MPI functions mean: the table mpi/functions.toml, which explains the words."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tare._functions import TABLE


class Meaning(NamedTuple):
    """The words of the row of a function in `mpi/functions.toml`. Empty: it has none.

    `peer`, `root`, `poll`, `epoch`, `begins`, `ends` and `operation` are explained there.
    """

    kind: str  # its class
    form: str  # "blocking"; for calls that make a request, "nonblocking" or "persistent"
    waits: str  # what it waits for before it returns, or before its request is complete
    peer: str = ""
    root: str = ""
    poll: str = ""
    epoch: str = ""
    begins: str = ""
    ends: str = ""
    operation: str = ""
    source: str = ""  # of events; "MPI"


@cache
def meaning(function: str) -> Meaning:
    """The meaning of a function, such as "MPI_Send"; of an unknown one, a Meaning without information."""
    return Meaning(*TABLE.get(function, ("other", "blocking", "unknown")))


def of_meaning(**words: str) -> tuple[str, ...]:
    """The functions that have these words, by name."""
    return tuple(
        name
        for name in TABLE
        if all(getattr(meaning(name), attribute) == word for attribute, word in words.items())
    )


# The sources of events beside MPI, which are recorded if they are asked for (src/NAME).
SOURCES = tuple(sorted({meaning(name).source for name in TABLE} - {"MPI"}))
# What does not count into the net time in MPI: what begins and ends it, and calls of other sources of events.
OUTSIDE_NET = frozenset(
    name
    for name in TABLE
    if {"world", "session"} & {meaning(name).begins, meaning(name).ends} or meaning(name).source != "MPI"
)

# The event of a gap in the trace.
LOSS = "tare:loss"


def contains_program(function: str) -> bool:
    """Whether its calls contain code of the program: constructs of OpenMP that wait for nobody."""
    return meaning(function).source == "openmp" and meaning(function).waits == "nobody"


def base(function: str) -> str:
    """The name without the `_c` of a large-count form."""
    return function.removesuffix("_c")


def is_collective(function: str) -> bool:
    """Blocking, and called by every rank of a communicator: who comes first waits for who comes last."""
    means = meaning(function)
    return means.kind == "collective" and means.form == "blocking"


def is_barrier(function: str) -> bool:
    """Blocking, and nothing but waiting for all."""
    return is_collective(function) and meaning(function).operation == "barrier"


def is_known(function: str) -> bool:
    """Whether tare has a meaning of it: it is no event of the program or of tare itself."""
    return function in TABLE
