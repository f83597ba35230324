"""All that the page shows of a run, but for the timeline: one object, for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare import __version__
from tare.analysis import communication, profile, tables
from tare.analysis.explain.basis import Basis
from tare.analysis.explain.explain import explain_basis
from tare.analysis.rows import fields
from tare.errors import native_errors
from tare.page import (
    call_sites,
    comparison,
    flames,
    instances,
    messages,
    overview,
    source_text,
    sources,
    waits,
)  # fmt: skip
from tare.page import ranks as rank_columns
from tare.page.document import printable
from tare.page.timeline import WAITS_RECORDS
from tare.reporters.tables import OUTSIDE
from tare.words import WORDS

if TYPE_CHECKING:
    from tare._native import Timeline
    from tare.runs.run import Run

SCHEMA = "tare.page/1"


def of_run(run: Run, other: Run | None = None, timeline: Timeline | None = None) -> dict[str, Any]:
    """`other`: a run to compare it with. What is not printable in names of runs is escaped here.

    With the timeline of the run, findings and wait states have their worst instance in it, and loops have
    curves. The waits of the timeline are found, unless the trace is too long.
    """
    _expect(run)
    by_site, by_size = profile.summed(run, ["site"]), profile.summed(run, ["size"])
    rows = profile.ordered(by_site, "time_ns", 0)
    sites = call_sites.of_rows(rows, run.sites)
    basis = Basis(run, max_records=WAITS_RECORDS)
    if timeline is not None and basis.is_traced:
        with native_errors():
            timeline.find_waits()
    explained = explain_basis(run, basis)
    first = overview.of_run(run, rows, explained)
    worst = instances.Instances(run, basis, timeline) if timeline is not None else None
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "words": WORDS,
        "overview": first,
        "instances": [worst.of_finding(each) for each in explained.findings] if worst else [],
        "classes": list(call_sites.CLASSES),
        "sites": sites,
        "ranks": rank_columns.of_run(run),
        "matrix": messages.matrix(run),
        "sizes": [asdict(each) for each in communication.sizes(by_size)],
        "latencies": messages.latencies(run),
        "phases": _phases(run),
        "flushes": rank_columns.flushes(run),
        "waits": waits.of_basis(basis, worst),
        "world": basis.world,
        "structure": waits.phases(run, basis, timeline),
        "flames": flames.of_run(run),
        "openmp": sources.of_openmp(run),
        "files": sources.of_files(run),
        "sources": source_text.around([*waits.places(basis), *rows]),
        "environment": {**_environment(run), "call_ns": first["cost"]["call_ns"]},
    }
    if other is not None:
        other_basis = Basis(other, max_records=WAITS_RECORDS)
        content["comparison"] = comparison.of_runs(run, other, basis, other_basis)
    return printable(content)  # type: ignore[no-any-return]


def _expect(run: Run) -> None:
    """All that the page asks of the profiles, so that they are read once."""
    run.expect_profile(["site"], ["size"], ["line"])
    run.expect_phases()
    run.expect_exchanges(communication.MAX_GROUPS)


def _phases(run: Run) -> list[dict[str, Any]]:
    found = tables.phase_rows(run, ["phase"], profile.Chosen())
    if all(row.phase is None for row in found):
        return []
    names = tables.columns("phase", ["phase"])
    return [{**fields(row, names), "phase": OUTSIDE if row.phase is None else row.phase} for row in found]


def _environment(run: Run) -> dict[str, Any]:
    meta = run.meta
    return {
        **fields(meta, ("command", "cwd", "host")),
        "hosts": sorted({process.host for process in run.processes})[:1000],
        "executables": sorted({process.executable for process in run.processes})[:100],
        "mpi": sorted({" ".join(process.mpi.split()) for process in run.processes})[:100],
        "abi": sorted({process.abi for process in run.processes}),
        **fields(meta, ("tare", "run_id")),
        "options": {name: value for name, value in asdict(meta.options).items() if value not in (None, ())},
        "variables": meta.environment,
        "communicators": [
            fields(each, ("world", "name", "size", "inter")) for each in run.communicators[:1000]
        ],
    }
