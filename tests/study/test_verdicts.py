"""The verdict on a tool, of made-up runs whose mean and median are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_runs import PROGRAM, described, outcome, rows_of, sections, stored
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome

STUDY = (
    PROGRAM
    + """
[factors]
tool = ["none", "mine"]
[tool.mine]
"""
)
BARE_NS = 10**9


@pytest.mark.parametrize(
    ("usual", "rare", "blocks", "verdict"),
    [
        (-0.001, 0.05, 25, "not decided"),  # the mean is 1.94 % slower, the median 0.1 % faster
        (0.02, 0.05, 25, "slower"),
        (-0.02, -0.05, 25, "faster"),  # and so below 1 %, too
        (0.001, -0.05, 25, "below 1 %"),
        (0.012, -0.05, 25, "not decided"),  # the mean is below 1 %, the median is not
        (0.012, 0.002, 200, "slower"),  # no more than 1 % on average, but the median is
        (0.001, 0.004, 25, "none beyond ±1 %"),
    ],
)
def test_a_verdict_is_true_of_the_mean_and_of_the_median(
    usual: float, rare: float, blocks: int, verdict: str, tmp_path: Path
) -> None:
    """Two of five runs have the rare overhead, and all a little noise."""

    def run_of(block: int, cell: Cell) -> Outcome:
        overhead = (rare if block % 5 < 2 else usual) + 1e-5 * (block % 3 - 1)
        return outcome(round(BARE_NS * (1 + overhead * (cell.level("tool") == "mine"))), None)

    path = stored(described(tmp_path, STUDY), range(1, blocks + 1), run_of)
    for title in ("In short", "Overhead of each tool"):
        (section,) = sections(path, title)
        verdicts = [row["verdict"] for row in rows_of(section.parts[0]) if row.get("time", "net") == "net"]
        assert verdicts == [verdict], title
