"""The section on budgets, of runs whose true cost is known because they are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_up_runs import outcome
from tare.lab.study import description, plan
from tare.lab.study.assembly import report
from tare.lab.study.sections import Section, Table
from tare.lab.study.stated import Weight
from tare.lab.study.store import Store

STUDY = """
[workload.app]
command = "true"
[mpi.x]
launch = "env -n {ranks}"
[factors]
tool = ["none", "tare-budget"]
budget = ["1%", "2%,500M"]
weigh = [false, true]
"""
BLOCKS = 10
BARE_NS = 10**9


def made_section(tmp_path: Path, costs: dict[str, float], spread: float = 0.001) -> Section:
    """`costs`: by budget, how much longer runs take than bare ones, less and more by `spread` in turn. What
    their trials say is less by 0.01, +- 0.02."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    read = description.read(path)
    with Store(tmp_path / "results", create=True) as store:
        for block in range(1, BLOCKS + 1):
            for position, cell in enumerate(plan.cells(read)):
                budget = cell.by_factor.get("budget")
                cost = costs.get(str(budget)) if cell.level("tool") == "tare-budget" else None
                longer = 0 if cost is None else cost + spread * (block % 3 - 1)
                trial = (
                    (longer - 0.01, longer - 0.03, longer + 0.01)
                    if cell.by_factor.get("weigh") == "true"
                    else ()
                )
                ran = outcome(
                    round(BARE_NS * (1 + longer)), None if cost is None else Weight(cost, None, *trial)
                )
                store.add_run(plan.Planned(block, position, cell), "main", "e", ran)
    made = report(path, path.parent / "results", None, with_figures=False)
    (section,) = (each for each in made.sections if each.title == "The budget")
    return section


def rows_of(part: object) -> list[dict[str, Any]]:
    assert isinstance(part, Table)
    names = [column.name for column in part.columns]
    return [dict(zip(names, row, strict=True)) for row in part.rows]


@pytest.mark.parametrize(
    ("first", "second", "verdicts"),
    [(0.005, 0.015, ["kept", "kept"]), (0.03, 0.0202, ["passed", "not known"])],
)
def test_promise_and_truth(first: float, second: float, verdicts: list[str], tmp_path: Path) -> None:
    section = made_section(tmp_path, {"1%": first, "2%,500M": second})
    assert section.about.startswith("Of 4 cells with a budget")
    _, rows = (rows_of(part) for part in section.parts)
    assert [row["budget"] for row in rows] == [0.01, 0.02]
    assert [row["truth"] for row in rows] == pytest.approx([first, second], abs=1e-6)
    assert [row["truth/budget"] for row in rows] == pytest.approx([first / 0.01, second / 0.02], rel=1e-3)
    assert [row["verdict"] for row in rows] == verdicts


def test_promise_and_trial(tmp_path: Path) -> None:
    """The errors of ten trials add up as squares: +- 0.02 / sqrt(10)."""
    section = made_section(tmp_path, {"1%": 0.01, "2%,500M": 0.04})
    rows, _ = (rows_of(part) for part in section.parts)
    assert [row["truth"] for row in rows] == pytest.approx([0, 0.03], abs=1e-3)
    for row in rows:
        low, high = row["interval"]
        assert (high - low) / 2 == pytest.approx(0.02 / BLOCKS**0.5)
    assert [row["verdict"] for row in rows] == ["kept", "passed"]
