"""Tools as data: how each is put around a program, what it writes, and whether it is usable here."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tare import loader_cache, programs
from tare.errors import UsageError
from tare.lab.study import document, placeholders
from tare.lab.study.document import Table

SHIPPED = Path(__file__).parent / "tools"
RECORDS = ("nothing", "profile", "trace", "samples")
COUNTERS = ("tare", "command")


@dataclass(frozen=True)
class Around:
    """What is added to the command of a program. Words and values may have placeholders."""

    before_launcher: tuple[str, ...] = ()  # words before the launcher
    before_program: tuple[str, ...] = ()  # words between the launcher and the program
    preload: tuple[str, ...] = ()  # libraries to preload into the program
    environment: Mapping[str, str] = field(default_factory=dict)
    options_end: tuple[str, ...] = ()  # words between options that parameters add, and the launcher

    def texts(self) -> list[str]:
        """All of its words and values, which may hold placeholders."""
        words = (*self.before_launcher, *self.options_end, *self.before_program, *self.preload)
        return [*words, *self.environment.values()]


@dataclass(frozen=True)
class Parameter:
    """A factor that the tool knows, and what each level adds to the command."""

    name: str
    default: str  # the level if the study does not have the factor
    any_level: Around | None  # for any level, with the placeholder {value}
    levels: Mapping[str, Around]

    def around(self, level: str) -> Around:
        """What a level adds. UsageError if the tool does not know the level."""
        if level in self.levels:
            return self.levels[level]
        if self.any_level is not None:
            return self.any_level
        raise UsageError(f"'{level}' is not a level of {self.name}; known: {', '.join(self.levels)}")


@dataclass(frozen=True)
class Counter:
    """How the events of a run are counted."""

    kind: str  # by the reader of tare, or by a command
    command: tuple[str, ...] = ()  # its output contains the numbers
    events: re.Pattern[str] | None = None  # finds them; with a group `rank`, one for each rank


@dataclass(frozen=True)
class Needs:
    """What must be installed for the tool, and a command that tries it."""

    programs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    families: tuple[str, ...] = ()  # families of MPI libraries that it supports; empty: all
    trial: tuple[str, ...] = ()  # a command that fails if the tool does not work
    home: str = ""  # environment variable with the directory where it is installed
    otherwise: str = ""  # what the user can do if something is missing


@dataclass(frozen=True)
class Tool:
    """A tool that a study measures, as a file in `study/tools/` describes it (docs/study.md)."""

    name: str
    title: str  # its name in the report
    records: str  # nothing, profile, trace or samples
    about: str
    around: Around
    parameters: Mapping[str, Parameter]
    outputs: tuple[str, ...]  # patterns of the files that it writes
    counter: Counter | None  # None: its events are not counted
    needs: Needs
    above_program: (
        bool  # whether the timing library may be preloaded by tare-timing, directly before the program
    )


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
    run, usable, count = table.table("run"), table.table("usable"), table.table("count")
    parameters = {key: _parameter(key, each) for key, each in table.table("parameter").tables()}
    tool = Tool(
        name=name,
        title=table.value("title", str, name),
        records=_one_of(table, "records", RECORDS, "profile"),
        about=table.value("about", str, ""),
        around=_around(run),
        parameters=parameters,
        outputs=tuple(table.words("outputs")) or ("**/*",),
        counter=_counter(count) if "count" in table else None,
        needs=Needs(
            programs=tuple(usable.words("programs")),
            libraries=tuple(usable.words("libraries")),
            families=tuple(usable.words("mpi")),
            trial=tuple(usable.words("trial")),
            home=usable.value("home", str, ""),
            otherwise=usable.value("otherwise", str, ""),
        ),
        above_program=run.value("timing_before_program", bool, True),
    )
    for each in (run, usable, count, table):
        each.finish()
    return tool


def _around(table: Table) -> Around:
    return Around(
        tuple(table.words("before_launcher")),
        tuple(table.words("before_program")),
        tuple(table.words("preload")),
        table.texts("environment"),
        tuple(table.words("options_end")),
    )


def _parameter(name: str, table: Table) -> Parameter:
    default = document.label(table.raw("default") if table.raw("default") is not None else "")
    level_tables = table.table("level")
    levels = {}
    for level, each in level_tables.tables():
        levels[level] = _around(each)
        each.finish()
    own = _around(table)
    table.finish()
    return Parameter(name, default, own if own.texts() else None, levels)


def _counter(table: Table) -> Counter:
    kind = _one_of(table, "with", COUNTERS, "command")
    if kind == "tare":
        return Counter(kind)
    if not table.words("command"):
        raise table.wrong("command", "is missing: a command that prints the number of events")
    return Counter(kind, tuple(table.words("command")), table.pattern("events", also="rank"))


def _one_of(table: Table, key: str, allowed: tuple[str, ...], default: str) -> str:
    found = table.value(key, str, default)
    if found not in allowed:
        raise table.wrong(key, f"must be one of {', '.join(allowed)}")
    return found


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
    return f"exit code {done.returncode}: {' '.join(last)}" if done.returncode else ""


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


def used_names(tool: Tool) -> set[str]:
    """The placeholders that the tool's own words hold."""
    return placeholders.names(tool.around.texts()) | set(tool.parameters)
