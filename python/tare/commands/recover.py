"""`tare recover`: collect what a run left behind whose `tare run` was itself killed."""

from __future__ import annotations

import math
import os
from collections.abc import Container
from typing import TYPE_CHECKING, Annotated

from tare import streams, units
from tare.commands import DirectoryAlone
from tare.errors import CommandError
from tare.measuring import elsewhere, keepers
from tare.measuring.measurement import collect, complete_meta, whose_end_is_unknown, why_unwritten
from tare.options import Option
from tare.runs import asking, missing, runner
from tare.runs.run import open_answered, open_run
from tare.streams import visible
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Collected
    from tare.runs.metadata import Missing
    from tare.runs.run import Run


def recover(
    run: DirectoryAlone,
    presume_ended: Annotated[
        bool,
        Option(
            "--presume-ended",
            help="Also take over processes of which nothing here tells whether they run. They must have "
            "ended: what a process records afterwards is lost.",
        ),
    ] = False,
    launch: Annotated[
        str | None,
        Option(
            "--launch",
            metavar="COMMAND",
            help="Recover on other nodes, too: COMMAND starts a program on all of them, like "
            "'srun -w {hosts} --ntasks-per-node=1', or on one, like 'ssh {host}' (docs/nodes.md).",
        ),
    ] = None,
    part: Annotated[bool, Option("--part", hidden=True)] = False,
) -> None:
    """Collect the data of a run whose `tare run` was killed, or of nodes whose results are missing.

    A complete run stays as it is.

    Example: tare recover app-20260131-120000 --launch 'ssh {host}'
    """
    words = elsewhere.check(launch) if launch is not None else []
    if run.is_file():
        raise CommandError(f"{run} is a file: `tare split` takes an archive apart, then recover its runs")
    recording = open_run(run)
    meta = recording.meta
    options = ["--presume-ended"] if presume_ended else []
    living, asked = ([], []) if part else _elsewhere(recording)
    is_presumed = runner.presumed_s(recording.run_dir, meta) > 0
    troubles = elsewhere.recover(recording.run_dir, words, asked, options) if words else []
    goes_on = recording.is_going_on
    collected = collect(recording.run_dir, meta, presume_ended=presume_ended, goes_on=goes_on)
    if part:
        _say_part(collected)
        return
    left = collected.running + collected.unknown if collected else 0
    why_not_yet = _why_not_yet(recording) if is_presumed else ""
    # Elsewhere, what was left is known only if each node was named to the launcher.
    names_nodes = launch is not None and elsewhere.names_nodes(launch)
    searched = {*asked} if names_nodes and not troubles else set()
    if meta.state == "running" and not (left or goes_on) and _is_collected(recording, searched):
        meta.state = "recovered"
    # Other nodes take the ranks in meta.json for those that have ended, so it is not written while any run.
    lives = goes_on or (collected is not None and collected.running > 0)
    unwritten = None if lives else _completed(recording, collected)
    if why_not_yet and names_nodes and meta.host not in asked:
        troubles.append(f"nothing was started on {visible(meta.host)}: {why_not_yet}")
        why_not_yet = ""
    if not lives:
        keepers.forget(recording.run_dir)
    if collected is None:
        nothing = f"{run} holds no records: no process called MPI, or /dev/shm was emptied"
        raise CommandError(unwritten or "; ".join(troubles) or why_not_yet or nothing)
    *messages, why_kept = collected.messages if collected.kept else [*collected.messages, None]
    if collected.processes or not (why_kept or unwritten):
        streams.say(
            f"{run}: took over {units.number_of(collected.processes, 'process', 'processes')}, "
            f"{units.number_of(collected.recovered_events, 'event')}"
        )
    for message in messages:
        streams.say(f"  {message}")
    if collected.running:
        running = units.number_of(collected.running, "process still runs", "processes still run")
        them = units.noun(collected.running, "it", "them")
        end = units.noun(collected.running, "it ends", "they end")
        streams.say(f"  {running}; nothing of {them} was moved: repeat when {end}")
    if collected.unknown:
        streams.say(f"  {whose_end_is_unknown(collected.unknown, run)}")
    if why_not_yet:
        streams.say(f"  {why_not_yet}")
    if not (left or collected.kept):
        searched.add(os.uname().nodename)
    after = open_run(run)
    for line in missing.sentences(after, searched, living):
        streams.say(f"  {line}")
    if names_nodes and not (asked or troubles or lives) and after.missing:
        troubles.append(elsewhere.NOWHERE)
    if failure := why_kept or unwritten or "; ".join(troubles):
        raise CommandError(failure)


def _is_collected(recording: Run, searched: Container[str]) -> bool:
    """Whether nothing is left where `tare run` was: it was here, or there, too, or there are all ranks."""
    meta = recording.meta
    was_there = meta.runner is None or runner.is_here(meta) or meta.host in searched
    return was_there or not open_run(recording.run_dir).missing


def _why_not_yet(recording: Run) -> str:
    """What to do about the node of a `tare run` that may have ended, which is not known here."""
    meta = recording.meta
    who = "`tare run`" if meta.runner is not None and meta.runner.touches else "the program"
    left_s = max(math.ceil(runner.presumed_s(recording.run_dir, meta)), 1)
    return (
        f"{who} on {visible(meta.host)} may still run, as far as is seen here; if it has ended, "
        f"{missing.recovery(recording)} there takes what is left, or repeat here in "
        f"{units.duration(left_s * NS_PER_S)}"
    )


def _elsewhere(recording: Run) -> tuple[list[Missing], list[str]]:
    """The ranks that still run on other hosts, and the hosts on which more may have been left.

    Keepers are asked that outlive a `tare run` that is gone.
    """
    whom = [] if recording.is_going_on else asking.others(recording)
    with asking.answered(recording.run_dir, whom, is_going_on=recording.is_going_on) as answers:
        seen = open_answered(recording.run_dir, answers) if whom else recording
        return missing.still_running(seen), missing.hosts(seen)


def _say_part(collected: Collected | None) -> None:
    """What one node of several says; who started it writes meta.json."""
    if collected is None:
        return
    took = units.number_of(collected.processes, "process", "processes")
    streams.say(f"{os.uname().nodename}: took over {took}")
    *messages, last = [*collected.messages, ""] if not collected.kept else collected.messages
    for message in messages:
        streams.say(f"  {message}")
    if collected.kept:
        raise CommandError(last)
    if left := collected.running + collected.unknown:
        still = units.number_of(left, "process", "processes")
        them = units.noun(left, "it", "them")
        raise CommandError(f"{os.uname().nodename}: {still} may still run; nothing of {them} was moved")


def _completed(recording: Run, collected: Collected | None) -> str | None:
    """Writes to meta.json what was taken over; why it could not be written."""
    try:
        complete_meta(recording.run_dir, recording.meta, collected)
    except OSError as error:
        return why_unwritten(recording.run_dir, error)
    return None
