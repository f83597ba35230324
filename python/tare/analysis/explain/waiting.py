"""Wait states as findings: which call waits, for which rank, and what that rank did in the meantime."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tare.analysis.explain.basis import Basis, WaitGroup, row_place
from tare.analysis.explain.finding import (
    HOT_SHARE,
    MIN_SHARE,
    SERIAL_RANK_SHARE,
    SERIAL_SHARE,
    Finding,
)
from tare.analysis.rows import UNKNOWN
from tare.functions import meaning

OF_MESSAGES = ("late sender", "late receiver")
OF_ALL = ("wait at barrier", "wait at NxN")


def of_group(basis: Basis, group: WaitGroup, kind: str | None = None) -> Finding:
    """The wait states of a line, with the rank that they wait for most and what delays it most."""
    cause = max(group.by_cause, key=lambda rank: group.by_cause[rank], default=None)
    delays = {key: time_ns for key, time_ns in group.by_delay.items() if key[0] == cause}
    _, function, at, in_call = max(delays, key=lambda key: delays[key], default=(cause, "", UNKNOWN, False))
    return Finding(
        kind=kind or group.kind,
        share=basis.share(group.wait_ns),
        time_ns=group.wait_ns,
        function=group.function,
        at=group.at,
        ranks=tuple(sorted(group.of_rank)),
        calls=group.waits,
        cause_rank=cause,
        cause_share=group.by_cause[cause] / group.wait_ns if cause is not None and group.wait_ns else None,
        cause_function=function,
        cause_at=at,
        cause_in_call=in_call,
    )


def caused_by(groups: Sequence[WaitGroup], ranks: Collection[int]) -> int:
    """The wait of the groups for these ranks."""
    return sum(time_ns for group in groups for rank, time_ns in group.by_cause.items() if rank in ranks)


def serialised(basis: Basis, groups: Sequence[WaitGroup]) -> Finding | None:
    """Nearly all computing is on the critical path, which goes from rank to rank: one computes at a time."""
    late = [group for group in groups if group.kind == "late sender"]
    if not late or basis.share(sum(group.wait_ns for group in late)) < MIN_SHARE:
        return None
    computed: dict[int, int] = {}
    for part in basis.run.wait_report["critical_path"]:
        if part["world"] == basis.world and not part["in_call"]:
            computed[part["rank"]] = computed.get(part["rank"], 0) + part["time_ns"]
    on_path, of_all = sum(computed.values()), sum(basis.useful_ns.values())
    if not of_all or on_path < SERIAL_SHARE * of_all or max(computed.values()) > SERIAL_RANK_SHARE * on_path:
        return None
    found = of_group(basis, late[0], "serialised")
    time_ns = sum(group.wait_ns for group in late)
    return replace(found, share=basis.share(time_ns), time_ns=time_ns, cause_share=on_path / of_all)


def hub(basis: Basis) -> tuple[int, float] | None:
    """The rank through which nearly all messages go, and their share; None with fewer than three ranks."""
    found = basis.exchange
    if basis.ranks < 3 or found is None or not found["between"]:
        return None
    rank, share = found["busiest"], found["busiest_messages"] / found["between"]
    if share < HOT_SHARE:
        return None
    partners = basis.partners(rank)
    return (rank, share) if len(partners) > max((basis.ranks - 1) / 2, 1) else None


def hot_spot(basis: Basis, groups: Sequence[WaitGroup]) -> Finding | None:
    """Ranks that wait for messages with the rank through which all of them go."""
    found = hub(basis)
    if found is None:
        return None
    rank, share = found
    waiting = [group for group in groups if group.kind in OF_MESSAGES and rank in group.by_cause]
    time_ns = caused_by(waiting, (rank,))
    if basis.is_traced and basis.share(time_ns) < MIN_SHARE:
        return None
    if not basis.is_traced:
        return _hot_spot_of_profile(basis, rank, share)
    worst = max(waiting, key=lambda group: group.by_cause[rank])
    result = of_group(basis, worst, "hot spot")
    ranks = {each for group in waiting for each in group.of_rank if each != rank}
    if len(ranks) < 2:
        return None
    delays = {key: time for key, time in worst.by_delay.items() if key[0] == rank}
    _, function, at, in_call = max(delays, key=lambda key: delays[key], default=(rank, "", UNKNOWN, False))
    return replace(
        result,
        share=basis.share(time_ns),
        time_ns=time_ns,
        ranks=tuple(sorted(ranks)),
        cause_rank=rank,
        cause_share=share,
        cause_function=function,
        cause_at=at,
        cause_in_call=in_call,
    )


def _hot_spot_of_profile(basis: Basis, hub_rank: int, share: float) -> Finding | None:
    """The hot spot without a trace: the others are in calls for messages, while it computes."""

    shares = {
        process["rank"]: process["mpi_ns"] / process["threads_ns"]
        for process in basis.processes
        if process["threads_ns"]
    }
    others = [value for rank, value in shares.items() if rank != hub_rank]
    if not others or shares.get(hub_rank, 1.0) > min(others) / 2:
        return None
    rows = [row for row in basis.lines if is_of_messages(row.function) and row.rank_max != hub_rank]
    worst = max(rows, key=lambda row: row.time_ns, default=None)
    time_ns = sum(row.time_ns for row in rows)
    if worst is None or basis.share(time_ns) < MIN_SHARE:
        return None
    return Finding(
        kind="hot spot",
        share=basis.share(time_ns),
        time_ns=time_ns,
        function=worst.function,
        at=row_place(worst),
        ranks=tuple(sorted(rank for rank in shares if rank != hub_rank)),
        calls=worst.calls,
        cause_rank=hub_rank,
        cause_share=share,
    )


def is_of_messages(function: str) -> bool:
    """Whether a function of MPI sends, receives, or asks or waits for messages between two ranks."""
    return meaning(function).kind in ("send", "receive", "exchange", "probe", "start", "completion")
