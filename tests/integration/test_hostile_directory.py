"""Verbs started in a directory of somebody else's execute nothing there, also where PATH names it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS
from on_mpi import on_openmpi

MODULES = [
    "tare", "re", "json", "signal", "struct", "select", "msgspec", "scipy", "numpy", "duckdb", "pandas",
    "pyarrow", "ibis", "textual", "prometheus_client", "matplotlib", "statsmodels", "viztracer", "mpi4py",
    "sitecustomize",
]  # fmt: skip
TOOLS = [
    "tared", "ldd", "gcc", "cc", "mpiexec", "mpicc", "c++filt", "addr2line", "gdb", "sh", "env", "git",
    "python3", "ldconfig", "signal-witness", "keeper",
]  # fmt: skip
VERBS = [
    ["info"], ["profile"], ["where"], ["explain"], ["events"], ["phases"], ["top", "--once"], ["samples"],
    ["report", "-o", "page"], ["export", "--to", "perfetto", "-o", "trace"], ["sql", "--json"],
]  # fmt: skip


@on_openmpi
def test_nothing_of_the_current_directory_is_executed(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "sanitized.c"], tmp_path / "program", "-pthread")
    hostile, executed = tmp_path / "hostile", tmp_path / "executed"
    hostile.mkdir()
    for name in MODULES:
        (hostile / f"{name}.py").write_text(f"open({str(executed)!r}, 'a').write('{name}.py ')\n")
    for name in TOOLS:
        (hostile / name).write_text(f"#!/bin/sh\necho {name} >>'{executed}'\n")
        (hostile / name).chmod(0o755)
    variables = mpi.environ(PATH=f".::{mpi.environ()['PATH']}")
    variables.pop("PYTHONPATH", None)

    def start(*words: object) -> int:
        done = subprocess.run(
            list(map(str, [tare, *words])), cwd=hostile, env=variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=250,
        )  # fmt: skip
        assert not executed.exists(), f"{words}: {executed.read_text()}"
        return done.returncode

    run = [
        "run",
        "--trace",
        "--monitor=points",
        "-o",
        tmp_path / "run",
        "--",
        *mpi.mpiexec,
        "-n",
        "2",
        program,
    ]
    assert start(*run) == 0
    for verb in VERBS:
        query = ["select 1"] if verb[0] == "sql" else []
        start(verb[0], tmp_path / "run", *query, *verb[1:])
    assert start("run", "--sample", "random:1,site=sanitized.c:20", "--print-sample", "--", program) == 0
    start("doctor", "--json")
