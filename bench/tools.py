"""What is compared: no tool, tare in its modes, and a peer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
TARE = ROOT / ".venv" / "bin" / "tare"

# The MPI libraries, their launchers and what they need to run here are described once, for the tests.
sys.path.insert(0, str(ROOT / "tests" / "support"))
from environments import MpiEnvironment, compile_c, mpich4, openmpi4, run  # noqa: E402
from run_processes import tared_of  # noqa: E402

__all__ = ["MpiEnvironment", "compile_c", "mpich4", "openmpi4", "run", "tared_of"]


class BenchError(Exception):
    """What was to be measured is missing or failed."""


class PeerError(BenchError):
    """A program failed under a tool that is not ours."""


@dataclass(frozen=True)
class Tool:
    """A way to run a program; `tare` holds the options of `tare run`, None for other tools."""

    label: str
    tare: tuple[str, ...] | None = None
    eztrace: bool = False

    @property
    def recording(self) -> bool:
        """Whether it leaves a run that `tare info` can read."""
        return self.tare is not None and "--forward" not in self.tare


BARE = Tool("bare")
TWIN = Tool("do-nothing twin", tare=("--forward",))
PROFILE = Tool("profile", tare=())
TRACE = Tool("profile and trace", tare=("--trace",))
# A call site is the return address of the call, as with other tools.
PROFILE_ALONE = Tool("profile, --stack 1", tare=("--stack", "1"))
TRACE_ALONE = Tool("trace, --stack 1", tare=("--stack", "1", "--trace"))
EZTRACE = Tool("EZTrace", eztrace=True)
PRODUCT = (BARE, TWIN, PROFILE, TRACE)


def with_peers(tools: Sequence[Tool] = PRODUCT) -> tuple[Tool, ...]:
    """The tools, and the peers that this machine has."""
    return (*tools, EZTRACE) if shutil.which("eztrace") else tuple(tools)


@dataclass(frozen=True)
class Outcome:
    """One run: what the program printed, how long the whole command took, and what the tool left."""

    stdout: str
    wall_s: float
    trace_bytes: int = 0
    info: dict[str, Any] | None = None
    sampled: dict[str, int] | None = None  # of message sampling: what became of the messages

    def json_lines(self) -> list[dict[str, Any]]:
        """The lines of the output that are JSON objects."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    def value(self, key: str) -> float:
        """A field of the only line that has it, the largest if several ranks print one."""
        return max(float(line[key]) for line in self.json_lines() if key in line)

    def seconds(self, phase: str) -> float:
        """What `workloads/diffusion` prints of a phase."""
        found = re.search(rf"^{phase} +([\d.]+) s", self.stdout, re.MULTILINE)
        if found is None:
            raise BenchError(f"no time of {phase} in the output of the solver\n{self.stdout}")
        return float(found[1])

    def solve_s(self) -> float:
        """The time of its solves."""
        return self.seconds("solve")


def run_once(
    tool: Tool,
    mpi: MpiEnvironment,
    ranks: int,
    argv: Sequence[Path | str],
    *,
    rank_prefix: Sequence[Path | str] = (),
    summary: bool = False,
    timeout_s: float = 300,
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs a program under a tool; its output directory is gone afterwards.

    `rank_prefix` goes between the launcher and the program; `summary` leaves tare's summary on; `variables`
    are of the program's environment.
    """
    with tempfile.TemporaryDirectory(prefix="tare-bench-", dir=_scratch()) as directory:
        out = Path(directory) / "out"
        program = [str(argument) for argument in argv]
        prefix: list[Path | str] = []
        if tool.tare is not None:
            prefix = [TARE, "run", *tool.tare, *([] if summary else ["-q"]), "-o", out, "--"]
        if tool.eztrace:
            program = ["eztrace", "-t", mpi.family, "-o", str(out), *program]
        program = [*map(str, rank_prefix), *program]
        start = time.perf_counter()
        done = run(
            mpi,
            ranks,
            program,
            prefix=prefix,
            timeout_s=timeout_s,
            cwd=cwd,
            **(variables or {}),
            OMPI_MCA_hwloc_base_binding_policy=_BINDING,
        )
        wall_s = time.perf_counter() - start
        if done.returncode != 0:
            raise (PeerError if tool.eztrace else BenchError)(
                f"exit code {done.returncode} of {' '.join(map(str, done.args))}\n{done.stdout}{done.stderr}"
            )
        info = _info(out) if tool.recording else None
        trace_bytes = info["trace"]["bytes"] if info else _size(out)
        sampled = _printed("samples", out)["messages"] if "--sample" in (tool.tare or ()) else None
        return Outcome(done.stdout, wall_s, trace_bytes, info, sampled)


# Ranks stay on their processors, as both launchers have it by default where these suffice; the tests do not.
_BINDING = "core"


def _scratch() -> Path:
    """A directory on the disk that the build is on: traces are to be written to a disk."""
    path = ROOT / "build" / "bench"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _printed(verb: str, run_dir: Path) -> dict[str, Any]:
    done = subprocess.run([TARE, verb, "--json", run_dir], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"tare {verb}: {done.stderr.strip()}")
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def _info(run_dir: Path) -> dict[str, Any]:
    info = _printed("info", run_dir)
    if not info["ranks"]:
        raise BenchError("tare recorded nothing; is it that `make` has not been called since a change?")
    return info


def _size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
