"""`tare export`: a run as other tools read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import registry, streams, units
from tare.commands import AnyMember, OnlyRanks, RunDirectory, ShownTimes, choice, new_output, seconds
from tare.commands.reading import at, beside, conclude, open_readable
from tare.errors import UsageError
from tare.options import Option
from tare.runs.archive import refuse_existing
from tare.runs.retiming import Times

if TYPE_CHECKING:
    from tare.exporters import Exporter


def exporter_named(name: str) -> registry.Entry:
    """The registered format. ValueError if there is none of this name."""
    found = registry.find(registry.EXPORTERS, name)
    if found is None:
        raise ValueError(f"'{name}' is none of {', '.join(registry.entries(registry.EXPORTERS))}")
    return found


def export(
    run: RunDirectory,
    to: Annotated[
        registry.Entry,
        Option(
            "--to",
            parser=exporter_named,
            metavar="|".join(registry.entries(registry.EXPORTERS)),
            help="The format.",
        ),
    ],
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
    exporter = to.load()
    _refuse_parts(to.name, exporter, rank, start is not None or end is not None, event)
    made = output or beside(run, member, exporter.suffix)
    refuse_existing(made)
    recording = open_readable(run, member, times)
    choice.check_ranks(recording, rank)
    with to.named():
        from tare.exporters import Part

        part = Part(rank, at(recording, start), at(recording, end), event)
        what = exporter.write(recording, made, part)
        streams.say(f"{made}: {what}, {units.size(_bytes_of(made))}")
    conclude(recording)


def _refuse_parts(
    name: str, exporter: Exporter, rank: list[int] | None, has_times: bool, event: str | None
) -> None:
    if rank and "rank" not in exporter.takes:
        hint = f": {exporter.hint}" if exporter.hint else ""
        raise UsageError(f"--rank does not go with --to {name}{hint}")
    if has_times and "time" not in exporter.takes:
        raise UsageError(f"--from and --to-time do not go with --to {name}")
    if event is not None and "event" not in exporter.takes:
        raise UsageError(f"--event does not go with --to {name}")


def _bytes_of(made: Path) -> int:
    files = [made] if made.is_file() else [file for file in made.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
