"""Figures as SVG, drawn by matplotlib, which is loaded when the first is drawn."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare import private_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes(width_in: float, height_in: float) -> Axes:
    """The axes of a new figure. Names come from programs, so there is no mathematics in texts."""
    return stacked(1, width_in, height_in)[0]


def stacked(rows: int, width_in: float, height_in: float) -> list[Axes]:
    """The axes of a new figure, one below the other, with one x axis."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # The same data give the same file.
    mpl.rcParams.update(
        {"svg.hashsalt": "tare", "svg.fonttype": "none", "font.size": 9, "text.parse_math": False}
    )
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    made = list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    for each in made:
        each.spines[["top", "right"]].set_visible(False)
    return made


def svg(of: Any) -> str:
    """The figure of these axes, without what stands before its <svg>."""
    out = io.StringIO()
    of.figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def save(of: Any, path: Path) -> None:
    """Writes the figure of these axes. The file has its name when it is whole. OSError if that fails."""
    part = private_files.part_of(path)
    try:
        of.figure.savefig(part, format="svg", metadata={"Date": None})
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
