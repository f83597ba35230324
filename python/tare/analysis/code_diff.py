"""The program's functions in two sets of runs, by samples of stacks (docs/diff.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare.analysis import rank_differences, sampling_error, stacks
from tare.analysis.compare import Comparison, compare, correct
from tare.analysis.sampling_error import Sampled

if TYPE_CHECKING:
    from tare.runs.run import Run

Code = tuple[str, str]  # function, and the name of its file


@dataclass(frozen=True)
class CodeChange:
    """A function of the program: time in libraries counts to the function that calls them."""

    function: str
    file: str  # without its directory; "": not known
    time_ns: Comparison  # processor time of all threads
    more_ns: float  # mean of the new runs minus that of the base
    error_ns: float  # half of its 95 % confidence interval, of the sampling alone
    beyond_sampling: bool  # whether it is more than chance of the samples, corrected for all functions

    @property
    def differs(self) -> bool | None:
        """Whether the difference is real. Single runs never tell that it is: times vary by themselves."""
        if self.time_ns.differs is not None:
            return self.time_ns.differs
        return None if self.beyond_sampling else False


def has_samples(runs: Sequence[Run]) -> bool:
    """Whether all of the runs have samples of stacks."""
    return all(stacks.samples(run) for run in runs)


def changes(base: Sequence[Run], new: Sequence[Run]) -> list[CodeChange]:
    """Those with the largest change come first; none, unless all runs have samples."""
    if not has_samples((*base, *new)):
        return []
    sides = [[_by_function(run) for run in side] for side in (base, new)]
    alls = [_added(time for run in side for time in _all(run)) for side in (base, new)]
    codes = sorted({code for side in sides for run in side for code in run})
    found = []
    for code in codes:
        together = [_added(run[code] for run in side if code in run) for side in sides]
        of_runs = [[run[code].time_ns if code in run else 0.0 for run in side] for side in sides]
        difference = sampling_error.between(
            together[0], together[1], alls[0], alls[1], base_runs=len(base), new_runs=len(new)
        )
        found.append((compare(*of_runs), difference))
    correct([comparison for comparison, _ in found])
    certain = sampling_error.certain([difference for _, difference in found], len(found))
    lines = [
        CodeChange(*code, comparison, difference.more_ns, difference.error_ns, is_certain)
        for code, (comparison, difference), is_certain in zip(codes, found, certain, strict=True)
    ]
    return sorted(lines, key=lambda line: -abs(line.more_ns))


def _by_function(run: Run) -> dict[Code, Sampled]:
    found: dict[Code, Sampled] = defaultdict(Sampled)
    for row in stacks.samples(run):
        name = stacks.function_of(row, run.sites) if row.activity == "program" else stacks.UNKNOWN
        if name != stacks.UNKNOWN:
            key = name, PurePath(row.file or "").name if name == row.caller else ""
            found[key] = found[key].plus(Sampled(row.time_ns, row.samples))
    return found


def _all(run: Run) -> Sequence[Sampled]:
    return list(rank_differences.totals(stacks.samples(run)).values())


def _added(times: Iterable[Sampled]) -> Sampled:
    result = Sampled()
    for time in times:
        result = result.plus(time)
    return result
