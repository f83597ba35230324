"""The section on budgets, of runs whose true cost is known because they are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_runs import outcome
from tare.study import description, plan
from tare.study.assembly import report
from tare.study.sections import Section, Table
from tare.study.store import Store
from tare.study.weight import Weight

STUDY = """
[workload.app]
command = "true"
[mpi.x]
launch = "env -n {ranks}"
[factors]
tool = ["none", "tare-budget"]
budget = ["1%", "2%,500M"]
"""
BLOCKS = 10
BARE_NS = 10**9


def made_section(tmp_path: Path, costs: dict[str, float], spread: float = 0.001) -> Section:
    """`costs`: by budget, how much longer runs take than bare ones, less and more by `spread` in turn."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    read = description.read(path)
    with Store(tmp_path / "results", create=True) as store:
        for block in range(1, BLOCKS + 1):
            for position, cell in enumerate(plan.cells(read)):
                budget = cell.by_factor.get("budget")
                cost = costs.get(str(budget)) if cell.level("tool") == "tare-budget" else None
                longer = 0 if cost is None else cost + spread * (block % 3 - 1)
                ran = outcome(round(BARE_NS * (1 + longer)), None if cost is None else Weight(cost, None))
                store.add_run(plan.Planned(block, position, cell), "main", "e", ran)
    made = report(path, path.parent / "results", None, with_figures=False)
    (section,) = (each for each in made.sections if each.title == "The budget")
    return section


@pytest.mark.parametrize(
    ("first", "second", "verdicts"),
    [(0.005, 0.015, ["kept", "kept"]), (0.03, 0.0202, ["passed", "not known"])],
)
def test_promise_and_truth(first: float, second: float, verdicts: list[str], tmp_path: Path) -> None:
    section = made_section(tmp_path, {"1%": first, "2%,500M": second})
    assert section.about.startswith(f"Of 2 cells with a budget {verdicts.count('kept')} kept to it")
    (table,) = section.parts
    assert isinstance(table, Table)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    assert [row["budget"] for row in rows] == [0.01, 0.02]
    assert [row["truth"] for row in rows] == pytest.approx([first, second], abs=1e-6)
    assert [row["truth/budget"] for row in rows] == pytest.approx([first / 0.01, second / 0.02], rel=1e-3)
    assert [row["verdict"] for row in rows] == verdicts
