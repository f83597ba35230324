"""Whether tare keeps to its budget: what runs with a budget cost, beside what they were allowed.

The difference between whole runs is the truth, but scatters. Runs that are their own experiment
(`tare run --budget … --weigh`) know much better what the budget cost them: their trials are pooled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tare import units
from tare.analysis.intervals import Interval, pooled_interval
from tare.lab.study.analysis import Analysis, Pair
from tare.lab.study.parts.weights import WEIGH
from tare.lab.study.sections import CHANGE, COUNT, RATIO, Column, Section, Table, columns

BUDGET = "budget"


@dataclass(frozen=True)
class _Promise:
    """A cell with a budget: a share of the net time, and how much longer its runs take than bare ones, or, by
    their trials, than they would take without measuring."""

    pair: Pair
    allowed: float
    truth: Interval  # share
    by_trial: bool


def budgets(analysis: Analysis) -> Section | None:
    """Whether runs with a budget kept to it; None if there are none."""
    promises = list(_promises(analysis))
    if not promises:
        return None
    kept = sum(_verdict(each) == "kept" for each in promises)
    passed = sum(_verdict(each) == "passed" for each in promises)
    section = Section(
        "The budget",
        f"Of {len(promises)} cells with a budget {kept} kept to it and {passed} passed it; of "
        f"{len(promises) - kept - passed} it is not known.",
    )
    verdicts = (
        "Account: what the runs said themselves. Kept: the whole interval is within the budget. Passed: none "
        "of it is. Not known: the budget is within the interval; more blocks or longer runs are needed."
    )
    by_trial = [_row(each) for each in promises if each.by_trial]
    if by_trial:
        truth = "Truth: mean of the trials of the runs (--weigh); its interval of 95 % is made of theirs."
        section.parts.append(Table("Promise and trial", _names("runs"), by_trial, f"{truth} {verdicts}"))
    by_runs = [_row(each) for each in promises if not each.by_trial]
    if by_runs:
        truth = f"Truth: median of the differences within blocks. {analysis.interval_note()}"
        section.parts.append(Table("Promise and truth", _names("blocks"), by_runs, f"{truth} {verdicts}"))
    return section


def _names(counted: str) -> tuple[Column, ...]:
    return columns(
        "run", ("budget", CHANGE), ("truth", CHANGE), ("interval", CHANGE), ("account", CHANGE),
        ("truth/budget", RATIO), "verdict", (counted, COUNT),
    )  # fmt: skip


def _promises(analysis: Analysis) -> Iterator[_Promise]:
    for pairs in analysis.timed_pairs().values():
        for pair in pairs:
            allowed = _share(pair.cell.by_factor.get(BUDGET))
            if allowed is None:
                continue
            if pair.cell.by_factor.get(WEIGH) == "true":
                runs = pair.ours[pair.ours["trial"].notna()]
                half_widths = (runs["trial high"] - runs["trial low"]) / 2
                yield _Promise(pair, allowed, pooled_interval(list(runs["trial"]), list(half_widths)), True)
            elif (net := analysis.paired(pair, "net")) is not None:
                yield _Promise(pair, allowed, net.relative, False)


def _share(level: str | None) -> float | None:
    """The share in a level like 1% or 0.01,500M; None: there is no budget."""
    if level is None:
        return None
    try:
        return units.parse_share(level.partition(",")[0])
    except ValueError:
        return None


def _row(promise: _Promise) -> list[object]:
    truth = promise.truth
    account = float(promise.pair.ours["account"].median()) / float(promise.pair.bare["net"].median())
    return [
        promise.pair.label, promise.allowed, truth.median, (truth.low, truth.high), account,
        truth.median / promise.allowed, _verdict(promise), truth.count,
    ]  # fmt: skip


def _verdict(promise: _Promise) -> str:
    if promise.truth.high <= promise.allowed:
        return "kept"
    return "passed" if promise.truth.low > promise.allowed else "not known"
