"""How long a verb takes before it does anything, and what `tare run` adds to a command that does nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from interleave import interleave
from programs import NAMES, mpis, program
from report import Row, Table, over_bare
from tare.analysis.intervals import median_interval

from tools import BARE, PROFILE, TARE, BenchError, MpiEnvironment, Outcome, Tool, run_once

VERB_LIMIT_S = 0.12
RUN_LIMIT_S = 0.1
# Help of all verbs loads all of them.
WITHOUT_LIMIT = ("Python alone", "tare --help")
# On a run of two ranks, or on something that is not there: that is said after all has been loaded.
VERBS: dict[str, Sequence[str]] = {
    "info": ("info", "{run}"),
    "profile": ("profile", "{run}"),
    "where": ("where", "{run}"),
    "diff": ("diff", "{run}", "{run}"),
    "events": ("events", "{run}"),
    "samples": ("samples", "{run}"),
    "merge": ("merge", "-o", "{run}/none/merged.tare", "{run}"),
    "split": ("split", "{run}/none"),
    "recover": ("recover", "{run}/none"),
    "run": ("run", "--", "{run}/none"),
    "doctor": ("doctor", "--mpi", "{run}/none"),
    "study run": ("study", "run", "{run}/none.toml"),
    "study report": ("study", "report", "{run}/none"),
    "study tools": ("study", "tools"),
    "--version": ("--version",),
    "--help": ("--help",),
}


def measure(rounds: int) -> list[Table]:
    return [_verbs(rounds), _nothing(rounds), *(_two_ranks(mpi, rounds) for mpi in mpis())]


def _verbs(rounds: int) -> Table:
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as folder:
        mpi, run = mpis()[0], Path(folder) / "run"
        _measured_run(mpi, run)
        commands = {"Python alone": [sys.executable, "-c", "pass"]} | {
            f"tare {name}": [str(TARE), *(word.format(run=run) for word in words)]
            for name, words in VERBS.items()
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        for name in samples:
            _time(commands[name])  # from the disk
        for number in range(rounds):
            names = list(commands)
            for name in (*names[number % len(names) :], *names[: number % len(names)]):
                samples[name].append(_time(commands[name]))
    rows = [
        Row(name, median(times), median_interval(times), None if name in WITHOUT_LIMIT else VERB_LIMIT_S)
        for name, times in samples.items()
    ]
    return Table(
        "Start of each verb", "s", "s", rows, rounds, digits=3, over="in all", samples=samples
    )  # fmt: skip


def _nothing(rounds: int) -> Table:
    """A command that is no MPI program."""
    measured = interleave(rounds, (BARE, PROFILE), _run_true)
    return over_bare(
        "tare run -- true", measured, _wall_s, "s", "s",
        {PROFILE: RUN_LIMIT_S}, digits=3,
    )  # fmt: skip


def _two_ranks(mpi: MpiEnvironment, rounds: int) -> Table:
    """The time of two ranks, with the summary."""
    argv = [program(mpi, "init_finalize")]
    measured = interleave(rounds, (BARE, PROFILE), lambda tool: run_once(tool, mpi, 2, argv, summary=True))
    return over_bare(
        f"tare run -- mpiexec -n 2, {NAMES[mpi.name]}", measured, _wall_s, "s", "s",
        {PROFILE: RUN_LIMIT_S}, digits=3,
    )  # fmt: skip


def _measured_run(mpi: MpiEnvironment, run: Path) -> None:
    from tools import run as start

    done = start(
        mpi, 2, [program(mpi, "init_finalize")], prefix=[TARE, "run", "-q", "--trace", "-o", run, "--"]
    )
    if done.returncode != 0:
        raise BenchError(f"no run to read: {done.stderr}")


def _run_true(tool: Tool) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as folder:
        prefix = [] if tool is BARE else [str(TARE), "run", "-o", f"{folder}/run", "--"]
        return Outcome("", _time([*prefix, "true"]))


def _time(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    return time.perf_counter() - start


def _wall_s(outcome: Outcome) -> float:
    return outcome.wall_s
