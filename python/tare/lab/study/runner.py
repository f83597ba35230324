"""One run: the command that a cell stands for, started, waited for, and read; and how busy the machine is."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tare import programs, units
from tare.analysis.referee import Weighed
from tare.errors import UsageError
from tare.lab.study import counts, placeholders
from tare.lab.study.counts import Counts
from tare.lab.study.description import VARIABLE, Description
from tare.lab.study.key_lines import key_lines
from tare.lab.study.plan import Cell
from tare.lab.study.toolbox import Around, UnknownLevel, added, find_library
from tare.measuring import library, sanitizers

TIMING = "libtare-timing.so"
TIMING_EXEC = "tare-timing"
GRACE_S = 5.0
SHOWN = 2000
# What a plan shows for the family of an MPI whose launcher is asked when the study runs.
FAMILY = "FAMILY"
NO_TIMING = (
    "no rank left a timing record: is it an MPI program, linked dynamically? "
    "If it has no MPI, give the workload mpi = false"
)
# A tool of the caller must not measure the study.
NOT_INHERITED = ("LD_PRELOAD", "TARE_TIMING", "TARE_RUN_DIR")


@dataclass(frozen=True)
class Command:
    """The command of a run, with all placeholders filled in."""

    words: list[str]
    environment: dict[str, str]  # variables to set
    values: dict[str, str]  # by placeholder


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    state: str  # ok, failed or timeout
    message: str  # why it failed
    exit_code: int | None
    started_ns: int  # Unix time
    wall_s: float  # duration of the launcher
    load_before: float  # load average of the machine
    load_after: float
    foreign_share: float  # share of the processors that other programs used during the run
    timings: list[dict[str, Any]]  # tare.timing/1, by rank
    measures: list[tuple[str, str, str, float]]  # phase, quantity, unit, value
    counts: Counts
    counting_s: float  # time of reading what the tool wrote
    unmatched: tuple[str, ...] = ()  # patterns that found nothing although the run ended well
    weighed: Mapping[str, Weighed] = field(default_factory=dict)  # by the referee, by key of the tool's cell


def command(description: Description, cell: Cell, output: Path, timing: Path | None) -> Command:
    """`output`: where the tool may write; `timing`: where the timing library writes, None: it is not used."""
    workload, tool = description.workloads[cell.level("workload")], description.tools[cell.level("tool")]
    mpi = description.mpis[cell.level("mpi")]
    values = _values(description, cell, output)
    where = f"{description.path}, {cell.key}"

    def fill(words: tuple[str, ...]) -> list[str]:
        return placeholders.fill_all(words, values, where)

    options: list[str] = []
    inner = fill(tool.around.before_program)
    preload = [preloaded(name, tool.needs.home) for name in fill(tool.around.preload)]
    given = {**mpi.environment, **workload.environment, **tool.around.environment}
    variables = {name: placeholders.fill(value, values, where) for name, value in given.items()}
    for around, level in _parameters(description, cell):
        local = values | {"value": level}
        options += placeholders.fill_all(around.before_launcher, local, where)
        inner += placeholders.fill_all(around.before_program, local, where)
        preload += [
            preloaded(name, tool.needs.home) for name in placeholders.fill_all(around.preload, local, where)
        ]
        for name, value in around.environment.items():
            variables[name] = placeholders.fill(value, local, where)
    variables |= {
        name.removeprefix(VARIABLE): level
        for name, level in cell.levels
        if name.startswith(VARIABLE) and level is not None
    }
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED} | variables
    environment |= sanitizers.variables(environment)
    if preload:
        environment["LD_PRELOAD"] = ":".join(preload)
    if timing is not None and workload.mpi:
        inner += _timed(environment, timing, tool.around.timing_before_program)
    outer = [*fill(tool.around.before_launcher), *options, *fill(tool.around.options_end)]
    launch = fill(mpi.launch) if workload.mpi else []
    words = sanitizers.words([*outer, *launch, *inner, *fill(workload.command)])
    return Command(words, environment, values)


def _values(description: Description, cell: Cell, output: Path) -> dict[str, str]:
    mpi = description.mpis[cell.level("mpi")]
    workload = description.workloads[cell.level("workload")]
    return {
        **workload.parameters,
        **{name: level for name, level in cell.levels if level is not None},
        "family": FAMILY if mpi.family is None else mpi.family,
        "cc": " ".join(mpi.cc),
        "output": str(output),
        "study": description.path.stem,
        "here": str(description.path.resolve().parent),
        "tare": str(programs.own_command()),
        "libraries": str(library.find(library.MEASURING).parent),
    }


def _parameters(description: Description, cell: Cell) -> list[tuple[Around, str]]:
    tool = description.tools[cell.level("tool")]
    try:
        return added(tool, cell.by_factor)
    except UnknownLevel as error:
        line = key_lines(description.text).get(("factors", error.parameter))
        where = f"{description.path}:{line}" if line else f"{description.path}"
        raise UsageError(f"{where}: tool {tool.name}: {error}") from None


def preloaded(name: str, home: str) -> str:
    """The path of a library that a tool names, if it is found."""
    if "/" in name:
        return str(Path(name).resolve())
    found = find_library(name, home)
    return str(found) if found else name


def _timed(environment: dict[str, str], timing: Path, before_program: bool) -> list[str]:
    """Puts the timing library above everything else that is preloaded."""
    path = library.find(TIMING)
    environment["TARE_TIMING"] = str(timing)
    if before_program:
        return [str(library.find(TIMING_EXEC)), str(path)]
    others = environment.get("LD_PRELOAD")
    environment["LD_PRELOAD"] = f"{path}:{others}" if others else str(path)
    return []


def attempt(description: Description, cell: Cell, started: Command, scratch: Path) -> Outcome:
    """Runs a command of a cell, without reading what it printed, or what tools wrote."""
    before = snapshot()
    begun_ns = time.time_ns()
    with (scratch / "stdout").open("wb") as stdout, (scratch / "stderr").open("wb") as stderr:
        start = time.perf_counter()
        state, exit_code = execute(started, stdout, stderr, description.time_limit_s)
        wall_s = time.perf_counter() - start
    after = snapshot()
    message = ""
    if exit_code is not None and exit_code != description.workloads[cell.level("workload")].exit_code:
        last = _text(scratch / "stderr").strip() or _text(scratch / "stdout").strip()
        state, message = "failed", f"{units.ending(exit_code)}: {last[-SHOWN:]}"
    elif state == "timeout":
        message = f"ended after the time limit of {description.time_limit_s:g} s"
    shares = before.average, after.average, foreign_share(before, after)
    return Outcome(state, message, exit_code, begun_ns, wall_s, *shares, [], [], Counts(), 0.0)


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def run(description: Description, cell: Cell, scratch: Path, output: Path, thorough: bool) -> Outcome:
    """Runs a cell once, in empty `scratch` and `output`; `thorough`: see counts.of_run. Ctrl-C ends it."""
    started = command(description, cell, output, scratch / "timing")
    outcome = attempt(description, cell, started, scratch)
    timings = _timings(scratch)
    measures, missing = _measures(description, cell, _text(scratch / "stdout"))
    outcome = replace(outcome, timings=timings, measures=measures)
    if outcome.state != "ok":
        return outcome
    if missing:
        message = f"the output has nothing that matches {', '.join(missing)}"
        return replace(outcome, state="failed", message=message, unmatched=tuple(missing.values()))
    if description.workloads[cell.level("workload")].mpi and not timings:
        return replace(outcome, state="failed", message=NO_TIMING)
    start = time.perf_counter()
    found = counts.of_run(description.tools[cell.level("tool")], output, started.values, thorough)
    return replace(outcome, counts=found, counting_s=time.perf_counter() - start)


def end_at_sigterm() -> None:
    """Has SIGTERM, which batch systems send, end what was started, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def execute(started: Command, stdout: Any, stderr: Any, limit_s: float) -> tuple[str, int | None]:
    """Starts a command and waits for its end, or ends it: "ok" or "timeout", and its exit code."""
    try:
        child = subprocess.Popen(
            started.words,
            env=started.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(f"cannot start {started.words[0]}: {error.strerror}") from error
    try:
        if _has_ended(child, limit_s):
            return "ok", child.wait()
        _end(child)
        return "timeout", None
    except BaseException:
        _end(child)
        raise


def _has_ended(child: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Waits, and wakes up as it ends: Popen.wait with a time limit sleeps up to 50 ms longer."""
    descriptor = os.pidfd_open(child.pid)
    try:
        end = select.poll()
        end.register(descriptor, select.POLLIN)
        return bool(end.poll(limit_s * 1e3))
    finally:
        os.close(descriptor)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Launchers pass SIGTERM on to their ranks, but not SIGKILL."""
    child.terminate()
    try:
        child.wait(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _timings(scratch: Path) -> list[dict[str, Any]]:
    lines = [line for file in scratch.glob("timing.*") for line in file.read_text().splitlines()]
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return sorted(records, key=lambda record: (record["rank"], record["pid"]))


def _measures(
    description: Description, cell: Cell, text: str
) -> tuple[list[tuple[str, str, str, float]], dict[str, str]]:
    """What the program reports; and what its output does not hold, with the pattern that looks for it."""
    result: list[tuple[str, str, str, float]] = []
    missing: dict[str, str] = {}
    workload = description.workloads[cell.level("workload")]
    for measure in workload.measures:
        value = counts.number(measure.pattern, text, measure.take)
        if value is None:
            name = f"{measure.phase} {measure.quantity}".strip()
            missing[name] = f"{name} of workload {workload.name}: '{measure.pattern.pattern}'"
        else:
            result.append((measure.phase, measure.quantity, measure.unit, value * measure.scale))
    return result, missing


def prepare(description: Description, cell: Cell) -> None:
    """Builds the program of a cell if it says how and is not there."""
    workload = description.workloads[cell.level("workload")]
    values = _values(description, cell, Path())
    program = Path(placeholders.fill(workload.command[0], values, str(description.path)))
    if program.exists() or programs.find(str(program)):
        return
    if not workload.build:
        raise UsageError(
            f"{program}, the program of workload {workload.name}, does not exist; build it first"
        )
    program.parent.mkdir(parents=True, exist_ok=True)
    words = placeholders.fill_all(workload.build, values, str(description.path))
    environment = os.environ | description.mpis[cell.level("mpi")].environment
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode != 0 or not program.exists():
        why = done.stderr.strip()[-SHOWN:] or units.ending(done.returncode)
        raise UsageError(f"`{' '.join(words)}` did not make {program}: {why}")


@dataclass(frozen=True)
class Snapshot:
    """The load of the machine. Times are seconds of processor time since boot."""

    busy_s: float  # in which processors were busy, summed over all
    all_s: float  # of all processors, idle time included
    children_s: float  # used by children of this process
    average: float  # load average of the kernel over a minute


def snapshot() -> Snapshot:
    """The load of the machine now: processor seconds of all processes and of ended children, load average."""
    busy, total = _processor_seconds()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Snapshot(busy, total, used.ru_utime + used.ru_stime, os.getloadavg()[0])


def foreign_share(before: Snapshot, after: Snapshot) -> float:
    """Share of the machine that others used meanwhile, 0 to 1.

    Processes that this one has not waited for, itself or through its children, count as others: ranks that a
    launcher starts through a daemon look foreign.
    """
    total = after.all_s - before.all_s
    if total <= 0:
        return 0.0
    others = (after.busy_s - before.busy_s) - (after.children_s - before.children_s)
    return min(1.0, max(0.0, others / total))


def _processor_seconds() -> tuple[float, float]:
    try:
        first = Path("/proc/stat").read_text("ascii").splitlines()[0]
    except OSError:
        return 0.0, 0.0
    fields = [int(word) for word in first.split()[1:9]]
    user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen = fields
    busy = user + nice + system + interrupts + soft_interrupts + stolen
    return busy / _TICKS, (busy + idle + waiting) / _TICKS


_TICKS = os.sysconf("SC_CLK_TCK")
