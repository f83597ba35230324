"""The section on budgets, of runs whose true cost is known because they are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_runs import PROGRAM, described, outcome, rows_of, sections, stored
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Section
from tare.lab.study.stated import Weight

STUDY = (
    PROGRAM
    + """
[factors]
tool = ["none", "tare-budget"]
budget = ["1%", "2%,500M"]
weigh = [false, true]
"""
)
BLOCKS = 10
BARE_NS = 10**9


def made_section(tmp_path: Path, costs: dict[str, float], spread: float = 0.001) -> Section:
    """`costs`: by budget, how much longer runs take than bare ones, less and more by `spread` in turn. What
    their trials say is less by 0.01, +- 0.02."""

    def run_of(block: int, cell: Cell) -> Outcome:
        budget = cell.by_factor.get("budget")
        cost = costs.get(str(budget)) if cell.level("tool") == "tare-budget" else None
        longer = 0 if cost is None else cost + spread * (block % 3 - 1)
        is_weighed = cell.by_factor.get("weigh") == "true"
        trial = (longer - 0.01, longer - 0.03, longer + 0.01) if is_weighed else ()
        return outcome(round(BARE_NS * (1 + longer)), None if cost is None else Weight(cost, None, *trial))

    path = stored(described(tmp_path, STUDY), range(1, BLOCKS + 1), run_of)
    (section,) = sections(path, "The budget")
    return section


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
