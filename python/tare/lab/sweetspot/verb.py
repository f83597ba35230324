"""`tare sweetspot`: how often ranks can hand over their profiles while a program runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import packages, streams, units
from tare.commands import Json, print_json
from tare.errors import CommandError, UsageError, unwritable
from tare.options import Option
from tare.runs.rounds import DEFAULT_FILTER

if TYPE_CHECKING:
    from tare.lab.sweetspot.live_tree import Topology
    from tare.lab.sweetspot.survey import Survey

SCHEMA = "tare.sweetspot/1"
RANKS = "64"
FAN_OUTS = "8,64"
EVENTS = "64,1024"
PERCENT = 2.0
PROBES = 5
MAX_RANKS = 4096
# Times events: what made-up ranks hold in memory is 192 times as many bytes.
MAX_ROWS = 2**22
# Of a simulation: the ranks of the largest tree that is measured for it.
CALIBRATED_RANKS = 64


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
    filter: Annotated[
        str, Option(metavar="FILTER,...", help="What reduces a round: statistics, histogram, groups, ...")
    ] = DEFAULT_FILTER,
    at_most: Annotated[
        float,
        Option(metavar="PERCENT", min=0.01, max=100, help="What monitoring may cost, in % of the run time."),
    ] = PERCENT,
    simulate: Annotated[
        bool,
        Option(
            "--simulate", help="Predict trees that are too large for this machine, from costs measured on it."
        ),
    ] = False,
    fresh: Annotated[bool, Option("--fresh", help="Measure again what was measured here before.")] = False,
    brief: Annotated[
        bool, Option("--brief", help="Skip the intervals that ignore the sweet spot, and repeated probes.")
    ] = False,
    probes: Annotated[int, Option(min=2, metavar="N", help="How many repeated probes.")] = PROBES,
    apart: Annotated[
        int | None,
        Option(
            parser=units.parse_duration,
            metavar="TIME",
            help="How far they begin apart, like 45min (default: one after another).",
        ),
    ] = None,
    figures: Annotated[
        Path | None, Option(metavar="DIR", help="Draw what was found, as SVG files in DIR.")
    ] = None,
    json: Json = False,
) -> int:
    """Find out how often ranks can offload, and what it costs them.

    A monitoring tree of processes is formed on this machine, with ranks that are made up; no MPI is needed.
    docs/monitoring-tree.md explains the terms.

    Example: tare sweetspot --ranks 64 --fan-out 8,64 --events 64,256 --at-most 2
    """
    try:
        counts, fan_outs, sizes = _numbers(ranks), _numbers(fan_out), sorted(set(_numbers(events)))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if transport not in ("unix", "tcp"):
        raise UsageError(f"--transport {transport}: it is unix or tcp")
    if figures is not None:
        packages.require("--figures", ["matplotlib"])
    if min(fan_outs) < 2:
        raise UsageError(f"--fan-out {min(fan_outs)}: a node has two children at least")
    packages.require_library("tare sweetspot", "ZeroMQ")
    if simulate:
        _check_simulated({"--filter": filter != DEFAULT_FILTER, "--transport": transport != "unix",
                          "--figures": figures is not None})  # fmt: skip
        _check_rows(CALIBRATED_RANKS, sizes)
        return _simulate(counts, sizes, None if fan_out == FAN_OUTS else fan_outs, json)
    if max(counts) > MAX_RANKS:
        raise UsageError(f"--ranks {max(counts)}: more than {MAX_RANKS:,} are told of by --simulate")
    _check_rows(max(counts), sizes)
    topologies = _topologies(counts, fan_outs, transport, filter.split(","))
    found = _surveyed(
        topologies, sizes, fresh=fresh, probes=0 if brief else probes, apart_s=(apart or 0) / 1e9
    )
    if figures is not None:
        _draw(figures, found)
    _report(found, at_most, json)
    return 0


def _check_rows(ranks: int, sizes: list[int]) -> None:
    if ranks * max(sizes) > MAX_ROWS:
        raise UsageError(
            f"--events {max(sizes)}: with {ranks:,} ranks at most {MAX_ROWS // ranks:,} are measured"
        )


def _check_simulated(others: dict[str, bool]) -> None:
    for option, is_given in others.items():
        if is_given:
            raise UsageError(
                f"--simulate tells of trees with unix sockets and the filter statistics: leave out {option}"
            )


def _topologies(counts: list[int], fan_outs: list[int], transport: str, filters: list[str]) -> list[Topology]:
    """A fan-out that is wider than the ranks are many is one node, as the narrowest is then."""
    from tare.lab.sweetspot.live_tree import Topology

    return [
        Topology(count, width, transport=transport, filter=name)
        for count in counts
        for width in fan_outs
        for name in filters
        if 1 < width <= count or width == min(fan_outs)
    ]


def _surveyed(
    topologies: list[Topology], sizes: list[int], *, fresh: bool, probes: int, apart_s: float
) -> Survey:
    """The survey; without probes, what `--brief` leaves out is not there."""
    from tare.lab.sweetspot import survey

    found, ages = {}, {}
    for topology in topologies:
        found[topology], ages[topology] = survey.probes_of(topology, sizes, streams.progress, fresh=fresh)
    stability, detail = {}, None
    if probes:
        stability = survey.stability_of(topologies, sizes, probes, apart_s, streams.progress)
        detail = survey.detail_of(topologies[-1], found[topologies[-1]][0], streams.progress)
    streams.progress("")
    return survey.Survey(found, ages, stability, detail)


def _draw(folder: Path, found: Survey) -> None:
    from tare.lab.sweetspot import figures

    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures.draw(folder, found)
    except OSError as error:
        raise unwritable(folder, error) from error


def _report(found: Survey, at_most: float, json: bool) -> None:
    from tare.lab.sweetspot import survey, tables
    from tare.reporters.console import console

    counts = sorted({topology.ranks for topology in found.probes})
    sizes = sorted({probe.events for probes in found.probes.values() for probe in probes})
    told = [
        best
        for count in counts
        for size in sizes
        if (best := survey.best_of(found.probes, count, size, at_most))
    ]
    if json:
        _print_json({"advice": [each.sentence() for each in told], **tables.content(found)})
        return
    out = console()
    tables.show(out, found)
    for each in told:
        out.paragraph(each.sentence() + ".")


def _print_json(content: dict[str, Any]) -> None:
    print_json(SCHEMA, None, content)


def _simulate(counts: list[int], sizes: list[int], fan_outs: list[int] | None, json: bool) -> int:
    from tare.lab.sweetspot import calibrate
    from tare.lab.sweetspot import simulated as reporter
    from tare.reporters.console import console

    models = calibrate.calibrated(sizes, os.cpu_count() or 1, streams.progress)
    streams.progress("")
    worst = max(models, key=lambda model: model.error)
    if not worst.is_borne_out:
        raise CommandError(
            f"the model is off by {units.percent(worst.error)} on a tree of this machine, with "
            f"{worst.events:,} events: something else takes the processors; try again when they are idle"
        )
    rows = reporter.rows(models, counts, fan_outs or reporter.FAN_OUTS)
    if json:
        _print_json({"simulated": rows, "checks": reporter.checks(models)})
    else:
        reporter.show(console(), rows, models)
    return 0
