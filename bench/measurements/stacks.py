"""Samples of stacks: what one takes, what they cost a real program, and py-spy beside them."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import tare
from interleave import interleave
from programs import built
from report import Row, Table, over_bare
from tare.analysis.intervals import median_interval
from trials import WEIGHED, trial_of

from tools import BARE, PROFILE, ROOT, TARE, BenchError, Outcome, PeerError, Tool, openmpi4, run_once

SOURCE = ROOT / "bench" / "deep_computing.c"
FRAMES = 20
SAMPLE_LIMIT_US, SOLVER_LIMIT = 3.0, 0.5
A_SECOND = 100  # samples, by default
# About as many as a system of 250 ticks a second sends: what they cost can be seen above the noise.
MOST_A_SECOND = 244
# Call paths as of the profile alone: longer ones are another cost.
WITH_STACKS = ("--weigh", "--with", "stacks", "--stack", "4")
STACKS = Tool("profile, --with stacks, --weigh", tare=WITH_STACKS)
MOST_STACKS = Tool(
    f"the same, {MOST_A_SECOND} samples a second", tare=(*WITH_STACKS, "--stack-rate", str(MOST_A_SECOND))
)


def measure(rounds: int) -> Iterator[Table]:
    yield _of_a_sample(rounds)
    yield _of_python(rounds)
    yield _of_the_solver(rounds)


def _of_a_sample(rounds: int) -> Table:
    """The time of the handler, as the account has it, and the whole, by processor times with and without."""
    program = ROOT / "build" / "bench" / "deep_computing"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-g", SOURCE, "-o", program], check=True)
    handler_us, whole_us, bare_ns = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="tare-bench-") as name:
            run = Path(name) / "run"
            bare_ns.append(_processor_ns([program, str(FRAMES)]))
            sampled_ns = _processor_ns(
                [
                    TARE,
                    "run",
                    "-q",
                    "--with",
                    "stacks",
                    "--stack-rate",
                    "1000",
                    "-o",
                    run,
                    "--",
                    program,
                    str(FRAMES),
                ]
            )
            opened = tare.open(run)
            (sampling,) = opened.rows(opened.stack_sampling)
            handler_us.append(sampling.cost_ns / sampling.samples / 1000)
            whole_us.append((sampled_ns - bare_ns[-1]) / sampling.samples / 1000)
    rows = [
        Row("the handler, by the account", median(handler_us), median_interval(handler_us), SAMPLE_LIMIT_US),
        Row("with the system's signal, by processor time", median(whole_us), median_interval(whole_us)),
    ]
    share = median(whole_us) * A_SECOND / 1e6
    note = f"so {A_SECOND} samples in a second of processor time take {100 * share:.3f} % of it"
    return Table(
        f"A sample of a stack of {FRAMES} frames",
        "us",
        "us",
        rows,
        rounds,
        digits=2,
        over="a sample",
        notes=[note],
    )


def _processor_ns(command: list[Path | str]) -> float:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    found = re.search(r'"processor_ns": ([0-9.]+)', done.stdout)
    if done.returncode != 0 or found is None:
        raise BenchError(f"exit code {done.returncode} of {command[0]}\n{done.stdout}{done.stderr}")
    return float(found[1])


def _of_the_solver(rounds: int) -> Table:
    """Samples beside a profile, each by its own trial (trials.py); the difference is of the same round.

    The cost is linear in the rate. What so many samples cost tells that of the default more exactly than a
    measurement of the default does, which stands beside it.
    """
    argv: list[Path | str] = [built("workloads/diffusion"), "-n", "35", "35", "35", "-s", "250"]
    profile = WEIGHED[PROFILE]
    measured = interleave(
        rounds, (profile, MOST_STACKS, STACKS), lambda tool: run_once(tool, openmpi4(), 2, argv)
    )
    known = measured.known(lambda outcome: trial_of(outcome)["overhead"] is not None)
    if not known.count:
        raise BenchError(f"no round of {rounds} has a result of all trials")
    table = over_bare(
        f"hypre StructSMG, 2 ranks, Open MPI: stacks, {A_SECOND} samples a second, over the profile",
        known,
        _trial_percent,
        "% of net time",
        "points",
        {},
        over=profile,
        digits=2,
    )
    of_most = next(row for row in table.rows if row.label == MOST_STACKS.label)
    table.rows.append(at_default_rate(of_most))
    if known.count < rounds:
        table.notes.append(f"of {rounds} rounds; in the others a trial has no result")
    return table


def at_default_rate(of_most: Row) -> Row:
    """What the default rate costs, of what the highest does, with its interval; judged by the limit."""
    scale = A_SECOND / MOST_A_SECOND
    interval = of_most.over.scaled(scale) if of_most.over else None
    return Row(f"{A_SECOND} a second, by the row of {MOST_A_SECOND}", None, interval, SOLVER_LIMIT)


def _trial_percent(outcome: Outcome) -> float:
    return 100 * float(trial_of(outcome)["overhead"])


# Calls and arithmetic for about two seconds, in functions five deep; prints its own time.
PYTHON = """
import time
def leaf(n):
    return sum(i * i for i in range(n))
def four(n): return leaf(n)
def three(n): return four(n)
def two(n): return three(n)
def one(n): return two(n)
start = time.perf_counter()
for _ in range(300):
    one(100_000)
print('{"seconds": %f}' % (time.perf_counter() - start))
"""
SAMPLED = Tool("tare run --with stacks", tare=("--with", "stacks"))
PY_SPY = Tool("py-spy record")


def _of_python(rounds: int) -> Table:
    """The time that a program in Python takes, by its own clock; both sample it 100 times a second."""
    py_spy = Path(sys.prefix) / "bin" / "py-spy"
    tools = (BARE, SAMPLED, PY_SPY) if py_spy.exists() else (BARE, SAMPLED)
    program: list[Path | str] = [sys.executable, "-c", PYTHON]

    def run(tool: Tool) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="tare-bench-") as name:
            prefix: list[Path | str] = []
            if tool is SAMPLED:
                prefix = [TARE, "run", *(tool.tare or ()), "-q", "-o", Path(name) / "run", "--"]
            if tool is PY_SPY:
                prefix = [py_spy, "record", "--rate", "100", "-o", Path(name) / "flame.svg", "--"]
            begin = time.perf_counter()
            command = [str(word) for word in (*prefix, *program)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                kind = PeerError if tool is PY_SPY else BenchError
                raise kind(f"exit code {done.returncode} of {command[0]}\n{done.stdout}{done.stderr}")
            return Outcome(done.stdout, time.perf_counter() - begin)

    measured = interleave(rounds, tools, run)

    def seconds(outcome: Outcome) -> float:
        return outcome.value("seconds")

    return over_bare(
        "A program in Python, 100 samples a second",
        measured,
        seconds,
        "s",
        "%",
        digits=2,
    )
