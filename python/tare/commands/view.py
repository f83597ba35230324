"""`tare view`: a run in the browser, served to this machine alone."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import streams
from tare.commands import AnyMember, RunDirectory, ShownTimes
from tare.commands.reading import conclude, open_readable
from tare.errors import UsageError
from tare.exporters import Part, traces
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
    compare: Annotated[
        Path | None, Option("--compare", metavar="RUN2", help="Another run, side by side with it.")
    ] = None,
    times: ShownTimes = Times.RECORDED,
    member: AnyMember = None,
) -> None:
    """Show a run in a browser, with every detail at any zoom.

    Prints an address with a random token. Only this machine can open it. Ctrl-C ends it.

    Docs: docs/report.md.

    Example: tare view app-20260131-120000
    """
    if viewer == Viewer.PERFETTO:
        if compare is not None:
            raise UsageError("--compare is of the page: leave out --in perfetto")
        _in_perfetto(open_readable(run, member, times=times), port)
        return
    _in_page(lambda chosen: open_readable(run, member, times=chosen), compare, times, port)


def _in_page(read: Callable[[Times], Run], compare: Path | None, times: Times, port: int) -> None:
    from tare.page import server

    recording = read(times)
    other = None if compare is None else open_readable(compare, times=times)

    def site(chosen: Times) -> server.Site:
        if chosen is times:
            return server.Site(recording, other)
        return server.Site(read(chosen), None if compare is None else open_readable(compare, times=chosen))

    traced = recording.total_trace().records > 0
    offered = [times, *(each for each in Times if traced and each is not times)]
    serving = server.Server(server.Sites(f"{recording.meta.name}: tare", offered, site), port)
    _tell(serving.url)
    serving.run()
    conclude(recording, *([other] if other else []))


def _in_perfetto(recording: Run, port: int) -> None:
    from tare.viewers import perfetto

    perfetto.interface()
    traces.check_trace(recording)
    with tempfile.TemporaryDirectory(prefix="tare-view-") as directory:
        trace = Path(directory) / perfetto.TRACE
        traces.write("perfetto", recording, trace, Part())
        conclude(recording)
        with suppress(KeyboardInterrupt), perfetto.serving(trace, port) as address:
            _tell(address)
            threading.Event().wait()


def _tell(address: str) -> None:
    streams.say(address)
    sys.stdout.flush()  # a script waits for this line
    streams.tell("Open this address in a browser. Ctrl-C ends it.")
