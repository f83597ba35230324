"""The sections on messages, of runs whose numbers, times and latencies are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from made_up_runs import described, outcome, rows_of, sections, stored
from tare.lab.study.assembly import report
from tare.lab.study.counts import Counts
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Figure, Section, Table
from tare.lab.study.stated import Chosen, Latency
from tare.lab.study.store import FILE
from tare.lab.study.strategies import Rank, expected

STUDY = """
[workload.ping-pong]
command = "true"
[workload.ping-pong.phase.short]
wall = 'short ([0-9.]+)'
message_bytes = 1000
[workload.ping-pong.phase.long]
wall = 'long ([0-9.]+)'
message_bytes = 1000000
[mpi.x]
launch = "env -n {ranks}"
[factors]
tool = ["none", "tare-samples"]
sample = ["random:0.1", "random:0.5", "counter:8,4", "random:0.1,size=4-"]
"""
BLOCKS, SENT, NET_NS = 8, 10_000, 10**9
SHORT_S, LONG_S = 1e-6, 1e-4


def with_choices(
    tmp_path: Path,
    chosen: Callable[[str], int],
    *,
    short_s: float = SHORT_S,
    latency: float = 1.02,
    blocks: int = BLOCKS,
) -> Path:
    """Each of two ranks chooses; short messages take `short_s` with a tool, and latencies as much more."""

    def run_of(block: int, cell: Cell) -> Outcome:
        speed = 1 + 0.0005 * (block % 3)
        samples = cell.level("tool") != "none"
        own_s = (short_s if samples else SHORT_S) * speed
        measures = [("short", "wall", "s", own_s), ("long", "wall", "s", LONG_S * speed)]
        counts = Counts()
        if samples:
            spec = cell.by_factor["sample"] or ""
            counts = Counts(
                chosen=tuple(Chosen(rank, spec, SENT, SENT, chosen(spec), chosen(spec)) for rank in (0, 1)),
                latencies=(Latency(1000, 70, 1e9 * own_s * latency, 1, 10**6),),
            )
        return replace(outcome(NET_NS, None), measures=measures, counts=counts)

    return stored(described(tmp_path, STUDY), range(1, blocks + 1), run_of)


def section(path: Path, title: str) -> Section:
    (found,) = sections(path, title, with_figures=True)
    return found


def rows(found: Section, title: str) -> list[dict[str, Any]]:
    (table,) = (part for part in found.parts if isinstance(part, Table) and part.title == title)
    return rows_of(table)


def right(spec: str) -> int:
    return {"random:0.1": 1010, "random:0.5": 4980, "counter:8,4": 1249}.get(spec, 400)


def test_numbers_of_samples_stand_beside_what_is_expected(tmp_path: Path) -> None:
    found = section(with_choices(tmp_path, right), "Messages sampled")
    by_spec = {row["run"].split("sample=")[-1]: row for row in rows(found, "Figure 9 of PHOTON")}
    assert {row["sent"] for row in by_spec.values()} == {2 * SENT}
    row = by_spec["random:0.1"]
    assert (row["expected"], row["sampled"], row["as expected"]) == (2000, 2020, BLOCKS)
    assert row["between"] == pytest.approx((2000 - 2 * 98.7, 2000 + 2 * 98.7), abs=0.1)
    assert (by_spec["counter:8,4"]["expected"], by_spec["counter:8,4"]["as expected"]) == (2500, BLOCKS)
    narrowed = by_spec["random:0.1,size=4-"]
    assert (narrowed["expected"], narrowed["as expected"], narrowed["sampled"]) == (None, None, 800)
    (figure,) = (part for part in found.parts if isinstance(part, Figure))
    assert figure.svg.startswith("<svg")


def test_a_wrong_number_of_samples_shows(tmp_path: Path) -> None:
    found = section(with_choices(tmp_path, lambda spec: right(spec) * 5 // 4), "Messages sampled")
    table = rows(found, "Figure 9 of PHOTON")
    judged = {row["run"].split("sample=")[-1]: row["as expected"] for row in table}
    assert judged == {"random:0.1": 0, "random:0.5": 0, "counter:8,4": 0, "random:0.1,size=4-": None}


@pytest.mark.parametrize(
    "spec", ["random:0.01", "random:0.3,stat", "counter:16,4,freq", "counter:5,4,seed=3"]
)
def test_expected_numbers_are_those_of_the_definition(spec: str) -> None:
    """A simulation agrees: 99.9 % of the runs lie inside, and the interval is no wider than that takes."""
    random, sent, trials = Random(spec), 4000, 400
    strategy, _, numbers = spec.partition(":")
    words = numbers.split(",")
    first = float(words[0])

    def chosen() -> int:
        if strategy == "random":
            return sum(random.random() < first for _ in range(sent))
        variance, at, found = int(words[1]), 0, 0
        while (at := at + random.randint(int(first) - variance, int(first) + variance)) <= sent:
            found += 1
        return found

    found = [chosen() for _ in range(trials)]
    one = expected(Rank(spec, sent, 0, None))
    assert one is not None
    assert sum(found) / trials == pytest.approx(one.messages, rel=0.02)
    assert sum(one.low <= number <= one.high for number in found) >= trials - 4
    assert one.high - one.low < 2.5 * (max(found) - min(found))


def test_a_timer_chooses_at_most_so_often() -> None:
    one = expected(Rank("timer:1ms,0.2ms", 10_000, 0, 0.5))
    assert one is not None
    assert (one.messages, one.low, one.high) == pytest.approx((500, 0, 626))
    few = expected(Rank("timer:300ms", 10_000, 0, 0.5))
    assert few is not None and few.high == pytest.approx(0.5 / 0.3 + 1)
    assert expected(Rank("timer:1ms,0.2ms", 10_000, 0, None)) is None
    for narrowed in ("random:0.1,size=4-", "random:0.1,stat,site=a.c:3", "random:0.1,communicator=freq x"):
        assert expected(Rank(narrowed, 10, 0, 1.0)) is None


def test_bandwidth_follows_from_the_time_of_a_message(tmp_path: Path) -> None:
    found = section(with_choices(tmp_path, right, short_s=1.25 * SHORT_S), "Bandwidth")
    longest = rows(found, "Of the longest messages")
    assert {(row["message"], row["verdict"]) for row in longest} == {(1_000_000, "none beyond ±1 %")}
    assert longest[0]["bare, a second"] == pytest.approx(1e10, rel=0.01)
    shorter = rows(found, "Of shorter messages")
    assert {(row["message"], row["verdict"]) for row in shorter} == {(1000, "less")}
    assert shorter[0]["change"] == pytest.approx(-0.2)
    assert shorter[0]["interval"] == pytest.approx((-0.2, -0.2))
    assert shorter[0]["a second"] == pytest.approx(8e8, rel=0.01)


@pytest.mark.parametrize(
    ("latency", "verdict"), [(1.02, "agrees"), (1.3, "longer"), (0.8, "shorter"), (0.95, "agrees")]
)
def test_latencies_of_samples_are_judged_by_the_benchmark(
    latency: float, verdict: str, tmp_path: Path
) -> None:
    found = section(with_choices(tmp_path, right, latency=latency), "Bandwidth")
    told = rows(found, "Latencies that sampling reports")
    assert {(row["message"], row["verdict"]) for row in told} == {(1000, verdict)}
    assert told[0]["ratio of times"] == pytest.approx(latency)
    assert told[0]["by sampling"] == pytest.approx(latency * told[0]["by the benchmark"])
    assert told[0]["messages sampled"] == 70


def test_few_blocks_decide_nothing(tmp_path: Path) -> None:
    found = section(with_choices(tmp_path, right, blocks=5), "Bandwidth")
    verdicts = {row["verdict"] for row in rows(found, "Latencies that sampling reports")}
    assert verdicts == {"not decided: 6 blocks are needed"}


def test_results_of_before_have_no_such_tables(tmp_path: Path) -> None:
    path = with_choices(tmp_path, right)
    with duckdb.connect(str(tmp_path / "results" / FILE)) as connection:
        connection.execute("DROP TABLE sampled")
        connection.execute("DROP TABLE latencies")
    made = report(path, tmp_path / "results", None, with_figures=True)
    assert "Messages sampled" not in [each.title for each in made.sections]
    (left,) = (each for each in made.sections if each.title == "Bandwidth")
    assert [part.title for part in left.parts] == ["Of the longest messages", "Of shorter messages"]
