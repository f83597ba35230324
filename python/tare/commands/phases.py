"""`tare phases`: the phases that a trace shows, and the iterations in them."""

from __future__ import annotations

from tare.analysis.rows import flat
from tare.commands import AnyMember, Json, RunDirectory, ShownTimes, print_json
from tare.commands.reading import conclude, open_readable
from tare.runs.retiming import Times

SCHEMA = "tare.phases/1"


def phases(
    run: RunDirectory,
    times: ShownTimes = Times.RECORDED,
    member: AnyMember = None,
    json: Json = False,
) -> None:
    """Print the phases and iterations found in a trace, and which iterations are slow and why.

    How they are found: docs/analyses.md. Phases that the program marks itself: tare profile --by phase.

    Example: tare phases app-20260131-120000
    """
    from tare.analysis import structure

    recording = open_readable(run, member, times=times)
    rows = structure.phases(recording)
    if json:
        content = {"phases": [flat(row) for row in rows], "times": times.value}
        print_json(SCHEMA, run, content)
        return conclude(recording)
    from tare.reporters import structure as text_reporter
    from tare.reporters.console import console

    is_traced = any(process.trace.records for process in recording.processes)
    text_reporter.show(console(), rows, recording.start_ns, is_traced=is_traced)
    return conclude(recording)
