"""OpenMP's constructs and samples of stacks lie on the rows of their threads, in exports and in the page."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import otf2_trace
import perfetto_trace
import perfetto_ui
import pytest
import tare as library
from browser import Opened
from environments import ROOT
from exporting import exported, rows
from verbs import ask

SOURCE = ROOT / "examples" / "uneven.c"
SAMPLE = "stack_sample"

BARRIER = """#include <omp.h>
#include <unistd.h>
int main(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num()) usleep(20000);
#pragma omp barrier
  }
}
"""


@pytest.fixture(scope="module")
def run(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two threads."""
    folder = tmp_path_factory.mktemp("threads")
    program, to = folder / "uneven", folder / "run"
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", SOURCE, "-o", program, "-lm"], check=True)
    command: list[Path | str] = [
        tare,
        "run",
        "-q",
        "--trace",
        "--with",
        "openmp,stacks",
        "-o",
        to,
        "--",
        program,
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, timeout=120, check=True)
    return to


@pytest.fixture(scope="module")
def events(tare: Path, run: Path) -> list[dict[str, Any]]:
    found = [row for row in rows(tare, run) if re.match("omp_|stack_", str(row["function"]))]
    threads = {row["thread"] for row in found}
    assert len(threads) == 2
    for thread in threads:
        names = {row["function"] for row in found if row["thread"] == thread}
        assert names >= {"omp_implicit_task", SAMPLE}
    return found


def constructs_of(events: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """How many there are of each construct of OpenMP, by thread."""
    return Counter((str(row["thread"]), row["function"]) for row in events if row["function"] != SAMPLE)


def per_thread(counts: Counter[tuple[str, str]]) -> list[dict[str, int]]:
    """How many there are of each name, of each row, whatever the rows are called."""
    found: dict[str, dict[str, int]] = {}
    for (thread, name), number in counts.items():
        found.setdefault(thread, {})[name] = number
    return sorted(found.values(), key=lambda names: sorted(names.items()))


def test_perfetto(tare: Path, run: Path, events: list[dict[str, Any]], tmp_path: Path) -> None:
    """Each construct has its place and its arguments."""
    slices = perfetto_trace.read(exported(tare, run, "perfetto", tmp_path / "out"))
    found = Counter((each.thread, each.name) for each in slices)
    assert per_thread(found) == per_thread(constructs_of(events))
    constructs = [row for row in events if row["function"] != SAMPLE]
    told = [(each.name, each.file, each.line, sorted(each.arguments.items())) for each in slices]
    assert sorted(told) == sorted(
        (row["function"], row["file"] or "", row["line"] or 0, arguments_of(row)) for row in constructs
    )
    assert {each.arguments["threads"] for each in slices if each.name == "omp_parallel"} == {2}


def stack_of(path: Any) -> tuple[tuple[str, ...], str, int]:
    """The functions, the outermost first, and the place in the last one."""
    return (
        tuple(frame.caller or "(unknown)" for frame in reversed(path)),
        path[0].file or "",
        path[0].line or 0,
    )


def arguments_of(row: dict[str, Any]) -> list[tuple[str, int]]:
    return sorted((name, value) for name, value in row["arguments"].items() if name != "object")


def test_samples_in_perfetto(tare: Path, run: Path, events: list[dict[str, Any]], tmp_path: Path) -> None:
    """They are no slices, and each has its stack."""
    found = perfetto_trace.samples(exported(tare, run, "perfetto", tmp_path / "out"))
    expected = [row for row in events if row["function"] == SAMPLE]
    of_threads = Counter((str(row["thread"]), SAMPLE) for row in expected)
    assert per_thread(Counter((each.thread, SAMPLE) for each in found)) == per_thread(of_threads)
    zero = min(row["start_ns"] for row in expected) - min(each.time for each in found)
    opened = library.open(run)
    stacks = Counter(
        (row.start_ns - zero, *stack_of(opened.sites[row.site].path))  # type: ignore[index]
        for row in opened.rows(opened.event_table())
        if row.function == SAMPLE
    )
    assert Counter((each.time, each.functions, each.file, each.line) for each in found) == stacks
    assert sum("term" in each.functions[-1] and each.file == str(SOURCE) for each in found) > len(found) / 2


def test_perfetto_itself_shows_samples(
    tare: Path, run: Path, events: list[dict[str, Any]], browser: Any
) -> None:
    with perfetto_ui.viewing(tare, run, browser) as (query, _page):
        found = query(
            "SELECT thread.name AS name, count(callsite_id) AS n FROM perf_sample JOIN thread USING (utid)"
            " GROUP BY utid"
        )
        of_threads = Counter(row["thread"] for row in events if row["function"] == SAMPLE)
        assert sorted(number for _, number in found) == sorted(of_threads.values())
        functions = query("SELECT DISTINCT name, 1 AS n FROM stack_profile_frame")
        assert any("term" in name for name, _ in functions)
        wrong = "SELECT name, value AS n FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"
        assert query(wrong) == []


def test_otf2(tare: Path, run: Path, events: list[dict[str, Any]], tmp_path: Path) -> None:
    """It has no place for samples among calls."""
    trace = otf2_trace.read(exported(tare, run, "otf2", tmp_path / "out"))
    found = Counter((str(each["thread"]), each["name"]) for each in trace.spans)
    assert per_thread(found) == per_thread(constructs_of(events))


def test_paje(tare: Path, run: Path, events: list[dict[str, Any]], tmp_path: Path) -> None:
    """It has no samples, as its states are calls."""
    trace = exported(tare, run, "paje", tmp_path / "out")
    done = subprocess.run(["pj_dump", "-u", trace], capture_output=True, text=True, timeout=60, check=True)
    states = [row for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True) if row[0] == "State"]
    found = Counter((row[1], row[7]) for row in states)
    assert per_thread(found) == per_thread(constructs_of(events))
    assert {row[8] for row in states if row[7] == "omp_parallel"} == {"uneven.c:17"}


def test_folded_stacks_have_each_time_once(tare: Path, run: Path, tmp_path: Path) -> None:
    """Regions contain what the samples show."""
    folded = exported(tare, run, "folded", tmp_path / "out").read_text().splitlines()
    done = ask(tare, "profile", run, "--by", "function", "--json", check=True)
    functions = json.loads(done.stdout)["functions"]
    names = {each["function"] for each in functions}
    assert {"omp_parallel", "omp_implicit_task"} <= names
    assert not re.search("omp_parallel|omp_implicit_task", "\n".join(folded))
    in_program = sum(each["time_ns"] for each in functions if each["source"] == "program")
    assert sum(int(line.rpartition(" ")[2]) for line in folded) == in_program


def test_folded_stacks_have_each_time_once_without_samples(tare: Path, tmp_path: Path) -> None:
    """What contains other constructs is left out; what is in it is there: here, the barrier of a region."""
    source, program, to = tmp_path / "barrier.c", tmp_path / "barrier", tmp_path / "run"
    source.write_text(BARRIER)
    subprocess.run(["gcc", "-g", "-fopenmp", source, "-o", program], check=True)
    subprocess.run([tare, "run", "-q", "--with", "openmp", "-o", to, "--", program], timeout=120, check=True)
    done = ask(tare, "profile", to, "--by", "function", "--json", check=True)
    times = {row["function"]: row["time_ns"] for row in json.loads(done.stdout)["rows"]}
    assert times["omp_parallel"] > times["omp_barrier"] > 0
    folded = exported(tare, to, "folded", tmp_path / "out").read_text().splitlines()
    assert {line.rpartition(" ")[0].rpartition(";")[2] for line in folded} == {"omp_barrier"}
    assert sum(int(line.rpartition(" ")[2]) for line in folded) == times["omp_barrier"]


def test_the_timeline_of_the_page(tare: Path, run: Path, browser: Any, tmp_path: Path) -> None:
    to = tmp_path / "page.html"
    subprocess.run([tare, "report", run, "-o", to], capture_output=True, timeout=60, check=True)
    context = browser.new_context(viewport={"width": 1200, "height": 800}, offline=True)
    opened = Opened(context.new_page(), f"{to.as_uri()}#timeline")
    assert len(opened.texts("#timeline .labels button")) == 2
    assert "main" in opened.texts("#flames .flame")
    assert opened.complaints == []
    context.close()
