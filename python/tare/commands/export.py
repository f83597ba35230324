"""`tare export`: a run as other tools read it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import streams, units
from tare.commands import AnyMember, OnlyRanks, RunDirectory, ShownTimes, choice, new_output, seconds
from tare.commands.reading import conclude, open_readable
from tare.errors import CommandError, UsageError
from tare.options import Option
from tare.runs.archive import refuse_existing
from tare.runs.retiming import Times
from tare.runs.run import Run
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Exported


class Format(StrEnum):
    """What reads it is in docs/export.md."""

    CSV = "csv"
    FOLDED = "folded"
    OTF2 = "otf2"
    PAJE = "paje"
    PARQUET = "parquet"
    PERFETTO = "perfetto"
    SPEEDSCOPE = "speedscope"
    SVG = "svg"


# Of the files and directories, where -o names none.
SUFFIXES = {
    Format.CSV: ".csv",
    Format.FOLDED: ".folded",
    Format.OTF2: ".otf2",
    Format.PAJE: ".trace",
    Format.PARQUET: ".parquet",
    Format.PERFETTO: ".perfetto-trace",
    Format.SPEEDSCOPE: ".speedscope.json",
    Format.SVG: ".svg",
}


def export(
    run: RunDirectory,
    to: Annotated[Format, Option("--to", help="The format.")],
    output: Annotated[
        Path | None,
        new_output("OUT", "What to write; must be new. By default beside the run, and named after it."),
    ] = None,
    rank: OnlyRanks = None,
    start: Annotated[
        float | None,
        Option("--from", parser=seconds, metavar="SECONDS", help="From so long after the start of the run."),
    ] = None,
    end: Annotated[
        float | None,
        Option("--to-time", parser=seconds, metavar="SECONDS", help="To so long after the start of the run."),
    ] = None,
    event: Annotated[
        str | None,
        Option(
            metavar="NAME",
            show_default=False,
            help="Of --to svg: the function, region or phase. By default the function with most time.",
        ),
    ] = None,
    times: ShownTimes = Times.RECORDED,
    member: AnyMember = None,
) -> None:
    """Write a run in a format of other tools (docs/export.md).

    Example: tare export app-20260131-120000 --to perfetto
    """
    if start is not None and end is not None and start > end:
        raise UsageError(f"--from {start:g} is later than --to-time {end:g}")
    if event is not None and to is not Format.SVG:
        raise UsageError("--event names what --to svg shows: leave it out, or write --to svg")
    made = output or _beside(run, member, SUFFIXES[to])
    refuse_existing(made)
    if to in (Format.CSV, Format.PARQUET):
        _refuse_parts(to, rank, start, end)
        _export_tables(run, member, times, to, made)
        return
    if to is Format.SVG:
        _refuse_parts(to, rank, start, end)
        _draw_rounds(open_readable(run, member), event, made)
        return
    recording = open_readable(run, member, times=times)
    choice.check_ranks(recording, rank)
    if to in (Format.FOLDED, Format.SPEEDSCOPE):
        _refuse_parts(to, None, start, end)
        _say_made(made, f"{_export_profile(recording, to, made, rank):,} call paths")
    else:
        check_trace(recording)
        done = recording.export_trace(to, made, rank or None, _at(recording, start), _at(recording, end))
        tell_what_lacks(done)
        _say_made(made, units.number_of(done["events"], "event"))
    conclude(recording)


def _say_made(made: Path, what: str) -> None:
    streams.say(f"{made}: {what}, {units.size(_bytes_of(made))}")


def _refuse_parts(to: Format, rank: list[int] | None, start: float | None, end: float | None) -> None:
    if rank:
        hint = "" if to is Format.SVG else ": select the rank from the tables"
        raise UsageError(f"--rank does not go with --to {to}{hint}")
    if start is not None or end is not None:
        raise UsageError(f"--from and --to-time do not go with --to {to}")


def _export_profile(recording: Run, to: Format, made: Path, rank: list[int] | None) -> int:
    from tare.analysis.profile import Chosen
    from tare.reporters import stacks

    if not recording.processes:
        raise CommandError(choice.NOTHING_MEASURED)
    found = stacks.of_run(recording, Chosen(ranks=frozenset(rank or ())))
    if to is Format.FOLDED:
        stacks.write_folded(found, made)
    else:
        stacks.write_speedscope(found, made, recording.run_dir.resolve().name)
    return sum(len(of.paths) for of in found)


def _export_tables(run: Path, member: str | None, times: Times, to: Format, made: Path) -> None:
    from tare.tables import dataset
    from tare.tables.opened import OpenRun

    recording = open_readable(run, member, OpenRun, times=times)
    rows = dataset.write(recording, made, "csv" if to is Format.CSV else "parquet")
    _say_made(made, units.number_of(rows, "row"))
    conclude(recording)


def _draw_rounds(recording: Run, event: str | None, made: Path) -> None:
    from importlib.util import find_spec

    from tare.monitor import history
    from tare.packages import how_to_install
    from tare.reporters import rounds_figure

    if find_spec("matplotlib") is None:
        raise CommandError(f"--to svg needs matplotlib: {how_to_install(['matplotlib'])}")
    found = history.of_event(recording.round_files(), event)
    try:
        rounds_figure.draw(made, found)
    except OSError as error:
        raise CommandError(f"cannot write {made}: {error.strerror}") from error
    _say_made(made, f"{found.event} in {units.number_of(len(found.rounds or found.histograms), 'round')}")
    conclude(recording)


def _beside(run: Path, member: str | None, suffix: str) -> Path:
    name = f"{run.resolve().name}-{Path(member).name}" if member else run.resolve().name
    return run.parent / f"{name}{suffix}"


def _bytes_of(made: Path) -> int:
    files = [made] if made.is_file() else [file for file in made.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def check_trace(recording: Run) -> None:
    """CommandError if the run has no trace."""
    if not recording.processes:
        raise CommandError(choice.NOTHING_MEASURED)
    if not recording.meta.options.trace and not any(
        process["trace"]["events"] for process in recording.processes
    ):
        raise CommandError("this run has no trace: measure it with tare run --trace -- COMMAND")


def tell_what_lacks(done: Exported) -> None:
    """Says on standard error what the exported file lacks."""
    if done["open"]:
        regions = units.number_of(done["open"], "region or phase has", "regions or phases have")
        ends = units.noun(done["open"], "it ends", "they end")
        streams.tell(f"tare: {regions} no end in the trace; {ends} with it")
    if done["ends"]:
        left_out = units.number_of(
            done["ends"], "end of a region or phase was", "ends of regions or phases were"
        )
        streams.tell(f"tare: {left_out} left out, because the trace has no begin for it")
    if done["obstacle"]:
        streams.tell(f"tare: not all messages are shown: {done['obstacle']}")


def _at(recording: Run, seconds: float | None) -> int | None:
    return None if seconds is None else recording.start_ns + round(seconds * NS_PER_S)
