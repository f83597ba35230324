"""A shell that starts a rank has calls of its own on files, and is no rank in any place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from on_mpi import on_openmpi
from tare.page import content
from tare.runs.run import open_run
from verbs import ask

SHELL = 'read -r line < "$0"; "$@"; sleep 0.5; read -r line < "$0"'


@on_openmpi
def test_a_shell_that_starts_a_rank_is_none(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "files.c"], tmp_path / "program", "-DWITH_MPI")
    command: list[Path | str] = ["bash", "-c", SHELL, __file__, program, "with", tmp_path]
    measured = measure(tare, mpi, 2, command, tmp_path / "run", "--with", "files")
    assert measured.ended.returncode == 0
    run = open_run(measured.directory)
    shells = [process for process in run.processes if process.rank < 0]
    ranks = [process for process in run.processes if process.rank >= 0]
    assert (len(shells), len(ranks)) == (2, 2)
    longest_ns = max(process.net_ns for process in ranks)
    assert longest_ns < min(process.net_ns for process in shells)

    overview = content.of_run(run)["overview"]
    assert (overview["ranks"], overview["states"]) == (2, {"finished": 2})
    (efficiency,) = overview["efficiency"]
    assert (efficiency["ranks"], efficiency["net_ns"]) == (2, longest_ns)
    said = ask(tare, "info", measured.directory, check=True).stdout
    assert "2 on 1 host" in said and "2 other processes" in said

    diff: list[Path | str] = [tare, "diff", measured.directory, measured.directory]
    done = subprocess.run([*diff, "--json"], capture_output=True, text=True, timeout=60, check=True)
    figures = json.loads(done.stdout)["figures"]
    (net,) = (each for each in figures if each["metric"] == "net")
    assert round(net["base_mean"]) == longest_ns
    done = subprocess.run(diff, capture_output=True, text=True, timeout=60, check=True)
    assert "on 2 ranks" in done.stdout
