"""What ranks have had of one event, round by round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tare import _native
from tare.errors import CommandError
from tare.runs.rounds import RoundFile

if TYPE_CHECKING:
    from tare._native import Event, Round, Statistic


@dataclass(frozen=True)
class Bin:
    """Ranks whose time is at least `low_ns` and below `high_ns`."""

    low_ns: float
    high_ns: float
    ranks: int


@dataclass(frozen=True)
class History:
    """The time in one event over the rounds of a run, in ns since the start."""

    event: str
    rounds: list[tuple[int, Statistic]]  # numbers of rounds, with the time over their ranks
    histograms: list[tuple[int, list[Bin]]] = field(default_factory=list)  # instead, with that filter


def of_event(files: Iterable[RoundFile], name: str | None) -> History:
    """The history of the event of this name, or of the function that took most time; else CommandError."""
    rounds: dict[int, list[Round]] = {}
    bins: dict[str, dict[int, list[Bin]]] = {}
    functions: set[str] = set()
    for file in files:
        for made in file.read():
            if made.events:
                rounds.setdefault(made.round, []).append(made)
            else:
                _add_bins(bins, functions, made)
    if not rounds and not bins:
        raise CommandError(
            "this run has no rounds with statistics or histograms: measure it with "
            "tare run --monitor -- COMMAND"
        )
    if bins:
        chosen = name or _longest_of_bins(bins, functions)
        found = History(chosen, [], sorted(bins.get(chosen, {}).items()))
    else:
        chosen = name or _longest(_native.total_events(rounds[max(rounds)]))
        found = History(chosen, list(_statistics(rounds, chosen)))
    if not found.rounds and not found.histograms:
        raise CommandError(f"no round has an event '{chosen}'{hint(chosen, _known(rounds) | bins.keys())}")
    return found


def _statistics(rounds: Mapping[int, list[Round]], name: str) -> Iterator[tuple[int, Statistic]]:
    for number in sorted(rounds):
        for event in _native.total_events(rounds[number]):
            if event.name == name and event.kind != "counter":
                yield number, event.time


def _add_bins(bins: dict[str, dict[int, list[Bin]]], functions: set[str], made: Round) -> None:
    for (kind, event), found in made.histograms().items():
        if kind == "function":
            functions.add(event)
        if kind != "counter":
            of_round = bins.setdefault(event, {}).setdefault(made.round, [])
            of_round += [
                Bin(found.low(i), found.low(i + 1), count) for i, count in enumerate(found.counts) if count
            ]


def _known(rounds: Mapping[int, list[Round]]) -> set[str]:
    return {
        event.name
        for parts in rounds.values()
        for made in parts
        for event in made.events
        if event.kind != "counter"
    }


def hint(name: str, known: Collection[str]) -> str:
    """The end of an error message: the known name that is most like the wrong one, or some known names."""
    near = get_close_matches(name, known, 1)
    return f"; do you mean '{near[0]}'?" if near else f"; there are {', '.join(sorted(known)[:8])}"


def _longest(events: Iterable[Event]) -> str:
    """Functions come first: regions and phases have the time of what is in them."""
    return max(events, key=lambda event: (event.kind == "function", event.time.mean)).name


def _longest_of_bins(bins: Mapping[str, Mapping[int, list[Bin]]], functions: Collection[str]) -> str:
    """The event that took most time in the last round; functions come first."""

    def time(name: str) -> tuple[bool, float]:
        last = bins[name][max(bins[name])]
        return name in functions, max(part.high_ns for part in last)

    return max(bins, key=time)
