"""Records the stored run of a format version: record.py v<format version>; as root, with Debian's Open MPI.

The run is made under a host name and in a directory that tell nothing of the machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARE = HERE.parent.parent / ".venv" / "bin" / "tare"
WORK = Path("/tmp/stencil")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": str(WORK),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
OF_A_RANK = (
    "world", "rank", "size", "state", "host", "pid", "threads", "executable", "mpi", "abi",
    "calls", "counted", "net_ns", "mpi_ns",
)  # fmt: skip
SHOWN = 20


def main(version: str) -> None:
    to = HERE / version
    to.mkdir()
    run = record()
    shutil.move(run, to / "stencil")
    (to / "stencil.expected.json").write_text(expected(to / "stencil"), "utf-8")


def record() -> Path:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    shutil.copy(HERE / "stencil.c", WORK)
    command(["mpicc.openmpi", "-g", "-O1", "stencil.c", "-o", "stencil"])
    mpiexec = "mpiexec.openmpi --oversubscribe -n 2 ./stencil"
    measured = f"{TARE} run --quiet --trace --buffer 16K -o run -- {mpiexec}"
    command(["unshare", "--uts", "sh", "-c", f"hostname node0; {measured}"])
    return WORK / "run"


def command(words: list[str]) -> None:
    subprocess.run(words, cwd=WORK, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=True)


def expected(run: Path) -> str:
    info = read("info", run)
    profile = read("profile", run, "--by", "site")["rows"]
    events = read("events", run)["rows"]
    content = {
        "ranks": [{key: rank[key] for key in OF_A_RANK} for rank in info["ranks"]],
        "trace": {"events": info["trace"]["records"], "dropped": 0},
        "profile": profile,
        "events": {"number": len(events), "first": events[:SHOWN], "last": events[-SHOWN:]},
    }
    return json.dumps(content, indent=1) + "\n"


def read(verb: str, run: Path, *options: str) -> Any:
    return json.loads(subprocess.check_output([TARE, verb, run, *options, "--json"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
