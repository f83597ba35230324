"""What ranks have had of one event, round by round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from tare.errors import CommandError
from tare.monitor import totals
from tare.runs.rounds import Event, Round, RoundFile, Statistic


@dataclass(frozen=True)
class History:
    """`rounds` are numbers of rounds with the time in the event (ns, since the start) over their ranks."""

    event: str
    rounds: list[tuple[int, Statistic]]


def of_event(files: Iterable[RoundFile], name: str | None) -> History:
    """Of the event of this name, or of the function that took most time; CommandError if there is none."""
    rounds: dict[int, list[Round]] = {}
    for file in files:
        for made in file.read():
            if made.events:
                rounds.setdefault(made.round, []).append(made)
    if not rounds:
        raise CommandError(
            "this run has no rounds with statistics: measure it with tare run --monitor -- COMMAND"
        )
    chosen = name or _longest(totals.of_rounds(rounds[max(rounds)]))
    found = [
        (number, event.time)
        for number in sorted(rounds)
        for event in totals.of_rounds(rounds[number])
        if event.name == chosen and event.kind != "counter"
    ]
    if not found:
        known = {
            event.name
            for parts in rounds.values()
            for made in parts
            for event in made.events
            if event.kind != "counter"
        }
        near = get_close_matches(chosen, known, 1)
        hint = f"; do you mean '{near[0]}'?" if near else f"; there are {', '.join(sorted(known)[:8])}"
        raise CommandError(f"no round has an event '{chosen}'{hint}")
    return History(chosen, found)


def _longest(events: Iterable[Event]) -> str:
    """Functions come first: regions and phases have the time of what is in them."""
    return max(events, key=lambda event: (event.kind == "function", event.time.mean)).name
