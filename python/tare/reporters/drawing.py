"""Pictures of characters, for terminals alone: bars, histograms, a matrix. Elsewhere tables say the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tare.reporters import cells

if TYPE_CHECKING:
    from tare.reporters.console import Console

# Of a character's width, in eighths.
EIGHTHS = " ▏▎▍▌▋▊▉█"
SHADES = " ░▒▓█"
# What the parts of a whole are drawn with, in their order: they differ without colours.
PARTS = "█▓▒░"
WIDEST_BAR = 48
NARROWEST_BAR = 8
MAX_BARS = 16
MAX_CELLS = 16


def bar(share: float, width: int) -> str:
    """A bar as long as `share` (0 to 1) of `width` columns; what is not 0 can be seen."""
    share = min(max(share, 0.0), 1.0)
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (EIGHTHS[rest] if rest else "")


def bars(out: Console, title: str, rows: Sequence[tuple[str, float, str]]) -> None:
    """A bar for each row: its label, its value and the text behind it; the largest value fills the room."""
    largest = max((value for _, value, _ in rows), default=0)
    if largest <= 0:
        return
    labels = max(cells.width(label) for label, _, _ in rows)
    texts = max(cells.width(text) for _, _, text in rows)
    room = min(max(out.width - labels - texts - 6, NARROWEST_BAR), WIDEST_BAR)
    out.title(title)
    for label, value, text in rows:
        drawn = bar(value / largest, room)
        blanks = " " * (labels - cells.width(label))
        behind = " " * (room - len(drawn) + texts - cells.width(text))
        out.line(cells.cut(f"  {blanks}{label}  {drawn}{behind}  {text}", out.width))


def parts(out: Console, named: Sequence[tuple[str, float]], indent: str = "  ") -> None:
    """The parts of a whole as one line, and what each character stands for. Shares add up to at most 1."""
    room = min(out.width - len(indent), WIDEST_BAR)
    line, said, before = "", [], 0.0
    for (name, share), character in zip(named, PARTS, strict=False):
        end = round((before + share) * room)
        line += character * (end - len(line))
        before += share
        said.append(f"{character} {name} {share * 100:.0f} %")
    out.line(indent + line)
    out.paragraph("  ".join(said), indent)


def groups(count: int, most: int) -> list[range]:
    """So many numbers from 0 on, in at most `most` groups of equal size."""
    size = -(-count // most) or 1
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def group_name(of: range) -> str:
    """A group of neighbouring ranks as text: "3" or "4-7"."""
    return f"{of.start}" if len(of) == 1 else f"{of.start}-{of.stop - 1}"


def _shade(share: float) -> int:
    """What is not 0 can be seen."""
    return math.ceil(share * (len(SHADES) - 1))


def matrix(
    out: Console, title: str, values: Mapping[tuple[int, int], float], of: Sequence[range], note: str
) -> None:
    """How much goes from each group to each, by their places in `of`; the largest is darkest."""
    largest = max(values.values(), default=0)
    if largest <= 0:
        return
    names = [group_name(each) for each in of]
    labels = max(map(len, names))
    wide = 2 if labels + 6 + 2 * len(of) <= out.width else 1
    out.title(title)
    out.line(cells.cut(f"  {'':>{labels}}  to {names[0]}, …, {names[-1]}", out.width))
    for row, name in enumerate(names):
        shades = [SHADES[_shade(values.get((row, column), 0) / largest)] for column in range(len(of))]
        out.line(f"  {name:>{labels}} │{''.join(shade * wide for shade in shades)}│")
    out.paragraph(note, "  ")
