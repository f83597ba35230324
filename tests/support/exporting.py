"""`tare export` on runs of known content, for the tests of all formats."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

from environments import PYTHON, ROOT, all_environments, compile_c
from format_page import EVENTS, HEADER
from measured import PROGRAMS, Measurement, measure
from verbs import ask

STENCIL = ROOT / "tests" / "data" / "v1" / "stencil"
OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")

HOSTILE_NAMES = {
    "</script><script>alert(1)</script>": "</script><script>alert(1)</script>",
    'a"b\\c': 'a"b\\c',
    "x\n\x1b[31m": "x\\x0a\\x1b[31m",
    "\udcff\udcc0\udc80": "\\xff\\xc0\\x80",
    "\u2028": "\\xe2\\x80\\xa8",
    "=1+1": "=1+1",
    "a;b c": "a;b c",
}
_HOSTILE = f"""
import sys, tare
tare.start(sys.argv[1])
for name in {[ascii(name) for name in HOSTILE_NAMES]}:
    name = eval(name)
    with tare.region(name):
        tare.mark(name)
        tare.count(name, 1, name)
"""


def export(tare: Path, run: Path, kind: str, to: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command: list[Path | str] = [tare, "export", run, "--to", kind, "-o", to, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def exported(tare: Path, run: Path, kind: str, to: Path, *options: str) -> Path:
    """What was written, where nothing is to be said about it."""
    own = to.with_name(f"{to.name}.part")
    own.write_text("the user's own")
    done = export(tare, run, kind, to, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert own.read_text() == "the user's own"
    own.unlink()
    assert not list(to.parent.glob("*.part"))
    return to


def measured(tare: Path, folder: Path, program: str, ranks: int, *arguments: str) -> Measurement:
    """A run of one of the test programs, with a trace of many chunks."""
    path = compile_c(OPENMPI, [PROGRAMS / program], folder / "program", "-pthread")
    made = measure(tare, OPENMPI, ranks, [path, *arguments], folder / "run", "--trace", "--buffer", "64K")
    assert made.ended.returncode == 0, made.ended.stderr
    return made


def recorded(folder: Path, program: str) -> Path:
    """A run without MPI, by a program in Python that begins it."""
    subprocess.run([PYTHON, "-c", program, folder / "run"], check=True, timeout=60)
    return folder / "run"


def hostile_run(folder: Path) -> Path:
    """Its regions, markers, counters and units have the names that are keys of HOSTILE_NAMES."""
    return recorded(folder, _HOSTILE)


def damage(run: Path) -> str:
    """Makes the first chunk of events unreadable; its file's name."""
    file = next(run.glob("*.tare"))
    content = bytearray(file.read_bytes())
    at = 0
    while (head := HEADER.unpack_from(content, at))[2] != EVENTS:
        at += HEADER.size + head[7]
    content[at + HEADER.size] ^= 0xFF
    file.write_bytes(content)
    return file.name


def export_to_full_disk(tare: Path, run: Path, kind: str, to: Path) -> str:
    """No file may have more than 100,000 bytes: it fails, and leaves nothing. What it says."""

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    command: list[Path | str] = [tare, "export", run, "--to", kind, "-o", to]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=small)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert not list(to.parent.glob(f"{to.name}*"))
    return done.stderr


TOO_LARGE = os.strerror(27)


def rows(tare: Path, run: Path, *options: str) -> list[dict[str, object]]:
    """The rows of `tare events`."""
    return list(json.loads(ask(tare, "events", run, "--json", *options, check=True).stdout)["rows"])


def start_ns(run: Path) -> int:
    return int(json.loads((run / "meta.json").read_text())["start_ns"])
