"""The times since which ranks have been in no round: of stretches of ranks, as there may be very many."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._native import Ranks


@dataclass(frozen=True)
class Silence:
    """The silence of the ranks of one host."""

    spans: tuple[tuple[int, int, int], ...] = ()  # (first rank, one after the last, Unix time), which ascend

    def since(self, rank: int) -> int | None:
        """None of a rank that is not silent."""
        at = bisect_right(self.spans, rank, key=lambda span: span[0]) - 1
        if at < 0:
            return None
        _, end, time_ns = self.spans[at]
        return time_ns if rank < end else None

    def after(self, lost: Ranks, time_ns: int) -> Silence:
        """The silence of the ranks that are missing in the round of this time: since then or before."""
        spans: list[tuple[int, int, int]] = []

        def add(first: int, end: int, since: int) -> None:
            if spans and spans[-1][1:] == (first, since):
                first = spans.pop()[0]
            if first < end:
                spans.append((first, end, since))

        at = 0
        for first, count in lost.runs:
            end = first + count
            while at < len(self.spans) and self.spans[at][1] <= first:
                at += 1
            known = at
            while known < len(self.spans) and self.spans[known][0] < end:
                begin, until, since = self.spans[known]
                add(first, max(first, begin), time_ns)
                add(max(first, begin), min(end, until), since)
                first = min(end, until)
                known += 1
            add(first, end, time_ns)
        return Silence(tuple(spans))
