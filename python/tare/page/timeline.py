"""The timeline of a traced run: what a page needs to know of it, and as much of it as fits into a file."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from tare._native import WAIT_KINDS
from tare.analysis.rows import placed
from tare.reporters import terminal
from tare.streams import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import Site, Timeline, TimelineRow
    from tare.runs.run import Run

# Of a file: so many bins in all, in so many rows; so many of the longest calls, and of messages.
MAX_BINS = 600_000
MAX_ROWS = 512
MAX_COLUMNS = 4096
MAX_CALLS = 500_000
MAX_MESSAGES = 60_000
MAX_WAITS = 60_000
MAX_PATH = 60_000
MAX_OFF_PROCESSOR = 10_000
# Calls that are drawn one by one.
MAX_DRAWN = 40_000
# Bytes of the values of each column (src/bindings/timeline.cpp).
CALL_COLUMNS = (8, 8, 8, 4, 4, 4, 2)
MESSAGE_COLUMNS = (8, 8, 8, 4, 4, 4)
WAIT_COLUMNS = (8, 8, 8, 4, 4, 4, 2, 2)
PATH_COLUMNS = (8, 8, 4)
# A process that lives for less than this share of the time is drawn as long as it lives.
MOST = 0.99
# Of larger traces messages are not matched: it takes a fifth of a microsecond for each record.
MATCHED_RECORDS = 50_000_000
# Of larger ones waits are not looked for: finding them would take longer than all the rest.
WAITS_RECORDS = 20_000_000
# Of a search: words that are looked at.
MAX_WORDS = 30


def described(run: Run, timeline: Timeline) -> dict[str, Any]:
    """Times are nanoseconds since `start_ns`, which is since the start of the run."""
    rows = timeline.rows()
    trace = run.total_trace()
    return {
        "start_ns": timeline.start_ns - run.start_ns,
        "length_ns": timeline.end_ns - timeline.start_ns,
        "records": sum(row.records for row in rows),
        "worlds": [row.world for row in rows],
        "ranks": [row.rank for row in rows],
        "pids": [row.pid for row in rows],
        "threads": [row.thread for row in rows],
        "since": _since(rows),
        "observed": [row.observed for row in rows],
        "lives": _lives(run, timeline, rows),
        "has_gaps": bool(trace.dropped or trace.overwritten_bytes or run.spells),
        "functions": [visible(name) for name in run.functions],
        "places": [_place(site) for site in run.sites],
        "wait_kinds": WAIT_KINDS,
        "off_processor": _off_processor(run, timeline),
    }


def _since(rows: Sequence[TimelineRow]) -> list[tuple[int, int, int]]:
    """The threads of locations that several had, one after another: row, begin of its first call, thread."""
    shared = ((number, row.threads) for number, row in enumerate(rows) if len(row.threads) > 1)
    return [(number, begin, thread) for number, threads in shared for begin, thread in threads]


def _lives(run: Run, timeline: Timeline, rows: Sequence[TimelineRow]) -> list[tuple[int, int, int]]:
    """The rows whose process began late, or ended early, with its begin and its end."""
    length_ns = timeline.end_ns - timeline.start_ns
    lives: dict[tuple[int, int, int], tuple[int, int]] = {}
    for process in run.processes:  # exec makes several of one
        at = process.world, process.rank, process.pid
        begin, end = lives.get(at, (length_ns, 0))
        own = process.start_ns - timeline.start_ns
        lives[at] = min(begin, max(own, 0)), max(end, min(own + process.wall_ns, length_ns))
    keys = ((row.world, row.rank, row.pid) for row in rows)
    found = ((number, *lives.get(at, (0, length_ns))) for number, at in enumerate(keys))
    return [(number, begin, end) for number, begin, end in found if end - begin < MOST * length_ns]


def _off_processor(run: Run, timeline: Timeline) -> list[list[int]] | None:
    """The longest times on no processor outside MPI: row, begin, end, descheduled, blocked; None: unknown."""
    if not any(process.scheduling.observed_ns for process in run.processes):
        return None
    numbers = {
        (row.world, row.rank, row.pid, row.thread): number for number, row in enumerate(timeline.rows())
    }
    found = []
    for row in run.rows(run.scheduling):
        number = numbers.get((row.world, row.rank, row.pid, row.thread))
        if number is not None and row.descheduled_outside_ns + row.blocked_outside_ns:
            times = (row.start_ns - timeline.start_ns, row.end_ns - timeline.start_ns)
            found.append([number, *times, row.descheduled_outside_ns, row.blocked_outside_ns])
    return sorted(found, key=lambda each: -each[3] - each[4])[:MAX_OFF_PROCESSOR]


def embedded(run: Run, timeline: Timeline) -> dict[str, Any]:
    """Blocks of a page by name; none if nothing was traced. Waits are shown if they have been found."""
    about = described(run, timeline)
    count = len(about["ranks"])
    if not count:
        return {}
    group = -(-count // MAX_ROWS)
    rows = -(-count // group)
    columns = min(MAX_COLUMNS, MAX_BINS // rows)
    length_ns = about["length_ns"]
    min_ns, calls, call_columns = timeline.longest(MAX_CALLS)
    about["bins"] = {"rows": rows, "group": group, "columns": columns}
    about["calls"] = {"count": calls, "min_ns": min_ns}
    blocks: dict[str, Any] = {
        "timeline": about,
        "timeline-bins": timeline.bins(0, rows, group, 0, length_ns, columns),
        "timeline-calls": _by_planes(call_columns, calls, CALL_COLUMNS),
    }
    if about["records"] <= WAITS_RECORDS:
        every, kept, waits = timeline.find([], [], 0, 0, count, waits=True, most=MAX_WAITS)
        about["waits"] = {"count": kept, "found": every}
        blocks["timeline-waits"] = _by_planes(waits, kept, WAIT_COLUMNS)
        pieces, path = timeline.path(0, count, 0, length_ns, MAX_PATH)
        about["path"] = {"count": pieces}
        blocks["timeline-path"] = _by_planes(path, pieces, PATH_COLUMNS)
    if about["records"] <= MATCHED_RECORDS:
        kept, matched = timeline.match(MAX_MESSAGES)
        found = timeline.messages(0, count, 0, length_ns, kept)
        if found is not None:
            about["messages"] = {"count": found[0], "matched": matched}
            blocks["timeline-messages"] = _by_planes(found[1], found[0], MESSAGE_COLUMNS)
    return blocks


def picture(
    timeline: Timeline, first: int, rows: int, group: int, span: tuple[int, int], columns: int
) -> bytes:
    """What `tare view` answers: the calls, if there are few enough, else bins; with a head of two numbers."""
    found = timeline.calls(first, rows, *span, MAX_DRAWN) if group == 1 else None
    if found is not None:
        count, data = found
        return struct.pack("<II", 1, count) + data
    return struct.pack("<II", 0, rows * columns) + timeline.bins(first, rows, group, *span, columns)


def search(timeline: Timeline, about: dict[str, Any], words: str, query: dict[str, int], most: int) -> bytes:
    """What `tare view` answers: calls, or waits, that fit all words, the longest; with a head of two numbers.

    A word fits a call if it is part of the name of its function, or of its place.
    """
    asked = words.lower().split()[:MAX_WORDS]
    every, kept, data = timeline.find(
        _fitting(asked, about["functions"]),
        _fitting(asked, about["places"]),
        (1 << len(asked)) - 1,
        query.get("first", 0),
        query.get("rows", len(about["ranks"])),
        query.get("min", 0),
        query.get("peer", -1),
        bool(query.get("waits", 0)),
        most,
    )
    return struct.pack("<II", min(every, (1 << 32) - 1), kept) + data


def _fitting(words: list[str], texts: list[str]) -> list[int]:
    """The words that are part of each text, as bits."""
    lowered = [text.lower() for text in texts]
    return [sum(1 << i for i, word in enumerate(words) if word in text) for text in lowered]


def _by_planes(data: bytes, count: int, widths: tuple[int, ...]) -> bytes:
    """The first bytes of each column, then all second ones …: so they compress to two thirds."""
    planes = []
    at = 0
    for width in widths:
        column = data[at : at + count * width]
        planes += [column[byte::width] for byte in range(width)]
        at += (count * width + 7) // 8 * 8
    return b"".join(planes)


def _place(site: Site) -> str:
    at = placed(site)
    caller = terminal.caller(at) if at.caller else ""
    return visible(f"{terminal.place(at)}{f' in {caller}' if caller else ''}")
