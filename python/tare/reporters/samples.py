"""Sampled messages as text: counts, classes, histograms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.analysis import samples as analysis
from tare.analysis.samples import FIRST_WIDTH
from tare.reporters import terminal
from tare.reporters.sheet import WORLD, Column, Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._native import SampleSummary
    from tare.analysis.samples import CountName, Key, Row
    from tare.reporters.console import Console
    from tare.runs.run import Run

OF_KEY: dict[Key, Column] = {
    "source": Column("From", cell=lambda row: NOTHING if row.source is None else str(row.source)),
    "destination": Column(
        "To", cell=lambda row: NOTHING if row.destination is None else str(row.destination)
    ),
    "send": Column("Sent at", text=True, cell=lambda row: terminal.place(row.send)),
    "receive": Column("Received at", text=True, cell=lambda row: terminal.place(row.receive)),
    "size": Column("Size", cell=lambda row: _lengths(row)),
}
# What stands in a column of its own where there is room, and else below the row in these words.
FIGURES = {
    Heading("Latency"): "{}",
    Heading("±", optional=True): "± {}",
    Heading("Messages"): "{}",
    Heading("95 %", optional=True): "{} messages",
    Heading("Unexpected", optional=True): "{} unexpected",
    Heading("Late receiver", optional=True): "late receiver {}",
    Heading("Transfer", optional=True): "transfer {}",
    Heading("Late sender", optional=True): "late sender {}",
    Heading("Longest", optional=True): "longest {}",
    Heading("Sampled", optional=True): "{} sampled",
    Heading("Distribution", text=True, optional=True): "{}",
}
INTERVALS = "±, and the range of messages: 95 % confidence intervals, from the sampling rate"
UNEXPECTED = "! unexpected: sent before a receive was posted, waited for the receiver"
# Why a message that was chosen is not in a class.
LOSSES: dict[CountName, str] = {
    "ambiguous": "sent while other calls, or the same one, sent on their channel, or by calls that failed",
    "ambiguous_received": "received while other calls, or the same one, posted receives of their channel",
    "unpaired": "not seen to be received (truncated, cancelled, never received, or of a call that failed)",
    "recordless": "received, but nothing came of their sender",
    "contradictory": "of another length than the sender said: please report this",
    "lost": "for which there was no room on the way",
    "unreachable": "to ranks that could not be told of them (not yet, spawned, measured by another run, or "
    "no longer, because a send failed)",
}
LEVELS = " ▁▂▃▄▅▆▇█"
BAR_WIDTH = 50


def show(
    out: Console,
    recording: Run,
    rows: Sequence[Row],
    keys: Sequence[Key],
    counts: Mapping[CountName, int],
    limit: int,
    *,
    by_powers: bool,
) -> None:
    """The table has the first `limit` rows (0: all); what is below it is of all. `by_powers`: a row holds
    messages of several lengths."""
    _show_totals(out, recording, counts)
    if not rows:
        out.line("no message was sampled on both sides")
        return
    in_table = rows[: limit or None]
    whole = _sheet(in_table, keys, recording.worlds)
    shown = terminal.fitted(whole, out.width)
    below = _below(whole, shown, out.width)
    terminal.show_sheet(out, shown, below=below if any(below) else None)
    if left_out := len(rows) - len(in_table):
        out.line(f"… {left_out:,} more rows; --limit 0 shows all")
    _show_legend(out, in_table, counts["chosen"] - counts["paired"])
    if by_powers:
        out.paragraph(
            "lengths between the same powers of two are one row; --exact-sizes has one for each length"
        )
    _show_histogram(out, rows)


def show_results(out: Console, recording: Run, limit: int) -> None:
    """The results of the user's analysis, at most `limit` ranks and lines of each; 0: all."""
    results = analysis.results(recording.sample_summaries)
    for result in results[: limit or None]:
        out.line()
        place = f"rank {result.rank}" + (f" of world {result.world}" if recording.worlds > 1 else "")
        out.line(f"Analysis of {place}", bold=True)
        lines = result.text.split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        for line in lines[: limit or None]:
            out.line(f"  {line}")
        if limit and len(lines) > limit:
            out.line(f"  … {units.number_of(len(lines) - limit, 'more line')}; --limit 0 shows all")
    if limit and len(results) > limit:
        out.line(f"… {units.number_of(len(results) - limit, 'more rank')}; --limit 0 shows all")


def _below(whole: Sheet, shown: Sheet, width: int) -> list[list[str]]:
    """What each row holds for which there is no column, in words, on as many lines as that takes."""
    left_out = [column for column, each in enumerate(whole.headings) if each not in shown.headings]
    words = [
        [FIGURES[whole.headings[column]].format(row[column]) for column in left_out] for row in whole.rows
    ]
    widths = [max(map(len, column)) for column in zip(*words, strict=True)]
    lines = terminal.parts(widths, width - len(terminal.BELOW))
    return [
        [terminal.COLUMN_GAP.join(f"{row[part]:<{widths[part]}}" for part in line).rstrip() for line in lines]
        for row in words
    ]


def _show_legend(out: Console, rows: Sequence[Row], missed: int) -> None:
    """`missed`: number of messages that were chosen, but are not among the samples."""
    out.line()
    if any(row.estimate is not None and row.estimate > row.count for row in rows):
        out.paragraph(INTERVALS)
    if missed > 0 and any(row.estimate is not None for row in rows):
        out.paragraph("the numbers of messages do not include those that were chosen, but have no pair")
    for reason in dict.fromkeys(row.not_estimated for row in rows if row.not_estimated):
        out.paragraph(f"number of messages and ± not known: {reason}")
    if any(row.unexpected for row in rows):
        out.paragraph(UNEXPECTED)


def _show_totals(out: Console, recording: Run, counts: Mapping[CountName, int]) -> None:
    out.line(f"Sampled by {', '.join(analysis.specs(recording))}", bold=True)
    if analysis.are_counted(recording.sample_summaries):
        out.line(
            f"  {units.number_of(counts['sent'], 'message')} sent, {counts['chosen']:,} chosen, "
            f"{counts['paired']:,} seen on both sides"
        )
    for name, why in LOSSES.items():
        if counts[name]:
            out.paragraph(why, f"  {counts[name]:,} ")
    if counts["unnumbered"]:
        why = "received whose number in their channel cannot be known; none of them is among the samples"
        out.paragraph(why, f"  {counts['unnumbered']:,} ")
    together = sum(sample.count for sample in recording.sample_rows if sample.source < 0)
    if together:
        why = "of classes that the table had no room for; they are counted together"
        out.paragraph(why, f"  {together:,} ")
    for limit in analysis.limits(recording.sample_summaries):
        out.paragraph(limit, "  ")
    if said := _clocks(recording.sample_summaries):
        out.paragraph(said, "  ")
    out.line()


def _clocks(summaries: Sequence[SampleSummary]) -> str:
    """How well the clocks of nodes are known; nothing on one node."""
    start = max(summary.clock_uncertainty_ns for summary in summaries)
    if start == 0:
        return ""
    said = f"clocks of nodes compared to ± {units.duration(start)}"
    if not any(summary.clock_span_ns for summary in summaries):
        return said + " at the start, and not at the end"
    end = max(summary.clock_end_uncertainty_ns for summary in summaries)
    drift = max(abs(summary.clock_drift_ns) for summary in summaries)
    return said + f" at the start, {units.duration(end)} at the end, {units.duration(drift)} apart by then"


def _sheet(rows: Sequence[Row], keys: Sequence[Key], worlds: int) -> Sheet:
    by = [*(OF_KEY[key] for key in keys)]
    world = [WORLD] if worlds > 1 else []
    sheet = Sheet([*by, *FIGURES, *world])
    bins = _span(rows)
    for row in rows:
        figures = _figures(row, bins)
        sheet.rows.append([*(of.cell(row) for of in by), *figures, *(of.cell(row) for of in world)])
    return sheet


def _figures(row: Row, bins: Sequence[int]) -> list[str]:
    margin = None if row.mean_high_ns is None else row.mean_high_ns - row.mean_ns
    return [
        units.duration(row.mean_ns),
        NOTHING if margin is None else units.duration(margin),
        NOTHING if row.estimate is None else units.count(round(row.estimate)),
        _range(row),
        units.percent(row.unexpected / row.count) + (" !" if row.unexpected else "  "),
        units.duration(row.unposted_ns + row.unwaited_ns),
        units.duration(row.transfer_ns),
        units.duration(row.late_sender_ns),
        units.duration(row.max_ns),
        units.count(row.count),
        _distribution(row, bins),
    ]


def _counts(row: Row) -> Counter[int]:
    return Counter({each.to_ns: each.count for each in row.histogram or []})


def _span(rows: Sequence[Row]) -> list[int]:
    """Upper bounds of all bins from the first in use to the last."""
    used = [bound for row in rows for bound in _counts(row)]
    if not used:
        return []
    return [2**power for power in range(min(used).bit_length() - 1, max(used).bit_length())]


def _lengths(row: Row) -> str:
    """The length of each message, or those of the shortest and the longest."""
    if row.bytes_from is None or row.bytes_to is None:
        return "other"
    ends = dict.fromkeys(map(units.size, (row.bytes_from, row.bytes_to)))
    return " - ".join(ends)


def _range(row: Row) -> str:
    if row.estimate_low is None or row.estimate_high is None:
        return NOTHING
    if row.estimate_low == row.estimate_high:
        return "all"
    return f"{units.count(round(row.estimate_low))} .. {units.count(round(row.estimate_high))}"


def _distribution(row: Row, bins: Sequence[int]) -> str:
    """A bar for each of the bins, between their bounds."""
    counts = _counts(row)
    if not counts:
        return NOTHING
    highest = max(counts.values())
    # The smallest count that is not 0 can be seen.
    bars = "".join(LEVELS[-(-counts[bound] * (len(LEVELS) - 1) // highest)] for bound in bins)
    return f"{units.duration(_start(bins[0]))} {bars} {units.duration(bins[-1])}"


def _start(bound: int) -> int:
    """The start of the bin up to `bound`."""
    return bound // 2 if bound > 2**FIRST_WIDTH else 0


def _show_histogram(out: Console, rows: Sequence[Row]) -> None:
    together = {each.to_ns: each.count for each in analysis.together(rows)}
    if not together:
        return
    total, highest = sum(together.values()), max(together.values())
    out.title("Latencies of these samples")
    width = max(min(BAR_WIDTH, out.width - 36), 8)
    for bound in _span(rows):
        count = together.get(bound, 0)
        label = f"{units.duration(_start(bound)):>8} - {units.duration(bound):<8}"
        bar = "█" * round(width * count / highest) or ("▏" if count else "")
        out.line(f"  {label} {bar:<{width}} {units.percent(count / total):>7}".rstrip())
