"""Messages: how many were sampled, what tools leave of the bandwidth, whether sampled latencies are true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.intervals import Interval, samples_needed
from tare.lab.study import strategies
from tare.lab.study.analysis import Analysis
from tare.lab.study.plan import Cell
from tare.lab.study.sections import BYTES, CHANGE, COUNT, RATIO, SECONDS, Section, Table, columns, of_table

if TYPE_CHECKING:
    import pandas as pd

# Latencies agree with the benchmark's own if their ratio is known to be no farther from 1.
AGREES = 0.1
VERDICTS = {"slower": "less", "faster": "more"}  # of a time, said of the bandwidth


@dataclass(frozen=True)
class _Message:
    """A time of the benchmark that is that of one message."""

    response: str
    bytes: int


def sampled(analysis: Analysis) -> Section | None:
    """Vetter's Figure 9, and whether it is what the strategies are defined to do."""
    rows = [
        [
            analysis.label(one.cell), one.sent, one.expected and one.expected.messages,
            one.expected and (one.expected.low, one.expected.high), one.found, one.runs,
            one.as_expected if one.expected else None,
        ]
        for one in strategies.counted(analysis)
    ]  # fmt: skip
    names = columns(
        "run", ("sent", COUNT), ("expected", COUNT), ("between", COUNT), ("sampled", COUNT), ("runs", COUNT),
        ("as expected", COUNT),
    )  # fmt: skip
    note = (
        "Messages of all ranks, medians of the runs. Expected: what the strategy's definition leads to, by "
        "chance between the two numbers in 99.9 % of all runs; of a timer, if messages come often enough, "
        "and at most. As expected: runs whose number lies between them. With the same seed all runs "
        "choose the same messages."
    )
    return of_table("Messages sampled", Table("Figure 9 of PHOTON", names, rows, note))


def bandwidth(analysis: Analysis) -> Section | None:
    """The bandwidth, from times that are those of single messages."""
    rows = {message: list(_bandwidths(analysis, message)) for message in _messages(analysis)}
    if not any(rows.values()):
        return None
    longest = max((message for message in rows if rows[message]), key=lambda message: message.bytes)
    names = columns(
        "run", ("message", BYTES), ("bare, a second", BYTES), ("a second", BYTES), ("change", CHANGE),
        ("interval", CHANGE), "verdict", ("blocks", COUNT),
    )  # fmt: skip
    note = (
        f"Length of the message over its time. Medians of the blocks. {analysis.interval_note()} Vetter has "
        '"no measurable change in the communication bandwidth" (section 4.2). Verdict: as that of the time.'
    )
    section = Section("Bandwidth", parts=[Table("Of the longest messages", names, rows[longest], note)])
    shorter = [row for message, of in rows.items() if message is not longest for row in of]
    if shorter:
        section.parts.append(Table("Of shorter messages", names, shorter, detail=True))
    if latencies := _latencies(analysis):
        section.parts.append(latencies)
    return section


def _messages(analysis: Analysis) -> list[_Message]:
    found = {
        _Message(f"{measure.phase} {measure.quantity}", measure.message_bytes)
        for workload in analysis.description.workloads.values()
        for measure in workload.measures
        if measure.message_bytes and measure.quantity == "wall"
    }
    known = set(analysis.responses())
    return sorted((one for one in found if one.response in known), key=lambda one: (-one.bytes, one.response))


def _bandwidths(analysis: Analysis, message: _Message) -> Iterator[list[object]]:
    for pair, times in analysis.known(message.response):
        ours, bare = pair.ours[message.response], pair.bare[message.response]
        change = analysis.interval(bare / ours - 1)
        verdict = analysis.verdict(times)
        yield [
            pair.label, message.bytes, float((message.bytes / bare).median()),
            float((message.bytes / ours).median()), change.median, (change.low, change.high),
            VERDICTS.get(verdict, verdict), change.count,
        ]  # fmt: skip


def _latencies(analysis: Analysis) -> Table | None:
    """What sampling says that messages took, beside what the benchmark says of all of them."""
    found: dict[tuple[str, int], dict[int, tuple[int, float]]] = {}
    for cell, run, size, messages, mean_ns in analysis.store.of_set("latencies", analysis.set_name):
        found.setdefault((cell, size), {})[run] = messages, 1e-9 * mean_ns
    rows = [
        row
        for message in _messages(analysis)
        for cell in analysis.cells
        if (by_run := found.get((cell.key, message.bytes)))
        and (row := _latency_row(analysis, message, cell, by_run)) is not None
    ]
    if not rows:
        return None
    names = columns(
        "run", ("message", BYTES), ("by the benchmark", SECONDS), ("by sampling", SECONDS),
        ("bandwidth, a second", BYTES), ("by sampling, a second", BYTES), ("ratio of times", RATIO),
        ("interval", RATIO), ("messages sampled", COUNT), "verdict", ("blocks", COUNT),
    )  # fmt: skip
    note = (
        "By the benchmark: its own time of a message, of the same runs. By sampling: the mean latency of the "
        "sampled messages of this length, from the start of the send to the end of the receive. Ratio: "
        f"within runs. Agrees: its interval lies within {100 * AGREES:.0f} %. A sampled message is "
        "longer by what sampling itself adds to it. Messages that warm up the program are among the samples. "
        "A timer prefers messages that come after an interruption."
    )
    return Table("Latencies that sampling reports", names, rows, note)


def _latency_row(
    analysis: Analysis, message: _Message, cell: Cell, by_run: dict[int, tuple[int, float]]
) -> list[object] | None:
    runs = analysis.runs(cell)
    runs = runs[runs["run"].isin(list(by_run)) & runs[message.response].notna()]
    if runs.empty:
        return None
    own: pd.Series[float] = runs[message.response]
    told = runs["run"].map({run: mean_s for run, (_, mean_s) in by_run.items()})
    count = runs["run"].map({run: messages for run, (messages, _) in by_run.items()})
    ratio = analysis.interval(told / own)
    return [
        analysis.label(cell), message.bytes, float(own.median()), float(told.median()),
        float((message.bytes / own).median()), float((message.bytes / told).median()), ratio.median,
        (ratio.low, ratio.high), float(count.median()), _agreement(ratio, analysis.confidence), ratio.count,
    ]  # fmt: skip


def _agreement(ratio: Interval, confidence: float) -> str:
    if not ratio.is_confident(confidence):
        return f"not decided: {samples_needed(confidence)} blocks are needed"
    if ratio.low >= 1 - AGREES and ratio.high <= 1 + AGREES:
        return "agrees"
    if ratio.low > 1 + AGREES:
        return "longer"
    return "shorter" if ratio.high < 1 - AGREES else "not decided"
