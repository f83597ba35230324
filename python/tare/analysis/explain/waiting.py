"""Waits as findings, by what caused them in the end: which activity of which ranks made the others wait."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import (
    DIFFER,
    GROWS,
    HOT_SHARE,
    MIN_SHARE,
    NAMED,
    OF_ROOTS,
    ONE_LATE,
    SERIAL_RANK_SHARE,
    SERIAL_SHARE,
    SERVES,
    SEVERAL_TASKS,
    SEVERAL_WAITS,
    SLOW_WORKER,
    STEADY,
    Finding,
)
from tare.analysis.explain.losses import Activity, Loss, is_of_messages, total
from tare.analysis.groups import added, grouped
from tare.analysis.ranks import mpi_share
from tare.analysis.rows import UNKNOWN, row_place
from tare.functions import meaning

OF_MESSAGES = ("late sender", "late receiver")
IN_TURN = (*OF_MESSAGES, "lock contention")
OF_ALL = ("wait at barrier", "wait at NxN")


@dataclass(frozen=True)
class Group:
    """Waits that one activity caused, on whatever ranks."""

    activity: Activity | None  # None is not known
    losses: Sequence[Loss]

    @property
    def time_ns(self) -> float:
        """Their time."""
        return total(self.losses)

    def by(self, key: Callable[[Loss], object]) -> dict[object, float]:
        """Their time by something, the largest first."""
        sums = added((key(loss), loss.time_ns) for loss in self.losses)
        return dict(sorted(sums.items(), key=lambda each: -each[1]))

    def of_kinds(self, kinds: Collection[str]) -> float:
        """The time of these kinds of wait."""
        return total(loss for loss in self.losses if loss.kind in kinds)

    def by_rank(self) -> dict[int, float]:
        """Their time by the rank that waited."""
        return added(each for loss in self.losses for each in loss.by_rank.items())

    def ranks(self) -> tuple[int, ...]:
        """The ranks that waited, but for those that waited little."""
        of = self.by_rank()
        return tuple(sorted(rank for rank, time_ns in of.items() if time_ns >= NAMED * max(of.values())))

    def blocked(self) -> float | None:
        """The share of it in which the cause ran on no processor of its own accord; None: in calls."""
        if self.activity is None or self.activity.in_call:
            return None
        return sum(loss.blocked_ns for loss in self.losses) / self.time_ns

    def by_cause(self) -> dict[int, float]:
        """Their time by the rank that caused them, the largest first."""
        return {
            rank: ns for rank, ns in self.by(lambda loss: loss.cause_rank).items() if isinstance(rank, int)
        }


def groups(losses: Sequence[Loss]) -> list[Group]:
    """Groups by activity; where that is not known, by line and kind. The largest first."""
    found = grouped(losses, lambda loss: loss.activity or (loss.kind, loss.line))
    return sorted((Group(of[0].activity, of) for of in found.values()), key=lambda group: -group.time_ns)


def finding(basis: Basis, group: Group, kind: str = "") -> Finding:
    """What the group is, where most of the waiting is, and which rank causes most of it."""
    main = max(group.losses, key=lambda loss: loss.time_ns)
    kind = kind or str(next(iter(group.by(lambda loss: loss.kind))))
    # Kind and line are said in one sentence, so the line is where most of that kind is.
    alike = Group(group.activity, [loss for loss in group.losses if loss.kind == kind] or group.losses)
    line = next(iter(alike.by(lambda loss: loss.line)), main.line)
    here_ns = group.by(lambda loss: loss.line).get(line, 0.0)
    cause, cause_ns = next(iter(group.by_cause().items()))
    activity = group.activity
    return Finding(
        kind=kind,
        share=basis.share(group.time_ns),
        time_ns=round(group.time_ns),
        lost_ns=round(group.time_ns),
        function=str(line[0]),  # type: ignore[index]
        at=line[1],  # type: ignore[index]
        here_share=here_ns / group.time_ns if group.time_ns else None,
        ranks=_waiting(group, kind).ranks(),
        calls=max(round(sum(sum(loss.waits_by_time) for loss in group.losses)), 1),
        cause_rank=cause if cause >= 0 else None,
        cause_share=cause_ns / group.time_ns if cause >= 0 else None,
        cause_function=activity.function if activity else "",
        cause_at=activity.at if activity else UNKNOWN,
        cause_in_call=bool(activity and activity.in_call),
        cause_blocked=_blocked(basis, group, cause),
        trend=_trend(group),
    )


def _blocked(basis: Basis, group: Group, cause: int) -> float | None:
    known, activity = group.blocked(), group.activity
    if known is None or activity is None:
        return known
    times = basis.outside_ns.get(activity.line, {})
    return basis.share_blocked(cause, known, times.get(cause, 0))


def _waiting(group: Group, kind: str) -> Group:
    """The waits whose ranks are named: who is the root of a call may wait for the same cause elsewhere."""
    if kind not in OF_ROOTS:
        return group
    return Group(group.activity, [loss for loss in group.losses if loss.kind == kind])


def _trend(group: Group) -> str:
    """Whether the waits become longer in the course of the run, by more than chance could explain."""
    times, counts = (
        [sum(parts) for parts in zip(*of, strict=True)]
        for of in (
            [loss.by_time for loss in group.losses if loss.by_time],
            [loss.waits_by_time for loss in group.losses if loss.by_time],
        )
    )
    # The first and the last part hold how the program begins and ends.
    times, counts = times[1:-1], counts[1:-1]
    if len(times) < 4 or not all(counts):
        return ""
    means = [time / count for time, count in zip(times, counts, strict=True)]
    half = len(means) // 2
    is_ordered = min(means[half:]) > max(means[:half])
    if not is_ordered or means[-1] < GROWS * means[0] or not _is_steady(means):
        return ""
    # The mean of few waits is large or small by chance; that each part has a larger one is no chance.
    are_many = min(counts) >= SEVERAL_WAITS * len(group.by_rank())
    return "grows" if are_many or all(a < b for a, b in pairwise(means)) else ""


def _is_steady(values: Sequence[float]) -> bool:
    """Whether a line explains most of how the values differ, as it does not if one of them is an outlier."""
    middle, mean = (len(values) - 1) / 2, _mean(values)
    across = sum((i - middle) * (value - mean) for i, value in enumerate(values))
    along = sum((i - middle) ** 2 for i in range(len(values)))
    return across**2 >= STEADY * along * sum((value - mean) ** 2 for value in values)


def of_group(basis: Basis, group: Group, slow: Sequence[Finding] = ()) -> Finding:
    """The group as what it is: an imbalance, or late messages and roots.

    `slow`: the slow iterations that are told apart.
    """
    if group.activity is None or group.activity.in_call:
        is_start = group.activity is not None and meaning(group.activity.function).begins == "world"
        return finding(basis, group, "late start" if is_start else "")
    if 2 * group.of_kinds(OF_ALL) >= group.time_ns:
        return _imbalance(basis, group, slow)
    return finding(basis, group)


def _imbalance(basis: Basis, group: Group, slow_iterations: Sequence[Finding]) -> Finding:
    """Ranks wait for all others. If other ranks compute longer each time, the imbalance alternates."""
    found = finding(basis, group)
    activity = group.activity
    times = {**basis.worked_ns.get(activity.line, {})} if activity else {}
    # Ranks that are never there may wait for those that are: they do nothing before.
    own_ns = sum(time_ns for rank, time_ns in group.by_rank().items() if rank in times)
    if len(times) < 2 or 2 * own_ns < group.time_ns:
        times = {process.rank: times.get(process.rank, 0) for process in basis.processes}
    for each in slow_iterations:
        if activity and each.cause_rank in times and (each.cause_function, each.cause_at) == activity.line:
            times[each.cause_rank] = max(times[each.cause_rank] - (each.beyond_ns or 0), 0)
    slow = slow_of(times)
    mean_ns, most_ns = _mean(times.values()), max(times.values())
    is_even = 2 * (most_ns - mean_ns) * len(times) < group.time_ns
    # If a single rank is late, and these times do not say why, it is neither another one nor by turns.
    if (found.cause_share or 0.0) >= ONE_LATE and (is_even or found.cause_rank not in slow):
        return found
    if is_even:
        return replace(found, kind="alternating imbalance", most_ns=most_ns, mean_ns=mean_ns)
    others = [time_ns for rank, time_ns in times.items() if rank not in slow and time_ns]
    return replace(
        found,
        kind="slow rank" if is_one_slow(times, slow) else "load imbalance",
        ranks=slow,
        most_ns=most_ns,
        mean_ns=_mean(others) if others else None,
    )


def slow_of(times: dict[int, int]) -> tuple[int, ...]:
    """The ranks above the middle between the mean and the longest of these times."""
    middle_ns = (_mean(times.values()) + max(times.values())) / 2
    return tuple(sorted(rank for rank, time_ns in times.items() if time_ns > middle_ns))


def is_one_slow(times: dict[int, int], slow: Collection[int]) -> bool:
    """Whether a single rank is slow, and the others differ little, compared with it."""
    others = [time_ns for rank, time_ns in times.items() if rank not in slow]
    if len(slow) != 1 or len(others) < 2:
        return False
    return max(others) - _mean(others) <= DIFFER * (max(times.values()) - _mean(others))


def serialised(basis: Basis, group: Group) -> Finding | None:
    """An activity that one rank does after the other: it is on the critical path, on rank after rank."""
    activity = group.activity
    if activity is None or activity.in_call or 4 * group.of_kinds(IN_TURN) < group.time_ns:
        return None
    on_path = added(
        (part.rank, part.time_ns)
        for part in basis.run.wait_report.critical_path
        if part.world == basis.world
        and not part.in_call
        and (part.function, basis.place(part.site)) == (activity.function, activity.at)
    )
    path_ns, all_ns = sum(on_path.values()), sum(basis.outside_ns[activity.line].values())
    by_cause = group.by_cause()
    most = max(by_cause.values()) / group.time_ns
    if not path_ns or path_ns < SERIAL_SHARE * all_ns or max(on_path.values()) > SERIAL_RANK_SHARE * path_ns:
        return None
    if most > SERIAL_RANK_SHARE:
        return None
    return replace(
        finding(basis, group, "serialised"), ranks=tuple(sorted({*on_path})), cause_share=path_ns / all_ns
    )


def hub(basis: Basis) -> tuple[int, float] | None:
    """The rank through which nearly all messages go, and their share; None with fewer than three ranks."""
    found = basis.exchange
    if basis.ranks < 3 or found is None or not found.between:
        return None
    rank, share = found.busiest, found.busiest_messages / found.between
    if share < HOT_SHARE:
        return None
    partners = basis.partners(rank)
    return (rank, share) if len(partners) > max((basis.ranks - 1) / 2, 1) else None


def farm(basis: Basis, told: Told) -> Finding | None:
    """One rank gives tasks to the others and computes nothing itself; a worker may be slower than others."""
    found = hub(basis)
    if found is None or not basis.is_traced:
        return None
    master = found[0]
    workers = {rank: time_ns for rank, time_ns in basis.useful_ns.items() if rank != master}
    if basis.useful_ns[master] > SERVES * _mean(workers.values()):
        return None
    # A message that ends a worker is no task: no result comes back, if results come back in messages.
    results, given = basis.messages_with(master)
    tasks = {rank: min(given.get(rank, 0), results.get(rank, given.get(rank, 0))) for rank in workers}
    if min(tasks.values()) < 1:
        return None
    # The master waits because it has nothing to do; the workers wait for it, and at the end for one another.
    of = [loss for loss in told.losses.waits if loss.activity and is_of_messages(loss.activity.function)]
    if not of or basis.share(total(of)) < MIN_SHARE:
        return None
    each_ns = {rank: round(time_ns / tasks[rank]) for rank, time_ns in workers.items()}
    slowest = max(each_ns, key=lambda rank: each_ns[rank])
    usual = sorted(each_ns.values())[(len(each_ns) - 1) // 2]
    tail_ns = sum(
        time_ns
        for loss in of
        if loss.kind in OF_ALL
        for rank, time_ns in loss.by_rank.items()
        if rank in workers
    )
    # A single long task is none of a slow worker, unless the others wait for it in the end.
    is_sure = tasks[slowest] >= SEVERAL_TASKS or basis.share(tail_ns) >= MIN_SHARE
    of_slowest = [loss for loss in of if loss.cause_rank == slowest]
    # Of a worker whose tasks all take long, others wait no longer than for one of them.
    longest_ns = max((loss.longest_ns for loss in of_slowest), default=0.0)
    is_one_task = tasks[slowest] > 1 and longest_ns > SLOW_WORKER * each_ns[slowest]
    is_slow = each_ns[slowest] > SLOW_WORKER * usual and is_sure and not is_one_task
    told.losses.take(of)
    main = max(of_slowest if is_slow else of, key=lambda loss: loss.time_ns)
    return replace(
        finding(basis, Group(main.activity, of), "farm"),
        ranks=(slowest,) if is_slow else (master,),
        calls=sum(tasks.values()),
        cause_rank=slowest if is_slow else None,
        cause_share=total(of_slowest) / total(of) if is_slow else None,
        most_ns=each_ns[slowest],
        mean_ns=_mean([time_ns for rank, time_ns in each_ns.items() if rank != slowest] or [usual]),
        tail_ns=round(tail_ns),
        detail=str(master),
    )


def hot_spot(basis: Basis, told: Told) -> Finding | None:
    """Ranks that wait because of the rank through which all messages go."""
    found = hub(basis)
    if found is None:
        return None
    rank, share = found
    if not basis.is_traced:
        return _hot_spot_of_profile(basis, told, rank, share)

    of = [loss for loss in told.losses.waits if loss.kind in OF_MESSAGES and loss.cause_rank == rank]
    waiting = {*Group(None, of).ranks()} - {rank}
    if len(waiting) < 2 or basis.share(total(of)) < MIN_SHARE:
        return None
    main = next(iter(groups(of)))
    told.losses.take(of)
    result = finding(basis, Group(main.activity, of), "hot spot")
    return replace(result, ranks=tuple(sorted(waiting)), cause_rank=rank, cause_share=share)


def _hot_spot_of_profile(basis: Basis, told: Told, hub_rank: int, share: float) -> Finding | None:
    """The hot spot without a trace: the others are in calls for messages, while it computes."""
    known = ((process.rank, mpi_share(process)) for process in basis.processes)
    shares = {rank: in_mpi for rank, in_mpi in known if in_mpi is not None}
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
        lost_ns=round(told.losses.take_calls(map(basis.line_of_row, rows))),
        function=worst.function,
        at=row_place(worst),
        ranks=tuple(sorted(rank for rank in shares if rank != hub_rank)),
        calls=worst.calls,
        cause_rank=hub_rank,
        cause_share=share,
    )


def _mean(times: Collection[float]) -> float:
    return sum(times) / len(times)
