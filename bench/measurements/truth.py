"""How often the referee's interval holds the truth: tools with planted costs, on programs that these delay.

The truth of a cell does not come from the comparison: it is the time that the planted tool itself has
taken, by its own clock, of the time of the spells that were led to it (tests/programs/planted_tool.c).
What lies before and after its readings of the clock it does not see: up to 1 us a call in a program that
displaces the tool's code and its page tables in between. Runs in which the tool takes no time tell that
part, with an interval, which is added to the truth of the runs of the same program. So planted costs
test differences; that nothing is found where there is nothing, a tool that is absent tests.

A rank that waits longer also notices its message later, which no tool sees of itself. So the truth may be
wrong where intervals are right. The other tables do not need it: the same tool is weighed several times, and
each interval must hold what the other times find.

A tool is weighed in several runs each time, as `tare weigh` does.

Cells that were run are kept in build/bench/truth.jsonl, so that a measurement can go on where it was ended.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from statistics import mean, median, stdev

from programs import built
from report import Row, Table
from tare.analysis import referee
from tare.lab.study.referee import spell_files
from tare.lab.study.referee import tools as tooling

from tools import ROOT, BenchError, compile_c, openmpi4

KEPT = ROOT / "build" / "bench" / "truth.jsonl"
SHARES = (0.02, 0.05, 0.1)  # of the time of a program, in turn
SELDOM_NS = 100_000  # of one payment, at least
# What the tool sees of a sweep is not all that it costs: the program then reads again what was displaced.
NOTHING = "nothing"
REPEATED = "repeated"
RUNS = 3  # each time that a tool is weighed
REPEATS = 6  # that a tool is weighed
REPEATS_LOADED = 4
KINDS = ("absent", "fixed", "random", "seldom", "growing", "one", "sweeping")
LOADED = "with a process that takes what it gets"
LAMMPS_INPUT = ROOT / "workloads" / "inputs" / "lennard_jones.in"


@dataclass(frozen=True)
class Program:
    """`serial`: the ranks wait for one another in turn, so what each pays adds up.

    `needs_processors`: its ranks wait so often that it may take minutes beside a busy process.
    """

    command: str  # the first word is of the build, or installed
    ranks: tuple[int, ...]
    serial: bool = False
    needs_processors: bool = False


PROGRAMS = {
    "hypre": Program("workloads/diffusion -n 60 60 60 -s 5", (2, 4)),
    "halo": Program("workloads/halo -n 22 22 22 -w 60 -i 9000", (2, 4)),
    "halo, no collectives": Program("workloads/halo -n 22 22 22 -w 60 -i 9000 -c 0", (2,)),
    "zones": Program("workloads/zones -s 25000", (1, 2, 4)),
    "zones, many": Program("workloads/zones -z 64 -s 8000", (1, 2)),
    "bcast_barrier": Program("workloads/bcast_barrier -s 262144 -i 20000", (2,), needs_processors=True),
    "ping_pong": Program("workloads/ping_pong -i 60000 -r 7 32768", (2,), serial=True, needs_processors=True),
    "ping_pong -c isend": Program(
        "workloads/ping_pong -c isend -i 60000 -r 7 32768", (1, 2), needs_processors=True
    ),
    "wavefront": Program("workloads/wavefront -i 400", (2,), serial=True),
    "LAMMPS": Program(f"lmp -in {LAMMPS_INPUT} -log none -var steps 1600", (2, 4), needs_processors=True),
}


@dataclass(frozen=True)
class Cell:
    program: str
    ranks: int
    kind: str
    loaded: bool
    number: int


@dataclass(frozen=True)
class Result:
    """Shares of the time without the tool; `truth` is what the tool has seen of its cost."""

    truth: float
    overhead: float | None
    low: float | None
    high: float | None
    why: str
    calls_a_s: float

    @property
    def half(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class Unseen:
    """What the tool costs beside what it sees, in seconds a call; `half`: of its interval."""

    seconds: float
    half: float


def measure(rounds: int) -> list[Table]:
    kept = dict(_kept())
    cells = list(_cells(rounds))
    random.Random(0).shuffle(cells)  # what is run before an end is a sample
    cells.sort(
        key=lambda cell: (
            cell.kind == REPEATED,
            cell.ranks > len(os.sched_getaffinity(0)),
            cell.loaded,
            cell.kind != NOTHING,
        )
    )
    for number, cell in enumerate(cells):
        if cell not in kept:
            kept[cell] = _result(cell, kept)
            with KEPT.open("a", encoding="utf-8") as file:
                print(json.dumps([asdict(cell), asdict(kept[cell])]), file=file)
            print(f"{number + 1} of {len(cells)}: {cell}\n    {kept[cell]}", file=sys.stderr, flush=True)
    return [_table(cells, kept), *_repeated(cells, kept)]


def _cells(rounds: int) -> Iterator[Cell]:
    for loaded in (False, True):
        for name, program in PROGRAMS.items():
            for ranks in program.ranks:
                if loaded and program.needs_processors:
                    continue
                for number in range(rounds + 1):
                    yield Cell(name, ranks, NOTHING, loaded, number)
                for number in range(_repeats(ranks, loaded=loaded)):
                    yield Cell(name, ranks, REPEATED, loaded, number)
                for number in range(rounds):
                    for kind in KINDS:
                        if kind != "one" or (ranks == 2 and (program.serial or name == "bcast_barrier")):
                            yield Cell(name, ranks, kind, loaded, number)


def _repeats(ranks: int, *, loaded: bool) -> int:
    if not loaded:
        return REPEATS
    return REPEATS_LOADED if ranks == 2 else 0


def _kept() -> Iterator[tuple[Cell, Result]]:
    for line in KEPT.read_text("utf-8").splitlines() if KEPT.exists() else ():
        cell, result = json.loads(line)
        yield Cell(**cell), Result(**result)


def _result(cell: Cell, kept: dict[Cell, Result]) -> Result:
    if cell.kind == "absent":
        return _run(cell, _tool("absent"), {})
    if cell.kind == NOTHING:
        return _run(cell, _tool("planted"), {"PLANTED_KIND": NOTHING, "PLANTED_NS": "1"})
    same = [of for each, of in kept.items() if replace(each, number=0, loaded=False) == _without_cost(cell)]
    known = [of.calls_a_s for of in same if of.calls_a_s]
    if not known:  # no spell counted, so nothing is known to plant by
        return Result(0.0, None, None, None, "no spell of a tool without cost counts", 0.0)
    calls_a_s = median(known)
    is_repeated = cell.kind == REPEATED
    share = SHARES[1] if is_repeated else SHARES[(cell.number + KINDS.index(cell.kind)) % len(SHARES)]
    ns = 1e9 * share / calls_a_s
    every = max(2, round(SELDOM_NS / ns))
    variables = {
        "PLANTED_KIND": "fixed" if is_repeated else cell.kind,
        "PLANTED_NS": f"{ns:.0f}",
        "PLANTED_EVERY": str(every),
    }
    return _run(cell, _tool("planted"), variables)


def _without_cost(cell: Cell) -> Cell:
    """The cells that tell how many calls a program makes: so all others of it have the same costs."""
    return Cell(cell.program, cell.ranks, NOTHING, loaded=False, number=0)


@cache
def _tool(name: str) -> Path:
    out = ROOT / "build" / "bench" / "debian-openmpi" / f"lib{name}.so"
    out.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / "tests" / "programs" / "planted_tool.c"
    if name == "absent":
        source = out.with_suffix(".c")
        source.write_text("int MPI_Pcontrol(int level, ...) { return level - level; }\n", "utf-8")
    compile_c(openmpi4(), [source], out, "-O2", "-shared", "-fPIC", "-DCOST_ALONE", "-fno-plt")
    return out


@cache
def _program(name: str) -> str:
    return str(built(name)) if "/" in name else shutil.which(name) or _missing(name)


def _missing(name: str) -> str:
    raise BenchError(f"{name} is missing; `make bench` installs it")


# It ends with who started it, also if that is killed: else it would falsify all that is measured later.
LOAD = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def _load() -> Iterator[None]:
    """A process that takes a processor whenever it gets one."""
    with subprocess.Popen([sys.executable, "-c", LOAD, str(os.getpid())]) as process:
        try:
            yield
        finally:
            process.kill()


def _run(cell: Cell, library: Path, variables: dict[str, str]) -> Result:
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as name, _load() if cell.loaded else nullcontext():
        directories = [Path(name) / str(number) for number in range(RUNS)]
        calls = sum(_calls_of_run(cell, library, variables, each) for each in directories)
        return _judged(cell, directories, calls)


def _calls_of_run(cell: Cell, library: Path, variables: dict[str, str], directory: Path) -> int:
    """Runs the program; how many calls of all ranks the tool has seen."""
    mpi = openmpi4()
    first, *others = PROGRAMS[cell.program].command.split()
    words = [*mpi.mpiexec, "-n", str(cell.ranks), _program(first), *others]
    tool = tooling.Weighable(
        cell.kind, library, environment=variables | {"PLANTED_PAYMENTS": "{output}/payments"}
    )
    directory.mkdir()
    spell_files.prepare(directory)
    command = tooling.command(tooling.as_given(words), [tool], directory)
    environment = command.environment | mpi.env | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command.words, env=environment, cwd=directory, capture_output=True, text=True, timeout=300
    )
    if done.returncode != 0:
        raise BenchError(f"exit code {done.returncode} of {cell}\n{done.stdout}{done.stderr}")
    return sum(map(int, re.findall(r"^planted: inits \d+ calls (\d+)", done.stdout, re.MULTILINE)))


def _judged(cell: Cell, directories: Sequence[Path], calls: int) -> Result:
    processors = len(os.sched_getaffinity(0))
    runs = [[process.spells for process in spell_files.read(each)] for each in directories]
    found = referee.weighed(runs, 1, processors)
    adds_up = PROGRAMS[cell.program].serial or cell.kind == "one"
    together = 1 if adds_up else min(cell.ranks, processors)
    time_ns, timed_ticks, ticks, paid_ns = 0, 0, 0, 0.0
    for directory, ranks in zip(directories, runs, strict=True):
        spells = [
            spell
            for spell in referee.joined(0, ranks)
            if spell.route == 1 and not (spell.interrupted and cell.ranks <= processors)
        ]
        time_ns += sum(spell.ns for spell in spells)
        timed_ticks += sum(spell.ticks for spell in spells)
        ticks += sum(spell.ticks for spell in ranks[0] if spell.route == 1)
        paid_ns += sum(_paid(path, spells) for path in directory.glob("payments.*")) / together
    if not calls or not time_ns or not ticks:
        return Result(0.0, found.overhead, found.low, found.high, found.why, 0.0)
    calls_a_s = 1e9 * calls * timed_ticks / ticks / cell.ranks / time_ns
    return Result(paid_ns / (time_ns - paid_ns), found.overhead, found.low, found.high, found.why, calls_a_s)


def _paid(path: Path, spells: list[referee.Spell]) -> float:
    """What the tool of one process paid within these spells (tests/programs/planted_tool.c)."""
    content = array("q")
    content.frombytes(path.read_bytes())
    ends = content[::2]
    until = [0, *accumulate(content[1::2])]

    def paid_until(ns: int) -> int:
        return until[bisect_right(ends, ns)]

    return sum(paid_until(spell.begin_ns + spell.ns) - paid_until(spell.begin_ns) for spell in spells)


def _unseen(cell: Cell, kept: dict[Cell, Result]) -> Unseen | None:
    """Its estimate from the runs of a tool without cost; None if none has a result."""
    if cell.kind == "absent":
        return Unseen(0.0, 0.0)
    same = [
        (of.overhead - of.truth, of.half, of.calls_a_s)
        for each, of in kept.items()
        if (each.kind, each.program, each.ranks, each.loaded)
        == (NOTHING, cell.program, cell.ranks, cell.loaded)
        and of.overhead is not None
        and of.half
    ]
    if not same:
        return None
    weights = [1 / half**2 for _, half, _ in same]
    seconds = sum(weight * share / calls for weight, (share, _, calls) in zip(weights, same, strict=True))
    calls_a_s = median(calls for _, _, calls in same)
    return Unseen(seconds / sum(weights), sum(weights) ** -0.5 / calls_a_s)


def _holds(cell: Cell, kept: dict[Cell, Result]) -> bool | None:
    """Whether the interval holds the truth, which has an interval itself; None: one of them is not known."""
    result, unseen = kept[cell], _unseen(cell, kept)
    if result.overhead is None or result.half is None or unseen is None:
        return None
    truth = result.truth + unseen.seconds * result.calls_a_s
    return abs(result.overhead - truth) <= math.hypot(result.half, unseen.half * result.calls_a_s)


def _table(cells: list[Cell], kept: dict[Cell, Result]) -> Table:
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.kind in (NOTHING, REPEATED):
            continue
        ranks = _conditions(replace(cell, loaded=False))
        load = LOADED if cell.loaded else f"not {LOADED}"
        for name in ("all", f"kind: {cell.kind}", cell.program, ranks, load):
            groups[name].append(cell)
    rows, notes = [], []
    for name, of_group in groups.items():
        judged = [holds for cell in of_group if (holds := _holds(cell, kept)) is not None]
        halves = [100 * half for cell in of_group if (half := kept[cell].half) is not None]
        if judged:
            rows.append(Row(name, 100 * sum(judged) / len(judged), None))
        width = f"; median half width {median(halves):.2f} points" if halves else ""
        notes.append(f"{name}: {len(judged)} of {len(of_group)} cells have a result{width}")
    return Table(
        "Intervals of the referee that hold the truth", "%", "%", rows, len(groups["all"]), notes=notes
    )


def _repeated(cells: list[Cell], kept: dict[Cell, Result]) -> list[Table]:
    """What a program costs is the same each time, so the mean of the other times is the truth of one."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.kind == REPEATED:
            groups[_conditions(cell)].append(cell)
    return [_repeated_in(name, of_group, kept) for name, of_group in groups.items()]


def _conditions(cell: Cell) -> str:
    load = f", {LOADED}" if cell.loaded else ""
    return f"{cell.ranks} rank{'s' if cell.ranks > 1 else ''}{load}"


def _repeated_in(name: str, cells: list[Cell], kept: dict[Cell, Result]) -> Table:
    of_programs: dict[str, list[Result]] = defaultdict(list)
    for cell in cells:
        of_programs[cell.program].append(kept[cell])
    rows, notes, holding = [], [], []
    for program, results in of_programs.items():
        known = [(of.overhead, of.half) for of in results if of.overhead is not None and of.half is not None]
        notes.append(f"{program}: {len(known)} of {len(results)} have a result")
        if len(known) < 3:
            continue
        holds = [
            _holds_others(*one, [share for share, _ in (*known[:i], *known[i + 1 :])])
            for i, one in enumerate(known)
        ]
        holding += holds
        rows.append(Row(program, 100 * sum(holds) / len(holds), None))
        shares = [100 * share for share, _ in known]
        wide = median(100 * half for _, half in known)
        notes[-1] += (
            f", {min(shares):.1f} to {max(shares):.1f} %, half an interval {wide:.1f} points (median),"
            f" {sum(holds)} hold"
        )
    if holding:
        rows.insert(0, Row("all", 100 * sum(holding) / len(holding), None))
    title = f"Intervals of {RUNS} runs that hold what the other times find: {name}"
    return Table(title, "%", "%", rows, len(holding), notes=notes)


def _holds_others(overhead: float, half: float, others: Sequence[float]) -> bool:
    from tare import _native

    error = _native.student_95(len(others) - 1) * stdev(others) / math.sqrt(len(others))
    return abs(overhead - mean(others)) <= math.hypot(half, error)
