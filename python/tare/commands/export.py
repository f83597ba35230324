"""`tare export`: a run as other tools read it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import private_files, registry, streams, units
from tare.commands import AnyMember, OnlyRanks, RunDirectory, ShownTimes, choice, new_output, seconds
from tare.commands.reading import at, beside, conclude, open_readable
from tare.errors import CommandError, UsageError, unwritable
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
        Option(
            "--from",
            parser=seconds,
            metavar="SECONDS",
            help="Only from this time on, counted from the start of the run.",
        ),
    ] = None,
    end: Annotated[
        float | None,
        Option(
            "--to-time",
            parser=seconds,
            metavar="SECONDS",
            help="Only up to this time, counted from the start of the run.",
        ),
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
    from tare.exporters import Exporter, Part

    exporter = to.load()
    if not isinstance(exporter, Exporter):
        raise CommandError(f"{to.title} is no tare.exporters.Exporter")
    _refuse_parts(to.name, exporter, rank, start is not None or end is not None, event)
    made = output or beside(run, member, exporter.suffix)
    refuse_existing(made)
    recording = open_readable(run, member, times)
    choice.check_ranks(recording, rank)
    part = Part(rank, at(recording, start), at(recording, end), event)
    with _written(made, to) as new, to.named():
        what = exporter.write(recording, new, part)
    streams.say(f"{made}: {what}, {units.size(_bytes_of(made))}")
    conclude(recording)


@contextmanager
def _written(made: Path, by: registry.Entry) -> Iterator[Path]:
    """The path to write to. What an exporter of a package makes gets its name when it is whole.

    CommandError if it has made nothing.
    """
    if not by.package:
        yield made
        return
    folder = private_files.part_of(made)
    new = folder / made.name  # an exporter may go by the suffix
    try:
        folder.mkdir()
        yield new
        if not os.path.lexists(new):
            raise CommandError(f"{by.title} has not written {made}")
        new.replace(made)
    except CommandError as error:
        raise CommandError(str(error).replace(str(new), str(made)), error.exit_code) from error
    except OSError as error:
        raise unwritable(made, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
