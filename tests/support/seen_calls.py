"""Calls that ranks are in, made by hand, and a run of four ranks that has them."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import fake_native
from made import made
from some_run import metadata
from tare._native import Communicator, CurrentCall, PendingRequest
from tare.analysis import where
from tare.analysis.rows import changed
from tare.reporters import where as reporter
from tare.reporters.console import console

COMMUNICATORS = [
    made(Communicator, name="MPI_COMM_WORLD", size=4, key=1, members=[(0, 1, 4)]),
    made(Communicator, name="odd", size=2, key=2, members=[(1, 2, 2)]),
]


def call(
    rank: int, function: str, peer: int | None = None, tag: int | None = None, **more: Any
) -> CurrentCall:
    """A thread inside a function; peers are ranks of MPI_COMM_WORLD."""
    world = peer if peer is not None and peer >= 0 else None
    fields = {
        "rank": rank, "process": rank, "function": function, "inside": True, "made_mpi_calls": True,
        "site": 0, "communicator": 0, "peer": peer, "peer_world": world, "tag": tag,
        "enter_ticks": 1000 + rank, "enter_ns": fake_native.START_NS + 10**9, **more,
    }  # fmt: skip
    return made(CurrentCall, **fields)


def computing(rank: int) -> CurrentCall:
    return call(rank, "MPI_Send", 0, 1, inside=False, leave_ns=fake_native.START_NS + 2 * 10**9)


def request(function: str, peer: int | None, tag: int = 0, waited_for: bool = True) -> PendingRequest:
    return made(PendingRequest, function=function, site=0, communicator=0, peer=peer,
        peer_world=peer if peer is not None and peer >= 0 else None, tag=tag, bytes=8,
        start_ns=fake_native.START_NS, receives=function == "MPI_Irecv", waited_for=waited_for,
    )  # fmt: skip


def running(
    *calls: CurrentCall, states: dict[int, str] | None = None, completed: Any = None, **more: Any
) -> Any:
    """Four ranks; `completed` holds counts of calls by function, then by rank and communicator."""
    processes = [
        changed(fake_native.process(rank, 0, (states or {}).get(rank, "running")), size=4, exit_code=None,
         signal=None, finalized=False, stopped=False)
        for rank in range(4)
    ]  # fmt: skip

    def calls_of(function: str) -> list[Any]:
        return [
            SimpleNamespace(
                world=0, rank=rank, function=function, calls=count,
                communicator_number=communicator if communicator >= 0 else None,
            )
            for (rank, communicator), count in (completed or {}).get(function, {}).items()
        ]  # fmt: skip

    return SimpleNamespace(**{
        "processes": processes, "sites": fake_native.SITES, "communicators": COMMUNICATORS,
        "current_calls": list(calls), "ending": "exit code 0", "calls_of": calls_of, "end_ns": None,
        "is_running": any(each.state in ("running", "unknown") for each in processes),
        "missing": [], "saved": [],
        "peers": lambda *_: [], "profile": lambda *_, **__: [], "rows": lambda table: table,
        "has_counted_time": False, "worlds": 1, **more,
    })  # fmt: skip


def shown(run: Any) -> str:
    """What `tare where` prints of it on 80 columns."""
    out = io.StringIO()
    run.meta, run.start_ns = metadata(wall_ns=1, signal=9), fake_native.START_NS
    reporter.show(console(out, cut=True), run, where.look(run))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    return text
