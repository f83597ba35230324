"""What a run was and what it cost: the end of `tare run`, and `tare info`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare import units
from tare.analysis import budget, endings, profile, ranks, totals, traces, trial
from tare.analysis.spread import spread
from tare.functions import OUTSIDE_NET, meaning
from tare.measuring import unseen
from tare.reporters import budget as budget_lines
from tare.reporters import cells, last_calls, scheduling, terminal, warnings
from tare.reporters import locations as location_sheets
from tare.reporters import profile as profile_sheet
from tare.reporters import totals as total_sheet
from tare.reporters.sheet import WORLD, Column, Sheet
from tare.runs import missing
from tare.streams import visible
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._native import Process, TotalCost, Trace
    from tare.reporters.console import Console
    from tare.runs.metadata import Metadata, Reception
    from tare.runs.run import Run

RANKS_LISTED = 8
SITES_LISTED = 10
UNWELL_LISTED = 4
LABEL_WIDTH = 11
# What the times of killed processes go up to.
UNTIL = {
    "command": "before the command ended: counted as running until then",
    "last_seen": "when is not known: counted until the last call began",
}
INDENT = "  "
MEASURED = Column("Measured", cell=lambda process: units.duration(process.threads_ns))


def after_run(out: Console, recording: Run, notes: Sequence[str]) -> None:
    """The summary at the end of `tare run`."""
    overview(out, recording)
    _top_sites(out, recording)
    _totals(out, recording)
    account(out, recording)
    _notes(out, [*notes, *recording.warnings])
    where_to_look(out, recording)


def info(out: Console, recording: Run) -> None:
    """Prints what `tare info` shows of a run."""
    overview(out, recording)
    _totals(out, recording)
    account(out, recording)
    _locations(out, recording)
    _notes(out, recording.warnings)


def overview(out: Console, recording: Run) -> None:
    """Program, MPI, time, how it ended, the ranks."""
    processes = recording.processes
    meta = recording.meta
    out.line(f"tare: {meta.name}", bold=True)
    _field(out, "command", shlex.join(meta.command))
    for version in ranks.mpi_versions(processes):
        _field(out, "MPI", version)
    if meta.options.sources:
        _field(out, "sources", ", ".join(("MPI", *meta.options.sources)))
    _field(out, "wall time", f"{_wall(meta, processes)}, {recording.ending}")
    who = "ranks" if ranks.use_mpi(processes) or not processes else "processes"
    text = _ranks(recording) if processes or not recording.unread else recording.unread
    out.paragraph(text, f"{INDENT}{who:<{LABEL_WIDTH}}")
    if jobs := ranks.apart(recording):
        out.paragraph(apart(recording, jobs), INDENT + " " * LABEL_WIDTH)
    if earliest := _first_end(recording):
        out.paragraph(earliest, f"{INDENT}{'first end':<{LABEL_WIDTH}}")
    label = "last calls"
    for text in last_calls.sentences(recording):
        out.paragraph(text, f"{INDENT}{label:<{LABEL_WIDTH}}")
        label = ""
    for until, text in UNTIL.items():
        if any(process.until == until and process.state == "killed" for process in processes):
            _field(out, "killed", text)
    for text in unseen.sentences(meta):
        out.paragraph(text, f"{INDENT}{'UNSEEN':<{LABEL_WIDTH}}")
    if ranks.use_mpi(processes):
        _field(out, "MPI share", _spread(processes))
        if text := scheduling.sentence(meta, processes):
            out.paragraph(text, f"{INDENT}{'processors':<{LABEL_WIDTH}}")
        _rank_table(out, recording)
    elif processes:
        _field(out, "net time", _net_time(processes))


def account(out: Console, recording: Run) -> None:
    """The trace and what the measurement itself cost."""
    if not recording.processes:
        return
    out.title(f"Cost of measuring ({ranks.summed(recording)})")
    for label, text in account_lines(recording):
        _field(out, label, text)


def where_to_look(out: Console, recording: Run) -> None:
    """Prints the commands that show more of the run."""
    path = shlex.quote(_short_path(recording.run_dir))
    out.title(f"Run directory: {path}")
    _field(out, "", f"tare profile {path}")
    if recording.total_trace().records:
        part = "--last" if recording.total_trace().policy == "overwrite" else "--limit"
        _field(out, "", f"tare events {path} {part} 20")
    if recording.sample_summaries:
        _field(out, "", f"tare samples {path}")
        from tare.analysis import samples

        for limit in samples.limits(recording.sample_summaries):
            out.paragraph(limit, "  sampling   ")
    if any(process.state in (*endings.EARLY, "running", "unknown") for process in recording.processes):
        _field(out, "", f"tare where {path}")


def _wall(meta: Metadata, processes: Sequence[Process]) -> str:
    """The time that `tare run` measured, else from the start of the command to the last end, or now."""
    if meta.wall_ns is not None:
        return units.duration(meta.wall_ns)
    if not processes:
        return "unknown"
    return units.duration(max(max(map(endings.end_ns, processes)) - meta.start_ns, 0))


def _ranks(recording: Run) -> str:
    processes, lacking = recording.processes, missing.count(recording.missing)
    if not processes:
        return f"{lacking} missing" if lacking else "none: no process called MPI"
    every, processes = len(processes), ranks.of_ranks(processes)
    states = ranks.count_states(processes)
    hosts = len({process.host for process in processes})
    absent = lacking - sum(not process.has_results for process in processes)
    of = f" of {len(processes) + absent}" if absent else ""
    have_all_failed = set(states) <= set(endings.EARLY)
    parts = [f"{len(processes)}{of} on {units.number_of(hosts, 'host')}"]
    for state, number in states.items():
        alike = [process for process in processes if process.state == state]
        which = f" ({_named(alike)})" if state in endings.EARLY and not have_all_failed else ""
        parts.append(f"{number} {state}{which}")
    text = ", ".join([*parts, *([f"{lacking} missing"] if lacking else [])])
    if every > len(processes):
        text += f"; {units.number_of(every - len(processes), 'other process', 'other processes')}"
    return text


def _named(processes: Sequence[Process]) -> str:
    """ "rank 0", "ranks 0, 1 and 3 more", "processes 4711, 4712"."""
    listed = processes[:UNWELL_LISTED]
    have_ranks = all(process.rank >= 0 for process in listed)
    what = units.noun(len(processes), *(("rank", "ranks") if have_ranks else ("process", "processes")))
    names = ", ".join(str(process.rank if have_ranks else process.pid) for process in listed)
    more = len(processes) - len(listed)
    return f"{what} {names}{f' and {more} more' if more else ''}"


def _spread(processes: Sequence[Process]) -> str:
    processes = ranks.of_ranks([process for process in processes if process.has_results])
    if not processes:
        return NOTHING
    found = spread(processes, ranks.mpi_share)
    if found is None or not ranks.are_mpi_shares_known(processes):
        return f"not known: {budget_lines.NO_SHARE}"
    if len(processes) == 1:
        return f"{units.percent(found.most)} of the time"
    several = len({process.world for process in processes}) > 1

    def who(process: Process) -> str:
        return f"rank {terminal.rank(process.rank)}" + (f" of world {process.world}" if several else "")

    return (
        f"min {units.percent(found.least)} ({who(found.min_at)}), "
        f"mean {units.percent(found.mean)}, "
        f"max {units.percent(found.most)} ({who(found.max_at)})"
    )


def _net_time(processes: Sequence[Process]) -> str:
    """How long the processes lived, for a run without MPI."""
    longest = units.duration(max(process.net_ns for process in processes))
    return longest if len(processes) == 1 else f"{longest} of the longest process"


def _rank_table(out: Console, recording: Run) -> None:
    processes = [process for process in recording.processes if process.has_results]
    if len(processes) > RANKS_LISTED:
        return
    # The time in MPI is that of the calls that were measured; the share is an estimate of all time.
    is_partly_measured = any(process.threads_ns < process.net_ns for process in processes)
    columns = (
        *([WORLD] if recording.worlds > 1 else ()),
        Column("Rank", cell=lambda process: terminal.rank(process.rank)),
        Column("State", cell=endings.brief),
        Column("Calls", cell=lambda process: units.count(process.calls)),
        Column("Net time", cell=lambda process: units.duration(process.net_ns)),
        *([MEASURED] if is_partly_measured else ()),
        Column("MPI time", cell=lambda process: units.duration(process.mpi_ns)),
        Column("MPI share", cell=lambda process: terminal.share(ranks.mpi_share(process))),
    )
    out.line()
    terminal.show_sheet(out, Sheet.of(columns, processes), INDENT)


def apart(recording: Run, jobs: int) -> str:
    """Says why ranks do not belong together that were started together."""
    launcher = Path(recording.meta.command[0]).name
    library = " and ".join(ranks.mpi_versions(recording.processes)) or "the MPI library of the program"
    return f"{jobs:,} jobs of one rank each: {library} does not seem to know the launcher, {launcher}"


def _first_end(recording: Run) -> str | None:
    """Who ended before the others did, and how, as far as that was seen."""
    found = endings.first(recording.processes, others=missing.incomplete(recording) > 0)
    if found is None:
        return None
    earliest = min(found.processes, key=endings.end_ns)
    after = units.duration(max(endings.end_ns(earliest) - recording.start_ns, 0))
    several = len(found.processes) > 1
    who = _named(found.processes)
    if not found.is_certain:
        return f"perhaps {who}, of which nothing was seen later than {after} after the start"
    ways = dict.fromkeys(map(endings.describe, found.processes))
    return f"{who}, {after} after the start{', together' * several}: {' or '.join(ways)}"


def _top_sites(out: Console, recording: Run) -> None:
    rows = profile.summed(recording, ["line"])
    timed = [row for row in rows if row.timed and row.function not in OUTSIDE_NET]
    if not timed:
        return
    top = profile.ordered(timed, "time_ns", SITES_LISTED)
    more = f" {len(top)} of {len(timed)}" if len(top) < len(timed) else ""
    out.title(f"Top call sites{more} ({ranks.summed(recording)})")
    sheet = profile_sheet.sheet(recording, top, ["line"])
    terminal.show_sheet(out, sheet, INDENT)


def _totals(out: Console, recording: Run) -> None:
    found = totals.of_run(recording)
    if not found:
        return
    out.title(f"{total_sheet.TITLE} ({ranks.summed(recording)})")
    terminal.show_sheet(out, total_sheet.sheet(found), INDENT)


def account_lines(recording: Run) -> Iterator[tuple[str, str]]:
    """The parts of the cost of measuring, and what it brought, each with what is to be said of it."""
    cost = recording.total_cost()
    trace = recording.total_trace()
    if recording.meta.imported is not None:
        yield "not known", f"another tool recorded {recording.meta.imported}"
        return
    with_mpi = ranks.use_mpi(recording.processes)
    with_calls = with_mpi or cost.calls > 0
    if with_calls:
        yield "recorded", _recorded(cost, recording)
    if cost.own_events:
        yield (
            "own events",
            f"{cost.own_events:,}" + (f", {cost.event_ns:.1f} ns each" if cost.event_ns > 0 else ""),
        )
    if with_calls:
        yield "wrappers", _wrappers(cost)
    yield "flushes", _flushes(cost)
    if cost.offload_points:
        yield "offloads", _offloads(cost)
    if cost.chooser_ns or cost.analysis_ns:
        spent = ((cost.chooser_ns, "the chooser"), (cost.analysis_ns, "the analysis"))
        yield "your code", ", ".join(f"{units.duration(ns)} in {what}" for ns, what in spent if ns)
    if cost.readings:
        yield "readings", f"{cost.readings:,} of processor times, {units.duration(cost.reading_ns)}"
    if cost.stack_samples:
        yield "stacks", f"{cost.stack_samples:,} samples, {units.duration(cost.stack_ns)}"
    if recording.meta.reception:
        yield "rounds", _rounds(recording.meta.reception)
    if cost.drains:
        drains = _writes(cost.drains, cost.drain_ns, cost.drain_bytes)
        yield "drains", f"{drains} by tared, beside the threads"
    if with_mpi:
        yield "hooks", _hooks(cost, recording)
        all_time = f"{100 * cost.wall_share:.2f} % of all time with the hooks"
        yield "in all", f"{100 * cost.net_share:.2f} % of {budget.base_of_cost(recording)}, {all_time}"
    elif with_calls or cost.own_events:
        yield "in all", f"{100 * cost.net_share:.2f} % of {budget.base_of_cost(recording)}"
    yield from _trial(recording)
    if kept := budget.of_run(recording):
        yield from budget_lines.lines(kept, budget.base_of_cost(recording))
    if not trace.written:
        yield "trace", "encoded, but not written (--write none)"
    elif trace.records or trace.dropped:
        yield "trace", _trace(trace)
    if cost.dropped or trace.dropped:
        yield "DROPPED", dropped(max(cost.dropped, trace.dropped), trace, recording)
    if trace.kept_newest:
        yield "KEPT", "the records before those, and the newest"
    left = sum(process.left_calls for process in recording.processes)
    if left:
        yield "left", f"{units.number_of(left, 'call')} by an exception, longjmp or the end of the thread"
    failed = sum(process.failed_calls for process in recording.processes)
    if failed:
        yield "failed", f"{units.number_of(failed, 'call')} of MPI returned an error"
    in_callbacks = sum(process.callback_calls for process in recording.processes)
    if in_callbacks:
        yield (
            "callbacks",
            f"{units.number_of(in_callbacks, 'call')} of communication made in them, in no table",
        )
    unmeasured = sum(process.unmeasured_threads for process in recording.processes)
    if unmeasured:
        yield "UNMEASURED", f"{units.number_of(unmeasured, 'thread')}, for whose buffers there was no memory"
    for text in ranks.reductions(recording.processes):
        yield "REDUCED", text


def _hooks(cost: TotalCost, recording: Run) -> str:
    """What begins and ends MPI, and what tare does in it. The end of a session has nothing to do for tare."""
    begins = {meaning(row.function).begins for row in recording.rows(recording.profile(["function"]))}
    begin = units.duration(cost.hook_init_ns)
    if "session" in begins and "world" not in begins:
        return f"{begin} in MPI_Session_init"
    sessions = " and MPI_Session_init" if "session" in begins else ""
    return f"{begin} in MPI_Init{sessions}, {units.duration(cost.hook_finalize_ns)} in MPI_Finalize"


def _trial(recording: Run) -> Iterator[tuple[str, str]]:
    """What `--weigh` found. A run with a budget alone may have no result: none was asked for."""
    found = trial.of_run(recording)
    weighed = recording.meta.options.weigh is not None
    if found is None or (found.overhead is None and not weighed):
        if weighed:
            yield "by trial", "not determined: the ranks never passed together (docs/weigh.md)"
        return
    if found.overhead is None or found.low is None or found.high is None:
        yield "by trial", f"not determined: {found.why}"
    else:
        interval = f"{100 * found.low:.1f} to {100 * found.high:.1f} %"
        yield "by trial", f"{100 * found.overhead:.1f} % of net time, {interval} with 95 % confidence"
    drains = f"; flushes in them {100 * found.drains:.1f} %" if found.drains >= 0.001 else ""
    yield "spells", f"{found.measured:,} measured, {found.unmeasured:,} not{drains}"


def _recorded(cost: TotalCost, recording: Run) -> str:
    options = recording.meta.options
    only = options.weigh is not None or options.budget is not None
    counted = "counted only" if only else f"{units.noun(cost.counted, 'look-up')} counted"
    return f"{units.number_of(cost.calls - cost.counted, 'call')} timed, {cost.counted:,} {counted}"


def _wrappers(cost: TotalCost) -> str:
    if not cost.weighed:
        return _plus_minus(cost)
    return (
        f"{_plus_minus(cost)} ({cost.call_ns:.1f} ns a call, {units.number_of(cost.weighed, 'call')} weighed)"
    )


def _plus_minus(cost: TotalCost) -> str:
    """What the wrappers took, with the interval of 95 % where it is known."""
    error_ns = cost.wrapper_error_ns
    spent = units.duration(cost.wrapper_ns)
    if error_ns is None or cost.wrapper_ns == 0:
        return f"about {spent}"
    return f"{spent} ± {100 * error_ns / cost.wrapper_ns:.0f} %"


def _locations(out: Console, recording: Run) -> None:
    """What each location recorded; of many, the spread. Nothing if the ranks above say it all."""
    found = recording.rows(recording.locations)
    if len(found) == len(recording.processes) and not any(row.records or row.dropped for row in found):
        return
    out.title("Locations (a thread, with its buffer)")
    terminal.show_sheet(out, location_sheets.sheet(found, recording.worlds), INDENT)


def _flushes(cost: TotalCost) -> str:
    return _writes(cost.flushes, cost.flush_ns, cost.flush_bytes) if cost.flushes else "none"


def _writes(count: int, time_ns: float, size_bytes: int) -> str:
    return f"{count:,}, {units.duration(time_ns)}, {units.size(size_bytes)}"


def _offloads(cost: TotalCost) -> str:
    """What the monitor cost the ranks."""
    mean_ns = cost.offload_ns / max(cost.offloads, 1)
    text = f"{cost.offloads:,}, {units.duration(mean_ns)} each, {units.duration(cost.offload_max_ns)} at most"
    if cost.offload_wait_ns:
        text += f"; {units.duration(cost.offload_wait_ns)} waiting for tared"
    return f"{text}; {cost.offloads_lost:,} lost" if cost.offloads_lost else text


def _rounds(reception: Reception) -> str:
    """What became of the offloads."""
    text = f"{reception.rounds:,} stored"
    if reception.excess_ns:
        text += f", the last {units.duration(reception.excess_ns)} after the end"
    return f"{text}; {reception.cut_off:,} profiles cut off" if reception.cut_off else text


def dropped(records: int, trace: Trace, recording: Run) -> str:
    """How many records are missing, and why."""
    if not trace.kept_newest:
        return f"{units.number_of(records, 'record was', 'records were')} lost"
    where = _short_path(recording.run_dir)
    reason = f"no space on {where}" if trace.no_space else f"they could not be written to {where}"
    return f"{units.number_of(records, 'record')}: {reason}"


def _trace(trace: Trace) -> str:
    records, size_bytes = trace.records, trace.bytes
    each = f" ({size_bytes / records:.1f} bytes each)" if records else ""
    newest = "the newest " if traces.has_newest_alone(trace) else ""
    return f"{newest}{units.number_of(records, 'record')}, {units.size(size_bytes)}{each}"


def _notes(out: Console, notes: Sequence[str]) -> None:
    distinct = list(dict.fromkeys(notes))
    if distinct:
        out.line()
    for note in distinct[: warnings.LISTED]:
        out.paragraph(note, f"{INDENT}! ")
    if len(distinct) > warnings.LISTED:
        out.line(f"{INDENT}! and {len(distinct) - warnings.LISTED:,} more: tare info --json")


def _field(out: Console, label: str, text: str) -> None:
    """One line, cut to the terminal: `  label      text`."""
    start = f"{INDENT}{label:<{LABEL_WIDTH}}" if label else INDENT
    text = visible(text)
    room = max(out.width - len(start), 20)
    if label:
        text = cells.cut(text, room)
    out.line(f"{start}{text or NOTHING}")


def _short_path(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
