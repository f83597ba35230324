"""The parts of the time: net, hook and wrap; instrumentation and writing; events, flushes and bytes."""

from __future__ import annotations

from tare.lab.study.analysis import Analysis, Split
from tare.lab.study.description import INSTRUMENTATION, WRITING
from tare.lab.study.sections import BYTES, COUNT, NUMBER, SECONDS, Section, Table, columns, of_table

PARTS = ("net", "init", "finalize", "wrap", "overall")


def composition(analysis: Analysis) -> Section | None:
    """Medians of the parts that the time of runs consists of, in seconds; None if no run was timed."""
    rows = [
        [
            analysis.label(cell),
            *(float(analysis.runs(cell)[name].median()) for name in PARTS),
            len(analysis.runs(cell)),
        ]
        for cell in analysis.timed_cells()
    ]
    names = columns("run", *((name, SECONDS) for name in PARTS), ("runs", COUNT))
    note = (
        "Medians. Net: from leaving MPI_Init to entering MPI_Finalize; init, finalize: within them; of the "
        "slowest rank each. Wrap: the rest of the launcher's time, mean of the ranks (Hunold et al. 2022)."
    )
    return of_table("Net, hook and wrap time", Table("Where the time goes", names, rows, note))


def written(analysis: Analysis) -> Section | None:
    """Instrumentation: recording without writing; writing: the rest (Mohror and Karavanic 2006)."""
    rows = [row for split in analysis.splits() for row in _split_rows(analysis, split)]
    names = columns(
        "run", "time", ("bare", SECONDS), ("instrumentation", SECONDS), ("interval", SECONDS),
        ("writing", SECONDS), ("interval", SECONDS), ("total", SECONDS),
        ("flushes within the run", SECONDS),
    )  # fmt: skip
    note = (
        "Instrumentation: recorded but not written, less bare. Writing: written, less not written. Medians "
        f"of the differences within blocks. {analysis.interval_note()} Flushes within the run: what "
        "the tool itself measured, of the slowest rank, of whole runs only: to be compared with writing."
    )
    return of_table("Instrumentation and writing", Table("Parts of the overhead", names, rows, note))


def _split_rows(analysis: Analysis, split: Split) -> list[list[object]]:
    rows: list[list[object]] = []
    ours, bare = split.pair.ours, split.pair.bare
    for response in analysis.responses():
        if ours[response].isna().any() or response in ("hook", "wrap"):
            continue
        recording = analysis.interval(split.part(INSTRUMENTATION, response))
        writing = analysis.interval(split.part(WRITING, response))
        total = analysis.interval(ours[response] - bare[response])
        inside = float(ours["flush_max_s"].median()) if response in ("net", "net cpu") else None
        rows.append(
            [
                split.pair.label, response, float(bare[response].median()), recording.median,
                (recording.low, recording.high), writing.median, (writing.low, writing.high),
                total.median, inside,
            ]
        )  # fmt: skip
    return rows


def event_counts(analysis: Analysis) -> Section | None:
    """Medians of what runs recorded and wrote; None if nothing was written."""
    rows: list[list[object]] = []
    counts = ["events_mean", "events_max", "events", "flushes", "flush_s", "output_bytes"]
    for cell in analysis.cells:
        runs = analysis.runs(cell)
        known = runs[runs["output_bytes"] > 0]
        if known.empty:
            continue
        middle = [None if value != value else value for value in known[counts].median().to_list()]
        rate = (known["events_max"] / known["net"]).median()
        memory = float(known["max_rss_kib"].max()) * 1024
        rows.append([analysis.label(cell), *middle, rate, memory])
    if not rows:
        return None
    names = columns(
        "run", ("events of a rank, mean", COUNT), ("most", COUNT), ("of all", COUNT), ("flushes", COUNT),
        ("time in flushes", SECONDS), ("written", BYTES), ("events/s of a rank", COUNT),
        ("memory of a rank", BYTES),
    )  # fmt: skip
    table = Table("Medians of the runs", names, rows, "Written: everything that the tool left, all ranks.")
    per_rank = _per_rank(analysis)
    return Section("Events, flushes and bytes", parts=[table, *([per_rank] if per_rank else [])])


def _per_rank(analysis: Analysis) -> Table | None:
    found = analysis.store.rows(
        "SELECT r.cell, k.rank, median(k.events), median(k.flushes), median(k.flush_s), "
        "median(k.flush_bytes) FROM ranks k JOIN runs r USING (run) WHERE r.block > 0 AND r.state = 'ok' "
        "AND r.set_name = ? AND k.events > 0 GROUP BY ALL ORDER BY k.rank",
        analysis.set_name,
    )
    by_cell: dict[str, list[list[object]]] = {}
    for cell, *rest in found:
        by_cell.setdefault(cell, []).append(rest)
    rows = [[analysis.label(cell), *rest] for cell in analysis.cells for rest in by_cell.get(cell.key, [])]
    names = columns(
        "run", ("rank", COUNT), ("events", COUNT), ("flushes", COUNT), ("time in flushes", SECONDS),
        ("written", BYTES),
    )  # fmt: skip
    return Table("By rank", names, rows, detail=True) if rows else None


def reported(analysis: Analysis) -> Section | None:
    """Numbers that the programs print."""
    rows: list[list[object]] = []
    for name in analysis.results.values:
        for cell in analysis.cells:
            found = analysis.runs(cell)[name].dropna()
            if len(found):
                interval = analysis.interval(found)
                between = (interval.low, interval.high)
                rows.append([name, analysis.label(cell), interval.median, between, len(found)])
    names = columns("value", "run", ("median", NUMBER), ("interval", NUMBER), ("runs", COUNT))
    return of_table("What the programs report", Table("Other numbers", names, rows))
