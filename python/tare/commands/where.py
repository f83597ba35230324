"""`tare where`: what every rank is doing right now."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tare.analysis import where as places
from tare.analysis.deadlock import Deadlock
from tare.analysis.mismatch import Mismatch
from tare.analysis.rows import fields, flat
from tare.analysis.where import Look
from tare.commands import AnyMember, Json, RunDirectory, print_json
from tare.commands.reading import conclude, open_readable
from tare.runs import asking
from tare.runs.run import Run, open_answered

SCHEMA = "tare.where/1"


def where(run: RunDirectory, member: AnyMember = None, json: Json = False) -> None:
    """Show the MPI call that each rank is in, and name deadlocks.

    Works while the program runs or hangs, and after it was killed: docs/where.md.

    Example: tare where app-20260131-120000
    """
    recording, look = look_twice(run, member)
    if json:
        print_json(SCHEMA, run, _content(recording, look))
        return conclude(recording, reported=True)
    from tare.reporters import where as reporter_where
    from tare.reporters.console import console

    reporter_where.show(console(cut=True), recording, look)
    return conclude(recording)


def look_twice(run: Path, member: str | None, silent: Collection[str] = ()) -> tuple[Run, Look]:
    """Looks at all nodes that answer. A deadlock must stand at a second look, unless the run is over.

    All nodes have answered the first question before the second one is asked: what both answers have was
    so on all nodes at one moment. Those of `silent` are not asked: they have not answered before.
    """
    with _seen(run, member, silent) as recording:
        first = places.look(recording)
        if first.is_over or not places.needs_second_look(first):
            return recording, first
        silent = recording.answers.silent if recording.answers else silent
    time.sleep(places.blocked_in_s(first))
    with _seen(run, member, silent) as recording:
        return recording, places.look(recording, places.identities(first.calls))


@contextmanager
def _seen(run: Path, member: str | None, silent: Collection[str]) -> Iterator[Run]:
    """The run as it is here and on nodes that answer."""
    recording = open_readable(run, member)
    whom = asking.others(recording)
    asked = [who for who in whom if who not in silent]
    with asking.answered(run, asked, is_going_on=recording.is_going_on) as answers:
        if whom:
            recording = open_answered(run, answers.without(who for who in whom if who in silent))
        yield recording


def _content(recording: Run, look: Look) -> dict[str, Any]:
    return {
        "program": recording.meta.name,
        "state": recording.meta.state,
        "rows": [flat(row) for row in look.rows],
        "deadlock": None if look.deadlock is None else _deadlock(look.deadlock, look),
        "stalled": None if look.stalled is None else _deadlock(look.stalled, look),
        "mismatches": [_mismatch(each, recording) for each in look.mismatches],
        "waiting": [{"world": world, "rank": rank} for world, rank in sorted(look.waiting)],
        "waited_for": [{"world": world, "rank": rank} for world, rank in sorted(look.waited_for)],
        "missing": [vars(row) for row in recording.missing],
        "warnings": recording.warnings,
    }


def _mismatch(found: Mismatch, recording: Run) -> dict[str, Any]:
    names = [each.name for each in recording.communicators]
    sides = [
        {
            "ranks": [{"world": world, "rank": rank} for world, rank in side.ranks],
            "function": side.function or None,
            "communicator": names[side.communicator] if side.communicator >= 0 else None,
            "root": side.root,
            "tag": side.tag,
        }
        for side in found.sides
    ]
    return {"kind": found.kind, "sides": sides, "messages": found.messages}


def _deadlock(found: Deadlock, look: Look) -> dict[str, Any]:
    rows = {(row.world, row.rank, row.thread): row for row in look.rows}
    blocked = []
    for each in found.blocked:
        row = rows[each.call.world, each.call.rank, each.call.thread]
        names = ("world", "rank", "thread", "function", "communicator", "tag", "file", "line", "caller")
        blocked.append(
            fields(row, names)
            | {"waits_for": [rank for _, rank in each.waits_for], "waits_for_any": each.any_of_them}
        )
    return {
        "cycles": [[{"world": world, "rank": rank} for world, rank in cycle] for cycle in found.cycles],
        "ended": [{"world": world, "rank": rank} for world, rank in found.ended],
        "blocked": blocked,
    }
