"""`tare report`: a run as one HTML page."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from tare import registry, streams
from tare.commands import AnyMember, new_output, write_text
from tare.commands.reading import beside, conclude, open_beside_others, open_readable
from tare.errors import UsageError
from tare.options import Argument, Option
from tare.runs.metadata import META
from tare.runs.retiming import Times


class PageTimes(StrEnum):
    """Times of a trace, as Times has them, or two of them."""

    RECORDED = "recorded"
    CORRECTED = "corrected"
    COMPENSATED = "compensated"
    BOTH = "both"


def report(
    run: Annotated[
        Path,
        Argument(
            metavar="RUN",
            help="The run directory, or an archive; or a study: its file, or the directory of its results.",
        ),
    ],
    output: Annotated[
        Path | None,
        new_output(
            "FILE", "The file to write. By default RUN.html, beside the run; of a study, its report.html."
        ),
    ] = None,
    compare: Annotated[
        Path | None, Option("--compare", metavar="RUN2", help="Another run, side by side with it.")
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
    """Write a run as one HTML page, which needs no network; or a study, its cells side by side.

    docs/report.md describes the page. `tare view` shows the same page of a run with every detail.

    Example: tare report app-20260131-120000
    """
    other_page = _page_of(run)
    if other_page is not None:
        if compare is not None or member is not None or times != PageTimes.RECORDED:
            raise UsageError(
                f"{run} is a {other_page.name}: its page takes neither --compare nor --member nor --times"
            )
        with other_page.named():
            streams.say(str(other_page.load().write(run, output)))
        return
    if compare is not None and (second := _page_of(compare)) is not None:
        raise UsageError(f"{compare} is a {second.name}: tare report {compare} shows it")
    from tare.page import content, document, timeline

    shown = [Times.RECORDED, Times.COMPENSATED] if times == PageTimes.BOTH else [Times(times)]
    contents: dict[Times, dict[str, Any]] = {}
    for each in shown:
        recording = open_readable(run, member, times=each)
        other = None if compare is None else open_beside_others(compare, each)
        trace = recording.timeline()
        contents[each] = {"content": content.of_run(recording, other, trace)}
        if trace is None:
            break  # all times are the same
        contents[each] |= timeline.embedded(recording, trace)
    to = output or beside(run, member, ".html")
    page = document.embedded(f"{recording.meta.name}: tare", contents)
    write_text(to, page, named=output is not None)
    streams.say(str(to))
    conclude(recording, *([other] if other else []))


def _page_of(path: Path) -> registry.Entry | None:
    """What makes the page of a path that is no run, if something registered does."""
    if (path / META).exists():
        return None
    for entry in registry.entries(registry.PAGES).values():
        page = entry.load()
        with entry.named():
            if page.takes(path):
                return entry
    return None
