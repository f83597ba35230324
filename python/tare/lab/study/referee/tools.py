"""The tools that are weighed, and the command that puts them and the referee around a program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tare import programs
from tare.errors import UsageError
from tare.lab.study import placeholders, runner, toolbox
from tare.lab.study.runner import TIMING_EXEC, Command
from tare.lab.study.toolbox import Tool
from tare.measuring import library

REFEREE = "libtare-referee.so"
MOST = 8
# A tool of the caller must not measure the program.
NOT_INHERITED = (*runner.NOT_INHERITED, "TARE_REFEREE", "TARE_REFEREE_TOOLS")

Levels = Mapping[str, str | None]  # of the parameters of a tool, and of other factors


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
        why = reason_not_weighable(known, {}) or toolbox.reason_missing(known)
        if why:
            raise UsageError(f"--tool {name}: {why}")
        return of_tool(known, {}, _values())
    path = Path(name).absolute() if "/" in name else toolbox.find_library(name)
    if path is None or not path.is_file():
        raise UsageError(
            f"--tool {name}: neither a tool of `tare study tools` nor a library that can be preloaded"
        )
    _check_preloadable(path)
    return Weighable(path.name, path)


def reason_not_weighable(tool: Tool, levels: Levels) -> str:
    """Why the referee cannot weigh a tool of `tare study` at these levels; empty if it can."""
    added = [around for around, _ in toolbox.added(tool, levels)]
    before_program = [word for each in (tool.around, *added) for word in each.before_program]
    if before_program:
        return (
            f"{before_program[0]} is put before the program, where the referee "
            "cannot be put above it; give the file of its library instead, and set what it needs"
        )
    if tool.around.before_launcher:
        is_trial = any("--weigh" in around.before_launcher for around in added)
        return "--weigh has spells of its own, in which nothing is measured" if is_trial else ""
    if len(tool.around.preload) + sum(len(each.preload) for each in added) != 1:
        return "not one library is preloaded that could be weighed"
    return ""


def of_tool(tool: Tool, levels: Levels, values: Mapping[str, str]) -> Weighable:
    """A tool of `tare study` at these levels. `values`: of the placeholders in its description."""
    environment: dict[str, str] = dict(tool.around.environment)
    words = list(tool.around.before_launcher)
    preload = list(tool.around.preload)
    for around, level in toolbox.added(tool, levels):
        words += [word.replace("{value}", level) for word in around.before_launcher]
        preload += [name.replace("{value}", level) for name in around.preload]
        environment |= {name: value.replace("{value}", level) for name, value in around.environment.items()}
    if words:
        forwards = "--forward" in words
        found = library.find(library.FORWARDING if forwards else library.MEASURING)
        return Weighable(tool.title, found, (*words, *tool.around.options_end), environment)
    (name,) = placeholders.fill_all(preload, values, f"tool {tool.name}")
    path = Path(runner.preloaded(name, tool.needs.home))
    _check_preloadable(path)
    return Weighable(tool.title, path, environment=environment)


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


def as_given(words: Sequence[str]) -> Command:
    """A command of the user, without tools."""
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return Command(list(words), environment, _values())


def _values() -> dict[str, str]:
    return {
        "tare": str(programs.own_command()),
        "libraries": str(library.find(library.MEASURING).parent),
    }


def command(bare: Command, tools: Sequence[Weighable], directory: Path) -> Command:
    """A command with the tools and the referee around it; they write below `directory`."""
    values = bare.values | {"output": str(directory)}
    environment = dict(bare.environment)
    environment["TARE_REFEREE"] = environment["TARE_RUN_DIR"] = str(directory)
    environment["TARE_REFEREE_TOOLS"] = ":".join(str(tool.preload) for tool in ordered(tools))
    outer: list[str] = []
    for tool in tools:
        where = f"tool {tool.title}"
        outer += placeholders.fill_all(tool.before_launcher, values, where)
        environment |= {
            name: placeholders.fill(value, values, where) for name, value in tool.environment.items()
        }
    below = (tool.preload for tool in ordered(tools) if not tool.before_launcher)
    inner = [str(library.find(TIMING_EXEC)), ":".join(map(str, (library.find(REFEREE), *below)))]
    return Command([*outer, *inner, *bare.words], environment, values)


def ordered(tools: Sequence[Weighable]) -> list[Weighable]:
    """The tools in the order of the numbers by which spells name them, from 1 on.

    tare comes last: below it, it would find the functions of the others.
    """
    return sorted(tools, key=lambda tool: bool(tool.before_launcher))
