"""Whether the cost account is right: what tare says it cost, beside what it did cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

from interleave import Rounds
from interval import estimate
from report import Row, Table

from tools import PROFILE, TRACE, Outcome, Tool


@dataclass(frozen=True)
class Account:
    """One program under one tool; a value a round, in seconds."""

    program: str
    tool: Tool
    slowdown_s: list[float]  # the truth, against bare
    per_rank_s: list[list[float]]  # the account: wrappers and flushes


def account_of(program: str, measured: Rounds, seconds: Callable[[Outcome], float]) -> list[Account]:
    """`seconds` gives the time of the measured part of the program, without MPI_Init and MPI_Finalize."""
    bare = measured.bare(seconds)
    return [
        Account(
            program,
            tool,
            [
                with_tool - without
                for with_tool, without in zip(measured.samples(tool, seconds), bare, strict=True)
            ],
            [_estimates_s(outcome) for outcome in measured.outcomes[tool]],
        )
        for tool in (PROFILE, TRACE)
    ]


def _estimates_s(outcome: Outcome) -> list[float]:
    assert outcome.info is not None
    costs = [rank["cost"] for rank in outcome.info["ranks"]]
    return [1e-9 * (cost["wrapper_ns"] + cost["flush_ns"]) for cost in costs]


def table(accounts: list[Account], rounds: int) -> Table:
    """Ranks wait for one another: their mean cost is what the program is slowed down by, or more."""
    rows = []
    samples = {}
    for account in accounts:
        label = f"{account.program}, {'trace' if account.tool is TRACE else 'profile'}"
        means = [mean(ranks) for ranks in account.per_rank_s]
        ratios = [own / truth for own, truth in zip(means, account.slowdown_s, strict=True) if truth > 0]
        rows.append(
            Row(
                label,
                median(means),
                estimate(ratios) if ratios else None,
                peers=_detail(account),
            )
        )
        samples[label] = ratios
    return Table(
        "The cost account: its estimate (wrappers and flushes, mean of the ranks) by the measured slowdown",
        "estimate, s",
        "times",
        rows,
        rounds,
        digits=3,
        over="estimate / truth",
        samples=samples,
        last_column="measured slowdown, and estimate of each rank",
    )


def _detail(account: Account) -> str:
    ranks = [median(rank) for rank in zip(*account.per_rank_s, strict=True)]
    lost = sum(truth <= 0 for truth in account.slowdown_s)
    text = f"{median(account.slowdown_s):.3f} s; {', '.join(f'{rank:.3f}' for rank in ranks)} s"
    return f"{text} ({lost} rounds without a slowdown left out)" if lost else text
