"""`tare recover`: collect what a run left behind whose `tare run` was itself killed."""

from __future__ import annotations

from tare import streams
from tare.commands import RunDirectory
from tare.errors import CommandError
from tare.measuring.measurement import collect, complete_meta
from tare.runs.run import open_run
from tare.runs.runner import is_going_on


def recover(run: RunDirectory) -> None:
    """Collect what is left of a run whose `tare run` was killed.

    Harmless on a run that is complete.

    Example: tare recover app-20260131-120000
    """
    if run.is_file():
        raise CommandError(f"{run} is a file: `tare split` takes an archive apart, then recover its runs")
    recording = open_run(run)
    meta = recording.meta
    collected = collect(recording.run_dir, meta)
    over = not is_going_on(recording.run_dir, meta) and not (collected and collected["running"])
    if meta.state == "running" and over:
        meta.state = "recovered"
    complete_meta(recording.run_dir, meta, collected)
    if collected is None:
        raise CommandError(f"{run} holds no records: no process called MPI, or /dev/shm was emptied")
    streams.say(
        f"{run}: took over {collected['processes']} processes, {collected['recovered_events']:,} events"
    )
    for message in collected["messages"]:
        streams.say(f"  {message}")
    if collected["running"]:
        streams.say(
            f"  {collected['running']} processes still run; nothing of theirs was moved: repeat when they end"
        )
    if collected["kept"]:
        raise CommandError(f"{collected['kept']} processes could not be written, as said above")
