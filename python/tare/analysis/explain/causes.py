"""The waits of a run as findings: by what caused them in the end if that is known, else by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tare.analysis.explain import computing, waiting
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import MIN_GAIN, MIN_MPI_SHARE, MIN_SHARE, Finding
from tare.analysis.explain.gains import on_critical_path_ns
from tare.analysis.explain.iterations import slowest, waits_for
from tare.analysis.explain.losses import Loss, total
from tare.analysis.explain.waiting import Group
from tare.analysis.groups import grouped


def of_waits(basis: Basis, told: Told) -> list[Finding]:
    """The findings of the waits that are not told yet. Each wait is told once."""
    if not basis.is_traced:
        both = (waiting.hot_spot(basis, told), computing.imbalance(basis, told))
        return [each for each in both if each is not None]
    found = [one for whole in (waiting.farm, waiting.hot_spot) if (one := whole(basis, told))]
    found += _of_wrong_order(basis, told)
    slow = _of_slow_iterations(basis, told)
    found += slow
    for group in waiting.groups(told.losses.waits):
        if basis.share(group.time_ns) < MIN_SHARE:
            break
        each = waiting.serialised(basis, group) or waiting.of_group(basis, group, slow)
        if group.activity is None and _costs_nothing(basis, each):
            continue
        found.append(each)
        told.losses.take(group.losses)
    # Ranks that are slower at many places, at none of them by much.
    for rank_group in _by_rank(told.losses.waits):
        if basis.share(rank_group.time_ns) >= MIN_SHARE:
            found.append(waiting.of_group(basis, rank_group, slow))
            told.losses.take(rank_group.losses)
    return found + _of_calls_not_followed(basis, told, found)


def _of_calls_not_followed(basis: Basis, told: Told, found: Sequence[Finding]) -> list[Finding]:
    """The others wait for a rank that computes longer by as much as most of what is left.

    Of some calls, such as those of neighbours, the trace does not show for whom they wait.
    """
    under_way_ns = min(basis.unreturned_ns, told.elsewhere_ns)
    if basis.share(total(told.losses.left) + under_way_ns) < MIN_MPI_SHARE:
        return []
    told_ns = sum(each.lost_ns for each in (*told.findings, *found))
    rest = computing.imbalance(basis, told, told_ns, at_least=0.5)
    return [rest] if rest else []


def _costs_nothing(basis: Basis, found: Finding) -> bool:
    """Whether the program would take as long without a wait."""
    return on_critical_path_ns(basis, (found.function, found.at)) < MIN_GAIN * basis.net_ns


def _of_slow_iterations(basis: Basis, told: Told) -> list[Finding]:
    """The waits for few slow iterations of a rank, if these are half of what others wait for it there.

    The rest is lost in all iterations.
    """
    slow = slowest(basis)
    if slow is None:
        return []
    of = waits_for(slow, told.losses.waits)
    # What they take longer, each of the waiting ranks waits for.
    ranks = {rank for loss in of for rank, time_ns in loss.by_rank.items() if time_ns}
    waits_ns = total(of)
    time_ns = min(float(len(ranks) * slow.time_ns), waits_ns)
    if basis.share(time_ns) < MIN_SHARE or not slow.time_ns <= 2 * waits_ns <= 4 * time_ns:
        return []
    told.losses.take_part(of, time_ns / waits_ns)
    return [replace(slow, share=basis.share(time_ns), time_ns=round(time_ns), lost_ns=round(time_ns))]


def _of_wrong_order(basis: Basis, told: Told) -> list[Finding]:
    """The waits for messages at a line, during most of which another one lay there."""
    found = []
    lay_there = [each for each in basis.run.wait_report.wrong_order if each.world == basis.world]
    for line, on_ranks in grouped(lay_there, lambda each: (each.function, basis.place(each.site))).items():
        of = [loss for loss in told.losses.waits if (loss.kind, loss.line) == ("late sender", line)]
        time_ns, most_ns = sum(each.time_ns for each in on_ranks), max(each.time_ns for each in on_ranks)
        if not of or 2 * time_ns < total(of) or most_ns < MIN_SHARE * basis.net_ns:
            continue
        group = Group(waiting.groups(of)[0].activity, of)
        found.append(replace(waiting.finding(basis, group, "wrong order"), most_ns=time_ns))
        told.losses.take(of)
    return found


def _by_rank(losses: Sequence[Loss]) -> list[Group]:
    """The losses that a rank caused outside MPI, at whatever line; the largest first."""
    outside = [loss for loss in losses if loss.activity and not loss.activity.in_call]
    of = grouped(outside, lambda loss: loss.cause_rank)
    found = [Group(waiting.groups(each)[0].activity, each) for each in of.values()]
    return sorted(found, key=lambda group: -group.time_ns)
