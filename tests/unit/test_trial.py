"""The trial's interval holds what measuring costs, whatever the program and the machine do beside that."""

from __future__ import annotations

import math
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from made import made
from tare._native import Spell
from tare.analysis.trial import BLOCKS_NEEDED, WIDEST, of_run, trial

SIMULATIONS = 80


def spell(number: int, rank: int = 0, **of: Any) -> Spell:
    row: dict[str, Any] = {
        "rank": rank, "spell": number, "measured": True, "sync_points": 1, "first_site": 1, "last_site": 1,
        "begin_ns": number * 10**6, "ns": 10**6, **of,
    }  # fmt: skip
    return made(Spell, **({"control": not row["measured"]} | row))


def simulated(random: Random, cost: float, count: int = 240) -> list[Spell]:
    """Three kinds of synchronisation points alternate; the machine's speed drifts, interruptions come."""
    rows = []
    speed = 1.0
    kinds = [(1, 2, 5e6), (2, 3, 2e6), (3, 1, 1e6)]
    for number in range(1, count + 1):
        first, last, ns = kinds[number % 3]
        speed = min(max(speed * math.exp(random.gauss(0, 0.02)), 0.5), 2)
        measured = random.random() < 0.5
        ns *= speed * math.exp(random.gauss(0, 0.03)) * (1 + cost * measured)
        if random.random() < 0.03:
            ns += random.expovariate(1 / 2e7)
        calls = {"measured_calls" if measured else "counted_calls": 100 * first}
        at = {"first_site": first, "last_site": last}
        rows += [spell(number, rank, measured=measured, ns=int(ns), **at, **calls) for rank in (0, 1)]
    return rows


@pytest.mark.parametrize("cost", [0.0, 0.02, 0.15])
def test_intervals_cover_the_cost(cost: float) -> None:
    covered = 0
    widths = []
    for seed in range(SIMULATIONS):
        found = trial(simulated(Random(f"{cost} {seed}"), cost))
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= cost <= found.high
        widths.append(found.high - found.low)
    # 95 % and three standard deviations.
    assert covered / SIMULATIONS >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / SIMULATIONS)
    assert sorted(widths)[SIMULATIONS // 2] < 0.06


def timed(random: Random, cost: float, count: int = 400) -> list[Spell]:
    """Two ranks make calls at a rate that drifts; in a spell there are whole iterations of 20 calls."""
    rows = []
    speed = 1.0
    for number in range(1, count + 1):
        speed = min(max(speed * math.exp(random.gauss(0, 0.02)), 0.5), 2)
        measured = random.random() < 0.5
        call_ns = 1e4 * speed * math.exp(random.gauss(0, 0.03)) * (1 + cost * measured)
        for rank in (0, 1):
            calls = 20 * random.randint(38, 42)
            counts = {"measured_calls" if measured else "counted_calls": calls}
            of = {"measured": measured, "ns": int(calls * call_ns), "timed": True, "sync_points": 0, **counts}
            rows.append(spell(number, rank, **of))
    return rows


@pytest.mark.parametrize("cost", [0.0, 0.02, 0.15])
def test_calls_of_timed_spells_tell_the_cost(cost: float) -> None:
    covered = 0
    for seed in range(SIMULATIONS):
        found = trial(timed(Random(f"{cost} {seed}"), cost))
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= cost <= found.high
        assert found.high - found.low < 0.03
    assert covered / SIMULATIONS >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / SIMULATIONS)


def test_timed_spells_of_a_program_that_polls_tell_nothing() -> None:
    found = trial([*timed(Random(1), 0.02), spell(9999, counted_polls=1, timed=True, sync_points=0)])
    assert found is not None and found.overhead is None
    assert found.why == "the program polls, and its ranks seldom meet"


def test_spells_that_were_cut_are_not_compared() -> None:
    rows = simulated(Random(1), 0.02)
    odd = [
        spell(9990 + i, rank, ns=10**10, cut=True, measured=i % 2 == 0) for i in range(8) for rank in (0, 1)
    ]
    assert trial([*rows, *odd]) == trial(rows)


def test_no_trial() -> None:
    assert trial([]) is None


def test_too_few_comparisons_are_no_result() -> None:
    rows = [spell(number, measured=number % 2 == 0, ns=10**9) for number in range(1, BLOCKS_NEEDED + 1)]
    found = trial(rows)
    assert found is not None and found.overhead is None
    assert found.why == f"10 of {BLOCKS_NEEDED} comparisons; at least 20 s more needed"


def test_an_interval_that_says_nothing_is_no_result() -> None:
    chance = Random(3)
    rows = [
        spell(number, measured=chance.random() < 0.5, ns=int(1e6 * math.exp(chance.gauss(0, 1))))
        for number in range(1, 200)
    ]
    wide = trial(rows)
    assert wide is not None and wide.low is not None and wide.high is not None
    assert (wide.high - wide.low) / 2 > WIDEST
    options = SimpleNamespace(weigh=0.1, budget=None)
    recording: Any = SimpleNamespace(meta=SimpleNamespace(options=options), spells=rows)
    found = of_run(recording)
    assert found is not None and (found.overhead, found.low, found.high) == (None, None, None)
    assert found.why is not None and found.why.startswith("the spells differ too much: ± ")


def test_passages_of_other_call_sites_are_not_compared() -> None:
    rows = []
    for number in range(1, 401):
        measured = number % 2 == 0
        site = 1 if measured else 2  # the long synchronisation points are those that are measured
        rows.append(spell(number, measured=measured, first_site=site, ns=site * 10**6))
    found = trial(rows)
    assert found is not None and found.overhead is None and found.blocks == 0


def test_drains_are_taken_out_and_added() -> None:
    rows = []
    for number in range(1, 401):
        measured = number % 2 == 0
        flush = 5_000_000 if measured and number % 100 == 0 else 0
        rows.append(spell(number, measured=measured, ns=10**6 + flush, flush_ns=flush))
    found = trial(rows)
    assert found is not None and found.overhead is not None
    assert found.drains == pytest.approx(4 * 5 / 200)
    assert found.overhead == pytest.approx(found.drains)


def test_spells_that_measured_all_the_same_are_left_out() -> None:
    rows = []
    for number in range(1, 401):
        measured = number % 2 == 0
        calls = {"measured_calls": 100, "counted_calls": 0}
        rows.append(spell(number, measured=measured, has_requests=not measured, **calls))
    found = trial(rows)
    assert found is not None and found.overhead is None
    assert found.why == "requests are under way wherever all ranks pass together"


def test_a_spell_that_one_rank_has_not_ended_is_left_out() -> None:
    rows = simulated(Random(1), 0.1)
    assert trial(rows) == trial([*rows, spell(401)])
