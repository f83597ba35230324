"""What `tare profile` draws on terminals: sizes, ranks, peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare import units
from tare.analysis import communication, profile
from tare.analysis.efficiency import useful_ns
from tare.analysis.ranks import are_mpi_shares_known, of_largest_world
from tare.reporters import drawing

if TYPE_CHECKING:
    from tare.reporters.console import Console
    from tare.runs.run import Run


def sizes(out: Console, recording: Run) -> None:
    """Calls and time by how much they move."""
    found = communication.sizes(profile.summed(recording, ["size"]))
    total_ns = sum(each.time_ns for each in found)
    if not total_ns:
        return
    rows = [
        (
            units.size_range(each.size_from, each.size_to),
            each.time_ns,
            f"{units.percent(each.time_ns / total_ns):>7}  "
            f"{units.count(each.calls)} {units.noun(each.calls, 'call')}",
        )
        for each in found
    ]
    drawing.bars(out, "Time in calls, by size", rows)


def ranks(out: Console, recording: Run) -> None:
    """How long ranks compute; of many, groups of neighbours, with the longest of each behind the mean."""
    of_world = of_largest_world(recording.processes)
    if len(of_world) < 2 or not are_mpi_shares_known(of_world):
        return
    computing = [useful_ns(process) for process in of_world]
    rows = []
    for group in drawing.groups(len(of_world), drawing.MAX_BARS):
        own = [computing[at] for at in group]
        mean = sum(own) / len(own)
        name = f"{of_world[group.start].rank}"
        if len(group) > 1:
            name += f"-{of_world[group.stop - 1].rank}"
        longest = f", longest {units.duration(max(own))}" if len(own) > 1 else ""
        rows.append((name, mean, f"{units.duration(mean)}{longest}"))
    title = "Computing by rank" if len(rows) == len(of_world) else "Computing by ranks, mean"
    drawing.bars(out, title, rows)


def peers(out: Console, recording: Run) -> None:
    """Who sends how much to whom."""
    found = communication.sent(recording, drawing.MAX_CELLS)
    if found is None:
        return
    total, largest = sum(found.bytes.values()), max(found.bytes.values())
    one = "rank" if found.group == 1 else "group"
    note = f"{units.size(total)} in all; darkest: {units.size(largest)} from one {one} to another"
    drawing.matrix(
        out,
        f"Bytes from {one} to {one} of ranks" if found.group > 1 else "Bytes from rank to rank",
        found.bytes,
        drawing.groups(found.size, drawing.MAX_CELLS),
        note,
    )
