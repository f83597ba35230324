"""Wait states by line, with what caused them: the same groups that `tare explain` looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.reporters import terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.analysis.explain.basis import Basis, WaitGroup
    from tare.analysis.rows import Placed

# So many ranks and delays of a line are listed.
LISTED = 12


def of_basis(basis: Basis) -> list[dict[str, Any]]:
    """A row for each kind of wait and line, the longest first; none without a trace."""
    return [_row(group, basis) for group in basis.waits]


def places(basis: Basis) -> Iterable[Placed]:
    """Whose source text is shown."""
    for group in basis.waits:
        yield group.at
        yield from (at for _, _, at, _ in _longest(group.by_delay))


def _row(group: WaitGroup, basis: Basis) -> dict[str, Any]:
    by_root: dict[int, int] = {}
    for (rank, *_), cost_ns in group.by_delay.items():
        by_root[rank] = by_root.get(rank, 0) + cost_ns
    cause, cause_ns = next(iter(_longest(by_root).items()), (None, 0))
    return {
        "kind": group.kind,
        "function": group.function,
        **_place(group.at),
        "waits": group.waits,
        "wait_ns": group.wait_ns,
        "share": basis.share(group.wait_ns),
        "ranks": len(group.of_rank),
        "waiting": [[rank, time_ns] for rank, time_ns in _longest(group.of_rank).items()],
        "causes": [[rank, time_ns] for rank, time_ns in _longest(group.by_cause).items()],
        "cause": cause,
        "cause_share": cause_ns / group.wait_ns if group.wait_ns else 0.0,
        "delays": [
            {"rank": rank, "function": function, **_place(at), "in_call": in_call, "cost_ns": cost_ns}
            for (rank, function, at, in_call), cost_ns in _longest(group.by_delay).items()
        ],
    }


def _place(at: Placed) -> dict[str, Any]:
    return {
        "where": terminal.place(at),
        "caller": terminal.caller(at) if at.caller else None,
        "file": at.file,
        "line": at.line,
    }


def _longest(sums: dict[Any, int]) -> dict[Any, int]:
    return dict(sorted(sums.items(), key=lambda each: -each[1])[:LISTED])
