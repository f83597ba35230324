"""The calls of all ranks as text, and deadlocks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tare import rank_numbers, units
from tare.analysis import endings
from tare.analysis import where as places
from tare.analysis.blocked import ANY, NO_PROCESS
from tare.functions import contains_program, is_collective, meaning
from tare.rank_numbers import of_worlds
from tare.reporters import scheduling, terminal
from tare.streams import visible

if TYPE_CHECKING:
    from tare.analysis.blocked import Rank
    from tare.analysis.deadlock import Blocked, Deadlock
    from tare.analysis.mismatch import Mismatch, Side
    from tare.analysis.where import Look, Pending, Row
    from tare.reporters.console import Console
    from tare.runs.run import Run

WIDEST_LABEL = 16
LISTED = 8
GAP = "  "


def show(out: Console, recording: Run, look: Look) -> None:
    """What the run is, where each rank is, and what follows from that."""
    out.paragraph(_headline(recording, look), bold=True)
    if not look.rows:
        yet = " yet" if recording.is_running else ""
        out.line(f"This run has no recorded call of any process{yet}.")
        return
    if text := scheduling.sentence(recording.meta, recording.processes):
        out.paragraph(f"{text[0].upper()}{text[1:]}.", "")
    out.line()
    worlds = recording.worlds
    _show_groups(out, places.folded(_worth_showing(look.rows)), worlds, look.is_over)
    if look.calling_back:
        has, waits = ("has", "it waits") if len(look.calling_back) == 1 else ("have", "they wait")
        who = of_worlds(look.calling_back, worlds).capitalize()
        out.paragraph(f"{who} {has} communicated in callbacks; whom {waits} for in them is not known.", "")
    if look.deadlock is not None:
        _show_deadlock(out, look, look.deadlock, "Deadlock", worlds)
    elif look.stalled is not None:
        polling = {(row.world, row.rank) for row in look.rows if row.polling}
        stop = {_rank(each) for each in look.stalled.blocked} & polling
        unless = f"unless {of_worlds(stop, worlds)} stop{'s' if len(stop) == 1 else ''} polling"
        _show_deadlock(out, look, look.stalled, f"Deadlock {unless}", worlds)
    names = [each.name for each in recording.communicators]
    for found in look.mismatches[:LISTED]:
        title, text = _mismatch(found, names, worlds)
        out.line()
        out.paragraph(title, bold=True)
        out.paragraph(text, GAP)
    if look.deadlock is None and look.stalled is None:
        for world in sorted({world for world, _ in look.waiting}):
            _show_waited_for(out, look, world, worlds)


def _headline(recording: Run, look: Look) -> str:
    name = recording.meta.name
    if look.is_over:
        return f"{name}: {recording.ending}"
    ns = time.time_ns() - recording.start_ns
    return f"{name}: running for {units.duration(max(ns, 0))}, {time.strftime('%H:%M:%S')}"


def _worth_showing(rows: Iterable[Row]) -> list[Row]:
    """All but threads that are in no call and have made none of MPI, as those of the MPI library itself."""
    return [
        row
        for row in rows
        if not row.thread or row.inside or row.function is None or _is_of_mpi(row.function)
    ]


def _is_of_mpi(function: str) -> bool:
    return meaning(function).source == "MPI"


def _show_groups(out: Console, groups: Sequence[Sequence[Row]], worlds: int, is_over: bool) -> None:
    """Each group: its ranks, what they do, and below it at which line."""
    threads = any(row.thread for rows in groups for row in rows)
    labels = [_label(rows, worlds, threads) for rows in groups]
    width = min(max(map(len, labels), default=0), WIDEST_LABEL)
    for rows, label in zip(groups, labels, strict=True):
        if len(label) > width:
            out.paragraph(label)
            label = ""
        first, *more = _lines(rows, is_over)
        start = f"{label:<{width}}{GAP}"
        out.paragraph(first, start)
        for text in more:
            out.paragraph(text, " " * (len(start) + len(GAP)))


def _mismatch(found: Mismatch, names: Sequence[str], worlds: int) -> tuple[str, str]:
    """What is wrong, and who says what."""

    def on(side: Side) -> str:
        return names[side.communicator]

    def who(side: Side) -> str:
        return of_worlds(side.ranks, worlds)

    one, other = found.sides[0], found.sides[-1]
    if found.kind == "roots":
        said = "; ".join(f"{who(side)}: root {side.root}" for side in found.sides[:LISTED])
        more = f"; and {len(found.sides) - LISTED:,} more" if len(found.sides) > LISTED else ""
        return f"Roots differ: {one.function} on {on(one)}", said + more
    if found.kind in ("collectives", "order"):
        said = "; ".join(f"{who(side)} in {side.function} on {on(side)}" for side in found.sides)
        if found.kind == "order":
            return "Collectives on two communicators, in different orders", said
        return "Different collectives on one communicator", said
    receiver, sender = who(one), who(other)
    wanted = f"{receiver} waits in {one.function}"
    if found.kind == "tags":
        said = f"{wanted} for tag {one.tag} from {sender}, which sends it tag {other.tag} ({other.function})"
        return "Tags do not match", said
    if found.kind == "communicators":
        said = f"{wanted} on {on(one)} for {sender}, which sends to it on {on(other)} ({other.function})"
        return "Communicators do not match", said
    count = units.number_of(found.messages or 0, "message")
    tag = "any tag" if one.tag == ANY else f"tag {one.tag}"
    said = f"{wanted} for {tag} on {on(one)}: do {sender} and {receiver} name the same tag and communicator?"
    return f"{sender.capitalize()} has sent {receiver} {count} that it has not received", said


def _show_deadlock(out: Console, look: Look, found: Deadlock, name: str, worlds: int) -> None:
    """Who waits for whom, and where."""
    rows = {(row.world, row.rank, row.thread): row for row in look.rows}
    shown: set[Rank] = set()
    for cycle in found.cycles:
        title = (
            f"{name}: {of_worlds(cycle, worlds)} waits for itself"
            if len(cycle) == 1
            else f"{name}: {of_worlds(cycle, worlds)} wait for each other"
        )
        out.line()
        out.paragraph(title, bold=True)
        _show_blocked(out, _in_order(found, cycle), rows, worlds)
        shown |= set(cycle)
    for rank in found.ended:
        waiting = [each for each in found.blocked if rank in each.waits_for]
        row = next(row for row in look.rows if (row.world, row.rank) == rank)
        who = {_rank(each) for each in waiting}
        shown |= who
        wait = "waits" if len(who) == 1 else "wait"
        was = "was " * (row.state == "killed")
        which = f"rank {rank[1]}, which {was}{_ended(row)}"
        out.line()
        out.paragraph(f"{name}: {of_worlds(who, worlds)} {wait} for {which}", bold=True)
        _show_blocked(out, waiting, rows, worlds)
    others = {_rank(each) for each in found.blocked} - shown
    if others:
        who_else = of_worlds(others, worlds).capitalize()
        wait = "waits" if len(others) == 1 else "wait"
        out.paragraph(f"{who_else} {wait} for these, directly or not.", GAP)


def _show_waited_for(out: Console, look: Look, world: int, worlds: int) -> None:
    """Says who keeps the others of a world waiting, if there is no deadlock and this can be said."""
    waiting = {rank for rank in look.waiting if rank[0] == world}
    waited_for = {rank for rank in look.waited_for if rank[0] == world}
    if not 0 < len(waited_for) <= min(len(waiting), LISTED):
        return
    waits = "waits" if len(waiting) == 1 else "wait"
    waited = "waited" if look.is_over else waits
    last = [row for row in _worth_showing(look.rows) if (row.world, row.rank) in waited_for]
    # In MPI they may wait for others, but it is not certain for whom.
    is_certain = not any((row.inside or row.polling) and _is_of_mpi(row.function or "") for row in last)
    certain = "" if is_certain else " that is certain"
    whom = f"{of_worlds(waiting, worlds)} {waited} for {_ranks(waited_for)}"
    unseen = {(row.world, row.rank) for row in last if row.state == "unknown"}
    counted = {(row.world, row.rank) for row in last if row.counted}
    are = "is" if len(unseen) == 1 else "are"
    if unseen or counted:
        why = f"{_ranks(unseen)} {are} not seen" if unseen else f"calls of {_ranks(counted)} are only counted"
        title = f"Whether this is a deadlock cannot be told, as {why}: {whom}"
    elif look.is_over and any(row.state == "killed" for row in last):
        title = whom.capitalize()  # it may have been killed before them, so that they waited in vain
    else:
        title = f"No deadlock{certain}: {whom}"
    out.line()
    out.paragraph(title, bold=True)
    for row in last:
        thread = f" thread {row.thread}" if row.thread else ""
        out.paragraph(f"rank {row.rank}{thread}: {_doing([row], look.is_over)}", GAP)


def _in_order(found: Deadlock, cycle: Sequence[Rank]) -> list[Blocked]:
    """Each thread behind the one that waits for it."""
    place = {rank: number for number, rank in enumerate(cycle)}
    return sorted(
        (each for each in found.blocked if _rank(each) in place), key=lambda each: place[_rank(each)]
    )


def _show_blocked(
    out: Console, blocked: Sequence[Blocked], rows: dict[tuple[int, int, int], Row], worlds: int
) -> None:
    for each in blocked[:LISTED]:
        row = rows[each.call.world, each.call.rank, each.call.thread]
        whom = ("any of " if each.any_of_them else "") + _ranks(each.waits_for)
        at = _place(row)
        how = "polls" if row.polling else "waits"
        who = of_worlds([(row.world, row.rank)], worlds)
        text = f"{who} {how} for {whom}: {_call([row])}{f' at {at}' if at else ''}"
        out.paragraph(text, GAP)
    if len(blocked) > LISTED:
        out.line(f"{GAP}… and {len(blocked) - LISTED:,} more")


def _label(rows: Sequence[Row], worlds: int, threads: bool) -> str:
    first = rows[0]
    thread = f" thread {first.thread}" if threads else ""
    if first.rank < 0:
        pids = sorted({row.pid or 0 for row in rows})
        return f"pid{'s' if len(pids) > 1 else ''} {', '.join(map(str, pids))}{thread}"
    world = f"world {first.world} " if worlds > 1 else ""
    return f"{world}{_ranks((row.world, row.rank) for row in rows)}{thread}"


def _lines(rows: Sequence[Row], is_over: bool) -> list[str]:
    """What the ranks do, and where in the program."""
    at, doing = _place(rows[0]), _doing(rows, is_over)
    return [doing, at] if at else [doing]


def _doing(rows: Sequence[Row], is_over: bool) -> str:
    first = rows[0]
    if first.counted:
        return _counted(rows)
    if first.function is None and first.state == "unknown":
        if is_over:
            return f"unknown: this run has no {'call' if first.saved else 'results'} of it"
        where = "not seen from here" if first.pid else "not started yet, or on another host"
        return f"unknown: {where} (run `tare where` there)"
    if first.function is None:
        return "has made no call yet" if first.state == "running" else _ended(first)
    if meaning(first.function).ends == "program":
        return _ended(first)
    if first.state == "unknown":
        seen, doing = "saved" if first.saved else "seen", "in" if first.inside else "after"
        return f"unknown whether it runs; last {seen} {doing} {_call(rows)}"
    if first.state != "running":
        since = _time(rows)
        if first.inside:
            begun = f", begun {since} before the end" if since else ""
            return f"{_ended(first)} in {_call(rows)}{begun}"
        return f"{_ended(first)}; last call: {_call(rows)}"
    stopped = "STOPPED by a signal or a debugger; " if first.stopped else ""
    if first.polling:
        return f"{stopped}polls: {_call(rows)}"
    if first.inside:
        return f"{stopped}{'in ' if contains_program(first.function) else ''}{_call(rows)}, for {_time(rows)}"
    if first.finalized:
        return f"{stopped}has left MPI_Finalize, {_time(rows)} ago"
    if first.rank < 0:
        return f"{stopped}in no call for {_time(rows)}, since {_call(rows)}"
    return f"{stopped}not in MPI for {_time(rows)}, since {_call(rows)}"


def _counted(rows: Sequence[Row]) -> str:
    first, since = rows[0], _time(rows)
    if first.state == "running":
        stopped = "STOPPED by a signal or a debugger; " if first.stopped else ""
        return f"{stopped}calls only counted for {since}: which call it is in is not known"
    how = "unknown whether it runs" if first.state == "unknown" else _ended(first)
    last = (
        f", which were only counted from {since} before the end on" if since else ", which were only counted"
    )
    return f"{how}; its last calls{last}, are not known"


def _ended(row: Row) -> str:
    return (
        "has left MPI_Finalize"
        if row.state == "running"
        else endings.described(row.state, row.exit_code, row.signal, row.finalized)
    )


def _call(rows: Sequence[Row]) -> str:
    """The call with whom: "MPI_Send to rank 1, tag 7"."""
    first = rows[0]
    name = first.function or ""
    means = meaning(name)
    if first.inside and (first.requests or means.waits == "requests"):
        return f"{name}{_requests(rows)}"
    if first.polling and first.peer is None:
        pending = [each for row in rows for each in row.pending]
        return f"{name}; under way: {_request_kinds(pending)}"
    parts = [name]
    if first.used_file is not None:
        parts.append(f" of {visible(first.used_file)}")
    if is_collective(name):
        parts += _collective(rows)
        return "".join(parts)
    if first.peer is not None:
        receives = means.kind in ("receive", "probe")
        how = "of" if means.kind == "epoch" else "from" if receives else "to"
        parts.append(f" {how} {_peers([(row.peer, row.peer_world) for row in rows])}")
    parts += _tag(first.tag, first.source is None or first.tag == first.source_tag)
    if first.source is not None:
        parts.append(f" and from {_peers([(row.source, row.source_world) for row in rows])}")
        parts += _tag(first.source_tag, True)
    if first.communicator not in (None, "MPI_COMM_WORLD"):
        parts.append(f", on {first.communicator}")
    return "".join(parts)


def _tag(tag: int | None, shown: bool) -> list[str]:
    if tag is None or not shown:
        return []
    return [", any tag" if tag == ANY else f", tag {tag}"]


def _collective(rows: Sequence[Row]) -> list[str]:
    first = rows[0]
    parts = []
    if first.root is not None and first.root >= 0:
        parts.append(f" (root {first.root})")
    if first.communicator not in (None, "MPI_COMM_WORLD"):
        parts.append(f" on {first.communicator}")
    missing = sorted({rank for row in rows for rank in row.waits_for})
    if missing and first.inside:
        parts.append(f" without {_ranks((first.world, rank) for rank in missing)}")
    return parts


def _peers(peers: Sequence[tuple[int | None, int | None]]) -> str:
    """The ranks of the world if they are known, else of the communicator; `peers` has both for each row."""
    if all(peer == ANY for peer, _ in peers):
        return "any rank"
    if all(peer == NO_PROCESS for peer, _ in peers):
        return "nobody"
    real = [(peer, world) for peer, world in peers if peer is not None and peer >= 0]
    in_world = [world for _, world in real if world is not None]
    if len(in_world) == len(real):
        return _ranks((0, world) for world in in_world)
    return f"{_ranks((0, peer) for peer, _ in real)} of the communicator"


def _requests(rows: Sequence[Row]) -> str:
    """What is waited for: " for 3 requests: receives from ranks 0-1, a send to rank 2 (tag 5)"."""
    most, least = max(row.requests for row in rows), min(row.requests for row in rows)
    if most == 0:
        return ""
    count = f"{most:,}" if most == least else f"{least:,}-{most:,}"
    waited = [each for row in rows for each in row.pending if each.waited_for]
    kinds = _request_kinds(waited)
    text = f" for {count} request{'s' if most > 1 else ''}"
    return f"{text}: {kinds}" if kinds else text


def _request_kinds(requests: Sequence[Pending]) -> str:
    """ "MPI_Irecv from ranks 0-1, tag 4; MPI_Isend to rank 2, tag 5; MPI_Ibcast (root 0)"."""
    of_all = [each for each in requests if meaning(each.function).kind == "collective"]
    others = [each for each in requests if meaning(each.function).kind != "collective"]
    texts = [
        _request_kind([each for each in others if each.receives], "from"),
        _request_kind([each for each in others if not each.receives], "to"),
        _collective_requests(of_all),
    ]
    return "; ".join(filter(None, texts))


def _names(requests: Sequence[Pending]) -> str:
    functions = sorted({each.function for each in requests})
    return functions[0] if len(functions) == 1 else f"{len(functions)} kinds"


def _collective_requests(requests: Sequence[Pending]) -> str:
    """ "MPI_Ibcast (root 0)"; empty if there are none."""
    if not requests:
        return ""
    roots = {each.peer for each in requests if meaning(each.function).root and each.peer is not None}
    of = rank_numbers.shown(rank_numbers.ranges(root for root in roots if root >= 0))
    return _names(requests) + (f" (root{'s' if len(roots) > 1 else ''} {', '.join(of)})" if of else "")


def _request_kind(requests: Sequence[Pending], how: str) -> str:
    """ "MPI_Irecv from ranks 0-1, tag 7"; empty if there are none."""
    if not requests:
        return ""
    text = _names(requests)
    peers = [each for each in requests if each.peer is not None]
    known = {each.peer_world for each in peers if each.peer_world is not None}
    whom = [_ranks((0, peer) for peer in known)] if known else []
    whom += ["any rank"] if any(each.peer == ANY for each in peers) else []
    tags = {each.tag for each in peers}
    only = tags.pop() if len(tags) == 1 else None
    return (
        text
        + (f" {how} {' and '.join(whom)}" if whom else "")
        + ("" if only is None else "".join(_tag(only, True)))
    )


def _time(rows: Sequence[Row]) -> str:
    """ "3.2 s", "3.2 s to 1 min"; empty if it is not known."""
    times = [row.for_ns for row in rows if row.for_ns is not None]
    if not times:
        return ""
    least, most = units.duration(min(times)), units.duration(max(times))
    return most if least == most else f"{least} to {most}"


def _place(row: Row) -> str:
    at = terminal.place(row)
    if at == units.NOTHING:
        return ""
    return f"{terminal.caller(row)}, {at}" if row.caller else at


def _ranks(ranks: Iterable[Rank]) -> str:
    """Ranks of a world that is known from what is said before."""
    return rank_numbers.named(rank for _, rank in ranks)


def _rank(blocked: Blocked) -> Rank:
    return blocked.call.world, blocked.call.rank
