"""What a study is: workloads, tools, factors, and how often, as its TOML file says."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import structs

from tare import programs
from tare.doctor import installations
from tare.errors import UsageError
from tare.lab.study import document, limits, placeholders, toolbox
from tare.lab.study.document import (
    Blocks,
    Confidence,
    Keys,
    PartOfOne,
    Pattern,
    Pause,
    Seconds,
    SecondsInAll,
    Share,
    Table,
    Text,
    Texts,
    Words,
    whole,
)
from tare.lab.study.toolbox import Tool

# Factors that every study has, whether it varies them or not; others are parameters of tools and workloads.
BUILT_IN = ("workload", "tool", "mpi", "ranks")
VARIABLE = "environment."
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
Take = Literal["max", "min", "sum", "mean", "last"]
Part = Literal["instrumentation", "writing", "overhead"]
INSTRUMENTATION, WRITING, OVERHEAD = get_args(Part)
# Times of whole runs; a phase's are "PHASE wall" and "PHASE cpu".
MAIN = ("net", "hook", "wrap", "overall", "net cpu")
BY_REFEREE = "net overhead by referee"
# What no factor explains, in an analysis of variance.
RESIDUALS = "residuals"


class Measure(msgspec.Struct, frozen=True):
    """A number that the program prints; `wall` and `cpu` are times of a phase, in seconds when stored."""

    phase: str
    quantity: str  # "wall", "cpu", or the name of another value
    pattern: Pattern  # finds the number in the output
    scale: float  # factor from the printed number to `unit`
    unit: str
    take: Take  # which number to take if several ranks or rounds print it
    message_bytes: int = 0  # length of the message that takes this time; 0: it is not that of a message


class _Phase(Keys, frozen=True, kw_only=True):
    wall: Pattern | None = None
    cpu: Pattern | None = None
    unit: Literal["s", "ms", "us", "ns"] = "s"
    take: Take = "max"
    message_bytes: Annotated[int, whole(1, limits.MOST_MESSAGE_BYTES)] = 0


class _Value(Keys, frozen=True, kw_only=True):
    pattern: Pattern
    unit: str = ""
    take: Take = "max"


class _Workload(Keys, frozen=True, kw_only=True):
    command: Words
    build: Words = Words()  # command that builds the program; empty: none
    parameters: Texts = msgspec.field(default_factory=dict)  # values of placeholders in the command
    environment: Texts = msgspec.field(default_factory=dict)
    ranks: Annotated[int, whole(1, limits.MOST_RANKS)] = 2  # number of ranks
    exit_code: int = 0  # exit code of a run that ended well
    mpi: bool = True  # False: started without a launcher, and without the timing library


class Workload(_Workload, frozen=True, kw_only=True):
    """A program that a study runs, a [workload.NAME] of its file."""

    name: str
    measures: tuple[Measure, ...]  # numbers that the program prints

    def used_names(self) -> set[str]:
        """The names of the placeholders in its command and environment."""
        return placeholders.names([*self.command, *self.environment.values()])


class _Mpi(Keys, frozen=True, kw_only=True):
    launch: Words  # the launcher and its arguments
    family: str | None = (
        None  # as in `tare doctor`; None: the file does not say, nobody has asked the launcher
    )
    cc: Words = Words(["mpicc"])  # its C compiler wrapper
    environment: Texts = msgspec.field(default_factory=dict)


class Mpi(_Mpi, frozen=True, kw_only=True):
    """An MPI library that a study uses, an [mpi.NAME] of its file."""

    name: str


class Analysis(Keys, frozen=True, kw_only=True):
    """How the report analyses the results. Overheads are shares of the baseline."""

    confidence: Confidence = Confidence(0.95)  # of intervals
    equivalence: Share = Share(0.01)  # overhead that counts as none
    precision: Share = Share(0.01)  # wanted half width of the interval of an overhead
    responses: Words = Words()  # phases; empty: all
    anova_type: Literal[2, 3] = 2  # type of the sums of squares


class Truth(Keys, frozen=True, kw_only=True):
    """A result that is known beforehand: a part of the overhead, or the share of a factor."""

    time: str  # a response, like "solve cpu"
    part: Part | None = None
    seconds: SecondsInAll | None = None  # of the part
    factor: str | None = None  # or several as in "write:buffer"
    share: PartOfOne | None = None  # of the variation, of the factor
    within: PartOfOne = PartOfOne(0.05)  # tolerance: relative to the value; for a share, absolute
    where: Texts = msgspec.field(
        default_factory=dict
    )  # the runs for which it is known: factors and their levels

    @property
    def is_share(self) -> bool:
        """Whether it is about a factor; else about a part."""
        return self.share is not None

    @property
    def of(self) -> str:
        """The part or the factor."""
        return (self.factor if self.is_share else self.part) or ""

    @property
    def value(self) -> float:
        """The known result: a share of the variation, or seconds."""
        return (self.share if self.share is not None else self.seconds) or 0.0


class _Study(Keys, frozen=True, kw_only=True):
    title: str = ""
    about: str = ""
    seed: int = 1  # of the random order of runs
    repetitions: Blocks = 10  # number of blocks
    most_repetitions: Blocks = 0  # maximum number of blocks, if a precision is wanted; 0: ten times as many
    warmup: Annotated[int, whole(0, limits.MOST_BLOCKS)] = 1  # blocks whose runs do not count
    time_limit_s: Seconds = msgspec.field(default=Seconds(600), name="time_limit")  # of a run
    pause_s: Pause = msgspec.field(default=Pause(0), name="pause")  # between runs
    baseline: str = "none"  # name of the tool that is the baseline
    referee: bool = False  # whether runs under the referee are made, too
    output: str = ""  # directory for the output of tools
    keep_output: bool = False  # whether that output is kept


class Description(_Study, frozen=True, kw_only=True):
    """A study, as its file describes it (docs/study.md). Times are seconds."""

    path: Path  # of the file
    text: str  # contents of the file
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

    def analyses(self, response: str) -> bool:
        """Whether `responses` of [analysis] names this time, or its phase; it names all if it is empty."""
        wanted = self.analysis.responses
        return not wanted or any(response in (name, f"{name} wall", f"{name} cpu") for name in wanted)

    def place_of_outputs(self, directory: Path) -> Path:
        """The place to which tools write; `directory`: that of the results."""
        return (Path(self.output) if self.output else directory / "outputs").resolve()


class _Root(Keys, frozen=True, kw_only=True):
    """The top of the file; tables whose names are the user's are taken one by one."""

    study: _Study = _Study()
    analysis: Analysis = Analysis()
    factors: dict[str, Any] = msgspec.field(default_factory=dict)
    exclude: list[dict[str, Text]] = msgspec.field(default_factory=list)
    truth: list[dict[str, Any]] = msgspec.field(default_factory=list)


def read(path: Path) -> Description:
    """Reads the description of a study. UsageError, with the line, if something in it is wrong.

    Nothing is started for it: the file may be somebody else's.
    """
    return parse(path, document.text_of(path))


def parse(path: Path, text: str) -> Description:
    """The same from the text of a description, which `path` stands for in errors."""
    root = document.parse(str(path), text)
    top = root.take(_Root, "workload", "tool", "mpi")
    workloads = {name: _workload(name, table) for name, table in root.table("workload").tables()}
    if not workloads:
        raise root.wrong("workload", "is missing: a study needs at least one [workload.NAME]")
    tools = toolbox.builtin_tools() | {
        name: toolbox.parse(name, each) for name, each in root.table("tool").tables()
    }
    mpis = {name: _mpi(name, table) for name, table in root.table("mpi").tables()} or {"mpi": MPI_IN_PATH}
    levels = _factors(root.table("factors"), workloads, tools, mpis)
    study = structs.asdict(top.study)
    study["title"] = study["title"] or path.stem
    most = min(10 * study["repetitions"], limits.MOST_BLOCKS)
    study["most_repetitions"] = study["most_repetitions"] or most
    description = Description(
        **study,
        path=path,
        text=text,
        workloads=workloads,
        tools={name: tools[name] for name in levels["tool"]},
        mpis=mpis,
        factors=levels,
        excluded=tuple(top.exclude),
        truths=tuple(
            _truth(Table(each, root.source, ("truth", at)), levels) for at, each in enumerate(top.truth)
        ),
        analysis=top.analysis,
    )
    _check(description, root)
    return description


def _workload(name: str, table: Table) -> Workload:
    found = table.take(_Workload, "phase", "value")
    if not found.command:
        raise table.wrong("command", "is missing: the program and its arguments")
    measures = [measure for phase, each in table.table("phase").tables() for measure in _phase(phase, each)]
    for value, each in table.table("value").tables():
        of = each.take(_Value)
        measures.append(Measure("", value, of.pattern, 1.0, of.unit, of.take))
    for measure in measures:
        if measure.pattern.groups != 1:
            where = ("phase", measure.phase, measure.quantity)
            raise table.wrong(
                where if measure.phase else ("value", measure.quantity, "pattern"),
                "has two groups: it must have one, around the number",
            )
    return Workload(**structs.asdict(found), name=name, measures=tuple(measures))


def _phase(name: str, table: Table) -> list[Measure]:
    of = table.take(_Phase)
    measures = [
        Measure(name, quantity, pattern, UNITS[of.unit], "s", of.take, of.message_bytes)
        for quantity, pattern in (("wall", of.wall), ("cpu", of.cpu))
        if pattern is not None
    ]
    if not measures:
        raise table.wrong("wall", "is missing: a pattern that finds the time of this phase in the output")
    return measures


def _mpi(name: str, table: Table) -> Mpi:
    found = table.take(_Mpi)
    if "ranks" not in placeholders.names(found.launch):
        raise table.wrong("launch", 'must hold {ranks}: "mpiexec -n {ranks}"')
    return Mpi(**structs.asdict(found), name=name)


MPI_IN_PATH = Mpi(name="mpi", launch=Words(["mpiexec", "-n", "{ranks}"]))


def with_families(description: Description) -> Description:
    """The same, with the family of each MPI: its launcher is asked. For studies that are to run."""
    mpis = {
        name: mpi if mpi.family is not None else structs.replace(mpi, family=_family(mpi.launch[0]))
        for name, mpi in description.mpis.items()
    }
    return structs.replace(description, mpis=mpis)


def _family(launcher: str) -> str:
    """ "openmpi", "mpich" or "intel"; empty where the launcher does not say (srun)."""
    family = "unknown" if programs.find(launcher) is None else installations.identify(launcher)[0]
    return "" if family == "unknown" else family


def _factors(
    table: Table, workloads: Mapping[str, Workload], tools: Mapping[str, Tool], mpis: Mapping[str, Mpi]
) -> dict[str, tuple[str, ...]]:
    levels: dict[str, tuple[str, ...]] = {}
    for name, found in table.content.items():
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
        if not re.fullmatch("[1-9][0-9]{,8}", level) or int(level) > limits.MOST_RANKS:
            numbers = f"whole numbers from 1 to {limits.MOST_RANKS}"
            raise table.wrong("ranks", f"has '{level}', which is not a number of ranks: write {numbers}")
    levels.setdefault("workload", tuple(workloads))
    levels.setdefault("tool", ("none", "tare"))
    levels.setdefault("mpi", tuple(mpis))
    if (combinations := math.prod(map(len, levels.values()))) > limits.MOST_COMBINATIONS:
        most = max(levels, key=lambda name: len(levels[name]))
        raise table.wrong(
            most,
            f"makes {combinations} combinations with the other factors; "
            f"a study has {limits.MOST_COMBINATIONS} at most",
        )
    return levels


def _truth(table: Table, levels: Mapping[str, tuple[str, ...]]) -> Truth:
    truth = table.take(Truth)
    of, value = ("factor", "share") if truth.is_share else ("part", "seconds")
    if not truth.of:
        raise table.wrong(of, "is missing")
    if truth.value <= 0:
        raise table.wrong(value, "is missing, or not above 0")
    known = [*(name for name in levels if name != "workload"), RESIDUALS]
    for name in truth.of.split(":") if truth.is_share else ():
        if name not in known:
            raise table.wrong("factor", f"has '{name}', which is none of: {', '.join(known)}")
    for name, level in truth.where.items():
        if level not in levels.get(name, ()):
            raise table.wrong("where", f"has {name}={level}, which is no factor and level of this study")
    return truth


def _check(description: Description, root: Table) -> None:
    """What can only be seen when everything is known."""
    study, factors = root.table("study"), root.table("factors")
    for at, each in enumerate(description.excluded):
        for name in each:
            if name not in description.factors and name != "ranks":
                raise root.wrong(
                    ("exclude", at, name), f"is not known here: '{name}' is not a factor of this study"
                )
    if description.baseline not in description.tools:
        raise study.wrong("baseline", f"is '{description.baseline}', which is not among factors.tool")
    measures = (each for of in description.workloads.values() for each in of.measures if each.phase)
    phases = {f"{each.phase} {each.quantity}": each.phase for each in measures}
    times = [*MAIN, *phases]
    responses = list(dict.fromkeys([*times, BY_REFEREE, *phases.values()]))
    for name in description.analysis.responses:
        if name not in responses:
            raise root.table("analysis").wrong(
                "responses", f"has '{name}', which is none of: {', '.join(responses)}"
            )
    for at, truth in enumerate(description.truths):
        if truth.time not in times:
            raise root.wrong(
                ("truth", at, "time"), f"has '{truth.time}', which is none of: {', '.join(times)}"
            )
    if description.referee and description.baseline != "none":
        raise study.wrong("referee", "compares with the program without a tool: the baseline must be 'none'")
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
    return structs.replace(description, factors=factors, tools=tools)


# What every run gives a value, beside factors and parameters.
RUN_VALUES = {
    "ranks", "mpi", "family", "workload", "tool", "study", "output", "tare", "libraries", "cc", "here",
}  # fmt: skip


def summary(description: Description) -> dict[str, Any]:
    """What of a description is worth keeping beside its text."""
    return {"title": description.title, "seed": description.seed, "fingerprint": description.fingerprint}
