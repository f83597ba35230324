"""What `tare sweetspot` found, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tare import units
from tare.monitor.characterise import ACCEPTANCES, Naive, Probe, accepted
from tare.monitor.live_tree import Topology
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet

if TYPE_CHECKING:
    from tare.reporters.console import Console

LOSS_LINES = 16
LOSS_COLUMNS = 72


def show_probes(out: Console, topology: Topology, probes: Sequence[Probe], note: str) -> None:
    """Figures 9 to 11: intervals, costs and the limiting overhead over profile sizes."""
    out.line(f"{topology.name}{note}", bold=True)
    titles = ("Rest", "+-", "BOI", "spread", "printed", "direct", "overall", "limit", "T_R", "T_P")
    sheet = Sheet([Heading("Events", key=True), *(Heading(title) for title in titles)])
    for probe in probes:
        sheet.rows.append(
            [
                f"{probe.events:,}",
                units.duration(probe.rest_ns),
                units.duration(probe.rest_deviation_ns),
                units.duration(probe.boi_ns),
                f"{probe.spread:.0f} %",
                units.duration(probe.printed_boi_ns),
                units.duration(probe.direct_ns),
                units.duration(max(probe.overall_ns, 0)),
                f"{probe.limiting_overhead:.1f} %",
                units.duration(probe.reduction_ns),
                units.duration(probe.packet_ns),
            ]
        )
    terminal.show_whole_sheet(out, sheet)


def show_search(out: Console, probe: Probe) -> None:
    """Figure 6: the search's steps."""
    out.line()
    out.line(f"The search for {probe.events:,} events", bold=True)
    sheet = Sheet([Heading(title) for title in ("Step", "Interval", "Delay", "Growth", "Arrivals", "Queues")])
    for number, step in enumerate(probe.steps):
        sheet.rows.append(
            [
                str(number),
                units.duration(step["interval"]),
                units.duration(step["delay"]),
                units.duration(max(step["growth"], 0)),
                units.duration(step["arrival_interval"]),
                "yes" if step["is_saturated"] else "no",
            ]
        )
    terminal.show_whole_sheet(out, sheet)


def show_evaluation(out: Console, below: Mapping[float, float], stability: tuple[float, float]) -> None:
    """Figures 7 and 8."""
    out.line()
    arrivals = ", ".join(
        f"{difference:+.0f} % at {100 * share:.0f} % below" for share, difference in below.items()
    )
    out.paragraph(f"Offloads more often than the BOI arrive further apart than it by: {arrivals}.")
    out.paragraph(
        f"Over repeated probes the resting delay varies by {stability[0]:.0f} % of its mean, the BOI by "
        f"{stability[1]:.0f} % (standard deviations)."
    )


def show_naive(out: Console, naive: Sequence[Naive], fan_out: int) -> None:
    """Figures 3 to 5."""
    out.line()
    out.line("Intervals chosen without asking (bspbench)", bold=True)
    titles = ("Interval", "Offload", "overhead", "Delay, first", "last", "Draining", "complete")
    sheet = Sheet([Heading("Policy", text=True, key=True), *(Heading(title) for title in titles)])
    for each in naive:
        tenth = max(len(each.delays_ns) // 10, 1)
        sheet.rows.append(
            [
                each.policy,
                units.duration(each.interval_ns),
                units.duration(each.mean_cost_ns),
                f"{each.overhead:.1f} %",
                _mean(each.delays_ns[:tenth]),
                _mean(each.delays_ns[-tenth:]),
                f"{each.drained:.0f} %",
                f"{each.complete:.0f} %",
            ]
        )
    terminal.show_whole_sheet(out, sheet)
    for each in naive:
        if any(each.dropped):
            _show_losses(out, each, fan_out)


def _mean(values: Sequence[float]) -> str:
    return units.duration(sum(values) / len(values)) if values else units.NOTHING


def _show_losses(out: Console, naive: Naive, fan_out: int) -> None:
    """Figure 5: which ranks dropped when, and how many rounds a threshold would save."""
    out.line()
    kept = ", ".join(f"{accepted(naive.dropped, fan_out, at):.0f} % at {at}" for at in ACCEPTANCES)
    out.paragraph(
        f"Lost at {units.duration(naive.interval_ns)}, with rounds from left to right and ranks downward; "
        f"rounds with a result over the acceptance threshold: {kept}."
    )
    for line in loss_map(naive.dropped):
        out.line(f"  {line}")


def loss_map(dropped: Sequence[str]) -> list[str]:
    """Lines of ranks over columns of rounds: ` ` no loss, `.`, `+`, `#` up to a third, two thirds, more."""
    from tare.monitor.characterise import parse_ranks

    lost = [parse_ranks(text) for text in dropped]
    ranks = max((max(of) for of in lost if of), default=-1) + 1
    if ranks == 0:
        return []
    height, width = min(LOSS_LINES, ranks), min(LOSS_COLUMNS, len(lost))
    counts = [[0] * width for _ in range(height)]
    for number, of in enumerate(lost):
        for rank in of:
            counts[rank * height // ranks][number * width // len(lost)] += 1
    cell = (ranks / height) * (len(lost) / width)
    return [
        "".join(" .+#"[min(-(-3 * count // max(round(cell), 1)), 3)] for count in line) for line in counts
    ]


def content(probes: Mapping[Topology, Sequence[Probe]]) -> list[dict[str, Any]]:
    """For JSON: a row for each tree and size."""
    return [
        {
            "ranks": topology.ranks,
            "fan_out": topology.fan_out,
            "transport": topology.transport,
            "filter": topology.filter,
            "events": probe.events,
            "resting_delay_ns": probe.rest_ns,
            "resting_delay_deviation_ns": probe.rest_deviation_ns,
            "boi_ns": probe.boi_ns,
            "boi_trials_ns": probe.boi_trials_ns,
            "printed_boi_ns": probe.printed_boi_ns,
            "direct_offload_ns": probe.direct_ns,
            "worst_offload_ns": probe.worst_ns,
            "overall_offload_ns": probe.overall_ns,
            "limiting_overhead_percent": probe.limiting_overhead,
            "reduction_ns": probe.reduction_ns,
            "packet_ns": probe.packet_ns,
            "steps": probe.steps,
        }
        for topology, of in probes.items()
        for probe in of
    ]
