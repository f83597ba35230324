"""A verb, an exporter and a finding of one's own. Everything of tare that they use is in docs/extending.md.

What takes long to load, such as pyarrow, is imported where it is used: `tare --help` loads this module.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tare
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import MIN_SHARE, Finding
from tare.commands import RunDirectory
from tare.errors import CommandError
from tare.exporters import Exporter, Part
from tare.options import Option
from tare.runs.run import Run
from tare.streams import say


def _times(run: Run, ranks: list[int] | None) -> dict[int, int]:
    """The time in MPI of each rank, in ns."""
    import pyarrow

    times: dict[int, int] = {}
    for row in pyarrow.table(run.profile("rank", ranks=ranks)).to_pylist():
        times[row["rank"]] = times.get(row["rank"], 0) + row["time_ns"]
    return times


def busiest(
    run: RunDirectory,
    count: Annotated[int, Option(min=1, help="The number of ranks.")] = 1,
) -> None:
    """Name the ranks that spend least time in MPI.

    Example: tare busiest app-20260131-120000 --count 3
    """
    times = _times(tare.open(run), None)
    if not times:
        raise CommandError(f"{run} has no rank that called MPI")
    for rank in sorted(times, key=lambda rank: times[rank])[:count]:
        say(f"rank {rank}: {times[rank] / 1e9:.3f} s in MPI")


def _write(run: Run, to: Path, part: Part) -> str:
    times = _times(run, part.ranks)
    to.write_text("".join(f"{rank}\t{time_ns}\n" for rank, time_ns in sorted(times.items())), "utf-8")
    return f"{len(times)} ranks"


RANKS = Exporter(".ranks.tsv", _write, takes=["rank"])


def one_function(basis: Basis, _: Told) -> list[Finding]:
    """One MPI function takes more than half of the time in MPI, and so much that it matters."""
    times: dict[str, int] = {}
    for line in basis.lines:
        times[line.function] = times.get(line.function, 0) + line.time_ns
    function = max(times, key=lambda name: times[name], default="")
    share = basis.share(times.get(function, 0))
    if share < MIN_SHARE or 2 * times[function] <= basis.mpi_ns:
        return []
    sentence = f"{function} alone takes {100 * share:.0f} % of the ranks' time."
    return [Finding(kind="one function", share=share, function=function, sentence=sentence)]
