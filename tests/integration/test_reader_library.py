"""The reader as a C library: installed, found by CMake and pkg-config, and the same tables as Python's."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tare as tare_package
from environments import ROOT, all_environments, compile_c
from installed import built, succeed
from measured import PROGRAMS, Measurement, measure
from tare.analysis.profile import call_path
from tare.reporters import paths
from tare.runs.run import listed

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
EXAMPLE = ROOT / "examples" / "read_run.cpp"
TABLES = list(listed())


# What the program has none of; and what only a run with further sources of events has.
MAY_BE_EMPTY = {"phases", "clock_violations", "flushes", "missing", "regions", "files"} | {
    f"stack_{name}" for name in ("samples", "frames", "sampling")
}


@pytest.fixture(scope="module")
def by_cmake(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the programs, built by a project that finds tare-reader with CMake."""
    return built(ROOT / "tests" / "reader_consumer", tmp_path_factory.mktemp("consumer"), prefix)


@pytest.fixture(scope="module")
def measured(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    directory = tmp_path_factory.mktemp("run")
    program = compile_c(OPENMPI, [PROGRAMS / "matched.c"], directory / "matched")
    found = measure(
        tare,
        OPENMPI,
        3,
        [program, "20"],
        directory / "run",
        "--trace",
        "--buffer",
        "64K",
        "--sample",
        "random:1",
        "--monitor=10ms",
    )
    assert found.ended.returncode == 0, found.ended.stderr
    return found


def as_text(value: Any) -> str:
    """What the example prints of it. Lists are as in JSON."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "[" + ",".join(map(as_element, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f'"{name}":{as_element(each)}' for name, each in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def as_element(value: Any) -> str:
    return json.dumps(value) if value is None or isinstance(value, str) else as_text(value)


@pytest.mark.parametrize("table", TABLES)
def test_a_program_gets_the_tables_of_python(table: str, by_cmake: Path, measured: Measurement) -> None:
    printed = succeed([by_cmake / "read_run", measured.directory, table])
    header, *rows = csv.reader(io.StringIO(printed))
    expected = pa.table(tare_package.open(measured.directory).tables()[table])
    assert header == expected.column_names
    assert rows == [[as_text(value) for value in row.values()] for row in expected.to_pylist()]
    assert rows or table in MAY_BE_EMPTY


def test_paths_are_those_of_the_verb(measured: Measurement) -> None:
    run = tare_package.open(measured.directory)
    rows = run.rows(run.profile("site"))
    assert [row.path for row in rows] == [paths.one_line(call_path(row.site, run.sites)) for row in rows]


def test_it_lists_what_it_has(by_cmake: Path, measured: Measurement) -> None:
    lines = succeed([by_cmake / "read_run", measured.directory]).splitlines()
    assert lines == [f"{name}: {listed()[name]}" for name in TABLES]


def test_pkg_config_finds_it(prefix: Path, measured: Measurement, tmp_path: Path) -> None:
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = succeed(["pkg-config", "--cflags", "--libs", "tare-reader"], env=environment).split()
    program = tmp_path / "read_run"
    succeed(["c++", "-std=c++17", "-Wall", "-Werror", EXAMPLE, *flags, "-o", program])
    assert succeed([program, measured.directory, "ranks"]).count("\n") == 1 + 3


def copy_of(run: Path, to: Path) -> Path:
    """The run as another one of the same name."""
    shutil.copytree(run, to / run.name)
    meta = to / run.name / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"run_id": 16 * "1"}))
    return to / run.name


def test_an_archive_is_read_too(tare: Path, by_cmake: Path, measured: Measurement, tmp_path: Path) -> None:
    archive = tmp_path / "one.tare"
    succeed([tare, "merge", measured.directory, "-o", archive])
    of_run, of_archive = (
        succeed([by_cmake / "read_run", path, "messages"]) for path in (measured.directory, archive)
    )
    assert of_run == of_archive
    two = tmp_path / "two.tare"
    other = copy_of(measured.directory, tmp_path)
    succeed([tare, "merge", measured.directory, other, "-o", two])
    done = subprocess.run([by_cmake / "read_run", two, "ranks"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    name = measured.directory.name
    assert done.stderr == f"read_run: {two} is an archive: name one of its runs: {name}, {name}-2\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["/no/such/run", "ranks"], "read_run: /no/such/run: no such run directory\n"),
        (
            ["RUN", "colours"],
            "read_run: there is no table colours; there are profile, ranks, missing, locations, ",
        ),
    ],
)
def test_errors_are_one_line(words: list[str], why: str, by_cmake: Path, measured: Measurement) -> None:
    command = [by_cmake / "read_run", *(measured.directory if word == "RUN" else word for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(why)
    assert done.stderr.count("\n") == 1


def test_nothing_but_the_api_is_visible(prefix: Path, by_cmake: Path, tare: Path) -> None:
    library = (prefix / "lib" / "libtare-reader.so").resolve()
    symbols = succeed(["nm", "-D", "--defined-only", library])
    names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    assert names == {
        f"tare_reader_{name}"
        for name in ("version", "error", "tables", "open", "close", "warnings", "open_table")
    }
    assert "libtare-reader.so.0" in succeed(["readelf", "-d", library])
    assert succeed([tare, "--version"]) == f"tare {succeed([by_cmake / 'version']).strip()}\n"
