"""Whether the overheads are known as precisely as wished (`--until`)."""

from __future__ import annotations

from tare.analysis.intervals import median_interval, samples_needed
from tare.lab.study import plan
from tare.lab.study.description import Description
from tare.lab.study.store import Store


def reached(store: Store, description: Description, set_name: str, half_width: float) -> bool:
    """The interval of every tool's net overhead is no wider than `half_width` on either side."""
    widths = half_widths(store, description, set_name)
    return bool(widths) and all(width <= half_width for width in widths.values())


def half_widths(store: Store, description: Description, set_name: str) -> dict[str, float]:
    """Half the width of the interval of each cell's overhead in net time, relative to the bare run."""
    rows = store.rows(
        "SELECT cell, block, net_s FROM runs WHERE set_name = ? AND block > 0 AND state = 'ok' AND net_s > 0",
        set_name,
    )
    values: dict[str, dict[int, float]] = {}
    for cell, block, net_s in rows:
        values.setdefault(cell, {})[block] = net_s
    result = {}
    confidence = description.analysis.confidence
    for cell in plan.cells(description):
        base = plan.baseline_of(description, cell)
        if base is None or base == cell or cell.key not in values or base.key not in values:
            continue
        ours, bare = values[cell.key], values[base.key]
        blocks = sorted(ours.keys() & bare.keys())
        relative = [ours[block] / bare[block] - 1 for block in blocks if bare[block] > 0]
        if len(relative) >= samples_needed(confidence):
            result[cell.key] = median_interval(relative, confidence).half_width
    return result
