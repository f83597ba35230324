"""mpi4py's own test suite passes, fails and skips the same tests under `tare run --trace` as without.

By default on two ranks without the slow modules; with TARE_FULL_MPI4PY=1 all of it, also on one, which takes
up to an hour.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from environments import PYTHON, ROOT, MpiEnvironment, mpich4, openmpi4, run
from measured import Measurement, measure

SUITE = ROOT / "build" / "mpi4py"
FULL = os.environ.get("TARE_FULL_MPI4PY") == "1"
TIMEOUT_S = 1500 if FULL else 500
LEAST_TESTS = 1500

# Each takes as long as all others together: processes started by the hundred, files, every datatype.
SLOW = ["test_spawn", "test_dynproc", "test_io", "test_datatype"]
# These never end on more than one rank of Debian's MPICH, with or without tare: a lock waits for the
# progress of a rank that is not inside MPI.
ENDLESS = {("debian-mpich", 2): ["test_util_sync"]}


@dataclass(frozen=True)
class Result:
    """What the suite said at its end, and about each test."""

    exit_code: int
    tests: int
    verdict: str  # "OK (skipped=12)", "FAILED (failures=1, errors=2)"
    outcomes: frozenset[tuple[str, str]]


@pytest.mark.timeout(2 * TIMEOUT_S + 60)
@pytest.mark.parametrize("ranks", [1, 2] if FULL else [2])
@pytest.mark.parametrize("mpi", [openmpi4(), mpich4()], ids=lambda env: env.name, indirect=True)
def test_same_result(ranks: int, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    left_out = ENDLESS.get((mpi.name, ranks), []) + ([] if FULL else SLOW)
    options = [word for module in left_out for word in ("-e", rf"{module}\.py")]
    suite: list[Path | str] = [PYTHON, SUITE / "test" / "main.py", "-v", *options]
    plain = result(run(mpi, ranks, suite, timeout_s=TIMEOUT_S, cwd=SUITE))
    assert plain.tests > LEAST_TESTS

    measured = measure(tare, mpi, ranks, suite, tmp_path / "run", "--trace", timeout_s=TIMEOUT_S, cwd=SUITE)
    under_tare = result(measured.ended)
    differences = sorted(under_tare.outcomes ^ plain.outcomes)
    assert (under_tare.exit_code, under_tare.tests, under_tare.verdict) == (
        plain.exit_code,
        plain.tests,
        plain.verdict,
    ), differences or measured.ended.stderr[-2000:]
    assert_measured(measured, ranks)


def assert_measured(measured: Measurement, ranks: int) -> None:
    info = measured.info()
    first_world = [row for row in info["ranks"] if row["size"] == ranks]
    assert [row["state"] for row in first_world[:ranks]] == ["finished"] * ranks
    assert info["trace"]["events"] > 0
    assert info["trace"]["dropped"] == 0
    functions = set(measured.calls())
    assert {"MPI_Init_thread", "MPI_Barrier", "MPI_Request_free", "MPI_Win_free", "MPI_Finalize"} <= functions


def result(ended: subprocess.CompletedProcess[str]) -> Result:
    text = ended.stdout + ended.stderr
    ran = re.findall(r"^Ran (\d+) tests? in", text, re.MULTILINE)
    verdicts = re.findall(r"^(?:OK|FAILED)\b.*$", text, re.MULTILINE)
    assert ran and verdicts, f"the suite did not reach its end:\n{text[-3000:]}"
    outcomes = re.findall(r"^\w+ \((\S+)\) \.\.\. (ok|FAIL|ERROR|skipped)", text, re.MULTILINE)
    return Result(ended.returncode, int(ran[-1]), verdicts[-1], frozenset(outcomes))
