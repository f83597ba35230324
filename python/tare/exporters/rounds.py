"""The rounds of a monitored run, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare import units
from tare.errors import unwritable
from tare.exporters import Exporter, Part

if TYPE_CHECKING:
    from tare.runs.run import Run


def _draw(run: Run, to: Path, part: Part) -> str:
    from tare import packages
    from tare.monitor import history
    from tare.reporters import rounds_figure

    packages.require("--to svg", ["matplotlib"])
    found = history.of_event(run.round_files(), part.event)
    try:
        rounds_figure.draw(to, found)
    except OSError as error:
        raise unwritable(to, error) from error
    return f"{found.event} in {units.number_of(len(found.rounds or found.histograms), 'round')}"


SVG = Exporter(".svg", _draw, ["event"])
