"""How a program scales over runs on more and more ranks: POP's model, and the lines whose share grows.

POP: global efficiency is the parallel efficiency times the computation scaling, which is the useful time
of all ranks of the first run over that of a run. M. Wagner et al. (2017) define them, see docs/profile.md.
All is of the largest world of each run (ranks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.efficiency import Efficiency, efficiencies, replayed, useful_ns
from tare.analysis.profile import summed
from tare.analysis.ranks import of_largest_world
from tare.analysis.rows import Placed
from tare.functions import OUTSIDE_NET
from tare.runs import missing

if TYPE_CHECKING:
    from tare.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Point:
    """A run on a number of ranks."""

    run: str  # its directory
    ranks: int  # of the world, also those whose results are missing
    efficiency: Efficiency
    speedup: float | None  # net time of the first run over that of this one
    computation_scaling: float | None
    global_efficiency: float | None


@dataclass(frozen=True)
class ScaledLine:
    """A line of the program, and what it takes of the time of the ranks in each run."""

    function: str
    place: Placed  # without addresses, which differ between builds
    shares: tuple[float, ...]

    @property
    def growth(self) -> float:
        """The last share minus the first."""
        return self.shares[-1] - self.shares[0]


def points(runs: Sequence[Run]) -> list[Point]:
    """One for each run, those with fewer ranks first; the first is what the others are compared with."""
    found = [(_efficiency(run), _all_useful_ns(run), run) for run in by_ranks(runs)]
    if not found:
        return []
    first, first_useful_ns, _ = found[0]
    result = []
    for each, all_useful_ns, run in found:
        scaling = first_useful_ns / all_useful_ns if first_useful_ns and all_useful_ns else None
        parallel = each.parallel_efficiency
        result.append(
            Point(
                run=str(run.run_dir),
                ranks=_ranks(run),
                efficiency=each,
                speedup=first.net_ns / each.net_ns if each.net_ns else None,
                computation_scaling=scaling,
                global_efficiency=parallel * scaling
                if parallel is not None and scaling is not None
                else None,
            )
        )
    return result


def lines(runs: Sequence[Run]) -> list[ScaledLine]:
    """The lines in the order of the growth of their shares, the largest first."""
    shares: list[dict[tuple[str, Placed], float]] = []
    for run in by_ranks(runs):
        ranks = of_largest_world(run.processes)
        total_ns = sum(process.threads_ns for process in ranks)
        of: dict[tuple[str, Placed], float] = {}
        for row in summed(run, ["line"]):
            if (
                ranks
                and row.world == ranks[0].world
                and row.timed
                and total_ns
                and row.function not in OUTSIDE_NET
            ):
                key = row.function, Placed(file=row.file, line=row.line, caller=row.caller, object=row.object)
                of[key] = of.get(key, 0.0) + row.time_ns / total_ns
        shares.append(of)
    keys = {key for of in shares for key in of}
    found = [ScaledLine(*key, tuple(of.get(key, 0.0) for of in shares)) for key in keys]
    return sorted(found, key=lambda each: (-each.growth, each.function, str(each.place)))


def by_ranks(runs: Sequence[Run]) -> list[Run]:
    """The runs, those with fewer ranks first."""
    return sorted(runs, key=_ranks)


def _ranks(run: Run) -> int:
    there = of_largest_world(run.processes)
    return max((process.size for process in there), default=0) or len(there)


def _all_useful_ns(run: Run) -> int | None:
    """The useful time of all ranks; None if some are missing."""
    return None if missing.incomplete(run) else sum(map(useful_ns, of_largest_world(run.processes)))


def _efficiency(run: Run) -> Efficiency:
    ranks = of_largest_world(run.processes)
    found = replayed(efficiencies(ranks), ranks, lambda: run.replayed_worlds, always=False)
    return found[0]
