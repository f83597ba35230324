"""`tare diff`: runs, or sets of repeated runs, side by side."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import streams
from tare.analysis.code_diff import CodeChange, changes, has_samples
from tare.analysis.comparable import Differing, differing, failure_reason
from tare.analysis.compare import CONFIDENCE, Comparison
from tare.analysis.diff import Difference, Gate, Line, RegionLine, difference, gate
from tare.analysis.rows import fields
from tare.commands import Json, print_json
from tare.commands.reading import conclude, open_beside_others
from tare.errors import FAILED, CommandError, UsageError
from tare.options import Argument, Option
from tare.runs import repeated
from tare.runs.run import Run

if TYPE_CHECKING:
    from tare.reporters.sheet import Sheet

SCHEMA = "tare.diff/1"
BETWEEN = "vs"
LINES_SHOWN = 10


class Metric(StrEnum):
    """What the gate watches."""

    NET = "net"
    WALL = "wall"
    MPI = "mpi"
    COMPUTING = "computing"
    IDLE = "idle"
    DESCHEDULED = "descheduled"
    BLOCKED = "blocked"
    CALLS = "calls"
    BYTES = "bytes"


def diff(
    runs: Annotated[
        list[Path],
        Argument(
            metavar="BASE... vs NEW...", help="Two runs, or two sets of repeated runs with `vs` between them."
        ),
    ],
    fail_above: Annotated[
        str | None,
        Option(
            metavar="PERCENT",
            help="Exit with 1 if the metric has grown by more than PERCENT and by more than the noise.",
        ),
    ] = None,
    metric: Annotated[Metric, Option(help="The metric that --fail-above checks.")] = Metric.NET,
    scaling: Annotated[
        bool,
        Option(
            "--scaling",
            help="Compare runs on more and more ranks: efficiencies, and lines whose share grows.",
        ),
    ] = False,
    accept_failed: Annotated[
        bool, Option("--accept-failed", help="With --fail-above: accept runs that failed, too.")
    ] = False,
    limit: Annotated[
        int,
        Option(
            min=0,
            help="Print at most N rows of each table of functions, call sites and regions; 0 prints all.",
        ),
    ] = LINES_SHOWN,
    json: Json = False,
    markdown: Annotated[bool, Option("--markdown", help="Print Markdown tables.")] = False,
) -> int:
    """Compare runs: what changed, and whether by more than the noise.

    docs/diff.md names the statistical test, and shows how to use the exit code as a gate in CI.

    Example: tare diff old-1 old-2 old-3 vs new-1 new-2 new-3 --fail-above 5%
    """
    if json and markdown:
        raise UsageError("choose one of --json and --markdown")
    if scaling:
        if fail_above is not None:
            raise UsageError("choose one of --scaling and --fail-above")
        return _scaling(runs, limit, json=json, markdown=markdown)
    threshold = _percent(fail_above) if fail_above is not None else None
    base_paths, new_paths = _sides(runs)
    base, new = ([open_beside_others(path) for path in paths] for paths in (base_paths, new_paths))
    if len(base) + len(new) > 2:  # else a run may be compared with itself
        repeated.refuse({run.meta.run_id: str(run.run_dir)} for run in (*base, *new))
    found = difference(base, new)
    code = changes(base, new)
    failed_runs = _failed(*base, *new)
    refused = threshold is not None and bool(failed_runs) and not accept_failed
    asked = _gate(found, metric, threshold) if threshold is not None and not refused else None
    others = differing(base, new)
    if json:
        content = _content(base, new, found, asked, limit)
        content["code"] = [_code(line) for line in code[: limit or None]]
        content |= _doubts(others, failed_runs)
        print_json(SCHEMA, None, content)
    else:
        _show(base, new, found, code, others, failed_runs, limit, markdown)
    conclude(*base, *new)
    if refused:
        run, why = failed_runs[0]
        others_failed = len(failed_runs) - 1
        more = f", nor did {others_failed} other run{'s' * (others_failed > 1)}" if others_failed else ""
        raise CommandError(
            f"--fail-above: {run.run_dir} did not end well ({why}){more}: measure again, "
            "or take the times as they are with --accept-failed"
        )
    if asked is not None and not json:
        from tare.reporters import diff as reporter

        streams.say()
        streams.say(reporter.verdict(asked))
    return FAILED if asked is not None and asked.exceeded else 0


def _scaling(paths: Sequence[Path], limit: int, *, json: bool, markdown: bool) -> int:
    """What --scaling prints."""
    from tare.analysis import scaling
    from tare.reporters import scaling as reporter

    if len(paths) < 2:
        raise UsageError("--scaling compares at least two runs: tare diff --scaling RUN2 RUN4 RUN8")
    runs = [open_beside_others(path) for path in paths]
    repeated.refuse({run.meta.run_id: str(run.run_dir)} for run in runs)
    if any(not run.processes for run in runs):
        raise CommandError("--scaling: a run has no process that called MPI")
    points, lines = scaling.points(runs), scaling.lines(runs)[: limit or None]
    others = [each for each in differing(runs[:1], runs[1:]) if each.what != "ranks"]
    if json:
        content = {
            **_doubts(others, _failed(*runs)),
            "runs": [asdict(point) for point in points],
            "lines": [
                {"function": line.function, **fields(line.place, PLACE), **fields(line, ("shares", "growth"))}
                for line in lines
            ],
        }
        print_json("tare.scaling/1", None, content)
        conclude(*runs, reported=True)
        return 0
    _print(reporter.efficiencies(points), markdown)
    streams.say()
    _print(reporter.lines(points, lines), markdown)
    _warn(others, _failed(*runs))
    conclude(*runs)
    return 0


def _failed(*runs: Run) -> list[tuple[Run, str]]:
    return [(run, why) for run in runs if (why := failure_reason(run))]


def _doubts(others: Sequence[Differing], failed_runs: Sequence[tuple[Run, str]]) -> dict[str, Any]:
    """Why the runs may not be compared, in JSON."""
    return {
        "differing": [asdict(each) for each in others],
        "not_ended_well": [{"run": str(run.run_dir.resolve()), "why": why} for run, why in failed_runs],
    }


def _warn(others: Sequence[Differing], failed_runs: Sequence[tuple[Run, str]]) -> None:
    """The same as text."""
    from tare.reporters import diff as reporter
    from tare.reporters.console import console

    if warned := [*reporter.differing(others), *reporter.failed_runs(failed_runs)]:
        console().line()
    for line in warned:
        console().paragraph(line)


def _print(sheet: Sheet, markdown: bool) -> None:
    from tare.reporters import markdown as markdown_reporter
    from tare.reporters import terminal
    from tare.reporters.console import console

    if markdown:
        markdown_reporter.write(sys.stdout, sheet)
    else:
        terminal.show_sheet(console(), sheet)


def _sides(runs: list[Path]) -> tuple[list[Path], list[Path]]:
    names = [str(run) for run in runs]
    if names.count(BETWEEN) == 1:
        at = names.index(BETWEEN)
        base, new = runs[:at], runs[at + 1 :]
        if base and new:
            return base, new
    elif len(runs) == 2 and BETWEEN not in names:
        return runs[:1], runs[1:]
    raise UsageError("name two runs, or two sets with `vs` between them: tare diff A1 A2 A3 vs B1 B2 B3")


def _percent(text: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%?\s*", text)
    if match is None:
        raise UsageError(f"--fail-above {text}: write it like 5% or 2.5%")
    return float(match[1]) / 100


def _gate(found: Difference, metric: Metric, threshold: float) -> Gate:
    if metric not in found.figures:
        raise UsageError(
            f"--metric {metric}: it is not known of a run that has not ended, with --budget, or without what "
            "records it"
        )
    return gate(found, metric, threshold)


def _content(
    base: Sequence[Run], new: Sequence[Run], found: Difference, gate: Gate | None, limit: int
) -> dict[str, Any]:
    return {
        "base": [str(run.run_dir.resolve()) for run in base],
        "new": [str(run.run_dir.resolve()) for run in new],
        "confidence": CONFIDENCE,
        "noise_known": found.noise_known,
        "figures": [{"metric": name, **_numbers(each)} for name, each in found.figures.items()],
        "functions": [_line(line) for line in found.functions[: limit or None]],
        "sites": [_line(line) for line in found.sites[: limit or None]],
        "regions": [_region(line) for line in found.regions[: limit or None]],
        "gate": _gate_content(gate) if gate else None,
    }


def _gate_content(gate: Gate) -> dict[str, Any]:
    growth = gate.growth if math.isfinite(gate.growth) else None
    return {**asdict(gate), "growth": growth, "exceeded": gate.exceeded}


# Of a call site; its address differs between versions.
PLACE = ("file", "line", "caller", "object")


def _line(line: Line) -> dict[str, Any]:
    return {
        "function": line.function,
        **({} if line.place is None else fields(line.place, PLACE)),
        "time_ns": _numbers(line.time_ns),
        "calls": _numbers(line.calls),
        "bytes": _numbers(line.bytes),
    }


def _region(line: RegionLine) -> dict[str, Any]:
    numbers = ((name, getattr(line, name)) for name in ("idle_ns", "time_ns", "calls"))
    return {**fields(line.place, PLACE), **{name: _numbers(of) for name, of in numbers}}


def _code(line: CodeChange) -> dict[str, Any]:
    return {
        **fields(line, ("function", "file", "more_ns", "error_ns", "beyond_sampling")),
        "time_ns": _numbers(line.time_ns),
    }


def _numbers(comparison: Comparison) -> dict[str, Any]:
    low, high = comparison.interval or (None, None)
    return {
        **fields(comparison, ("base", "new", "base_mean", "new_mean", "ratio")),
        "ratio_low": low,
        "ratio_high": high,
        **fields(comparison, ("p", "corrected_p", "differs")),
    }


def _show(
    base: Sequence[Run],
    new: Sequence[Run],
    found: Difference,
    code: Sequence[CodeChange],
    others: Sequence[Differing],
    failed_runs: Sequence[tuple[Run, str]],
    limit: int,
    markdown: bool,
) -> None:
    from tare.reporters import diff as reporter
    from tare.reporters.console import console

    out = console()
    sheets = [reporter.figures(found.figures, found.exact)]
    for lines, by_site in ((found.functions, False), (found.sites, True)):
        if lines:
            sheets.append(reporter.lines(lines[: limit or None], by_site=by_site))
    if found.regions:
        sheets.append(reporter.regions(found.regions[: limit or None]))
    if code:
        sheets.append(reporter.code(code[: limit or None]))
    out.line(reporter.title(base, new))
    for sheet in sheets:
        out.line()
        _print(sheet, markdown)
    _warn(others, failed_runs)
    notes = [*reporter.notes(found.exact, noise_known=found.noise_known)]
    if found.regions:
        notes.append(reporter.REGION_NOTE)
    if code:
        notes.append(reporter.CODE_NOTE)
    elif any(has_samples([run]) for run in (*base, *new)):
        notes.append(reporter.NO_CODE)
    for note in notes:
        out.line()
        out.paragraph(note)
