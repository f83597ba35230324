"""The section on tare's own account and trial, of runs whose true cost is known because they are made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from made_up_runs import PROGRAM, described, outcome, rows_of, sections, stored
from tare.lab.study.assembly import report
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Table
from tare.lab.study.stated import Weight
from tare.lab.study.store import FILE, Store

STUDY = (
    PROGRAM
    + """
[factors]
tool = ["none", "tare"]
weigh = [false, true]
"""
)
BLOCKS = 10
BARE_NS = 10**9
TRUTH = 0.08


def with_weights(tmp_path: Path, of_block: Callable[[int, bool], Weight], spread: float = 0.01) -> Path:
    """Runs of tare take 8 % longer, less and more by `spread` in turn; bare ones vary by 3 %."""

    def run_of(block: int, cell: Cell) -> Outcome:
        bare = BARE_NS * (1 + 0.01 * (block % 4))
        measured, weighed = cell.level("tool") == "tare", cell.by_factor["weigh"] == "true"
        longer = TRUTH + spread * (block % 3 - 1) if measured else 0
        return outcome(round(bare * (1 + longer)), of_block(block, weighed) if measured else None)

    return stored(described(tmp_path, STUDY), range(1, BLOCKS + 1), run_of)


def tables(path: Path) -> dict[str, dict[str, Any]]:
    """The only row of each table of the section, by column."""
    (section,) = sections(path, "The true weight")
    tables = [part for part in section.parts if isinstance(part, Table)]
    return {table.title: row for table in tables for (row,) in [rows_of(table)]}


@pytest.mark.parametrize(
    ("account", "verdict"),
    [(0.08, "agrees"), (0.065, "agrees"), (0.05, "too low"), (0.12, "too high")],
)
def test_the_account_is_judged_by_the_difference_between_runs(
    account: float, verdict: str, tmp_path: Path
) -> None:
    found = tables(with_weights(tmp_path, lambda block, weighed: Weight(account, 0.004)))["Account"]
    assert found["truth"] == pytest.approx(TRUTH, abs=1e-6)
    assert found["interval"] == pytest.approx((TRUTH - 0.01, TRUTH + 0.01), abs=1e-6)
    assert found["account"] == pytest.approx(account, rel=0.03), "over the median of the bare runs"
    assert found["of account"][1] - found["of account"][0] == pytest.approx(0.008, rel=0.03)
    assert found["verdict"] == verdict
    assert found["blocks"] == BLOCKS


def test_a_truth_that_is_not_known_judges_nothing(tmp_path: Path) -> None:
    found = tables(with_weights(tmp_path, lambda block, weighed: Weight(0.05, 0.004), spread=0.04))["Account"]
    assert found["interval"] == pytest.approx((TRUTH - 0.04, TRUTH + 0.04), abs=1e-6)
    assert found["verdict"] == "truth not known"


def test_trials_are_counted_that_cover_the_truth(tmp_path: Path) -> None:
    def weight(block: int, weighed: bool) -> Weight:
        if not weighed:
            return Weight(0.08, None)
        if block == 1:
            return Weight(0.08, None, trial_why="too few comparisons")
        low = 0.085 if block == 2 else 0.2 if block == 3 else 0.06
        return Weight(0.08, None, low + 0.02, low, low + 0.04)

    found = tables(with_weights(tmp_path, weight))["Trial (--weigh)"]
    assert found["trial"] == pytest.approx(0.08)
    assert found["half width"] == pytest.approx(0.02)
    assert (found["runs"], found["determined"]) == (BLOCKS, BLOCKS - 1)
    assert found["cover the truth"] == BLOCKS - 3
    assert found["meet its interval"] == BLOCKS - 2


def test_results_of_before_have_no_such_section(tmp_path: Path) -> None:
    path = with_weights(tmp_path, lambda block, weighed: Weight(0.08, None))
    with duckdb.connect(str(tmp_path / "results" / FILE)) as connection:
        connection.execute("DROP TABLE weights")
    made = report(path, tmp_path / "results", None, with_figures=False)
    assert "The true weight" not in [section.title for section in made.sections]
    with Store(tmp_path / "results") as store:
        assert {file.stem for file in store.export(tmp_path / "tables", "csv")} == {
            "study", "environments", "runs", "ranks", "measures", "flushes", "phases", "sampled", "latencies",
            "refereed", "sessions",
        }  # fmt: skip
