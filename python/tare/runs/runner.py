"""The process that writes how a run ended, and the one rule by which a run is still going on."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.runs.metadata import META, Metadata, Runner

TOUCHED_EVERY_S = 20.0
# How often it looks whether another node asks it; and after a question, for so long. As src/keeper does.
QUESTIONS_EVERY_S = 5.0
MORE_QUESTIONS_S = 0.25
ATTENTIVE_S = 3.0
# Clocks of hosts differ, and network file systems tell of changes late.
GONE_AFTER_S = 120.0
# A run that nobody touches may go on for long without writing anything, but not for ever.
SILENT_AFTER_S = 24 * 3600.0
# Of /proc/PID/stat, counted from behind the name: state, ..., starttime (proc(5): fields 3 and 22).
_STATE, _START = 0, 19
_ENDED = (b"Z", b"X")


def this_process() -> Runner:
    """`tare run` itself, which is to be `watched`."""
    return process(os.getpid()) or _described(os.getpid(), 0)


def process(pid: int) -> Runner | None:
    """A running process; None if there is none with this id."""
    found = _stat_of(pid)
    return _described(pid, int(found[_START])) if found else None


def _described(pid: int, start_ticks: int) -> Runner:
    from tare import _native

    return Runner(
        pid=pid,
        start_ticks=start_ticks,
        machine=_native.machine_name(),
        pid_namespace=_native.pid_namespace_name(),
        touches=True,
    )


@contextmanager
def watched(run_dir: Path, answer: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Touches meta.json until the end, and answers questions; `answer` says whether there were any."""
    import threading

    over = threading.Event()

    def attend() -> None:
        # Signals are for the thread that waits for the command.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        touched = time.monotonic()
        attentive_until = 0.0
        pause = min(TOUCHED_EVERY_S, QUESTIONS_EVERY_S)
        while not over.wait(pause):
            now = time.monotonic()
            if now - touched >= TOUCHED_EVERY_S:
                touched = now
                with suppress(OSError):
                    os.utime(run_dir / META, follow_symlinks=False)
            if answer():
                attentive_until = now + ATTENTIVE_S
            pause = min(TOUCHED_EVERY_S, MORE_QUESTIONS_S if now < attentive_until else QUESTIONS_EVERY_S)

    thread = threading.Thread(target=attend, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def is_going_on(run_dir: Path, meta: Metadata) -> bool:
    """Whether the run's end has yet to be written, and there is somebody who will.

    Where pids mean what they mean to its runner, that is looked for; others see that meta.json was touched of
    late. Nobody touches that of a run that a program began itself: for others it goes on until nothing has
    been written for a day.
    """
    if meta.state != "running" or meta.runner is None:
        return False
    if _knows_pids(meta.runner, meta.host):
        found = _stat_of(meta.runner.pid)
        alive = found is not None and found[_STATE] not in _ENDED
        return alive and found is not None and int(found[_START]) == meta.runner.start_ticks
    return _presumed_s(run_dir, meta.runner) > 0


def presumed_s(run_dir: Path, meta: Metadata) -> float:
    """How long the run will still count as going on here if nobody writes to it any more.

    0: it does not, or it is known to go on.
    """
    if meta.state != "running" or meta.runner is None or _knows_pids(meta.runner, meta.host):
        return 0.0
    return max(_presumed_s(run_dir, meta.runner), 0.0)


def _presumed_s(run_dir: Path, runner: Runner) -> float:
    if runner.touches:
        return GONE_AFTER_S - _age_s(run_dir / META)
    return SILENT_AFTER_S - min(map(_age_s, [run_dir / META, *run_dir.glob("*.tare")]))


def is_here(meta: Metadata) -> bool:
    """Whether this is the host of the process that writes how the run ended."""
    return (
        meta.runner is not None and meta.host == os.uname().nodename and _knows_pids(meta.runner, meta.host)
    )


def memory_name(segment_dir: Path) -> str:
    """Tells the memory behind a directory from that which other hosts and containers have there."""
    from tare import _native

    return _native.collector([segment_dir]).rpartition("memory=")[2]


def sees_memory(meta: Metadata, segment_dir: Path) -> bool:
    """Whether the memory in which `tare run` sees segments is seen here, too."""
    if meta.runner is None or meta.runner.memory is None:
        return is_here(meta)
    return meta.runner.memory == memory_name(segment_dir)


def _knows_pids(runner: Runner, host: str) -> bool:
    """Whether the pid of the runner is its number here, too."""
    if runner.machine is None:
        return host == os.uname().nodename
    from tare import _native

    namespace = _native.pid_namespace_name()
    return runner.machine == _native.machine_name() and runner.pid_namespace == namespace != 0


def _age_s(path: Path) -> float:
    """The time since it was written last."""
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return math.inf


def _stat_of(pid: int) -> list[bytes] | None:
    """Fields of /proc/PID/stat from the third on; None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = text.rpartition(b")")[2].split()  # a name may hold anything
    return fields if len(fields) > _START else None
