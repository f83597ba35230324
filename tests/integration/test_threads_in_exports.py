"""OpenMP's constructs and samples of stacks lie on the rows of their threads, in exports and in the page."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import perfetto_trace
import pytest
from browser import Opened
from environments import ROOT
from exporting import exported, rows

SOURCE = ROOT / "examples" / "uneven.c"


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
        assert names >= {"omp_implicit_task", "stack_sample"}
    return found


def per_thread(counts: Counter[tuple[str, str]]) -> list[dict[str, int]]:
    """How many there are of each name, of each row, whatever the rows are called."""
    found: dict[str, dict[str, int]] = {}
    for (thread, name), number in counts.items():
        found.setdefault(thread, {})[name] = number
    return sorted(found.values(), key=lambda names: sorted(names.items()))


def test_perfetto(tare: Path, run: Path, events: list[dict[str, Any]], tmp_path: Path) -> None:
    slices = perfetto_trace.read(exported(tare, run, "perfetto", tmp_path / "out"))
    slices = [each for each in slices if re.match("omp_|stack_", each.name)]
    expected = Counter((str(row["thread"]), str(row["function"])) for row in events)
    assert per_thread(Counter((each.thread, each.name) for each in slices)) == per_thread(expected)
    # Each with its place.
    places = Counter((row["function"], row["file"] or "", row["line"] or 0) for row in events)
    assert Counter((each.name, each.file, each.line) for each in slices) == places
    assert {line for name, file, line in places if name == "stack_sample" and file == str(SOURCE)}


def test_paje(tare: Path, run: Path, events: list[dict[str, Any]], tmp_path: Path) -> None:
    trace = exported(tare, run, "paje", tmp_path / "out")
    done = subprocess.run(["pj_dump", "-u", trace], capture_output=True, text=True, timeout=60, check=True)
    states = [row for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True) if row[0] == "State"]
    found = Counter((row[1], row[7]) for row in states if re.match("omp_|stack_", row[7]))
    expected = Counter((str(row["thread"]), str(row["function"])) for row in events)
    assert per_thread(found) == per_thread(expected)


def test_folded_stacks_have_each_time_once(tare: Path, run: Path, tmp_path: Path) -> None:
    """Regions contain what the samples show."""
    folded = exported(tare, run, "folded", tmp_path / "out").read_text().splitlines()
    done = subprocess.run(
        [tare, "profile", run, "--by", "function", "--json"], capture_output=True, text=True, check=True
    )
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
    done = subprocess.run(
        [tare, "profile", to, "--by", "function", "--json"], capture_output=True, text=True, check=True
    )
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
