"""`tare weigh`: what tools cost a program, found within its runs."""

from __future__ import annotations

import dataclasses
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
    from tare.lab.study.referee.spell_files import Process
    from tare.lab.study.referee.tools import Weighable

SCHEMA = "tare.weigh/1"
RUNS = 3
LONGEST_S = 1e6


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
    from tare.lab.study import runner
    from tare.lab.study.referee import runs as weighings
    from tare.lab.study.referee import tools as tooling
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
    outcomes = [weighings.weigh(processes, tools, each) for each in tools]
    hooks = [weighings.hook_s(processes, tools, each) for each in tools]
    if json:
        content = {
            "command": command,
            "runs": runs,
            "ranks": processes[0][0].ranks,
            "tools": [
                {"tool": name, "title": each.title, "hook_s": hook} | dataclasses.asdict(outcome)
                for name, each, outcome, hook in zip(tool, tools, outcomes, hooks, strict=True)
            ],
        }
        print_json(SCHEMA, None, content)
    else:
        _show(tools, outcomes, hooks, runs)
    return 0


def _run(command: Sequence[str], tools: Sequence[Weighable], *, quiet: bool) -> list[Process]:
    from tare.lab.study import runner
    from tare.lab.study.referee import runs as weighings
    from tare.lab.study.referee import spell_files
    from tare.lab.study.referee import tools as tooling

    with tempfile.TemporaryDirectory(prefix="tare-weigh-") as name:
        directory = Path(name)
        spell_files.prepare(directory)
        started = tooling.command(tooling.as_given(command), tools, directory)
        _, exit_code = runner.execute(started, sys.stderr if quiet else None, None, LONGEST_S)
        if exit_code:
            raise CommandError(
                f"the command failed ({units.ending(exit_code)}); nothing is weighed", abs(exit_code)
            )
        return weighings.processes(directory, tools)


def _show(
    tools: Sequence[Weighable], outcomes: Sequence[Weighed], hooks: Sequence[float | None], runs: int
) -> None:
    from tare.reporters import terminal
    from tare.reporters.console import console
    from tare.reporters.sheet import Heading, Sheet

    titles = ("Tool", "Net overhead", "95 % interval", "Hook", "Spells with it", "Without")
    shown = Sheet([Heading(title, text=place < 3) for place, title in enumerate(titles)])
    missing = []
    for tool, found, hook_s in zip(tools, outcomes, hooks, strict=True):
        hook = units.NOTHING if hook_s is None else units.duration(1e9 * hook_s)
        if found.overhead is None or found.low is None or found.high is None:
            missing.append(f"{tool.title}: not determined: {found.why}")
            continue
        interval = f"{100 * found.low:.1f} .. {100 * found.high:.1f} %"
        overhead = units.percent(found.overhead)
        shown.rows.append(
            [tool.title, overhead, interval, hook, f"{found.spells:,}", f"{found.bare_spells:,}"]
        )
    out = console(cut=True)
    if shown.rows:
        terminal.show_sheet_with_text(out, shown)
    for line in missing:
        out.paragraph(line)
    if shown.rows:
        out.line(f"from {units.number_of(runs, 'run')}; docs/referee.md says what these numbers include")
