"""Runs under the referee: which of them a study makes, each of them, and what its spells tell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tare.analysis import referee
from tare.analysis.referee import Weighed
from tare.errors import CommandError
from tare.lab.study import plan, runner, toolbox
from tare.lab.study.description import Description
from tare.lab.study.plan import BY_REFEREE, Cell
from tare.lab.study.referee import spell_files
from tare.lab.study.referee import tools as tooling
from tare.lab.study.referee.spell_files import Process
from tare.lab.study.referee.tools import Weighable
from tare.lab.study.runner import Command, Outcome

NO_PROCESS = (
    "no process of this command called MPI by the referee. Is it an MPI program, linked dynamically, and not "
    "setuid?"
)


def cells(description: Description, of_runs: Sequence[Cell]) -> list[Cell]:
    """The runs under the referee that weigh the tools of these cells: as few as can have all of them.

    A run has tare in one way, and each library once.
    """
    groups: dict[Cell, list[dict[object, Cell]]] = {}
    for cell in of_runs:
        tool = description.tools[cell.level("tool")]
        if not description.workloads[cell.level("workload")].mpi or tool.name == description.baseline:
            continue
        if tooling.reason_not_weighable(tool, cell.by_factor):
            continue
        library = toolbox.SHIPPED if tool.around.before_launcher else tool.around.preload
        together = groups.setdefault(plan.without_tool(description, cell), [])
        for group in together:
            if library not in group and len(group) < tooling.MOST:
                group[library] = cell
                break
        else:
            together.append({library: cell})
    return [_cell(bare, list(group.values())) for bare, together in groups.items() for group in together]


def _cell(bare: Cell, weighed: list[Cell]) -> Cell:
    names = []
    for cell in weighed:
        own = [level for name, level in cell.levels if level is not None and bare.by_factor[name] != level]
        names.append(",".join(own))
    levels = [(name, None if name == "tool" else level) for name, level in bare.levels]
    return Cell((*levels, (BY_REFEREE, "+".join(names))), tuple(weighed))


def command(description: Description, cell: Cell, directory: Path) -> Command:
    """The command of a run of which `cells` tells."""
    bare = plan.without_tool(description, cell.weighed[0])
    around = runner.command(description, bare, directory, None)
    return tooling.command(around, _tools(description, cell, around), directory)


def _tools(description: Description, cell: Cell, bare: Command) -> list[Weighable]:
    return [
        tooling.of_tool(description.tools[each.level("tool")], each.by_factor, bare.values)
        for each in cell.weighed
    ]


def run(description: Description, cell: Cell, scratch: Path, output: Path) -> Outcome:
    """Runs a cell under the referee once, in empty `scratch` and `output`. Ctrl-C ends it."""
    spell_files.prepare(output)
    started = command(description, cell, output)
    outcome = runner.attempt(description, cell, started, scratch)
    if outcome.state != "ok":
        return outcome
    tools = _tools(description, cell, started)
    try:
        found = processes(output, tools)
    except CommandError as error:
        return replace(outcome, state="failed", message=str(error))
    weighed = {each.key: weigh([found], tools, tool) for each, tool in zip(cell.weighed, tools, strict=True)}
    return replace(outcome, weighed=weighed)


def processes(directory: Path, tools: Sequence[Weighable]) -> list[Process]:
    """What a run with these tools has left. CommandError if it is nothing that tells what one costs."""
    found = spell_files.read(directory)
    if not found:
        raise CommandError(NO_PROCESS)
    for tool, functions in zip(tooling.ordered(tools), found[0].functions, strict=True):
        if functions == spell_files.NOT_LOADED:
            raise CommandError(
                f"{tool.preload} was not loaded into the ranks; does the loader say why above?"
            )
        if functions == 0:
            raise CommandError(
                f"{tool.preload} has no function of MPI: it is no tool of MPI's profiling interface"
            )
    return found


def weigh(runs: Sequence[Sequence[Process]], tools: Sequence[Weighable], tool: Weighable) -> Weighed:
    """What one of the tools costs, by runs that had all of them."""
    why = next((reason for run in runs if (reason := _hindrance(run))), "")
    if why:
        return Weighed(0, 0, 0.0, why=why)
    spells = [[process.spells for process in run] for run in runs]
    return referee.weighed(spells, 1 + tooling.ordered(tools).index(tool), len(os.sched_getaffinity(0)))


def hook_s(runs: Sequence[Sequence[Process]], tools: Sequence[Weighable], tool: Weighable) -> float | None:
    """What the tool itself takes in MPI_Init and MPI_Finalize, in seconds: median of the runs, each of its
    slowest rank. None if it is not known."""
    from statistics import median

    number = tooling.ordered(tools).index(tool)
    of_runs = [[process.hook_ns[number] for process in run] for run in runs]
    known = [[ns for ns in run if ns is not None] for run in of_runs]
    return 1e-9 * median(map(max, known)) if known == of_runs else None


def _hindrance(run: Sequence[Process]) -> str:
    """Why the spells of a run say nothing; empty if they do."""
    flags = 0
    for process in run:
        flags |= process.flags
    if flags & spell_files.UNKNOWN_ABI:
        return "this MPI library has a binary interface that tare does not know"
    if flags & spell_files.SEVERAL_THREADS:
        return "several threads of the program call MPI"
    if len({process.host for process in run}) > 1:
        return "the ranks are on several nodes"
    if not all(process.spells for process in run):
        if any(process.hindered for process in run):
            return "requests are under way wherever a spell could begin"
        return "the program ended, or had too few calls, before the length of spells was known"
    if len(run) != run[0].ranks:
        return f"{len(run)} of {run[0].ranks} ranks have left spells"
    return ""
