"""What an option names must be there: one line says what there is instead, the same for every verb."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tare import functions, rank_numbers
from tare.analysis import profile
from tare.analysis.groups import grouped
from tare.errors import NOTHING_MEASURED, CommandError, UsageError

if TYPE_CHECKING:
    from tare.runs.run import Run

LISTED = 8
# Events that tare adds itself, and what has no name of its own.
# Of tare itself, and those of samples, of which the profile has no rows.
OWN_EVENTS = ("tare:flush", "tare:drain", functions.LOSS, "other", *functions.of_meaning(source="stacks"))


def check_functions(recorded: Run, names: Iterable[str] | None, *, events: bool = False) -> None:
    """CommandError if the run has no call of one of them; with `events`, no event of its name either."""
    if not names:
        return
    rows = profile.summed(recorded, ["function"])
    called = [row.function for row in sorted(rows, key=lambda row: -row.time_ns) if row.calls]
    known = list(dict.fromkeys([*called, *(recorded.event_names if events else ())]))
    for name in names:
        if name in known or (events and name in OWN_EVENTS):
            continue
        if name in recorded.functions:
            # Of a run that could be read in part only it is not known.
            if not recorded.warnings:
                raise CommandError(f"--function {name}: this run has no call of it; {_there_are(known)}")
        else:
            raise CommandError(f"--function {shown(name)}: {_meant(name, known, recorded.functions)}")


def check_ranks(recorded: Run, ranks: Iterable[int] | None, option: str = "--rank") -> None:
    """CommandError if the run has no such rank."""
    there = {process.rank for process in recorded.processes if process.rank >= 0}
    if ranks and recorded.processes and not there:
        raise CommandError(f"{option}: the processes of this run have no ranks, as none has called MPI")
    _check_numbers(option, "rank", ranks or (), there)


def check_worlds(recorded: Run, worlds: Iterable[int] | None) -> None:
    """CommandError if the run has no such world."""
    _check_numbers("--world", "world", worlds or (), {process.world for process in recorded.processes})


def check_communicators(recorded: Run, names: Iterable[str] | None) -> None:
    """CommandError if the run has no communicator of one of these names."""
    there = list(dict.fromkeys(each.name for each in recorded.communicators))
    for name in names or ():
        if name not in there:
            near = _near(name, there)
            what = f"is it {' or '.join(near)}?" if near else _there_are(there)
            raise CommandError(f"--communicator {shown(name)}: this run has none of that name; {what}")


def keys(by: str, known: Sequence[str]) -> list[str]:
    """The keys that `--by` names, each once."""
    names = list(dict.fromkeys(name.strip() for name in by.split(",")))
    for name in names:
        if name not in known:
            raise UsageError(f"--by {by}: '{name}' is none of {', '.join(known)}")
    return names


def shown(name: str) -> str:
    """The name as it can stand in a line: an empty one, or one with blanks, in quotes."""
    return name if name.isprintable() and name and " " not in name else repr(name)


def numbers(found: Collection[int]) -> str:
    """ "0-3, 7"."""
    ranges = rank_numbers.ranges(found)
    return ", ".join(rank_numbers.shown(ranges)[:LISTED]) + (", …" if len(ranges) > LISTED else "")


def _check_numbers(option: str, what: str, wanted: Iterable[int], there: Collection[int]) -> None:
    for number in wanted:
        if number not in there:
            has = f"this run has {what}{'s' if len(there) > 1 else ''} {numbers(there)}"
            raise CommandError(f"{option} {number}: {has if there else NOTHING_MEASURED}")


def _meant(name: str, known: Sequence[str], names: Sequence[str]) -> str:
    """Names that are like it: those of the run first."""
    if _bare(name) != name.casefold():  # it says that it is of MPI
        names = [each for each in names if functions.meaning(each).source == "MPI"]
    if near := _near(name, [each for each in known if each in names or not functions.is_known(each)]):
        return f"no function of this name is called; is it {' or '.join(near)}?"
    if near := _near(name, names):
        return f"no such function; {' or '.join(near)} {'are' if len(near) > 1 else 'is'} not called"
    return f"no such function; {_there_are(known)}"


def _near(name: str, names: Iterable[str]) -> list[str]:
    """The nearest names, at most three: equal but for case and MPI_, else the most alike."""
    bare = grouped(names, _bare)
    if _bare(name) in bare:
        return bare[_bare(name)]
    if not _bare(name):
        return []
    from difflib import get_close_matches

    found = get_close_matches(_bare(name), bare, n=3, cutoff=0.7)
    return [each for alike in found for each in bare[alike]]


def _bare(name: str) -> str:
    return name.casefold().removeprefix("pmpi_").removeprefix("mpi_")


def _there_are(names: Sequence[str]) -> str:
    if not names:
        return NOTHING_MEASURED
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"there are {', '.join(map(shown, names[:LISTED]))}{more}"
