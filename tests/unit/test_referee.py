"""What tools cost, from spells that were made up: an interval holds the truth, or there is none."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from tare.analysis.referee import BARE, PlacedSpell, Weighed, weighed
from tare.errors import CommandError
from tare.lab.referee import spell_files

RANKS, ANCHORS, PLACES = 2, 60, 8
TOOL, OTHER = 1, 2


def run(chance: random.Random, costs: dict[int, float], noise: float = 0.02) -> list[list[PlacedSpell]]:
    """Spells of a run of all ranks, of work that is not the same at each place; one in ten is interrupted."""
    ranks: list[list[PlacedSpell]] = [[] for _ in range(RANKS)]
    now = 0.0
    for anchor in range(ANCHORS):
        for number in range(PLACES):
            route = chance.choice([BARE, *costs])
            ns = 2e6 * (1 + 0.5 * number) * (1 + costs.get(route, 0.0)) * chance.lognormvariate(0, noise)
            if chance.random() < 0.1:
                ns += chance.expovariate(1 / 4e6)
            for rank in ranks:
                begin, end = round(now), round(now + ns)
                rank.append(PlacedSpell(begin, end, anchor, number, 100 + number, 0x123, route))
            now += ns
    return ranks


def test_intervals_hold_the_truth() -> None:
    chance = random.Random(5)
    cells = [
        (truth, weighed([run(chance, {TOOL: truth})], TOOL))
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


def test_tools_are_compared_on_the_same_work() -> None:
    chance = random.Random(6)
    runs = [run(chance, {TOOL: 0.02, OTHER: 0.1}) for _ in range(2)]
    for tool, truth in ((TOOL, 0.02), (OTHER, 0.1)):
        found = weighed(runs, tool)
        assert found.overhead is not None and abs(found.overhead - truth) < 0.01
        assert found.spells > 200 and found.bare_spells > 200 and found.compared > 0.9


def test_no_interval_that_is_too_wide() -> None:
    found = weighed([run(random.Random(7), {TOOL: 0.02}, noise=1.0)], TOOL)
    assert (found.overhead, found.low, found.high) == (None, None, None)
    assert "differ too much" in found.why


def test_ranks_out_of_step_say_nothing() -> None:
    ranks = run(random.Random(8), {TOOL: 0.02})
    late = [
        PlacedSpell(
            each.begin_ns + 10**9, each.end_ns + 10**9, each.anchor, each.number, each.ticks, 0, each.route
        )
        for each in ranks[1]
    ]
    assert "together" in weighed([[ranks[0], late]], TOOL).why


def test_too_few_spells() -> None:
    ranks = [rank[:30] for rank in run(random.Random(9), {TOOL: 0.02})]
    found = weighed([ranks], TOOL)
    assert found.overhead is None and "can be compared" in found.why
    assert weighed([], TOOL) == Weighed(0, 0, 0.0, why=weighed([], TOOL).why)


def written(directory: Path, content: bytes, name: str = "node.example.12.spells") -> Path:
    (directory / name).write_bytes(content)
    return directory


def header(*, spells: int, magic: bytes = b"tareref\0", tools: int = 2) -> bytes:
    return struct.pack("=8sIiiIII8HQQ", magic, 1, 0, 2, tools, 0, 0, *range(8), 0, spells)


def test_files_are_read(tmp_path: Path) -> None:
    rows = struct.pack("=QQQIIHHI", 5, 9, 1, 2, 3, 4, 1, 0) + struct.pack("=QQQIIHHI", 9, 9, 1, 3, 3, 4, 1, 0)
    (process,) = spell_files.read(written(tmp_path, header(spells=2) + rows))
    assert (process.host, process.rank, process.ranks, process.functions) == ("node.example", 0, 2, (0, 1))
    assert process.spells == (PlacedSpell(5, 9, 1, 2, 3, 4, 1),)  # the other has no time


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
