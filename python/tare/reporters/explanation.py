"""Findings as plain sentences, each with its number and its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tare import rank_numbers, units
from tare.analysis.explain.finding import (
    BLOCKED,
    MIN_MPI_SHARE,
    MIN_SHARE,
    OF_ROOTS,
    UNEVEN,
    Explanation,
    Finding,
)
from tare.analysis.rows import UNKNOWN, flat
from tare.reporters import names, terminal
from tare.reporters.console import Console
from tare.streams import visible
from tare.units import NS_PER_S

MAX_SENTENCES = 10
_call = terminal.call_in

# Findings about other sources of events: their time is in no sum of what ranks lose in MPI.
OF_OTHERS = {
    "idle threads", "tiny regions", "contention", "serial computing", "serial files",
    "small accesses", "files",
}  # fmt: skip


def show(out: Console, of: Explanation, start_ns: int) -> None:
    """Numbered, the most severe first; then what they are based on."""
    for number, sentence in enumerate(sentences(of, start_ns), start=1):
        out.paragraph(sentence, f"{number:2}. ")


def sentences(of: Explanation, start_ns: int) -> list[str]:
    """The sentences, at most ten; `start_ns`: when the run began, Unix time."""
    said = [sentence(finding, start_ns) for finding in of.findings]
    if all(finding.kind == "still running" for finding in of.findings) and of.net_ns:
        said.append(_nothing(of))
    kinds = {finding.kind for finding in of.findings}
    has_died = "ended early" in kinds and "deadlock" not in kinds
    if any(finding.lost_ns for finding in of.findings) or (has_died and not of.is_too_short and of.lost_ns):
        said.append(_all_together(of))
    room = MAX_SENTENCES - len(said)
    hints = [*of.notes]
    if of.ranks and not of.is_traced:
        hints.insert(0, _LONG_TRACE if of.is_too_long else _WITHOUT_TRACE)
    return said + hints[: max(room, 0)]


_WITHOUT_TRACE = (
    "This run has no trace; one (tare run --trace) would tell who waits for whom, because of what, and which "
    "iterations are slow."
)


_LONG_TRACE = "The trace is too long to look at it here: tare explain says who waits for whom in it."


def _nothing(of: Explanation) -> str:
    net = units.duration(of.net_ns)
    if not of.ranks:
        short = f": it ran for {net}" if of.is_too_short else ""
        return f"Nothing that was recorded of this program, which does not use MPI, limits it{short}."
    if of.is_too_short:
        return f"There is too little to say more: from MPI_Init to MPI_Finalize it is {net}."
    base = "trace" if of.is_traced else "profile"
    if of.mpi_share is None:
        return f"Nothing in the {base} limits this program, but how long it is in MPI is not known."
    mpi = f"the MPI share is {units.percent(of.mpi_share)}"
    if of.mpi_share >= MIN_MPI_SHARE:
        return f"Not explained: {mpi}, and nothing in the {base} says why."
    return f"Nothing in the {base} limits this program: {mpi}."


def _all_together(of: Explanation) -> str:
    lost, rest = (units.percent(time_ns / of.total_ns) for time_ns in (of.lost_ns, of.unexplained_ns))
    who = "the rank loses {} of its time" if of.ranks == 1 else "the ranks lose {} of their time"
    others = {finding.kind for finding in of.findings if finding.share and not finding.lost_ns} & OF_OTHERS
    of_mpi = " in MPI, apart from what OpenMP and files cost them" if others else ""
    return f"In all, {who.format(lost)}{of_mpi}; {rest} is not explained."


def sentence(found: Finding, start_ns: int = 0) -> str:
    """One or two plain sentences of a finding."""
    if found.sentence:
        return found.sentence
    if found.kind == "slow iterations":
        said = _slow_iterations(found, start_ns)
    else:
        said = _SENTENCES.get(found.kind, _wait)(found)
    said = f"{said} {_longer(found)}" if found.longer_in else said
    said = f"{said} {_code(found)}" if found.cause_code else said
    return f"{said} {_gain(found)}" if found.gain_ns is not None else said


def _longer(found: Finding) -> str:
    more, where = units.duration(found.longer_ns or 0), _call(found.longer_in, found.longer_at)
    said = f"Rank {found.cause_rank} spends {more} more in {where} than the others on average"
    return f"{said}{_of_file(found)}."


def _of_file(found: Finding) -> str:
    return f", most of its time in files in {visible(found.used_file)}" if found.used_file else ""


def _code(found: Finding) -> str:
    more, where = units.duration(found.cause_code_ns or 0), visible(names.of_code(found.cause_code))
    return (
        f"By samples of the stacks, rank {found.cause_rank} spends {more} more in {where} than the others on "
        "average."
    )


def _gain(found: Finding) -> str:
    if not found.gain_ns:
        return "This alone would make the program no faster."
    return f"Without this, the program would take up to {units.duration(found.gain_ns)} less."


def record(found: Finding, start_ns: int) -> dict[str, Any]:
    """The finding as JSON has it: the fields, with places taken apart, and the sentence."""
    return {**flat(found), "sentence": sentence(found, start_ns)}


def _takes(found: Finding) -> str:
    return f"{units.percent(found.share)} of the ranks' time"


def _who(found: Finding, verb: str) -> str:
    """ "rank 3 spends", "ranks 0-2 spend"."""
    return f"{rank_numbers.named(found.ranks)} {verb}{'s' if len(found.ranks) == 1 else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _does(found: Finding) -> str:
    """What the cause does outside MPI."""
    if found.cause_blocked is None:
        return "computes or is blocked"
    return "is blocked" if found.cause_blocked > BLOCKED else "computes"


def _because(found: Finding) -> str:
    """The rank that makes them wait in the end, and what it does in the meantime."""
    if found.cause_rank is None:
        return ""
    most = found.cause_share or 0.0
    whom = f"rank {found.cause_rank}"
    part = "" if most > 0.95 else f" ({units.percent(most)} of it)"
    if most < 0.5:
        whom, part = f"one rank or another ({units.percent(most)} of it {whom}, the most)", ""
    if found.cause_at == UNKNOWN and not found.cause_function:
        return f", because of {whom}"
    what = "is longer in" if found.cause_in_call else f"{_does(found)} longer before"
    return f", because {whom} {what} {_call(found.cause_function, found.cause_at)}{part}"


_WAITS = {
    "late sender": "waiting for messages that are sent late",
    "late receiver": "waiting until the receiver takes the message",
    "wait at barrier": "waiting for the last rank to come",
    "wait at NxN": "waiting for the last rank to come",
    "late broadcast": "waiting for the root to come",
    "early reduce": "waiting as root for the others to come",
    "early scan": "waiting for lower ranks to come",
    "late post": "waiting until the target grants access",
    "early wait": "waiting for accesses of the origin",
    "late complete": "waiting until the origin, which accesses nothing any more, ends its epoch",
    "lock contention": "waiting for the lock of another rank",
    "wait for progress": "waiting until the target is in MPI",
}


def _wait(found: Finding) -> str:
    part = found.here_share or 1.0
    here = "" if part > 0.95 else f", {units.percent(part)} of it"
    takes, what = f"{_takes(found)} ({units.duration(found.time_ns)}){here}", _WAITS[found.kind]
    where, why = _call(found.function, found.at), f"{_because(found)}{_trend(found)}."
    if here and found.kind in OF_ROOTS:  # elsewhere, others wait for the same cause
        who = f"{_who(found, 'wait')} {what.removeprefix('waiting ')}"
        return f"{_capital(found.kind)}: waiting takes {takes} in {where}, where {who}{why}"
    return f"{_capital(found.kind)}: {_who(found, 'spend')} {takes} in {where} {what}{why}"


def _trend(found: Finding) -> str:
    return "; it grows in the course of the run" if found.trend else ""


def _wrong_order(found: Finding) -> str:
    waiting = units.duration(found.most_ns or 0)
    return (
        f"Wrong order of receives: {_who(found, 'spend')} {_takes(found)} "
        f"({units.duration(found.time_ns)}) in {_call(found.function, found.at)} waiting for a message while "
        f"others lie there{_because(found)}; {waiting} of work on those would fit into the wait."
    )


def _unexpected(found: Finding) -> str:
    many = units.number_of(found.calls, "message")
    return (
        f"Unexpected messages: in {_call(found.function, found.at)}, {_who(found, 'receive')} {many} that "
        f"came before they were asked for ({units.size(found.bytes_per_call or 0)} on average, most from "
        f"rank {found.detail}). Up to {found.queue or 0:,} lay there at once, and most of these receives "
        f"take longer than usual, by {units.duration(found.most_ns or 0)} on average: this costs "
        f"{_takes(found)}."
    )


def _late_start(found: Finding) -> str:
    start = _call(found.cause_function, found.cause_at)
    return (
        f"Late start: rank {found.cause_rank} leaves {start} later than others; {_who(found, 'spend')} "
        f"{_takes(found)} waiting because of that, most in {_call(found.function, found.at)}."
    )


def _farm(found: Finding) -> str:
    number = units.number_of(found.calls, "task")
    tasks = f"Rank {found.detail} gives {number} to the others and computes nothing itself"
    usual, slow = units.duration(found.mean_ns or 0), units.duration(found.most_ns or 0)
    costs = (
        f"waiting costs {_takes(found)}, most in {_call(found.function, found.at)}; "
        f"{units.duration(found.tail_ns or 0)} of it the workers have nothing left to do."
    )
    if found.cause_rank is None:
        return f"{tasks}: {costs}"
    return (
        f"{tasks}; rank {found.cause_rank} is a slow worker: {slow} for a task where the others need {usual} "
        f"on average. {_capital(costs)}"
    )


def _serialised(found: Finding) -> str:
    before = _call(found.cause_function, found.cause_at)
    return (
        f"The ranks compute one after the other: {units.percent(found.cause_share or 0.0)} of what "
        f"{rank_numbers.named(found.ranks)} compute before {before} is on the critical path, and they spend "
        f"{_takes(found)} waiting for one another, most in {_call(found.function, found.at)}."
    )


def _hot_spot(found: Finding) -> str:
    hub = found.cause_rank
    behind = ""
    if found.cause_at != UNKNOWN:
        what = "is longer in" if found.cause_in_call else f"{_does(found)} before"
        behind = f", which {what} {_call(found.cause_function, found.cause_at)}"
    return (
        f"Rank {hub} is a hot spot: {units.percent(found.cause_share or 0.0)} of all messages go through it, "
        f"and {rank_numbers.named(found.ranks)} spend {_takes(found)} waiting for it{behind}, most in "
        f"{_call(found.function, found.at)}."
    )


def _imbalance(found: Finding) -> str:
    before = f" before {_call(found.cause_function, found.cause_at)}" if found.cause_function else ""
    loses = f"lose {_takes(found)} waiting" if before else f"lose {_takes(found)} by it"
    waits = f", most in {_call(found.function, found.at)}" if found.function else ""
    most, mean = units.duration(found.most_ns or 0), units.duration(found.mean_ns or 0)
    if found.kind == "alternating imbalance":
        return (
            f"Alternating imbalance: now one rank {_does(found)} longer{before}, now another, although it is "
            f"{mean} for each in all; the others {loses}{waits}{_trend(found)}."
        )
    several = len(found.ranks) > 1
    title = _TITLES[found.kind]
    verb = "compute up to" if several else "computes"
    if _does(found) != "computes":
        verb = "compute or are blocked up to" if several else "computes or is blocked"
    if found.kind == "serial files":
        verb = "works on files alone and takes"
    who = f"{rank_numbers.named(found.ranks)} {verb}"
    usual = f"the others {mean} on average" if found.mean_ns is not None else "which no other rank comes to"
    return f"{title}: {who} {most}{before}, {usual}; the others {loses}{waits}{_trend(found)}."


_TITLES = {"slow rank": "One slow rank", "load imbalance": "Load imbalance", "serial files": "Serial files"}


def _needless(found: Finding) -> str:
    why = {
        "all": "all ranks wait for one another in that anyway",
        "root": "it orders the ranks by itself, and need not make all wait",
        "at_root": "it orders the ranks by itself, and makes only the root wait",
    }.get(found.detail, "it orders the ranks by itself")
    return (
        f"Needless barrier: {_call(found.function, found.at)} takes {_takes(found)} in "
        f"{units.number_of(found.calls, 'call')}, and "
        f"{_call(found.cause_function, found.cause_at)} follows at once: {why}."
    )


def _tiny(found: Finding) -> str:
    return (
        f"Many tiny messages: {_often(found)} of {units.size(found.bytes_per_call or 0)} on average, most of "
        f"them from {_call(found.function, found.at)}; calls for messages take {_takes(found)}."
    )


def _often(found: Finding) -> str:
    rate = f"{found.per_second or 0:,.0f} a second for each rank"
    return f"{units.count(found.calls)} of them, {rate},"


def _polling(found: Finding) -> str:
    who = f", most on {rank_numbers.named(found.ranks)}" if found.ranks else ""
    return (
        f"Unsuccessful polling: {units.count(found.calls)} calls of {_call(found.function, found.at)} take "
        f"{_takes(found)}{who}, and nearly all of them find nothing."
    )


def _large(found: Finding) -> str:
    return (
        f"Large collective: {_call(found.function, found.at)} moves {units.size(found.bytes_per_call or 0)} "
        f"for each rank and call; it takes {_takes(found)} in {units.number_of(found.calls, 'call')}, waits "
        "for late ranks not included."
    )


def _frequent(found: Finding) -> str:
    return (
        f"Frequent calls: {_call(found.function, found.at)} is called {units.count(found.calls)} times, "
        f"{found.per_second or 0:,.0f} a second for each rank, and takes {_takes(found)}, "
        f"{units.duration(found.mean_ns or 0)} a call on average."
    )


def _slow_iterations(found: Finding, start_ns: int) -> str:
    what = "in" if found.cause_in_call else "outside MPI before"
    if not found.cause_in_call and found.cause_blocked is not None:
        what = "blocked before" if found.cause_blocked > BLOCKED else "computing before"
    when = ((found.first_ns or start_ns) - start_ns) / NS_PER_S
    most, usual = units.duration(found.most_ns or 0), units.duration(found.mean_ns or 0)
    where = f" in phase {found.phase}" if found.phase else ""
    begins = f"from one call of {_call(found.function, found.at)} to the next"
    cause = f"rank {found.cause_rank}, {what} {_call(found.cause_function, found.cause_at)}"
    which = f"{found.calls:,} of {int(found.detail):,} of rank {found.ranks[0]}"
    costs = f"which costs {_takes(found)}"
    return (
        f"Slow iterations{where}: {which}, {begins}, take up to {most} where the median is {usual}, {costs}; "
        f"the slowest begins {when:.3f} s after the start, and {units.percent(found.cause_share or 0.0)} of "
        f"what the slowest take longer is on {cause}."
    )


def _not_explained(found: Finding) -> str:
    return (
        f"Not explained: {_takes(found)} in MPI; {units.percent(found.cause_share or 0.0)} of that is in "
        f"{_call(found.function, found.at)}."
    )


def _under_way(found: Finding) -> str:
    who = f"{rank_numbers.named(found.ranks)} {'has' if len(found.ranks) == 1 else 'have'}"
    if not found.ranks:
        who = "the program has"
    several = "up to " if found.calls > 1 else ""
    return (
        f"Calls under way: {who} been in {_call(found.function, found.at)} for {several}"
        f"{units.duration(found.most_ns or 0)}; calls that have not returned yet take {_of_time(found)} "
        "(tare where shows all of them)."
    )


def _only_counted(found: Finding) -> str:
    longest = units.duration(found.most_ns or 0) + (" at most" if len(found.ranks) > 1 else "")
    whose = f"calls of {rank_numbers.named(found.ranks)}" if found.ranks else "calls"
    return (
        f"Only counted: for the last {longest}, {whose} were only counted ({_of_time(found)}): it is not "
        "known which calls these are, or whether one of them hangs."
    )


def _no_processor(found: Finding) -> str:
    """Ranks without a processor; where that is not known, what their sharing of processors may explain."""
    if found.kind == "oversubscription":
        processors = units.number_of(found.calls, "processor")
        said = f"Oversubscription: {_sharing(found)} share {processors}, and"
    else:
        what = f"something else, or {found.detail} of this run," if found.detail else "something else"
        whose = rank_numbers.named(found.ranks) if found.ranks else "the program"
        said = f"Descheduled: {what} runs on the processors of {whose}, which"
    if found.most_ns:
        # Of threads that do not call MPI, it is not known.
        whose = "" if _has_one_each(found) else " those that call MPI"
        said += f"{whose} could have run for another {units.duration(found.most_ns)}"
    else:
        said += " wait for these as well as for one another"
    if found.lost_ns:
        lost = units.percent(found.share)
        said += f"; the ranks lose {lost} of their time by it, most in {_call(found.function, found.at)}"
    elif found.function:
        said += (
            f"; {_takes(found)} in MPI is no wait for another rank, most in {_call(found.function, found.at)}"
        )
    else:
        said += f", {_of_time(found)}"
    return f"{said}. What else is said may be due to that."


def _has_one_each(found: Finding) -> bool:
    """Whether no rank has several busy threads, as far as it is known."""
    return found.threads is None or found.threads <= len(found.ranks)


def _sharing(found: Finding) -> str:
    who = rank_numbers.named(found.ranks) if len(found.ranks) == 1 else f"{len(found.ranks):,} ranks"
    return who if _has_one_each(found) else f"{found.threads:,} busy threads of {who}"


def _cost(found: Finding) -> str:
    calls = f"{units.count(found.calls)} {units.noun(found.calls, 'call')}"
    took = f"Measuring took {units.percent(found.share)} of the time, for {calls}"
    polls = found.here_share or 0.0
    if polls >= MIN_SHARE:
        return (
            f"{took}: the program loses less by it, as {units.percent(polls)} of these are polls that find "
            "nothing, and a rank that waits in them waits as long without measuring."
        )
    return f"{took}: the program is faster without it, most where it makes many calls."


def _of_time(found: Finding) -> str:
    """The share of a finding of threads or files, which programs without MPI have as well."""
    whose = "the ranks' time" if found.ranks else "the time"
    return f"{units.percent(found.share)} of {whose}"


def _on(found: Finding) -> str:
    return f" on {rank_numbers.named(found.ranks)}" if found.ranks else ""


def _idle_threads(found: Finding) -> str:
    most, others = units.duration(found.most_ns or 0), units.duration(found.mean_ns or 0)
    of = f"of {_call(found.function, found.at)}"
    rest = "the other for {}" if found.threads == 2 else "the others for {} on average"
    uneven = f": thread {found.detail} works for {most}, {rest.format(others)}"
    if (found.most_ns or 0.0) < UNEVEN * (found.mean_ns or 0.0):
        of_all = (found.mean_ns or 0.0) + ((found.most_ns or 0.0) - (found.mean_ns or 0.0)) / (
            found.threads or 1
        )
        uneven = f", although all work for about as long in all, {units.duration(of_all)} on average"
    return (
        f"Idle threads: the threads {of} idle {units.percent(found.here_share or 0.0)} of their time"
        f"{_on(found)}{uneven}; it costs {_of_time(found)}."
    )


def _tiny_regions(found: Finding) -> str:
    return (
        f"Tiny regions: {_call(found.function, found.at)} is encountered {units.count(found.calls)} times, "
        f"{found.per_second or 0:,.0f} a second, and takes {units.duration(found.most_ns or 0)} on average; "
        f"its threads idle {units.percent(found.here_share or 0.0)} of that, which costs {_of_time(found)}."
    )


def _contention(found: Finding) -> str:
    end = (
        ", with what the others wait at the end of the region for the last one"
        if found.here_share is not None
        else ""
    )
    return (
        f"Contention: threads{_on(found)} wait for one another in {_call(found.function, found.at)}, "
        f"{units.duration(found.mean_ns or 0)} a time on average, {units.number_of(found.calls, 'time')}; it "
        f"costs {_of_time(found)}{end}."
    )


def _serial_computing(found: Finding) -> str:
    longest = units.duration(found.most_ns or 0)
    who = f"one thread computes, for up to {longest}{_on(found)}"
    if not found.ranks:
        is_alone = found.gain_ns is not None
        who = f"one thread {'computes for' if is_alone else 'of each process computes for up to'} {longest}"
    return (
        f"Serial computing: outside of parallel regions, {who}; shared by all "
        f"{found.calls} threads, it would take {_of_time(found)} less."
    )


def _small_accesses(found: Finding) -> str:
    return (
        f"Small accesses: {_call(found.function, found.at)} moves {units.size(found.bytes_per_call or 0)} on "
        f"average, {found.per_second or 0:,.0f} times a second{_on(found)}, and takes {_of_time(found)}"
        f"{_mostly(found)}."
    )


def _files(found: Finding) -> str:
    part = found.here_share or 1.0
    most = "in" if part > 0.95 else f"{units.percent(part)} of it in"
    return (
        f"Files: reading, writing and storing them takes {_of_time(found)}{_on(found)} "
        f"({units.duration(found.time_ns)} in {units.number_of(found.calls, 'call')}), "
        f"{most} {_call(found.function, found.at)}{_mostly(found)}."
    )


def _mostly(found: Finding) -> str:
    return f"; most time in files is in {visible(found.used_file)}" if found.used_file else ""


def _ended_early(found: Finding) -> str:
    who = rank_numbers.named(found.ranks) if found.ranks else "a process"
    where = (
        f", {terminal.last_call(found.function, found.at, inside=found.cause_in_call)}"
        if found.function
        else ""
    )
    was = ("were " if len(found.ranks) > 1 else "was ") if found.detail.startswith("killed") else ""
    others = f" ({found.calls:,} processes ended early)" if found.calls > 1 else ""
    said = f"{who} {was}{found.detail}{where}{others}."
    return f"The run did not come to its end: {said}" if found.calls else _capital(said)


def _failed(found: Finding) -> str:
    if not found.ranks and found.calls:
        ranks = f"{found.calls:,} of its ranks"
        return f"The command failed: {found.detail}; how {ranks} ended is not known."
    if not found.ranks:
        return f"The command failed, although no process ended early: {found.detail}."
    ended = "ended with" if found.detail.startswith("exit") else "ended:"
    who, they = rank_numbers.named(found.ranks), "they" if len(found.ranks) > 1 else "it"
    return f"The program failed: {who} {ended} {found.detail} after {they} had finalized MPI."


def _deadlock(found: Finding) -> str:
    return (
        f"Deadlock: {found.detail}; rank {found.cause_rank} is in "
        f"{_call(found.function, found.at)} (tare where shows all of them)."
    )


_SENTENCES: dict[str, Callable[[Finding], str]] = {
    "nothing measured": lambda _: (
        "This run has no recorded call of any process: there is nothing to explain."
    ),
    "still running": lambda _: "The run is still going on: these are the figures of one moment.",
    "ended early": _ended_early,
    "failed": _failed,
    "deadlock": _deadlock,
    "cost of measuring": _cost,
    "load imbalance": _imbalance,
    "slow rank": _imbalance,
    "serialised": _serialised,
    "hot spot": _hot_spot,
    "needless barrier": _needless,
    "tiny messages": _tiny,
    "unsuccessful polling": _polling,
    "large collective": _large,
    "frequent calls": _frequent,
    "calls under way": _under_way,
    "only counted": _only_counted,
    "not explained": _not_explained,
    "oversubscription": _no_processor,
    "descheduled": _no_processor,
    "farm": _farm,
    "late start": _late_start,
    "wrong order": _wrong_order,
    "unexpected messages": _unexpected,
    "alternating imbalance": _imbalance,
    "serial files": _imbalance,
    "idle threads": _idle_threads,
    "tiny regions": _tiny_regions,
    "contention": _contention,
    "serial computing": _serial_computing,
    "small accesses": _small_accesses,
    "files": _files,
}
