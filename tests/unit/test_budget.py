"""What a run with a budget says of what it kept."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import fake_native
import pytest
from fake_recording import fake_recording, shown
from made import made
from tare._native import Spell
from tare.analysis import budget, totals, trial
from tare.analysis.rows import changed
from tare.measuring.limits import Budget
from tare.measuring.limits import budget as budget_of
from tare.reporters import totals as total_sheet
from tare.runs.metadata import Options
from tare.runs.run import Run


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    made = fake_recording(tmp_path, monkeypatch, Options(trace=True, budget=0.02))
    made.__dict__["spells"] = []
    return made


def spell(number: int, depth: str, ns: int = 1000, *, cut: bool = False) -> Spell:
    counted = depth == "counts"
    return made(Spell,
        rank=0, spell=number, ns=ns, measured=not counted, traced=depth == "trace", cut=cut, sync_points=1,
        first_site=1, last_site=1, begin_ns=number * 1000,
        measured_calls=0 if counted else 10, counted_calls=10 if counted else 0,
    )  # fmt: skip


def test_a_run_without_a_budget_says_nothing_of_it(recording: Run) -> None:
    recording.meta.options = Options()
    assert budget.of_run(recording) is None
    assert "% spent" not in shown(recording)


@pytest.mark.parametrize(
    ("sources", "base"),
    [((), "net time"), (("files",), "recorded time")],
)
def test_the_cost_is_a_share_of_the_time_that_was_recorded(
    recording: Run, sources: tuple[str, ...], base: str
) -> None:
    recording.meta.options = Options(sources=sources)
    text = " ".join(shown(recording).split())
    assert re.search(rf"in all [\d.]+ % of {base}, [\d.]+ % of all time with the hooks", text), text


def test_what_a_call_costs_is_compared_with_the_time_that_was_recorded(
    recording: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost = changed(recording.total_cost(), calls=1_000_000, lookup_ns=5.0, recorded_ns=10**9, stack_ns=10**8)
    monkeypatch.setattr(recording, "total_cost", lambda: cost)
    kept = budget.of_run(recording)
    assert kept is not None
    assert kept.counting == 0.005, "samples of stacks are no part of it"


def test_all_was_affordable(recording: Run) -> None:
    recording.__dict__["spells"] = [spell(1, "trace"), spell(2, "trace")]
    text = shown(recording)
    assert "trace 100.0 % of the time, 2 of 2 spells; profile all of it" in text
    assert "given up" not in text
    assert "the trace has some spells only" not in text


def test_some_spells_were_traced(recording: Run) -> None:
    recording.__dict__["spells"] = [spell(1, "trace"), spell(2, "profile", 3000)]
    kept = budget.of_run(recording)
    assert kept is not None
    assert (kept.spells, kept.traced_spells, kept.counted_spells) == (2, 1, 0)
    assert (kept.traced_share, kept.measured_share) == (0.25, 1)
    text = shown(recording)
    assert "trace 25.0 % of the time, 1 of 2 spells; profile all of it" in text
    assert "the trace has some spells only (--budget)" in " ".join(text.split())


def test_some_spells_were_only_counted(recording: Run) -> None:
    recording.__dict__["spells"] = [spell(1, "trace"), spell(2, "counts"), spell(2, "counts")]
    recording.__dict__["has_counted_time"] = True
    kept = budget.of_run(recording)
    assert kept is not None
    assert kept.counted_spells == 1
    text = shown(recording)
    assert "profile 33.3 %" in text
    assert "some calls were only counted (--budget)" in " ".join(text.split())
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "MPI_Send 2,000 10.0 % 2.00 ms 5.0 % 8.00 KiB 0.0 %" in lines
    assert "MPI_Recv 2,000 0.2 % 2.00 ms ? 8.00 KiB 0.0 %" in lines
    assert not any(line.startswith("MPI_Barrier 20") for line in lines)


def test_errors_of_ranks_add_up(recording: Run) -> None:
    """The same spells are measured on all of them."""
    recording.__dict__["spells"] = [spell(1, "trace"), spell(2, "counts")]
    recording.__dict__["has_counted_time"] = True
    send = next(total for total in totals.of_run(recording) if total.function == "MPI_Send")
    assert (send.time_error_ns, send.bytes_error) == (100_000, 0)
    assert [total.time_error_ns for total in totals.of_run(recording) if total.function == "MPI_Recv"] == [
        None
    ]
    recording.__dict__["spells"] = [spell(1, "trace")]
    recording.__dict__["has_counted_time"] = False
    assert totals.of_run(recording) == []


def test_spells_that_were_cut(recording: Run) -> None:
    recording.__dict__["spells"] = [spell(1, "trace", cut=True)]
    assert "1 of 1 spell cost more" in shown(recording)


def test_ranks_that_never_passed_together(recording: Run) -> None:
    assert "the ranks never passed together" in " ".join(shown(recording).split())


def test_what_the_program_lost_decides(recording: Run) -> None:
    """Measured spells take a tenth longer than those that only count; two thirds are measured."""
    recording.__dict__["spells"] = [
        spell(number, "counts" if number % 3 == 0 else "profile", 1000 if number % 3 == 0 else 1100)
        for number in range(1, 301)
    ]
    kept = budget.of_run(recording)
    assert kept is not None and kept.lost is not None
    assert kept.lost == pytest.approx(0.1 * 2 / 3)
    assert not kept.is_kept
    assert replace(kept, lost=0.01, counting=0.001, spent=0.03).is_kept
    text = shown(recording)
    assert "by trial 6.7 % of net time, 6.7 to 6.7 % with 95 % confidence" in " ".join(text.split())
    assert "MORE THAN THAT" in text


def test_a_trial_that_says_nothing_of_the_budget_is_no_result(recording: Run) -> None:
    """Spells that only count differ by a factor of two, and those that are measured, too."""
    recording.__dict__["spells"] = [
        spell(number, "counts" if number % 3 == 0 else "profile", 1000 + 1000 * (number * 7 % 11 > 5))
        for number in range(1, 61)
    ]
    kept = budget.of_run(recording)
    assert kept is not None and kept.lost is None
    assert "by trial" not in shown(recording)
    found = trial.of_run(recording)
    assert found is not None and found.overhead is None
    assert found.why is not None and found.why.startswith("the spells differ too much: ± ")


def test_spells_that_were_cut_are_not_compared(recording: Run) -> None:
    recording.__dict__["spells"] = [
        spell(
            number, "counts" if number % 2 else "profile", 1000 if number % 2 else 9000, cut=number % 2 == 0
        )
        for number in range(1, 301)
    ]
    kept = budget.of_run(recording)
    assert kept is not None and kept.lost is None
    assert "by trial" not in shown(recording)


def test_a_budget_that_does_not_even_allow_to_count(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = budget.of_run(recording)
    assert kept is not None and kept.is_possible
    # 28 calls, 5 ns each, of a net time that is a hundred times what wrappers and flushes took.
    assert kept.counting == pytest.approx(28 * 5 / (100 * 80_540))
    many = changed(fake_native.TOTAL_COST, counted=1_000_000, calls=1_000_020)
    monkeypatch.setattr(Run, "total_cost", lambda self, world=None: many)
    text = " ".join(shown(recording).split())
    assert "too little only to count all calls takes 62.08 % of net time" in text


def test_controls_are_not_paid_for(recording: Run) -> None:
    """Neither their time nor the counting of calls in them."""
    recording.__dict__["spells"] = [spell(1, "trace"), changed(spell(2, "counts"), control=True)]
    kept = budget.of_run(recording)
    assert kept is not None and kept.spells == 1
    # 10 calls were counted in the control, 5 ns each, of 80,540 ns that are 1 % of net time.
    assert kept.spent == pytest.approx(0.01 * (80_540 - 50) / 80_540 * 2)


def test_a_budget_that_was_passed_is_named(recording: Run) -> None:
    kept = budget.of_run(recording)
    assert kept is not None
    assert kept.is_kept == (kept.spent <= 0.02)
    assert not replace(kept, spent=0.021).is_kept
    assert not replace(kept, spent=0.01, bytes=100, spent_bytes=101).is_kept
    assert replace(kept, spent=0.01, bytes=100, spent_bytes=100).is_kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1%", Budget(0.01)),
        ("0.02", Budget(0.02)),
        (" 0.5 % ", Budget(0.005)),
        ("2%,500M", Budget(0.02, 500 << 20)),
        ("2%, 1GiB", Budget(0.02, 1 << 30)),
    ],
)
def test_a_budget_as_people_write_it(text: str, expected: Budget) -> None:
    assert budget_of(text) == expected


def test_calls_of_other_sources_are_shown_too() -> None:
    """A table of functions of MPI alone is empty where calls on files were counted, and they alone."""
    of_files = totals.Total("pread", 3_000_000, 12_559, 1_340_000_000, None, 192_000_000, 0)
    of_mpi = totals.Total("MPI_Init", 1, 1, 5, 0, 0, 0)
    [row] = total_sheet.sheet([of_files, of_mpi]).rows
    assert row[:5] == ["pread", "3.00 M", "0.4 %", "1.34 s", "?"]
