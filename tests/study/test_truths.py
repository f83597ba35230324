"""The section that judges a study by what is known beforehand, of runs that are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT
from made_up_runs import described, outcome, rows_of, sections, stored
from tare.errors import UsageError
from tare.lab.study import description, plan
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Section, Table

STUDY = ROOT / "studies" / "known-truth.toml"
BLOCKS, BARE_S = 10, 0.01
FLUSHES_S = {"2500": 0.2, "5000": 0.1}
Cost = Callable[[Cell], float]


def right(cell: Cell) -> float:
    """What the study's tool takes by construction."""
    if cell.level("tool") == "none":
        return 0.0
    writing = FLUSHES_S[cell.level("buffer")] if cell.level("write") == "true" else 0.0
    return 0.1 + writing


def judged(tmp_path: Path, cost: Cost, *, blocks: int = BLOCKS, spread_s: float = 1e-4) -> Section:
    """The section of runs of the ready-made study, which vary by `spread_s` at most on either side."""
    places = {cell.key: place for place, cell in enumerate(plan.cells(description.read(STUDY)))}

    def run_of(block: int, cell: Cell) -> Outcome:
        vary_s = spread_s * ((7 * block + 3 * places[cell.key]) % 5 - 2) / 2
        took_s = BARE_S + cost(cell) + vary_s
        measures = [("send", "wall", "s", took_s), ("send", "cpu", "s", took_s)]
        return replace(outcome(round(1e9 * took_s), None), measures=measures)

    tmp_path.mkdir(exist_ok=True)
    path = stored(described(tmp_path, STUDY.read_text()), range(1, blocks + 1), run_of)
    (section,) = sections(path, "The known truth")
    return section


def rows(section: Section) -> list[dict[str, Any]]:
    return [row for part in section.parts if isinstance(part, Table) for row in rows_of(part)]


def verdicts(section: Section) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows(section):
        found.setdefault(row.get("part") or row["factor"], set()).add(row["verdict"])
    return found


def test_what_is_found_is_said_to_be(tmp_path: Path) -> None:
    section = judged(tmp_path, right)
    assert {part: verdict for part, (verdict,) in verdicts(section).items()} == dict.fromkeys(
        ("instrumentation", "writing", "write", "buffer", "write:buffer"), "found"
    )
    assert section.about == "Of 7 numbers that are known, 7 are found"
    assert {row["truth"] for row in rows(section) if row.get("part") == "writing"} == {0.1, 0.2}
    shares = {row["factor"]: row["measured"] for row in rows(section) if "factor" in row}
    assert shares["write"] == pytest.approx(0.818, abs=0.005)


def test_a_method_that_is_off_is_caught(tmp_path: Path) -> None:
    """Writing that costs a tenth too much, or not at all what it should by buffer."""
    off = verdicts(judged(tmp_path / "off", lambda cell: right(cell) + 0.1 * max(right(cell) - 0.1, 0)))
    assert off["writing"] == {"not found"}
    assert off["instrumentation"] == {"found"}
    flat = judged(
        tmp_path / "flat", lambda cell: right(cell) and 0.1 + 0.15 * (cell.level("write") == "true")
    )
    found = verdicts(flat)
    assert found["writing"] == found["write"] == found["buffer"] == {"not found"}
    assert "5 are not found" in flat.about


def test_noise_and_few_blocks_decide_nothing(tmp_path: Path) -> None:
    noisy = verdicts(judged(tmp_path / "noisy", right, spread_s=0.02))
    assert noisy["instrumentation"] == noisy["writing"] == {"not decided"}
    few = verdicts(judged(tmp_path / "few", right, blocks=5))
    assert few["instrumentation"] == few["writing"] == {"not decided"}


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ('part = "writing"', "truth.time is missing"),
        ('time = "net"\npart = "reading"\nseconds = 1', "truth.part must be one of instrumentation"),
        ('time = "net"\npart = "writing"', "truth.seconds is missing, or not above 0"),
        ('time = "net"\npart = "writing"\nseconds = 1\nshare = 0.5', "truth.factor is missing"),
        ('time = "net"\npart = "writing"\nseconds = 1\nof = 2', "truth.of is not known here"),
        ('time = "net"\npart = "writing"\nseconds = 1\nwhere = { buffer = 7 }', "has buffer=7, which is no"),
    ],
)
def test_wrong_truths_are_refused(truth: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"{STUDY.read_text()}\n[[truth]]\n{truth}\n")
    with pytest.raises(UsageError, match=message):
        description.read(path)
