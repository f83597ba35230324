"""What a program is told of its monitoring tree, in C, Fortran and Python."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import PYTHON, ROOT, MpiEnvironment, compile_c, compile_fortran, openmpi4, run
from measured import PROGRAMS, WITH_API, Measurement, measure
from on_mpi import both_families
from tare._native import Pace
from tare.runs.rounds import RoundFile

RANKS = 2
NS = 1e-9
TIMES = {"boi", "boi_spread", "resting_delay", "delay", "direct_cost"}


UNKNOWN, MEASURED, CACHED, INTERPOLATED = range(4)  # as tare.h has them


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is known from one run to the next is of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tare" / "sweetspots.json"


def told(measured: Measurement) -> list[dict[str, Any]]:
    assert measured.ended.returncode == 0, measured.ended.stderr
    lines = [json.loads(line) for line in measured.ended.stdout.splitlines()]
    assert len(lines) == RANKS
    return lines


def found_in(run_dir: Path) -> Pace:
    """The decision with which the search ended."""
    (path,) = run_dir.glob("monitor-*.tare")
    file = RoundFile(path)
    list(file.read())
    return next(pace for pace in file.paces if pace.boi_ns > 0)


@both_families
def test_a_program_is_told_what_the_search_found(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "asks.c"], tmp_path / "asks", *WITH_API)
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--monitor=auto:20ms")
    lines = told(measured)
    pace = found_in(measured.directory)
    for line in lines:
        before, now, other = line["before"], line["now"], line["other"]
        assert before["known"] == 0 and before["boi"] == before["overall_cost_deviation"] == -1
        assert now["known"] == 1 and now["source"] == MEASURED
        assert now["boi"] == pytest.approx(pace.boi_ns * NS)
        assert now["resting_delay"] == pytest.approx(pace.rest_ns * NS)
        assert all(now[name] >= 0 for name in TIMES)
        # Points of auto are a millisecond apart.
        assert now["boi"] >= 0.001 and (now["is_bound"] == 0 or now["boi"] == 0.001)
        assert 1 <= now["events"] < 100
        assert 0 < now["delay"] < 60 and 0 < now["direct_cost"] < 0.1
        assert now["overall_cost"] == now["overall_cost_deviation"] == -1, (
            "points of the clock are no iterations"
        )
        assert (
            other["known"] == other["source"] == UNKNOWN
            and other["events"] == 1_000_000
            and other["direct_cost"] == -1
        )
    assert lines[0]["now"]["events"] == lines[1]["now"]["events"]


@both_families
def test_without_a_monitor_nothing_is_known(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "asks.c"], tmp_path / "asks", *WITH_API)
    plain = run(mpi, RANKS, [program, "points"])
    assert plain.returncode == 0, plain.stderr
    profiled = measure(tare, mpi, RANKS, [program, "points"], tmp_path / "run")
    for line in [*map(json.loads, plain.stdout.splitlines()), *told(profiled)]:
        for spot in line.values():
            assert spot["known"] == spot["source"] == UNKNOWN
            assert all(
                value == -1
                for name, value in spot.items()
                if name not in ("known", "events", "source", "is_bound")
            )


def test_what_a_run_has_found_is_known_to_the_next_one(tare: Path, tmp_path: Path, cache: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "asks.c"], tmp_path / "asks", *WITH_API)
    first = told(measure(tare, mpi, RANKS, [program], tmp_path / "first", "--monitor=auto:20ms"))[0]["now"]
    assert cache.is_file()
    for line in told(measure(tare, mpi, RANKS, [program], tmp_path / "second", "--monitor=50ms")):
        now = line["now"]
        assert now["known"] == 1 and now["source"] == CACHED
        for name in ("events", "is_bound", "boi", "resting_delay"):
            assert now[name] == pytest.approx(first[name], rel=1e-6)
        assert now["delay"] >= 0 and now["direct_cost"] >= 0, "these are of this run"
        assert line["other"]["source"] == UNKNOWN


def test_what_sweetspot_has_found_is_known_to_runs_of_such_trees(
    tare: Path, tmp_path: Path, cache: Path
) -> None:
    sizes = "1,16,32"
    options = ("--ranks", str(RANKS), "--fan-out", str(RANKS), "--events", sizes, "--brief", "--json")
    probed = subprocess.run(
        [tare, "sweetspot", *options],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    found = json.loads(probed.stdout)["trees"]
    boi = {tree["events"]: tree["boi_ns"] * NS for tree in found}
    direct = {tree["events"]: tree["direct_offload_ns"] * NS for tree in found}
    assert sorted(boi) == [1, 16, 32] and cache.is_file()
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "asks.c"], tmp_path / "asks", *WITH_API)
    for line in told(measure(tare, mpi, RANKS, [program], tmp_path / "run", "--monitor=50ms")):
        assert line["of_16"]["source"] == CACHED and line["of_16"]["boi"] == pytest.approx(boi[16], abs=1e-9)
        assert line["of_16"]["direct_cost"] == pytest.approx(direct[16], abs=1e-9)
        assert min(direct[16], direct[32]) <= line["of_23"]["direct_cost"] + 1e-9
        between = line["of_23"]
        assert between["source"] == INTERPOLATED and between["events"] == 23
        share = math.log(23 / 16) / math.log(32 / 16)
        assert between["boi"] == pytest.approx(boi[16] * (boi[32] / boi[16]) ** share, rel=1e-3)
        # How many events the ranks have offloaded so far depends on when the program asks.
        events = line["now"]["events"]
        assert 1 <= events <= 32
        assert line["now"]["source"] == (CACHED if events in boi else INTERPOLATED)
        assert line["other"]["source"] == UNKNOWN and line["other"]["known"] == 0
    # A run with another filter forms another tree.
    spec = "--monitor=auto:20ms,filter=statistics"
    for line in told(measure(tare, mpi, RANKS, [program], tmp_path / "other", spec)):
        assert line["of_16"]["source"] == line["of_23"]["source"] == UNKNOWN


def test_fortran_is_told_the_same(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    sources = [ROOT / "fortran" / "tare.f90", PROGRAMS / "asks.f90"]
    program = compile_fortran(mpi, sources, tmp_path / "asks", *WITH_API)
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--monitor=auto:20ms")
    assert measured.ended.returncode == 0, measured.ended.stderr
    lines = [line.split()[1:] for line in measured.ended.stdout.splitlines() if line.startswith("asked")]
    assert len(lines) == RANKS
    for events, boi, delay, other_is_known, other_boi, *asked in lines:
        assert asked == ["T", "T"]
        assert int(events) > 0 and float(delay) > 0
        assert float(boi) == pytest.approx(found_in(measured.directory).boi_ns * NS)
        assert (other_is_known, float(other_boi)) == ("F", -1)


def test_python_is_told_the_same(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    measured = measure(
        tare, mpi, RANKS, [PYTHON, PROGRAMS / "asks.py"], tmp_path / "run", "--monitor=auto:20ms"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    lines = [line.split()[1:] for line in measured.ended.stdout.splitlines() if line.startswith("asked")]
    assert len(lines) == RANKS
    for events, boi, delay, direct, source in lines:
        assert source == "measured"
        assert int(events) > 0 and float(delay) > 0 and float(direct) > 0
        assert float(boi) == pytest.approx(found_in(measured.directory).boi_ns * NS)
