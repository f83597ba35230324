"""The program's time by function in the page and as text, of a run whose ranks are in different functions."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Opened
from environments import compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from tare import units
from verbs import ask

MS = 1_000_000


@pytest.fixture(scope="module")
def measured(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """Both ranks are in `first`, for 100 ms, and one is in `second`, for 400 ms."""
    folder = tmp_path_factory.mktemp("flames")
    program = folder / "stacks"
    compile_c(openmpi4(), [PROGRAMS / "stacks.c"], program, "-O2", "-g", "-pthread")
    found = measure(tare, openmpi4(), 2, [program, "ranks", "100"], folder / "run", "--with", "stacks")
    assert found.ended.returncode == 0, found.ended.stderr
    return found


def said(measured: Measurement, verb: str, *options: Path | str) -> str:
    command = [str(word) for word in (measured.tare, verb, measured.directory, *options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.fixture(scope="module")
def file(measured: Measurement) -> Path:
    to = measured.directory.parent / "page.html"
    said(measured, "report", "-o", to)
    return to


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    opened = Opened(context.new_page(), f"{file.as_uri()}#flames")
    yield opened
    assert opened.complaints == []
    context.close()


def frames(page: Opened) -> dict[str, str]:
    """What the frames say to those who do not see them, by their text."""
    found: list[tuple[str, str]] = page.page.eval_on_selector_all(
        "#flames .flame", "all => all.map(each => [each.textContent, each.ariaLabel])"
    )
    return {text: label.partition(": ")[2] for text, label in found}


def test_ranks_against_their_mean(measured: Measurement) -> None:
    found = json.loads(said(measured, "profile", "--by", "function,rank", "--json"))
    differences = {each["rank"]: each for each in found["differences"] if "second" in each["function"]}
    assert set(differences) == {1}, "of ranks that are in a function"
    # 400 ms beside a mean of 200 ms, of some 40 samples.
    assert 120 * MS < differences[1]["more_ns"] < 280 * MS
    (late,) = (each for each in found["functions"] if "second" in each["function"] and each["time_ns"])
    assert (late["rank"], late["more_is_certain"], late["source"]) == (1, True, "program")
    assert late["more_ns"] == pytest.approx(late["time_ns"] - late["rank_mean_ns"], abs=2)
    text = " ".join(said(measured, "profile", "--by", "function,rank").split())
    assert (
        f"Rank 1 spends {units.duration(differences[1]['more_ns'])} "
        f"(± {units.duration(differences[1]['error_ns'])}) more in compute (inlined in second) than the mean "
        "of the 2 ranks."
    ) in text
    assert "first than the mean" not in text, "both are equally long there"


def test_lines_and_threads(measured: Measurement) -> None:
    lines = json.loads(said(measured, "profile", "--by", "line", "--json"))["functions"]
    source = (PROGRAMS / "stacks.c").read_text().splitlines()
    own = [each for each in lines if each["source"] == "program" and each["time_ns"]]
    assert own and all(each["line"] <= len(source) for each in own if each["line"])
    assert sum(each["time_ns"] for each in own) > 400 * MS
    (barrier,) = (each for each in lines if each["function"] == "MPI_Barrier")
    assert "MPI_Barrier" in source[barrier["line"] - 1]
    threads = json.loads(said(measured, "profile", "--by", "function,thread", "--json"))
    assert threads["rows"] == []
    assert {each["thread"] for each in threads["functions"]} == {0}
    assert {each["source"] for each in threads["functions"]} == {"program"}
    for by, as_json in (("function,thread", threads["functions"]), ("line", lines)):
        rows = list(csv.DictReader(io.StringIO(said(measured, "profile", "--by", by, "--csv"))))
        assert [(row["function"], int(row["time_ns"])) for row in rows] == [
            (each["function"], each["time_ns"]) for each in as_json
        ]


def test_functions_of_two_runs(measured: Measurement, tare: Path) -> None:
    run = str(measured.directory)
    done = ask(tare, "diff", run, run, check=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("compute (inlined in second)"))
    assert re.fullmatch(r"compute \(inlined in second\)\s+compute\.h\s+.*\+0 ns\s+\d+ ms\s+no", line), line


def test_without_mpi_the_graph_is_of_processes(tare: Path, tmp_path: Path, browser: Any) -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    run = tmp_path / "run"
    for command in (
        ["run", "--with", "stacks", "-o", run, sys.executable, "-c", spin],
        ["report", run, "-o", tmp_path / "page.html"],
    ):
        words = [str(word) for word in (tare, *command)]
        subprocess.run(words, capture_output=True, timeout=60, check=True)
    context = browser.new_context(offline=True)
    page = Opened(context.new_page(), f"{(tmp_path / 'page.html').as_uri()}#flames")
    assert "All processes" in frames(page) and page.complaints == []
    context.close()


def test_the_graph_of_all_ranks_and_of_one_beside_the_mean(page: Opened, measured: Measurement) -> None:
    differing = page.texts("#flames .differences li")
    assert differing and all(
        sentence in " ".join(said(measured, "profile", "--by", "function,rank").split())
        for sentence in differing
    )
    whole = frames(page)
    assert {"All ranks", "second", "first", "MPI_Barrier", "MPI_Init"} <= set(whole)
    assert re.fullmatch(r"\d+ ms ± \d+(\.\d)? ms, \d+\.\d %", whole["second"])
    assert " ± " not in whole["MPI_Barrier"], "it is measured"
    page.page.select_option("#flames select", label="Rank 1")
    page.page.click("#flames button:has-text('Beside the mean')")
    beside = frames(page)
    (late,) = (text for text in beside if text.startswith("second "))
    assert re.fullmatch(r"second \+\d+ ms", late)
    assert "more than the mean of the ranks" in beside[late]
    assert beside["first"].endswith("than the mean of the ranks, which may be chance")
    fill = "all => all.map(each => each.style.background)"
    (grey,) = page.page.eval_on_selector_all("#flames .flame:text-is('first')", fill)
    assert grey == "var(--faint)"
    assert "flames.rank=0.1&flames.mean=1" in page.page.url
    # A link shows the same.
    again = Opened(page.page.context.new_page(), page.page.url)
    assert frames(again) == beside
    assert again.complaints == []


def test_zoom_search_and_keys(page: Opened) -> None:
    def chosen() -> str:
        return page.texts("#flames .flame-facts h3")[0]

    page.page.focus("#flames .flame[tabindex='0']")
    assert chosen() == "All ranks"
    depth = 0
    while chosen() != "ranks (inlined in main)":  # what the C library has above main differs
        page.page.keyboard.press("ArrowDown")
        depth += 1
        assert depth < 10
    page.page.keyboard.press("ArrowDown")
    seen = [chosen()]
    for _ in range(10):
        page.page.keyboard.press("ArrowRight")
        seen.append(chosen())
    assert {"second", "first", "MPI_Barrier"} <= set(seen)
    while chosen() != "second":
        page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("Enter")
    assert "MPI_Barrier" not in frames(page)
    assert {"All ranks", "main", "second"} <= set(frames(page)), "what is above stays"
    page.page.keyboard.press("ArrowDown")
    assert chosen() == "compute (inlined in second)"
    assert "compute.h, line " in page.texts("#flames .flame-facts")[0]
    page.page.keyboard.press("Escape")
    assert "MPI_Barrier" in frames(page)
    page.page.fill("#flames .tools input[type=search] >> nth=0", "SECOND")
    assert page.texts("#flames .flame.hit") == ["second", "compute (inlined in second)"]
    assert re.fullmatch(r"2 frames, \d+ ms, \d+\.\d %", page.texts("#flames .tools .count")[0])
    page.page.click("#flames .flame:text-is('main')")
    page.page.click("#flames button:has-text('Zoom out')")
    assert "All ranks" in frames(page)


@pytest.mark.parametrize("width", [400, 1400])
def test_it_fits_on_screens_and_paper(browser: Any, file: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, color_scheme="dark")
    opened = Opened(context.new_page(), f"{file.as_uri()}#flames?flames.rank=0.1&flames.mean=1")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    rights = opened.page.eval_on_selector_all(
        "#flames :is(.flame, .panel, li, p)", "all => all.map(each => each.getBoundingClientRect().right)"
    )
    assert len(rights) > 8
    assert max(rights) <= 980
    assert opened.complaints == []
    context.close()
