"""The API as programs use it: installed, found by CMake and pkg-config, called from C, C++ and Fortran."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, MpiEnvironment, compile_c
from installed import built, succeed
from measured import measure

EXAMPLES = ROOT / "examples"
CONSUMER = ROOT / "tests" / "consumer"
LANGUAGES = ["c", "cpp", "f90"]
RECORDED_IN_ALL = {"iterate": 2, "solve": 6, "memory": 3, "restart": 1, "step": 3, "sizes": 3, "log": 1}


@pytest.fixture(scope="module")
def programs(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, built by a project that finds tare with CMake."""
    return built(CONSUMER, tmp_path_factory.mktemp("consumer"), prefix)


def pkg_config(prefix: Path, *options: str) -> list[str]:
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return succeed(["pkg-config", *options, "tare"], env=environment).split()


def api_events(tare: Path, run: Path) -> list[dict[str, Any]]:
    rows = json.loads(succeed([tare, "events", "--json", run]))["rows"]
    return [row for row in rows if "kind" in row]


def expect_example(rows: list[dict[str, Any]]) -> None:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["name"]] = counts.get(row["name"], 0) + 1
    assert counts == RECORDED_IN_ALL
    by_name = {name: [row for row in rows if row["name"] == name] for name in RECORDED_IN_ALL}
    assert [row["begin"] for row in by_name["solve"]] == [True, False] * 3
    assert [row["value"] for row in by_name["memory"]] == [0.0, 1024.0, 2048.0]
    assert [row["parameters"] for row in by_name["step"]] == [[0, 0.0], [-1, 0.5], [-2, 1.0]]
    assert [row["parameters"] for row in by_name["sizes"]] == [[1, 1000, 2**64 - 1]] * 3
    assert by_name["log"][0]["text"] == "converged"
    kinds = {name: found[0]["kind"] for name, found in by_name.items()}
    assert kinds == {
        "iterate": "phase",
        "solve": "region",
        "memory": "counter",
        "restart": "marker",
        "step": "event",
        "sizes": "packed",
        "log": "raw",
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_run_nothing_happens(language: str, programs: Path, tmp_path: Path) -> None:
    assert succeed([programs / f"events_{language}"], cwd=tmp_path) == "not recorded\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_makes_a_run_of_its_own(language: str, programs: Path, tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "own run"
    assert succeed([programs / f"events_{language}", run]) == "recorded\n"
    expect_example(api_events(tare, run))


@pytest.mark.parametrize("language", LANGUAGES)
def test_events_go_to_the_run_of_the_command(
    language: str, programs: Path, tare: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    program = programs / f"events_{language}"
    own = tmp_path / "own"
    out = succeed([tare, "run", "--quiet", "--trace", "-o", run, "--", program, own])
    assert out == "recorded\n"
    assert not own.exists()
    expect_example(api_events(tare, run))


def test_regions_lie_around_calls_of_mpi(
    mpi: MpiEnvironment, prefix: Path, tare: Path, tmp_path: Path
) -> None:
    flags = pkg_config(prefix, "--cflags", "--libs")
    program = compile_c(mpi, [CONSUMER / "with_mpi.c"], tmp_path / "with_mpi", *flags)
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    for rank in ("0", "1"):
        rows = json.loads(succeed([tare, "events", "--json", "--rank", rank, measured.directory]))["rows"]
        all_names = [row.get("name") or row["function"] for row in rows]
        names = [name for name in all_names if name in ("exchange", "MPI_Barrier")]
        assert names == ["exchange", "MPI_Barrier", "exchange"]


def test_pkg_config_is_all_that_a_compiler_needs(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    flags = pkg_config(prefix, "--cflags", "--libs")
    [module] = pkg_config(prefix, "--variable=fortran_source")
    strict = ["-Wall", "-Wextra", "-Werror"]
    commands: list[list[str | Path]] = [
        ["cc", "-std=c99", "-pedantic", *strict, EXAMPLES / "events.c"],
        ["c++", "-std=c++17", "-pedantic", *strict, EXAMPLES / "events.cpp"],
        ["gfortran", "-std=f2018", *strict, module, EXAMPLES / "events.f90"],
    ]
    for command in commands:
        program = tmp_path / f"events-{command[0]}"
        succeed([*command, "-o", program, *flags], cwd=tmp_path)
        assert succeed([program], cwd=tmp_path) == "not recorded\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ('tare::event<const char*> e{"e"};', "a parameter is an integer"),
        ('tare::event<int,int,int,int,int,int,int,int,int,int,int> e{"e"};', "at most 10 parameters"),
        ('tare::packed e{"e"}; e(1.0);', "a packed parameter is an integer"),
    ],
)
def test_the_compiler_says_what_cannot_be_recorded(statement: str, message: str, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text(f"#include <tare/tare.hpp>\nint main() {{ {statement} }}\n")
    command = ["c++", "-std=c++17", "-fsyntax-only", f"-I{ROOT / 'include'}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert message in done.stderr
