"""Made-up runs of a study, whose true times are known, and what the report says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tare.lab.study import description, plan
from tare.lab.study.assembly import report
from tare.lab.study.counts import Counts
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Section, Table
from tare.lab.study.stated import Weight
from tare.lab.study.store import Store

# The program and the MPI library of a description. Nothing of them is run.
PROGRAM = """
[workload.app]
command = "true"
[mpi.x]
launch = "env -n {ranks}"
"""


def outcome(net_ns: int, weight: Weight | None) -> Outcome:
    """The outcome of a run on one rank that took `net_ns`; `weight`: tare's account, None of a bare run."""
    timing = {
        "rank": 0, "host": "h", "pid": 1, "entered": "MPI_Init", "init_ns": 0, "net_ns": net_ns,
        "finalize_ns": 0, "net_user_ns": net_ns, "net_system_ns": 0, "user_ns": net_ns, "system_ns": 0,
        "max_rss_kib": 1, "net_waits": 0, "net_preempted": 0, "major_faults": 0,
    }  # fmt: skip
    return Outcome("ok", "", 0, 0, net_ns * 1e-9, 0, 0, 0, [timing], [], Counts(weight=weight), 0)


def described(folder: Path, text: str) -> Path:
    """The file of the description of a study."""
    path = folder / "study.toml"
    path.write_text(text)
    return path


def add_runs(
    store: Store,
    file: Path,
    blocks: Iterable[int],
    run_of: Callable[[int, Cell], Outcome],
    set_name: str = "main",
    environment: str = "e",
) -> None:
    """A run of each cell of the study in each block."""
    cells = plan.cells(description.read(file))
    for block in blocks:
        for position, cell in enumerate(cells):
            store.add_run(plan.Planned(block, position, cell), set_name, environment, run_of(block, cell))


def stored(file: Path, blocks: Iterable[int], run_of: Callable[[int, Cell], Outcome]) -> Path:
    """The study with these runs as its results, in the folder `results` beside it."""
    with Store(file.parent / "results", create=True) as store:
        add_runs(store, file, blocks, run_of)
    return file


def sections(file: Path, title: str, *, with_figures: bool = False) -> list[Section]:
    """The sections of the report whose title begins so: one, or none."""
    made = report(file, file.parent / "results", None, with_figures=with_figures)
    return [each for each in made.sections if each.title.startswith(title)]


def rows_of(part: object) -> list[dict[str, Any]]:
    """The rows of a table by column."""
    assert isinstance(part, Table)
    names = [column.name for column in part.columns]
    return [dict(zip(names, row, strict=True)) for row in part.rows]
