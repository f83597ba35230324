"""`tare study`: overhead experiments on any tool, program and MPI."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import streams, units
from tare.commands import finite, print_json, write_text
from tare.errors import INTERRUPTED, CommandError, UsageError
from tare.lab.study.limits import MOST_BLOCKS, MOST_NODES, MOST_RANKS
from tare.options import Argument, Group, Option
from tare.page import OtherPage

if TYPE_CHECKING:
    from tare.lab.study.assembly import Report
    from tare.lab.study.description import Description
    from tare.lab.study.plan import Planned
    from tare.lab.study.runner import Outcome
    from tare.lab.study.session import Ended, Progress

File = Annotated[Path, Argument(metavar="STUDY.toml", help="The description of the study.")]
Where = Annotated[
    Path | None,
    Option(
        "-o",
        "--output",
        metavar="DIR",
        help="Directory of the results. By default STUDY-results, beside STUDY.toml.",
    ),
]


def results_of(file: Path, output: Path | None) -> Path:
    """The results of a description, or the directory itself if that was given."""
    if output is not None:
        return output
    return file if file.is_dir() else file.with_name(f"{file.stem}-results")


def init(
    file: Annotated[Path, Argument(metavar="STUDY.toml", help="The file to write. It must be new.")],
) -> None:
    """Write a commented example of a study.

    Example: tare study init mine.toml
    """
    from tare.lab import study as package

    if file.exists():
        raise UsageError(f"{file} exists; choose another name")
    write_text(file, (Path(package.__path__[0]) / "template.toml").read_text("utf-8"))
    streams.say(f"{file}: describe in it what to run, then: tare study run {file}")


def run(
    file: File,
    output: Where = None,
    resume: Annotated[bool, Option("--resume", help="Make only the runs that earlier results lack.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Print the runs, and start nothing.")] = False,
    until: Annotated[
        str | None, Option(metavar="SHARE", help="Repeat until overheads are known to ± SHARE, like 0.5%.")
    ] = None,
    repetitions: Annotated[
        int | None, Option(min=1, max=MOST_BLOCKS, help="Repeat N times, whatever the study says.")
    ] = None,
    only: Annotated[
        list[str] | None,
        Option(metavar="FACTOR=LEVEL,...", help="Make only runs with these levels (may be repeated)."),
    ] = None,
    set_name: Annotated[
        str, Option("--set", metavar="NAME", help="Record the runs as the set of this name.")
    ] = "1",
    skip_unusable: Annotated[
        bool, Option("--skip-unusable", help="Leave out tools that do not work on this machine.")
    ] = False,
) -> int:
    """Make the runs of a study.

    The results go into a DuckDB file (docs/study.md). Ctrl-C stops the study, and keeps what is done;
    --resume continues it.

    Example: tare study run mine.toml --until 1%
    """
    from msgspec.structs import replace

    from tare.lab.study import analysis, document, plan, session
    from tare.lab.study import description as descriptions

    wished = document.parse_fraction(until) if until is not None else None
    if until is not None and not wished:
        raise UsageError(f"--until {until}: must be a share like 0.5% or 0.005")
    described = descriptions.narrowed(descriptions.read(file), only or ())
    if repetitions is not None:
        described = replace(described, repetitions=repetitions)
    if wished is None:
        plan.check_number(described)
    else:
        analysis.check_overheads_to_know(described)
    if dry_run:
        _show_plan(described, skip_unusable)
        return 0
    directory = results_of(file, output)
    options = session.SessionOptions(set_name, resume, wished, skip_unusable)
    ended = session.run(described, directory, options, _progress, streams.tell)
    return _conclude(ended, file, output, directory)


def report(
    file: File,
    output: Where = None,
    page: Annotated[Path | None, Option("--page", metavar="FILE.html", help="The page to write.")] = None,
    set_name: Annotated[
        str | None, Option("--set", metavar="NAME", help="Report this set. By default the newest.")
    ] = None,
    details: Annotated[bool, Option("--details", help="Print the long tables too.")] = False,
    json: Annotated[bool, Option("--json", help="Print JSON (docs/json.md), and write no page.")] = False,
) -> None:
    """Print the results of a study, and write them as one page with figures.

    Example: tare study report mine.toml --page overheads.html
    """
    from tare.lab.study import assembly
    from tare.reporters.console import console

    directory = results_of(file, output)
    found = assembly.report(file, directory, set_name, with_figures=not json)
    if json:
        from tare.lab.study.sections import as_json

        content = {
            "title": found.analysis.description.title,
            "set": found.analysis.set_name,
            "warnings": found.warnings,
            "sections": as_json(found.sections),
        }
        print_json("tare.study/1", directory, content)
        return
    path = _write(found, directory, page)
    assembly.print_sections(console(), found.sections, details=details)
    streams.tell(f"page with figures: {path}")


def _write(found: Report, directory: Path, to: Path | None) -> Path:
    """Writes the report, by default to report.html beside the results; returns the path."""
    from tare.commands import write_text
    from tare.lab.study import page

    path = to or directory / "report.html"
    write_text(path, page.page(found, path), named=to is not None)
    for warning in found.warnings:
        streams.tell(f"warning: {warning}")
    return path


def _is_study(path: Path) -> bool:
    """Whether a path is the file of a study, or the directory of its results."""
    if not path.is_dir():
        return path.suffix == ".toml" and path.is_file()
    from tare.lab.study.store import FILE

    return (path / FILE).is_file()


def _write_page(path: Path, output: Path | None) -> Path:
    from tare.lab.study import assembly

    directory = results_of(path, None)
    return _write(assembly.report(path, directory, None, with_figures=True), directory, output)


PAGE = OtherPage(_is_study, _write_page)


def model(
    file: File,
    output: Where = None,
    servers: Annotated[
        int, Option(min=1, max=MOST_NODES, help="Number of servers of the file system.")
    ] = 500,
    server_rate: Annotated[
        float, Option(parser=finite, min=0.001, help="What one server writes, in GB/s.")
    ] = 5.0,
    creates: Annotated[
        float, Option(parser=finite, min=1, help="Files that the file system creates in a second.")
    ] = 50_000,
    switch_cost: Annotated[
        float,
        Option(
            parser=finite, min=0, help="Share of the rate that is lost when a server switches between files."
        ),
    ] = 0.15,
    ranks_per_node: Annotated[int, Option(min=1, max=MOST_RANKS, help="Number of ranks on a node.")] = 64,
) -> None:
    """Predict what writing traces costs with up to a million ranks.

    The cost of a flush is fitted to the flushes of the study. The file system is as the options say.
    docs/study.md describes the model.

    Example: tare study model mine.toml --servers 100 --server-rate 2
    """
    from tare.lab.study import assembly, extrapolation, frames
    from tare.lab.study.model import FileSystem
    from tare.lab.study.store import Store
    from tare.reporters.console import console

    system = FileSystem(servers, server_rate * 1e9, creates, switch_cost, ranks_per_node)
    with Store(results_of(file, output)) as store:
        section = extrapolation.section(store, frames.newest_set(store), system)
    assembly.print_sections(console(), [section])


def tools() -> None:
    """List the known tools, which of them work on this machine, and why the others do not.

    Example: tare study tools
    """
    from tare.lab.study import toolbox
    from tare.reporters import terminal
    from tare.reporters.console import console
    from tare.reporters.sheet import Heading, Sheet

    titles = ("Tool", "Records", "Usable", "What it is, or why not and what to do")
    shown = Sheet([Heading(title, text=True) for title in titles])
    for name, tool in toolbox.builtin_tools().items():
        why = toolbox.reason_unusable(tool)
        about = "; ".join(part for part in (tool.title, tool.about) if part)
        text = f"{tool.title}: {why}" if why else about
        shown.rows.append([name, tool.records, "no" if why else "yes", text])
    terminal.show_sheet_with_text(console(cut=True), shown)


def export(
    file: File,
    to: Annotated[str, Option(metavar="parquet|csv", help="The format of the files.")],
    into: Annotated[Path, Option(metavar="DIR", help="The directory to write to, one file for each table.")],
    output: Where = None,
) -> None:
    """Write the tables of a study's results as Parquet or CSV.

    Example: tare study export mine.toml --to parquet --into mine-tables
    """
    from tare.lab.study.store import Store

    if to not in ("parquet", "csv"):
        raise UsageError(f"--to {to}: must be parquet or csv")
    with Store(results_of(file, output), exports_to=into.resolve()) as store:
        for path in store.export(into, to):
            streams.say(f"{path}: {units.size(path.stat().st_size)}")


def join(
    file: File,
    other: Annotated[Path, Argument(metavar="RESULTS", help="The directory of the results to take over.")],
    as_set: Annotated[str, Option("--as", metavar="NAME", help="The set that they become.")],
    output: Where = None,
    set_name: Annotated[
        str | None, Option("--set", metavar="NAME", help="Their set. By default their newest.")
    ] = None,
) -> None:
    """Take over results of the same study from another machine, as a set.

    The report then compares the sets, and has the system as a factor in the analysis of variance.

    Example: tare study join mine.toml there/mine-results --as there
    """
    from tare.lab.study import frames
    from tare.lab.study.store import Store

    directory = results_of(file, output)
    with Store(directory) as store:
        own = frames.newest_set(store)
    with Store(directory, create=True, other=other) as store:
        chosen, runs = store.join(set_name, as_set)
    where = f" -o {output}" if output else ""
    streams.tell(f"{runs} runs of set '{chosen}' are the set '{as_set}' of {directory}")
    streams.tell(f"next: tare study report {file}{where} --set {shlex.quote(own)}")


def _show_plan(described: Description, skip_unusable: bool) -> None:
    """Commands are whole, so that they can be tried. Nothing is started: not even to see what is usable."""
    from tare.lab.study import plan, runner, session, toolbox
    from tare.lab.study.referee import runs as weighings

    cells, left_out = session.usable_cells(described, skip_unusable, toolbox.reason_missing)
    for line in left_out:
        streams.tell(line)
    cells += weighings.cells(described, cells) if described.referee else []
    for cell in cells:
        if cell.weighed:
            words = weighings.command(described, cell, Path("OUTPUT")).words
        else:
            words = runner.command(described, cell, Path("OUTPUT"), None).words
        streams.say(cell.key)
        streams.say(f"    {shlex.join(words)}")
    blocks = described.repetitions + len(plan.warmup_blocks(described))
    streams.say(
        f"{units.number_of(len(cells), 'run')} a block, {units.number_of(blocks, 'block')} "
        f"({described.warmup} of them to warm up)"
    )


def _progress(planned: Planned, outcome: Outcome, progress: Progress, left: list[Planned]) -> None:
    if outcome.state != "ok":
        streams.progress("")
        streams.tell(f"{outcome.state}: {planned.cell.key}: {outcome.message}")
    elif outcome.counts.trouble:
        streams.progress("")
        streams.tell(f"incomplete: {planned.cell.key}: {outcome.counts.trouble}")
    remaining = progress.remaining_s(left)
    ends = time.strftime("%H:%M", time.localtime(time.time() + (remaining or 0)))
    text = (
        f"{progress.done} of {units.number_of(progress.runs, 'run')}, "
        f"{units.duration((remaining or 0) * 1e9)} to go (until {ends}); "
        f"last {units.duration(outcome.wall_s * 1e9)}: {planned.cell.key}"
    )
    if sys.stderr.isatty():
        streams.progress(text)
    elif progress.done % 20 == 0 or not left:
        streams.tell(text)


def _conclude(ended: Ended, file: Path, output: Path | None, directory: Path) -> int:
    streams.progress("")
    where = f" -o {output}" if output else ""
    lost = f"; the harness took {units.percent(ended.lost_share)}" if ended.lost_share is not None else ""
    streams.tell(
        f"{units.number_of(ended.runs, 'run')} made, {ended.failed} failed{lost}; results in {directory}"
    )
    if ended.interrupted:
        streams.tell(f"tare: interrupted; go on with: tare study run {file}{where} --resume")
        return INTERRUPTED
    if ended.unmatched:
        for line in ended.unmatched:
            streams.tell(f"nothing matches {line}")
        many = len(ended.unmatched) > 1
        what = f"{len(ended.unmatched)} pattern{'s' if many else ''} of {file}"
        raise CommandError(
            f"{what} found nothing in the first run of each kind, so no more were made: "
            f"correct {'them' if many else 'it'}, then: "
            f"tare study run {file}{where} --resume"
        )
    if ended.reached is False:
        streams.tell("the precision that --until asks for is not reached within most_repetitions")
    if ended.failed and ended.failed == ended.runs:
        raise CommandError("every run failed")
    streams.tell(f"next: tare study report {file}{where}")
    return 0


study = Group(
    "Measure the overhead of tools on your programs, and its causes.\n\nExample: tare study init mine.toml",
    init,
    run,
    report,
    join,
    model,
    tools,
    export,
)
