"""What tare costs by its own trial (`tare run --weigh`), for claims that whole runs cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interleave import Rounds, interleave
from report import Row, Table
from tare.analysis.intervals import Interval, pooled_interval

from tools import PROFILE, TRACE, Outcome, Tool

WEIGHED = {
    PROFILE: Tool("profile, --weigh", tare=("--weigh",)),
    TRACE: Tool("trace, --weigh", tare=("--weigh", "--trace")),
}
# A trial tells by itself how certain it is, and takes a run of seconds: of so many rounds there is one.
ROUNDS_A_TRIAL = 4
NOT_DETERMINED = "not determined"


def trials(rounds: int, run_one: Callable[[Tool], Outcome]) -> Rounds:
    """Runs that weigh themselves; `run_one` must last long enough for it, some seconds."""
    return interleave(-(-rounds // ROUNDS_A_TRIAL), tuple(WEIGHED.values()), run_one)


def add(table: Table, weighed: Rounds, limits: Mapping[Tool, float], *, invisible: bool = False) -> None:
    """Adds a row each for PROFILE and TRACE: the trials of all runs together, in percent, beside the limit.

    A trial is about the whole program, between MPI_Init and MPI_Finalize.
    """
    for tool, weighing in WEIGHED.items():
        label = f"{tool.label}, by trial"
        of_runs = [trial_of(outcome) for outcome in weighed.outcomes[weighing]]
        pooled = together([found for found in of_runs if found["overhead"] is not None])
        table.rows.append(Row(label, None, pooled, limits.get(tool), "", invisible))
        table.notes.append(f"{label}: {_said(of_runs)}")


def trial_of(outcome: Outcome) -> Mapping[str, Any]:
    """The trial as `tare info --json` has it; docs/json.md."""
    assert outcome.info is not None
    found = outcome.info["trial"]
    return found if found is not None else {"overhead": None, "why": "there was no trial"}


def together(determined: Sequence[Mapping[str, Any]]) -> Interval | None:
    """The cost by trials of several runs, in percent; None if no run determined it."""
    if not determined:
        return None
    half_widths = [(found["high"] - found["low"]) / 2 for found in determined]
    return pooled_interval([found["overhead"] for found in determined], half_widths).scaled(100)


def _said(of_runs: list[Mapping[str, Any]]) -> str:
    missing = [found["why"] for found in of_runs if found["overhead"] is None]
    runs = f"{len(of_runs)} run" + ("s" if len(of_runs) > 1 else "")
    if not missing:
        return f"trials of {runs} of the whole program"
    if len(missing) == len(of_runs):
        return f"{NOT_DETERMINED}: {missing[0]}"
    known = len(of_runs) - len(missing)
    return f"trials of {known} of {runs} of the whole program; {NOT_DETERMINED} in the others: {missing[0]}"
