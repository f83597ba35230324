"""What `tare samples` draws on terminals: what latencies are made of, by size, and from rank to rank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.analysis import samples as analysis
from tare.analysis.groups import grouped
from tare.reporters import drawing

if TYPE_CHECKING:
    from tare._native import SampleRow, Site
    from tare.analysis.samples import Key, Row
    from tare.reporters.console import Console


def draw(out: Console, samples: Sequence[SampleRow], sites: Sequence[Site]) -> None:
    """Draws the samples of the world that has most; nothing where there is no terminal."""
    if not out.draws or not samples:
        return
    worlds: dict[int, int] = defaultdict(int)
    for sample in samples:
        worlds[sample.world] += sample.count
    world = max(worlds, key=lambda each: worlds[each])
    own = [sample for sample in samples if sample.world == world]

    def summed(*keys: Key) -> list[Row]:
        return analysis.summed(own, sites, keys)

    _parts(out, summed())
    _sizes(out, summed("size"))
    _ranks(out, summed("source", "destination"))


def _parts(out: Console, rows: Sequence[Row]) -> None:
    """Draws the parts of the time from the start of the send to the end of the receive."""
    named = (
        ("no receive was posted", sum(row.unposted_ns * _messages(row) for row in rows)),
        ("posted, and not waited for", sum(row.unwaited_ns * _messages(row) for row in rows)),
        ("transfer", sum(row.transfer_ns * _messages(row) for row in rows)),
    )
    whole = sum(value for _, value in named)
    if whole <= 0:
        return
    out.title("What latencies are made of")
    drawing.parts(out, [(name, value / whole) for name, value in named])


def _sizes(out: Console, rows: Sequence[Row]) -> None:
    sized = [(row.bytes, row) for row in rows if row.bytes is not None]
    if len(sized) < 2:
        return
    bars = []
    # By power of two, from it on.
    for power, found in sorted(grouped(sized, lambda each: each[0].bit_length()).items()):
        of = [row for _, row in found]
        mean = _mean_ns(of)
        start = 1 << (power - 1) if power else 0
        label = units.size_range(start, 1 << power)
        samples = sum(row.count for row in of)
        bars.append(
            (label, mean, f"{units.duration(mean)}, {units.count(samples)} {units.noun(samples, 'sample')}")
        )
    drawing.bars(out, "Mean latency, by size", bars)


def _ranks(out: Console, rows: Sequence[Row]) -> None:
    pairs = [(row.source, row.destination, row) for row in rows]
    known = [(source, to, row) for source, to, row in pairs if source is not None and to is not None]
    if not known:
        return
    groups = drawing.groups(max(max(source, to) for source, to, _ in known) + 1, drawing.MAX_CELLS)
    size = len(groups[0])
    cells = grouped(known, lambda each: (each[0] // size, each[1] // size))
    means = {place: _mean_ns([row for *_, row in of]) for place, of in cells.items()}
    one = "rank" if size == 1 else "group"
    note = f"darkest: {units.duration(max(means.values()))} from one {one} to another, blank: no sample"
    title = f"Mean latency from {one} to {one}{' of ranks' if size > 1 else ''}"
    drawing.matrix(out, title, means, groups, note)


def _mean_ns(rows: Sequence[Row]) -> float:
    """The mean of all messages that the samples represent."""
    messages = sum(_messages(row) for row in rows)
    return sum(row.mean_ns * _messages(row) for row in rows) / messages if messages else 0.0


def _messages(row: Row) -> float:
    """How many messages the samples represent; if that is not known, the samples alone."""
    return row.count if row.estimate is None else row.estimate
