"""What the page says first: what is lost, in which world, and its notes; and whether it has phases."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from tare.analysis import communication, ranks
from tare.analysis.efficiency import NO_TRACE, efficiencies
from tare.analysis.explain.basis import Basis
from tare.analysis.rows import changed
from tare.page import content, overview
from tare.runs.run import COUNTED


def of_two(net_ns: int, *, finalized: bool) -> Any:
    """Two ranks, of which the second one has this net time; the first one takes 2 s."""
    ranks = [fake_native.process(rank, 100_000_000) for rank in range(2)]
    ranks[1] = changed(ranks[1], net_ns=net_ns, threads_ns=net_ns, finalized=finalized)
    return SimpleNamespace(processes=ranks)


def world_of(run: Any) -> Any:
    (found,) = efficiencies(run.processes)
    return found


@pytest.mark.parametrize(
    ("net_ns", "finalized", "is_so"),
    [(10**9, False, True), (2 * 10**9, False, False), (10**9, True, False)],
)
def test_ranks_that_have_ended_early(net_ns: int, finalized: bool, is_so: bool) -> None:
    run = of_two(net_ns, finalized=finalized)
    assert overview._have_some_ended_early(run, world_of(run)) is is_so


def test_a_trace_is_advised_if_there_is_none() -> None:
    found = world_of(of_two(2 * 10**9, finalized=True))
    assert overview._why_not_replayed(found) is None
    without = overview._why_not_replayed(replace(found, not_replayed=NO_TRACE))
    assert without == "a trace tells which: tare run --trace"
    why = "a rank has not come to its end"
    assert overview._why_not_replayed(replace(found, not_replayed=why)) == (
        f"which of them is not known: {why}"
    )


def of_worlds(*net_times_s: list[float]) -> Any:
    """A run with ranks of these net times in each of its worlds."""
    processes = [
        changed(
            fake_native.process(rank, 1000, world=world), net_ns=round(s * 1e9), threads_ns=round(s * 1e9)
        )
        for world, times in enumerate(net_times_s)
        for rank, s in enumerate(times)
    ]
    sent = [
        SimpleNamespace(world=world, size=len(times), group=1, elsewhere=0, cells=[(0, 1, 2, 3)])
        for world, times in enumerate(net_times_s)
    ]
    nothing: Any = lambda *_, **__: None  # noqa: E731
    return SimpleNamespace(
        processes=processes, has_counted_time=False, current_calls=[],
        expect_profile=nothing, expect_exchanges=nothing,
        exchanges=lambda _: sent, meta=SimpleNamespace(options=SimpleNamespace(sources=())),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("net_times_s", "largest"),
    [
        ([[1.0], [0.2, 0.2]], 0),  # most time, although it has fewer ranks
        ([[1.0, 0.1], [0.6, 0.6]], 1),  # the longest rank is in the other one
        ([[0.0], [0.0, 0.0]], 1),
    ],
)
def test_one_world_is_the_largest_everywhere(net_times_s: list[list[float]], largest: int) -> None:
    run = of_worlds(*net_times_s)
    assert ranks.largest_world(run.processes) == largest
    assert Basis(run).world == largest
    found = overview._largest(efficiencies(run.processes), run.processes)
    assert found is not None and found.world == largest
    sent = communication.sent(run, 64)
    assert sent is not None and sent.world == largest
    assert {each.world for each in ranks.of_largest_world(run.processes)} == {largest}


def test_processes_without_a_rank_are_no_world() -> None:
    assert ranks.largest_world([fake_native.process(-1, 0)]) == -1
    assert ranks.of_largest_world([fake_native.process(-1, 0)]) == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (COUNTED, f"S{COUNTED[1:]}."),
        ("node.tare: 812 bytes were skipped", "node.tare: 812 bytes were skipped."),
        ("2 ranks are missing.", "2 ranks are missing."),
    ],
)
def test_notes_are_sentences(line: str, sentence: str) -> None:
    assert overview._sentence(line) == sentence


@pytest.mark.parametrize(
    ("of_rows", "shown"),
    [
        ([(0, None)], []),
        ([(0, None), (1, None)], []),
        ([(0, None), (0, "solve")], ["(in no phase)", "solve"]),
    ],
)
def test_phases_are_shown_if_there_are_some(
    of_rows: list[tuple[int, str | None]], shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [SimpleNamespace(**fake_native.PHASES[0] | {"world": w, "phase": phase}) for w, phase in of_rows]
    run: Any = SimpleNamespace()
    monkeypatch.setattr("tare.page.content.tables.phase_rows", lambda *_: rows)
    assert [row["phase"] for row in content._phases(run)] == shown
