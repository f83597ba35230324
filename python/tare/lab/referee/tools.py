"""The tools that are weighed, and the command that puts them and the referee around a program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tare import programs
from tare.errors import UsageError
from tare.lab.study import placeholders, toolbox
from tare.lab.study.runner import TIMING_EXEC, Command
from tare.measuring import library

REFEREE = "libtare-referee.so"
MOST = 8
# A tool of the caller must not measure the program.
NOT_INHERITED = ("LD_PRELOAD", "TARE_TIMING", "TARE_REFEREE", "TARE_REFEREE_TOOLS")


@dataclass(frozen=True)
class Weighable:
    """A tool as the referee takes it."""

    title: str
    preload: Path  # the library with its functions of MPI
    before_launcher: tuple[str, ...] = ()  # words of a tool that preloads itself: tare
    environment: Mapping[str, str] = field(default_factory=dict)


def weighable(name: str) -> Weighable:
    """The tool of this name, or of this library. UsageError if there is none, or if it cannot be weighed."""
    known = toolbox.builtin_tools().get(name)
    if known is not None:
        return _named(known)
    path = Path(name).absolute() if "/" in name else toolbox.find_library(name)
    if path is None or not path.is_file():
        raise UsageError(
            f"--tool {name}: neither a tool of `tare study tools` nor a library that can be preloaded"
        )
    _check_preloadable(path)
    return Weighable(path.name, path)


def _named(tool: toolbox.Tool) -> Weighable:
    around = tool.around
    if around.before_program:
        raise UsageError(
            f"--tool {tool.name}: {around.before_program[0]} is put before the program, where the referee "
            "cannot be put above it; give the file of its library instead, and set what it needs"
        )
    why = toolbox.reason_missing(tool)
    if why:
        raise UsageError(f"--tool {tool.name}: {why}")
    environment = dict(around.environment)
    if around.before_launcher:
        words = list(around.before_launcher)
        for parameter in tool.parameters.values():
            if parameter.default:
                chosen = parameter.around(parameter.default)
                words += [word.replace("{value}", parameter.default) for word in chosen.before_launcher]
        forwards = "--forward" in words
        preload = library.find(library.FORWARDING if forwards else library.MEASURING)
        return Weighable(tool.title, preload, (*words, *around.options_end), environment)
    if len(around.preload) != 1:
        raise UsageError(f"--tool {tool.name}: nothing is preloaded that could be weighed")
    found = toolbox.find_library(around.preload[0], tool.needs.home)
    assert found is not None  # otherwise it would be missing
    _check_preloadable(found)
    return Weighable(tool.title, found, environment=environment)


def _check_preloadable(path: Path) -> None:
    if any(character in str(path) for character in " :\t"):
        raise UsageError(
            f"{path}: the loader splits LD_PRELOAD at spaces and colons; copy or link it elsewhere"
        )


def check_together(tools: Sequence[Weighable]) -> None:
    """UsageError if the tools cannot be weighed in one run."""
    if len(tools) > MOST:
        raise UsageError(f"--tool: at most {MOST} tools in one run")
    if sum(bool(tool.before_launcher) for tool in tools) > 1:
        raise UsageError("--tool: tare measures in one way at a time; weigh its modes one after another")
    if len({tool.preload for tool in tools}) < len(tools):
        raise UsageError("--tool: the same library twice")


def command(words: Sequence[str], tools: Sequence[Weighable], directory: Path) -> Command:
    """The command with the tools and the referee around it; they write below `directory`."""
    values = {
        "output": str(directory),
        "tare": str(programs.installed("tare")),
        "libraries": str(library.find(library.MEASURING).parent),
    }
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    environment["TARE_REFEREE"] = environment["TARE_RUN_DIR"] = str(directory)
    # tare comes last: below it, it would find the functions of the others.
    ordered = sorted(tools, key=lambda tool: bool(tool.before_launcher))
    environment["TARE_REFEREE_TOOLS"] = ":".join(str(tool.preload) for tool in ordered)
    outer: list[str] = []
    for tool in tools:
        where = f"tool {tool.title}"
        outer += placeholders.fill_all(tool.before_launcher, values, where)
        environment |= {
            name: placeholders.fill(value, values, where) for name, value in tool.environment.items()
        }
    above = [library.find(REFEREE), *(tool.preload for tool in ordered if not tool.before_launcher)]
    inner = [str(library.find(TIMING_EXEC)), ":".join(map(str, above))]
    return Command([*outer, *inner, *words], environment, values)


def route(tools: Sequence[Weighable], tool: Weighable) -> int:
    """The number by which the spells name a tool."""
    ordered = sorted(tools, key=lambda each: bool(each.before_launcher))
    return 1 + ordered.index(tool)
