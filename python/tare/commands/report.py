"""`tare report`: a run as one HTML page."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from tare import streams
from tare.commands import AnyMember, RunDirectory, new_path
from tare.commands.reading import conclude, open_readable
from tare.errors import CommandError
from tare.options import Option
from tare.runs.retiming import Times


class PageTimes(StrEnum):
    """Times of a trace, as Times has them, or two of them."""

    RECORDED = "recorded"
    CORRECTED = "corrected"
    COMPENSATED = "compensated"
    BOTH = "both"


def report(
    run: RunDirectory,
    output: Annotated[
        Path | None,
        Option(
            "-o",
            "--output",
            parser=new_path,
            metavar="FILE",
            help="The file to write. By default RUN.html, beside the run.",
            show_default=False,
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        Option("--compare", metavar="RUN2", help="Another run, side by side with it.", show_default=False),
    ] = None,
    times: Annotated[
        PageTimes,
        Option(
            help="Of the trace: as recorded; with corrected clocks; compensated: also without measuring; "
            "both: recorded and compensated, to choose from on the page.",
        ),
    ] = PageTimes.RECORDED,
    member: AnyMember = None,
) -> None:
    """Write a run as one HTML page, which needs no network.

    docs/report.md describes the page. `tare view` shows the same page with every detail.

    Example: tare report app-20260131-120000
    """
    from tare.page import content, document, timeline

    shown = [Times.RECORDED, Times.COMPENSATED] if times == PageTimes.BOTH else [Times(times)]
    contents: dict[Times, dict[str, Any]] = {}
    for each in shown:
        recording = open_readable(run, member, times=each)
        other = None if compare is None else open_readable(compare, times=each)
        contents[each] = {"content": content.of_run(recording, other)}
        trace = recording.timeline()
        if trace is None:
            break  # all times are the same
        contents[each] |= timeline.embedded(recording, trace)
    to = output or _beside(run, member)
    _write(to, document.embedded(f"{recording.meta.name}: tare", contents))
    streams.say(str(to))
    conclude(recording, *([other] if other else []))


def _beside(run: Path, member: str | None) -> Path:
    name = f"{run.resolve().name}-{Path(member).name}" if member else run.resolve().name
    return run.parent / f"{name}.html"


def _write(to: Path, page: str) -> None:
    try:
        to.write_text(page, "utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {to}: {error.strerror}") from error
