"""`tare samples`: one-way latencies of the messages that a run sampled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, cast

from tare.analysis import samples as analysis
from tare.analysis.samples import Key
from tare.commands import AnyMember, Json, RunDirectory, choice, print_json
from tare.commands.reading import conclude, open_readable
from tare.errors import CommandError, TareError, UsageError
from tare.options import Option

SCHEMA = "tare.samples/1"


class Sort(StrEnum):
    """What comes first."""

    MEAN = "mean"
    LONGEST = "longest"
    MESSAGES = "messages"
    TRANSFER = "transfer"
    LATE = "late"
    TOTAL = "total"


def _sorted(rows: list[analysis.Row], sort: Sort) -> list[analysis.Row]:
    """Rows whose value is not known come last, those of most samples first."""
    by: Callable[[analysis.Row], float | None] = {
        Sort.MEAN: lambda row: row.mean_ns,
        Sort.LONGEST: lambda row: row.max_ns,
        Sort.MESSAGES: lambda row: row.estimate,
        Sort.TRANSFER: lambda row: row.transfer_ns,
        Sort.LATE: lambda row: row.unposted_ns + row.unwaited_ns,
        Sort.TOTAL: lambda row: row.total_ns,
    }[sort]

    def key(row: analysis.Row) -> tuple[float, int]:
        value = by(row)
        return (-1.0, row.count) if value is None else (value, 0)

    return sorted(rows, key=key, reverse=True)


def samples(
    run: RunDirectory,
    by: Annotated[
        str,
        Option(
            metavar="KEYS",
            help="What each row stands for: source, destination, send, receive, size (a class), or several "
            "of them, like send,receive. With more than "
            f"{analysis.MOST_LENGTHS} sizes, those between the same powers of two are one row, except in "
            "JSON and CSV.",
        ),
    ] = ",".join(analysis.KEYS),
    exact_sizes: Annotated[
        bool, Option("--exact-sizes", help="A row for each size, however many there are.")
    ] = False,
    sort: Annotated[Sort, Option(help="Sort by this, largest first.")] = Sort.MEAN,
    limit: Annotated[
        int | None,
        Option(
            min=0,
            help="Print at most N rows, and N lines of each analysis; 0 prints all. (default: 20; in JSON "
            "and CSV all)",
        ),
    ] = None,
    source: Annotated[list[int] | None, Option(help="Only messages of this rank (may be repeated).")] = None,
    destination: Annotated[
        list[int] | None, Option(help="Only messages to this rank (may be repeated).")
    ] = None,
    member: AnyMember = None,
    json: Json = False,
    csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Print one-way latencies of sampled messages.

    A latency lasts from the start of the send to the end of the receive: docs/samples.md.

    Example: tare samples app-20260131-120000 --by send,receive
    """
    if json and csv:
        raise UsageError("choose one of --json and --csv")
    keys = cast("list[Key]", choice.keys(by, analysis.KEYS))
    recording = open_readable(run, member)
    choice.check_ranks(recording, source, "--source")
    choice.check_ranks(recording, destination, "--destination")
    if not recording.sample_summaries:
        raise TareError("this run sampled no messages: tare run --sample random:0.01 -- COMMAND")
    chosen = [
        row
        for row in analysis.with_both_comparisons(recording.sample_rows, recording.sample_summaries)
        if (not source or row.source in source) and (not destination or row.destination in destination)
    ]
    rows = _sorted(analysis.summed(chosen, recording.sites, keys, exact=exact_sizes or json or csv), sort)
    most = (0 if json or csv else 20) if limit is None else limit
    shown = rows[:most] if most else rows
    counts = analysis.totals(recording.sample_summaries)
    if json:
        specs = analysis.specs(recording)
        content = {
            "spec": specs[0] if len(specs) == 1 else specs,
            "messages": counts,
            "limits": analysis.limits(recording.sample_summaries),
            "clocks": [asdict(each) for each in analysis.comparisons(recording.sample_summaries)],
            "rows": [analysis.record(row, keys) for row in shown],
            "analyses": [asdict(each) for each in analysis.results(recording.sample_summaries)],
        }
        print_json(SCHEMA, run, content)
    elif csv:
        from tare.reporters import csv as csv_reporter

        records = [analysis.record(row, keys) for row in shown]
        csv_reporter.write_rows(sys.stdout, analysis.columns(keys), records)
    else:
        from tare.reporters import sample_drawings
        from tare.reporters import samples as reporter
        from tare.reporters.console import console

        out = console()
        by_powers = not exact_sizes and "size" in keys and analysis.has_many_lengths(chosen)
        reporter.show(out, recording, rows, keys, counts, most, by_powers=by_powers)
        sample_drawings.draw(out, chosen, recording.sites)
        reporter.show_results(out, recording, most)
    conclude(recording)
    if not rows and (source or destination):
        raise CommandError("no sampled message matches --source and --destination")
