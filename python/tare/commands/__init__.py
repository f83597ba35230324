"""One verb a file; each turns arguments into calls and an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tare.options import Argument, Option

RunDirectory = Annotated[Path, Argument(metavar="RUN", help="The run directory, or an archive.")]
AnyMember = Annotated[
    str | None,
    Option("--member", metavar="NAME", help="Of an archive, the run.", show_default=False),
]
Json = Annotated[bool, Option("--json", help="Print JSON (docs/json.md).")]
