"""`tare diff --scaling`: a program with a slow rank, on 2 and on 4 ranks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from environments import all_environments, compile_c
from measured import PROGRAMS, measure
from verbs import ask

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")


@pytest.mark.alone
def test_efficiencies_and_the_line_that_grows(tare: Path, tmp_path: Path) -> None:
    """Rank 1 computes for 0.4 s, the others for 0.1 s, however many there are."""
    program = compile_c(OPENMPI, [PROGRAMS / "planted.c"], tmp_path / "planted")
    for ranks in (4, 2):
        done = measure(tare, OPENMPI, ranks, [program, "slow rank"], tmp_path / str(ranks)).ended
        assert done.returncode == 0, done.stderr
    command: list[str | Path] = [tare, "diff", "--scaling", tmp_path / "4", tmp_path / "2"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "2 ranks  4 ranks" in said
    assert "Not the same" not in said and "Did not end well" not in said
    found = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    first, last = found["runs"]
    assert [each["efficiency"]["ranks"] for each in found["runs"]] == [2, 4]
    assert (first["speedup"], first["computation_scaling"]) == (1.0, 1.0)
    # 0.5 s of computing on 2 ranks, 0.7 s on 4.
    assert last["computation_scaling"] == pytest.approx(5 / 7, abs=0.1)
    for each in found["runs"]:
        assert each["global_efficiency"] == pytest.approx(
            each["efficiency"]["parallel_efficiency"] * each["computation_scaling"]
        )
    assert (found["differing"], found["not_ended_well"]) == ([], [])
    assert found["lines"][0]["function"] == "MPI_Barrier"
    assert found["lines"][0]["growth"] == pytest.approx(
        found["lines"][0]["shares"][1] - found["lines"][0]["shares"][0]
    )


def test_runs_that_are_not_of_one_program_and_did_not_end_well_are_told(tare: Path, tmp_path: Path) -> None:
    program = compile_c(OPENMPI, [PROGRAMS / "planted.c"], tmp_path / "planted")
    for name in ("alone", "ended early"):
        measure(tare, OPENMPI, 1 if name == "alone" else 2, [program, name], tmp_path / name)
    command: list[str | Path] = [tare, "diff", "--scaling", tmp_path / "alone", tmp_path / "ended early"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Not the same" in said and "Did not end well" in said
    found = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert found["differing"] and "ranks" not in [each["what"] for each in found["differing"]]
    assert [each["run"] for each in found["not_ended_well"]] == [str(tmp_path / "ended early")]


def test_one_run_does_not_scale(tare: Path, tmp_path: Path) -> None:
    done = ask(tare, "diff", "--scaling", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "at least two runs" in done.stderr
