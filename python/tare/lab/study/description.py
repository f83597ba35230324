"""What a study is: workloads, tools, factors, and how often, as its TOML file says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tare import programs
from tare.doctor import installations
from tare.errors import UsageError
from tare.lab.study import document, placeholders, toolbox
from tare.lab.study.document import Table
from tare.lab.study.toolbox import Tool

# Factors that every study has, whether it varies them or not; others are parameters of tools and workloads.
BUILT_IN = ("workload", "tool", "mpi", "ranks")
VARIABLE = "environment."
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "": 1.0}
TAKES = ("max", "min", "sum", "mean", "last")
INSTRUMENTATION, WRITING, OVERHEAD = PARTS_OF_OVERHEAD = ("instrumentation", "writing", "overhead")


@dataclass(frozen=True)
class Measure:
    """A number that the program prints; `wall` and `cpu` are times of a phase, in seconds when stored."""

    phase: str
    quantity: str  # "wall", "cpu", or the name of another value
    pattern: re.Pattern[str]  # finds the number in the output
    scale: float  # factor from the printed number to `unit`
    unit: str
    take: str  # which number to take if several ranks or rounds print it
    message_bytes: int = 0  # length of the message that takes this time; 0: it is not that of a message


@dataclass(frozen=True)
class Workload:
    """A program that a study runs, a [workload.NAME] of its file."""

    name: str
    command: tuple[str, ...]
    build: tuple[str, ...]  # command that builds the program; empty: none
    parameters: Mapping[str, str]  # values of placeholders in the command
    environment: Mapping[str, str]
    measures: tuple[Measure, ...]  # numbers that the program prints
    ranks: int  # number of ranks
    exit_code: int  # exit code of a run that ended well
    mpi: bool  # False: started without a launcher, and without the timing library

    def used_names(self) -> set[str]:
        """The names of the placeholders in its command and environment."""
        return placeholders.names([*self.command, *self.environment.values()])


@dataclass(frozen=True)
class Mpi:
    """An MPI library that a study uses, an [mpi.NAME] of its file."""

    name: str
    family: str | None  # as in `tare doctor`; None: the file does not say, and nobody has asked the launcher
    launch: tuple[str, ...]  # the launcher and its arguments
    cc: tuple[str, ...]  # its C compiler wrapper
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Analysis:
    """How the report analyses the results. Overheads are shares of the baseline."""

    confidence: float  # of intervals, 0 to 1
    equivalence: float  # overhead that counts as none
    precision: float  # wanted half width of the interval of an overhead
    responses: tuple[str, ...]  # phases; empty: all
    anova_type: int  # type of the sums of squares


@dataclass(frozen=True)
class Truth:
    """A result that is known beforehand: a part of the overhead, or the share of a factor."""

    time: str  # a response, like "solve cpu"
    of: str  # of PARTS_OF_OVERHEAD; or a factor, or several as in "write:buffer"
    is_share: bool  # `value` is a share of the variation; else seconds
    value: float  # the known result
    within: float  # tolerance: relative to the value; for a share, absolute
    where: Mapping[str, str]  # the runs for which it is known: factors and their levels


@dataclass(frozen=True)
class Description:
    """A study, as its file describes it (docs/study.md). Times are seconds."""

    path: Path  # of the file
    text: str  # contents of the file
    title: str
    about: str
    seed: int  # of the random order of runs
    repetitions: int  # number of blocks
    most_repetitions: int  # maximum number of blocks, if a precision is wanted
    warmup: int  # blocks whose runs do not count
    time_limit_s: float  # of a run
    pause_s: float  # between runs
    baseline: str  # name of the tool that is the baseline
    output: str  # directory for the output of tools
    keep_output: bool  # whether that output is kept
    workloads: Mapping[str, Workload]
    tools: Mapping[str, Tool]
    mpis: Mapping[str, Mpi]
    factors: Mapping[str, tuple[str, ...]]  # levels by factor
    excluded: tuple[Mapping[str, str], ...]  # combinations of levels that are left out
    truths: tuple[Truth, ...]
    analysis: Analysis

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def place_of_outputs(self, directory: Path) -> Path:
        """The place to which tools write; `directory`: that of the results."""
        return (Path(self.output) if self.output else directory / "outputs").resolve()


def read(path: Path) -> Description:
    """Reads the description of a study. UsageError, with the line, if something in it is wrong.

    Nothing is started for it: the file may be somebody else's.
    """
    return parse(path, document.text_of(path))


def parse(path: Path, text: str) -> Description:
    """The same from the text of a description, which `path` stands for in errors."""
    root = document.parse(str(path), text)
    study, factors = root.table("study"), root.table("factors")
    workloads = {name: _workload(name, table) for name, table in root.table("workload").tables()}
    if not workloads:
        raise root.wrong("workload", "is missing: a study needs at least one [workload.NAME]")
    tools = toolbox.builtin_tools() | {
        name: toolbox.parse(name, each) for name, each in root.table("tool").tables()
    }
    mpis = {name: _mpi(name, table) for name, table in root.table("mpi").tables()} or {"mpi": MPI_IN_PATH}
    levels = _factors(factors, workloads, tools, mpis)
    excluded = _excluded(root, levels)
    repetitions = study.value("repetitions", int, 10)
    description = Description(
        path=path,
        text=text,
        title=study.value("title", str, path.stem),
        about=study.value("about", str, ""),
        seed=study.value("seed", int, 1),
        repetitions=repetitions,
        most_repetitions=study.value("most_repetitions", int, 10 * repetitions),
        warmup=study.value("warmup", int, 1),
        time_limit_s=study.seconds("time_limit", 600.0),
        pause_s=study.seconds("pause", 0.0),
        baseline=study.value("baseline", str, "none"),
        output=study.value("output", str, ""),
        keep_output=study.value("keep_output", bool, False),
        workloads=workloads,
        tools={name: tools[name] for name in levels["tool"]},
        mpis=mpis,
        factors=levels,
        excluded=excluded,
        truths=_truths(root, levels),
        analysis=_analysis(root.table("analysis")),
    )
    study.finish()
    root.finish()
    _check(description, root, study, factors)
    return description


def _workload(name: str, table: Table) -> Workload:
    command = table.words("command")
    if not command:
        raise table.wrong("command", "is missing: the program and its arguments")
    measures = [measure for phase, each in table.table("phase").tables() for measure in _phase(phase, each)]
    measures += [_value(value, each) for value, each in table.table("value").tables()]
    workload = Workload(
        name=name,
        command=tuple(command),
        build=tuple(table.words("build")),
        parameters=table.texts("parameters"),
        environment=table.texts("environment"),
        measures=tuple(measures),
        ranks=table.value("ranks", int, 2),
        exit_code=_exit_code(table),
        mpi=table.value("mpi", bool, True),
    )
    table.finish()
    return workload


def _exit_code(table: Table) -> int:
    return 0 if "exit_code" not in table else table.value("exit_code", int)


def _phase(name: str, table: Table) -> list[Measure]:
    unit, take, message = _unit(table, "s"), _take(table), table.value("message_bytes", int, 0)
    measures = [
        Measure(name, quantity, table.pattern(quantity), UNITS[unit], "s", take, message)
        for quantity in ("wall", "cpu")
        if quantity in table
    ]
    if not measures:
        raise table.wrong("wall", "is missing: a pattern that finds the time of this phase in the output")
    table.finish()
    return measures


def _value(name: str, table: Table) -> Measure:
    measure = Measure("", name, table.pattern("pattern"), 1.0, table.value("unit", str, ""), _take(table))
    table.finish()
    return measure


def _unit(table: Table, default: str) -> str:
    unit = table.value("unit", str, default)
    if unit not in UNITS:
        raise table.wrong("unit", "must be s, ms, us or ns")
    return unit


def _take(table: Table) -> str:
    take = table.value("take", str, "max")
    if take not in TAKES:
        raise table.wrong("take", f"must be one of {', '.join(TAKES)}")
    return take


def _mpi(name: str, table: Table) -> Mpi:
    launch = table.words("launch")
    if "ranks" not in placeholders.names(launch):
        raise table.wrong("launch", 'must hold {ranks}: "mpiexec -n {ranks}"')
    mpi = Mpi(
        name,
        table.value("family", str, "") or None,
        tuple(launch),
        tuple(table.words("cc")) or ("mpicc",),
        table.texts("environment"),
    )
    table.finish()
    return mpi


MPI_IN_PATH = Mpi("mpi", None, ("mpiexec", "-n", "{ranks}"), ("mpicc",), {})


def with_families(description: Description) -> Description:
    """The same, with the family of each MPI: its launcher is asked. For studies that are to run."""
    mpis = {
        name: mpi if mpi.family is not None else replace(mpi, family=_family(mpi.launch[0]))
        for name, mpi in description.mpis.items()
    }
    return replace(description, mpis=mpis)


def _family(launcher: str) -> str:
    """ "openmpi", "mpich" or "intel"; empty where the launcher does not say (srun)."""
    family = "unknown" if programs.find(launcher) is None else installations.identify(launcher)[0]
    return "" if family == "unknown" else family


def _factors(
    table: Table, workloads: Mapping[str, Workload], tools: Mapping[str, Tool], mpis: Mapping[str, Mpi]
) -> dict[str, tuple[str, ...]]:
    levels: dict[str, tuple[str, ...]] = {}
    for name in table.content:
        found = table.raw(name)
        if isinstance(found, dict):
            raise table.wrong(name, 'must be a list of levels; quote names with a dot: "environment.NAME"')
        listed = found if isinstance(found, list) else [found]
        if not listed or not all(isinstance(level, str | int | float) for level in listed):
            raise table.wrong(name, "must be a list of levels: texts, numbers, true or false")
        levels[name] = tuple(dict.fromkeys(document.label(level) for level in listed))
    for name, known in (("workload", workloads), ("tool", tools), ("mpi", mpis)):
        for level in levels.get(name, ()):
            if level not in known:
                raise table.wrong(name, f"has '{level}', which is none of: {', '.join(known)}")
    for level in levels.get("ranks", ()):
        if not level.isdigit() or int(level) < 1:
            raise table.wrong("ranks", f"has '{level}', which is not a number of ranks")
    levels.setdefault("workload", tuple(workloads))
    levels.setdefault("tool", ("none", "tare"))
    levels.setdefault("mpi", tuple(mpis))
    return levels


def _excluded(root: Table, levels: Mapping[str, tuple[str, ...]]) -> tuple[Mapping[str, str], ...]:
    found = root.raw("exclude") or []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise root.wrong("exclude", "must be tables: [[exclude]] with factors and their levels")
    result = []
    for each in found:
        for name in each:
            if name not in levels and name != "ranks":
                raise root.wrong("exclude", f"names '{name}', which is not a factor of this study")
        result.append({name: document.label(level) for name, level in each.items()})
    return tuple(result)


def _truths(root: Table, levels: Mapping[str, tuple[str, ...]]) -> tuple[Truth, ...]:
    found = root.raw("truth") or []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise root.wrong(
            "truth", "must be tables: [[truth]] with time, part, seconds, or time, factor, share"
        )
    return tuple(_truth(Table(each, root.source, ("truth",)), levels) for each in found)


def _truth(table: Table, levels: Mapping[str, tuple[str, ...]]) -> Truth:
    is_share = "share" in table
    of, value = ("factor", "share") if is_share else ("part", "seconds")
    truth = Truth(
        table.value("time", str),
        table.value(of, str),
        is_share,
        table.fraction(value, 0.0) if is_share else table.seconds(value, 0.0),
        table.fraction("within", 0.05),
        table.texts("where"),
    )
    if truth.value <= 0:
        raise table.wrong(value, "is missing, or not above 0")
    if not is_share and truth.of not in PARTS_OF_OVERHEAD:
        raise table.wrong("part", f"must be one of {', '.join(PARTS_OF_OVERHEAD)}")
    for name, level in truth.where.items():
        if level not in levels.get(name, ()):
            raise table.wrong("where", f"has {name}={level}, which is no factor and level of this study")
    table.finish()
    return truth


def _analysis(table: Table) -> Analysis:
    kind = table.value("anova_type", int, 2)
    if kind not in (2, 3):
        raise table.wrong("anova_type", "must be 2 or 3")
    analysis = Analysis(
        confidence=table.fraction("confidence", 0.95),
        equivalence=table.fraction("equivalence", 0.01),
        precision=table.fraction("precision", 0.01),
        responses=tuple(table.words("responses")),
        anova_type=kind,
    )
    table.finish()
    return analysis


def _check(description: Description, root: Table, study: Table, factors: Table) -> None:
    """What can only be seen when everything is known."""
    if description.repetitions < 1:
        raise study.wrong("repetitions", "must be at least 1")
    if description.baseline not in description.tools:
        raise study.wrong("baseline", f"is '{description.baseline}', which is not among factors.tool")
    known: set[str] = set()
    for tool in description.tools.values():
        known |= set(tool.parameters)
    for workload in description.workloads.values():
        known |= workload.used_names()
    for mpi in description.mpis.values():
        known |= placeholders.names(mpi.launch)
    for name in description.factors:
        if name not in BUILT_IN and not name.startswith(VARIABLE) and name not in known:
            raise factors.wrong(
                name, "changes nothing: no command holds {" + name + "}, and no tool has it as a parameter"
            )
    given = set(description.factors) | RUN_VALUES
    for workload in description.workloads.values():
        for name in sorted(workload.used_names() - given - set(workload.parameters)):
            raise root.source.wrong(
                ("workload", workload.name, "command"),
                f"holds {{{name}}}, which is neither a factor nor in parameters",
            )


def narrowed(description: Description, selections: Sequence[str]) -> Description:
    """The description with the levels alone that texts like "ranks=2,4" name; the baseline stays."""
    factors = dict(description.factors)
    for selection in selections:
        name, _, levels = selection.partition("=")
        if name not in factors:
            raise UsageError(
                f"--only {selection}: '{name}' is not a factor of the study; it has {', '.join(factors)}"
            )
        chosen = set(levels.split(","))
        if unknown := chosen - set(factors[name]):
            raise UsageError(
                f"--only {selection}: {name} has no level '{min(unknown)}': {', '.join(factors[name])}"
            )
        if name == "tool":
            chosen.add(description.baseline)
        factors[name] = tuple(level for level in factors[name] if level in chosen)
    tools = {name: description.tools[name] for name in factors["tool"]}
    return replace(description, factors=factors, tools=tools)


# What every run gives a value, beside factors and parameters.
RUN_VALUES = {
    "ranks", "mpi", "family", "workload", "tool", "study", "output", "tare", "libraries", "cc", "here",
}  # fmt: skip


def summary(description: Description) -> dict[str, Any]:
    """What of a description is worth keeping beside its text."""
    return {"title": description.title, "seed": description.seed, "fingerprint": description.fingerprint}
