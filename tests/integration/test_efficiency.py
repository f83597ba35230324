"""Serialisation and transfer efficiency of programs whose waiting is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import ROOT, MpiEnvironment, all_environments, compile_c, openmpi4
from measured import PROGRAMS, measure
from tare.analysis.efficiency import Efficiency, efficiencies, replayed
from tare.runs.run import open_run

MPIS = [env for env in all_environments() if env.name.startswith("debian-")]
RANKS = 3


def efficiency_of(run: Path) -> Efficiency:
    recording = open_run(run)
    found = replayed(
        efficiencies(recording.processes), recording.processes, lambda: recording.replayed_worlds, always=True
    )
    return found[0]


CANCELLED = """
#include <mpi.h>
int main(int argc, char** argv) {
  int rank;
  double value;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irecv(&value, 1, MPI_DOUBLE, 1 - rank, 9, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
"""


@pytest.mark.parametrize("mode", [[], ["threads"]], ids=["alone", "threads"])
@pytest.mark.parametrize("env", MPIS, ids=lambda env: env.name)
def test_a_pipeline_is_serial(env: MpiEnvironment, mode: list[str], tare: Path, tmp_path: Path) -> None:
    """Each of 3 ranks is useful for 150 ms; together they take 350, whatever the network.

    The same holds if each has a second thread that does the same beside the first.
    """
    program = compile_c(env, [PROGRAMS / "pipeline.c"], tmp_path / "program", "-pthread")
    measured = measure(tare, env, RANKS, [program, *mode], tmp_path / "run", "--trace")
    found = efficiency_of(measured.directory)
    assert found.not_replayed is None
    assert found.ideal_ns is not None and found.ideal_ns > 345_000_000
    assert found.serialisation_efficiency == pytest.approx(150 / 350, rel=0.25)


def test_a_cancelled_receive_is_why_there_is_no_replay(tare: Path, tmp_path: Path) -> None:
    source = tmp_path / "cancelled.c"
    source.write_text(CANCELLED, "utf-8")
    program = compile_c(openmpi4(), [source], tmp_path / "cancelled")
    measured = measure(tare, openmpi4(), 2, [program], tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert efficiency_of(measured.directory).not_replayed == "a receive was cancelled"


def test_the_factors_of_a_stored_trace_multiply() -> None:
    found = efficiency_of(ROOT / "tests" / "data" / "v1" / "stencil")
    serialisation, transfer = found.serialisation_efficiency, found.transfer_efficiency
    assert serialisation is not None and transfer is not None
    assert 0 < serialisation <= 1 and 0 < transfer <= 1
    assert serialisation * transfer == pytest.approx(found.communication_efficiency, rel=0.05)
