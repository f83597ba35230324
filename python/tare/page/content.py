"""All that the page shows of a run, but for the timeline: one object, for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare import __version__
from tare.analysis import profile, ranks, tables
from tare.analysis.rows import fields
from tare.page import call_sites, messages, overview, source_text
from tare.page import ranks as rank_columns
from tare.streams import visible

if TYPE_CHECKING:
    from tare.runs.run import Run

SCHEMA = "tare.page/1"


def of_run(run: Run) -> dict[str, Any]:
    """Names come from the run: what is not printable in them is escaped here."""
    rows = call_sites.rows(run)
    sites = call_sites.of_rows(rows)
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "overview": overview.of_run(run, rows),
        "classes": list(call_sites.CLASSES),
        "sites": sites,
        "ranks": rank_columns.of_run(run),
        "matrix": messages.matrix(run),
        "sizes": messages.sizes(run),
        "latencies": messages.latencies(run),
        "phases": _phases(run),
        "flushes": rank_columns.flushes(run),
        "sources": source_text.around(rows),
        "environment": _environment(run),
    }
    return _printable(content)  # type: ignore[no-any-return]


def _phases(run: Run) -> list[dict[str, Any]]:
    found = tables.phase_rows(run, ["phase"], profile.Chosen())
    names = tables.columns("phase", ["phase"])
    return [fields(row, names) for row in found] if len(found) > 1 else []  # else all is outside of phases


def _environment(run: Run) -> dict[str, Any]:
    meta = run.meta
    return {
        "command": meta.command,
        "cwd": meta.cwd,
        "host": meta.host,
        "hosts": sorted({process["host"] for process in run.processes})[:1000],
        "executables": sorted({process["executable"] for process in run.processes})[:100],
        "mpi": sorted({process["mpi"] for process in run.processes})[:100],
        "abi": sorted({process["abi"] for process in run.processes}),
        "tare": meta.tare,
        "run_id": meta.run_id,
        "options": {name: value for name, value in asdict(meta.options).items() if value not in (None, ())},
        "variables": meta.environment,
        "communicators": [
            {"world": each["world"], "name": each["name"], "size": each["size"], "inter": each["inter"]}
            for each in run.communicators[:1000]
        ],
        "call_ns": ranks.total_cost(run.processes).call_ns,
    }


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {
            visible(key) if isinstance(key, str) else key: _printable(each) for key, each in value.items()
        }
    if isinstance(value, list) and not (value and isinstance(value[0], int)):
        return [_printable(each) for each in value]
    return value
