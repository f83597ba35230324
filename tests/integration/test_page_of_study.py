"""The page of a study, in a browser: cells side by side as the results have them; nothing in it can run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browser import Opened
from tare import cli
from tare.errors import CommandError
from tare.lab.study.store import Store

EVIL = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>'&"
DESCRIPTION = f"""
[study]
title = "What it costs {EVIL}"
about = "About {EVIL}"
repetitions = 6
keep_output = true

[workload.app]
command = "./app {{steps}}"
ranks = 2
parameters = {{ steps = 10 }}

[mpi.here]
launch = "mpiexec -n {{ranks}}"
family = "mpich"

[factors]
tool = ["none", "tare"]
steps = ["10", "{EVIL}"]
"""
# Seconds of the bare program, and what tare adds to them; block 0 warms up.
BARE_S = {"10": 1.0, EVIL: 2.0}
MORE_S = {"10": 0.05, EVIL: 0.2}
BLOCKS = range(7)
KEPT = 6  # a run


@dataclass(frozen=True)
class Study:
    directory: Path
    page: Path


def add_runs(store: Store) -> None:
    number = 0
    for block in BLOCKS:
        for steps, bare_s in BARE_S.items():
            for tool in ("none", "tare"):
                number += 1
                net_s = bare_s + (MORE_S[steps] if tool == "tare" else 0.0) + 0.001 * (block % 3)
                factors = {"workload": "app", "tool": tool, "mpi": "here", "ranks": "2", "steps": steps}
                cell = " ".join(f"{name}={level}" for name, level in factors.items())
                store.connection.execute(
                    "INSERT INTO runs (run, set_name, block, position, cell, factors, environment, state, "
                    "wall_s, net_s, init_s, finalize_s, hook_s, wrap_s, net_cpu_s, cpu_s) "
                    "VALUES (?, '1', ?, 0, ?, map(?, ?), 'e', 'ok', ?, ?, 0.1, 0.1, 0.2, 0.3, ?, ?)",
                    [
                        number,
                        block,
                        cell,
                        list(factors),
                        list(factors.values()),
                        net_s + 0.5,
                        net_s,
                        net_s,
                        net_s,
                    ],
                )


@pytest.fixture(scope="module")
def study(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    directory = tmp_path_factory.mktemp("study") / "mine-results"
    with Store(directory, create=True) as store:
        store.describe({"description": DESCRIPTION})
        add_runs(store)
    kept = directory / "outputs" / f"run-{KEPT}" / "run 1"
    kept.mkdir(parents=True)
    (kept / "meta.json").touch()
    page = directory / "report.html"
    done = subprocess.run([tare, "report", directory], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"{page}\n"), done.stderr
    return Study(directory, page)


@pytest.fixture
def page(browser: Any, study: Study) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1600, "height": 1000}, offline=True)
    opened = Opened(context.new_page(), study.page.as_uri())
    assert opened.page.evaluate("document.documentElement.dataset.failed") is None
    yield opened
    assert opened.page.evaluate("window.harmed") is None
    assert opened.complaints == []
    context.close()


def column(page: Opened, section: str, field: str) -> list[str]:
    return page.texts(f"#{section} .tabulator-cell[tabulator-field='{field}']")


def test_cells_stand_side_by_side(page: Opened) -> None:
    assert page.texts("h1") == [f"What it costs {EVIL}"]
    assert column(page, "cells", "factor0") == ["none", "none", "tare", "tare"]
    assert column(page, "cells", "factor1") == ["10", EVIL, "10", EVIL]
    assert column(page, "cells", "runs") == ["6"] * 4
    assert column(page, "cells", "time") == ["1.00 s", "2.00 s", "1.05 s", "2.20 s"]
    assert column(page, "cells", "more") == ["-", "-", "50.0 ms", "200 ms"]
    assert column(page, "cells", "overhead") == ["-", "-", "+5.00 %", "+10.00 %"]
    assert column(page, "cells", "low")[2:] == ["+4.99 % to +5.00 %", "+9.99 % to +10.00 %"]
    assert column(page, "cells", "verdict")[2:] == ["slower", "slower"]


def test_its_sections_are_those_of_the_report(page: Opened, study: Study, tare: Path) -> None:
    done = subprocess.run(
        [tare, "study", "report", study.directory, "--json"], capture_output=True, text=True, timeout=120
    )
    sections = json.loads(done.stdout)["sections"]
    assert page.texts("main h2")[2:-1] == [section["title"] for section in sections]
    found = sections[0]["tables"][0]
    assert found["rows"][0][2] == pytest.approx(0.05, rel=0.01)
    shown = column(page, "section0", f"c{found['columns'].index('net overhead')}")
    assert shown == [f"{100 * row[2]:+.2f} %" for row in found["rows"]]
    assert set(
        page.page.eval_on_selector_all("main img", "all => all.map(each => each.src.slice(0, 26))")
    ) == {"data:image/svg+xml;base64,"}


def test_another_time_is_chosen_and_kept_in_the_address(page: Opened) -> None:
    page.page.select_option("#cells select", "overall")
    page.wait("document.querySelectorAll('#cells .tabulator-row').length === 4")
    assert column(page, "cells", "time") == ["1.50 s", "2.50 s", "1.55 s", "2.70 s"]
    assert "time=overall" in page.page.url
    page.page.reload()
    page.wait("document.documentElement.dataset.ready")
    assert column(page, "cells", "time") == ["1.50 s", "2.50 s", "1.55 s", "2.70 s"]


def test_two_cells_and_the_runs_that_were_kept(page: Opened, study: Study) -> None:
    """Run 6 is of block 1, of tare with 10 steps."""
    rows = page.texts("#two .pair tbody tr:first-child td")
    assert rows[0] == "Net time" and rows[1] == "1.00 s" and rows[3] == "1.05 s"
    assert rows[5].startswith("+") and rows[5].endswith("%")
    (link,) = page.page.eval_on_selector_all("#two a", "all => all.map(each => each.getAttribute('href'))")
    assert link == f"./outputs/run-{KEPT}/run%201"
    run = study.directory / "outputs" / f"run-{KEPT}" / "run 1"
    assert any(f"tare report '{run}'" in text for text in page.texts("#two"))
    page.page.locator("#two select").nth(1).focus()
    page.page.keyboard.press("ArrowDown")  # to the other one of tare
    page.wait("document.querySelector('#two .pair tbody td:nth-child(4)').textContent === '2.20 s'")
    assert "right=3" in page.page.url


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_charts_are_drawn_light_and_dark(page: Opened, colours: str) -> None:
    page.page.emulate_media(color_scheme=colours)
    page.page.locator("#cells .chart").scroll_into_view_if_needed()
    page.wait("document.querySelector('#cells .chart').dataset.ready === '1'")
    assert page.page.evaluate("document.documentElement.dataset.theme") == colours
    assert page.page.locator("#cells .chart canvas").count() == 1


def test_markup_of_the_study_is_in_the_title_alone(study: Study) -> None:
    text = study.page.read_text("utf-8")
    assert text.count("harmed") == 2  # twice in the title, escaped
    assert "<title>What it costs &lt;/script&gt;" in text


def test_what_is_known_is_shown_as_not_measured_where_every_run_failed(
    browser: Any, tare: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "results"
    truth = '[[truth]]\ntime = "net"\npart = "overhead"\nseconds = 0.05\nwhere = { steps = 10 }\n'
    with Store(directory, create=True) as store:
        store.describe({"description": DESCRIPTION + truth})
        add_runs(store)
        store.connection.execute("UPDATE runs SET state = 'failed'")
    done = subprocess.run([tare, "report", directory], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), (directory / "report.html").as_uri())
    assert opened.page.evaluate("document.documentElement.dataset.failed") is None
    assert opened.texts("main h2") == ["The known truth", "The study"]
    assert column(opened, "section0", "c3") == ["50.0 ms"]
    assert column(opened, "section0", "c4") == ["-"]
    assert column(opened, "section0", "c8") == ["not measured"]
    assert opened.texts(".notice")[1] == "28 runs failed; SELECT cell, message FROM runs WHERE state <> 'ok'"
    assert opened.complaints == []
    context.close()


@pytest.mark.parametrize("words", [["STUDY", "--compare", "STUDY"], ["STUDY", "--times", "both"]])
def test_what_a_study_has_not_is_said(study: Study, tare: Path, words: list[str]) -> None:
    command = [str(study.directory) if word == "STUDY" else word for word in words]
    done = subprocess.run([tare, "report", *command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "is a study" in done.stderr


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("foreign_share = NULL, load_before = NULL", ""),
        ("net_s = 'nan' WHERE run % 2 = 0", ""),
        ("net_s = 'inf', wall_s = -1e308", ""),
        ("output_bytes = 1, max_rss_kib = NULL", ""),
        ("events = 9223372036854775807, max_rss_kib = 9223372036854775807, output_bytes = 1", ""),
        ("factors = NULL", "the results are damaged: a run is of no workload"),
        ("block = 1", "the results are damaged: a block has two runs of one cell"),
        ("state = NULL", "there are no results yet: no run ended well, except to warm up"),
    ],
)
def test_results_that_somebody_made_are_shown_or_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, why: str
) -> None:
    directory = tmp_path / "results"
    with Store(directory, create=True) as store:
        store.describe({"description": DESCRIPTION})
        add_runs(store)
        store.connection.execute("UPDATE runs SET net_s = 1000 * net_s WHERE run = 9")  # far from the others
        store.connection.execute(f"UPDATE runs SET {change}")
    capsys.readouterr()
    for command in (["study", "report", str(directory), "--json"], ["report", str(directory)]):
        if not why:
            assert cli.run(command) == 0
            continue
        with pytest.raises(CommandError, match=why):
            cli.run(command)
