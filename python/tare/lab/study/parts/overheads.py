"""What each tool costs: in short, in full, and how many repetitions it takes to know."""

from __future__ import annotations

from tare.lab.study import statistics
from tare.lab.study.analysis import Analysis, Pair
from tare.lab.study.description import BY_REFEREE
from tare.lab.study.sections import CHANGE, COUNT, SECONDS, SHARE, P, Section, Table, columns, of_table


def summary(analysis: Analysis) -> Section | None:
    """One line a tool: what it does to the program, and what it takes before and after it."""
    section = Section("In short", analysis.description.about)
    bound = f"{100 * analysis.bound:g} %"
    note = (
        f"Medians of the differences within blocks. {analysis.interval_note()} Net: "
        "between MPI_Init and MPI_Finalize, of the slowest rank. Hook: inside these two. Wrap: before and "
        f"after. Verdict on the net time: none beyond {bound} is shown by a test of equivalence; it is given "
        "where mean and median agree."
        f"{analysis.referee_note()}"
    )
    by_referee = ((BY_REFEREE, CHANGE), ("interval by referee", CHANGE)) if analysis.has_referee else ()
    names = columns(
        "run", ("bare net", SECONDS), ("net overhead", CHANGE), ("interval", CHANGE), "verdict", *by_referee,
        ("hook overhead", SECONDS), ("wrap overhead", SECONDS), ("blocks", COUNT),
    )  # fmt: skip
    for workload, pairs in analysis.timed_pairs().items():
        rows = [_summary_row(analysis, pair, net) for pair, net in analysis.known("net", pairs)]
        if rows:
            section.parts.append(Table(workload, names, rows, note))
            note = ""
    return section if section.parts else None


def _summary_row(analysis: Analysis, pair: Pair, net: statistics.Paired) -> list[object]:
    hook, wrap = (float((pair.ours[name] - pair.bare[name]).median()) for name in ("hook", "wrap"))
    refereed = analysis.refereed(pair.cell)
    by_referee = () if refereed is None else refereed.shown  # of all programs in this table, or of none
    return [
        analysis.short_label(pair.cell), float(pair.bare["net"].median()), net.relative.median,
        (net.relative.low, net.relative.high), analysis.verdict(net), *by_referee, hook, wrap,
        net.relative.count,
    ]  # fmt: skip


def overheads(analysis: Analysis) -> Section | None:
    """The overhead of each pair of cells, by response; None if there are no pairs."""
    rows = []
    for pair in analysis.pairs():
        for response in analysis.responses():
            found = analysis.paired(pair, response)
            if found is not None:
                rows.append(_row(analysis, pair, response, found))
        refereed = analysis.refereed(pair.cell)
        if refereed is not None:
            unknown, runs = (None,) * 4, refereed.overhead.count if refereed.overhead is not None else 0
            shown = (None, None, *refereed.shown, *unknown, refereed.verdict, None, runs)
            rows.append([pair.label, BY_REFEREE, *shown])
    if not rows:
        return None
    bound = f"{100 * analysis.bound:g} %"
    names = columns(
        "run", "time", ("bare", SECONDS), ("more", SECONDS), ("relative", CHANGE), ("interval", CHANGE),
        ("p none", P), ("p none, ranks", P), (f"p > {bound}", P), (f"p outside ±{bound}", P), "verdict",
        ("blocks needed", COUNT), ("blocks", COUNT),
    )  # fmt: skip
    note = (
        f"Medians of the differences within blocks. {analysis.interval_note()} "
        "p none: of no difference (paired t-test; Wilcoxon's signed "
        f"ranks). p > {bound}: that the overhead is {bound} or more; p outside: TOST. "
        "The verdict follows from the tests of the mean, where the median agrees. "
        f"Blocks needed: for an interval of ±{100 * analysis.precision:g} %. Times of the slowest rank; "
        f"wrap: mean; cpu: of all ranks.{analysis.referee_note()}"
    )
    # Where there is no net time this is all there is.
    in_short = bool(analysis.timed_cells())
    baseline = analysis.description.baseline
    title = "Against the bare program" if baseline == "none" else f"Against {baseline}"
    table = Table(title, names, rows, note, detail=in_short)
    return Section("Overhead of each tool", parts=[table])


def _row(analysis: Analysis, pair: Pair, response: str, found: statistics.Paired) -> list[object]:
    return [
        pair.label, response, float(pair.bare[response].median()), found.difference.median,
        found.relative.median, (found.relative.low, found.relative.high), found.p_difference,
        found.p_rank, found.p_overhead_below, found.p_equivalent, analysis.verdict(found),
        found.needed, found.relative.count,
    ]  # fmt: skip


def power(analysis: Analysis) -> Section | None:
    """How exactly overheads are known, and how many repetitions would make them exact enough."""
    rows: list[list[object]] = [
        [
            pair.label, found.relative.count, found.relative.half_width, analysis.precision,
            found.needed, analysis.bound, found.needed_for_bound,
        ]
        for pair, found in analysis.known("net")
    ]  # fmt: skip
    names = columns(
        "run", ("blocks", COUNT), ("half width reached", SHARE), ("asked", SHARE), ("blocks needed", COUNT),
        ("bound", SHARE), ("blocks to show it", COUNT),
    )  # fmt: skip
    note = (
        "For the relative overhead in net time. Blocks to show it: that the overhead is below the bound, "
        f"with a power of {statistics.POWER:g}; none where the mean overhead is not below it."
    )
    return of_table("How many repetitions", Table("Precision", names, rows, note, detail=True))
