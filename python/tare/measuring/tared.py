"""tared, the process that drains and monitors the others of this node, while a command runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.errors import CommandError
from tare.measuring import library, monitoring, sweet_spots
from tare.runs import directory
from tare.runs.metadata import Metadata, Options
from tare.runs.requests import MEETING_PLACE

# A sub-buffer is drained in a few milliseconds; one that takes longer hangs.
ENDS_WITHIN_S = 5.0
# The root of the tree of nodes waits for those below it: src/tared/tree/node_options.h, dead_after_ns.
ROOT_ENDS_WITHIN_S = 10.0


def drains(options: Options) -> bool:
    """Whether there is anything to drain for it: a flight recorder is not drained."""
    return options.drain == "tared" and options.trace and options.policy != "overwrite"


def variables(meta: Metadata) -> dict[str, str]:
    """Tells it, and ranks, who else may read what they write, and how the run is monitored."""
    result = {}
    group = directory.group_number(meta.options.group)
    if group is not None:
        result["TARE_GROUP"] = str(group)
    if meta.options.monitor:
        result["TARE_MONITOR"] = monitoring.parse(meta.options.monitor).variable(meta.start_ns)
    return result


@dataclass
class Served:
    """How the work of tared went."""

    trouble: str = ""  # what went wrong, in words; empty: it ran until the command had ended


@contextmanager
def serving(meta: Metadata, run_dir: Path) -> Iterator[Served]:
    """Has it run, if it is asked for. The ranks do without it where it hangs or dies."""
    options = meta.options
    served = Served()
    if not drains(options) and not options.monitor:
        yield served
        return
    import subprocess

    program = library.find(library.TARED)
    chosen = monitoring.parse(options.monitor) if options.monitor else None
    if chosen:
        sweet_spots.hand_over(chosen, run_dir / MEETING_PLACE)
    arguments = [
        str(run_dir),
        meta.run_id,
        meta.segment_dir,
        str(os.getpid()),
        "drain" if drains(options) else "monitor",
    ]
    # The command may end before tared has begun. tared inherits the blocked signal, and unblocks it when it
    # can end in order (src/tared/tared.cpp).
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        tared = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=variables(meta),
        )
    except OSError as error:
        raise CommandError(
            f"cannot start {program}: {error.strerror}; leave out --drain tared and --monitor"
        ) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield served
    finally:
        early = tared.poll()
        tared.terminate()
        hung = False
        try:
            tared.wait(ROOT_ENDS_WITHIN_S if options.monitor else ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            hung = True
            tared.kill()
            tared.wait()
        # What it does not drain, the ranks do.
        if chosen and (hung or early is not None):
            served.trouble = f"--monitor: tared {_ending(early)}: the rounds since then are missing"
        elif chosen and tared.returncode != 0:
            served.trouble = f"--monitor: tared failed (exit code {tared.returncode}): rounds are missing"
        import shutil

        if chosen:
            sweet_spots.take(chosen, run_dir / MEETING_PLACE)
        shutil.rmtree(run_dir / MEETING_PLACE, ignore_errors=True)


def _ending(code: int | None) -> str:
    """`code` as Popen has it; None of one that had to be killed."""
    if code is None:
        return "hung"
    how = f"was killed by signal {-code}" if code < 0 else "ended"
    return f"{how} while the command ran"
