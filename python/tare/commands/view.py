"""`tare view`: a run in a viewer, from this machine alone."""

from __future__ import annotations

import sys
import tempfile
import threading
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from tare import streams
from tare.commands import AnyMember, RunDirectory, export
from tare.commands.reading import conclude, open_readable
from tare.options import Option


class Viewer(StrEnum):
    """What shows it."""

    PERFETTO = "perfetto"


def view(
    run: RunDirectory,
    viewer: Annotated[Viewer, Option("--in", help="What shows it.")] = Viewer.PERFETTO,
    port: Annotated[int, Option(min=0, max=65535, help="Of this machine; 0: any that is free.")] = 0,
    member: AnyMember = None,
) -> None:
    """Show a traced run in Perfetto's user interface, until Ctrl-C.

    Prints the address to open in a browser of this machine. Nothing leaves the machine.

    Example: tare view app-20260131-120000 --in perfetto
    """
    from tare.viewers import perfetto

    perfetto.interface()
    recording = open_readable(run, member)
    export.check_trace(recording)
    with tempfile.TemporaryDirectory(prefix="tare-view-") as directory:
        trace = Path(directory) / perfetto.TRACE
        export.tell_what_lacks(recording.export_trace(viewer, trace, None, None, None))
        conclude(recording)
        with perfetto.serving(trace, port) as address:
            streams.say(address)
            sys.stdout.flush()  # it is waited for
            streams.tell("tare: serves until Ctrl-C")
            threading.Event().wait()
