"""What ranks have had of an event, round by round, as a figure: Nataraj et al. (CLUSTER 2008), Figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tare.monitor.history import Bin, History
from tare.reporters import canvas
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tare._native import Statistic

T = TypeVar("T")

WIDTH_IN = 9.0
HEIGHT_IN = 4.5
# More rounds are thinned out.
MAX_COLUMNS = 1000
# Of a picture of histograms.
LINES = 400


def draw(path: Path, found: History) -> None:
    """OSError if the file cannot be written."""
    if found.histograms:
        draw_histograms(path, found.event, found.histograms)
    else:
        draw_statistics(path, found.event, found.rounds)


def draw_statistics(path: Path, event: str, rounds: Sequence[tuple[int, Statistic]]) -> None:
    """Mean, deviation, minimum and maximum over ranks of the time in the event, over round numbers."""
    axes = _axes(event)
    chosen = _thinned(rounds)
    numbers = [number for number, _ in chosen]

    def of(values: list[float]) -> list[float]:
        return [value / NS_PER_S for value in values]

    each = [statistic for _, statistic in chosen]
    least, most = of([one.least for one in each]), of([one.most for one in each])
    low = of([max(one.mean - one.deviation, one.least) for one in each])
    high = of([min(one.mean + one.deviation, one.most) for one in each])
    axes.fill_between(numbers, least, most, color="tab:blue", alpha=0.15, label="from the least to the most")
    axes.fill_between(numbers, low, high, color="tab:blue", alpha=0.3, label="within a standard deviation")
    axes.plot(numbers, of([one.mean for one in each]), color="tab:blue", label="mean over ranks")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, loc="upper left")
    canvas.save(axes, path)


def draw_histograms(path: Path, event: str, rounds: Sequence[tuple[int, Sequence[Bin]]]) -> None:
    """How many ranks have had how much time in the event, over round numbers.

    Bins differ from round to round. Ranks are spread evenly over the width of theirs.
    """
    import numpy

    axes = _axes(event)
    chosen = _thinned(rounds)
    highest_ns = max((part.high_ns for _, bins in chosen for part in bins), default=1.0)
    picture = numpy.zeros((LINES, len(chosen)))
    for column, (_, bins) in enumerate(chosen):
        total = sum(part.ranks for part in bins)
        for part in bins:
            first = int(part.low_ns / highest_ns * LINES)
            last = max(first + 1, round(part.high_ns / highest_ns * LINES))
            picture[first:last, column] += part.ranks / total
    shown = axes.imshow(
        numpy.ma.masked_equal(picture, 0),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        cmap="viridis_r",
        vmin=0,
        vmax=1,
        extent=(chosen[0][0] - 0.5, chosen[-1][0] + 0.5, 0, highest_ns / NS_PER_S),
    )
    axes.figure.colorbar(shown, ax=axes, label="share of the ranks in a bin", format="{x:.0%}")
    canvas.save(axes, path)


def _thinned(rounds: Sequence[T]) -> Sequence[T]:
    return rounds[:: max(1, -(-len(rounds) // MAX_COLUMNS))]


def _axes(event: str) -> Axes:
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    axes.set_title(event)
    axes.set_xlabel("round")
    axes.set_ylabel("time since the start, s")
    return axes
