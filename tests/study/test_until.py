"""`tare study run --until`: when the overheads are known well enough, of made-up runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_runs import add_runs, described, outcome
from tare.errors import UsageError
from tare.lab.study import analysis, description, verbs
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.store import Store

STUDY = """
[workload.plain]
mpi = false
command = "true"
{phases}
{more}
[mpi.x]
launch = "env -n {{ranks}}"
[factors]
tool = {tools}
{factors}
[tool.mine]
[analysis]
responses = {responses}
"""
PHASES = """
phase.solve = { wall = 'solve ([0-9.]+)', cpu = 'cpu ([0-9.]+)' }
phase.write.wall = 'write ([0-9.]+)'
"""
WITH_MPI = """
[workload.parallel]
command = "true"
phase.solve.wall = 'solve ([0-9.]+)'
"""


def study(
    folder: Path,
    phases: str = PHASES,
    responses: Sequence[str] = (),
    *,
    mpi: bool = False,
    tools: Sequence[str] = ("none", "mine"),
) -> Path:
    factors = 'workload = ["plain", "parallel"]' if mpi else ""
    text = STUDY.format(
        phases=phases, more=WITH_MPI if mpi else "", tools=list(tools), factors=factors,
        responses=list(responses),
    )  # fmt: skip
    return described(folder, text)


def is_precise(
    file: Path, noise: dict[str, float], *, blocks: int = 8, half_width: float = 0.01, failing: int = 0
) -> bool:
    """`noise`: by time, how much the runs differ from one another; the others take the same time each.

    The first `failing` runs with the tool fail, of programs without MPI.
    """

    def run_of(block: int, cell: Cell) -> Outcome:
        plain = cell.level("workload") == "plain"
        if plain and cell.level("tool") != "none" and block <= failing:
            return replace(outcome(0, None), state="failed", timings=[])

        def seconds(time: str) -> float:
            return 1 + noise.get(time, 0) * (block % 3 - 1) * (cell.level("tool") != "none")

        printed = (("solve", "wall"), ("solve", "cpu"), ("write", "wall"))
        measures = [
            (phase, quantity, "s", seconds(f"{phase} {quantity}"))
            for phase, quantity in printed
            if f"phase.{phase}" in file.read_text()
        ]
        made = outcome(round(1e9 * seconds("net")), None)
        timings = [] if plain else made.timings
        return replace(made, wall_s=seconds("overall"), timings=timings, measures=measures)

    with Store(file.parent / "results", create=True) as store:
        add_runs(store, file, range(1, blocks + 1), run_of)
        return analysis.is_precise(store, description.read(file), "main", half_width)


@pytest.mark.parametrize(
    ("noise", "precise"),
    [({}, True), ({"overall": 0.2}, True), ({"solve cpu": 0.2}, False), ({"write wall": 0.2}, False)],
)
def test_a_program_without_mpi_is_known_by_what_it_prints(
    noise: dict[str, float], precise: bool, tmp_path: Path
) -> None:
    assert is_precise(study(tmp_path), noise) is precise


@pytest.mark.parametrize(
    ("phases", "responses", "noisy", "precise"),
    [
        ("", [], "overall", False),
        ("", ["overall"], "overall", False),
        (PHASES, ["solve"], "write wall", True),
        (PHASES, ["solve"], "solve cpu", False),
        (PHASES, ["overall"], "solve wall", True),
        (PHASES, ["overall"], "overall", False),
    ],
)
def test_times_that_are_not_analysed_need_not_be_known(
    phases: str, responses: list[str], noisy: str, precise: bool, tmp_path: Path
) -> None:
    assert is_precise(study(tmp_path, phases, responses), {noisy: 0.2}) is precise


@pytest.mark.parametrize(
    ("noise", "precise"), [({"net": 0.2}, False), ({"solve wall": 0.2}, False), ({"overall": 0.2}, True)]
)
def test_programs_with_and_without_mpi_are_both_to_be_known(
    noise: dict[str, float], precise: bool, tmp_path: Path
) -> None:
    assert is_precise(study(tmp_path, mpi=True), noise) is precise


def test_too_few_blocks_tell_nothing(tmp_path: Path) -> None:
    assert not is_precise(study(tmp_path), {}, blocks=5)


def test_runs_that_failed_are_made_up_for(tmp_path: Path) -> None:
    assert not is_precise(study(tmp_path, mpi=True), {}, blocks=8, failing=3), "5 blocks have all runs"


def test_a_tool_that_always_fails_is_not_waited_for(tmp_path: Path) -> None:
    assert is_precise(study(tmp_path, mpi=True), {}, blocks=8, failing=8)


@pytest.mark.parametrize("dry_run", [False, True])
def test_what_cannot_be_known_is_refused_at_the_start(dry_run: bool, tmp_path: Path) -> None:
    file = study(tmp_path, responses=["net"])
    with pytest.raises(UsageError, match=r"workload 'plain' of \S+study.toml has no net time"):
        verbs.run(file, until="1%", dry_run=dry_run)
    file = study(tmp_path, tools=["none"])
    with pytest.raises(UsageError, match="compares no tool with the baseline"):
        verbs.run(file, until="1%", dry_run=dry_run)
    assert list(tmp_path.iterdir()) == [file]
