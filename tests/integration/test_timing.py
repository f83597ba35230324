"""The timing library: net and hook time of every rank, above any tool, on every MPI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environments import PYTHON, MpiEnvironment, compile_c, compile_fortran, run
from measured import PROGRAMS, measure
from on_mpi import both_debian, on_openmpi

SOURCES = PROGRAMS / "timing"
SLEEP_NS = 100_000_000
INIT_NS, FINALIZE_NS = 60_000_000, 40_000_000  # of slow_tool
# A sleep ends late on a busy machine.
LATE_NS = 60_000_000
# Two clock readings side by side are this far apart when another process runs between them.
APART_NS = 20_000_000


def compares_times(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that compares times: on a busy machine, a difference counts if it is there every time."""
    marked: Callable[..., None] = pytest.mark.alone(pytest.mark.flaky(reruns=2)(test))
    return marked


def library(tare: Path) -> tuple[Path, Path]:
    (found,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare-timing.so")
    return found.parent / "tare-timing", found


def recorded(mpi: MpiEnvironment, out: Path, **extra: str) -> MpiEnvironment:
    return replace(mpi, env={**mpi.env, "TARE_TIMING": str(out / "timing"), **extra})


def timed(
    mpi: MpiEnvironment,
    tare: Path,
    ranks: int,
    program: Sequence[Path | str],
    out: Path,
    **extra: str,
) -> tuple[list[dict[str, Any]], str]:
    """The records by rank, and the output."""
    ended = run(recorded(mpi, out, **extra), ranks, [*library(tare), *program])
    assert ended.returncode == 0, ended.stderr
    return records(out), ended.stdout


def records(out: Path) -> list[dict[str, Any]]:
    lines = [line for file in out.glob("timing.*") for line in file.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda record: int(record["rank"]))


@compares_times
@pytest.mark.parametrize("mode", ["init", "thread"])
def test_times_of_every_rank(mpi: MpiEnvironment, tare: Path, tmp_path: Path, mode: str) -> None:
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed")
    found, printed = timed(mpi, tare, 2, [program, mode], tmp_path)
    own = sorted([int(word) for word in line.split()] for line in printed.splitlines())
    assert [record["rank"] for record in found] == [0, 1]
    assert [record["ranks"] for record in found] == [2, 2]
    for record, (_, init, net, finalize) in zip(found, own, strict=True):
        assert record["entered"] == ("MPI_Init" if mode == "init" else "MPI_Init_thread")
        # The program's clock readings lie outside MPI_Init and inside net time.
        assert init - APART_NS < record["init_ns"] <= init
        assert net <= record["net_ns"] < net + APART_NS
        assert finalize - APART_NS < record["finalize_ns"] <= finalize
        assert record["net_ns"] == record["finalize_enter_ns"] - record["init_leave_ns"]
        assert record["start_ns"] < record["init_enter_ns"] < record["finalize_leave_ns"] < record["end_ns"]
        assert record["max_rss_kib"] > 1000
        assert 0 <= record["net_user_ns"] <= record["user_ns"]


def test_fortran(mpi_fortran: tuple[MpiEnvironment, str], tare: Path, tmp_path: Path) -> None:
    mpi, binding = mpi_fortran
    text = (SOURCES / "timed.f90").read_text()
    head = text.replace("use MODULE\n  implicit none", "implicit none\n  include 'mpif.h'")
    source = tmp_path / "timed.f90"
    source.write_text(head if binding == "mpif.h" else text.replace("MODULE", binding))
    program = compile_fortran(mpi, [source], tmp_path / "timed")
    found, _ = timed(mpi, tare, 2, [program], tmp_path)
    assert [record["rank"] for record in found] == [0, 1]
    for record in found:
        assert record["net_ns"] >= 200_000_000
        assert record["init_ns"] > 0
        assert record["entered"].lower().startswith("mpi_init"), "the outermost function"
        assert (record["inits"], record["finalizes"]) == (1, 1)


def test_python(mpi_python: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    script = "from mpi4py import MPI; import time; time.sleep(0.1)"
    found, _ = timed(mpi_python, tare, 2, [PYTHON, "-c", script], tmp_path)
    assert [record["rank"] for record in found] == [0, 1]
    assert all(record["net_ns"] >= SLEEP_NS for record in found)


@compares_times
def test_sessions(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed")
    if "MPI_Session_init" not in subprocess.run(["nm", program], capture_output=True, text=True).stdout:
        assert mpi.family == "openmpi", "only Open MPI is without sessions"
        return
    (record,), _ = timed(mpi, tare, 1, [program, "session"], tmp_path)
    assert (record["inits"], record["finalizes"]) == (2, 2)
    assert SLEEP_NS <= record["net_ns"] < SLEEP_NS + LATE_NS
    assert record["init_ns"] > record["init_leave_ns"] - record["init_enter_ns"], "both are counted"


@compares_times
@pytest.mark.parametrize("where", ["linked", "preloaded"])
def test_another_tool_is_within_the_hooks(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, where: str
) -> None:
    tool = compile_c(mpi, [SOURCES / "slow_tool.c"], tmp_path / "libslow.so", "-shared", "-fPIC")
    linked = ["-Wl,--no-as-needed", str(tool), f"-Wl,-rpath,{tmp_path}"] if where == "linked" else []
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed", *linked)
    extra = {} if linked else {"LD_PRELOAD": str(tool)}
    (record,), _ = timed(mpi, tare, 1, [program], tmp_path, **extra)
    assert record["entered"] == "MPI_Init"
    assert record["init_ns"] > INIT_NS
    assert record["finalize_ns"] > FINALIZE_NS
    assert record["net_ns"] < SLEEP_NS + LATE_NS


@compares_times
def test_above_tare_both_see_everything(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed")
    measured = measure(tare, recorded(mpi, tmp_path), 2, [*library(tare), program], tmp_path / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.calls()["MPI_Init"] == 2
    assert measured.calls()["MPI_Finalize"] == 2
    nets = [row["net_ns"] for row in measured.info()["ranks"]]
    for record, net in zip(records(tmp_path), nets, strict=True):
        assert record["entered"] == "MPI_Init"
        assert abs(record["net_ns"] - net) < LATE_NS, "the same definition as tare's own"
        # tare's wrapper of MPI_Init lies within the hook.
        assert record["init_ns"] > 0


@compares_times
@both_debian
def test_above_eztrace(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    if shutil.which("eztrace") is None:
        pytest.fail("eztrace is not installed (run `make test`)", pytrace=False)
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed")
    eztrace: list[Path | str] = ["eztrace", "-t", mpi.family, "-o", tmp_path / "trace"]
    ended = run(recorded(mpi, tmp_path), 2, [*eztrace, *library(tare), program])
    assert ended.returncode == 0, ended.stderr
    assert [record["rank"] for record in records(tmp_path)] == [0, 1]
    assert all(SLEEP_NS <= record["net_ns"] < SLEEP_NS + LATE_NS for record in records(tmp_path))
    assert any(file.stat().st_size for file in (tmp_path / "trace").rglob("*") if file.is_file())


@both_debian
def test_above_eztrace_that_writes_nothing(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """EZTrace hands on the LD_PRELOAD that it was given and one of its own: two variables of that name."""
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed")
    eztrace: list[Path | str] = ["eztrace", "-t", mpi.family, "-o", tmp_path / "trace"]
    unwritten = library(tare)[1].with_name("libtare-otf2-unwritten.so")
    ended = run(recorded(mpi, tmp_path, LD_PRELOAD=str(unwritten)), 2, [*eztrace, *library(tare), program])
    assert ended.returncode == 0, ended.stderr
    assert [record["rank"] for record in records(tmp_path)] == [0, 1]
    assert not any(file.is_file() for file in (tmp_path / "trace").rglob("*"))


@on_openmpi
def test_a_forked_child_is_no_rank(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [SOURCES / "timed.c"], tmp_path / "timed")
    found, _ = timed(mpi, tare, 1, [program, "fork"], tmp_path)
    assert len(found) == 1


def test_programs_without_mpi_leave_no_record(tare: Path, tmp_path: Path) -> None:
    command = [*map(str, library(tare)), "sh", "-c", "true; ls / >/dev/null"]
    subprocess.run(command, check=True, env={**os.environ, "TARE_TIMING": str(tmp_path / "timing")})
    assert records(tmp_path) == []


@compares_times
def test_it_costs_little(tare: Path, tmp_path: Path) -> None:
    """The MPI takes no time: below a microsecond beside its one system call; the fastest run."""

    def compiled(name: str, *flags: str) -> Path:
        out = tmp_path / name
        subprocess.run(["cc", "-O2", SOURCES / flags[0], "-o", out, *flags[1:]], check=True)
        return out

    compiled("libinstant.so", "instant_mpi.c", "-shared", "-fPIC")
    program = compiled("instant", "instant.c", f"-L{tmp_path}", "-linstant", f"-Wl,-rpath,{tmp_path},-z,now")
    variables = {**os.environ, "TARE_TIMING": str(tmp_path / "timing")}

    def fastest(prefix: Sequence[Path]) -> list[int]:
        runs = [
            subprocess.run([*prefix, program], env=variables, capture_output=True, text=True, check=True)
            for _ in range(30)
        ]
        return [min(int(done.stdout.split()[which]) for done in runs) for which in (0, 1, 2)]

    (*bare, system_call), with_library = fastest([]), fastest(library(tare))
    assert len(records(tmp_path)) == 30
    for before, after in zip(bare, with_library[:2], strict=True):
        assert after - before - system_call < 1000
