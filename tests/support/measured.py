"""Runs programs under tare and reads what it measured, through the command line alone."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments import ROOT, MpiEnvironment, compile_c, run
from verbs import ask

PROGRAMS = ROOT / "tests" / "programs"
_RECORD = ROOT / "build" / "release" / "src" / "recorder"
# What compiles a program that uses the API in C, with the library of the build.
WITH_API = (f"-I{ROOT / 'include'}", f"-L{_RECORD}", "-ltare_record", f"-Wl,-rpath,{_RECORD}")


@dataclass(frozen=True)
class Measurement:
    """A run directory and what became of the program."""

    tare: Path
    directory: Path
    ended: subprocess.CompletedProcess[str]
    leaves: bool = False  # whether calls of the program do not return: exceptions or longjmp leave them
    calls_back: bool = False  # whether callbacks of the program communicate

    def info(self) -> dict[str, Any]:
        info = self._read("info", "tare.info/1")
        if not self.leaves:
            assert {rank["left_calls"] for rank in info["ranks"]} <= {0}
        if not (self.leaves or self.calls_back):
            assert {rank["callback_calls"] for rank in info["ranks"]} <= {0}
        return info

    def profile(self, by: str, *options: str) -> list[dict[str, Any]]:
        return list(self._read("profile", "tare.profile/1", "--by", by, *options)["rows"])

    def events(self, *options: str) -> list[dict[str, Any]]:
        """All events but tare's own (flushes and the like)."""
        return [row for row in self.all_events(*options) if row["function"].startswith("MPI_")]

    def all_events(self, *options: str) -> list[dict[str, Any]]:
        return list(self._read("events", "tare.events/1", *options)["rows"])

    def calls(self) -> dict[str, int]:
        """Calls of each function, of all ranks of all worlds."""
        self.info()
        sums: Counter[str] = Counter()
        for row in self.profile("function"):
            sums[row["function"]] += row["calls"]
        return dict(sums)

    def _read(self, verb: str, schema: str, *options: str) -> dict[str, Any]:
        done = ask(self.tare, verb, self.directory, "--json", *options)
        assert done.returncode == 0, f"{' '.join(done.args)}\n{done.stderr}"
        result: dict[str, Any] = json.loads(done.stdout)
        assert result["schema"] == schema
        return result


def measure(
    tare: Path,
    env: MpiEnvironment,
    n: int,
    argv: Sequence[Path | str],
    directory: Path,
    *options: str,
    timeout_s: float = 120,
    cwd: Path | None = None,
    leaves: bool = False,
    calls_back: bool = False,
    **environment: str,
) -> Measurement:
    """Runs a program on n ranks under `tare run OPTIONS`; whether it succeeded is for the caller."""
    prefix: list[Path | str] = [tare, "run", "--quiet", *options, "-o", directory, "--"]
    ended = run(env, n, argv, prefix=prefix, timeout_s=timeout_s, cwd=cwd, **environment)
    return Measurement(tare, directory, ended, leaves, calls_back)


def left_in_memory(directory: Path) -> list[Path]:
    """What the processes of a run shared and nobody has removed."""
    run_id = json.loads((directory / "meta.json").read_text())["run_id"]
    return list(Path("/dev/shm").glob(f"tare-{run_id}*"))


def compile_monitored(env: MpiEnvironment, folder: Path) -> Path:
    """The program of most tests of monitoring: programs/monitored.c."""
    return compile_c(env, [PROGRAMS / "monitored.c"], folder / "monitored", *WITH_API)
