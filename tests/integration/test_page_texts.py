"""What the page says of runs of every kind: of several worlds, with a budget, without MPI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from browser import Opened
from environments import ROOT
from tare import units
from tare.page import content, document, timeline
from tare.reporters import summary
from tare.runs.retiming import Times
from tare.runs.run import open_run

Content = dict[str, Any]
Show = Callable[..., Opened]
UNKNOWN = "too few were measured"


@pytest.fixture(scope="module")
def recorded() -> tuple[Content, dict[str, Any]]:
    """The content of the page of a run, and its timeline."""
    run = open_run(ROOT / "tests" / "data" / "v1" / "stencil")
    traced = run.timeline()
    assert traced is not None
    return content.of_run(run, run, traced), timeline.embedded(run, traced)


@pytest.fixture
def of_run(recorded: tuple[Content, dict[str, Any]]) -> Content:
    """The content, to be changed."""
    return deepcopy(recorded[0])


@pytest.fixture
def show(recorded: tuple[Content, dict[str, Any]], browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Shows the page of a content."""
    context = browser.new_context(viewport={"width": 1300, "height": 900}, offline=True)
    pages = []

    def opened(of: Content, **of_timeline: Any) -> Opened:
        to = tmp_path / "page.html"
        blocks = {**recorded[1], "timeline": {**recorded[1]["timeline"], **of_timeline}}
        to.write_text(document.embedded("x", {Times.RECORDED: {"content": of, **blocks}}))
        pages.append(Opened(context.new_page(), to.as_uri()))
        return pages[-1]

    yield opened
    assert [each.complaints for each in pages] == [[]] * len(pages)
    context.close()


def site(of: Content, **changes: Any) -> dict[str, Any]:
    """One more call site of MPI_Allreduce."""
    known = {
        "function": "MPI_Allreduce", "calls": 10, "counted": 0, "timed": True, "outside": False,
        "time_ns": 5000, "mean_ns": 500, "min_ns": 300, "max_ns": 900, "estimated_calls": 0, "where": "a.c:1",
        "caller": "f", "file": "/a.c", "line": 1, "path": ["f a.c:1", "main a.c:9"],
    }  # fmt: skip
    return {**of["sites"][0], **known, **changes}


UNTIMED = {"timed": False, "calls": 4, "counted": 4, "time_ns": 0, "mean_ns": 0, "min_ns": 0, "max_ns": 0,
           "where": "-", "caller": None, "file": None, "line": None, "path": []}  # fmt: skip


def details(page: Opened, by: str) -> str:
    """What is said of the first row."""
    page.page.click(f"#callsites button[data-by={by}]")
    page.wait("document.querySelectorAll('#callsites .tabulator-row').length > 0")
    page.page.click("#callsites .tabulator-row")
    return page.texts("#callsites .detail")[0]


def test_sums_of_call_sites_have_what_all_have_in_common(show: Show, of_run: Content) -> None:
    elsewhere = {"where": "b.c:2", "file": "/b.c", "line": 2, "path": ["g b.c:2"], "max_ns": 1200}
    by_h = {"path": ["f a.c:1", "h a.c:5"]}
    of_run["sites"] = [site(of_run), site(of_run, **by_h), site(of_run, **elsewhere), site(of_run, **UNTIMED)]
    page = show(of_run)
    said = details(page, "function")
    assert said.startswith("MPI_AllreduceCalls34Time15.0 µs; mean 500 ns, 300 ns to 1.20 µs")
    assert "4 call sites;" in said
    assert not any(text in said for text in (".c:", "Call path, innermost first", "null", "Source"))
    said = details(page, "line")
    assert said.startswith("MPI_Allreduce at a.c:1") and "2 call paths;" in said and "/a.c" in said
    assert "innermost first" not in said
    assert "f a.c:1main a.c:9" in details(page, "site")


def test_what_was_only_counted_has_no_time(show: Show, of_run: Content) -> None:
    of_run["sites"] = [site(of_run, **UNTIMED), site(of_run, **UNTIMED)]
    said = details(show(of_run), "function")
    assert said.startswith("MPI_AllreduceCalls8Timeonly counted")


def test_estimates_are_marked(show: Show, of_run: Content) -> None:
    of_run["sites"] = [site(of_run, estimated_calls=3)]
    page = show(of_run)
    assert "Time~5.00 µs" in details(page, "line")
    assert page.texts("#callsites .tabulator-cell[tabulator-field=time_ns]") == ["~5.00 µs"]
    assert page.texts("#overview table.worst .number.muted") == ["~5.00 µs"]


def test_other_sources_are_named(show: Show, of_run: Content) -> None:
    of_run["sites"] = [site(of_run)]
    assert "Where the program calls MPI, and how" in show(of_run).texts("#callsites .lead")[0]
    of_run["sites"].append(site(of_run, function="omp_barrier", source="openmp", outside=True))
    lead = show(of_run).texts("#callsites .lead")[0]
    assert "calls MPI and other sources of events (openmp), and how" in lead


def test_shares_that_are_not_known(show: Show, of_run: Content) -> None:
    sides = of_run["comparison"]["sides"]
    for each in (of_run["overview"], *sides):
        each |= {"parts": [], "share_unknown": UNKNOWN, "mpi_share": None}
    page = show(of_run)
    cards = dict(zip(page.texts(".card .label"), page.texts(".card .value"), strict=True))
    assert cards["MPI share"] == "Not known"
    assert UNKNOWN in page.texts("#overview .two .panel")[0]
    assert UNKNOWN in page.texts("#imbalance")[0]
    assert [UNKNOWN in each for each in page.texts("#comparison .two .panel")] == [True, True]


def test_of_several_worlds_it_says_which(show: Show, of_run: Content) -> None:
    alone = "This is of world 0 alone."
    assert alone not in show(of_run).texts("main")[0]
    of_run["overview"]["worlds"] = of_run["comparison"]["sides"][0]["worlds"] = 2
    page = show(of_run)
    found = page.texts("#overview :is(.panel, .card)")
    assert [text for text in found if alone in text] == [
        text for text in found if text.startswith(("Most is lost", "What limits", "Where the time"))
    ]
    assert [text for text in found if "of all worlds" in text] == [
        text for text in found if text.startswith(("MPI share", "Worst call site", "Call sites"))
    ]
    assert [alone in each for each in page.texts("#comparison .two .panel")] == [True, False]
    for section in ("waiting", "environment", "imbalance"):
        page.page.locator(f"#{section}").scroll_into_view_if_needed()
        assert "World" in page.texts(f"#{section} .tabulator-col-title")


def test_neighbouring_ranks_are_of_one_world(show: Show, of_run: Content) -> None:
    """Four ranks are one value of 900; a rank whose share is not known is in no chart."""
    columns = of_run["ranks"]["columns"]
    for name, column in columns.items():
        columns[name] = column[:1] * 900
    columns["world"] = [0] * 450 + [1] * 450
    columns["rank"] = [*range(450), *range(450)]
    columns["mpi_share"] = [0.25] * 450 + [None] + [0.75] * 449
    of_run["overview"]["worlds"] = 2
    page = show(of_run)
    page.page.locator("#imbalance .chart").first.scroll_into_view_if_needed()
    page.wait("document.querySelectorAll('#imbalance canvas').length == 2")
    (bands, shares) = page.page.eval_on_selector_all(
        "#imbalance .chart",
        "charts => charts.map(chart => echarts.getInstanceByDom(chart).getOption())"
        ".map(({ xAxis, series }) => ({ names: xAxis[0].data, values: series.map(each => each.data) }))",
    )
    assert bands["names"][112:115] == ["0:448", "1:1", "1:5"]
    least, spread, mean = bands["values"]
    assert least == mean == [25] * 113 + [75] * 113 and set(spread) == {0}
    assert {at: count for at, count in enumerate(shares["values"][0]) if count} == {12: 450, 37: 449}


def test_numbers_are_rounded_as_in_the_terminal(show: Show, of_run: Content) -> None:
    page = show(of_run).page
    sizes = [*range(0, 3000, 7), 320_000, 321_024, 12.25 * 1024, 12.75 * 1024, 1.125 * 1024, 2**20 * 312.5]
    times = [0.5, 1.5, 2.5, 1125, 12_250, 312_500, 313_500, 100_500_000_000, 101_500_000_000, 99_950_000]
    shares = [0.0, 0.00125, 0.0625, 0.15625, 0.33333, 0.0015, 0.5, 0.99950, 1.0]
    for name, rule, values in (
        ("size", units.size, sizes), ("duration", units.duration, times), ("percent", units.percent, shares)
    ):  # fmt: skip
        assert page.evaluate(f"all => all.map(tare.format.{name})", values) == [*map(rule, values)]


def test_a_program_without_mpi(show: Show, of_run: Content) -> None:
    of_run["overview"] |= {"uses_mpi": False, "parts": [], "mpi_share": None, "efficiency": [], "mpi_ns": 0}
    of_run["ranks"]["columns"]["rank"] = [-1 for _ in of_run["ranks"]["columns"]["rank"]]
    page = show(of_run)
    titles = page.texts("#overview h3") + page.texts("#imbalance h3")
    assert titles == ["What limits this program", "Cost of measuring, all processes", "All processes"]
    assert page.texts("#imbalance .tabulator-cell[tabulator-field=rank]") == []
    pids = page.texts("#imbalance .tabulator-cell[tabulator-field=pid]")
    assert pids == [str(pid) for pid in sorted(of_run["ranks"]["columns"]["pid"])]
    assert "MPI share" not in page.texts("#imbalance .tabulator-col-title")


def test_regions_and_files_are_shown_where_they_were_recorded(show: Show, of_run: Content) -> None:
    page = show(of_run)
    assert page.texts("#openmp") == page.texts("#files") == []
    of_run["openmp"] = {
        "regions": [
            {
                "caller": "smooth", "where": "a.c:8", "file": "/a.c", "line": 8, "world": 0, "rank": 1,
                "pid": None, "calls": 5, "time_ns": 1_150_000_000, "threads": 2,
                "work_mean_ns": 841_000_000.0, "work_max_ns": 1_100_000_000, "thread": "3 of 1",
                "idle_ns": 622_000_000, "idle_share": 0.27,
            },
        ],
        "left_out": 2, "efficiencies": [["MPI and OpenMP", "60.3 %"]], "notes": ["Not all is known."],
    }  # fmt: skip
    of_run["files"] = {
        "files": [
            {
                "file": "/d/" + "<b>x" * 10, "interface": "POSIX", "world": 0, "time_ns": 130_000, "reads": 0,
                "read_bytes": 0, "writes": 7, "written_bytes": 70, "consecutive_share": 6 / 7,
                "strided_share": None, "opens": 1, "ranks": 2,
            },
        ],
        "left_out": 0, "notes": [],
    }  # fmt: skip
    page = show(of_run)
    for section in ("openmp", "files"):
        page.page.locator(f"#{section}").scroll_into_view_if_needed()
    cells = page.texts("#openmp .tabulator-row .tabulator-cell")
    assert cells == [
        "smooth", "a.c:8", "1", "5", "1.15 s", "2", "841 ms", "1.10 s", "3 of 1", "622 ms", "27.0 %",
    ]  # fmt: skip
    assert page.texts("#openmp .hint") == ["Not all is known.", "2 more rows are in tare profile."]
    assert page.texts("#openmp dd") == ["60.3 %"]
    name = ("/d/" + "<b>x" * 10)[-33:]
    cells = page.texts("#files .tabulator-row .tabulator-cell")
    assert cells == [f"…{name}", "POSIX", "130 µs", "0", "-", "7", "70 B", "85.7 %", "-", "1", "2"]


def test_events_of_the_program_are_not_drawn(show: Show, of_run: Content) -> None:
    assert "not drawn" not in show(of_run).texts("#timeline")[0]
    of_run["overview"]["cost"]["own_events"] = 17
    assert "17 events of the program itself" in show(of_run).texts("#timeline")[0]


def test_estimates_of_a_comparison(show: Show, of_run: Content) -> None:
    assert of_run["comparison"]["notes"] == []
    of_run["comparison"]["notes"] = ["These are estimates."]
    assert show(of_run).texts("#comparison .notice") == ["These are estimates."]


def test_the_cost_account_is_that_of_tare_info(show: Show, of_run: Content) -> None:
    run = open_run(ROOT / "tests" / "data" / "v1" / "stencil")
    assert of_run["overview"]["account"] == list(summary.account_lines(run))
    of_run["overview"]["account"] = [("stacks", "150 samples, 13.7 ms"), ("in all", "<b>0.13 %</b>")]
    page = show(of_run)
    listed = ".facts-list"
    assert page.texts(f"{listed} dt") == ["Stacks", "In all"]
    assert page.texts(f"{listed} dd") == ["150 samples, 13.7 ms", "<b>0.13 %</b>"]


def processor(page: Opened, begin_ms: float, end_ms: float, calls: tuple[str, str]) -> str | None:
    """What is said of the processor in a gap of the first row between two calls."""
    said: list[str] | None = page.page.evaluate(
        "([begin, end, calls]) => tare.timeline.panel.processor(0, begin * 1e6, end * 1e6,"
        " calls.map((name) => tare.timeline.about.functions.indexOf(name)))",
        [begin_ms, end_ms, calls],
    )
    return None if said is None else said[1]


def test_a_processor_is_named_where_it_was_read(show: Show, of_run: Content) -> None:
    off = [[0, 20_000_000, 30_000_000, 1_000_000, 8_000_000], [0, 40_000_000, 80_000_000, 20_000_000, 0]]
    of_mpi = "MPI_Init", "MPI_Finalize"
    of_run["sites"].append(site(of_run, function="omp_barrier", source="openmp", **{"class": "openmp"}))
    functions = [*of_mpi, "omp_barrier"]
    ms_10, ms_100 = 10_000_000, 100_000_000
    times: dict[str, Any] = {"off_processor": off, "functions": functions}
    page = show(of_run, **times, observed=[[ms_10, ms_100], None])
    asleep = "8.00 ms blocked: asleep, waiting in the kernel, or stopped"
    descheduled = "ms without one, although it could run"
    assert processor(page, 20, 30, of_mpi) == f"at most 1.00 ms on one; 1.00 {descheduled}; {asleep}"
    assert processor(page, 50, 60, of_mpi) == f"about 5.00 ms on one; 5.00 {descheduled}"
    assert processor(page, 5, 20, of_mpi) == "at most 10.0 ms on one; not known before {:.9f} s".format(
        page.page.evaluate("tare.timeline.about.start_ns / 1e9") + 0.01
    )
    for begin, end, calls in (
        (2, 9, of_mpi),  # before the end of MPI_Init
        (90, 110, of_mpi),  # the call behind it is not read
        (20, 20.5, of_mpi),  # too short
        (20, 30, ("MPI_Init", "omp_barrier")),
        (20, 30, ("omp_barrier", "MPI_Finalize")),
    ):
        assert processor(page, begin, end, calls) is None
    assert processor(show(of_run, **times, observed=[None, None]), 20, 30, of_mpi) is None
    since = [[0, 0, 1], [0, 25_000_000, 41]]
    page = show(of_run, **times, observed=[[ms_10, ms_100], None], since=since)
    assert processor(page, 20, 30, of_mpi) is None
    assert processor(page, 26, 30, of_mpi) is not None


def test_a_thread_has_one_number(show: Show, of_run: Content) -> None:
    """Several threads have the first row one after another: it names all of them, a call its own."""
    page = show(of_run, threads=[41, 0], since=[[0, 0, 1], [0, 10_000_000, 2], [0, 200_000_000, 41]])
    assert page.texts(".timeline .labels button") == ["0.1\u201341", "1.0"]
    said = "([row, ...times]) => tare.timeline.named(row, row, ...times)"
    assert page.page.evaluate(said, [0, 150_000_000]) == "rank 0.2"
    assert page.page.evaluate(said, [0, 150_000_000, 250_000_000]) == "rank 0.2\u201341"
    rows = "label => tare.timeline.rowsOf(label)"
    assert page.page.evaluate(rows, "0.2") == {"first": 0, "rows": 1}
    assert page.page.evaluate(rows, "0.3") == {"wrong": "There is no rank 0.3 in the trace."}
    titles = []
    for time in (150_000_000, 250_000_000):
        page.page.evaluate("time => tare.timeline.panel.choose(0, time)", time)
        titles.append(page.texts(".chosen-part h3")[0].rpartition(", ")[2])
    assert titles == ["rank 0.2", "rank 0.41"]


def labels(page: Opened, ranks: list[int], pids: list[int], threads: list[int], group: int) -> list[str]:
    """The labels of rows that stand for so many locations of one world."""
    found: list[str] = page.page.evaluate(
        "([ranks, pids, threads, group]) => {"
        "  Object.assign(tare.timeline.about, { ranks, pids, threads, worlds: ranks.map(() => 0) });"
        "  tare.timeline.hasThreads = threads.some((thread) => thread > 0);"
        "  return ranks.flatMap((_, i) => i % group ? [] :"
        "    [tare.timeline.name(i, Math.min(i + group, ranks.length) - 1)]); }",
        [ranks, pids, threads, group],
    )
    return found


def test_groups_of_rows_are_told_apart(show: Show, of_run: Content) -> None:
    page = show(of_run)
    three = [0] * 3 + [1] * 3 + [2] * 3, [7] * 3 + [8] * 3 + [9] * 3, [0, 1, 2] * 3
    assert labels(page, *three, 4) == ["0.0\u20131.0", "1.1\u20132.1", "2.2"]
    assert labels(page, *three, 3) == ["0.0\u20132", "1.0\u20132", "2.0\u20132"]
    assert labels(page, *three, 6) == ["0\u20131", "2.0\u20132"]
    assert labels(page, [-1] * 6, [4711] * 6, [*range(6)], 2) == [
        f"process 4711.{i}\u2013{i + 1}" for i in (0, 2, 4)
    ]
    two = [-1] * 4, [18009, 18009, 18010, 18010], [0, 1, 0, 1]
    assert labels(page, *two, 1) == [
        "process 18009.0",
        "process 18009.1",
        "process 18010.0",
        "process 18010.1",
    ]
    assert labels(page, *two, 4) == ["process 18009\u201318010"]
    rows = "label => tare.timeline.rowsOf(label)"
    assert page.page.evaluate(rows, "process 18010") == {"first": 2, "rows": 2}
    assert page.page.evaluate(rows, "process 18009.1") == {"first": 1, "rows": 1}
    assert page.page.evaluate(rows, "18009") == {"wrong": "There is no rank 18009 in the trace."}
