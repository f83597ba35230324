"""The page in a browser, of a run and of a study all of whose names are made to harm it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fake_native
import pytest
from browser import Opened
from fake_recording import use_fake_reader
from hostile_names import hostile_run_dir, make_names_hostile
from tare import cli
from tare.lab.study import description
from tare.lab.study.store import Store
from tare.page import document
from tare.runs.retiming import Times

# Leads elsewhere, if it becomes markup: no policy of a page forbids that.
LEADS_AWAY = "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/away'>"
EVIL = (
    f"{LEADS_AWAY}</script><script>window.harmed=1</script>"
    "<img src=x onerror=window.harmed=1><form action=x>\u202e\"'&{{\x1b[31m"
)
MARKUP = ", ".join(
    f"body {tag}" for tag in ("meta", "base", "form", "iframe", "main script", "img:not(figure img)")
)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a run all of whose names are made to harm it."""
    run_dir = hostile_run_dir(tmp_path, EVIL)
    make_names_hostile(fake_native, monkeypatch, EVIL)
    use_fake_reader(monkeypatch)
    to = tmp_path / "page.html"
    assert cli.run(["report", str(run_dir), "-o", str(to)]) == 0
    return to


def test_hostile_names_are_shown_and_do_nothing(hostile: Path, browser: Any) -> None:
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), hostile.as_uri())
    assert opened.page.evaluate("document.documentElement.dataset.failed") is None, opened.complaints
    for chart in opened.page.query_selector_all(".chart"):
        chart.scroll_into_view_if_needed()
    for section in ("callsites", "openmp", "files"):
        opened.page.locator(f"#{section}").scroll_into_view_if_needed()
        rows = opened.page.query_selector_all(f"#{section} .tabulator-row")
        assert rows, section
        for row in rows:
            row.click()
            row.hover()
    for header in opened.page.query_selector_all(".tabulator-col"):
        header.hover()
    assert_unharmed(opened, hostile)
    canvas = opened.page.locator("#timeline canvas.lanes")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    for x in (0.3, 0.55, 0.7):
        opened.page.mouse.move(box["x"] + x * box["width"], box["y"] + 10)
        opened.page.mouse.click(box["x"] + x * box["width"], box["y"] + 10)
        opened.wait("!document.querySelector('#timeline .chosen-part').hidden")
        assert_unharmed(opened, hostile)
    for text in ("waits", "<script>", ""):
        opened.page.fill("#timeline input[type=search]", text)
        opened.page.press("#timeline input[type=search]", "Enter")
        opened.page.wait_for_timeout(100)
        assert len(opened.texts("#timeline .found:not([hidden]) li")) == (
            1 if text == "waits" else 2 * bool(text)
        )
        assert_unharmed(opened, hostile)
    said = opened.texts("#flames .differences li")
    assert said and all("<script>window.harmed=1</script>" in text and "exchange" in text for text in said)
    opened.page.select_option("#flames select", index=1)
    opened.page.click("#flames button[aria-pressed]")
    frames = opened.page.query_selector_all("#flames .flame")
    assert len(frames) > 2
    opened.page.fill("#flames .tools input", "<script>")
    assert len(opened.texts("#flames .flame.hit")) > 1
    for number in range(len(frames)):
        opened.page.locator("#flames .flame").nth(number).hover(force=True)
    opened.page.locator("#flames .flame").last.click()
    assert_unharmed(opened, hostile)
    opened.page.locator("#overview .findings a").first.click()
    assert any("<script>window.harmed=1</script>" in text for text in opened.texts("main"))
    assert_unharmed(opened, hostile)
    context.close()


def test_markup_from_the_run_is_in_the_title_alone(hostile: Path) -> None:
    text = hostile.read_text("utf-8")
    assert text.count("harmed") == 2  # twice in the title, escaped
    assert "<title>&lt;meta " in text


@pytest.fixture
def hostile_study(tmp_path: Path) -> Path:
    """The page of a study whose factors, levels, phases and quantities are made to harm it."""
    directory = tmp_path / "results"
    evil = json.dumps(EVIL)
    factor = f"{description.VARIABLE}{EVIL}"
    described = f"""
        [study]
        title = {evil}
        about = {evil}
        [workload.app]
        command = "./app"
        ranks = 2
        [mpi.here]
        launch = "mpiexec -n {{ranks}}"
        family = "mpich"
        [factors]
        tool = ["none", "tare"]
        {json.dumps(factor)} = ["a", {evil}]
    """
    with Store(directory, create=True) as store:
        store.describe({"description": described})
        runs = [
            (block, tool, level) for block in range(6) for tool in ("none", "tare") for level in ("a", EVIL)
        ]
        for number, (block, tool, level) in enumerate(runs):
            factors = {"workload": "app", "tool": tool, "mpi": "here", "ranks": "2", factor: level}
            store.connection.execute(
                "INSERT INTO runs (run, set_name, block, position, cell, factors, environment, state, "
                "wall_s, net_s, init_s, finalize_s, hook_s, wrap_s, net_cpu_s, cpu_s) "
                "VALUES (?, ?, ?, 0, ?, map(?, ?), 'e', 'ok', 2, ?, 0.1, 0.1, 0.2, 0.3, 1, 1)",
                [
                    number,
                    EVIL,
                    block,
                    " ".join(f"{name}={it}" for name, it in factors.items()),
                    [*factors],
                    [*factors.values()],
                    1 + 0.01 * (number % 3),
                ],
            )
            store.connection.execute(
                "INSERT INTO measures VALUES ($1, $2, 'wall', $2, 0.5), ($1, '', $2, $2, 3)", [number, EVIL]
            )
    page = directory / "report.html"
    assert cli.run(["report", str(directory)]) == 0
    return page


def test_titles_units_and_labels_of_a_study_do_nothing(hostile_study: Path, browser: Any) -> None:
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), hostile_study.as_uri())
    assert opened.page.evaluate("document.documentElement.dataset.failed") is None, opened.complaints
    for details in opened.page.query_selector_all("details summary"):
        details.click()
    for header in opened.page.query_selector_all(".tabulator-col"):
        header.hover()
    titles = opened.texts(".tabulator-col-title")
    assert any(LEADS_AWAY in title for title in titles)
    assert_unharmed(opened, hostile_study)
    context.close()


def test_what_libraries_write_as_html_is_text(tmp_path: Path, browser: Any) -> None:
    """Wherever they write it, and in ways that none of them uses yet."""
    page = tmp_path / "page.html"
    page.write_text(document.embedded("a page", {Times.RECORDED: {}}), "utf-8")
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), page.as_uri())
    opened.complaints.clear()
    ways = [
        "element.innerHTML = evil",
        "element.outerHTML = evil",
        "element.insertAdjacentHTML('beforeend', evil)",
        "document.createRange().createContextualFragment(evil)",
        "new DOMParser().parseFromString(evil, 'text/html')",
        "document.write(evil)",
        "document.createElement('iframe').srcdoc = evil",
    ]
    refused = []
    for way in ways:
        refused.append(
            opened.page.evaluate(
                f"""(evil) => {{
                    const element = document.body.appendChild(document.createElement("p"));
                    try {{ {way}; }} catch (error) {{ return error.name; }}
                    return element.textContent === evil ? "text" : "taken";
                }}""",
                EVIL,
            )
        )
    assert refused[0] == "text"
    assert set(refused[1:]) == {"TypeError"}, dict(zip(ways, refused, strict=True))
    opened.complaints.clear()  # of what was refused
    assert_unharmed(opened, page)
    context.close()


def assert_unharmed(opened: Opened, page: Path) -> None:
    """The browser shows the page still, has asked for nothing else, and no name has become an element."""
    assert opened.page.url.partition("#")[0] == page.as_uri()
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [page.as_uri()]
    assert opened.page.eval_on_selector_all(MARKUP, "all => all.map(each => each.outerHTML)") == []
    assert opened.page.evaluate("window.harmed") is None
    assert opened.complaints == []
