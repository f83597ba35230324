"""What tools cost, from spells that were made up: an interval holds the truth, or there is none."""

from __future__ import annotations

import math
import random
import struct
from pathlib import Path

import pytest
from tare.analysis.referee import BARE, PlacedSpell, Weighed, weighed
from tare.errors import CommandError
from tare.lab.study.referee import spell_files

RANKS, ANCHORS, PLACES = 2, 60, 8
PROCESSORS = 2
TOOL, OTHER = 1, 2


def run(
    chance: random.Random, costs: dict[int, float], noise: float = 0.02, seldom: float = 1
) -> list[list[PlacedSpell]]:
    """Spells of a run of all ranks, of work that is not the same at each place; one rank is interrupted after
    20 ms on average. Of `seldom` spells, each pays for all."""
    ranks: list[list[PlacedSpell]] = [[] for _ in range(RANKS)]
    now = 0.0
    for anchor in range(ANCHORS):
        for number in range(PLACES):
            route = chance.choice([BARE, *costs])
            cost = costs.get(route, 0.0) / seldom if chance.random() < seldom else 0.0
            ns = 2e6 * (1 + 0.5 * number) * (1 + cost) * chance.lognormvariate(0, noise)
            waited = chance.expovariate(1 / 4e6) if chance.random() > math.exp(-ns / 20e6) else 0
            late = chance.randrange(RANKS)  # the others wait for it, in their next spell
            for number_of_rank, rank in enumerate(ranks):
                delay = waited if number_of_rank == late else 0
                begin = rank[-1].end_ns if rank else 0
                times = begin, round(now + ns + delay), round(delay)
                rank.append(PlacedSpell(*times, anchor, number, 100 + number, 0x123, route, number))
            now += ns + waited
    return ranks


def test_intervals_hold_the_truth() -> None:
    chance = random.Random(5)
    cells = [
        (truth, weighed([run(chance, {TOOL: truth})], TOOL, PROCESSORS))
        for truth in (0.0, 0.01, 0.05, 0.8)
        for _ in range(12)
    ]
    inside = 0
    for truth, found in cells:
        assert found.overhead is not None and found.low is not None and found.high is not None
        assert abs(found.overhead - truth) < 0.015 * (1 + truth)
        assert (found.high - found.low) / 2 < 0.015 * (1 + truth)
        inside += found.low <= truth <= found.high
    assert inside >= 0.85 * len(cells)


def test_costs_of_few_spells_count() -> None:
    chance = random.Random(4)
    cells = [
        weighed([run(chance, {TOOL: 0.05}, seldom=0.1) for _ in range(6)], TOOL, PROCESSORS)
        for _ in range(30)
    ]
    found = [cell.overhead for cell in cells if cell.overhead is not None]
    assert len(found) == len(cells)
    assert abs(sum(found) / len(found) - 0.05) < 0.004
    inside = sum(
        cell.low <= 0.05 <= cell.high for cell in cells if cell.low is not None and cell.high is not None
    )
    assert inside >= 0.85 * len(cells)


@pytest.mark.parametrize("runs", [3, 6])
def test_what_runs_differ_is_in_the_interval(runs: int) -> None:
    """A tool costs 5 % on average, and 1 % more or less in each run."""
    chance = random.Random(7)
    costs = [[chance.gauss(0.05, 0.01) for _ in range(runs)] for _ in range(40)]
    cells = [weighed([run(chance, {TOOL: cost}) for cost in of_runs], TOOL, PROCESSORS) for of_runs in costs]
    inside = sum(
        cell.low <= 0.05 <= cell.high for cell in cells if cell.low is not None and cell.high is not None
    )
    assert inside >= 0.85 * sum(cell.overhead is not None for cell in cells)
    apart = weighed([run(chance, {TOOL: cost}) for cost in (0.0, 0.2, 0.1)], TOOL, PROCESSORS)
    assert "the runs differ too much" in apart.why and "more of them narrow that" in apart.why
    alike = [weighed([run(chance, {TOOL: 0.05})] * runs, TOOL, PROCESSORS) for _ in range(4)]
    assert all(
        cell.high - cell.low < 0.02 for cell in alike if cell.low is not None and cell.high is not None
    )


def test_more_ranks_than_processors_wait_always() -> None:
    ranks = [
        [spell._replace(waited_ns=(spell.end_ns - spell.begin_ns) // 2) for spell in rank]
        for rank in run(random.Random(3), {TOOL: 0.05}, noise=0.1)
    ]
    found = weighed([ranks, ranks], TOOL, 1)
    assert found.spells + found.bare_spells > 0.95 * 2 * ANCHORS * PLACES
    assert (
        weighed([ranks, ranks], TOOL, PROCESSORS).spells > 400
    )  # nor are they left out if hardly any is left


def test_tools_are_compared_on_the_same_work() -> None:
    chance = random.Random(6)
    runs = [run(chance, {TOOL: 0.02, OTHER: 0.1}) for _ in range(2)]
    for tool, truth in ((TOOL, 0.02), (OTHER, 0.1)):
        found = weighed(runs, tool, PROCESSORS)
        assert found.overhead is not None and abs(found.overhead - truth) < 0.01
        assert found.spells > 200 and found.bare_spells > 200 and found.compared > 0.9


def test_no_interval_that_is_too_wide() -> None:
    found = weighed([run(random.Random(7), {TOOL: 0.02}, noise=1.0)], TOOL, PROCESSORS)
    assert (found.overhead, found.low, found.high) == (None, None, None)
    assert "differ too much" in found.why


def test_ranks_out_of_step_say_nothing() -> None:
    ranks = run(random.Random(8), {TOOL: 0.02})
    late = [
        spell._replace(begin_ns=spell.begin_ns + 10**9, end_ns=spell.end_ns + 10**9) for spell in ranks[1]
    ]
    assert "together" in weighed([[ranks[0], late]], TOOL, PROCESSORS).why


def test_too_few_spells() -> None:
    ranks = [rank[:30] for rank in run(random.Random(9), {TOOL: 0.02})]
    found = weighed([ranks], TOOL, PROCESSORS)
    assert found.overhead is None and "can be compared" in found.why
    assert weighed([], TOOL, PROCESSORS) == Weighed(0, 0, 0.0, why="no spell can be compared")


def written(directory: Path, content: bytes, name: str = "node.example.12.spells") -> Path:
    (directory / name).write_bytes(content)
    return directory


def header(*, spells: int, magic: bytes = b"tareref\0", tools: int = 2) -> bytes:
    return struct.pack(
        "=8sIiiIII8HQQ8Q", magic, 3, 0, 2, tools, 0, 0, *range(8), 0, spells, 7, 2**64 - 1, *[0] * 6
    )


def test_files_are_read(tmp_path: Path) -> None:
    rows = b"".join(struct.pack("=QQQQIIHHI", 5, end, 2, 1, 2, 3, 4, 1, 0) for end in (9, 5))
    (process,) = spell_files.read(written(tmp_path, header(spells=2) + rows))
    assert (process.host, process.rank, process.ranks, process.functions) == ("node.example", 0, 2, (0, 1))
    assert process.hook_ns == (7, None)
    assert process.spells == (PlacedSpell(5, 9, 2, 1, 2, 3, 4, 1, 0),)  # the other has no time


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        header(spells=0, magic=b"another!"),
        header(spells=1),
        header(spells=2**60),
        header(spells=0, tools=9),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CommandError, match="referee"):
        spell_files.read(written(tmp_path, content))
