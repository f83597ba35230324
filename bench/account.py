"""Whether the cost account is right: what tare says it cost, beside what it did cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

from interleave import Rounds
from report import Row, Table
from tare.analysis.intervals import median_interval

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
    rows = [
        Row(
            f"{account.program}, {'trace' if account.tool is TRACE else 'profile'}",
            median(_means_s(account)),
            median_interval(account.slowdown_s),
            peers=_ratio(account),
        )
        for account in accounts
    ]
    samples = {row.label: account.slowdown_s for row, account in zip(rows, accounts, strict=True)}
    return Table(
        "The cost account: what tare estimates (wrappers and flushes), and how much slower the program is",
        "estimate, s",
        "s",
        rows,
        rounds,
        digits=3,
        over="slower",
        samples=samples,
        last_column="estimate / truth; estimate of each rank",
    )


def _means_s(account: Account) -> list[float]:
    """Ranks wait for one another, so that a program loses what its ranks lose on average, or more."""
    return [mean(ranks) for ranks in account.per_rank_s]


def _ratio(account: Account) -> str:
    own = median(_means_s(account))
    truth = median_interval(account.slowdown_s)
    ranks = ", ".join(f"{median(rank):.3f}" for rank in zip(*account.per_rank_s, strict=True))
    if truth.low <= 0:
        return f"the truth is within the noise; {ranks} s"
    return f"{own / truth.median:.2f} ({own / truth.high:.2f} .. {own / truth.low:.2f}); {ranks} s"
