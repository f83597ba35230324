"""Tools as data: how each is put around a program, what it writes, and whether it is usable here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import field
from msgspec.structs import asdict

from tare import loader_cache, programs, units
from tare.errors import UsageError
from tare.lab.study import document
from tare.lab.study.document import Keys, Pattern, Table, Text, Texts, Words

SHIPPED = Path(__file__).parent / "tools"


class Around(Keys, frozen=True, kw_only=True):
    """What is added to the command of a program. Words and values may have placeholders."""

    before_launcher: Words = Words()  # words before the launcher
    before_program: Words = Words()  # words between the launcher and the program
    preload: Words = Words()  # libraries to preload into the program
    environment: Texts = field(default_factory=dict)
    options_end: Words = Words()  # words between options that parameters add, and the launcher

    def texts(self) -> list[str]:
        """All of its words and values, which may hold placeholders."""
        words = (*self.before_launcher, *self.options_end, *self.before_program, *self.preload)
        return [*words, *self.environment.values()]


class Run(Around, frozen=True, kw_only=True):
    """What the tool adds to every run."""

    # Whether the timing library may be preloaded by tare-timing, directly before the program.
    timing_before_program: bool = True


class _Parameter(Around, frozen=True, kw_only=True):
    default: Text = Text()  # the level if the study does not have the factor


class UnknownLevel(UsageError):
    """A tool does not know a level of its parameter."""

    def __init__(self, parameter: str, level: str, known: Iterable[str]) -> None:
        super().__init__(f"'{level}' is not a level of {parameter}; known: {', '.join(known)}")
        self.parameter = parameter


class Parameter(_Parameter, frozen=True, kw_only=True):
    """A factor that the tool knows: what each level adds to the command, or any level, with {value}."""

    name: str
    levels: Mapping[str, Around]

    def around(self, level: str) -> Around:
        """What a level adds. UsageError if the tool does not know the level."""
        if level in self.levels:
            return self.levels[level]
        if self.texts():
            return self
        raise UnknownLevel(self.name, level, self.levels)


class Counter(Keys, frozen=True, kw_only=True):
    """How the events of a run are counted."""

    kind: Literal["tare", "command"] = field(default="command", name="with")  # by tare's reader or a command
    command: Words = Words()  # its output contains the numbers
    events: Pattern | None = None  # finds them; with a group `rank`, one for each rank


class Needs(Keys, frozen=True, kw_only=True):
    """What must be installed for the tool, and a command that tries it."""

    programs: Words = Words()
    libraries: Words = Words()
    families: Words = field(default=Words(), name="mpi")  # families of MPI that it supports; empty: all
    trial: Words = Words()  # a command that fails if the tool does not work
    home: str = ""  # environment variable with the directory where it is installed
    otherwise: str = ""  # what the user can do if something is missing


class _Tool(Keys, frozen=True, kw_only=True):
    title: str = ""  # its name in the report
    records: Literal["nothing", "profile", "trace", "samples"] = "profile"
    about: str = ""
    around: Run = field(default=Run(), name="run")
    outputs: Words = Words(["**/*"])  # patterns of the files that it writes
    counter: Counter | None = field(default=None, name="count")  # None: its events are not counted
    needs: Needs = field(default=Needs(), name="usable")


class Tool(_Tool, frozen=True, kw_only=True):
    """A tool that a study measures, as a file in `study/tools/` describes it (docs/study.md)."""

    name: str
    parameters: Mapping[str, Parameter]


def added(tool: Tool, levels: Mapping[str, str | None]) -> list[tuple[Around, str]]:
    """What the tool's parameters add at these levels or their defaults, and the level of each.

    UsageError if the tool does not know a level.
    """
    found = []
    for name, parameter in tool.parameters.items():
        level = levels.get(name)
        if level is not None or parameter.default:
            chosen = parameter.default if level is None else level
            found.append((parameter.around(chosen), chosen))
    return found


def is_slow_to_count(tool: Tool) -> bool:
    """Whether another program has to read all that the tool wrote."""
    return tool.counter is not None and tool.counter.kind == "command"


def builtin_tools() -> dict[str, Tool]:
    """The tools that tare knows, by name."""
    return {path.stem: load(path) for path in sorted(SHIPPED.glob("*.toml"))}


def load(path: Path) -> Tool:
    """The tool that a file describes. UsageError if something in it is wrong."""
    return parse(path.stem, document.read(path))


def parse(name: str, table: Table) -> Tool:
    """The tool that a table describes. UsageError if something in it is wrong."""
    found = asdict(table.take(_Tool, "parameter"))
    counter = found["counter"]
    if counter is not None and counter.kind == "command" and not (counter.command and counter.events):
        missing = "events" if counter.command else "command"
        raise table.table("count").wrong(
            missing, "is missing: a command prints numbers, a pattern finds them"
        )
    parameters = {key: _parameter(key, each) for key, each in table.table("parameter").tables()}
    return Tool(**{**found, "title": found["title"] or name}, name=name, parameters=parameters)


def _parameter(name: str, table: Table) -> Parameter:
    levels = {level: each.take(Around) for level, each in table.table("level").tables()}
    return Parameter(**asdict(table.take(_Parameter, "level")), name=name, levels=levels)


def reason_missing(tool: Tool, family: str | None = None) -> str:
    """What the tool lacks here, and what to do; empty if nothing. Starts no program."""
    missing = [name for name in tool.needs.programs if find_program(name, tool.needs.home) is None]
    missing += [name for name in tool.needs.libraries if find_library(name, tool.needs.home) is None]
    if missing:
        home = f", or set {tool.needs.home} to where it is installed" if tool.needs.home else ""
        return f"no {', '.join(missing)}: {tool.needs.otherwise or 'install it'}{home}"
    if family and tool.needs.families and family not in tool.needs.families:
        return f"does not work with {family}, only with {', '.join(tool.needs.families)}"
    return ""


def reason_unusable(tool: Tool, family: str | None = None) -> str:
    """Why the tool cannot be used here, and what to do; empty if it can. Tries the tool."""
    return reason_missing(tool, family) or _trial_failure(tool)


@cache
def _trial(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    last = (done.stderr or done.stdout).strip().splitlines()[-1:]
    return ": ".join([units.ending(done.returncode), *last]) if done.returncode else ""


def _trial_failure(tool: Tool) -> str:
    if not tool.needs.trial:
        return ""
    program = find_program(tool.needs.trial[0], tool.needs.home)
    failure = _trial((str(program), *tool.needs.trial[1:]))
    return f"`{' '.join(tool.needs.trial)}` fails: {failure}" if failure else ""


def find_program(name: str, home: str = "") -> Path | None:
    """A program in the directory `bin` of what the variable `home` names, else on the PATH;

    None if missing.
    """
    places = [Path(os.environ[home]) / "bin"] if home and home in os.environ else []
    for place in places:
        if os.access(place / name, os.X_OK):
            return place / name
    found = programs.tool(name)
    return Path(found) if found else None


def find_library(name: str, home: str = "") -> Path | None:
    """The library in the tool's own directory, in LD_LIBRARY_PATH, or where the loader looks."""
    places = [Path(os.environ[home]) / folder for folder in ("lib", "lib64")] if os.environ.get(home) else []
    places += [Path(place) for place in os.environ.get("LD_LIBRARY_PATH", "").split(":") if place]
    for place in places:
        if (place / name).is_file():
            return place / name
    return loader_cache.find(name)
