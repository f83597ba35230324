"""Stands in for the compiled reader: canned rows, and a collection that moves segment files."""

from __future__ import annotations

import os
import signal
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any


def compiled() -> Any:
    """The compiled module; the sources lack what the build generates."""
    import sysconfig

    import tare

    tare.__path__.append(str(Path(sysconfig.get_path("platlib")) / "tare"))
    from tare import _native

    return _native


COMPILED = compiled()


from made import made  # noqa: E402
from tare.analysis.rows import PLACE, changed, fields  # noqa: E402

HOST_FILE = "node.tare"
START_NS = 1_000_000_000_000


def __getattr__(name: str) -> Any:
    """What this module does not stand in for: constants, names, quantiles."""
    return getattr(COMPILED, name)


class EndingWatch:
    def __init__(self, run_dir: Path, segment_dir: Path, run_id: str) -> None:
        pass


class Respondent:
    def __init__(
        self, run_dir: Path, segment_dir: Path, run_id: str, run_key: str, watch: EndingWatch
    ) -> None:
        pass

    def answer(self) -> bool:
        return False


def collect(
    run_dir: str,
    segment_dir: str,
    run_id: str,
    run_key: str = "",
    command_ended_ns: int | None = None,
    watch: EndingWatch | None = None,
    command: tuple[int, int, int | None] | None = None,
    presume_ended: bool = False,
) -> Any:
    segments = sorted(Path(segment_dir).glob(f"tare-{run_id}-*"))
    for segment in segments:
        with (Path(run_dir) / HOST_FILE).open("ab") as chunks:
            chunks.write(segment.read_bytes())
        segment.unlink()
    return made(COMPILED.Collected, processes=len(segments), recovered_events=3, messages=list(MESSAGES))


def collector(directories: Sequence[Path]) -> str:
    return f"what sees {', '.join(map(str, directories))}"


def process(rank: int, mpi_ns: int, state: str = "finished", world: int = 0, **more: Any) -> Any:
    finished = state == "finished"
    known = {
        "world": world, "rank": rank, "size": 2, "host": "node", "pid": 100 + rank, "threads": 1,
        "state": state, "exit_code": 0 if finished else None, "finalized": finished,
        "until": "exit" if finished else "last_seen", "executable": "/bin/app", "mpi": "Fake MPI 1.0",
        "abi": "mpich", "start_ns": START_NS, "wall_ns": 2_100_000_000, "net_ns": 2_000_000_000,
        "threads_ns": 2_000_000_000, "mpi_ns": mpi_ns, "counted_ns": 0, "calls": 14, "counted": 4,
        "cost": made(COMPILED.Cost,
            call_ns=25.0, timed_call_ns=25.0, lookup_ns=5.0, wrapper_ns=270, wrapper_error_ns=27.0,
            weighed=40, hook_init_ns=1_000_000, hook_finalize_ns=500_000, flushes=1, flush_ns=40_000,
            flush_bytes=4096,
            net_share=0.01,
        ),
        "trace": made(COMPILED.Trace, records=3, bytes=30, policy="block"),
    }  # fmt: skip
    return made(COMPILED.Process, **(known | more))


# Of the two processes below.
TOTAL_COST = made(COMPILED.TotalCost,
    calls=28, counted=8, call_ns=25.0, timed_call_ns=25.0, lookup_ns=5.0, wrapper_ns=540,
    wrapper_error_ns=38.18, weighed=80, recorded_ns=8_054_000, net_share=0.01, wall_share=0.0102380952381,
    hook_init_ns=2_000_000, hook_finalize_ns=1_000_000, flushes=2, flush_ns=80_000, flush_bytes=8192,
)  # fmt: skip
TOTAL_TRACE = made(COMPILED.Trace, records=6, bytes=60, policy="block")


def row(
    rank: int, function: str, site: int, calls: int, time_ns: int, size: int, waited_ns: int = 0
) -> dict[str, Any]:
    return {
        "world": 0, "rank": rank, "function": function, "site": site, "communicator": 0,
        "size_class": 3 if size else -1, "calls": calls, "time_ns": time_ns,
        "min_ns": time_ns // calls // 2, "max_ns": time_ns, "bytes": size, "timed": site >= 0,
        "received": 0, "waited_ns": waited_ns,
    }  # fmt: skip


def location(rank: int, records: int, thread: int = 0, dropped: int = 0) -> dict[str, Any]:
    return {
        "world": 0, "rank": rank, "pid": 100 + rank, "location": thread, "thread": thread,
        "thread_name": None, "calls": 14, "counted": 4, "records": records, "bytes": 10 * records,
        "dropped": dropped, "flushes": records // 1000, "flush_ns": 40_000, "flush_bytes": 10 * records,
        "drains": 0, "drain_ns": 0, "drain_bytes": 0,
            "offload_points": 0, "offloads": 0, "offloads_lost": 0,
            "offload_ns": 0, "offload_max_ns": 0, "offload_wait_ns": 0,
    }  # fmt: skip


LOCATIONS: list[dict[str, Any]] = [location(0, 3), location(1, 0)]
PROCESSES = [process(0, 200_000_000), process(1, 600_000_000, "killed")]
PROFILE = [
    row(0, "MPI_Send", 0, 4, 150_000_000, 4000),
    row(0, "MPI_Send", 1, 1, 10_000_000, 8, waited_ns=25_000_000),
    row(1, "MPI_Recv", 2, 5, 590_000_000, 4008),
    row(0, "MPI_Comm_rank", -1, 4, 0, 0),
    row(1, "MPI_Send", 0, 2, 10_000_000, 16),
]
PEERS: list[dict[str, Any]] = [
    {"world": 0, "rank": 0, "communicator": "MPI_COMM_WORLD", "communicator_size": 2, "peer": 1,
     "sent_messages": 5, "sent_bytes": 4008,
     "received_messages": 2, "received_bytes": 16, "ranks": 1},
    {"world": 0, "rank": 1, "communicator": "MPI_COMM_WORLD", "communicator_size": 2, "peer": 0,
     "sent_messages": 2, "sent_bytes": 16,
     "received_messages": 5, "received_bytes": 4008, "ranks": 1},
    {"world": 0, "rank": 1, "communicator": None, "communicator_size": None, "peer": None,
     "sent_messages": 1, "sent_bytes": 1,
     "received_messages": 0, "received_bytes": 0, "ranks": 1},
]  # fmt: skip
# What the ranks above sent, rank by rank.
EXCHANGES = [
    made(COMPILED.Exchange, size=2, group=1, cells=[(0, 1, 5, 4008), (1, 0, 2, 16)], elsewhere=1,
        messages=15, between=7, busiest=0, busiest_messages=7,
    )
]  # fmt: skip
PHASES = [
    {"world": 0, "phase": phase, "entries": entries, "time_ns": time_ns, "calls_ns": mpi_ns,
     "calls_share": mpi_ns / time_ns, "timed_calls": 4, "bytes": 64, "ranks": 2, "rank_mean_ns": time_ns / 2,
     "rank_min_ns": time_ns // 4, "rank_max_ns": time_ns - time_ns // 4, "rank_max": 1}
    for phase, entries, time_ns, mpi_ns in (
        (None, 0, 1_000_000_000, 200_000_000),
        ("solve", 6, 3_000_000_000, 600_000_000),
        ("other", 1, 2_000, 0),
    )
]  # fmt: skip
FUNCTIONS = ["MPI_Send", "MPI_Recv", "MPI_Comm_rank", "MPI_Init", "MPI_Allreduce"]


def frame(offset: int, caller: str, line: int | None, where: str = "/bin/app", **more: Any) -> Any:
    file = "/src/app.c" if line else None
    return made(COMPILED.Frame, object=where, offset=offset, caller=caller, file=file, line=line, **more)


def site(*path: Any, shown: int = 0, cut: bool = False, left_out: bool = False) -> Any:
    return made(
        COMPILED.Site, **fields(path[shown], PLACE), path=list(path), shown=shown, cut=cut, left_out=left_out
    )


SITES = [
    site(frame(16, "exchange", 12), frame(64, "main", 50)),
    site(frame(32, "main", 40)),
    site(frame(48, "halo", None, "/lib/libsolver.so.1")),
]
COMMUNICATORS = [made(COMPILED.Communicator, name="MPI_COMM_WORLD", size=2, key=0xABC, members=[(0, 1, 2)])]
SCOPES: list[Any] = []
STACK_SAMPLES: list[dict[str, Any]] = []  # a run without samples of stacks
FILES: list[dict[str, Any]] = []  # and without other sources of events than MPI
REGIONS: list[dict[str, Any]] = []
MESSAGES: list[str] = []
WARNINGS = ["node.tare: 812 bytes at offset 4096 are not a whole chunk and were skipped"]
EVENTS: list[dict[str, Any]] = [
    {"start_ns": START_NS + 5, "duration_ns": 100, "world": 0, "rank": 0, "thread": 0,
     "function": "MPI_Send",
     "site": 0, "peer": 1, "tag": 7, "bytes": 1000, "communicator": 0},
    {"start_ns": START_NS + 9, "duration_ns": 300, "world": 0, "rank": 1, "thread": 0,
     "function": "MPI_Recv",
     "site": 2, "peer": 0, "tag": 7, "bytes": 1000, "communicator": 0},
    {"start_ns": START_NS + 20, "duration_ns": 50, "world": 0, "rank": 1, "thread": 0,
     "function": "tare:flush",
     "bytes": 4096, "records": 40},
]  # fmt: skip


COLUMNS = (
    "world", "function", "site", "file", "line", "caller", "object", "offset", "tail_call", "path",
    "communicator", "communicator_size", "communicator_number", "size_from", "size_to", "rank", "pid",
    "calls", "time_ns", "mean_ns", "min_ns", "max_ns", "bytes", "received", "waited_ns", "timed",
    "estimated_calls", "time_error_ns", "counted", "ranks", "rank_mean_ns", "rank_min_ns", "rank_min",
    "rank_max_ns", "rank_max", "imbalance_ns", "whole_calls", "whole_calls_error", "whole_time_ns",
    "whole_time_error_ns", "whole_bytes", "whole_bytes_error", "mpi_share",
)  # fmt: skip


class Row(types.SimpleNamespace):
    """A row of a table."""

    @property
    def __match_args__(self) -> tuple[str, ...]:
        return tuple(vars(self))


class Table(list[Row]):
    """A table whose rows are there."""

    def rows(self) -> list[Row]:
        return list(self)


def table(rows: Iterable[dict[str, Any]]) -> Table:
    return Table(Row(**row) for row in rows)


def profile(
    by: Sequence[str],
    functions: Sequence[str] | None = None,
    ranks: Sequence[int] | None = None,
    communicators: Sequence[str] | None = None,
    worlds: Sequence[int] | None = None,
    callers_alone: bool = False,
    *,
    rows: Sequence[dict[str, Any]] | None = None,
    sites: Sequence[Any] | None = None,
    whole: bool = False,
) -> Table:
    """The rows above, summed by keys; the reader's own rules are in src/reader/tables/profile_rows.h.

    `whole`: in the whole run there are ten times as many calls, known to 5 %, but for receives.
    """
    sites = SITES if sites is None else sites
    parts = {"site": ("function", "site"), "line": ("function", "site"), "size": ("size_class",)}
    names = ["world", *dict.fromkeys(part for key in by for part in parts.get(key, (key,)))]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in PROFILE if rows is None else rows:
        number = row["communicator"]
        of_communicator = COMMUNICATORS[number].name if number >= 0 else None
        chosen = ((functions, row["function"]), (ranks, row["rank"]), (communicators, of_communicator))
        if all(wanted is None or value in wanted for wanted, value in (*chosen, (worlds, row["world"]))):
            groups.setdefault(tuple(row[name] for name in names), []).append(row)
    found = [_summed(dict(zip(names, key, strict=True)), groups[key], sites, whole) for key in sorted(groups)]
    if list(by) == ["rank"]:
        for row in found:
            process = PROCESSES[row["rank"]]
            row["time_ns"] = row["time_ns"] if functions or communicators else process.mpi_ns
            row["mpi_share"] = row["time_ns"] / process.threads_ns
    return table(found)


def _summed(
    key: dict[str, Any], of: list[dict[str, Any]], sites: Sequence[Any], whole: bool
) -> dict[str, Any]:
    timed = [row for row in of if row["timed"]]
    calls, counted = (
        sum(row["calls"] for row in some) for some in (timed, (r for r in of if not r["timed"]))
    )
    found = {
        **dict.fromkeys(COLUMNS),
        **key,
        "calls": calls + counted,
        "counted": counted,
        "timed": bool(timed),
    }
    for name in ("time_ns", "bytes", "received", "waited_ns"):
        found[name] = sum(row[name] for row in of)
    found |= {"mean_ns": found["time_ns"] / calls if calls else 0.0, "estimated_calls": 0}
    found["min_ns"] = min((row["min_ns"] for row in timed), default=0)
    found["max_ns"] = max((row["max_ns"] for row in timed), default=0)
    if key.get("site", -1) >= 0:
        frame = sites[key["site"]]
        found |= {
            name: getattr(frame, name) for name in ("file", "line", "caller", "object", "offset", "tail_call")
        }
    if (number := key.get("communicator", -1)) >= 0:
        of_number = COMMUNICATORS[number]
        found |= {"communicator": of_number.name, "communicator_size": of_number.size}
    size = found.pop("size_class", -1)
    if size >= 0:
        found |= {"size_from": 1 << size - 1, "size_to": 1 << size}
    by_rank: dict[int, int] = {}
    for row in timed:
        by_rank[row["rank"]] = by_rank.get(row["rank"], 0) + row["time_ns"]
    if by_rank and "rank" not in key:
        least, most = (pick(by_rank, key=lambda rank: (by_rank[rank], rank)) for pick in (min, max))
        found |= {"ranks": len(by_rank), "rank_mean_ns": found["time_ns"] / len(by_rank)}
        found |= {"rank_min": least, "rank_min_ns": by_rank[least]}
        found |= {"rank_max": most, "rank_max_ns": by_rank[most]}
    if whole:
        known = bool(timed) and key["function"] != "MPI_Recv"
        for name, error in (
            ("calls", "whole_calls_error"),
            ("time_ns", "whole_time_error_ns"),
            ("bytes", "whole_bytes_error"),
        ):
            of_all = found[name] * (10 if timed else 1)
            if timed or name == "calls":
                found[f"whole_{name}"] = of_all
                found[error] = of_all // 20 if known else None
    return found


def sample(
    source: int, sites: tuple[int, int], size: int, count: int, latency_ns: int, bins: dict[int, int] | None
) -> Any:
    """A sample of rank 1; each latency is `latency_ns`, but the last two are a tenth shorter and longer."""
    tenth = latency_ns // 10
    return made(COMPILED.SampleRow,
        source=source, destination=1, send_site=sites[0], receive_site=sites[1], bytes=size, count=count,
        unexpected=count // 2, weight=10.0 * count, weight_squared=100.0 * count,
        latency_ns=count * latency_ns, min_ns=latency_ns - tenth, max_ns=latency_ns + tenth,
        squared_ns2=float(count * latency_ns**2 + 2 * tenth**2), late_sender_ns=50 * count,
        unposted_ns=latency_ns * count // 4, transfer_ns=latency_ns * count - latency_ns * count // 4,
        histogram=None if bins is None else [bins.get(bin, 0) for bin in range(36)],
    )  # fmt: skip


SAMPLES = [
    sample(0, (0, 2), 4096, 8, 2_000, {6: 8}),
    sample(0, (1, 2), 8, 2, 400, {3: 1, 4: 1}),
    sample(-1, (-1, -1), 0, 4, 9_000, {8: 4}),
]
# The same, chosen by a counter.
COUNTED_SAMPLES = [changed(each, weight=None, weight_squared=None) for each in SAMPLES]
SAMPLE_SUMMARIES = [
    made(COMPILED.SampleSummary,
        rank=rank, spec="random:0.1", sent=140, received=140, chosen=15, paired=14 * rank, ambiguous=1,
        joining=["begun", "met"],
    )
    for rank in (0, 1)
]  # fmt: skip


ACTIVITIES = [
    "send",
    "receive",
    "exchange",
    "wait",
    "collective",
    "one-sided",
    "file",
    "openmp",
    "other",
    "flush",
]


class Timeline:
    """One call of each rank, a second after the start and half as long."""

    start_ns, end_ns = START_NS, START_NS + 2_000_000_000

    def rows(self) -> list[Any]:
        return [made(COMPILED.TimelineRow, rank=rank, records=1) for rank in range(2)]

    def bins(self, first: int, rows: int, group: int, from_ns: int, to_ns: int, columns: int) -> bytes:
        cells = (rows * columns + 7) // 8 * 8
        others = len(COMPILED.ACTIVITIES) - 1
        return bytes([100]) * cells + bytes(others * cells) + bytes((2 * rows * columns + 7) // 8 * 8)

    def longest(self, most: int) -> tuple[int, int, bytes]:
        return 5, 2, struct.pack("<6d2I6i", 1e9, 1e9, 5e8, 5e8, 64, -1, 0, 1, 0, 1, 1, -1, 0, 0)

    def find_waits(self) -> None:
        return None

    def find(
        self, functions: list[int], sites: list[int], words: int, first: int, rows: int,
        min_ns: int = 0, peer: int = -1, waits: bool = False, most: int = 1,
    ) -> tuple[int, int, bytes]:  # fmt: skip
        """The wait of rank 1 for rank 0, or the call of rank 0."""
        if waits:
            return 1, 1, struct.pack("<3dI4xI4xi4xH6xH6x", 1e9, 3e8, 1.2e9, 1, 0, 1, 0, 0)
        return 1, 1, struct.pack("<3dI4xi4xi4xH6x", 1e9, 5e8, 64, 0, 0, 1, 0)

    def path(self, first: int, rows: int, from_ns: int, to_ns: int, most: int) -> tuple[int, bytes]:
        return 1, struct.pack("<2dI4x", 0, 2e9, 0)

    def curve(self, loops: list[Any], most: int) -> list[Any]:
        return [
            made(COMPILED.IterationPoint, number=number, start_ns=number, longest_ns=5, waiting_ns=2.0)
            for number in range(3)
        ]

    def match(self, most: int) -> tuple[int, int]:
        return 0, 0

    def messages(self, first: int, rows: int, from_ns: int, to_ns: int, most: int) -> None:
        return None


STRUCTURE = made(COMPILED.Structure, phases=[
        made(COMPILED.DetectedPhase,
            phase="A", start_ns=START_NS + 100_000_000, end_ns=START_NS + 500_000_000, mpi_share=0.1,
            function="MPI_Send", site=1, outside_calls=True, line_share=0.9,
        ),
        made(COMPILED.DetectedPhase,
            number=1, phase="B", start_ns=START_NS + 500_000_000, end_ns=START_NS + 2_100_000_000,
            mpi_share=0.2, function="MPI_Send", site=0, line_share=0.6,
        ),
    ],
    loops=[
        made(COMPILED.Loop,
            rank=0, number=1, function="MPI_Send", site=0, iterations=20, median_ns=50_000_000,
            longest_ns=650_000_000, slow_iterations=1, beyond_ns=600_000_000,
            slow=[
                made(COMPILED.SlowIteration,
                    iteration=7, start_ns=START_NS + 850_000_000, duration_ns=650_000_000,
                    mpi_ns=620_000_000, cause_rank=1, cause_function="MPI_Send", cause_site=1,
                    cause_ns=580_000_000,
                )
            ],
        )
    ],
)  # fmt: skip
WAIT_REPORT = made(COMPILED.WaitReport, waits=[
        made(COMPILED.WaitSum,
            world=0, rank=1, kind="late sender", function="MPI_Recv", site=0, waits=3, wait_ns=400_000_000,
            longest_ns=200_000_000,
        )
    ],
    awaited=[
        made(COMPILED.AwaitedSum,
            world=0, rank=0, kind="late sender", function="MPI_Recv", site=0, wait_ns=400_000_000
        )
    ],
    causes=[
        made(COMPILED.RootSum, world=0, kind="late sender", function="MPI_Recv", site=0, cause_rank=0,
            cause_function="MPI_Send", cause_site=1, waits=3, wait_ns=300_000_000.0,
            longest_ns=200_000_000.0, by_time=[300_000_000.0, *7 * [0.0]], waits_by_time=[3],
            by_rank=[0.0, 300_000_000.0],
        ),
        made(COMPILED.RootSum,
            world=0, kind="late sender", function="MPI_Recv", site=0, cause_rank=-1, cause_site=-1,
            waits=3, wait_ns=100_000_000.0, longest_ns=50_000_000.0, by_time=8 * [12_500_000.0],
            waits_by_time=[3], by_rank=[0.0, 100_000_000.0],
        ),
    ],
    outside=[made(COMPILED.OutsideSum, world=0, rank=0, function="MPI_Send", site=1, time_ns=500_000_000)],
    critical_path=[
        made(COMPILED.PathSum, world=0, rank=0, function="MPI_Send", site=1, time_ns=500_000_000)
    ],
)  # fmt: skip


FUNCTION_TOTALS: list[dict[str, Any]] = [
    {
        "world": 0, "rank": rank, "pid": 100 + rank, "function": function, "calls": calls,
        "measured_calls": measured,
        "time_ns": 1_000_000, "time_error_ns": error, "bytes": 4096, "bytes_error": 0,
    }
    for function, calls, measured, error in (
        ("MPI_Send", 1000, 100, 50_000), ("MPI_Recv", 1000, 2, None), ("MPI_Barrier", 10, 10, 0),
    )
    for rank in range(2)
]  # fmt: skip


class Run:
    """Answers with the canned rows above."""

    def __init__(
        self,
        run_dir: str,
        segment_dir: str = "",
        run_id: str = "",
        is_going_on: bool = False,
        run_key: str = "",
        answers: Sequence[str] = (),
    ) -> None:
        if (Path(run_dir) / "broken.tare").exists():
            raise COMPILED.Error("broken.tare: not a file of tare; remove it")
        self.sampled = (Path(run_dir) / "sampled").exists()
        self.analysed = (Path(run_dir) / "analysed").exists()
        self.sampled_by_counter = (Path(run_dir) / "sampled_by_counter").exists()
        self.cost, self.trace = TOTAL_COST, TOTAL_TRACE

    def __getattr__(self, name: str) -> Callable[..., Any]:
        canned: dict[str, Callable[..., Any]] = {
            "profile": profile,
            "processes": lambda: PROCESSES,
            "process_count": lambda: len(PROCESSES),
            "total_cost": lambda _: self.cost,
            "total_trace": lambda _: self.trace,
            "exchanges": lambda _: EXCHANGES,
            "functions": lambda: FUNCTIONS,
            "timeline": Timeline,
            "event_names": lambda: ["residual"],
            "sites": lambda: SITES,
            "communicators": lambda: COMMUNICATORS,
            "scopes": lambda: SCOPES,
            "wait_report": lambda: WAIT_REPORT,
            "structure": lambda: STRUCTURE,
            "warnings": lambda: list(WARNINGS),
        }
        return canned.get(name, lambda *_, **__: [])

    empty = ("missing", "stack_sampling")

    def table(self, name: str) -> Table:
        tables: dict[str, list[dict[str, Any]]] = {
            "totals": FUNCTION_TOTALS, "locations": LOCATIONS, "stack_samples": STACK_SAMPLES,
            "files": FILES, "regions": REGIONS,
        }  # fmt: skip
        return table([] if name in self.empty else tables[name])

    def peers(
        self,
        by: list[str],
        worlds: list[int] | None = None,
        ranks: list[int] | None = None,
        communicators: list[str] | None = None,
    ) -> Table:
        dropped = {"rank", "communicator"} - set(by)
        return table(
            {key: value for key, value in peer.items() if key not in dropped}
            for peer in PEERS
            if (ranks is None or peer["rank"] in ranks)
            and (communicators is None or peer["communicator"] in communicators)
        )

    def phases(self, by: list[str], worlds: list[int] | None = None, ranks: list[int] | None = None) -> Table:
        if "rank" not in by:
            return table(PHASES)
        return table(
            phase | {"rank": rank} for phase in PHASES for rank in (0, 1) if rank in (ranks or (0, 1))
        )

    def samples(self) -> list[Any]:
        return COUNTED_SAMPLES if self.sampled_by_counter else SAMPLES if self.sampled else []

    def sample_summaries(self) -> list[Any]:
        result = "\x1b[31m\udcff" + 30 * "\nline" + "\n" if self.analysed else ""
        given = [changed(each, analysis=each.rank * result) for each in SAMPLE_SUMMARIES]
        return given if self.sampled else []

    def events(
        self,
        ranks: list[int] | None = None,
        functions: list[str] | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        limit: int = 0,
    ) -> Iterator[list[dict[str, Any]]]:
        found = [
            event
            for event in EVENTS
            if (ranks is None or event["rank"] in ranks)
            and (functions is None or event["function"] in functions)
            and (start_ns is None or event["start_ns"] >= start_ns)
            and (end_ns is None or event["start_ns"] < end_ns)
        ]
        for event in found[: limit or None]:
            yield [event]
        if "FAKE_EVENTS_HANG" in os.environ:
            print("reading", file=sys.stderr, flush=True)
            signal.pause()


def install(library: Path) -> None:
    """Makes `tare` use this module, and preload `library`."""
    import tare
    import tare.measuring.library

    module = sys.modules[__name__]
    sys.modules["tare._native"] = module
    tare._native = module
    tare.measuring.library.find = lambda name: library


def main() -> int:
    """The command line of tare on this module, with a library preloaded that does nothing."""
    import ctypes.util

    from hostile_names import make_names_hostile
    from tare.__main__ import main as tare_main

    if "FAKE_HOSTILE" in os.environ:
        make_names_hostile(sys.modules[__name__])
    install(Path(os.environ.get("FAKE_LIBRARY", ctypes.util.find_library("m") or "libm.so.6")))
    return tare_main()


if __name__ == "__main__":
    sys.exit(main())
