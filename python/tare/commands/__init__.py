"""One verb a file; each turns arguments into calls and an exit code."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import private_files
from tare.errors import unwritable
from tare.options import Argument, Option
from tare.runs.retiming import Times
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare.monitor.live import Live
    from tare.runs.metadata import Metadata

RunDirectory = Annotated[Path, Argument(metavar="RUN", help="The run directory, or an archive.")]
# Of a verb that needs what an archive does not keep.
DirectoryAlone = Annotated[Path, Argument(metavar="RUN", help="The run directory.")]
AnyMember = Annotated[
    str | None, Option("--member", metavar="NAME", help="Which run to read, if RUN is an archive.")
]
ShownTimes = Annotated[
    Times,
    Option(
        "--times",
        help="Of the trace: as recorded; with corrected clocks; compensated: also without measuring.",
    ),
]
OnlyRanks = Annotated[list[int] | None, Option("--rank", help="Only this rank (may be repeated).")]
Json = Annotated[bool, Option("--json", help="Print JSON (docs/json.md).")]

# The largest number that the reader takes.
MAX_ROWS = 2**63 - 1
LONGEST_S = 2**62 / NS_PER_S


def new_path(text: str) -> Path:
    """The value of an option that names a file or directory to be made.

    ValueError if it is empty or looks like an option: in `-o --quiet` the name is missing.
    """
    if not text.strip() or text.startswith("-"):
        hint = f"; write ./{text} if that is its name" if text.strip("-") else ""
        raise ValueError(f"'{text}' is not a name{hint}")
    return Path(text)


def new_output(metavar: str, help: str) -> Option:
    """The option `-o` of a verb that makes a file or a directory."""
    return Option("-o", "--output", parser=new_path, metavar=metavar, help=help)


def write_text(to: Path, content: str, *, named: bool = True) -> None:
    """Writes a file. CommandError if it cannot be written.

    What the user has `named` may be a link, or a device. Another name, beside what was read, is a new file.
    """
    try:
        if named:
            to.write_text(content, "utf-8")
        else:
            private_files.replace(to, content.encode("utf-8"), mode=0o666)
    except OSError as error:
        raise unwritable(to, error) from error


def print_json(schema: str, of: Path | None, content: Mapping[str, Any]) -> None:
    """Prints the JSON of a verb (docs/json.md), which is loaded only for this."""
    from tare.reporters import json

    json.write(sys.stdout, schema, of, content)


def followed(run: Path) -> tuple[Metadata, Live]:
    """A run that is monitored, and what follows it. CommandError if it is not."""
    from tare.monitor.live import Live
    from tare.runs import directory, requests

    meta = directory.monitored(run, also_ended=True)
    return meta, Live(run, pulls=requests.needed(run, meta.options.monitor))


def seconds(text: str) -> float:
    """A time that a clock can show: neither "nan" nor "inf"."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < LONGEST_S:
        raise ValueError(f"'{text}' is not a number of seconds")
    return value


def finite(text: str) -> float:
    """A number; "nan" would be within all limits."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"'{text}' is not a number")
    return value
