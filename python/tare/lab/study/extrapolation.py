"""`tare study model`: the model of model.py on the flushes of a study, as a section."""

from __future__ import annotations

import math

from tare.lab.study import model
from tare.lab.study.model import Demand, FileSystem, Fit, NoModelError
from tare.lab.study.sections import BYTES, COUNT, RATIO, SECONDS, Section, Table, columns
from tare.lab.study.store import Store

RANKS = (512, 4096, 32_768, 131_072, 1_000_000)
MAX_FLUSHES = 200_000


TITLE = "Predicted time of writing, up to a million ranks"


def section_or_reason(store: Store, set_name: str, system: FileSystem) -> Section:
    """The section of the extrapolation, or one that says why there is none."""
    try:
        return section(store, set_name, system)
    except NoModelError as error:
        return Section(TITLE, f"{str(error)[:1].upper()}{str(error)[1:]}.")


def section(store: Store, set_name: str, system: FileSystem) -> Section:
    """NoModelError where the flushes of the study do not say enough."""
    sizes, durations = _flushes(store, set_name)
    fitted = model.fit(sizes, durations)
    demand = _demand(store, set_name)
    return Section(
        TITLE,
        "A model fitted to the flushes of this study; docs/study.md explains it. It says what the "
        "assumptions below "
        "imply, no more: nothing here was measured on such a machine.",
        [_fit_table(fitted, demand), _assumptions(system), _predictions(fitted, demand, system)],
    )


def _flushes(store: Store, set_name: str) -> tuple[list[float], list[float]]:
    rows = store.rows(
        "SELECT f.bytes, f.duration_s FROM flushes f JOIN runs r USING (run) WHERE r.set_name = ? "
        f"AND r.block > 0 AND r.state = 'ok' AND f.bytes > 0 ORDER BY r.run LIMIT {MAX_FLUSHES}",
        set_name,
    )
    return [float(size) for size, _ in rows], [float(duration) for _, duration in rows]


def _demand(store: Store, set_name: str) -> Demand:
    """Medians of the ranks that flushed: the number of flushes, and their bytes."""
    flushes, size = store.rows(
        "SELECT median(k.flushes), median(k.flush_bytes) FROM ranks k JOIN runs r USING (run) "
        "WHERE r.set_name = ? AND r.block > 0 AND r.state = 'ok' AND k.flush_bytes > 0",
        set_name,
    )[0]
    if flushes is None:
        raise NoModelError("no rank of this study has written a flush")
    return Demand(float(flushes), float(size))


def _fit_table(fitted: Fit, demand: Demand) -> Table:
    rows = [
        ["flushes that were fitted", f"{fitted.flushes:,}, {fitted.mean_bytes / 1024:.1f} KiB on average"],
        ["fixed part of a flush", f"{1e6 * fitted.latency_s:.1f} µs ± {1e6 * fitted.latency_error_s:.1f}"],
        ["rate of a rank", _rates(fitted)],
        ["R² of the durations", f"{fitted.explained:.2f}"],
        ["a rank writes", f"{demand.flushes:.0f} flushes, {demand.bytes / 2**20:.2f} MiB"],
    ]
    return Table("Fitted", columns("what", "value"), rows)


def _rates(fitted: Fit) -> str:
    def rate(value: float) -> str:
        return "unlimited" if math.isinf(value) else f"{value / 1e6:.0f} MB/s"

    between = f"{rate(fitted.bytes_per_s_low)} .. {rate(fitted.bytes_per_s_high)}"
    return f"{rate(fitted.bytes_per_s)} ({between})"


def _assumptions(system: FileSystem) -> Table:
    rows = [
        ["servers of the file system", f"{system.servers:,}"],
        ["rate of a server", f"{system.server_bytes_per_s / 1e9:g} GB/s"],
        ["share of the servers that f files use", f"min(1, f / {system.servers:,})"],
        ["files created in a second", f"{system.creates_per_s:,.0f}"],
        ["cost of switching between files (c)", f"{system.switch_cost:g}"],
        ["ranks of a node", f"{system.ranks_per_node}"],
        ["when ranks write", "all at once, every flush: the worst case"],
        ["what a rank writes", "the same at every size, as in weak scaling"],
    ]
    return Table("Assumed", columns("what", "value"), rows)


def _predictions(fitted: Fit, demand: Demand, system: FileSystem) -> Table:
    rows: list[list[object]] = []
    for ranks in RANKS:
        found = model.predict(fitted, demand, ranks, system)
        rows.append(
            [
                ranks, found.files_per_rank, found.create_per_rank_s, found.write_per_rank_s,
                found.files_per_node,
                found.create_per_node_s, found.write_per_node_s, ranks * demand.bytes,
                found.per_rank_s / found.per_node_s,
            ]
        )  # fmt: skip
    names = columns(
        ("ranks", COUNT), ("files, one a rank", COUNT), ("creating them", SECONDS), ("writing", SECONDS),
        ("files, one a node", COUNT), ("creating them", SECONDS), ("writing", SECONDS), ("all traces", BYTES),
        ("ratio", RATIO),
    )  # fmt: skip
    note = "Seconds that each rank spends; ratio: one file a rank by one file a node, creating and writing."
    return Table("Predicted", names, rows, note)
