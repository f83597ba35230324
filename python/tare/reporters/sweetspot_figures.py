"""What `tare sweetspot` found, as the figures of Nataraj et al. (CLUSTER 2008), drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.monitor.characterise import ACCEPTANCES, Naive, Probe, accepted, parse_ranks
from tare.monitor.live_tree import Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NS_PER_MS = 1e6
WIDTH_IN = 7.5
HEIGHT_IN = 4.0

Probes = Mapping[Topology, Sequence[Probe]]


def draw_trees(folder: Path, probes: Probes) -> list[Path]:
    """Figures 9, 10 and 11: over profile sizes, a curve for each tree."""
    curves: dict[str, tuple[str, Callable[[Probe], float]]] = {
        "boi": ("bottleneck offload interval, ms", lambda probe: probe.boi_ns / NS_PER_MS),
        "offload-direct": ("direct offload cost, ms", lambda probe: probe.direct_ns / NS_PER_MS),
        "offload-overall": ("overall offload cost, ms", lambda probe: max(probe.overall_ns, 0) / NS_PER_MS),
        "limiting-overhead": ("limiting overhead, %", lambda probe: probe.limiting_overhead),
    }
    return [_over_sizes(folder, name, label, probes, of) for name, (label, of) in curves.items()]


def _over_sizes(folder: Path, name: str, label: str, probes: Probes, of: Callable[[Probe], float]) -> Path:
    axes = _axes()
    for topology, probes_of_tree in probes.items():
        sizes = [probe.events for probe in probes_of_tree]
        axes.plot(sizes, [of(probe) for probe in probes_of_tree], marker="o", label=topology.name)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("events in a profile")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize="small")
    return _save(folder / f"{name}.svg")


def draw_search(folder: Path, probe: Probe) -> Path:
    """Figure 6: interval and delay over the steps of a search."""
    axes = _axes()
    steps = range(len(probe.steps))
    for key, label in (
        ("interval", "interval"),
        ("delay", "mean delay"),
        ("arrival_interval", "arrival interval"),
    ):
        axes.plot(steps, [step[key] / NS_PER_MS for step in probe.steps], marker="o", label=label)
    axes.axhline(probe.boi_ns / NS_PER_MS, color="black", linewidth=0.8, linestyle="--", label="BOI")
    axes.set_yscale("log")
    axes.set_xlabel("step of the search")
    axes.set_ylabel("ms")
    axes.legend(frameon=False)
    return _save(folder / "search.svg")


def draw_naive(folder: Path, naive: Sequence[Naive]) -> list[Path]:
    """Figures 3 and 5: delay and cost over rounds; loss maps, and what thresholds would save."""
    made = []
    for policy in dict.fromkeys(each.policy for each in naive):
        of = [each for each in naive if each.policy == policy]
        made.append(_over_rounds(folder / f"delay-{policy}.svg", of, "delays_ns", "one-way delay, ms"))
        made.append(_over_rounds(folder / f"cost-{policy}.svg", of, "worst_costs_ns", "offload cost, ms"))
    for number, each in enumerate(each for each in naive if any(each.dropped)):
        made.append(_losses(folder / f"losses-{number}.svg", each))
    return made


def _over_rounds(path: Path, naive: Sequence[Naive], key: str, label: str) -> Path:
    axes = _axes()
    for each in naive:
        values = [value / NS_PER_MS for value in getattr(each, key)]
        axes.plot(values, linewidth=0.9, label=f"{each.interval_ns / NS_PER_MS:.3g} ms")
    axes.set_yscale("log")
    axes.set_xlabel("round")
    axes.set_ylabel(label)
    axes.legend(frameon=False, title="offload interval")
    return _save(path)


def _losses(path: Path, naive: Naive) -> Path:
    axes = _axes()
    points = [(number, rank) for number, text in enumerate(naive.dropped) for rank in parse_ranks(text)]
    axes.scatter([x for x, _ in points], [y for _, y in points], s=2, color="black")
    axes.set_xlim(0, len(naive.dropped))
    axes.set_xlabel("round")
    axes.set_ylabel("rank that dropped it")
    axes.set_title(
        f"{naive.interval_ns / NS_PER_MS:.3g} ms, {naive.complete:.0f} % of the rounds are complete"
    )
    return _save(path)


def draw_thresholds(folder: Path, naive: Sequence[Naive], fan_out: int) -> Path:
    """Figure 5B: rounds with a result over the acceptance threshold."""
    axes = _axes()
    for each in naive:
        if any(each.dropped):
            shares = [accepted(each.dropped, fan_out, at) for at in ACCEPTANCES]
            axes.plot(ACCEPTANCES, shares, marker="o", label=f"{each.interval_ns / NS_PER_MS:.3g} ms")
    axes.set_xlabel("acceptance threshold")
    axes.set_ylabel("rounds with a result, %")
    axes.set_ylim(0, 105)
    return _save(folder / "thresholds.svg")


def _axes() -> Axes:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    axes: Axes = pyplot.subplots(figsize=(WIDTH_IN, HEIGHT_IN), layout="constrained")[1]
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def _save(path: Path) -> Path:
    from matplotlib import pyplot

    pyplot.savefig(path)  # of the figure that was made last
    pyplot.close()
    return path
