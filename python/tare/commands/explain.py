"""`tare explain`: what limits a program, and where."""

from __future__ import annotations

from tare.analysis.rows import fields
from tare.commands import AnyMember, Json, RunDirectory, ShownTimes, print_json
from tare.commands.reading import conclude, open_readable
from tare.commands.where import look_twice
from tare.runs.retiming import Times

SCHEMA = "tare.explain/1"
OF_RANKS = ("ranks", "net_ns", "mpi_share", "total_ns", "lost_ns", "unexplained_ns", "is_traced")


def explain(
    run: RunDirectory,
    times: ShownTimes = Times.RECORDED,
    member: AnyMember = None,
    json: Json = False,
) -> None:
    """Say what limits the program and where, in at most ten sentences.

    A trace tells more than the profile. Each finding, and from when on it is one: docs/analyses.md.

    Example: tare explain app-20260131-120000
    """
    from tare.analysis.explain.explain import explain as explain_run
    from tare.reporters import explanation

    recording = open_readable(run, member, times=times)
    found = explain_run(recording, look_twice(run, member) if recording.is_running else None)
    if json:
        content = {
            "program": recording.meta.name,
            **fields(found, OF_RANKS),
            "findings": [explanation.record(each, recording.start_ns) for each in found.findings],
            "sentences": explanation.sentences(found, recording.start_ns),
            "times": times.value,
            "warnings": recording.warnings,
        }
        print_json(SCHEMA, run, content)
        return conclude(recording, reported=True)
    from tare.reporters.console import console

    explanation.show(console(cut=True), found, recording.start_ns)
    return conclude(recording)
