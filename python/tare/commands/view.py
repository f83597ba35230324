"""`tare view`: a run in the browser, served to this machine alone."""

from __future__ import annotations

import sys
import tempfile
import threading
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import streams
from tare.commands import AnyMember, RunDirectory, ShownTimes, export
from tare.commands.reading import conclude, open_readable
from tare.options import Option
from tare.runs.retiming import Times

if TYPE_CHECKING:
    from tare.runs.run import Run


class Viewer(StrEnum):
    """What shows the run."""

    PAGE = "page"
    PERFETTO = "perfetto"


def view(
    run: RunDirectory,
    viewer: Annotated[
        Viewer, Option("--in", help="The page of tare, or Perfetto's user interface (traced runs).")
    ] = Viewer.PAGE,
    port: Annotated[int, Option(min=0, max=65535, help="The port to listen at; 0 takes a free one.")] = 0,
    times: ShownTimes = Times.RECORDED,
    member: AnyMember = None,
) -> None:
    """Show a run in a browser, with every detail at any zoom.

    Prints an address with a random token. Only this machine can open it. Ctrl-C ends it.

    Docs: docs/report.md.

    Example: tare view app-20260131-120000
    """
    if viewer == Viewer.PERFETTO:
        _in_perfetto(open_readable(run, member, times=times), port)
    else:
        _in_page(open_readable(run, member, times=times), port)


def _in_page(recording: Run, port: int) -> None:
    from tare.page import server

    serving = server.Server(server.Site(recording), port)
    _tell(serving.url)
    serving.run()
    conclude(recording)


def _in_perfetto(recording: Run, port: int) -> None:
    from tare.viewers import perfetto

    perfetto.interface()
    export.check_trace(recording)
    with tempfile.TemporaryDirectory(prefix="tare-view-") as directory:
        trace = Path(directory) / perfetto.TRACE
        export.tell_what_lacks(recording.export_trace("perfetto", trace, None, None, None))
        conclude(recording)
        with suppress(KeyboardInterrupt), perfetto.serving(trace, port) as address:
            _tell(address)
            threading.Event().wait()


def _tell(address: str) -> None:
    streams.say(address)
    sys.stdout.flush()  # a script waits for this line
    streams.tell("Open this address in a browser. Ctrl-C ends it.")
