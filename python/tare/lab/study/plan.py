"""Which runs a study makes, and in which order.

A cell is a combination of levels of those factors that matter to it: without a tool there is no buffer, so
that the bare program is run once, not once for each size of the buffer. A block is every cell once, in an
order drawn from the seed and the block's number; blocks before 1 warm up.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tare.errors import UsageError
from tare.lab.study import placeholders
from tare.lab.study.description import BUILT_IN, VARIABLE, Description
from tare.lab.study.limits import MOST_RUNS

# What the cell of a run under the referee has in place of a tool. It is no name that a factor can have.
BY_REFEREE = "by referee"


@dataclass(frozen=True)
class Cell:
    """A combination of levels of all factors, in the order of the description."""

    levels: tuple[tuple[str, str | None], ...]  # (factor, level); None: the factor does not matter here
    weighed: tuple[Cell, ...] = ()  # of a run under the referee: the cells whose tools it weighs

    @cached_property
    def by_factor(self) -> Mapping[str, str | None]:
        """The level of each factor; None if the factor does not matter to the cell."""
        return dict(self.levels)

    def level(self, factor: str) -> str:
        """The level of a factor that matters to the cell."""
        found = self.by_factor[factor]
        assert found is not None, factor
        return found

    @property
    def key(self) -> str:
        """Names the cell in the database; a factor added to the study later does not change it."""
        return " ".join(f"{name}={level}" for name, level in self.levels if level is not None)

    def label(self, varied: frozenset[str]) -> str:
        """The levels of those of the factors `varied` that matter to the cell, as text."""
        return " ".join(
            _readable(name, level) for name, level in self.levels if level is not None and name in varied
        )


def _readable(factor: str, level: str) -> str:
    if factor == "ranks":
        return "1 rank" if level == "1" else f"{level} ranks"
    return level if factor in BUILT_IN else f"{factor.removeprefix(VARIABLE)}={level}"


@dataclass(frozen=True)
class Planned:
    """One run of the plan: a cell, at a position of a block."""

    block: int
    position: int
    cell: Cell


def cells(description: Description) -> list[Cell]:
    """Every combination that differs, in the order of the description."""
    names = list(dict.fromkeys([*BUILT_IN, *description.factors]))
    found: dict[Cell, None] = {}
    for combination in itertools.product(*(_levels(description, name) for name in names)):
        levels = dict(zip(names, combination, strict=True))
        if levels["ranks"] is None:
            levels["ranks"] = str(description.workloads[str(levels["workload"])].ranks)
        cell = Cell(
            tuple(
                (name, level if matters(description, levels, name) else None)
                for name, level in levels.items()
            )
        )
        if not any(_matches(cell, excluded) for excluded in description.excluded):
            found[cell] = None
    if not found:
        raise UsageError(f"{description.path}: exclude leaves no run")
    return list(found)


def check_number(description: Description) -> None:
    """UsageError if the blocks have more runs than a study can have."""
    combinations, blocks = len(cells(description)), description.repetitions + description.warmup
    if combinations * blocks > MOST_RUNS:
        raise UsageError(
            f"{description.path}: {blocks} blocks of {combinations} combinations are "
            f"{combinations * blocks} runs; a study has {MOST_RUNS} at most: lower study.repetitions"
        )


def _levels(description: Description, name: str) -> tuple[str | None, ...]:
    return description.factors.get(name, (None,))


def matters(description: Description, levels: Mapping[str, str | None], name: str) -> bool:
    """Whether the factor changes anything with this tool, workload and MPI."""
    if name in BUILT_IN or name.startswith(VARIABLE):
        return True
    workload = description.workloads[str(levels["workload"])]
    launch = description.mpis[str(levels["mpi"])].launch
    return (
        name in description.tools[str(levels["tool"])].parameters
        or name in workload.used_names()
        or name in placeholders.names(launch)
    )


def _matches(cell: Cell, excluded: Mapping[str, str]) -> bool:
    return all(cell.by_factor.get(name) == level for name, level in excluded.items())


def without_tool(description: Description, cell: Cell) -> Cell:
    """The same with the baseline's tool, and without what matters only to the cell's own tool."""
    levels = dict(cell.by_factor) | {"tool": description.baseline}
    return Cell(
        tuple((name, level if matters(description, levels, name) else None) for name, level in levels.items())
    )


def baseline_of(description: Description, cell: Cell) -> Cell | None:
    """The cell without the tool; None if it is not in the study."""
    without = without_tool(description, cell)
    return without if without in set(cells(description)) else None


def order(description: Description, all_cells: list[Cell], blocks: range) -> Iterator[Planned]:
    """The runs of some blocks. Each block has all cells once, in a random order that the seed determines."""
    for block in blocks:
        shuffled = list(all_cells)
        random.Random(f"{description.seed}/{block}").shuffle(shuffled)
        for position, cell in enumerate(shuffled):
            yield Planned(block, position, cell)


def warmup_blocks(description: Description) -> range:
    """The numbers of the blocks that only warm up: 0 and below."""
    return range(1 - description.warmup, 1)
