"""The stacks of a run: its flame graph, that of some ranks beside the mean, and functions by time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare.analysis import code_times, sampling_error, stack_tree, stacks
from tare.page.call_sites import class_of
from tare.reporters import code_times as reporter
from tare.reporters import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.sampling_error import Sampled
    from tare.analysis.stack_tree import OfRank, StackTree, Time
    from tare.runs.run import Run

MAX_LINES = 3  # of a node: those with the longest times
MAX_FUNCTIONS = 1000


def of_run(run: Run) -> dict[str, Any] | None:
    """None if no stacks were sampled. Times are whole nanoseconds, lists have an entry for each node."""
    tree = stack_tree.of_run(run)
    if tree is None:
        return None
    functions = code_times.by(run, ["function"])
    return {
        "parent": [node.parent for node in tree.nodes],
        "function": [node.function for node in tree.nodes],
        "short": [names.short_with_inlined(node.function) for node in tree.nodes],
        "place": [node.file or node.object for node in tree.nodes],
        "class": [class_of(node.function) if node.call else None for node in tree.nodes],
        "merged": [node.merged for node in tree.nodes],
        "lines": [
            sorted(node.lines.items(), key=lambda each: -each[1])[:MAX_LINES] if node.lines else []
            for node in tree.nodes
        ],
        "all": _times(tree.times, tree.samples),
        "ranks": [_of_rank(tree, each) for each in tree.of_ranks],
        "ranks_in_all": tree.chosen_of,
        "worlds": len(tree.ranks),
        "samples": tree.samples.samples,
        "tare_ns": tree.tare_ns,
        "sentences": [f"{each}." for each in reporter.sentences(tree.more, tree.ranks)],
        "limits": [f"{each}." for each in stacks.limits(run)],
        "functions": [
            {
                **asdict(each),
                "short": names.short_with_inlined(each.function),
                "contains_others": each.contains_others,
            }
            for each in functions[:MAX_FUNCTIONS]
        ],
        "functions_in_all": len(functions),
        "functions_ns": reporter.total_ns(functions),
    }


def _times(times: Sequence[Time], samples: Sampled) -> dict[str, list[int]]:
    return {
        "time_ns": [round(each.time_ns) for each in times],
        "calls_ns": [each.calls_ns for each in times],
        "error_ns": [round(sampling_error.error_ns(each.sampled, samples)) for each in times],
    }


def _of_rank(tree: StackTree, of: OfRank) -> dict[str, Any]:
    return {
        "world": of.world,
        "rank": of.rank,
        "ranks": tree.ranks[of.world],
        **_times(of.times, of.samples),
        "more_ns": [round(each.more_ns) for each in of.differences],
        "more_error_ns": [round(each.error_ns) for each in of.differences],
        "certain": [int(each) for each in of.certain],
    }
