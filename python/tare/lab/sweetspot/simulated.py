"""What `tare sweetspot --simulate` says of trees that are not here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tare import units
from tare.lab.sweetspot import simulate
from tare.lab.sweetspot.calibrate import Model
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet

if TYPE_CHECKING:
    from tare.reporters.console import Console

FAN_OUTS = (8, 16, 32, 64)


def rows(models: Sequence[Model], counts: Sequence[int], fan_outs: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each number of ranks, size and fan-out, with a processor for each node; also for JSON."""
    found = []
    for model in models:
        for count in counts:
            for fan_out in fan_outs:
                shape = simulate.Shape(count, fan_out)
                boi_ns = simulate.boi_ns(shape, model.costs, None)
                found.append(
                    {"ranks": count, "events": model.events, "fan_out": fan_out, "nodes": shape.nodes,
                     "boi_ns": boi_ns, "boi_low_ns": boi_ns / (1 + model.error),
                     "boi_high_ns": boi_ns * (1 + model.error),
                     "resting_delay_ns": simulate.resting_delay_ns(shape, model.costs),
                     "model_error_percent": 100 * model.error}
                )  # fmt: skip
    return found


def checks(models: Sequence[Model]) -> list[dict[str, Any]]:
    """The trees of this machine that the model was not fitted to, for JSON."""
    return [
        {
            "ranks": check.topology.ranks,
            "fan_out": check.topology.fan_out,
            "events": model.events,
            "measured_boi_ns": check.measured_ns,
            "measured_spread_percent": 100 * check.spread,
            "model_boi_ns": check.model_ns,
            "error_percent": 100 * check.error,
        }
        for model in models
        for check in model.checks
    ]


def show(out: Console, found: Sequence[dict[str, Any]], models: Sequence[Model]) -> None:
    """Prints simulated trees, and how well each model was borne out."""
    titles = ("Ranks", "Events", "Fan-out", "Nodes", "Delay", "BOI", "+-")
    rows = [
        [
            f"{row['ranks']:,}", f"{row['events']:,}", str(row["fan_out"]), f"{row['nodes']:,}",
            units.duration(row["resting_delay_ns"]), units.duration(row["boi_ns"]),
            f"{row['model_error_percent']:.0f} %",
        ]
        for row in found
    ]  # fmt: skip
    terminal.show_whole_sheet(out, Sheet([Heading(title, key=True) for title in titles], rows))
    out.title("The model on trees of this machine that it was not fitted to")
    titles = ("Ranks", "Fan-out", "Events", "measured", "varies", "model", "error")
    checked = [
        [
            str(check.topology.ranks), str(check.topology.fan_out), f"{model.events:,}",
            units.duration(check.measured_ns), f"{100 * check.spread:.0f} %", units.duration(check.model_ns),
            f"{100 * check.error:+.0f} %",
        ]
        for model in models
        for check in model.checks
    ]  # fmt: skip
    terminal.show_whole_sheet(out, Sheet([Heading(title, key=True) for title in titles], checked))
    out.line()
    out.paragraph(
        "Simulated with costs measured here, and a processor for each node. +- is the largest error of the "
        "model on the trees above. Between nodes the network is taken to be no slower than sockets are here."
    )
