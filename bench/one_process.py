"""Programs of one process, with and without tare, and beside EZTrace and uftrace if they are installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from interleave import Rounds, interleave

from tools import EZTRACE, ROOT, TARE, BenchError, Outcome, PeerError, Tool


def compiled(compiler: Sequence[str], source: Path, name: str) -> Path:
    out = ROOT / "build" / "bench" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([*compiler, source, "-o", out], capture_output=True, text=True)
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()[-1]
        raise BenchError(f"{compiler[0]}: {why}; `make bench` installs what it needs")
    return out


# It records the calls that the program itself makes of functions in libraries.
UFTRACE = Tool("uftrace record --force")


def beside_peers(rounds: int, tools: tuple[Tool, ...], module: str, argv: Sequence[Path | str]) -> Rounds:
    """`module`: that of EZTrace. Each run has a directory of its own, in which it runs."""
    peers = (peer for name, peer in (("eztrace", EZTRACE), ("uftrace", UFTRACE)) if shutil.which(name))
    return interleave(rounds, (*tools, *peers), partial(_run, argv, module))


def _run(argv: Sequence[Path | str], module: str, tool: Tool) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="tare-bench-", dir=ROOT / "build" / "bench") as directory:
        out, prefix = Path(directory) / "out", list[Path | str]()
        if tool.tare is not None:
            prefix = [TARE, "run", *tool.tare, "-q", "-o", out, "--"]
        if tool.eztrace:
            prefix = ["eztrace", "-t", module, "-o", out]
        if tool is UFTRACE:
            prefix = ["uftrace", "record", "--force", "-d", out]
        start = time.perf_counter()
        command = [str(word) for word in (*prefix, *argv)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=directory)
        if done.returncode != 0:
            kind = PeerError if tool in (EZTRACE, UFTRACE) else BenchError
            raise kind(f"exit code {done.returncode} of {argv[0]}\n{done.stdout}{done.stderr}")
        return Outcome(done.stdout, time.perf_counter() - start)
