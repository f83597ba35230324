"""Which events and call sites are in the rounds of a monitored run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from environments import PYTHON, compile_c, openmpi4
from measured import WITH_API, compile_monitored, measure
from rounds_of_run import of_event, read_rounds
from test_monitor import RANKS

SITES = """
#include <mpi.h>
#include <tare/tare.h>
static void wait_twice(void) {
  for (int i = 0; i < 2; ++i)
    MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const tare_id step = tare_define_region("step");
  for (int i = 0; i < 5; ++i) {
    tare_enter(step);
    MPI_Barrier(MPI_COMM_WORLD); // first
    wait_twice(); // second
    MPI_Barrier(MPI_COMM_WORLD);
    tare_leave(step);
    tare_offload();
  }
  MPI_Finalize();
  return 0;
}
"""
PYTHON_SITES = """
import tare
from mpi4py import MPI
for i in range(5):
    MPI.COMM_WORLD.Barrier()  # first
    MPI.COMM_WORLD.Barrier()
    tare.offload()
"""


def line_of(text: str, word: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f" {word}"))


def test_only_chosen_events_are_in_rounds(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_monitored(mpi, tmp_path)
    spec = "--monitor=points,policy=nonblock,only=MPI_All*+counter residual"
    measured = measure(tare, mpi, RANKS, [program, "points", "5"], tmp_path / "run", spec)
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = read_rounds(measured.directory)
    assert len(found) == 5
    for made in found:
        assert {event.name for event in made.events} == {"MPI_Allreduce", "residual"}


def test_only_chosen_call_sites_are_in_rounds(tare: Path, tmp_path: Path) -> None:
    """Calls of two lines are events of their own; the third, in which they are made, is none."""
    mpi = openmpi4()
    source = tmp_path / "sites.c"
    source.write_text(SITES)
    program = compile_c(mpi, [source], tmp_path / "sites", *WITH_API)
    first, second = (f"sites.c:{line_of(SITES, word)}" for word in ("first", "second"))
    spec = f"--monitor=points,policy=nonblock,only=MPI_Barrier+step, site={first},site={second}"
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", spec)
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = read_rounds(measured.directory)
    assert len(found) == 5
    for made in found:
        calls = {event.name: event.calls.most for event in made.events}
        assert calls == {
            f"MPI_Barrier {first}": made.round,
            f"MPI_Barrier {second}": 2 * made.round,
            "step": made.round,
        }


def test_call_sites_of_python_are_chosen(tare: Path, tmp_path: Path) -> None:
    source = tmp_path / "sites.py"
    source.write_text(PYTHON_SITES)
    place = f"sites.py:{line_of(PYTHON_SITES, 'first')}"
    spec = f"--monitor=points,policy=nonblock,only=MPI_Barrier,site={place}"
    measured = measure(tare, openmpi4(), RANKS, [PYTHON, source], tmp_path / "run", spec)
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = read_rounds(measured.directory)
    assert len(found) == 5
    assert {event.name for made in found for event in made.events} == {f"MPI_Barrier {place}"}
    assert of_event(found[-1], f"MPI_Barrier {place}").calls.most == 5


def test_a_line_without_code_is_told(tare: Path, tmp_path: Path) -> None:
    source = tmp_path / "sites.c"
    source.write_text(SITES)
    program = compile_c(openmpi4(), [source], tmp_path / "sites", *WITH_API)
    for place, why in (("sites.c:2", "no code of that line"), ("other.c:2", "no debug information")):
        done = subprocess.run(
            [tare, "run", f"--monitor=1s,site={place}", "--", program],
            capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 2 and why in done.stderr and "--monitor" in done.stderr
        assert len(done.stderr.splitlines()) == 1
