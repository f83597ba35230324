"""`tare weigh`: what tools cost a program, found within its runs."""

from __future__ import annotations

import dataclasses
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import streams, units
from tare.commands import Json, print_json
from tare.errors import CommandError, UsageError
from tare.options import Argument, Option

if TYPE_CHECKING:
    from tare.analysis.referee import Weighed
    from tare.lab.referee.spell_files import Process
    from tare.lab.referee.tools import Weighable

SCHEMA = "tare.weigh/1"
RUNS = 3
LONGEST_S = 1e6
NO_PROCESS = (
    "no process of this command called MPI by the referee. Is it an MPI program, linked dynamically, and not "
    "setuid?"
)


def weigh(
    command: Annotated[
        list[str], Argument(metavar="COMMAND", help="The command, as you would start it.", rest=True)
    ],
    tool: Annotated[
        list[str] | None,
        Option(
            "--tool",
            metavar="TOOL",
            help="A tool of tare study tools, or the file of a library that is preloaded (may be repeated: "
            "the tools are then compared on the same work).",
        ),
    ] = None,
    runs: Annotated[
        int, Option(min=1, max=1000, metavar="N", help="Run the command N times. More runs tell more.")
    ] = RUNS,
    json: Json = False,
) -> int:
    """Find what tools of MPI cost a program, tare or any other.

    The program runs under the tool, but for spells of a few milliseconds its calls go past it. The result is
    how much longer the program takes with the tool, with its interval (docs/referee.md).

    Example: tare weigh --tool libmpiP.so --tool tare -- mpiexec -n 4 ./app
    """
    from tare.lab.referee import tools as tooling
    from tare.lab.study import runner
    from tare.measuring import launch

    if not tool:
        raise UsageError("--tool TOOL says what is to be weighed, like --tool tare or --tool ./libmpiP.so")
    tools = [tooling.weighable(name) for name in tool]
    tooling.check_together(tools)
    launch.check_startable(command)
    runner.end_at_sigterm()
    processes = []
    for number in range(runs):
        streams.progress(f"run {number + 1} of {runs}" if sys.stderr.isatty() else "")
        processes.append(_run(command, tools, quiet=json))
    streams.progress("")
    outcomes = [_outcome(processes, tools, each) for each in tools]
    if json:
        content = {
            "command": command,
            "runs": runs,
            "ranks": processes[0][0].ranks,
            "tools": [
                {"tool": name, "title": each.title} | dataclasses.asdict(outcome)
                for name, each, outcome in zip(tool, tools, outcomes, strict=True)
            ],
        }
        print_json(SCHEMA, None, content)
    else:
        _show(tools, outcomes, runs)
    return 0


def _run(command: Sequence[str], tools: Sequence[Weighable], *, quiet: bool) -> list[Process]:
    from tare.lab.referee import spell_files
    from tare.lab.referee import tools as tooling
    from tare.lab.study import runner

    with tempfile.TemporaryDirectory(prefix="tare-weigh-") as name:
        directory = Path(name)
        spell_files.prepare(directory)
        started = tooling.command(command, tools, directory)
        _, exit_code = runner.execute(started, sys.stderr if quiet else None, None, LONGEST_S)
        if exit_code:
            raise CommandError(
                f"the command failed (exit code {exit_code}); nothing is weighed", abs(exit_code)
            )
        found = spell_files.read(directory)
    if not found:
        raise CommandError(NO_PROCESS)
    for place, tool in enumerate(sorted(tools, key=lambda each: bool(each.before_launcher))):
        functions = found[0].functions[place]
        if functions == spell_files.NOT_LOADED:
            raise CommandError(
                f"{tool.preload} was not loaded into the ranks; does the loader say why above?"
            )
        if functions == 0:
            raise CommandError(
                f"{tool.preload} has no function of MPI: it is no tool of MPI's profiling interface"
            )
    return found


def _outcome(runs: Sequence[Sequence[Process]], tools: Sequence[Weighable], tool: Weighable) -> Weighed:
    from tare.analysis import referee
    from tare.lab.referee.tools import route

    why = next((reason for run in runs if (reason := _hindrance(run))), "")
    if why:
        return referee.Weighed(0, 0, 0.0, why=why)
    spells = [[process.spells for process in run] for run in runs]
    return referee.weighed(spells, route(tools, tool), len(os.sched_getaffinity(0)))


def _hindrance(run: Sequence[Process]) -> str:
    """Why the spells of a run say nothing; empty if they do."""
    from tare.lab.referee import spell_files

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


def _show(tools: Sequence[Weighable], outcomes: Sequence[Weighed], runs: int) -> None:
    from tare.reporters import terminal
    from tare.reporters.console import console
    from tare.reporters.sheet import Heading, Sheet

    titles = ("Tool", "Net overhead", "95 % interval", "Spells with it", "Without")
    shown = Sheet([Heading(title, text=place < 3) for place, title in enumerate(titles)])
    missing = []
    for tool, found in zip(tools, outcomes, strict=True):
        if found.overhead is None or found.low is None or found.high is None:
            missing.append(f"{tool.title}: not determined: {found.why}")
            continue
        interval = f"{100 * found.low:.1f} .. {100 * found.high:.1f} %"
        overhead = units.percent(found.overhead)
        shown.rows.append([tool.title, overhead, interval, f"{found.spells:,}", f"{found.bare_spells:,}"])
    out = console(cut=True)
    if shown.rows:
        terminal.show_sheet_with_text(out, shown)
    for line in missing:
        out.paragraph(line)
    if shown.rows:
        out.line(f"from {units.number_of(runs, 'run')}; docs/referee.md says what these numbers include")
