"""Whether tare keeps to its budget: what runs with a budget cost, beside what they were allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tare.study import statistics
from tare.study.analysis import Analysis, Pair
from tare.study.sections import CHANGE, COUNT, RATIO, Section, Table, columns

BUDGET = "budget"


@dataclass(frozen=True)
class _Promise:
    """A cell with a budget: a share of the net time, and how much longer its runs take than bare ones."""

    pair: Pair
    allowed: float
    truth: statistics.Paired


def budgets(analysis: Analysis) -> Section | None:
    promises = list(_promises(analysis))
    if not promises:
        return None
    names = columns(
        "run", ("budget", CHANGE), ("truth", CHANGE), ("interval", CHANGE), ("account", CHANGE),
        ("truth/budget", RATIO), "verdict", ("blocks", COUNT),
    )  # fmt: skip
    note = (
        f"Truth: median of the differences within blocks. {analysis.interval_note()} Account: what the runs "
        "said themselves. Kept: the whole interval is within the budget. Passed: none of it is. Not known: "
        "the budget is within the interval; more blocks or longer runs are needed."
    )
    kept = sum(_verdict(each) == "kept" for each in promises)
    passed = sum(_verdict(each) == "passed" for each in promises)
    section = Section(
        "The budget",
        f"Of {len(promises)} cells with a budget {kept} kept to it and {passed} passed it; of "
        f"{len(promises) - kept - passed} it is not known.",
    )
    section.parts.append(Table("Promise and truth", names, [_row(each) for each in promises], note))
    return section


def _promises(analysis: Analysis) -> Iterator[_Promise]:
    for pairs in analysis.timed_pairs().values():
        for pair in pairs:
            allowed = _share(pair.cell.by_factor.get(BUDGET))
            net = analysis.paired(pair, "net")
            if allowed is not None and net is not None:
                yield _Promise(pair, allowed, net)


def _share(level: str | None) -> float | None:
    """Of a level like 1% or 0.01,500M; None: there is no budget."""
    if level is None:
        return None
    word = level.partition(",")[0].strip()
    try:
        return float(word[:-1]) / 100 if word.endswith("%") else float(word)
    except ValueError:
        return None


def _row(promise: _Promise) -> list[object]:
    truth = promise.truth.relative
    account = float(promise.pair.ours["account"].median()) / float(promise.pair.bare["net"].median())
    return [
        promise.pair.label, promise.allowed, truth.median, (truth.low, truth.high), account,
        truth.median / promise.allowed, _verdict(promise), truth.count,
    ]  # fmt: skip


def _verdict(promise: _Promise) -> str:
    found = promise.truth.relative
    if found.high <= promise.allowed:
        return "kept"
    return "passed" if found.low > promise.allowed else "not known"
