"""Runs of several tools in turn, so that what changes on the machine meanwhile meets all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools import BARE, Outcome, PeerError, Tool


@dataclass(frozen=True)
class Rounds:
    """The outcomes of each tool; those with one index belong to one round."""

    count: int
    outcomes: dict[Tool, list[Outcome]]

    @property
    def tools(self) -> list[Tool]:
        return list(self.outcomes)

    def samples(self, tool: Tool, of: Callable[[Outcome], float]) -> list[float]:
        return [of(outcome) for outcome in self.outcomes[tool]]

    def known(self, is_known: Callable[[Outcome], bool]) -> Rounds:
        """The rounds whose outcomes are all known, so that those with one index still belong together."""
        kept = [
            number
            for number in range(self.count)
            if all(is_known(outcomes[number]) for outcomes in self.outcomes.values())
        ]
        of_tools = {tool: [outcomes[number] for number in kept] for tool, outcomes in self.outcomes.items()}
        return Rounds(len(kept), of_tools)

    def bare(self, of: Callable[[Outcome], float]) -> list[float]:
        return self.samples(BARE, of)


def interleave(count: int, tools: Sequence[Tool], run_one: Callable[[Tool], Outcome]) -> Rounds:
    """A B C D, B C D A, ...: no tool is always the first.

    A peer that cannot run the program is left out.
    """
    outcomes: dict[Tool, list[Outcome]] = {tool: [] for tool in tools}
    for number in range(count):
        print(f"round {number + 1} of {count}", file=sys.stderr, flush=True)
        shift = number % len(tools)
        for tool in (*tools[shift:], *tools[:shift]):
            if tool not in outcomes:
                continue
            try:
                outcomes[tool].append(run_one(tool))
            except PeerError as error:
                print(f"\n{tool.label} is left out here: {error}")
                del outcomes[tool]
    return Rounds(count, outcomes)
