"""Programs as Debian has them: one that is nearly all small messages, and one that hardly calls MPI."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import peers
import trials
from interleave import interleave
from report import Table, over_bare

from measurements.hooks import hook_table
from tools import BARE, PROFILE, ROOT, TARE, TRACE, BenchError, Outcome, Tool, openmpi4, run_once

RANKS = 2
TOOLS = (BARE, PROFILE, TRACE)

# As Debian's example of hpcc, but fewer variants: 2,097,152 updates of a table are measured.
HPCC_INPUT = ROOT / "workloads" / "inputs" / "hpccinf.txt"
# Of LAMMPS's own benchmark, a Lennard-Jones liquid: 16,384 atoms.
LAMMPS_INPUT = ROOT / "workloads" / "inputs" / "lennard_jones.in"


def measure(rounds: int) -> list[Table]:
    return [_random_access(rounds), *_lammps(rounds)]


def _random_access(rounds: int) -> Table:
    hpcc = _installed("hpcc")

    def run_hpcc(tool: Tool) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="tare-hpcc-") as directory:
            shutil.copy(HPCC_INPUT, directory)
            outcome = run_once(tool, openmpi4(), RANKS, [hpcc], timeout_s=600, cwd=Path(directory))
            return replace(outcome, stdout=(Path(directory) / "hpccoutf.txt").read_text())

    measured = interleave(rounds, TOOLS, run_hpcc)
    limits = {PROFILE: 30.0, TRACE: 30.0}
    table = over_bare(
        "hpcc, MPIRandomAccess, 2 ranks, Open MPI",
        measured,
        _access_ms,
        "ms",
        "%",
        limits,
        {PROFILE: peers.RANDOM_ACCESS_PROFILE, TRACE: peers.RANDOM_ACCESS_TRACE},
    )
    # The trial is about all of hpcc, so the limit of one of its tests is not that of the trial.
    trials.add(table, trials.trials(rounds, run_hpcc), {})
    return table


def _access_ms(outcome: Outcome) -> float:
    return 1e3 * _number(r"^MPIRandomAccess_time=([\d.e+-]+)", outcome)


def _lammps(rounds: int) -> list[Table]:
    lammps = _installed("lmp")
    (library,) = TARE.parent.parent.glob("lib/python3*/site-packages/tare/lib")
    # Above every tool, so that what tools do in MPI_Init and MPI_Finalize is within the times.
    timing: Sequence[str | Path] = (library / "tare-timing", library / "libtare-timing.so")

    def run_lammps(tool: Tool) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="tare-lammps-") as directory:
            argv: list[str | Path] = [lammps, "-in", LAMMPS_INPUT, "-log", "none"]
            times = Path(directory) / "times"
            outcome = run_once(
                tool,
                openmpi4(),
                RANKS,
                argv,
                rank_prefix=timing,
                cwd=Path(directory),
                variables={"TARE_TIMING": str(times)},
            )
            lines = "".join(path.read_text() for path in Path(directory).glob("times.*"))
            return replace(outcome, stdout=outcome.stdout + "\n" + lines)

    measured = interleave(rounds, TOOLS, run_lammps)
    limits = {PROFILE: 0.0, TRACE: 0.0}
    table = over_bare(
        "LAMMPS, Lennard-Jones, 2 ranks, Open MPI: time of the loop; the limit is that it does not show",
        measured,
        _loop_s,
        "s",
        "%",
        limits,
        {PROFILE: peers.LAMMPS},
        digits=2,
        invisible=True,
    )
    trials.add(table, trials.trials(rounds, run_lammps), limits, invisible=True)
    return [
        table,
        hook_table(
            "LAMMPS: MPI_Init and MPI_Finalize of the slowest rank, by the timing library", measured, _hook_ms
        ),
    ]


def _loop_s(outcome: Outcome) -> float:
    return _number(r"^Loop time of ([\d.]+) on", outcome)


def _hook_ms(outcome: Outcome) -> float:
    lines = [json.loads(line) for line in outcome.stdout.splitlines() if line.startswith('{"')]
    ranks = [line for line in lines if "init_ns" in line]
    if len(ranks) != RANKS:
        raise BenchError(f"the timing library left {len(ranks)} records instead of {RANKS}")
    return 1e-6 * max(int(line["init_ns"]) + int(line["finalize_ns"]) for line in ranks)


def _number(pattern: str, outcome: Outcome) -> float:
    found = re.search(pattern, outcome.stdout, re.MULTILINE)
    if found is None:
        raise BenchError(f"nothing like {pattern} in\n{outcome.stdout}")
    return float(found[1])


def _installed(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise BenchError(f"{name} is missing; `make bench` installs it")
    return path
