"""What `tare sweetspot` found, as tables."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare import units
from tare.analysis.rows import fields
from tare.lab.sweetspot.characterise import ACCEPTANCES, BELOW, Naive, Probe, Regularity, Stability, accepted
from tare.lab.sweetspot.live_tree import Topology
from tare.lab.sweetspot.survey import Survey
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet

if TYPE_CHECKING:
    from tare.reporters.console import Console

NAIVE_SHARES = ("complete", "overhead", "drained")
LOSS_LINES = 16
LOSS_COLUMNS = 72


def show(out: Console, found: Survey) -> None:
    """Prints what trees sustain, by topology."""
    for topology, probes in found.probes.items():
        measured = found.measured_at[topology]
        note = "" if measured is None else f" (measured {units.duration((time.time() - measured) * 1e9)} ago)"
        _show_probes(out, topology, probes, note)
        _show_stability(out, found.stability.get(topology, []))
        out.line()
    if len({topology.filter for topology in found.probes}) > 1:
        _show_filters(out, found.probes)
    if found.detail is not None:
        _show_search(out, found.detail.probe)
        _show_naive(out, found.detail.naive, found.detail.topology.fan_out)
        _show_regularity(out, found.detail.regularity)
        out.line()


def _show_probes(out: Console, topology: Topology, probes: Sequence[Probe], note: str) -> None:
    """Figures 9 to 11: intervals, costs and the limiting overhead over profile sizes."""
    out.line(f"{topology.name}{note}", bold=True)
    titles = ("Rest", "+-", "BOI", "spread", "off", "printed", "direct", "overall", "limit", "T_R", "T_P")
    time_of = units.duration
    rows = [
        [
            f"{probe.events:,}", time_of(probe.rest_ns), time_of(probe.rest_deviation_ns),
            time_of(probe.boi_ns), f"{probe.spread:.0f} %", f"{min(probe.arrivals_below, default=0):+.0f} %",
            time_of(probe.printed_boi_ns), time_of(probe.direct_ns), time_of(max(probe.overall_ns, 0)),
            f"{probe.limiting_overhead:.1f} %", time_of(probe.reduction_ns), time_of(probe.packet_ns),
        ]
        for probe in probes
    ]  # fmt: skip
    terminal.show_whole_sheet(out, Sheet([Heading("Events", key=True), *map(Heading, titles)], rows))


def _show_search(out: Console, probe: Probe) -> None:
    """Figure 6: the search's steps."""
    out.title(f"The search for {units.number_of(probe.events, 'event')}")
    titles = ("Step", "Interval", "Delay", "Growth", "Arrivals", "Queues")
    rows = [
        [
            str(number), units.duration(step["interval"]), units.duration(step["delay"]),
            units.duration(max(step["growth"], 0)), units.duration(step["arrival_interval"]),
            "yes" if step["is_saturated"] else "no",
        ]
        for number, step in enumerate(probe.steps)
    ]  # fmt: skip
    terminal.show_whole_sheet(out, Sheet([*map(Heading, titles)], rows))
    if probe.confirmations:
        told = ", ".join(
            f"{units.duration(step['interval'])} (arrivals {units.duration(step['arrival_interval'])})"
            for step in probe.confirmations
        )
        out.paragraph(f"Then, a fifth below what was found, more rounds: {told}.")


def _show_stability(out: Console, stability: Sequence[Stability]) -> None:
    """Figure 8."""
    if stability:
        told = ", ".join(
            f"{each.rest_percent:.0f} and {each.boi_percent:.0f} % "
            f"with {units.number_of(each.events, 'event')}"
            for each in stability
        )
        out.paragraph(f"Over repeated probes Rest and BOI vary by {told} (standard deviations).")


def _show_filters(out: Console, probes: Mapping[Topology, Sequence[Probe]]) -> None:
    """The BOI of each filter."""
    filters = list(dict.fromkeys(topology.filter for topology in probes))
    out.line("The BOI by filter", bold=True)
    keys = [Heading(title, key=True) for title in ("Ranks", "Fan-out", "Events")]
    found: dict[tuple[int, int, int], dict[str, float]] = {}
    for topology, of in probes.items():
        for probe in of:
            place = (topology.ranks, topology.fan_out, probe.events)
            found.setdefault(place, {})[topology.filter] = probe.boi_ns
    rows = [
        [*(f"{each:,}" for each in place), *(units.duration(by_filter[name]) for name in filters)]
        for place, by_filter in found.items()
    ]
    terminal.show_whole_sheet(out, Sheet([*keys, *map(Heading, filters)], rows))
    out.line()


def _show_regularity(out: Console, regularity: Sequence[Regularity]) -> None:
    out.title("Offloads at random moments")
    titles = ("Delay, regular", "random", "a tenth above")
    rows = [
        [
            *map(
                units.duration,
                (each.interval_ns, each.regular_ns, each.irregular_ns, each.irregular_tenth_ns),
            )
        ]
        for each in regularity
    ]
    terminal.show_whole_sheet(out, Sheet([Heading("Mean interval", key=True), *map(Heading, titles)], rows))


def _show_naive(out: Console, naive: Sequence[Naive], fan_out: int) -> None:
    """Figures 3 to 5."""
    out.title("Intervals chosen without asking (bspbench)")
    titles = ("Interval", "Offload", "overhead", "Delay, first", "last", "Draining", "complete")
    rows = [
        [
            each.policy, units.duration(each.interval_ns), units.duration(each.mean_cost_ns),
            f"{each.overhead:.1f} %", _mean(each.delays_ns[: _tenth(each)]),
            _mean(each.delays_ns[-_tenth(each) :]), f"{each.drained:.0f} %", f"{each.complete:.0f} %",
        ]
        for each in naive
    ]  # fmt: skip
    terminal.show_whole_sheet(
        out, Sheet([Heading("Policy", text=True, key=True), *map(Heading, titles)], rows)
    )
    for each in naive:
        if any(each.dropped):
            _show_losses(out, each, fan_out)


def _tenth(of: Naive) -> int:
    return max(len(of.delays_ns) // 10, 1)


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
    from tare.lab.sweetspot.characterise import parse_ranks

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


def content(found: Survey) -> dict[str, Any]:
    """The survey as JSON."""
    rows: dict[str, Any] = {"trees": _trees(found.probes)}
    if found.stability:
        rows["stability"] = [
            {**fields(topology, ("ranks", "fan_out", "filter")), **asdict(each)}
            for topology, of in found.stability.items()
            for each in of
        ]
    if found.detail is not None:
        rows["naive"] = [
            asdict(each) | {f"{name}_percent": share for name, share in fields(each, NAIVE_SHARES).items()}
            for each in found.detail.naive
        ]
        rows["irregular"] = [asdict(each) for each in found.detail.regularity]
    return rows


def _trees(probes: Mapping[Topology, Sequence[Probe]]) -> list[dict[str, Any]]:
    """A row for each tree and size."""
    return [
        {
            **fields(topology, ("ranks", "fan_out", "transport", "filter")),
            "events": probe.events,
            "resting_delay_ns": probe.rest_ns,
            "resting_delay_deviation_ns": probe.rest_deviation_ns,
            **fields(probe, ("boi_ns", "boi_trials_ns")),
            "boi_trials_confirmed": probe.confirmed,
            "arrivals_below_boi": [
                {"below": below, "percent": percent}
                for below, percent in zip(BELOW, probe.arrivals_below, strict=True)
            ],
            "printed_boi_ns": probe.printed_boi_ns,
            "direct_offload_ns": probe.direct_ns,
            "worst_offload_ns": probe.worst_ns,
            "overall_offload_ns": probe.overall_ns,
            "limiting_overhead_percent": probe.limiting_overhead,
            **fields(probe, ("reduction_ns", "packet_ns", "steps", "confirmations")),
        }
        for topology, of in probes.items()
        for probe in of
    ]
