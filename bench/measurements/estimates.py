"""What runs with a budget say of the calls that they only counted, beside what is true: do intervals hold?

A program that makes the same calls in each run is measured once without a budget, so all numbers are exact.
Runs with a budget estimate the bytes of each function, and the calls and bytes of each call site. Of their
intervals of 95 %, 5 in 100 should miss the truth.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import tare
from programs import built
from report import Row, Table
from tare.analysis.intervals import median_interval

from tools import TARE, BenchError, openmpi4, run

RANKS = 2
RUNS = 8  # of a round
MAX_MISSED_PERCENT = 7  # they are to cover 93 to 97 %

Key = tuple[int, str, str, str]  # rank, function, call path ("": all), "calls" or "bytes"

# They are called as long as nothing has arrived, so their number is another in each run.
_POLLS = ("MPI_Iprobe", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome")
_EXACT = f"function NOT IN {_POLLS}"
_FUNCTIONS = f"SELECT rank, function, '', 'bytes', bytes, bytes_error FROM totals WHERE {_EXACT}"
# Several sites may have one path as text: functions without symbols. Their errors add up, if all are known.
_SITES = f"""
FROM (SELECT rank, function, path, sum(calls) AS calls, sum(calls_error) AS calls_error,
             sum(bytes) AS bytes, sum(bytes_error) AS bytes_error,
             count(*) = count(calls_error) AND count(*) = count(bytes_error) AS is_known
      FROM site_totals WHERE path IS NOT NULL AND {_EXACT} GROUP BY ALL)
"""


@dataclass
class _Tally:
    """Intervals, those among them that miss the truth, and estimates without an interval."""

    intervals: int = 0
    missed: int = 0
    unknown: int = 0


def measure(rounds: int) -> list[Table]:
    # hypre's messages have many sizes. Where all messages of a site have one size, estimates are exact.
    programs: dict[str, list[str | Path]] = {
        f"hypre StructSMG, {size} x {size} x {size} cells a rank": [
            *(built("workloads/diffusion"), "-n", size, size, size, "-s", solves)
        ]
        for size, solves in (("20", "200"), ("35", "40"))
    }
    tables = []
    for name, argv in programs.items():
        truth = {key: value for key, (value, _) in _numbers(argv, ()).items()}
        for budget in ("1%", "2%"):
            tallies = [_tally(argv, budget, truth) for _ in range(rounds)]
            shares = [100 * each.missed / each.intervals for each in tallies if each.intervals]
            if not shares:
                raise BenchError(f"{name} with --budget {budget} leaves nothing to estimate")
            checked = sum(each.intervals for each in tallies)
            missed = sum(each.missed for each in tallies)
            unknown = sum(each.unknown for each in tallies)
            tables.append(
                Table(
                    f"{name}, --budget {budget}: intervals that miss the truth ({RUNS} runs a round)",
                    "%",
                    "%",
                    [Row("tare", 100 * missed / checked, median_interval(shares), MAX_MISSED_PERCENT)],
                    rounds,
                    over="of a round",
                    notes=[
                        f"{checked:,} intervals, {missed:,} of them miss; {unknown:,} estimates without one"
                    ],
                )
            )
    return tables


def _tally(argv: list[str | Path], budget: str, truth: dict[Key, float]) -> _Tally:
    tally = _Tally()
    for _ in range(RUNS):
        for key, (estimate, error) in _numbers(argv, ("--budget", budget)).items():
            if error is None:
                tally.unknown += 1
            elif error > 0:
                tally.intervals += 1
                tally.missed += abs(estimate - truth.get(key, 0.0)) > error
    return tally


def _numbers(argv: list[str | Path], options: tuple[str, ...]) -> dict[Key, tuple[float, float | None]]:
    """Each number of a run, and half the width of its interval: 0 of an exact one, None of an unknown one."""
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as directory:
        out = Path(directory) / "run"
        done = run(
            openmpi4(),
            RANKS,
            [str(word) for word in argv],
            prefix=[TARE, "run", "-q", *options, "-o", out, "--"],
            timeout_s=300,
            OMPI_MCA_hwloc_base_binding_policy="core",
        )
        if done.returncode != 0:
            raise BenchError(done.stderr)
        opened = tare.open(out)
        found: dict[Key, tuple[float, float | None]] = {}
        for query in (
            _FUNCTIONS,
            f"SELECT rank, function, path, 'calls', calls, CASE WHEN is_known THEN calls_error END {_SITES}",
            f"SELECT rank, function, path, 'bytes', bytes, CASE WHEN is_known THEN bytes_error END {_SITES}",
        ):
            rows = opened.sql(query)
            assert rows is not None
            for rank, function, path, number, value, error in rows.fetchall():
                found[rank, function, path, number] = (
                    float(value or 0),
                    None if error is None else float(error),
                )
        return found
