"""Ranks of which a run holds no results, or not all, although it is known that there are more."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tare import open_mpi, preloading, rank_numbers, units
from tare.runs import runner
from tare.runs.metadata import Launched, Missing
from tare.streams import visible

if TYPE_CHECKING:
    from tare._native import SavedRanks
    from tare._tables import MissingRow
    from tare.runs.run import Run

# What launchers tell each process: its rank, and the number of ranks.
_OF_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", ""),
)


def launched(environment: Mapping[str, str]) -> Launched | None:
    """The rank as which a launcher has started this process, if one has."""
    for variable, of_size in _OF_LAUNCHERS:
        rank, size = (_number(environment.get(name, "")) for name in (variable, of_size))
        if rank is not None:
            return Launched(variable=variable, rank=rank, size=size)
    return None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def find(rows: Iterable[MissingRow | SavedRanks]) -> list[Missing]:
    """The ranks of each world and host."""
    found: dict[tuple[int, str | None], Missing] = {}
    for row in rows:
        here = Missing(world=row.world, size=row.size, ranks=[], host=row.host)
        found.setdefault((row.world, row.host), here).ranks.append((row.first_rank, row.last_rank))
    return list(found.values())


def count(found: Iterable[Missing]) -> int:
    """The number of these ranks."""
    return sum(last - first + 1 for missing in found for first, last in missing.ranks)


def incomplete(of: Run) -> int:
    """The number of ranks of which not all results are here: missing ones, and those saved while they ran."""
    return count([*of.missing, *of.saved])


def still_running(of: Run) -> list[Missing]:
    """The ranks that run on other hosts, as keepers there have answered although `tare run` is gone."""
    if of.answers is None or of.is_going_on:
        return []
    here = os.uname().nodename
    found: dict[tuple[int, int, str], list[int]] = {}
    for each in of.processes:
        if each.state == "running" and each.host != here and each.rank >= 0:
            found.setdefault((each.world, each.size, each.host), []).append(each.rank)
    return [
        Missing(world=world, size=size, ranks=rank_numbers.ranges(numbers), host=host)
        for (world, size, host), numbers in found.items()
    ]


def sentences(of: Run, searched: Container[str] = (), living: Sequence[Missing] = ()) -> list[str]:
    """Which ranks of the run are missing, or not all of theirs is here; the likely cause, and what to do.

    `searched`: hosts on which what was left has just been collected. `living`: ranks that were just found to
    run; of their hosts nothing is missing that would not come.
    """
    living = living or still_running(of)
    lines = [
        f"{_who(each)} still run{'s' if count([each]) == 1 else ''} on {visible(each.host or '')}, "
        "where a keeper collects what is left when they end"
        for each in living
    ]
    alive = {each.host for each in living}
    for missing in of.missing:
        if missing.host in alive:
            continue
        are = "is" if count([missing]) == 1 else "are"
        lines.append(f"{_who(missing)} {are} missing: {_why(missing, of, searched)}")
    for saved in of.saved:
        if saved.host not in alive:
            were = "were saved while they" if count([saved]) > 1 else "was saved while it"
            lines.append(f"{_who(saved)} {were} ran: {_rest(saved, of, searched)}")
    if of.is_going_on and not of.missing and of.answers is not None and of.answers.runner_is_silent:
        host = of.meta.host
        lines.append(f"ranks of {visible(host)}, if there are any, are missing: {_unseen(host, of)}")
    return lines


def hosts(of: Run) -> list[str]:
    """The hosts on which results may lie that are not here, as far as they are known."""
    found = {each.host or "" for each in (*of.missing, *of.saved)} | {uncollected_host(of) or ""}
    return sorted(found - {""})


def uncollected_host(of: Run) -> str | None:
    """The host of a `tare run` that was killed, if nobody has collected there, and it is not this one."""
    left = of.meta.state == "running" and not of.is_going_on and of.meta.runner is not None
    return of.meta.host if left and not runner.is_here(of.meta) else None


def of_launcher(launched: Launched) -> str:
    """Why a run holds one rank alone, and how to get one run of all."""
    of = "" if launched.size is None else f" of {launched.size:,}"
    return (
        f"a launcher has started `tare run` itself, as rank {launched.rank}{of} ({launched.variable}); "
        "for one run of all ranks write `tare run -- LAUNCHER OPTIONS PROGRAM`"
    )


def _why(missing: Missing, of: Run, searched: Container[str]) -> str:
    meta = of.meta
    is_one = count([missing]) == 1
    they, them, their = ("it", "it", "its") if is_one else ("they", "them", "their")
    if of.is_going_on:
        return _unseen(missing.host or _host_of_runner(of), of)
    if missing.host and (lost := _lost(missing, missing.host, of, searched)):
        return lost
    host = missing.host or uncollected_host(of)
    if host:
        place = _place(host, of) if missing.host else visible(host)
        return f"{their} results have not come from {place}; {_taking(missing.host, of)}{_or_living(of)}"
    if meta.launched is not None:
        return of_launcher(meta.launched)
    if meta.unseen:
        return f"{they} called MPI unseen by tare, as is said of {them}"
    taken = preloading.taken_by(meta.command)
    if taken:
        return f"`{taken}` in the command takes tare's environment (LD_PRELOAD, TARE_*) from {them}"
    is_open_mpi = any("Open MPI" in process.mpi for process in of.processes)
    if is_open_mpi and (option := open_mpi.own_choice(meta.command)):
        return (
            f"with `{option}` in the command Open MPI does not hand tare's environment (LD_PRELOAD, TARE_*) "
            f'on to other hosts; instead of `-x A -x B` set {open_mpi.NAMES}="A;B"'
        )
    started = (
        f"{they} probably started without tare's environment (LD_PRELOAD, TARE_*), which env -i, another "
        f"LD_PRELOAD, or a launcher that hands nothing on takes from {them}; or the run directory is not on "
        f"a file system that all hosts share, or cannot be written there: then {their} results lie in "
        f"/dev/shm there, and {recovery(of)} there takes those when it can be written"
    )
    if meta.exit_code == 0:
        return started
    unranked = sum(process.rank < 0 for process in of.processes)
    if unranked >= count([missing]):
        which = units.noun(
            unranked,
            "the process that ended before it",
            f"among the {unranked:,} processes that ended before they",
        )
        return f"{they} may be {which} had left MPI_Init"
    return (
        f"{they} ended before {they} had left MPI_Init, where `tare run` does not see {their} memory (on "
        f"another host, in a container), and {recovery(of)} takes there what is left; or {started}"
    )


def _who(ranks: Missing) -> str:
    world = f" of world {ranks.world}" if ranks.world else ""
    return f"{rank_numbers.of_ranges(ranks.ranks)} of {ranks.size:,}{world}"


def _rest(saved: Missing, of: Run, searched: Container[str]) -> str:
    """The place of what ranks recorded after they were saved, and how to get it."""
    if of.is_going_on or not saved.host:
        return _unseen(saved.host, of)
    if lost := _lost(saved, saved.host, of, searched):
        return f"the rest is lost; {lost}"
    return f"the rest has not come from {_place(saved.host, of)}; {_taking(saved.host, of)}{_or_living(of)}"


def _or_living(of: Run) -> str:
    """That they may run, if nobody was asked and a keeper has left a note; empty if they do not."""
    if of.answers is not None or not of.has_keepers:
        return ""
    return f"; or they still run there: `tare where {_quoted(of)}` asks"


def _quoted(of: Run) -> str:
    """The run, as a shell takes it."""
    return shlex.quote(visible(str(of.run_dir.resolve())))


def recovery(of: Run) -> str:
    """The command that takes what is left of the run; an archive is taken apart before."""
    if of.member:
        return f"`tare split {_quoted(of)}`, and `tare recover` of its runs,"
    return f"`tare recover {_quoted(of)}`"


def _lost(ranks: Missing, host: str, of: Run, searched: Container[str]) -> str:
    """Why nothing can be had from a host that was searched; empty if something can."""
    if host not in searched or host == of.meta.host:
        return ""
    them = "it" if count([ranks]) == 1 else "them"
    return f"nothing of {them} is left on {visible(host)}: its /dev/shm was emptied, or it has restarted"


def _place(host: str, of: Run) -> str:
    """The host; where it is that of `tare run`, which has seen nothing there, what else has its name."""
    inside = "a container, with a /dev/shm of its own, on " if host == of.meta.host else ""
    return f"{inside}{visible(host)}"


def _taking(host: str | None, of: Run) -> str:
    """The command that brings what is left on a host."""
    takes = f"{recovery(of)} there takes what is left"
    if host == of.meta.host or of.member:
        return takes
    in_slurm = "SLURM_JOB_ID" in of.meta.environment
    launch = "srun -w {hosts} --ntasks-per-node=1" if in_slurm else "ssh {host}"
    return f"{takes}, or from here {recovery(of)[:-1]} --launch '{launch}'`"


def _host_of_runner(of: Run) -> str | None:
    """The host of `tare run` if nothing of it is seen here: ranks whose host nobody tells are there."""
    if of.answers is not None:
        return of.meta.host if of.answers.runner_is_silent else None
    return of.meta.host if of.meta.runner is not None and not runner.is_here(of.meta) else None


def _unseen(host: str | None, of: Run) -> str:
    """Why nothing of living ranks of another host is seen here, and what shows it."""
    on = visible(host) if host else "another host"
    if of.answers is None:
        return (
            f"what ranks record on {on} is read there, and everywhere when they have ended; "
            "`tare where` asks there for their calls"
        )
    where = f"tare where {_quoted(of)}"
    obstacle = of.answers.obstacle
    nobody = f"{on} cannot be asked ({obstacle})" if obstacle else f"nobody on {on} has answered"
    job = of.meta.environment.get("SLURM_JOB_ID", "")
    if host is None or not (job.isascii() and job.isdecimal()):
        return f"{nobody}; `{where}` there shows its own"
    return (
        f"{nobody}; `{where}` there shows its own, or from here "
        f"`srun --jobid={job} --overlap -w {shlex.quote(on)} -n1 {where}`"
    )
