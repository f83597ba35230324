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
MIN_TESTS = 1500

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
    verdicts: frozenset[str]  # of the ranks: "OK (skipped=12)", "FAILED (failures=1, errors=2)"
    outcomes: frozenset[tuple[str, str]]


@pytest.mark.timeout(2 * TIMEOUT_S + 60)
@pytest.mark.parametrize("ranks", [1, 2] if FULL else [2])
@pytest.mark.parametrize(
    "mpi",
    [pytest.param(each, marks=pytest.mark.long) for each in (openmpi4(), mpich4())],
    ids=lambda env: env.name,
    indirect=True,
)
def test_same_result(ranks: int, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    left_out = ENDLESS.get((mpi.name, ranks), []) + ([] if FULL else SLOW)
    options = [word for module in left_out for word in ("-e", rf"{module}\.py")]
    suite: list[Path | str] = [PYTHON, SUITE / "test" / "main.py", "-v", *options]
    plain = result(
        run(mpi, ranks, told_apart(suite, tmp_path / "plain"), timeout_s=TIMEOUT_S, cwd=SUITE),
        tmp_path / "plain",
    )
    assert plain.tests > MIN_TESTS

    measured = measure(
        tare,
        mpi,
        ranks,
        told_apart(suite, tmp_path / "measured"),
        tmp_path / "run",
        "--trace",
        timeout_s=TIMEOUT_S,
        cwd=SUITE,
    )
    under_tare = result(measured.ended, tmp_path / "measured")
    differences = sorted(under_tare.outcomes ^ plain.outcomes)
    assert (under_tare.exit_code, under_tare.tests, under_tare.verdicts) == (
        plain.exit_code,
        plain.tests,
        plain.verdicts,
    ), differences or measured.ended.stderr[-2000:]
    assert_measured(measured, ranks)


def assert_measured(measured: Measurement, ranks: int) -> None:
    info = measured.info()
    first_world = [row for row in info["ranks"] if row["size"] == ranks]
    assert [row["state"] for row in first_world[:ranks]] == ["finished"] * ranks
    assert info["trace"]["records"] > 0
    assert info["trace"]["dropped"] == 0
    functions = set(measured.calls())
    assert {"MPI_Init_thread", "MPI_Barrier", "MPI_Request_free", "MPI_Win_free", "MPI_Finalize"} <= functions


def told_apart(command: list[Path | str], into: Path) -> list[Path | str]:
    """The command with the standard error of each rank in a file of its own in `into`.

    unittest reports there, and a launcher may put what two ranks say on one line.
    """
    into.mkdir()
    return ["sh", "-c", 'into=$1; shift; exec "$@" 2> "$into/$$"', "sh", into, *command]


def result(ended: subprocess.CompletedProcess[str], reports: Path) -> Result:
    """What the ranks agree on, and the outcomes of each. `reports` is the folder of `told_apart()`."""
    texts = [report.read_text(errors="replace") for report in sorted(reports.iterdir())]
    tests: set[int] = set()
    verdicts: set[str] = set()
    outcomes: list[tuple[str, str]] = []
    for text in texts:
        ran = re.findall(r"^Ran (\d+) tests? in", text, re.MULTILINE)
        verdict = re.findall(r"^(?:OK|FAILED)\b.*$", text, re.MULTILINE)
        assert ran and verdict, f"the suite did not reach its end:\n{text[-3000:]}\n{ended.stderr[-1000:]}"
        tests.add(int(ran[-1]))
        verdicts.add(verdict[-1])
        outcomes += re.findall(r"^\w+ \((\S+)\) \.\.\. (ok|FAIL|ERROR|skipped)", text, re.MULTILINE)
    assert len(tests) == 1, f"the ranks ran {sorted(tests)} tests"
    return Result(ended.returncode, tests.pop(), frozenset(verdicts), frozenset(outcomes))
