"""The tables of a run as a directory of files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tare import units
from tare.exporters import Exporter, Part

if TYPE_CHECKING:
    from tare.runs.run import Run


def _write(kind: Literal["parquet", "csv"], run: Run, to: Path, _: Part) -> str:
    from tare.tables import dataset

    return units.number_of(dataset.write(run, to, kind), "row")


CSV = Exporter(".csv", partial(_write, "csv"), hint="select the rank from the tables")
PARQUET = Exporter(".parquet", partial(_write, "parquet"), hint="select the rank from the tables")
