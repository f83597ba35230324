"""What a run with `tare run --budget` kept, and what that cost (src/recorder/spells.h, budget/governor.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis import ranks, trial
from tare.runs.metadata import DEFAULT_STACK_RATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import Spell, TotalCost
    from tare.runs.run import Run


def base_of_cost(recording: Run) -> str:
    """The time that the cost of measuring is a share of: recorded_ns of the account."""
    if ranks.use_mpi(recording.processes) and not recording.meta.options.sources:
        return "net time"
    return "recorded time"


@dataclass(frozen=True)
class Kept:
    """What a run with a budget recorded. Shares are from 0 to 1. Times of spells are sums over the first
    threads of all ranks. Controls (`--weigh`) are not included, neither their time nor their cost."""

    share: float  # share of net time that the user allows
    bytes: int | None  # size that the trace may have; None: any
    spent: float  # share of net time that the code of tare took
    lost: (
        float | None
    )  # share of net time that the program lost by it, as the trial says; None: not determined
    counting: float  # share of net time that it takes only to count all calls
    spent_bytes: int  # size of the trace
    spells: int  # number of spells; 0: the ranks never passed a point together
    traced_spells: int  # spells that were traced on at least one rank
    counted_spells: int  # spells in which calls were only counted
    cut_spells: int  # spells that cost more than planned, so that less was recorded of their ends
    traced_share: float | None  # share of traced spells in the time of all spells; None: there are none
    measured_share: float | None  # the same for measured spells
    whole_trace: (
        float | None
    )  # share of net time that the code of tare would have taken with a trace of all calls; None: not known
    sample_ns: int  # processor time between two samples of a stack, as the user asked; 0: none were taken
    longest_sample_ns: int  # the longest that the budget made it

    @property
    def cost(self) -> float:
        """Share of net time that the run cost. If the trial has a result, it decides. It does not include the
        counting of calls, because all spells count."""
        return self.spent if self.lost is None else max(self.lost, 0) + self.counting

    @property
    def is_kept(self) -> bool:
        """Whether the run stayed within what was allowed."""
        return self.cost <= self.share and (self.bytes is None or self.spent_bytes <= self.bytes)

    @property
    def is_possible(self) -> bool:
        """Whether the budget allows to count all calls."""
        return self.counting <= self.share


def of_run(recording: Run) -> Kept | None:
    """None if the run had no budget."""
    options = recording.meta.options
    if options.budget is None:
        return None
    cost = recording.total_cost()
    spells = [spell for spell in recording.spells if not spell.control]
    found = trial.of_run(recording)
    time_ns = sum(spell.ns for spell in spells)
    all_ns = sum(spell.ns for spell in recording.spells)
    traced_ns = sum(spell.ns for spell in spells if spell.traced)
    measured_ns = sum(spell.ns for spell in spells if spell.measured)
    intervals = [row.interval_ns for row in recording.rows(recording.stack_sampling)]
    return Kept(
        share=options.budget,
        bytes=options.budget_bytes,
        spent=_spent(cost, recording.spells) * (all_ns / time_ns if time_ns else 1),
        lost=None if found is None else found.overhead,
        counting=_counting(cost),
        spent_bytes=recording.total_trace().bytes,
        spells=len({spell.spell for spell in spells}),
        traced_spells=len({spell.spell for spell in spells if spell.traced}),
        counted_spells=len({spell.spell for spell in spells if not spell.measured}),
        cut_spells=len({spell.spell for spell in spells if spell.cut}),
        traced_share=traced_ns / time_ns if time_ns else None,
        measured_share=measured_ns / time_ns if time_ns else None,
        whole_trace=_whole_trace(recording),
        sample_ns=round(1e9 / (options.stack_rate or DEFAULT_STACK_RATE)) if intervals else 0,
        longest_sample_ns=max(intervals, default=0),
    )


def _spent(cost: TotalCost, spells: Sequence[Spell]) -> float:
    """The share that was spent, without the counting of calls in controls."""
    counted = sum(spell.counted_calls for spell in spells if spell.control)
    return max(cost.net_share - _share_of(cost, cost.lookup_ns * counted), 0)


def _counting(cost: TotalCost) -> float:
    return _share_of(cost, cost.lookup_ns * cost.calls)


def _share_of(cost: TotalCost, ns: float) -> float:
    """The share of net time that `ns` are."""
    return ns / cost.recorded_ns if cost.recorded_ns else 0


def _whole_trace(recording: Run) -> float | None:
    """The share if wrappers did in all spells what they did in these, and each call were written."""
    cost = recording.total_cost()
    records = recording.total_trace().records
    if records == 0 or not cost.recorded_ns:
        return None
    # Readings, samples and the like cost what they do, whatever is done of the calls.
    rest = max(cost.net_share - _share_of(cost, cost.wrapper_ns + cost.flush_ns), 0)
    return _share_of(cost, (cost.timed_call_ns + cost.flush_ns / records) * cost.calls) + rest
