"""Another run beside that of the page: figures, what limits each, and the time of each call site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis import diff
from tare.analysis.explain.explain import explain_basis
from tare.page import overview
from tare.reporters import explanation, terminal
from tare.reporters.diff import TITLES, about_sums

if TYPE_CHECKING:
    from tare.analysis.compare import Comparison
    from tare.analysis.diff import Line
    from tare.analysis.explain.basis import Basis
    from tare.runs.run import Run

KINDS = {"calls": "count", "bytes": "size"}  # of figures; the others are times


def of_runs(run: Run, other: Run, basis: Basis, other_basis: Basis) -> dict[str, Any]:
    """`run` is that of the page; changes are from the other one to it."""
    found = diff.difference([other], [run])
    return {
        "notes": list(about_sums(found.exact)),
        "sides": [_side(other, other_basis), _side(run, basis)],
        "figures": [
            {"title": TITLES[metric], "kind": KINDS.get(metric, "time"), **_both(figures)}
            for metric, figures in found.figures.items()
        ],
        "lines": [_line(line) for line in found.sites],
    }


def _side(run: Run, basis: Basis) -> dict[str, Any]:
    return {
        "program": run.meta.name,
        "run": str(run.run_dir.resolve()),
        "start_ns": run.start_ns,
        "ranks": basis.ranks,
        "uses_mpi": basis.uses_mpi,
        "world": basis.world,
        "worlds": run.worlds,
        "parts": overview.parts_of(run),
        "share_unknown": overview.why_no_share(run),
        "findings": explanation.sentences(explain_basis(run, basis), run.start_ns),
    }


def _both(of: Comparison) -> dict[str, float]:
    return {"other": of.base_mean, "own": of.new_mean, "change": of.new_mean - of.base_mean}


def _line(line: Line) -> dict[str, Any]:
    times, calls = line.time_ns, line.calls
    return {
        "function": line.function,
        "where": terminal.place(line.place) if line.place else None,
        "caller": terminal.caller(line.place) if line.place and line.place.caller else None,
        "other_ns": times.base_mean if line.is_timed else None,
        "own_ns": times.new_mean if line.is_timed else None,
        "change_ns": line.change_ns if line.is_timed else None,
        "other_calls": calls.base_mean,
        "own_calls": calls.new_mean,
    }
