"""A package that a user installs adds a verb, an exporter and a finding."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import ROOT, all_environments, compile_c
from measured import PROGRAMS, measure

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
EXAMPLE = ROOT / "examples" / "package"


def install(package: Path, into: Path) -> None:
    """Installs it by pip, and without a network."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(into)]
    command = [sys.executable, "-m", "pip", "install", *options, str(package)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place where the example is installed. pip builds beside the sources, so it gets a copy of them."""
    sources = tmp_path_factory.mktemp("sources") / "package"
    shutil.copytree(EXAMPLE, sources)
    into = tmp_path_factory.mktemp("installed")
    install(sources, into)
    return into


def with_packages(place: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The verb, in an environment in which packages are installed in `place`, too."""
    command = [sys.executable, "-P", "-m", "tare", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(place)}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def test_the_verb(place: Path) -> None:
    assert "busiest" in with_packages(place, "--help").stdout
    assert "Example: tare busiest" in with_packages(place, "busiest", "--help").stdout
    done = with_packages(place, "busiest", RUN, "--count", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["rank 1", "rank 0"]
    wrong = with_packages(place, "busiest", RUN, "--count", "0")
    assert (wrong.returncode, wrong.stderr.startswith("tare: --count: 0 is less than 1")) == (2, True)


def test_the_exporter(place: Path, tmp_path: Path) -> None:
    assert "|ranks" in with_packages(place, "export", "--help").stdout.replace("\n", "")
    done = with_packages(place, "export", RUN, "--to", "ranks", "-o", tmp_path / "all.tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t")[0] for line in (tmp_path / "all.tsv").read_text().splitlines()] == ["0", "1"]
    one = with_packages(place, "export", RUN, "--to", "ranks", "--rank", "1", "-o", tmp_path / "one.tsv")
    assert one.returncode == 0
    assert (tmp_path / "one.tsv").read_text().startswith("1\t")
    refused = with_packages(place, "export", RUN, "--to", "ranks", "--from", "1", "-o", tmp_path / "no.tsv")
    assert refused.returncode == 2


def test_the_finding(place: Path, tare: Path, tmp_path: Path) -> None:
    """It is that of a program in which a rank waits for late messages."""
    mpi = next(env for env in all_environments() if env.name == "debian-openmpi")
    program = compile_c(mpi, [PROGRAMS / "planted.c"], tmp_path / "planted")
    run = measure(tare, mpi, 2, [program, "late sender"], tmp_path / "run", "--trace").directory
    found = json.loads(with_packages(place, "explain", run, "--json").stdout)
    own = [each for each in found["findings"] if each["kind"] == "one function"]
    assert [each["function"] for each in own] == ["MPI_Recv"]
    assert own[0]["sentence"] in with_packages(place, "explain", run).stdout.replace("\n    ", " ")
    without = json.loads(with_packages(Path("/nowhere"), "explain", run, "--json").stdout)
    assert [each for each in found["findings"] if each not in own] == without["findings"]
