"""The recorder beside its peers: the same events with tare's API, LiTL, FxT, OTF2 and LTTng-UST, in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import recorders
from recorders import RECORDERS, TARE, Recorded, Recorder
from report import Row, Table
from tare.analysis.intervals import exactly, median_interval

from tools import PeerError

# Run alone: everything fits into the buffer of a thread.
IN_MEMORY_EVENTS = 200_000
IN_MEMORY_BUFFER = 64 << 20
# With writing: many times what a buffer holds. tare has its default buffer, the peers one of a usual size.
FLUSHED_EVENTS = 2_000_000
FLUSHED_BUFFER = 4 << 20

LIMIT_IN_CLOCKS = 1.5

# LiTL's Table I.
TYPES = ("char", "int", "double")
PARAMETERS = range(7)
TABLE_EVENTS = 1_000_000
LOOP_LIMIT = 1 / 3
RANDOM_LIMIT = -10.0


@dataclass(frozen=True)
class Case:
    """A way to record events of four ints, and what its time is compared with."""

    title: str
    threads: int
    events: int
    buffer: int
    limit: float | None = None


ONE = Case(
    "Run an event of 4 ints, 1 thread, buffer not full",
    1,
    IN_MEMORY_EVENTS,
    IN_MEMORY_BUFFER,
    LIMIT_IN_CLOCKS,
)
TWO = Case(
    "The same, 2 threads, processor time a thread", 2, IN_MEMORY_EVENTS, IN_MEMORY_BUFFER, LIMIT_IN_CLOCKS
)
EIGHT = Case(
    "The same, 8 threads on all processors", 8, IN_MEMORY_EVENTS // 4, IN_MEMORY_BUFFER // 4, LIMIT_IN_CLOCKS
)
FLUSHED = Case(
    "The same, 1 thread, written to the disk as the buffer fills", 1, FLUSHED_EVENTS, FLUSHED_BUFFER
)
CASES = (ONE, TWO, EIGHT, FLUSHED)


def measure(rounds: int) -> list[Table]:
    present, notes = _present()
    samples: dict[Case, dict[Recorder, list[Recorded]]] = {
        case: {recorder: [] for recorder in present} for case in CASES
    }
    for number in range(rounds):
        shift = number % len(present)
        for case in CASES:
            for recorder in (*present[shift:], *present[:shift]):
                buffer = 0 if recorder is TARE and case is FLUSHED else case.buffer
                arguments = ["cost", str(case.threads), str(case.events)]
                samples[case][recorder].append(recorders.run(recorder, arguments, buffer))
    tables = [_cost_table(case, samples[case], rounds) for case in CASES]
    tables[0].notes.extend(notes)
    return [*tables, *_table_one([recorder for recorder in present if recorder.table])]


def _present() -> tuple[list[Recorder], list[str]]:
    """The recorders of this machine, and why others are left out."""
    present, notes = [], []
    for recorder in RECORDERS:
        try:
            recorders.run(recorder, ["cost", "1", "1000"], 1 << 20)
            present.append(recorder)
        except PeerError as error:
            notes.append(f"{recorder.label} is left out: {error}")
    return present, notes


def _cost_table(case: Case, samples: dict[Recorder, list[Recorded]], rounds: int) -> Table:
    clocks = [sample.clock_ns for sample in samples[TARE]]
    rows = [Row("the clock, read once", median(clocks))]
    for recorder, of in samples.items():
        in_clocks = median_interval([one.event_ns / clock for one, clock in zip(of, clocks, strict=True)])
        limit = case.limit if recorder is TARE else None
        rows.append(
            Row(recorder.label, median(one.event_ns for one in of), in_clocks, limit, _bytes(case, of))
        )
    raw = {recorder.label: [one.event_ns for one in of] for recorder, of in samples.items()}
    return Table(
        case.title,
        "ns",
        "clock reads",
        rows,
        rounds,
        2,
        over="in all",
        samples=raw,
        last_column="bytes an event on disk",
    )


def _bytes(case: Case, of: Sequence[Recorded]) -> str:
    return f"{median(one.disk_bytes for one in of) / case.events / case.threads:.1f}"


def _table_one(present: Sequence[Recorder]) -> list[Table]:
    """Bytes of an event on disk; the sizes do not vary, so one run of each is enough."""
    litl = next((recorder for recorder in present if recorder.name == "litl"), None)
    tables = []
    for values, kind_of_values, compare, over, limit in (
        ("loop", "of the loop counter", _ratio, "by LiTL's", LOOP_LIMIT),
        ("random", "random", _difference, "more than LiTL's", RANDOM_LIMIT),
    ):
        rows = []
        for kind in TYPES:
            for parameters in PARAMETERS:
                arguments = ["table", str(parameters), kind, values]
                of = {
                    recorder: recorders.run(recorder, arguments, 0 if recorder is TARE else 64 << 20)
                    for recorder in present
                }
                rows.append(_size_row(f"{parameters} x {kind}", of, litl, compare, limit))
        title = f"LiTL's Table I: a million events, parameters {kind_of_values}"
        tables.append(
            Table(
                title, "bytes", "bytes", rows, 1, 2, over=over, last_column="bytes before compression; peers"
            )
        )
    return tables


def _size_row(
    label: str,
    of: dict[Recorder, Recorded],
    litl: Recorder | None,
    compare: Callable[[float, float], float],
    limit: float,
) -> Row:
    each = {recorder: one.disk_bytes / TABLE_EVENTS for recorder, one in of.items()}
    raw = of[TARE].raw_bytes / TABLE_EVENTS
    others = ", ".join(
        f"{recorder.label} {size:.2f}" for recorder, size in each.items() if recorder is not TARE
    )
    against = None
    if litl is not None:
        exact = compare(each[TARE], each[litl])
        against = exactly(exact)
    return Row(label, each[TARE], against, None if against is None else limit, f"{raw:.2f}; {others}")


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs


def _difference(ours: float, theirs: float) -> float:
    return ours - theirs
