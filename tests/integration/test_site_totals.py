"""What call sites have in the whole run, where some spells only counted: beside a run that measured all."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import tare as package
from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian

RANKS = 2
ROUNDS = 3000
SELDOM = 3 * ((ROUNDS + 2) // 3)
# By the comment on their line: calls, and bytes of each, on each rank. Many calls at "end" end a spell, and
# are measured; none at "alone" does.
SITES = {"often": (4 * ROUNDS, 64), "seldom": (SELDOM, 4000), "alone": (ROUNDS, 4), "end": (ROUNDS, 4)}
OF_FUNCTION = {"MPI_Sendrecv": ("often", "seldom"), "MPI_Allreduce": ("alone", "end")}
# Five standard errors: beyond what chance does.
FAR = 2.6


def site_lines() -> dict[int, str]:
    """The comments of the program's call sites, by line."""
    lines = (PROGRAMS / "thinned_sites.c").read_text().splitlines()
    return {number: name for number, line in enumerate(lines, 1) for name in SITES if f"/* {name} */" in line}


def by_site(measured: Measurement) -> dict[str, dict[str, Any]]:
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == RANKS
    lines = site_lines()
    assert len(lines) == len(SITES)
    return {lines[row["line"]]: row for row in measured.profile("line") if row["line"] in lines}


@both_debian
def test_sites_of_a_thinned_run_are_those_of_the_full_run(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "thinned_sites.c"], tmp_path / "thinned_sites")
    command: list[Path | str] = [program, str(ROUNDS)]
    full = by_site(measure(tare, mpi, RANKS, command, tmp_path / "full"))
    measured = measure(tare, mpi, RANKS, command, tmp_path / "thinned", "--weigh=50%")
    thinned = by_site(measured)
    for name, (calls, bytes_each) in SITES.items():
        assert full[name]["calls"] == RANKS * calls
        assert full[name]["bytes"] == RANKS * calls * bytes_each
        assert full[name]["whole_calls"] is None, "all calls were measured"
        row = thinned[name]
        assert row["calls"] < full[name]["calls"], "some were only counted"
        for field, value in (("whole_calls", RANKS * calls), ("whole_bytes", RANKS * calls * bytes_each)):
            error = row[f"{field}_error"]
            assert abs(row[field] - value) <= FAR * error + RANKS, (name, field)
            assert error < value / 4, "an estimate that says something"
        # If a rank loses its processor, one spell may have nearly all of the time: no error is known then.
        assert row["whole_time_ns"] > row["time_ns"]
    for names in OF_FUNCTION.values():
        all_calls = sum(thinned[name]["whole_calls"] for name in names)
        assert abs(all_calls - RANKS * sum(SITES[name][0] for name in names)) <= len(names), (
            "exact, but rounded"
        )

    rows = pa.table(package.open(tmp_path / "thinned").site_totals).to_pylist()
    lines = site_lines()
    of_ranks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["line"] in lines:
            of_ranks[lines[row["line"]]].append(row)
    for name, each in of_ranks.items():
        assert sorted(row["rank"] for row in each) == list(range(RANKS))
        assert abs(sum(row["calls"] for row in each) - thinned[name]["whole_calls"]) <= RANKS
        assert sum(row["measured_calls"] for row in each) == thinned[name]["calls"]


def test_the_profile_says_what_was_measured_and_what_is_estimated(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "thinned_sites.c"], tmp_path / "thinned_sites")
    measured = measure(tare, mpi, RANKS, [program, "500"], tmp_path / "run", "--weigh=50%")
    assert measured.ended.returncode == 0, measured.ended.stderr

    def printed(*arguments: str) -> str:
        command = [str(tare), "profile", str(tmp_path / "run"), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    by_default = printed()
    assert "All calls" in by_default
    assert "the rest is that of the spells that were measured" in " ".join(by_default.split())
    assert "All calls" in printed("--markdown")
    assert "whole_calls,whole_calls_error" in printed("--csv").splitlines()[0]
    by_size = printed("--by", "size")
    assert "All calls" not in by_size
    assert "by site, line or function the whole run is estimated" in " ".join(by_size.split())
    totals = {row["function"]: row for row in measured.profile("function")}
    assert totals["MPI_Sendrecv"]["whole_calls"] == RANKS * (4 * 500 + 3 * 167)
    assert totals["MPI_Sendrecv"]["whole_calls_error"] == 0
