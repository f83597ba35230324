"""One measurement from beginning to end: directory, command, collection, meta.json."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare import streams, units
from tare.analysis import rows
from tare.command_name import program_name
from tare.errors import CommandError, TareError
from tare.measuring import keepers, launch, library, signals, tared, unseen
from tare.runs import directory, missing, runner
from tare.runs.metadata import Metadata, Options, Taken, as_rank_ends

if TYPE_CHECKING:
    from tare._native import Collected, EndingWatch
    from tare.measuring.launch import Ending
    from tare.runs.run import Run

# Ranks may outlive a killed launcher for a moment; as long as they run they are not collected.
LATE_RANKS_S = 2.0
LATE_RANKS_POLL_S = 0.05
# Of a process its pid, when it ended (CLOCK_MONOTONIC_RAW), its status as of waitpid where that was seen.
Seen = tuple[int, int, int | None]
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Measured:
    """A run that has ended; `collected` and `recording` are None if no process called MPI.

    `trouble` says what went wrong after the command had ended; it does not change the exit code.
    `unmonitored` says why rounds are missing, if the root of the monitoring tree was not there all the time.
    """

    run_dir: Path
    meta: Metadata
    ending: Ending
    collected: Collected | None
    recording: Run | None
    trouble: str | None
    unmonitored: str = ""


def measure(
    command: Sequence[str],
    wanted: Callable[[], Path | None],
    options: Options,
    modules: Sequence[str] = (),
    *,
    or_unmeasured: bool = False,
) -> Measured | Ending:
    """Runs `command` under the preload library and leaves a run directory.

    `wanted` names that directory, unless it is to be named after program and time. CommandError: it cannot be
    named. `modules`, beside what is needed here for the end, are loaded while the command runs.
    `or_unmeasured`: if there can be no run directory, this is told, and the command runs as it would without
    tare.
    """
    from tare import _native

    launch.check_startable(command)
    preload = library.find(library.FORWARDING if options.forward else library.MEASURING)
    name = program_name(command)
    held = signals.hold()
    try:
        run_dir = directory.create(name, wanted(), directory.group_number(options.group))
        meta = _prepare(command, name, run_dir, options, _native.FORMAT_VERSION)
    except CommandError as error:
        if not or_unmeasured:
            raise
        streams.tell(f"tare: {error}; the command runs unmeasured (--or-unmeasured)")
        return launch.run(command, os.environ, held)
    is_watched = False
    try:
        variables = launch.environment(meta, run_dir, preload)
        of_run = (run_dir, directory.segment_dir(run_dir, meta), meta.run_id)
        watch = _native.EndingWatch(*of_run)
        respondent = _native.Respondent(*of_run, meta.run_key, watch)
        with tared.serving(meta, run_dir) as served, runner.watched(run_dir, respondent.answer):
            is_watched = True
            ending = launch.run(command, variables, held, ("tare.runs.run", *modules))
            signals.let_stop()
    except CommandError:
        directory.discard(run_dir)
        raise
    except OSError as error:
        if is_watched:
            raise
        directory.discard(run_dir)
        raise launch.cannot_begin(error) from error
    # Until here, meta.json has the time at which tare began to prepare the start.
    meta = replace(
        meta,
        state="ended",
        exit_code=ending.exit_code,
        signal=ending.signal,
        start_ns=ending.start_ns,
        wall_ns=ending.wall_ns,
    )
    return replace(
        _finished(run_dir, meta, ending, watch, served), unmonitored=served.trouble + served.unread
    )


def _finished(
    run_dir: Path, meta: Metadata, ending: Ending, watch: EndingWatch, served: tared.Served
) -> Measured:
    """Collects; whatever fails is told, and can be repeated by `tare recover`."""
    collected = None
    recording = None
    trouble = None
    try:
        last = (ending.ended_ns, watch, ending.as_waitpid())
        collected = collect(run_dir, meta, *last)
        meta.unseen = unseen.find(run_dir, meta.command, nothing_measured=collected is None)
        recording = complete_meta(run_dir, meta, collected, served)
        if any(each.host for each in meta.missing) or (recording is not None and recording.saved):
            keepers.wait(run_dir)
            collected = _together(collected, collect(run_dir, meta, *last))
            recording = complete_meta(run_dir, meta, collected, served)
        keepers.forget(run_dir)
    except OSError as error:
        trouble = why_unwritten(run_dir, error)
    except TareError as error:
        trouble = f"{error}; afterwards: tare recover {run_dir}"
    return Measured(run_dir, meta, ending, collected, recording, trouble)


def _prepare(command: Sequence[str], name: str, run_dir: Path, options: Options, version: int) -> Metadata:
    meta = directory.describe(list(command), name, run_dir, options, version)
    try:
        directory.write_meta(run_dir, meta)
        directory.keep_reserves(run_dir)
        directory.expect_questions(run_dir)
    except OSError as error:
        directory.discard(run_dir)
        raise CommandError(
            f"cannot write to {run_dir}: {error.strerror}; choose another place with -o DIR"
        ) from error
    return meta


def why_unwritten(run_dir: Path, error: OSError) -> str:
    """Why something of a run could not be written, and what to do."""
    remedy = "free space" if error.errno in NO_SPACE else "make it writable"
    return f"cannot write to {run_dir} ({error.strerror}); {remedy} and run `tare recover {run_dir}`"


def complete_meta(
    run_dir: Path, meta: Metadata, collected: Collected | None, served: tared.Served | None = None
) -> Run | None:
    """Writes to meta.json how it ended; what was recorded, if anything was."""
    recording = None
    if collected is not None:
        from tare.runs.run import Run

        recording = Run(run_dir, meta)
        meta.missing = missing.find(recording.missing_table.rows())
        meta.ranks = as_rank_ends(recording.processes)
        cost = recording.total_cost()
        meta.cost = rows.record(cost)
        if served:
            served.cut_off(cost.offloads)
            meta.reception = served.reception
        meta.collected = Taken(**rows.record(collected))
    directory.release_reserve(run_dir, directory.META_RESERVE)
    directory.write_meta(run_dir, meta)
    return recording


def collect(
    run_dir: Path,
    meta: Metadata,
    ended_ns: int | None = None,
    watch: EndingWatch | None = None,
    command: Seen | None = None,
    *,
    presume_ended: bool = False,
    goes_on: bool = False,
) -> Collected | None:
    """Moves what the processes left behind into the run directory; None if none called MPI.

    `ended_ns`: when the command had ended, if that was seen: of killed processes that `watch` has not seen
    end, nobody knows better. `command`: how it ended itself. `presume_ended`: so have processes of which
    nothing here tells whether they run. `goes_on`: the run does, and needs what it keeps in its directory.
    """
    from tare import _native
    from tare.errors import native_errors

    if not goes_on:
        directory.release_reserve(run_dir, directory.RESERVE)
        directory.remove_notes(run_dir)
    if not directory.has_records(run_dir, meta):
        return None
    deadline = time.monotonic() + LATE_RANKS_S
    of_run = (run_dir, directory.segment_dir(run_dir, meta), meta.run_id, meta.run_key)

    def take(until_ns: int | None) -> Collected:
        with native_errors():
            return _native.collect(*of_run, until_ns, watch, command, presume_ended)

    collected: Collected | None = take(ended_ns)
    while collected and collected.running and time.monotonic() < deadline:
        time.sleep(LATE_RANKS_POLL_S)
        # They have outlived the command.
        collected = _together(collected, take(None if ended_ns is None else launch.raw_clock_ns()))
    directory.open_to_group(run_dir, meta)
    return collected


def _together(first: Collected | None, second: Collected | None) -> Collected | None:
    """The result of two collections in a row: what was done adds up, what is left is the last."""
    if first is None or second is None:
        return second or first
    return rows.changed(
        second,
        processes=first.processes + second.processes,
        recovered_events=first.recovered_events + second.recovered_events,
        # The last one of the second collection says why something was kept.
        messages=[m for m in first.messages if m not in second.messages] + second.messages,
    )


def whose_end_is_unknown(count: int, run_dir: Path) -> str:
    """What to do about processes of which nothing here tells whether they run."""
    who = units.number_of(count, "process is", "processes are")
    have = units.noun(count, "it has", "they have")
    return (
        f"{who} on another machine, or in a container of which nothing is seen here, and may still run; "
        f"when {have} ended: tare recover --presume-ended {run_dir}"
    )
