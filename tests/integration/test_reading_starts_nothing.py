"""Reading starts no program, whatever a run or study says: neither from Python nor below it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from environments import PYTHON, ROOT
from tare.lab.study.store import Store

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
STUDY = """
[study]
title = "Somebody else's"
repetitions = 6

[workload.app]
command = "{here}/app"
build = ["{here}/marks"]
ranks = 2

[mpi.theirs]
launch = ["{here}/marks", "-n", "{{ranks}}"]
cc = ["{here}/marks"]

[factors]
tool = ["none", "theirs", "tare"]

[tool.theirs]
run = {{ before_program = ["{here}/marks", "{{family}}"], preload = ["libtheirs.so"] }}
usable = {{ trial = ["{here}/marks"], mpi = ["openmpi"] }}
count = {{ with = "command", command = ["{here}/marks"], events = '([0-9]+)' }}
"""
VERBS_OF_RUNS = [
    ["info"], ["profile"], ["where"], ["explain"], ["phases"], ["events"], ["samples"], ["report"],
    ["sql", "SELECT count(*) FROM events"], ["top", "--once"], ["watch", "--alert", "hang"], ["recover"],
    ["diff", RUN], ["merge", "-o", "new.tare"], ["export", "--to", "perfetto", "-o", "new.pftrace"],
    ["export", "--to", "csv", "-o", "new.csv"],
]  # fmt: skip
VERBS_OF_STUDIES = [
    ["study", "report"], ["study", "report", "--json"], ["study", "model"],
    ["study", "export", "--to", "csv", "--into", "tables"],
]  # fmt: skip
PLANS = [["study", "run", "--dry-run"], ["study", "run", "--dry-run", "--skip-unusable"]]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place in which matplotlib has found its fonts already: it starts fc-list for that, once."""
    place = tmp_path_factory.mktemp("matplotlib")
    subprocess.run(
        [PYTHON, "-c", "import matplotlib.pyplot"], env=os.environ | {"MPLCONFIGDIR": str(place)}, check=True
    )
    return place


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    return tmp_path / "marked"


@pytest.fixture
def study(tmp_path: Path, marked: Path) -> Path:
    """The description of a study, with results, each of whose programs leaves a mark."""
    program = tmp_path / "marks"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {marked}\n")
    program.chmod(0o755)
    file = tmp_path / "theirs.toml"
    file.write_text(STUDY.format(here=tmp_path), "utf-8")
    with Store(tmp_path / "theirs-results", create=True) as store:
        store.describe({"description": file.read_text("utf-8")})
        for block in range(7):
            for position, tool in enumerate(("none", "theirs", "tare")):
                levels = {"workload": "app", "tool": tool, "mpi": "theirs", "ranks": "2"}
                cell = " ".join(f"{name}={level}" for name, level in levels.items())
                net_s = 1 + 0.1 * position + 0.001 * block
                store.connection.execute(
                    "INSERT INTO runs (run, set_name, block, position, cell, factors, environment, state, "
                    "net_s, wall_s, hook_s, wrap_s) VALUES (?, '1', ?, ?, ?, ?, 'e', 'ok', ?, ?, 0.1, 0.1)",
                    [10 * block + position, block, position, cell, levels, net_s, net_s],
                )
    return file


def read(place: Path, settled: Path, *arguments: Path | str) -> subprocess.CompletedProcess[str]:
    """Fails if a program is started."""
    program = ROOT / "tests" / "support" / "starts_nothing.py"
    done = subprocess.run(
        [PYTHON, program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=place,
        env=os.environ | {"MPLCONFIGDIR": str(settled)},
    )
    assert "started:" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1), done
    return done


@pytest.mark.parametrize("verb", VERBS_OF_RUNS, ids=lambda verb: verb[0])
def test_a_run(tmp_path: Path, settled: Path, verb: list[str | Path]) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(RUN, run_dir)
    words = [verb[0], run_dir, *verb[1:]]
    done = read(tmp_path, settled, *words)
    assert done.returncode == 0 or verb[0] in ("top", "watch", "samples", "where", "recover"), done.stderr


@pytest.mark.parametrize("verb", VERBS_OF_STUDIES, ids=" ".join)
@pytest.mark.parametrize("named_by", ["file", "results"])
def test_a_study(
    tmp_path: Path, settled: Path, study: Path, marked: Path, verb: list[str], named_by: str
) -> None:
    of = study if named_by == "file" else study.with_name("theirs-results")
    done = read(tmp_path, settled, *verb[:2], of, *verb[2:])
    assert done.returncode == 0 or verb[1] == "model", done.stderr  # which has no flushes
    assert not marked.exists(), marked.read_text()


@pytest.mark.parametrize("named_by", ["file", "results"])
def test_the_page_of_a_study(tmp_path: Path, settled: Path, study: Path, marked: Path, named_by: str) -> None:
    of = study if named_by == "file" else study.with_name("theirs-results")
    assert read(tmp_path, settled, "report", of).returncode == 0
    assert not marked.exists(), marked.read_text()


@pytest.mark.parametrize("verb", PLANS, ids=" ".join)
def test_a_plan(tmp_path: Path, settled: Path, study: Path, marked: Path, verb: list[str]) -> None:
    (tmp_path / "app").write_text("")
    done = read(tmp_path, settled, *verb[:2], study, *verb[2:])
    assert done.returncode == 0, done.stderr
    assert f"    {tmp_path}/marks -n 2 {tmp_path}/marks FAMILY {tmp_path}/app" in done.stdout.splitlines()
    assert not marked.exists(), marked.read_text()


def test_a_study_that_runs_asks_its_launcher(tmp_path: Path, study: Path, marked: Path, tare: Path) -> None:
    """Which shows that the mark would be left."""
    done = subprocess.run([tare, "study", "run", study], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert f"{tmp_path}/marks --version" in marked.read_text()
