"""The figures of a report, as SVG; matplotlib is loaded when the first is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tare.lab.study import strategies
from tare.lab.study.analysis import WRITE, Analysis, Split
from tare.lab.study.description import INSTRUMENTATION, WRITING
from tare.lab.study.plan import Cell
from tare.lab.study.sections import Figure
from tare.reporters import canvas
from tare.streams import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A palette that eyes with a colour deficiency tell apart (Okabe and Ito).
BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442",
)  # fmt: skip
PARTS = (("net", BLUE), ("init", ORANGE), ("finalize", YELLOW), ("wrap", GREEN))
RanksPoint = tuple[int, float, float]  # ranks; mean and standard deviation
EventsPoint = tuple[float, float]  # most events of a rank; seconds
WIDTH_IN = 7.5
ROW_IN = 0.28


def composition(analysis: Analysis) -> list[Figure]:
    """Hunold's figures 3 and 5: what the overall time consists of, by workload."""
    figures = []
    for workload, cells in analysis.timed_by_workload().items():
        axes = _bars(len(cells))
        left = [0.0] * len(cells)
        for name, colour in PARTS:
            values = [float(analysis.runs(cell)[name].median()) for cell in cells]
            axes.barh(range(len(cells)), values, left=left, color=colour, label=name)
            left = [start + value for start, value in zip(left, values, strict=True)]
        _label_rows(axes, [analysis.short_label(cell) for cell in cells])
        axes.set_xlabel("seconds (medians)")
        _legend_above(axes, len(PARTS))
        figures.append(Figure(f"Composition of the time, {workload}", canvas.svg(axes)))
    return figures


def net_overhead(analysis: Analysis) -> list[Figure]:
    """Hunold's figures 4 and 6: net time over the bare program's, with intervals."""
    figures = []
    for workload, pairs in analysis.timed_pairs().items():
        axes = _bars(len(pairs))
        for row, pair in enumerate(pairs):
            relative = (pair.ours["net"] / pair.bare["net"] - 1).to_list()
            found = analysis.interval(relative)
            axes.barh(row, 100 * found.median, color=SKY)
            axes.plot([100 * found.low, 100 * found.high], [row, row], color="black", linewidth=1.2)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.axvline(100 * analysis.bound, color=RED, linewidth=0.8, linestyle="--")
        _label_rows(axes, [analysis.short_label(pair.cell) for pair in pairs])
        axes.set_xlabel("net time over the bare program's, %")
        figures.append(
            Figure(
                f"Net overhead, {workload}",
                canvas.svg(axes),
                f"Median of the blocks. {analysis.interval_note()} Dashed: {100 * analysis.bound:g} %.",
            )
        )
    return figures


def parts_of_overhead(analysis: Analysis) -> list[Figure]:
    """Mohror and Karavanic's figures 3 to 8: the program, recording, and writing."""
    figures = []
    for response in [name for name in analysis.responses() if name == "net" or name.endswith(" wall")]:
        rows = [made for split in analysis.splits() if (made := _split(split, response)) is not None]
        if not rows:
            continue
        axes = _bars(len(rows))
        for row, (_, bare, recording, writing, deviation) in enumerate(rows):
            axes.barh(row, bare, color=BLUE, label="program" if row == 0 else None)
            axes.barh(row, recording, left=bare, color=ORANGE, label="instrumentation" if row == 0 else None)
            start = bare + recording
            axes.barh(row, writing, left=start, color=RED, label="writing" if row == 0 else None)
            axes.errorbar(start + writing, row, xerr=deviation, color="black", capsize=2, linewidth=1)
        _label_rows(axes, [row[0] for row in rows])
        axes.set_xlabel("seconds (means; bars: one standard deviation)")
        _legend_above(axes, 3)
        figures.append(Figure(f"Program, instrumentation and writing: {response}", canvas.svg(axes)))
    return figures


def _split(split: Split, response: str) -> tuple[str, float, float, float, float] | None:
    written, silent = split.pair.ours[response], float(split.silent[response].mean())
    if written.isna().any():
        return None
    bare = float(split.pair.bare[response].mean())
    spread = float(written.std()) if len(written) > 1 else 0.0
    return split.pair.label, bare, silent - bare, float(written.mean()) - silent, spread


def bare_scaling(analysis: Analysis) -> list[Figure]:
    """Mohror and Karavanic's figure 1: the time of the bare programs over ranks."""
    points: dict[str, list[RanksPoint]] = {}
    baseline = analysis.description.baseline
    for workload, series in _over_ranks(analysis).items():
        for cell, own in series:
            if cell.level("tool") == baseline:
                rest = cell.label(frozenset(analysis.results.varied) - {"tool", "ranks"})
                points.setdefault(rest or workload, []).extend(own)
    return _ranks_figure("Bare programs over ranks", points)


def scaling(analysis: Analysis) -> list[Figure]:
    """Mohror and Karavanic's figure 10: time over ranks, with standard deviations."""
    figures = []
    for workload, series in _over_ranks(analysis).items():
        points = {analysis.short_label(cell): own for cell, own in series}
        figures += _ranks_figure(f"Net time over ranks, {workload}", points)
    return figures


def _over_ranks(analysis: Analysis) -> dict[str, list[tuple[Cell, list[RanksPoint]]]]:
    """What differs in the ranks alone, by workload, as the cell without them."""
    if "ranks" not in analysis.results.varied:
        return {}
    found: dict[str, dict[Cell, list[RanksPoint]]] = {}
    for workload, cells in analysis.timed_by_workload().items():
        for cell in cells:
            net = analysis.runs(cell)["net"]
            rest = Cell(tuple((name, None if name == "ranks" else level) for name, level in cell.levels))
            spread = float(net.std()) if len(net) > 1 else 0.0
            point = (int(cell.level("ranks")), float(net.mean()), spread)
            found.setdefault(workload, {}).setdefault(rest, []).append(point)
    return {workload: list(series.items()) for workload, series in found.items()}


def _ranks_figure(title: str, series: Mapping[str, list[RanksPoint]]) -> list[Figure]:
    every = sorted({point[0] for points in series.values() for point in points})
    if len(every) < 2:
        return []
    axes = canvas.axes(WIDTH_IN, 3.6)
    for number, (label, points) in enumerate(series.items()):
        ranks, means, spreads = zip(*sorted(points), strict=True)
        axes.errorbar(
            ranks,
            means,
            spreads,
            label=visible(label),
            capsize=2,
            marker="o",
            color=f"C{number}",
            linewidth=1.2,
        )
    axes.set(xlabel="ranks", ylabel="net time, s", ylim=(0, None))
    axes.set_xticks(every)
    _legend_beside(axes)
    return [Figure(title, canvas.svg(axes), "Mean, one standard deviation.")]


def over_events(analysis: Analysis) -> list[Figure]:
    """The whole overhead over the most events of a rank."""
    points: dict[str, list[EventsPoint]] = {}
    for pair in analysis.pairs():
        events = float(pair.ours["events_max"].median())
        more = float((pair.ours["net"] - pair.bare["net"]).median())
        name = pair.cell.level("tool")
        if pair.cell.by_factor.get(WRITE) is not None:
            name += ", written" if pair.cell.by_factor[WRITE] == "true" else ", not written"
        points.setdefault(f"{pair.cell.level('workload')}: {name}", []).append((events, more))
    return _events_figure("Overhead over events", "overhead in net time, s", points)


def parts_over_events(analysis: Analysis) -> list[Figure]:
    """Mohror and Karavanic's figure 9: instrumentation alone and writing alone, over the events."""
    figures = []
    for part in (INSTRUMENTATION, WRITING):
        points: dict[str, list[EventsPoint]] = {}
        for split in analysis.splits():
            events = float(split.pair.ours["events_max"].median())
            label = f"{split.pair.cell.level('workload')}: {split.pair.cell.level('tool')}"
            points.setdefault(label, []).append((events, float(split.part(part, "net").median())))
        figures += _events_figure(f"{part.capitalize()} over events", f"{part} in net time, s", points)
    return figures


def _events_figure(title: str, up: str, points: Mapping[str, Sequence[EventsPoint]]) -> list[Figure]:
    """The figure of the points whose events are known."""
    known = {
        label: [point for point in found if point[0] > 0 and not math.isnan(point[1])]
        for label, found in points.items()
    }
    if len({events for found in known.values() for events, _ in found}) < 2:
        return []
    axes = canvas.axes(WIDTH_IN, 3.6)
    for number, (label, found) in enumerate((label, found) for label, found in known.items() if found):
        across, heights = zip(*sorted(found), strict=True)
        axes.plot(across, heights, marker="o", label=visible(label), color=f"C{number}", linewidth=1)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="most events of a rank", ylabel=up)
    _legend_beside(axes)
    return [Figure(title, canvas.svg(axes))]


def messages_sampled(analysis: Analysis) -> list[Figure]:
    """Vetter's figure 9: messages sampled over the threshold of a random choice, up to 1, where all are."""
    found: dict[str, dict[float, tuple[float, float]]] = {}
    for one in strategies.counted(analysis):
        if one.threshold is not None and one.expected is not None:
            points = found.setdefault(one.cell.level("workload"), {1.0: (one.sent, one.sent)})
            points[one.threshold] = one.found, one.expected.messages
    known = {workload: sorted(points.items()) for workload, points in found.items() if len(points) > 2}
    if not known:
        return []
    axes = canvas.axes(WIDTH_IN, 3.6)
    for number, (workload, series) in enumerate(known.items()):
        thresholds = [threshold for threshold, _ in series]
        colour = f"C{number}"
        axes.plot(thresholds, [wanted for _, (_, wanted) in series], "--", color=colour, linewidth=0.8)
        axes.plot(thresholds, [own for _, (own, _) in series], "o", color=colour, label=visible(workload))
    axes.set(xlabel="threshold", ylabel="messages sampled", yscale="log")
    _legend_beside(axes)
    note = "Of all ranks, medians of the runs. Dashed: expected. At 1: all messages that were sent."
    return [Figure("Messages sampled over the threshold", canvas.svg(axes), note)]


def flushes(analysis: Analysis) -> list[Figure]:
    """How long each single write took, over its size."""
    found = analysis.store.rows(
        "SELECT f.bytes, f.duration_s FROM flushes f JOIN runs r USING (run) "
        "WHERE r.set_name = ? AND r.block > 0 AND r.state = 'ok' AND f.bytes > 0 "
        "USING SAMPLE reservoir(5000 ROWS) REPEATABLE (1)",
        analysis.set_name,
    )
    if len(found) < 10:
        return []
    axes = canvas.axes(WIDTH_IN, 3.2)
    axes.scatter(
        [size / 1024 for size, _ in found], [1e3 * time for _, time in found], s=6, color=BLUE, alpha=0.4
    )
    axes.set(xlabel="KiB written", ylabel="ms", ylim=(0, None))
    return [
        Figure("Single flushes", canvas.svg(axes), "Each flush as the tool recorded it, encoding included.")
    ]


def _bars(rows: int) -> Axes:
    axes = canvas.axes(WIDTH_IN, 1.1 + ROW_IN * rows)
    axes.set_ylim(rows - 0.4, -0.6)
    return axes


def _label_rows(axes: Any, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), list(map(visible, labels)))


def _legend_above(axes: Any, count: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=count, frameon=False)


def _legend_beside(axes: Any) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)
