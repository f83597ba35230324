"""Whether tare tells the truth about itself: its account and its trial beside the difference between runs;
and whether it keeps to its budget: what runs with a budget cost, beside what they were allowed.

The difference between whole runs is the truth, but scatters. Runs that are their own experiment
(`tare run --budget … --weigh`) know much better what the budget cost them: their trials are pooled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tare import units
from tare.analysis.intervals import Interval, pooled_interval
from tare.lab.study import statistics
from tare.lab.study.analysis import Analysis, Pair
from tare.lab.study.plan import Cell
from tare.lab.study.sections import CHANGE, COUNT, RATIO, Column, Section, Table, columns

WEIGH = "weigh"
BUDGET = "budget"
# The account is asked to be within this share of the truth where the truth is above the least.
AGREES = 0.25
LEAST = 0.01


@dataclass(frozen=True)
class _Known:
    """A cell of tare, with the truth: how much longer its runs take than bare ones."""

    pair: Pair
    truth: statistics.Paired


def weights(analysis: Analysis) -> Section | None:
    """The cost that tare states beside the cost that it had; None if there are no pairs of runs with tare."""
    known = {pair.cell: _Known(pair, net) for pair, net in _known(analysis)}
    if not known:
        return None
    section = Section(
        "The true weight",
        "What tare says that it cost, beside what it cost: the net time of its runs less that of bare runs.",
    )
    accounts = [_account_row(analysis, each) for each in known.values() if not _is_weighed(each.pair.cell)]
    if accounts:
        names = columns(
            "run", ("truth", CHANGE), ("interval", CHANGE), ("account", CHANGE), ("of account", CHANGE),
            ("account/truth", RATIO), "verdict", ("blocks", COUNT),
        )  # fmt: skip
        note = (
            f"Truth: median of the differences within blocks. {analysis.interval_note()} "
            "Account: wrappers, flushes and offloads of a rank over the net time of the bare run, and its "
            "own interval of 95 %. It sees neither what tare displaces from the caches nor what ranks wait "
            f'for: it says "at least". Agrees: within {100 * AGREES:.0f} % of the truth, or in its interval; '
            f"not asked where the truth is below {100 * LEAST:g} %. Not known: half the width of the truth's "
            f"interval is more than that of these which is greater; more blocks or longer runs are needed."
        )
        section.parts.append(Table("Account", names, accounts, note))
    trials = [
        _trial_row(analysis, each, known[untouched])
        for each in known.values()
        if _is_weighed(each.pair.cell) and (untouched := _without_trial(each.pair.cell)) in known
    ]
    if trials:
        names = columns(
            "run", ("truth", CHANGE), ("interval", CHANGE), ("account", CHANGE), ("trial", CHANGE),
            ("half width", CHANGE), ("account/trial", RATIO), ("runs", COUNT), ("determined", COUNT),
            ("cover the truth", COUNT), ("meet its interval", COUNT),
        )  # fmt: skip
        note = (
            "Truth and account: of the runs without a trial. Trial: median over runs, and half the width of "
            "its interval of 95 %. Cover the truth: runs whose interval holds the median of the truth. Meet "
            "its interval: runs whose interval has a part of the truth's."
        )
        section.parts.append(Table("Trial (--weigh)", names, trials, note))
    return section


def _known(analysis: Analysis) -> Iterator[tuple[Pair, statistics.Paired]]:
    for pairs in analysis.timed_pairs().values():
        for pair in pairs:
            net = analysis.paired(pair, "net")
            if net is not None and pair.ours["account"].notna().any():
                yield pair, net


def _is_weighed(cell: Cell) -> bool:
    return cell.by_factor.get(WEIGH) == "true"


def _without_trial(cell: Cell) -> Cell:
    return Cell(tuple((name, "false" if name == WEIGH else level) for name, level in cell.levels))


def _account_row(analysis: Analysis, known: _Known) -> list[object]:
    truth, bare = known.truth.relative, float(known.pair.bare["net"].median())
    account = _account(known.pair)
    error = float(known.pair.ours["account error"].median()) / bare
    return [
        known.pair.label, truth.median, (truth.low, truth.high), account, (account - error, account + error),
        account / truth.median if truth.median > 0 else math.nan, _verdict(known.truth, account), truth.count,
    ]  # fmt: skip


def _account(pair: Pair) -> float:
    """The account as a share of the bare net time."""
    return float(pair.ours["account"].median()) / float(pair.bare["net"].median())


def _verdict(truth: statistics.Paired, account: float) -> str:
    found = truth.relative
    if (found.high - found.low) / 2 > max(LEAST, AGREES * abs(found.median)):
        return "truth not known"
    if found.low <= account <= found.high:
        return "agrees"
    if found.median < LEAST:
        return f"truth below {100 * LEAST:g} %"
    if abs(account / found.median - 1) <= AGREES:
        return "agrees"
    return "too low" if account < found.median else "too high"


def _trial_row(analysis: Analysis, weighed: _Known, untouched: _Known) -> list[object]:
    truth = untouched.truth.relative
    runs = weighed.pair.ours
    determined = runs[runs["trial"].notna()]
    low, high = determined["trial low"], determined["trial high"]
    trial = float(determined["trial"].median())
    account = _account(untouched.pair)
    return [
        untouched.pair.label, truth.median, (truth.low, truth.high), account, trial,
        float((high - low).median()) / 2, account / trial if trial > 0 else math.nan, len(runs),
        len(determined),
        int(((low <= truth.median) & (truth.median <= high)).sum()),
        int(((low <= truth.high) & (truth.low <= high)).sum()),
    ]  # fmt: skip


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
    kept = sum(_kept_or_passed(each) == "kept" for each in promises)
    passed = sum(_kept_or_passed(each) == "passed" for each in promises)
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
        truth.median / promise.allowed, _kept_or_passed(promise), truth.count,
    ]  # fmt: skip


def _kept_or_passed(promise: _Promise) -> str:
    if promise.truth.high <= promise.allowed:
        return "kept"
    return "passed" if promise.truth.low > promise.allowed else "not known"
