"""Requests for rounds of runs with `--monitor=pull`: the other end of src/tared/monitor/control_desk.h."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from tare import private_files
from tare.errors import CommandError
from tare.runs import directory, rounds, runner

# Where the nodes of a monitored run meet (src/tared/monitor/monitor_job.cpp), with the key of the run; it is
# there while `tare run` is.
MEETING_PLACE = "tree"
FILE = "requests"
PULL = "pull"
LOOK_EVERY_S = 0.02
PATIENCE_S = 5.0


def are_answered(spec: str | None) -> bool:
    """Whether the ranks of a run with this SPEC of --monitor offload when they are asked."""
    return (spec or "").partition(",")[0].strip() == PULL


def needed(run: Path, spec: str | None) -> bool:
    """Whether a run with this SPEC has rounds only for those who ask.

    CommandError if the user may not ask: the owner of the run may, and root.
    """
    if not are_answered(spec):
        return False
    if not os.path.lexists(run / MEETING_PLACE):
        return True  # the run has ended, and nobody is asked
    with private_files.opened_run(run) as directory:
        if os.geteuid() not in (directory.owner, private_files.ROOT):
            owner = private_files.user_name(directory.owner)
            raise CommandError(f"cannot ask {run} for rounds: only its owner can, {owner}")
    return True


def make(run_dir: Path) -> None:
    """Asks for a round. Nothing happens if the run has ended. OSError if the file cannot be written.

    CommandError if it is not a file of the run's owner.
    """
    with suppress(FileNotFoundError), private_files.opened_run(run_dir) as directory:
        directory.append(f"{MEETING_PLACE}/{FILE}", b"\n")


def answer(run: Path, patience_s: float = PATIENCE_S) -> int:
    """Asks for a round, and waits until it is in the run: its number.

    CommandError if the run is not monitored with `pull`, or has ended, or if no round has come in time.
    """
    meta = directory.read_meta(run)
    if not are_answered(meta.options.monitor):
        raise CommandError(f"{run} takes no requests: start it with tare run --monitor=pull -- COMMAND")
    files = {file.path: file for file in rounds.of_directory(run)}
    for file in files.values():
        for _ in file.read():
            pass
    until = time.monotonic() + patience_s
    try:
        make(run)
    except OSError as error:
        raise CommandError(f"cannot ask {run} for a round: {error.strerror}") from error
    while True:
        is_over = not runner.is_going_on(run, meta) or time.monotonic() > until
        for file in rounds.of_directory(run):
            for made in files.setdefault(file.path, file).read():
                if made.filter:
                    return made.round
        if is_over:
            break
        time.sleep(LOOK_EVERY_S)
    if time.monotonic() <= until:
        raise CommandError(f"{run} has ended")
    raise CommandError(
        f"no round has come in {patience_s:g} s: no rank has made an MPI call, or tared hangs; "
        f"tare where {run} says where the ranks are"
    )
