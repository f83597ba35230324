"""The figures of a report, as SVG; matplotlib is loaded when the first is drawn."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tare.streams import visible
from tare.study.analysis import WRITE, Analysis, Split
from tare.study.plan import Cell
from tare.study.sections import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A palette that eyes with a colour deficiency tell apart (Okabe and Ito).
BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442",
)  # fmt: skip
PARTS = (("net", BLUE), ("init", ORANGE), ("finalize", YELLOW), ("wrap", GREEN))
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
        figures.append(Figure(f"Composition of the time, {workload}", _svg(axes)))
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
                _svg(axes),
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
        figures.append(Figure(f"Program, instrumentation and writing: {response}", _svg(axes)))
    return figures


def _split(split: Split, response: str) -> tuple[str, float, float, float, float] | None:
    written, silent = split.pair.ours[response], float(split.silent[response].mean())
    if written.isna().any():
        return None
    bare = float(split.pair.bare[response].mean())
    spread = float(written.std()) if len(written) > 1 else 0.0
    return split.pair.label, bare, silent - bare, float(written.mean()) - silent, spread


def scaling(analysis: Analysis) -> list[Figure]:
    """Mohror and Karavanic's figure 10: time over ranks, with standard deviations."""
    if "ranks" not in analysis.results.varied:
        return []
    figures = []
    for workload, cells in analysis.timed_by_workload().items():
        series: dict[str, list[tuple[int, float, float]]] = {}
        for cell in cells:
            runs = analysis.runs(cell)
            rest = Cell(tuple((name, None if name == "ranks" else level) for name, level in cell.levels))
            spread = float(runs["net"].std()) if len(runs) > 1 else 0.0
            point = (int(cell.level("ranks")), float(runs["net"].mean()), spread)
            series.setdefault(analysis.short_label(rest), []).append(point)
        if len({point[0] for points in series.values() for point in points}) < 2:
            continue
        axes = _axes(WIDTH_IN, 3.6)
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
        axes.set_xlabel("ranks")
        axes.set_ylabel("net time, s")
        axes.set_ylim(bottom=0)
        axes.set_xticks(sorted({point[0] for points in series.values() for point in points}))
        _legend_beside(axes)
        figures.append(
            Figure(f"Net time over ranks, {workload}", _svg(axes), "Mean, one standard deviation.")
        )
    return figures


def over_events(analysis: Analysis) -> list[Figure]:
    """Mohror and Karavanic's figure 9: the overhead over the most events of a rank."""
    points: dict[str, list[tuple[float, float]]] = {}
    for pair in analysis.pairs():
        events = pair.ours["events_max"].median()
        if math.isnan(events) or events <= 0:
            continue
        more = float((pair.ours["net"] - pair.bare["net"]).median())
        name = pair.cell.level("tool")
        if pair.cell.by_factor.get(WRITE) is not None:
            name += ", written" if pair.cell.by_factor[WRITE] == "true" else ", not written"
        points.setdefault(f"{pair.cell.level('workload')}: {name}", []).append((events, more))
    if len({events for found in points.values() for events, _ in found}) < 2:
        return []
    axes = _axes(WIDTH_IN, 3.6)
    for number, (label, found) in enumerate(points.items()):
        across, up = zip(*sorted(found), strict=True)
        axes.plot(across, up, marker="o", label=visible(label), color=f"C{number}", linewidth=1)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlabel("most events of a rank")
    axes.set_ylabel("overhead in net time, s")
    _legend_beside(axes)
    return [Figure("Overhead over events", _svg(axes))]


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
    axes = _axes(WIDTH_IN, 3.2)
    axes.scatter(
        [size / 1024 for size, _ in found], [1e3 * time for _, time in found], s=6, color=BLUE, alpha=0.4
    )
    axes.set_xlabel("KiB written")
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)
    return [Figure("Single flushes", _svg(axes), "Each flush as the tool recorded it, encoding included.")]


def _axes(width: float, height: float) -> Axes:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    # The same data give the same file.
    mpl.rcParams.update(
        {"svg.hashsalt": "tare", "svg.fonttype": "none", "font.size": 9, "text.parse_math": False}
    )
    axes: Axes = Canvas(figsize=(width, height), layout="constrained").subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _bars(rows: int) -> Axes:
    axes = _axes(WIDTH_IN, 1.1 + ROW_IN * rows)
    axes.set_ylim(rows - 0.4, -0.6)
    return axes


def _label_rows(axes: Any, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), list(map(visible, labels)))


def _legend_above(axes: Any, count: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=count, frameon=False)


def _legend_beside(axes: Any) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)


def _svg(axes: Any) -> str:
    out = io.StringIO()
    axes.figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
