"""`tare info`: what a run was, how its ranks ended, what measuring cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tare.analysis import budget, locations, ranks, totals, trial
from tare.analysis.rows import record
from tare.commands import AnyMember, Json, RunDirectory, print_json
from tare.commands.reading import conclude
from tare.runs.run import Run, open_run

SCHEMA = "tare.info/1"
FROM_META = ("command", "cwd", "host", "start_ns", "state", "exit_code", "signal", "wall_ns")


def info(run: RunDirectory, member: AnyMember = None, json: Json = False) -> None:
    """Print what a run was, how it ended and what it cost.

    Example: tare info app-20260131-120000
    """
    recording = open_run(run, member)
    if json:
        print_json(SCHEMA, run, _content(recording))
    else:
        from tare.reporters import summary
        from tare.reporters.console import console

        summary.info(console(cut=True), recording)
    conclude(recording, reported=True)


def _scopes(recording: Run, kind: str) -> list[dict[str, Any]]:
    """Windows or files, each with the name and key of its communicator."""
    communicators = recording.communicators
    rows = []
    for scope in recording.scopes:
        if scope.kind != kind:
            continue
        number = scope.communicator
        of = communicators[number] if number >= 0 else None
        row = record(scope) | {"key": _key(scope.key)}
        row["communicator"] = of.name if of else None
        row["communicator_key"] = _key(of.key) if of else None
        del row["kind"]
        if kind == "file":
            del row["flavour"]
        rows.append(row)
    return rows


def _key(key: int) -> str | None:
    return f"{key:016x}" if key else None


def _content(recording: Run) -> dict[str, Any]:
    meta, processes = recording.meta, recording.processes
    return {
        "program": meta.name,
        "options": asdict(meta.options),
        **{key: getattr(meta, key) for key in FROM_META},
        "mpi": list(dict.fromkeys(process.mpi for process in processes)),
        "hosts": sorted({process.host for process in processes}),
        "ranks": [record(process) | {"mpi_share": ranks.mpi_share(process)} for process in processes],
        "locations": [
            {**record(row), "bytes_per_record": locations.bytes_per_record(row)}
            for row in recording.rows(recording.locations)
        ],
        "communicators": [record(row) | {"key": _key(row.key)} for row in recording.communicators],
        **{f"{kind}s": _scopes(recording, kind) for kind in ("window", "file")},
        "cost": recording.total_cost(),
        "trial": asdict(found) if (found := trial.of_run(recording)) else None,
        "totals": [asdict(total) for total in totals.of_run(recording)],
        "budget": asdict(kept) if (kept := budget.of_run(recording)) else None,
        "reception": vars(meta.reception) if meta.reception else None,
        "trace": recording.total_trace(),
        "unseen": [vars(row) for row in meta.unseen],
        "missing": [vars(row) for row in recording.missing],
        "launched": vars(meta.launched) if meta.launched else None,
        "warnings": recording.warnings,
    }
