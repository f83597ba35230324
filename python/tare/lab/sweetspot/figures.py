"""What `tare sweetspot` found, as the figures of Nataraj et al. (CLUSTER 2008), drawn by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare import units
from tare.lab.sweetspot.characterise import ACCEPTANCES, BELOW, Naive, Probe, Stability, accepted, parse_ranks
from tare.lab.sweetspot.live_tree import Topology
from tare.lab.sweetspot.survey import Survey
from tare.reporters import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NS_PER_MS = 1e6
WIDTH_IN = 7.5
HEIGHT_IN = 4.0

Probes = Mapping[Topology, Sequence[Probe]]


def draw(folder: Path, found: Survey) -> None:
    """All figures for which something was measured; OSError if they cannot be written."""
    _draw_trees(folder, found.probes)
    _draw_below(folder, found.probes)
    if found.stability:
        _draw_stability(folder, found.stability)
    if found.detail is not None:
        _draw_search(folder, found.detail.probe)
        _draw_naive(folder, found.detail.naive)
        _draw_overheads(folder, found.detail.naive)
        _draw_thresholds(folder, found.detail.naive, found.detail.topology.fan_out)


def _draw_trees(folder: Path, probes: Probes) -> None:
    """Figures 9, 10 and 11: over profile sizes, a curve for each tree."""
    curves: dict[str, tuple[str, Callable[[Probe], float]]] = {
        "boi": ("bottleneck offload interval, ms", lambda probe: probe.boi_ns / NS_PER_MS),
        "offload-direct": ("direct offload cost, ms", lambda probe: probe.direct_ns / NS_PER_MS),
        "offload-overall": ("overall offload cost, ms", lambda probe: max(probe.overall_ns, 0) / NS_PER_MS),
        "limiting-overhead": ("limiting overhead, %", lambda probe: probe.limiting_overhead),
    }
    for name, (label, of) in curves.items():
        _over_sizes(folder, name, label, probes, of)


def _over_sizes(folder: Path, name: str, label: str, probes: Probes, of: Callable[[Probe], float]) -> None:
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    for topology, probes_of_tree in probes.items():
        sizes = [probe.events for probe in probes_of_tree]
        axes.plot(sizes, [of(probe) for probe in probes_of_tree], marker="o", label=topology.name)
    _mark_sizes(axes, sizes)
    axes.set(xlabel="events in a profile", ylabel=label, ylim=(0, None))
    axes.legend(frameon=False, fontsize="small")
    canvas.save(axes, folder / f"{name}.svg")


def _draw_search(folder: Path, probe: Probe) -> None:
    """Figure 6: interval and delay over the steps of a search."""
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    told = [*probe.steps, *({"delay": math.nan} | step for step in probe.confirmations)]
    steps = range(len(told))
    for key, label in (
        ("interval", "interval"),
        ("delay", "mean delay"),
        ("arrival_interval", "arrival interval"),
    ):
        axes.plot(steps, [step[key] / NS_PER_MS for step in told], marker="o", label=label)
    axes.axhline(probe.boi_ns / NS_PER_MS, color="black", linewidth=0.8, linestyle="--", label="BOI")
    if probe.confirmations:
        axes.axvline(len(probe.steps) - 0.5, color="grey", linewidth=0.8, linestyle=":", label="confirmation")
    axes.set(yscale="log", xlabel="step of the search", ylabel="ms")
    axes.legend(frameon=False)
    canvas.save(axes, folder / "search.svg")


def _draw_naive(folder: Path, naive: Sequence[Naive]) -> None:
    """Figures 3 and 5: delay and cost over rounds; loss maps, and what thresholds would save."""
    for policy in dict.fromkeys(each.policy for each in naive):
        of = [each for each in naive if each.policy == policy]
        _over_rounds(folder / f"delay-{policy}.svg", of, "delays_ns", "one-way delay, ms")
        _over_rounds(folder / f"cost-{policy}.svg", of, "worst_costs_ns", "offload cost, ms")
    for number, each in enumerate(each for each in naive if any(each.dropped)):
        _losses(folder / f"losses-{number}.svg", each)


def _over_rounds(path: Path, naive: Sequence[Naive], key: str, label: str) -> None:
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    for each in naive:
        values = [value / NS_PER_MS for value in getattr(each, key)]
        axes.plot(values, linewidth=0.9, label=f"{each.interval_ns / NS_PER_MS:.3g} ms")
    axes.set(yscale="log", xlabel="round", ylabel=label)
    axes.legend(frameon=False, title="offload interval")
    canvas.save(axes, path)


def _losses(path: Path, naive: Naive) -> None:
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    points = [(number, rank) for number, text in enumerate(naive.dropped) for rank in parse_ranks(text)]
    axes.scatter([x for x, _ in points], [y for _, y in points], s=2, color="black")
    axes.set(xlim=(0, len(naive.dropped)), xlabel="round", ylabel="rank that dropped it")
    axes.set_title(
        f"{naive.interval_ns / NS_PER_MS:.3g} ms, {naive.complete:.0f} % of the rounds are complete"
    )
    canvas.save(axes, path)


def _draw_overheads(folder: Path, naive: Sequence[Naive]) -> None:
    """Figure 4: what ranks pay over the interval under the policies that lose nothing, and how long rounds
    still arrive after the program's end."""
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    axes.spines["right"].set_visible(True)
    excess = axes.twinx()
    excess.spines["top"].set_visible(False)
    for policy, color in (("block", "tab:blue"), ("unbound", "tab:orange")):
        of = sorted((each for each in naive if each.policy == policy), key=lambda each: each.interval_ns)
        intervals = [each.interval_ns / NS_PER_MS for each in of]
        name = "blocking" if policy == "block" else "non-blocking"
        axes.plot(intervals, [each.overhead for each in of], marker="o", color=color, label=f"cost, {name}")
        excess.plot(
            intervals,
            [each.drained for each in of],
            marker="s",
            linestyle="--",
            color=color,
            label=f"excess reception, {name}",
        )
    axes.set_xscale("log")
    axes.set_xticks(intervals, [f"{interval:.3g}" for interval in intervals])
    axes.minorticks_off()
    axes.set(xlabel="offload interval, ms", ylabel="mean offload cost, % of the interval")
    excess.set_ylabel("excess reception, % of the run time")
    axes.set_ylim(bottom=0)
    excess.set_ylim(bottom=0)
    lines = [*axes.get_lines(), *excess.get_lines()]
    axes.legend(lines, [str(line.get_label()) for line in lines], frameon=False, fontsize="small")
    canvas.save(axes, folder / "overheads.svg")


def _draw_below(folder: Path, probes: Probes) -> None:
    """Figure 7: arrivals where offloads are more often than the BOI; of each tree the middle profile size."""
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    shares = [100 * below for below in BELOW]
    for topology, of in probes.items():
        probe = of[len(of) // 2]
        label = f"{topology.name}, {units.number_of(probe.events, 'event')}"
        axes.plot(shares, probe.arrivals_below, marker="o", label=label)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(shares)
    axes.set(xlabel="offload interval below the BOI, %", ylabel="arrival interval, % above the BOI")
    axes.legend(frameon=False, fontsize="small")
    canvas.save(axes, folder / "arrivals-below.svg")


def _draw_stability(folder: Path, stability: Mapping[Topology, Sequence[Stability]]) -> None:
    """Figure 8: how much repeated probes differ, over profile sizes."""
    both = canvas.stacked(2, WIDTH_IN, 1.5 * HEIGHT_IN)
    parts: tuple[tuple[str, Callable[[Stability], float]], ...] = (
        ("resting delay", lambda each: each.rest_percent),
        ("BOI", lambda each: each.boi_percent),
    )
    for axes, (name, value) in zip(both, parts, strict=True):
        for topology, of in stability.items():
            sizes = [each.events for each in of]
            axes.plot(sizes, [value(each) for each in of], marker="o", label=topology.name)
        _mark_sizes(axes, sizes)
        axes.set(ylim=(0, None), ylabel=f"{name}: deviation, % of mean")
    both[0].legend(frameon=False, fontsize="small")
    both[1].set_xlabel("events in a profile")
    canvas.save(axes, folder / "stability.svg")


def _draw_thresholds(folder: Path, naive: Sequence[Naive], fan_out: int) -> None:
    """Figure 5B: rounds with a result over the acceptance threshold."""
    axes = canvas.axes(WIDTH_IN, HEIGHT_IN)
    for each in naive:
        if any(each.dropped):
            shares = [accepted(each.dropped, fan_out, at) for at in ACCEPTANCES]
            axes.plot(ACCEPTANCES, shares, marker="o", label=f"{each.interval_ns / NS_PER_MS:.3g} ms")
    axes.set(xlabel="acceptance threshold", ylabel="rounds with a result, %", ylim=(0, 105))
    canvas.save(axes, folder / "thresholds.svg")


def _mark_sizes(axes: Axes, sizes: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
