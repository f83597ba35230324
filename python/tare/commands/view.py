"""`tare view`: a run as a page that is served from it, with every detail."""

from __future__ import annotations

import sys
from typing import Annotated

from tare import streams
from tare.commands import AnyMember, RunDirectory
from tare.commands.reading import conclude, open_readable
from tare.options import Option


def view(
    run: RunDirectory,
    port: Annotated[int, Option(min=0, max=65535, help="Where to listen; 0: at a free port.")] = 0,
    member: AnyMember = None,
) -> None:
    """Show the run in a browser, every detail at any zoom; Ctrl-C ends it.

    Prints the address, which this machine alone can reach, and who knows its token. Docs: docs/report.md.

    Example: tare view app-20260131-120000
    """
    from tare.page import server

    recording = open_readable(run, member)
    serving = server.Server(server.Site(recording), port)
    streams.say(serving.url)
    sys.stdout.flush()
    streams.tell("Open this address in a browser. Ctrl-C ends it.")
    serving.run()
    conclude(recording)
