"""`tare info`: what a run was, how its ranks ended, what measuring cost."""

from __future__ import annotations

import sys
from typing import Any

from tare.analysis import ranks
from tare.commands import AnyMember, Json, RunDirectory
from tare.recording import Recording, open_recording

SCHEMA = "tare.info/1"
FROM_META = ("command", "cwd", "host", "start_ns", "options", "state", "exit_code", "signal")


def info(run: RunDirectory, member: AnyMember = None, json: Json = False) -> None:
    """Print what a run was, how it ended and what it cost.

    Example: tare info app-20260131-120000
    """
    recording = open_recording(run, member)
    if json:
        from tare.reporters import json as reporter

        reporter.write(sys.stdout, SCHEMA, run, _content(recording))
    else:
        from tare.reporters import summary, terminal

        summary.info(terminal.console(cut=True), recording)


def _content(recording: Recording) -> dict[str, Any]:
    meta, processes = recording.meta, recording.processes
    return {
        "program": meta["name"],
        **{key: meta.get(key) for key in FROM_META},
        "wall_ns": meta.get("wall_ns"),
        "mpi": list(dict.fromkeys(process["mpi"] for process in processes)),
        "hosts": sorted({process["host"] for process in processes}),
        "ranks": [{**process, "mpi_share": ranks.mpi_share(process)} for process in processes],
        "communicators": [
            {**row, "key": f"{row['key']:016x}" if row["key"] else None} for row in recording.communicators
        ],
        "cost": recording.cost(),
        "trace": ranks.total_trace(processes),
        "warnings": recording.warnings,
    }
