"""How a number is spread over ranks, round by round: columns of a picture, from the rounds' histograms, and
the picture as lines of text, for `tare top`."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare import _native, units
from tare.runs.rounds import is_outside_phases
from tare.streams import visible
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Bins, Kind, Round

# Columns are rounds; where these come quickly, so far apart, so that a picture has half a minute or more.
MAX_COLUMNS = 60
APART_NS = NS_PER_S // 2
# Of a column: results of filters that are larger, all files together, are left out.
MAX_BYTES = 4 << 20
ROWS = 11
LABEL = 12
SHADES = " ░▒▓█"
PLAIN_SHADES = " .:*#"  # where output is no terminal that has the others
# Kinds of events, as they are offered.
_ORDER: tuple[Kind, ...] = ("function", "region", "phase", "counter")


@dataclass(frozen=True)
class Column:
    """A round of one event: the histogram over ranks of their time in it since the start, or of its value."""

    round: int  # number of the round
    time_ns: int  # Unix time of its first offload
    bins: Bins  # of times in ns, or of values of a counter


@dataclass(frozen=True)
class Line:
    """One row of a picture: numbers of ranks, column by column."""

    low: float  # lower bound of its bins; relative to the middle of their column, if the picture is relative
    ranks: list[int]  # by column: number of ranks


@dataclass(frozen=True)
class Picture:
    """Rows are bins, the highest first. For times, bins are relative to the bin of the median rank of the
    column, because times only grow, and by more than ranks differ."""

    is_relative: bool
    width: float  # of a bin
    lines: list[Line]
    totals: list[int]  # by column: number of ranks


@dataclass
class _Kept:
    number: int
    time_ns: int
    rounds: list[Round] = field(default_factory=list)  # one of each file
    read: dict[tuple[Kind, str], Bins] | None = None

    def bins(self) -> dict[tuple[Kind, str], Bins]:
        if self.read is None:
            parts: dict[tuple[Kind, str], list[Bins]] = {}
            for made in self.rounds:
                for event, bins in made.histograms().items():
                    parts.setdefault(event, []).append(bins)
            self.read = {event: _native.merged_bins(each) for event, each in parts.items()}
        return self.read


class Columns:
    """The last rounds that have histograms."""

    def __init__(self) -> None:
        self._kept: deque[_Kept] = deque(maxlen=MAX_COLUMNS)

    def take(self, made: Round) -> None:
        """Adds a round. Rounds without histograms, and rounds too soon after the last one, are left out."""
        if not made.has_histograms or made.size > MAX_BYTES:
            return
        for kept in self._kept:
            if kept.number == made.round:  # of the same round, in another file
                if sum(each.size for each in (*kept.rounds, made)) <= MAX_BYTES:
                    kept.rounds.append(made)
                    kept.read = None
                return
        if not self._kept or made.first_ns >= self._kept[-1].time_ns + APART_NS:
            self._kept.append(_Kept(made.round, made.first_ns, [made]))

    def events(self) -> list[tuple[Kind, str]]:
        """Those of the last column; functions first, and of these the one with most time of a rank."""
        if not self._kept:
            return []
        found = {
            event: bins for event, bins in self._kept[-1].bins().items() if not is_outside_phases(*event)
        }
        return sorted(
            found, key=lambda of: (_ORDER.index(of[0]), -found[of].low(len(found[of].counts)), of[1])
        )

    def of(self, kind: Kind, event: str) -> list[Column]:
        """The newest last."""
        found = ((kept, kept.bins().get((kind, event))) for kept in self._kept)
        return [Column(kept.number, kept.time_ns, bins) for kept, bins in found if bins is not None]


def picture(kind: Kind, columns: Sequence[Column], rows: int = ROWS) -> Picture:
    """The picture of at least one column, with the narrowest bins that all have and that fit the rows."""
    is_relative = kind != "counter"
    exponent = max(column.bins.exponent for column in columns)
    while True:
        each = [column.bins.widened(exponent) for column in columns]
        firsts = [bins.first - (_middle(bins) if is_relative else 0) for bins in each]
        low = min(firsts)
        high = max(first + len(bins.counts) for first, bins in zip(firsts, each, strict=True))
        if high - low <= rows:
            break
        exponent += 1
    lines = [Line(number * 2.0**exponent, [0] * len(each)) for number in range(low, high)]
    for i, (first, bins) in enumerate(zip(firsts, each, strict=True)):
        for at, count in enumerate(bins.counts):
            lines[first - low + at].ranks[i] = count
    return Picture(is_relative, 2.0**exponent, lines[::-1], [sum(bins.counts) for bins in each])


def _middle(bins: Bins) -> int:
    """The bin that has the rank in the middle."""
    wanted, seen = (sum(bins.counts) - 1) // 2, 0
    for i, count in enumerate(bins.counts):
        seen += count
        if seen > wanted:
            return bins.first + i
    return bins.first


def middle(bins: Bins) -> float:
    """The beginning of the bin of the rank in the middle."""
    return _middle(bins) * bins.width


def shades_of(line: Line, totals: Sequence[int], using: str = SHADES) -> str:
    """A character for each column: the darker, the larger the share of the ranks."""
    most = len(using) - 1
    return "".join(
        using[min(most, 1 + most * ranks // total)] if ranks else using[0]
        for ranks, total in zip(line.ranks, totals, strict=True)
    )


def text_lines(kind: Kind, event: str, columns: Sequence[Column], shades: str = SHADES) -> list[str]:
    """A heading, the picture, and what its columns are; nothing without columns."""
    if not columns:
        return []
    found = picture(kind, columns)
    center = middle(columns[-1].bins)
    ends = f"rounds {columns[0].round:,} to {columns[-1].round:,}"
    what = (
        f"time since the start; the middle is {units.duration(center)}" if found.is_relative else "its value"
    )
    shaded = []
    for line in found.lines:
        label, now = _label(found, line), line.ranks[-1] or ""
        shaded.append(f"{label:>{LABEL}} {shades_of(line, found.totals, shades)} {now:>5}".rstrip())
    heading = f"{visible(event)}: {what}"
    return [heading, *shaded, f"{'':{LABEL}} {ends}; darker: more ranks; at the right: the last round"]


def _label(found: Picture, line: Line) -> str:
    if not found.is_relative:
        return f"{line.low:.6g}"
    if line.low == 0:
        return "the middle"
    return f"{'+' if line.low > 0 else '-'}{units.duration(abs(line.low))}"
