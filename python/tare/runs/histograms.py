"""Histograms over ranks, as the filter `histogram` makes them of a round (docs/format.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from tare.runs.rounds import Input, Kind, Malformed, Round

NAME = "histogram"
# Histograms of several files have at most so many bins together: they are widened until that holds.
MAX_BINS = 4096
# How a filter says that it has only the time, and of counters the value.
ONLY_TIME = ":time"


@dataclass(frozen=True)
class Bins:
    """A histogram. Bin i has the ranks with values from (first + i) * width to below (first + i + 1) * width.

    Widths are powers of two, so each bin of a wider histogram consists of whole bins of a narrower one.
    """

    exponent: int  # width = 2 ** exponent
    first: int
    counts: tuple[int, ...]  # by bin: number of ranks

    @property
    def width(self) -> float:
        """Of a bin, in the unit of the metric."""
        return 2.0**self.exponent

    def low(self, i: int) -> float:
        """Where bin i begins; bin `len(counts)` would begin where the last one ends."""
        return (self.first + i) * self.width

    def ends(self, exponent: int) -> tuple[int, int]:
        """The first and the last of the bins, if they were so wide."""
        by = exponent - self.exponent
        return self.first >> by, (self.first + max(len(self.counts), 1) - 1) >> by

    def widened(self, exponent: int) -> Bins:
        """The same ranks in bins that are as wide or wider."""
        by = exponent - self.exponent
        first, last = self.ends(exponent)
        counts = [0] * (last - first + 1)
        for i, count in enumerate(self.counts):
            counts[((self.first + i) >> by) - first] += count
        return Bins(exponent, first, tuple(counts))


def together(parts: Iterable[Bins]) -> Bins:
    """The ranks of all of them, at least one, in bins of the widest; in wider ones if they lie far apart."""
    each = list(parts)
    exponent = max(bins.exponent for bins in each)
    while True:
        ends = [bins.ends(exponent) for bins in each]
        first, last = min(low for low, _ in ends), max(high for _, high in ends)
        if last - first < MAX_BINS:
            break
        exponent += 1
    counts = [0] * (last - first + 1)
    for bins in (bins.widened(exponent) for bins in each):
        for i, count in enumerate(bins.counts):
            counts[bins.first - first + i] += count
    return Bins(exponent, first, tuple(counts))


def metrics_of(kind: Kind) -> tuple[str | None, str | None, str | None]:
    """The names of the three numbers of an event; None for one that it does not have."""
    return ("calls", None, "value") if kind == "counter" else ("calls", "time_ns", "bytes")


def main_metric(kind: Kind) -> str:
    """The metric that is shown of an event where there is room for one."""
    return "value" if kind == "counter" else "time_ns"


def of_part(made: Round, name: str, reduced: bytes) -> dict[tuple[Kind, str], dict[str, Bins]]:
    """By event and metric: of what the filter `name` has made of the round; Malformed if that is damaged."""
    source = Input(memoryview(reduced))
    source.number()  # bins at most
    keys = [int(key) for key in source.numbers("Q", source.number())]
    found: dict[tuple[Kind, str], dict[str, Bins]] = {}
    for key in keys:
        event, kind = made.named(key)
        metrics = (main_metric(kind),) if name.endswith(ONLY_TIME) else metrics_of(kind)
        of_event = found.setdefault((kind, event), {})
        for metric in metrics:
            exponent, count, first = struct.unpack("<HHQ", source.take(12))
            counts = tuple(int(number) for number in source.numbers("I", count))
            if exponent > 62 or first >> 63:
                raise Malformed
            if metric is not None:
                of_event[metric] = Bins(exponent, first, counts)
    return found


def of_round(made: Round) -> dict[tuple[Kind, str], Bins]:
    """Of each event the time over ranks, or the value of a counter; of those that some rank has had. Nothing
    if the round has no histograms, or damaged ones."""
    found: dict[tuple[Kind, str], Bins] = {}
    for name, reduced in made.parts():
        if name.partition(":")[0] != NAME:
            continue
        try:
            events = of_part(made, name, reduced)
        except (Malformed, struct.error):
            continue
        for event, metrics in events.items():
            bins = metrics.get(main_metric(event[0]))
            if bins is not None and any(bins.counts):
                found[event] = bins
    return found
