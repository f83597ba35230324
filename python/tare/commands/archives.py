"""`tare merge`: one archive of many runs; and `tare split`: the runs of an archive, as they were."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from tare import streams, units
from tare.commands import Json, new_output, print_json
from tare.errors import UsageError
from tare.options import Argument, Option
from tare.progress_line import copying
from tare.runs import archive, repeated

SCHEMA = "tare.archive/1"


def merge(
    inputs: Annotated[
        list[Path],
        Argument(metavar="INPUT...", help="Run directories, single .tare files, or other archives."),
    ],
    output: Annotated[
        Path,
        new_output("ARCHIVE.tare", "The archive to write. It must be new."),
    ],
) -> None:
    """Pack many runs into one archive file.

    Verbs that read one run of the past also read it in an archive (--member); for all others, `tare split`
    unpacks it.

    Example: tare merge -o runs.tare app-20260131-120000 app-20260131-130000
    """
    archive.refuse_existing(output)
    given = [archive.find_input(path) for path in inputs]
    repeated.refuse(dict(archive.runs_of(each)) for each in given)
    with copying(output.name, sum(each.bytes for each in given)) as progress:
        made = archive.merge(given, output, progress)
    streams.say(f"{output}: {archive.described(made)}, {units.size(output.stat().st_size)}")


def split(
    path: Annotated[Path, Argument(metavar="ARCHIVE", help="An archive that `tare merge` made.")],
    output: Annotated[
        Path | None,
        new_output(
            "DIR", "The directory to write to. It must be empty or new. By default named after the archive."
        ),
    ] = None,
    damaged: Annotated[bool, Option("--damaged", help="Unpack what is left of a damaged archive.")] = False,
    only_list: Annotated[bool, Option("--list", help="Only list what is in the archive.")] = False,
    json: Json = False,
) -> None:
    """Unpack an archive into the runs and files that it was made of.

    Example: tare split runs.tare -o runs
    """
    if json and not only_list:
        raise UsageError("--json goes with --list")
    opened = archive.open_archive(path)
    if only_list:
        found = archive.members(opened.files())
        _print_warnings(opened.warnings())
        _list(path, found, json)
        return
    to = output or Path(path.name.removesuffix(archive.SUFFIX))
    archive.refuse_filled(to)
    with copying(path.name, sum(file.present for file in opened.files())) as progress:
        made = archive.split(path, to, damaged, progress)
    _print_warnings(opened.warnings())
    streams.say(f"{to}: {archive.described(made)}")


def _print_warnings(warnings: list[str]) -> None:
    for warning in warnings:
        streams.tell(warning)


def _list(path: Path, found: list[archive.Member], json: bool) -> None:
    if json:
        print_json(SCHEMA, path, {"rows": [asdict(member) for member in found]})
        return
    from tare.reporters import terminal
    from tare.reporters.console import console
    from tare.reporters.sheet import Column, Sheet

    columns = (
        Column("Member", text=True, cell=lambda member: member.name),
        Column("Kind", text=True, cell=lambda member: member.kind),
        Column("Files", cell=lambda member: units.count(member.files)),
        Column("Size", cell=lambda member: units.size(member.bytes)),
    )
    terminal.show_sheet(console(), Sheet.of(columns, found))
