"""`tare sweetspot`: how often ranks can hand over their profiles while a program runs."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import streams, units
from tare.commands import Json
from tare.errors import CommandError, UsageError
from tare.options import Option

if TYPE_CHECKING:
    from tare.monitor.characterise import Naive, Probe
    from tare.monitor.live_tree import Topology

SCHEMA = "tare.sweetspot/1"
RANKS = "64"
FAN_OUTS = "8,64"
EVENTS = "64,1024"
PERCENT = 2.0
PLAY_ROUNDS = 200
STABILITY_PROBES = 5
MOST_RANKS = 4096
SIMULATED_FAN_OUTS = (8, 16, 32, 64)


def _numbers(text: str) -> list[int]:
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise ValueError(f"'{text}' is not a list of numbers like 16,64")
    return found


def sweetspot(
    ranks: Annotated[
        str, Option(metavar="N,...", help="How many ranks; with --simulate any number of them.")
    ] = RANKS,
    fan_out: Annotated[
        str, Option(metavar="N,...", help="How many children a node of the tree has.")
    ] = FAN_OUTS,
    events: Annotated[str, Option(metavar="N,...", help="How many events a profile has.")] = EVENTS,
    transport: Annotated[
        str, Option(metavar="unix|tcp", help="What carries packets between nodes.")
    ] = "unix",
    filter: Annotated[str, Option(metavar="FILTER", help="What reduces a round.")] = "statistics",
    at_most: Annotated[
        float,
        Option(metavar="PERCENT", min=0.01, max=100, help="What monitoring may cost, in % of the run time."),
    ] = PERCENT,
    simulate: Annotated[
        bool, Option("--simulate", help="Tell of trees that do not fit here, from costs measured here.")
    ] = False,
    fresh: Annotated[bool, Option("--fresh", help="Measure again what was measured here before.")] = False,
    brief: Annotated[
        bool, Option("--brief", help="Leave out intervals chosen without asking, and repeated probes.")
    ] = False,
    figures: Annotated[
        Path | None,
        Option(metavar="DIR", show_default=False, help="Draw what was found, as SVG files in DIR."),
    ] = None,
    json: Json = False,
) -> int:
    """Find out how often ranks can offload, and what it costs them.

    A monitoring tree of processes is formed on this machine, with ranks that are made up; no MPI is needed.
    docs/monitoring.md explains the terms.

    Example: tare sweetspot --ranks 64 --fan-out 8,64 --events 64,256 --at-most 2
    """
    from importlib.util import find_spec

    from tare.monitor.live_tree import Topology
    from tare.packages import how_to_install

    try:
        counts, fan_outs, sizes = _numbers(ranks), _numbers(fan_out), sorted(set(_numbers(events)))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if transport not in ("unix", "tcp"):
        raise UsageError(f"--transport {transport}: it is unix or tcp")
    if figures is not None and find_spec("matplotlib") is None:
        raise CommandError(f"--figures needs matplotlib: {how_to_install(['matplotlib'])}")
    if simulate:
        return _simulate(counts, sizes, json)
    if max(counts) > MOST_RANKS:
        raise UsageError(f"--ranks {max(counts)}: more than {MOST_RANKS:,} are told of by --simulate")
    topologies = [
        Topology(count, width, transport=transport, filter=filter)
        for count in counts
        for width in fan_outs
        if 1 < width <= count or width == min(fan_outs)
    ]
    found, ages = {}, {}
    for topology in topologies:
        found[topology], ages[topology] = _probes(topology, sizes, fresh=fresh)
    detail = None if brief else _detail(topologies[-1], found[topologies[-1]])
    if figures is not None:
        _draw(figures, found, detail)
    _report(found, ages, detail, at_most, json)
    return 0


def _draw(folder: Path, found: dict[Topology, list[Probe]], detail: Detail | None) -> None:
    from tare.reporters import sweetspot_figures

    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweetspot_figures.draw_trees(folder, found)
        if detail is not None:
            probe, _, _, naive, fan_out = detail
            sweetspot_figures.draw_search(folder, probe)
            sweetspot_figures.draw_naive(folder, naive)
            sweetspot_figures.draw_thresholds(folder, naive, fan_out)
    except OSError as error:
        raise CommandError(f"cannot write {folder}: {error.strerror}") from error


def _probes(topology: Topology, sizes: list[int], *, fresh: bool) -> tuple[list[Probe], float | None]:
    """Measured now, or when they were measured."""
    from tare.monitor import cache, characterise, live_tree

    known = None if fresh else cache.load(topology, sizes)
    if known is not None:
        return known
    if sys.stderr.isatty():
        streams.progress(f"measuring {topology.name}")
    with live_tree.formed(topology, max(sizes), PLAY_ROUNDS) as tree:
        probes = characterise.probe(tree, sizes)
    if sys.stderr.isatty():
        streams.progress("")
    cache.save(topology, probes)
    return probes, None


Detail = tuple["Probe", dict[float, float], tuple[float, float], "list[Naive]", int]


def _detail(topology: Topology, probes: list[Probe]) -> Detail:
    """The figures of one tree and the smallest profile."""
    from tare.monitor import characterise, live_tree

    probe = probes[0]
    with live_tree.formed(topology, probe.events, PLAY_ROUNDS) as tree:
        below = characterise.arrivals_below(tree, probe.events, probe.boi_ns, PLAY_ROUNDS)
        stable = characterise.stability(tree, probe.events, STABILITY_PROBES)
        naive = characterise.naive(tree, probe.events, probe.boi_ns, PLAY_ROUNDS)
    return probe, below, stable, naive, topology.fan_out


def _report(
    found: dict[Topology, list[Probe]],
    ages: dict[Topology, float | None],
    detail: Detail | None,
    at_most: float,
    json: bool,
) -> None:
    from tare.monitor import advice
    from tare.reporters import sweetspot as tables
    from tare.reporters.console import console

    counts = sorted({topology.ranks for topology in found})
    sizes = sorted({probe.events for probes in found.values() for probe in probes})
    told = [best for count in counts for size in sizes if (best := advice.best(found, count, size, at_most))]
    if json:
        _print_json(
            {"advice": [each.sentence() for each in told], "trees": tables.content(found), **_rows(detail)}
        )
        return
    out = console()
    for topology, probes in found.items():
        measured = ages[topology]
        note = "" if measured is None else f" (measured {units.duration((time.time() - measured) * 1e9)} ago)"
        tables.show_probes(out, topology, probes, note)
        out.line()
    if detail is not None:
        probe, below, stable, naive, fan_out = detail
        tables.show_search(out, probe)
        tables.show_evaluation(out, below, stable)
        tables.show_naive(out, naive, fan_out)
        out.line()
    for each in told:
        out.paragraph(each.sentence() + ".")


def _rows(detail: Detail | None) -> dict[str, Any]:
    if detail is None:
        return {}
    from dataclasses import asdict

    _, below, stable, naive, _ = detail
    return {
        "arrivals_below_boi": [{"below": share, "percent": found} for share, found in below.items()],
        "stability_percent": {"resting_delay": stable[0], "boi": stable[1]},
        "naive": [asdict(each) | {"complete_percent": each.complete} for each in naive],
    }


def _print_json(content: dict[str, Any]) -> None:
    from tare.reporters import json as json_reporter

    json_reporter.write(sys.stdout, SCHEMA, None, content)


def _simulate(counts: list[int], sizes: list[int], json: bool) -> int:
    from importlib.util import find_spec

    from tare.packages import how_to_install

    if find_spec("simpy") is None:
        raise CommandError(f"tare sweetspot --simulate needs simpy: {how_to_install(['simpy'])}")
    from tare.monitor import simulate
    from tare.monitor.live_tree import Topology

    processors = os.cpu_count() or 1
    one, fitted, checked = Topology(64, 64), Topology(64, 8), Topology(16, 4)
    measured = {topology: _probes(topology, sizes, fresh=False)[0] for topology in (one, fitted, checked)}
    rows: list[dict[str, Any]] = []
    errors = []
    for place, size in enumerate(sizes):
        costs = simulate.Costs.fitted(
            measured[one][place], one.ranks, measured[fitted][place], simulate.Shape(64, 8), processors
        )
        # What was not fitted to: a tree of another shape, on the processors of this machine.
        model = simulate.boi_ns(simulate.Shape(checked.ranks, checked.fan_out), costs, processors)
        errors.append(100 * (model / measured[checked][place].boi_ns - 1))
        for count in counts:
            for width in SIMULATED_FAN_OUTS:
                shape = simulate.Shape(count, width)
                boi = simulate.boi_ns(shape, costs, None)
                delay = simulate.delays(shape, costs, 1e12, None)[0]
                rows.append(
                    {"ranks": count, "events": size, "fan_out": width, "nodes": shape.nodes, "boi_ns": boi,
                     "resting_delay_ns": delay, "model_error_percent": errors[-1]}
                )  # fmt: skip
    _report_simulated(rows, json)
    return 0


def _report_simulated(rows: list[dict[str, Any]], json: bool) -> None:
    from tare.reporters import terminal
    from tare.reporters.console import console
    from tare.reporters.sheet import Heading, Sheet

    if json:
        _print_json({"simulated": rows})
        return
    out = console()
    titles = ("Ranks", "Events", "Fan-out", "Nodes", "Delay", "BOI")
    sheet = Sheet([Heading(title, key=True) for title in titles])
    for row in rows:
        sheet.rows.append(
            [
                f"{row['ranks']:,}",
                f"{row['events']:,}",
                str(row["fan_out"]),
                f"{row['nodes']:,}",
                units.duration(row["resting_delay_ns"]),
                units.duration(row["boi_ns"]),
            ]
        )
    terminal.show_whole_sheet(out, sheet)
    out.line()
    worst = max((abs(row["model_error_percent"]) for row in rows), default=0)
    out.paragraph(
        "Simulated with costs measured here, and a processor for each node. Against a real tree of 16 ranks "
        "and fan-out 4 on this machine, to which it was not fitted, the model's BOI is off by at most "
        f"{worst:.0f} %."
    )
