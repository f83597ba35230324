"""The central claim of Mohror and Karavanic, judged by runs whose parts grow in a known way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_runs import described, outcome, rows_of, sections, stored
from tare.analysis.intervals import median_interval
from tare.lab.study.assembly import report
from tare.lab.study.counts import Counts, RankCounts
from tare.lab.study.parts.claim import CONSTANT, GROWS, UNKNOWN, verdict
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Figure, Table

STUDY = """
[workload.few]
command = "true"
[workload.many]
command = "true"
[mpi.x]
launch = "env -n {ranks}"
[factors]
tool = ["none", "tare-trace"]
ranks = [1, 2, 4]
write = [true, false]
"""
EVENTS = {"few": 1_000_000, "many": 4_000_000}
BARE_S, NOISE_S = 1.0, 0.0005
BLOCKS = 12
WRITING, INSTRUMENTATION = CLAIMS = (
    "writing grows with the number of processes",
    "instrumentation grows with the number of events",
)
Part = Callable[[int, int], float]  # seconds by ranks and events


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return described(tmp_path, STUDY)


def with_parts(file: Path, instrumentation: Part, writing: Part, blocks: int = BLOCKS) -> Path:
    random = np.random.default_rng(5)

    def run_of(block: int, cell: Cell) -> Outcome:
        ranks, events = int(cell.level("ranks")), EVENTS[cell.level("workload")]
        took_s = BARE_S * (1 + 0.05 * (block % 4)) + random.normal(0, NOISE_S)
        counts = Counts()
        if cell.level("tool") != "none":
            took_s += instrumentation(ranks, events)
            took_s += writing(ranks, events) if cell.level("write") == "true" else 0
            counts = Counts(1000, 1, events, (RankCounts(0, events),))
        return replace(outcome(round(1e9 * took_s), None), counts=counts)

    return stored(file, range(1, blocks + 1), run_of)


def judged(file: Path) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The claims by their text, and the rows of the slopes."""
    (section,) = sections(file, "What instrumentation and writing")
    claims, slopes, *_ = (rows_of(part) for part in section.parts if isinstance(part, Table))
    return {row["claim"]: row for row in claims}, slopes


def doublings(seconds: float) -> Part:
    return lambda ranks, events: seconds * math.log2(ranks)


def millions(seconds: float) -> Part:
    return lambda ranks, events: seconds * events / 1e6


def test_what_grows_as_the_paper_says_confirms_it(file: Path) -> None:
    claims, rows = judged(with_parts(file, millions(0.02), doublings(0.03)))
    assert [claims[claim]["result"] for claim in CLAIMS] == ["confirmed", "confirmed"]
    assert (claims[WRITING]["confirmed by"], claims[WRITING]["refuted by"]) == (2, 0), "by each program"
    slopes = {(row["runs"], row["part"], row["for each"]): row for row in rows}
    found = slopes["few tare-trace", "writing", "doubling of the ranks"]
    assert found["more"] == pytest.approx(0.03, abs=0.001)
    assert found["interval"][0] < found["more"] < found["interval"][1]
    found = slopes["tare-trace", "instrumentation", "million events of a rank"]
    assert found["more"] == pytest.approx(0.02, abs=0.001)
    for runs in ("few tare-trace", "many tare-trace"):
        assert slopes[runs, "instrumentation", "doubling of the ranks"]["verdict"] == CONSTANT
    assert slopes["tare-trace", "writing", "million events of a rank"]["verdict"] == CONSTANT


def test_what_grows_the_other_way_round_refutes_it(file: Path) -> None:
    claims, rows = judged(with_parts(file, doublings(0.03), millions(0.02)))
    assert [claims[claim]["result"] for claim in CLAIMS] == ["refuted", "refuted"]
    assert {row["verdict"] for row in rows} == {GROWS, CONSTANT}


def test_a_part_that_falls_does_not_grow(file: Path) -> None:
    claims, _ = judged(with_parts(file, millions(0.02), lambda ranks, events: 0.2 / ranks))
    assert claims[WRITING]["result"] == "refuted"


def test_programs_that_disagree_determine_nothing(file: Path) -> None:
    def writing(ranks: int, events: int) -> float:
        return 0.03 * math.log2(ranks) if events == EVENTS["many"] else 0.0

    claims, _ = judged(with_parts(file, millions(0.02), writing))
    assert claims[WRITING]["result"] == "not determined"
    assert (claims[WRITING]["confirmed by"], claims[WRITING]["refuted by"]) == (1, 1)


def test_too_few_blocks_determine_nothing(file: Path) -> None:
    claims, rows = judged(with_parts(file, millions(0.02), doublings(0.03), blocks=5))
    assert [claims[claim]["result"] for claim in CLAIMS] == ["not determined", "not determined"]
    assert {row["verdict"] for row in rows} == {UNKNOWN}


def test_parts_over_events_and_ranks_are_drawn(file: Path) -> None:
    directory = with_parts(file, millions(0.02), doublings(0.03), blocks=2)
    made = report(file, directory.parent / "results", None, with_figures=True)
    figures = {
        part.title: part.svg
        for section in made.sections
        for part in section.parts
        if isinstance(part, Figure)
    }
    assert {"Instrumentation over events", "Writing over events", "Bare programs over ranks"} <= set(figures)
    assert "tare-trace" not in figures["Bare programs over ranks"]
    assert {"few", "many"} <= {name for name in EVENTS if name in figures["Bare programs over ranks"]}


def test_what_is_called_growth_is_seldom_chance() -> None:
    """One in forty, at most, of parts that do not grow at all is said to: an end of an interval of 95 %."""
    random = np.random.default_rng(11)
    trials = 4000
    found = [
        verdict(median_interval(list(random.normal(0, 1, 10)), 0.95), bound=10.0, confidence=0.95)
        for _ in range(trials)
    ]
    share = found.count(GROWS) / trials
    assert 0 < share < 0.025 + 4 * math.sqrt(0.025 * 0.975 / trials)
    assert found.count(CONSTANT) == trials - found.count(GROWS)
