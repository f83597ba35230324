"""The page of `tare report`, in a browser: it shows what the tables hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tare as package
from browser import READY, Opened
from environments import ROOT
from tare import units
from tare.reporters.diff import TITLES
from verbs import ask

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
ROWS = "#callsites .tabulator-row"


@pytest.fixture(scope="module")
def file(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("page") / "page.html"
    done = subprocess.run(
        [tare, "report", RUN, "-o", to], capture_output=True, text=True, timeout=120, check=True
    )
    assert (done.stdout, done.stderr) == (f"{to}\n", "")
    return to


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    opened = Opened(context.new_page(), file.as_uri())
    yield opened
    assert opened.complaints == []
    context.close()


def read(tare: Path, *arguments: str) -> dict[str, Any]:
    done = ask(tare, *arguments, "--json", check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def column(page: Opened, section: str, field: str) -> list[str]:
    return page.texts(f"#{section} .tabulator-cell[tabulator-field='{field}']")


def test_the_first_lines_answer(page: Opened, tare: Path) -> None:
    content = read(tare, "info", str(RUN))
    cards = dict(zip(page.texts(".card .label"), page.texts(".card .value"), strict=True))
    shares = [rank["mpi_share"] for rank in content["ranks"]]
    assert cards["MPI share"] == units.percent(sum(shares) / len(shares))
    assert cards["Cost of measuring"] == f"{100 * content['cost']['net_share']:.2f} %"
    rows = read(tare, "profile", str(RUN), "--by", "line")["rows"]
    timed = [row for row in rows if row["function"] not in ("MPI_Init", "MPI_Finalize")]
    assert cards["Worst call site"] == max(timed, key=lambda row: row["time_ns"])["function"]
    assert all(page.page.locator(".card").nth(i).bounding_box()["y"] < 400 for i in range(len(cards)))
    parts = page.texts(".legend.column b")
    assert sum(float(part.split()[0]) for part in parts) == pytest.approx(100, abs=0.3)


def test_the_overview_says_what_explain_says(page: Opened, tare: Path) -> None:
    said = page.texts(".findings li")
    assert [text.replace("\u00a0", " ") for text in said] == read(tare, "explain", str(RUN))["sentences"]


def test_wait_states_are_those_of_the_report(page: Opened) -> None:
    """They are listed by line, with what they wait for and the source text where it is at hand."""
    page.page.locator("#waitstates").scroll_into_view_if_needed()
    page.wait("document.querySelectorAll('#waitstates .tabulator-row').length > 0")
    sums: dict[tuple[str, str], int] = {}
    for row in package.open(RUN).wait_report.waits:
        key = row.kind, row.function
        sums[key] = sums.get(key, 0) + row.waits
    shown: dict[tuple[str, str], int] = {}
    fields = ("kind", "function", "waits")
    for kind, function, waits in zip(*(column(page, "waitstates", field) for field in fields), strict=True):
        shown[kind, function] = shown.get((kind, function), 0) + int(waits.replace(",", ""))
    assert shown == sums
    page.page.focus("#waitstates .tabulator-row")
    page.page.keyboard.press("Enter")
    page.wait("!document.querySelector('#waitstates .detail').hidden")
    assert "For rank" in page.texts("#waitstates .detail")[0]


def test_two_runs_side_by_side(browser: Any, page: Opened, tare: Path, tmp_path: Path) -> None:
    assert page.page.locator("#comparison").count() == 0
    other, to = tmp_path / "other", tmp_path / "both.html"
    shutil.copytree(RUN, other)
    subprocess.run(
        [tare, "report", RUN, "--compare", other, "-o", to], capture_output=True, timeout=120, check=True
    )
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), to.as_uri())
    said = read(tare, "explain", str(RUN))["sentences"]
    assert opened.texts("#comparison .findings li") == said * 2
    found = read(tare, "diff", str(other), str(RUN))
    wall = next(figure for figure in found["figures"] if figure["metric"] == "wall")
    shown = opened.texts("#comparison tbody tr:first-child td")
    assert shown == ["wall time", *[units.duration(wall["base_mean"])] * 2, "0.0 %"]
    titles = opened.texts("#comparison table.worst tbody td:first-child")
    assert titles == [TITLES[figure["metric"]] for figure in found["figures"]]
    values = opened.texts("#comparison table.worst tbody td:nth-child(2)")
    for figure, value in zip(found["figures"], values, strict=True):
        unit = r" (ns|µs|ms|s|min|h)" if figure["metric"] not in ("calls", "bytes") else ""
        assert re.fullmatch(rf"[\d.,]+{unit}( B| KiB| MiB)?", value), (figure["metric"], value)
    opened.page.locator("#comparison .tabulator").scroll_into_view_if_needed()
    assert sorted(column(opened, "comparison", "function")) == sorted(
        row["function"] for row in found["sites"]
    )
    assert opened.complaints == []
    context.close()


def test_call_sites_are_those_of_the_profile(page: Opened, tare: Path) -> None:
    rows = read(tare, "profile", str(RUN), "--by", "line")["rows"]
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    fields = ("function", "calls", "time_ns")
    shown = list(zip(*(column(page, "callsites", field) for field in fields), strict=True))
    expected = [
        (row["function"], f"{row['calls']:,}", units.duration(row["time_ns"]) if row["timed"] else "-")
        for row in rows
    ]
    assert sorted(shown) == sorted(expected)


def test_ranks_are_those_of_info(page: Opened, tare: Path) -> None:
    ranks = read(tare, "info", str(RUN))["ranks"]
    assert column(page, "imbalance", "rank") == [str(rank["rank"]) for rank in ranks]
    assert column(page, "imbalance", "mpi_ns") == [units.duration(rank["mpi_ns"]) for rank in ranks]
    assert column(page, "imbalance", "share") == [units.percent(rank["mpi_share"]) for rank in ranks]


def test_the_matrix_holds_what_was_sent(page: Opened, tare: Path) -> None:
    page.page.locator("#matrix").scroll_into_view_if_needed()
    page.wait("document.querySelector('#matrix .chart').dataset.ready")
    cells = page.page.evaluate(
        "echarts.getInstanceByDom(document.querySelector('#matrix .chart')).getOption().series[0].data"
    )
    rows = read(tare, "profile", str(RUN), "--by", "rank,peer")["rows"]
    sent = {(row["rank"], row["peer"]): row["sent_messages"] for row in rows if row["sent_messages"]}
    assert {(cell[1], cell[0]): cell[3] for cell in cells} == sent


def test_search_sort_and_choice(page: Opened) -> None:
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    page.page.fill("#callsites input[type=search]", "mpi_isend")
    page.wait(f"[...document.querySelectorAll('{ROWS}')].every(row => row.textContent.includes('MPI_Isend'))")
    assert "sites.q=mpi_isend" in page.page.url
    page.page.fill("#callsites input[type=search]", "")
    page.wait(f"document.querySelectorAll('{ROWS}').length > 3")
    # By the keyboard alone.
    page.page.focus("#callsites .tabulator-col[tabulator-field='calls']")
    page.page.keyboard.press("Enter")
    page.wait(
        "document.querySelector('#callsites .tabulator-col[tabulator-field=calls]').ariaSort == 'descending'"
    )
    calls = [int(text.replace(",", "")) for text in column(page, "callsites", "calls")]
    assert calls == sorted(calls, reverse=True)
    page.page.focus(ROWS)
    page.page.keyboard.press("Enter")
    page.wait("!document.querySelector('#callsites .detail').hidden")
    assert "Call path" in page.texts("#callsites .detail")[0]


def test_a_link_shows_the_same(browser: Any, file: Path) -> None:
    context = browser.new_context(offline=True, color_scheme="light")
    url = f"{file.as_uri()}#callsites?sites.q=waitall&sites.by=function&theme=dark"
    opened = Opened(context.new_page(), url)
    opened.wait(f"document.querySelectorAll('{ROWS}').length == 1")
    assert column(opened, "callsites", "function") == ["MPI_Waitall"]
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert opened.page.evaluate("scrollY > 100")
    assert opened.complaints == []
    context.close()


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_nothing_is_wider_than_the_screen(browser: Any, file: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, offline=True)
    opened = Opened(context.new_page(), file.as_uri())
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.complaints == []
    context.close()


@pytest.mark.parametrize("width", [360, 1000, 1600])
def test_no_heading_is_cut(browser: Any, file: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    opened = Opened(context.new_page(), file.as_uri())
    opened.page.evaluate("tare.fitTables(false)")
    headings = "main :is(.tabulator-col-title, h1, h2, h3, th, .card .label, .labels button)"
    found = opened.page.eval_on_selector_all(
        headings,
        "all => all.filter(each => each.checkVisibility()).map(each => [each.textContent,"
        " each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 6])",
    )
    assert len(found) > 40
    assert [text for text, is_cut in found if is_cut] == []
    context.close()


def test_on_paper_it_is_light_and_nothing_is_cut_off(browser: Any, file: Path) -> None:
    """Also of a wide window with a dark page of which only the beginning has been in view."""
    context = browser.new_context(viewport={"width": 1600, "height": 400}, offline=True, color_scheme="dark")
    opened = Opened(context.new_page(), file.as_uri())
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "light"
    parts = "main :is(canvas, .card, .panel, .tabulator-row, .tabulator-header)"
    rights = opened.page.eval_on_selector_all(
        parts, "elements => elements.map(each => each.getBoundingClientRect().right)"
    )
    assert len(rights) > 20
    assert max(rights) <= 980
    charts = opened.page.eval_on_selector_all(
        "main .chart", "elements => elements.map(each => each.dataset.ready)"
    )
    assert charts
    assert set(charts) == {"1"}
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert opened.page.pdf().startswith(b"%PDF")
    assert opened.complaints == []
    context.close()


def test_long_tables_are_printed_whole(browser: Any, file: Path) -> None:
    """They are whole up to a limit, in the order of the screen, on which only the rows in view are made."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    opened = Opened(context.new_page(), file.as_uri())
    made = """count => {
      const into = document.createElement("section");
      into.id = `long${count}`;
      document.querySelector("main").append(into);
      const rows = Array.from({ length: count }, (_, i) => ({ id: i, name: `row ${i}`, share: i / count }));
      const columns = [{ title: "Name", field: "name", kind: "text" }];
      columns.push({ title: "Share", field: "share", kind: "share" });
      tare.table(into, { label: "rows", rows, columns, sort: ["share", "desc"], text: (row) => row.name });
    }"""
    counts = {30: 0, 120: 120, 620: 500}
    for count in counts:
        opened.page.evaluate(made, count)
        opened.wait(f"document.querySelector('#long{count} [data-ready]')")
    pages = opened.page.pdf().count(b"/Type /Page\n")
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for count, printed in counts.items():
        rows = opened.texts(f"#long{count} .printed tbody tr td:first-child")
        assert rows == [f"row {count - 1 - i}" for i in range(printed)]
        assert opened.page.locator(f"#long{count} .tabulator").is_visible() == (printed == 0)
    assert opened.texts("#long120 .printed .hint") == []
    assert opened.texts("#long620 .printed .hint") == ["120 more rows are not printed."]
    assert pages >= 620 // 40, "some 40 rows fit on a page"
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.locator(".printed").count() == 0
    assert opened.page.locator("#long620 .tabulator-row").count() < 100
    assert opened.complaints == []
    context.close()


def test_phases_are_those_of_the_verb(page: Opened, tare: Path) -> None:
    """The page has them as a table, and as a band above the timeline."""
    page.page.locator("#phases").scroll_into_view_if_needed()
    page.wait("document.querySelectorAll('#phases .tabulator-row').length > 0")
    phases = read(tare, "phases", str(RUN))["phases"]
    shown = column(page, "phases", "phase")  # of the table of slow iterations, too
    assert shown[: len(phases)] == [each["phase"] for each in phases]
    loops = [each["loops"][0]["iterations"] if each["loops"] else None for each in phases]
    shown = column(page, "phases", "iterations")
    assert shown == [units.NOTHING if count is None else f"{count:,}" for count in loops]
    page.page.locator("#timeline").scroll_into_view_if_needed()
    band = page.texts("#timeline .phases span")
    assert band == [each["phase"] for each in phases]
    assert page.page.locator("#timeline .phases").is_visible() == (len(phases) > 1)


def test_an_address_with_any_text_is_read_as_it_was_written(browser: Any, file: Path) -> None:
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), f"{file.as_uri()}#callsites?sites.q=%2526%E0%A4%A")
    assert opened.page.input_value("#callsites input[type=search]").startswith("%26")
    opened.page.evaluate("location.hash = '#%E0%A4%A'")
    opened.wait("location.hash.startsWith('#%E0')")
    assert opened.complaints == []
    context.close()


def test_where_it_cannot_be_written_one_line_says_so(tare: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [tare, "report", RUN, "-o", tmp_path / "none" / "x.html"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and "cannot write" in done.stderr


def events_between(tare: Path, start: float, end: float) -> list[dict[str, Any]]:
    rows = read(tare, "events", str(RUN), "--from", str(start), "--to", str(end))["rows"]
    return [row for row in rows if row["function"].startswith("MPI_")]


def test_the_timeline_shows_every_call(page: Opened, tare: Path) -> None:
    """The file holds all calls of a small run; they are those of `tare events`."""
    events = events_between(tare, 0, 1e9)
    calls = page.page.evaluate(
        "({ count: tare.timeline.data.all.count, of: [...tare.timeline.data.all.start] })"
    )
    first = page.page.evaluate("tare.timeline.about.start_ns")
    assert calls["count"] == len(events)
    run_start = json.loads((RUN / "meta.json").read_text())["start_ns"]
    assert sorted(round(at + first) for at in calls["of"]) == sorted(
        event["start_ns"] - run_start for event in events
    )


def test_zoom_hover_and_link_of_the_timeline(page: Opened, tare: Path) -> None:
    canvas = page.page.locator("#timeline canvas.lanes")
    canvas.scroll_into_view_if_needed()
    ready = "document.querySelector('#timeline canvas.lanes').dataset.ready"
    page.wait(ready)
    before = page.page.evaluate("tare.timeline.view")
    box = canvas.bounding_box()
    page.page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 10)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 12, steps=3)
    page.page.mouse.up()
    page.wait(ready)
    after = page.page.evaluate("tare.timeline.view")
    assert after["to"] - after["from"] == pytest.approx((before["to"] - before["from"]) / 4, rel=0.02)
    assert "time=" in page.page.url
    canvas.focus()
    page.page.keyboard.press("-")
    page.wait(ready)
    wider = page.page.evaluate("tare.timeline.view")
    assert wider["to"] - wider["from"] == pytest.approx(2 * (after["to"] - after["from"]), rel=0.02)
    # The longest call of rank 0, by its place on the screen.
    page.page.keyboard.press("Home")
    page.wait(ready)
    events = [event for event in events_between(tare, 0, 1e9) if event["rank"] == 0]
    longest = max(events, key=lambda event: event["duration_ns"])
    run_start = json.loads((RUN / "meta.json").read_text())["start_ns"]
    start = longest["start_ns"] - run_start - page.page.evaluate("tare.timeline.about.start_ns")
    around = [start - longest["duration_ns"], start + 2 * longest["duration_ns"]]
    page.page.evaluate("([from, to]) => tare.timeline.go({ ...tare.timeline.view, from, to })", around)
    page.wait(ready)
    page.wait("tare.timeline.shown.picture.calls !== null")
    box = canvas.bounding_box()
    page.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 8)
    said = page.texts("#timeline .tip")[0]
    assert longest["function"] in said and units.duration(longest["duration_ns"]) in said


def test_messages_of_the_timeline_are_those_that_were_matched(page: Opened) -> None:
    import pyarrow

    table = pyarrow.table(package.open(str(RUN)).messages).to_pylist()
    both = ("send_enter_ns", "receive_completion_leave_ns")
    matched = [row for row in table if all(row[name] is not None for name in both)]
    assert matched
    count = page.page.evaluate("tare.timeline.data.messages.count")
    assert count == len(matched)


def test_a_page_with_both_times(browser: Any, tare: Path, tmp_path: Path) -> None:
    """What `tare explain` says of each, in one file; what is chosen lies in the address."""
    to = tmp_path / "both.html"
    subprocess.run([tare, "report", RUN, "--times", "both", "-o", to], check=True, timeout=120)
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), to.as_uri())
    for times in ("recorded", "compensated", "recorded"):
        with opened.page.expect_event("load"):
            opened.page.evaluate(
                "times => { const at = document.getElementById('times'); at.value = times;"
                " at.dispatchEvent(new Event('change')); }",
                times,
            )
        opened.wait(READY)
        said = read(tare, "explain", str(RUN), "--times", times)["sentences"]
        assert [text.replace("\u00a0", " ") for text in opened.texts("#overview .findings li")] == said
        traced = package.open(RUN, times=times).timeline()
        assert traced is not None
        length = opened.page.evaluate("tare.timeline.data.about.length_ns")
        assert length == traced.end_ns - traced.start_ns
    assert opened.complaints == []
    context.close()


def test_a_page_in_one_time_has_no_choice(page: Opened) -> None:
    assert page.page.locator("#times-choice").is_hidden()
