"""tared, the process that drains and monitors the others of this node, while a command runs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare import streams, units
from tare.errors import CommandError
from tare.measuring import library, monitoring, signals, sweet_spots
from tare.runs import directory
from tare.runs.metadata import Metadata, Options, Reception
from tare.runs.requests import MEETING_PLACE
from tare.runs.rounds import Stored

if TYPE_CHECKING:
    import subprocess

# A sub-buffer is drained in a few milliseconds; one that takes longer hangs.
ENDS_WITHIN_S = 5.0
# The root of the tree takes the rounds that are left, and waits for the nodes below it: as long as rounds
# arrive, and for dead_after_ns longer (src/tared/tree/node_options.h). One that takes longer hangs.
SILENT_FOR_S = 10.0
# Once it was told to leave the rest.
LEAVES_WITHIN_S = 1.0
LOOK_EVERY_S = 0.1
PROGRESS_AFTER_S = 1.0
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP}


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
    reception: Reception | None = None  # of a monitored run
    unread: str = ""  # how much is in no round, if something went wrong

    def cut_off(self, offloads: int) -> None:
        """Counts the profiles that were handed over and are in no round, if tared was ended too early."""
        if not self.trouble or self.reception is None:
            return
        missing = max(offloads - self.reception.profiles, 0)
        self.reception = replace(self.reception, cut_off=missing)
        self.unread = f" ({missing:,} of {offloads:,} profiles of ranks)"


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
        ended_ns = time.time_ns()
        early = tared.poll()
        stored = Stored(run_dir) if chosen else None
        how = _end(tared, stored)
        # What it does not drain, the ranks do.
        if chosen and early is not None:
            served.trouble = (
                f"--monitor: tared {_ending(early)} while the command ran: the rounds since then are missing"
            )
        elif chosen and how:
            served.trouble = f"--monitor: tared {how}: the rounds since then are missing"
        elif chosen and tared.returncode != 0:
            served.trouble = f"--monitor: tared failed ({units.ending(tared.returncode)}): rounds are missing"
        if stored:
            served.reception = _reception(stored, ended_ns)
        import shutil

        if chosen:
            sweet_spots.take(chosen, run_dir / MEETING_PLACE)
        shutil.rmtree(run_dir / MEETING_PLACE, ignore_errors=True)


def _end(tared: subprocess.Popen[bytes], stored: Stored | None) -> str:
    """Waits for its end, as long as rounds come. What was wrong, in words; empty: nothing."""
    tared.terminate()
    begun_s = heard_s = time.monotonic()
    patience_s = SILENT_FOR_S if stored else ENDS_WITHIN_S
    how, shown = "", False
    while not _has_ended(tared, LOOK_EVERY_S):
        now_s = time.monotonic()
        if stored and not how and stored.look():
            heard_s = now_s
        if now_s - heard_s > patience_s:
            how = how or "hung"
            tared.kill()
        elif stored and not how and any(info.si_signo in ENDING for info in signals.pending()):
            how = f"was interrupted {units.duration((now_s - begun_s) * 1e9)} after the end"
            heard_s, patience_s = now_s, LEAVES_WITHIN_S
            tared.terminate()
        if stored and now_s - begun_s > PROGRESS_AFTER_S:
            shown = True
            streams.progress(
                f"{stored.rounds:,} rounds are stored, and more come, {now_s - begun_s:.0f} s after the end; "
                "Ctrl-C leaves out the rest"
            )
    if shown:
        streams.progress("")
    return how


def _has_ended(tared: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Waits for that."""
    import subprocess

    try:
        tared.wait(limit_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _reception(stored: Stored, ended_ns: int) -> Reception:
    stored.look()
    excess_ns = max(stored.last_ns - ended_ns, 0)
    return Reception(rounds=stored.rounds, profiles=stored.profiles, excess_ns=excess_ns)


def _ending(code: int) -> str:
    """`code` as Popen has it."""
    return f"was {units.ending(code)}" if code < 0 else "ended"
