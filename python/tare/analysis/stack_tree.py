"""The stacks of a run as one tree, the outermost function first, with its time on all ranks and on some.

It has processor time of the program's code, by samples of stacks, and time in calls, as measured. The tree
and the ranks are bounded: what is smallest is together in a node, and ranks are those that differ most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from tare.analysis import profile, rank_differences, sampling_error, stacks
from tare.analysis.code_times import INLINED
from tare.analysis.groups import added
from tare.analysis.sampling_error import Difference, Sampled

if TYPE_CHECKING:
    from tare._native import Site
    from tare._tables import ProfileRow, StackSamplesRow
    from tare.analysis.rank_differences import More, Rank
    from tare.runs.run import Run

MAX_NODES = 2000
MAX_RANKS = 16

OTHER = "(smaller ones)"

Whose = tuple[int, int | None]  # world, and rank; None: all ranks


@dataclass
class Time:
    """Time in code of the program, by samples, and in calls."""

    sampled: Sampled = field(default_factory=Sampled)
    calls_ns: int = 0

    def add(self, other: Time) -> None:
        """Adds another to it."""
        self.sampled = self.sampled.plus(other.sampled)
        self.calls_ns += other.calls_ns

    @property
    def time_ns(self) -> float:
        """Both together."""
        return self.sampled.time_ns + self.calls_ns


@dataclass
class Node:
    """A function as called by those above it. The first node of a tree, its own parent, is the root."""

    function: str  # "inner (inlined in outer)" below outer
    object: str | None  # the executable or library
    parent: int
    call: bool  # whether it is a function of MPI or of another source of events
    file: str | None = None  # the source file
    lines: dict[int, float] = field(default_factory=dict)  # time by source line
    merged: int = 0  # of a node that stands for several that are smaller: how many


class Bounded(NamedTuple):
    """Some of the nodes of a tree, and which of them each of all has become."""

    nodes: list[Node]
    became: Sequence[int]


@dataclass(frozen=True)
class OfRank:
    """A rank beside the mean of the ranks of its world: lists have an entry for each node."""

    world: int
    rank: int
    samples: Sampled  # all of the rank
    times: list[Time]
    differences: list[Difference]
    certain: list[bool]  # which of them are no chance


@dataclass(frozen=True)
class StackTree:
    """Nodes, and their times; lists of times have an entry for each node."""

    nodes: list[Node]  # each after its parent
    times: list[Time]  # of each node, on all ranks
    samples: Sampled  # all, also those that are not in the tree
    tare_ns: int  # processor time in the code of tare, which is not in the tree
    ranks: dict[int, int]  # how many ranks each world has
    of_ranks: list[OfRank]
    chosen_of: int  # ranks that `of_ranks` were chosen from
    more: list[More]  # in which functions ranks differ from the mean


def of_run(recorded: Run, max_nodes: int = MAX_NODES, max_ranks: int = MAX_RANKS) -> StackTree | None:
    """None if no stacks were sampled."""
    rows = stacks.samples(recorded)
    if not rows:
        return None
    ranks = rank_differences.ranks_of(recorded)
    chosen = _that_differ_most(rows, ranks, max_ranks)
    grown = _grown(recorded, rows, chosen)
    worlds: list[Whose] = [(world, None) for world in ranks]
    tree = grown.bounded(grown.times(worlds, grown.whole()), max_nodes)
    of_worlds = {world: grown.times([(world, None)], tree) for world in ranks}
    samples_of = rank_differences.totals(rows)
    of_ranks = []
    samples_of_world: dict[int, Sampled] = defaultdict(Sampled)
    for (world, _), time in samples_of.items():
        samples_of_world[world] = samples_of_world[world].plus(time)
    for world, rank in chosen:
        own, every = grown.times([(world, rank)], tree), of_worlds[world]
        differences = [
            sampling_error.from_mean(
                mine.sampled,
                of_all.sampled,
                samples_of[world, rank],
                samples_of_world[world],
                ranks[world],
                mine.calls_ns - of_all.calls_ns / ranks[world],
            )
            for mine, of_all in zip(own, every, strict=True)
        ]
        # The ranks have been chosen of all: so many are compared.
        certain = sampling_error.certain(differences, len(differences) * ranks[world])
        of_ranks.append(OfRank(world, rank, samples_of[world, rank], own, differences, certain))
    return StackTree(
        nodes=tree.nodes,
        times=grown.times(worlds, tree),
        samples=Sampled(sum(row.time_ns for row in rows), sum(row.samples for row in rows)),
        tare_ns=sum(row.time_ns for row in rows if row.activity == "tare"),
        ranks=ranks,
        of_ranks=of_ranks,
        chosen_of=sum(number for number in ranks.values() if number > 1),
        more=rank_differences.of_functions(rows, ranks, recorded.sites),
    )


def _grown(recorded: Run, rows: Sequence[StackSamplesRow], chosen: Sequence[Rank]) -> _Grown:
    """The tree, with times of each world and of the ranks that are chosen."""
    grown = _Grown(recorded.sites)
    wanted = frozenset(chosen)
    # First added up: there may be millions of rows.
    times: dict[tuple[Whose, int | None], Sampled] = defaultdict(Sampled)
    for row in rows:
        if row.activity == "program":
            time = Sampled(row.time_ns, row.samples)
            of_world = (row.world, None), row.site
            times[of_world] = times[of_world].plus(time)
            if (row.world, row.rank) in wanted:
                own = (row.world, row.rank), row.site
                times[own] = times[own].plus(time)
    for (whose, site), time in times.items():
        grown.add_samples(site, time, whose)
    for call in profile.summed(recorded, ["function", "site"]):
        grown.add_calls(call, (call.world, None))
    if chosen:
        of_them = profile.Chosen(ranks=frozenset(rank for _, rank in chosen))
        for call in profile.summed(recorded, ["function", "site", "rank"], of_them):
            if (call.world, call.rank) in wanted:
                grown.add_calls(call, (call.world, call.rank))
    return grown


def _that_differ_most(rows: Sequence[StackSamplesRow], ranks: dict[int, int], most: int) -> list[Rank]:
    """The ranks whose times in the functions of the program differ most from the mean, or all."""
    of_world: dict[tuple[int, str | None], float] = defaultdict(float)
    own: dict[tuple[Rank, str | None], float] = defaultdict(float)
    for row in rows:
        if row.activity == "program" and row.rank >= 0 and ranks.get(row.world, 0) > 1:
            of_world[row.world, row.caller] += row.time_ns / ranks[row.world]
            own[(row.world, row.rank), row.caller] += row.time_ns
    # Where a rank has no sample it differs by the mean, which is the same for all such ranks of the world.
    base = added((world, mean) for (world, _), mean in of_world.items())
    differ: dict[Rank, float] = {}
    for (rank, caller), time_ns in own.items():
        mean = of_world[rank[0], caller]
        differ[rank] = differ.get(rank, base[rank[0]]) + abs(time_ns - mean) - mean
    return sorted(sorted(differ, key=lambda each: -differ[each])[:most])


class _Grown:
    """A tree that still has all of its nodes."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites = sites
        self._nodes = [Node("all", None, 0, call=False)]
        self._children: dict[tuple[int, str, str | None, bool], int] = {}
        self._paths: dict[int | None, list[tuple[int, int | None]]] = {}  # nodes and lines, outermost first
        self._own: dict[Whose, dict[int, Time]] = defaultdict(dict)  # of the nodes without those below

    def add_samples(self, site: int | None, time: Sampled, whose: Whose) -> None:
        """Adds samples of the program's code."""
        path = self._path(site) or [(self._child(0, stacks.UNKNOWN, None, call=False), None)]
        self._add(path, Time(time), whose)

    def add_calls(self, row: ProfileRow, whose: Whose) -> None:
        """Adds calls, if their time is not that of the program's code."""
        if not profile.has_own_time(row):
            return
        path = self._path(row.site)
        called = self._child(path[-1][0] if path else 0, row.function, None, call=True)
        self._add([*path, (called, None)], Time(calls_ns=row.time_ns), whose)

    def _add(self, path: Sequence[tuple[int, int | None]], time: Time, whose: Whose) -> None:
        self._own[whose].setdefault(path[-1][0], Time()).add(time)
        if whose[1] is None:
            for node, line in path:
                if line is not None:
                    lines = self._nodes[node].lines
                    lines[line] = lines.get(line, 0.0) + time.time_ns

    def _path(self, site: int | None) -> list[tuple[int, int | None]]:
        if site not in self._paths:
            found: list[tuple[int, int | None]] = []
            path = stacks.frames(site, self._sites)
            for inner in reversed(range(len(path))):
                frame = path[inner]
                name = stacks.function_name(frame, is_innermost=not inner)
                object_ = frame.object or None
                above = found[-1][0] if found else 0
                if inlined := INLINED.search(name):
                    above = self._child(above, inlined[1], object_, call=False)
                    found.append((above, None))
                node = self._child(above, name, object_, call=False)
                self._nodes[node].file = frame.file or None
                found.append((node, frame.line or None))
            self._paths[site] = found
        return self._paths[site]

    def _child(self, parent: int, function: str, object_: str | None, *, call: bool) -> int:
        key = parent, function, object_, call
        if key not in self._children:
            self._children[key] = len(self._nodes)
            self._nodes.append(Node(function, object_, parent, call))
        return self._children[key]

    def whole(self) -> Bounded:
        """All nodes."""
        return Bounded(self._nodes, range(len(self._nodes)))

    def times(self, whose: Iterable[Whose], of: Bounded) -> list[Time]:
        """The time of each node with all below it."""
        found = [Time() for _ in of.nodes]
        for each in whose:
            for node, time in self._own[each].items():
                found[of.became[node]].add(time)
        for node in range(len(found) - 1, 0, -1):
            found[of.nodes[node].parent].add(found[node])
        return found

    def bounded(self, times: Sequence[Time], most: int) -> Bounded:
        """The nodes with the longest times, and one for those below each that are left out."""
        # A parent has at least the time of its child, and comes before it.
        order = sorted(range(len(times)), key=lambda node: (-times[node].time_ns, node))
        kept = sorted(order[:most])
        became = {node: number for number, node in enumerate(kept)}
        nodes = [replace(self._nodes[node], parent=became[self._nodes[node].parent]) for node in kept]
        others: dict[int, int] = {}  # by parent
        for node in range(len(times)):
            if node in became:
                continue
            above = became[self._nodes[node].parent]
            if not nodes[above].merged:
                if above not in others:
                    others[above] = len(nodes)
                    nodes.append(Node(OTHER, None, above, call=False))
                above = others[above]
            nodes[above].merged += 1
            became[node] = above
        return Bounded(nodes, [became[node] for node in range(len(times))])
