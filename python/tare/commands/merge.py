"""`tare merge`: one archive of many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tare import streams, units
from tare.commands import new_output
from tare.options import Argument
from tare.progress_line import copying
from tare.runs import archive


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

    Verbs that read a run also read a run in an archive (--member). `tare split` unpacks it.

    Example: tare merge -o runs.tare app-20260131-120000 app-20260131-130000
    """
    archive.refuse_existing(output)
    given = [archive.find_input(path) for path in inputs]
    with copying(output.name, sum(each.bytes for each in given)) as progress:
        made = archive.merge(given, output, progress)
    streams.say(f"{output}: {archive.described(made)}, {units.size(output.stat().st_size)}")
