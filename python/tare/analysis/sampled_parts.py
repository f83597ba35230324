"""The program's own time by function or line in parts of a run: phases, iterations, and between calls of MPI.

A trace has each sample of the stacks as an event, with the processor time that it stands for. In traces of
older versions, which have no such times, a sample stands for the mean of its rank. Times are nanoseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tare import functions
from tare.analysis import sampling_error
from tare.analysis.code_times import CODE
from tare.analysis.profile import Chosen
from tare.analysis.sampling_error import Sampled
from tare.analysis.stacks import UNKNOWN, function_name, samples
from tare.errors import Incompatible

if TYPE_CHECKING:
    from tare._native import EventRow
    from tare.runs.run import Run

PARTS = ("phase", "iteration", "between")
SAMPLES = functions.of_meaning(source="stacks")

Rank = tuple[int, int]  # world, rank


class CallSite(NamedTuple):
    """A function of MPI, and where it is called."""

    function: str
    caller: str | None
    file: str | None
    line: int | None


class Part(NamedTuple):
    """A part of a run; what is None does not tell it from others, or is not known."""

    phase: str | None = None
    iteration: int | None = None
    # The last call of MPI before it, and the first behind it; None: there is none, or the trace has a gap in
    # between.
    since: CallSite | None = None
    until: CallSite | None = None


@dataclass(frozen=True, kw_only=True)
class PartTime:
    """Processor time of all ranks in a function or line of the program, in one part of the run."""

    function: str
    file: str | None
    line: int | None
    object: str | None
    phase: str | None
    iteration: int | None
    since: CallSite | None
    until: CallSite | None
    ranks: int  # that were found there
    samples: int
    time_ns: int
    error_ns: int  # half the width of the 95 % confidence interval of it

    def record(self) -> dict[str, Any]:
        """The fields, those of the calls with "since_" and "until_" before their names."""
        fields = dict(vars(self))
        for side in ("since", "until"):
            call: CallSite | None = fields.pop(side)
            for name in CallSite._fields:
                fields[f"{side}_{name}"] = getattr(call, name) if call else None
        return fields


@dataclass
class _Sums:
    time: Sampled = field(default_factory=Sampled)
    ranks: set[tuple[Rank, int]] = field(default_factory=set)  # and the process


def is_by_part(keys: Sequence[str]) -> bool:
    """Whether rows can stand for this: a function or line in a phase, an iteration or between two calls."""
    return sorted(keys) in [sorted((code, part)) for code in CODE for part in PARTS]


def by(recorded: Run, keys: Sequence[str], chosen: Chosen | None = None) -> list[PartTime]:
    """The times of the ranks that are chosen, the longest first; `keys`: see is_by_part.

    Phases are those that the program marks. If it marks none, and for iterations, they are those that the
    trace shows (structure.py). Raises Incompatible if the run has no trace with samples.
    """
    chosen = chosen or Chosen()
    each_ns = _time_of_a_sample(recorded, chosen)
    found: dict[tuple[int, Part], _Sums] = defaultdict(_Sums)
    in_all = Sampled()
    [part] = set(keys) & set(PARTS)
    split = _SPLIT[part](recorded, sorted(chosen.ranks) or None) if each_ns else ()
    for sample, of in split:
        if sample.rank not in each_ns or (chosen.worlds and sample.rank[0] not in chosen.worlds):
            continue
        one = Sampled(each_ns[sample.rank] if sample.ns is None else sample.ns, 1)
        sums = found[sample.site, of]
        sums.time = sums.time.plus(one)
        sums.ranks.add((sample.rank, sample.process))
        in_all = in_all.plus(one)
    if not found and not _has_samples_in_trace(recorded):
        raise Incompatible("there are no samples of stacks in a trace (tare run --trace --with stacks)")
    by_code: dict[tuple[Hashable, Part], _Sums] = defaultdict(_Sums)
    code_of = _code_of(recorded, by_line="line" in keys)
    for (site, of), sums in found.items():
        together = by_code[code_of(site), of]
        together.time = together.time.plus(sums.time)
        together.ranks |= sums.ranks
    rows = [_row(code, of, sums, in_all) for (code, of), sums in by_code.items()]
    return sorted(rows, key=attrgetter("time_ns"), reverse=True)


def has_marked_phases(recorded: Run) -> bool:
    """Whether the program marks phases (docs/api.md)."""
    return any(row.phase is not None for row in recorded.rows(recorded.phases()))


def _has_samples_in_trace(recorded: Run) -> bool:
    options = recorded.meta.options
    return options.trace and "stacks" in options.sources


def _row(code: Any, of: Part, sums: _Sums, in_all: Sampled) -> PartTime:
    name, file, line, object_ = code
    return PartTime(
        function=name,
        file=file,
        line=line,
        object=object_,
        **of._asdict(),
        ranks=len(sums.ranks),
        samples=sums.time.samples,
        time_ns=round(sums.time.time_ns),
        error_ns=round(sampling_error.error_ns(sums.time, in_all)),
    )


def _time_of_a_sample(recorded: Run, chosen: Chosen) -> dict[Rank, float]:
    of_rank: dict[Rank, Sampled] = defaultdict(Sampled)
    for row in samples(recorded, chosen):
        at = row.world, row.rank
        of_rank[at] = of_rank[at].plus(Sampled(row.time_ns, row.samples))
    return {rank: time.each_ns for rank, time in of_rank.items()}


def _code_of(recorded: Run, *, by_line: bool) -> Callable[[int], Hashable]:
    """The function or line of the stack of a sample: the innermost; by line, the program's own."""
    sites = recorded.sites
    known: dict[int, Hashable] = {}

    def code(site: int) -> Hashable:
        if site not in known:
            known[site] = (UNKNOWN, None, None, None) if site < 0 else _code(sites[site], by_line=by_line)
        return known[site]

    return code


def _code(site: Any, *, by_line: bool) -> Hashable:
    if by_line:
        return function_name(site), site.file or None, site.line or None, site.object or None
    inner = site.path[0] if site.path else site
    return function_name(inner), inner.file or None, None, inner.object or None


class _Sample(NamedTuple):
    rank: Rank
    process: int  # of several without a rank
    site: int  # -1: not known
    ns: int | None  # processor time that it stands for; None: not recorded

    @classmethod
    def of(cls, event: EventRow) -> _Sample:
        """That of an event."""
        ns = event.get("arguments", {}).get("processor_ns")
        return cls((event["world"], event["rank"]), event.get("pid", -1), event.get("site", -1), ns)


# Samples, and the part of the run that each is in.
_Found = Iterator[tuple[_Sample, Part]]


def _in_phases(recorded: Run, ranks: list[int] | None) -> _Found:
    if not has_marked_phases(recorded):
        yield from _in_detected(recorded, ranks)
        return
    # A thread that marks none, as those of OpenMP, is in that of the first thread.
    inside: dict[tuple[Rank, int], list[str]] = defaultdict(list)
    for event in recorded.events(ranks, None, None, None, 0):
        rank = event["world"], event["rank"]
        if event.get("kind") == "phase":
            phases = inside[rank, event["thread"]]
            if event["begin"]:
                phases.append(event["name"])
            elif phases:
                phases.pop()
        elif event.get("function") in SAMPLES:
            phases = inside.get((rank, event["thread"])) or inside.get((rank, 0)) or []
            yield _Sample.of(event), Part(phase=phases[-1] if phases else None)


def _in_detected(recorded: Run, ranks: list[int] | None) -> _Found:
    spans: dict[int, list[_Span]] = defaultdict(list)  # by world
    for phase in recorded.structure.phases:
        spans[phase.world].append(_Span(phase.start_ns, phase.end_ns, Part(phase=phase.phase)))
    for of_world in spans.values():
        of_world.sort(key=attrgetter("start_ns"))
    for event in recorded.events(ranks, list(SAMPLES), None, None, 0):
        yield _Sample.of(event), _part_at(spans[event["world"]], event["start_ns"])


def _in_iterations(recorded: Run, ranks: list[int] | None) -> _Found:
    spans: dict[Rank, list[_Span]] = defaultdict(list)
    for row in recorded.rows(recorded.iterations()):
        part = Part(phase=row.phase, iteration=row.iteration)
        spans[row.world, row.rank].append(_Span(row.start_ns, row.start_ns + row.duration_ns, part))
    for of_rank in spans.values():
        of_rank.sort(key=attrgetter("start_ns"))
    for event in recorded.events(ranks, list(SAMPLES), None, None, 0):
        sample = _Sample.of(event)
        yield sample, _part_at(spans[sample.rank], event["start_ns"])


class _Span(NamedTuple):
    """A part of a run, from one time to before another."""

    start_ns: int
    end_ns: int
    part: Part


def _part_at(spans: list[_Span], time_ns: int) -> Part:
    """The part that a time lies in; `spans` are in the order of time."""
    number = bisect_right(spans, time_ns, key=attrgetter("start_ns")) - 1
    return spans[number].part if number >= 0 and time_ns < spans[number].end_ns else Part()


def _between_calls(recorded: Run, ranks: list[int] | None) -> _Found:
    """Calls are those of all threads of a rank: in most programs, one of them makes them."""
    call_of = _calls(recorded)
    since: dict[Rank, CallSite | None] = defaultdict(lambda: None)
    waiting: dict[Rank, list[_Sample]] = defaultdict(list)  # samples since then

    def ended(rank: Rank, until: CallSite | None) -> _Found:
        part = Part(since=since[rank], until=until)
        for sample in waiting.pop(rank, ()):
            yield sample, part

    for event in recorded.events(ranks, None, None, None, 0):
        function, rank = event.get("function"), (event["world"], event["rank"])
        if function in SAMPLES:
            waiting[rank].append(_Sample.of(event))
        elif function is not None and functions.meaning(function).source == "MPI":
            call = call_of(function, event.get("site", -1))
            yield from ended(rank, call)
            since[rank] = call
        elif function == functions.LOSS:
            yield from ended(rank, None)
            since[rank] = None
    for rank in list(waiting):
        yield from ended(rank, None)


def _calls(recorded: Run) -> Callable[[str, int], CallSite]:
    sites = recorded.sites
    known: dict[tuple[str, int], CallSite] = {}

    def call(function: str, site: int) -> CallSite:
        if (function, site) not in known:
            at = sites[site] if site >= 0 else None
            place = (at.caller or None, at.file or None, at.line or None) if at else (None, None, None)
            known[function, site] = CallSite(function, *place)
        return known[function, site]

    return call


_SPLIT: dict[str, Callable[[Run, list[int] | None], _Found]] = {
    "phase": _in_phases,
    "iteration": _in_iterations,
    "between": _between_calls,
}
