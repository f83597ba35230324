"""What tools cost a real program, by the referee (docs/referee.md): tare, its twin, planted costs, and peers.

Peers take part if tare finds them: IPM and mpiP by name (`tare study tools`).
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from programs import built
from report import Row, Table
from tare.analysis.intervals import Interval
from tare.lab.study import toolbox

from tools import ROOT, TARE, BenchError, compile_c, openmpi4

RANKS = 2
SOLVES = "24"
PLANTED_NS = 100
# Of the profile, and the trace.
LIMITS = {"tare": 6.0, "tare-trace": 9.0, "forward": 0.5}
PEERS = ("ipm", "mpip")


def measure(rounds: int) -> list[Table]:
    mpi = openmpi4()
    planted = ROOT / "build" / "bench" / mpi.name / "planted_tool.so"
    planted.parent.mkdir(parents=True, exist_ok=True)
    compile_c(mpi, [ROOT / "tests" / "programs" / "planted_tool.c"], planted, "-O2", "-shared", "-fPIC")
    rows = []
    notes: list[str] = []

    def add(label: str, tool: str | Path, limit: float | None, variables: dict[str, str]) -> None:
        found = _weighed(rounds, tool, variables)
        rows.append(Row(label, None, _interval(found), limit))
        if found["overhead"] is None:
            notes.append(f"{label}: {found['why']}")

    add("a tool that counts calls and requests", planted, None, {"PLANTED_NS": "0"})
    add(f"the same with {PLANTED_NS} ns a call", planted, None, {"PLANTED_NS": str(PLANTED_NS)})
    for tool, limit in LIMITS.items():
        add(toolbox.builtin_tools()[tool].title, tool, limit, {})
    for tool in PEERS:
        known = toolbox.builtin_tools()[tool]
        if toolbox.reason_missing(known):
            notes.append(f"{known.title}: {toolbox.reason_missing(known)}")
        else:
            add(known.title, tool, None, {})
    title = "hypre StructSMG, 2 ranks, Open MPI: net overhead by the referee"
    return [Table(title, "%", "%", rows, rounds, over="net overhead", notes=notes)]


def _weighed(runs: int, tool: str | Path, variables: dict[str, str]) -> dict[str, Any]:
    mpi = openmpi4()
    program = [built("workloads/diffusion"), "-n", "35", "35", "35", "-s", SOLVES]
    command = [TARE, "weigh", "--json", "--runs", runs, "--tool", tool, "--", *mpi.mpiexec, "-n", RANKS]
    done = subprocess.run(
        [str(word) for word in (*command, *program)],
        env=mpi.environ(**variables),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        raise BenchError(f"exit code {done.returncode} of tare weigh --tool {tool}\n{done.stderr}")
    (row,) = json.loads(done.stdout)["tools"]
    return dict(row)


def _interval(found: dict[str, Any]) -> Interval | None:
    if found["overhead"] is None:
        return None
    spells = found["spells"] + found["bare_spells"]
    return Interval(found["overhead"], found["low"], found["high"], spells, 0.95).scaled(100)
