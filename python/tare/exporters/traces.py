"""Traces in the formats of other tools, which the native reader writes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tare import streams, units
from tare.analysis import ranks
from tare.errors import NOTHING_MEASURED, CommandError
from tare.exporters import Exporter, Part

if TYPE_CHECKING:
    from tare._native import Exported
    from tare.runs.run import Run


def write(kind: str, run: Run, to: Path, part: Part) -> str:
    """Writes the events, and says on standard error what the file lacks. CommandError without a trace."""
    check_trace(run)
    done = run.export_trace(kind, to, part.ranks or None, part.start_ns, part.end_ns)
    _tell_what_lacks(done, part, has_ranks=ranks.has_ranks(run.processes))
    return units.number_of(done.events, "event")


def check_trace(run: Run) -> None:
    """CommandError if the run has no trace."""
    if not run.processes:
        raise CommandError(NOTHING_MEASURED)
    if not run.meta.options.trace and not any(process.trace.records for process in run.processes):
        raise CommandError("this run has no trace: measure it with tare run --trace -- COMMAND")


def _tell_what_lacks(done: Exported, part: Part, *, has_ranks: bool) -> None:
    trace = "the trace" if part.start_ns is None and part.end_ns is None else "this part of the trace"
    if done.open:
        regions = units.number_of(done.open, "region or phase has", "regions or phases have")
        ends = units.noun(done.open, "it ends", "they end")
        streams.tell(f"tare: {regions} no end in {trace}; {ends} with it")
    if done.ends:
        left_out = units.number_of(
            done.ends, "end of a region or phase was", "ends of regions or phases were"
        )
        what = units.noun(done.ends, "what it ends has", "what they end has")
        why = f"{what} no begin in {trace}, or ended before, with the region or phase around it"
        streams.tell(f"tare: {left_out} left out: {why}")
    if done.obstacle and has_ranks:
        streams.tell(f"tare: not all messages are shown: {done.obstacle}")


_TAKES = ("rank", "time")
OTF2 = Exporter(".otf2", partial(write, "otf2"), _TAKES)
PAJE = Exporter(".trace", partial(write, "paje"), _TAKES)
PERFETTO = Exporter(".perfetto-trace", partial(write, "perfetto"), _TAKES)
