"""Which ranks share processors, and how much of their time they were on none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._native import Process
    from tare.runs.metadata import Metadata


@dataclass(frozen=True)
class Crowd:
    """Ranks that are more than the processors that they may use."""

    ranks: tuple[int, ...]
    processors: int


def crowd_of(meta: Metadata, processes: Iterable[Process]) -> Crowd | None:
    """The ranks of a world and host that have fewest processors for each; None if all have enough.

    Ranks are counted with those that may use the same processors, or some of them only. Where a process
    has not told which ones it may use, those of `tare run` count.
    """
    hosts: dict[tuple[int, str], list[tuple[int, frozenset[int]]]] = {}
    untold: list[int] = []
    for process in processes:
        if process.rank < 0:
            continue
        allowed = frozenset(process.scheduling.processors)
        if allowed:
            hosts.setdefault((process.world, process.host), []).append((process.rank, allowed))
        elif process.host == meta.host:
            untold.append(process.rank)
    found = [Crowd(tuple(untold), meta.processors)] if meta.processors is not None else []
    for ranks in hosts.values():
        for allowed in {each for _, each in ranks}:
            found.append(Crowd(tuple(rank for rank, each in ranks if each <= allowed), len(allowed)))
    crowded = [each for each in found if len(each.ranks) > each.processors]
    return max(crowded, key=lambda each: (len(each.ranks) / each.processors, len(each.ranks)), default=None)


@dataclass(frozen=True)
class OffProcessor:
    """Time of ranks on no processor, as shares of the time that was looked at."""

    descheduled: float  # they could have run
    blocked: float  # outside MPI: they slept, waited in the kernel, or were stopped


def off_processor(processes: Sequence[Process]) -> OffProcessor | None:
    """The shares over some ranks; None if nothing is known."""
    all_of = [process.scheduling for process in processes]
    observed_ns = sum(each.observed_ns for each in all_of)
    if not observed_ns:
        return None
    return OffProcessor(
        sum(each.descheduled_ns for each in all_of) / observed_ns,
        sum(each.blocked_outside_ns for each in all_of) / observed_ns,
    )
