"""The event recorders that are compared: tare's API and peers, each with a program in bench/recorders/."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools import BUILD, ROOT, BenchError, PeerError

SOURCES = ROOT / "bench" / "recorders"
PROGRAMS = ROOT / "build" / "bench" / "recorders"

# Debian's liblitl-dev and libfxt-dev conflict: FxT is unpacked aside.
FXT = ROOT / "build" / "bench" / "fxt"
FXT_PACKAGES = ("libfxt-dev", "libfxt2")

_LIBRARY = BUILD / "src" / "recorder"
_SLOPPY = ("-fpermissive", "-w")  # headers written for C, and not for a warning-free C++


@dataclass(frozen=True)
class Recorder:
    """A library that records events; `flags` compile its driver."""

    name: str
    label: str
    flags: tuple[str, ...]
    table: bool = True  # whether its driver records the events of LiTL's Table I


TARE = Recorder(
    "tare", "tare", (f"-I{ROOT}/include", f"-L{_LIBRARY}", "-ltare_record", f"-Wl,-rpath,{_LIBRARY}")
)
LITL = Recorder("litl", "LiTL", (*_SLOPPY, "-llitl"))
FXT_RECORDER = Recorder(
    "fxt",
    "FxT",
    (*_SLOPPY, f"-I{FXT}/usr/include", f"{FXT}/usr/lib/x86_64-linux-gnu/libfxt.a", "-lrt", "-ldl"),
)
OTF2 = Recorder("otf2", "OTF2", ("-lotf2",), table=False)
LTTNG = Recorder("lttng", "LTTng-UST", ("-llttng-ust", "-ldl"), table=False)
RECORDERS = (TARE, LITL, FXT_RECORDER, OTF2, LTTNG)


def build(recorder: Recorder) -> Path:
    """Compiles the driver unless that has been done since the last change; PeerError if a peer is missing."""
    source = SOURCES / f"{recorder.name}_events.cpp"
    out = PROGRAMS / recorder.name
    newest = max(file.stat().st_mtime for file in SOURCES.iterdir())
    if out.exists() and out.stat().st_mtime > newest:
        return out
    if recorder is FXT_RECORDER:
        _unpack_fxt()
    out.parent.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [
        "g++",
        "-std=gnu++20",
        "-O2",
        "-pthread",
        f"-I{SOURCES}",
        source,
        "-o",
        out,
        *recorder.flags,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        kind = BenchError if recorder is TARE else PeerError
        raise kind(f"{source.name} does not compile; `make bench` installs what it needs\n{done.stderr}")
    return out


def _unpack_fxt() -> None:
    if FXT.exists():
        return
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            ["apt-get", "download", *FXT_PACKAGES], cwd=directory, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise PeerError(f"apt-get cannot download {', '.join(FXT_PACKAGES)}: {done.stderr.strip()}")
        for package in Path(directory).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, FXT], check=True)


@dataclass(frozen=True)
class Recorded:
    """What a driver printed, and what lies on the disk afterwards."""

    event_ns: float
    clock_ns: float
    disk_bytes: int
    raw_bytes: int = 0  # of tare: the columns before they are compressed


def run(recorder: Recorder, arguments: Sequence[str], buffer: int) -> Recorded:
    """Runs the driver once, its trace on the disk of the build; the trace is gone afterwards."""
    program = build(recorder)
    with tempfile.TemporaryDirectory(prefix="tare-bench-", dir=PROGRAMS) as directory:
        path = Path(directory) / "trace"
        environment = dict(os.environ)
        if recorder is TARE and buffer:
            environment["TARE_BUFFER"] = str(buffer)
        command: list[str | Path] = [program, *arguments, str(buffer), path]
        if recorder is LTTNG:
            with _lttng_session(Path(directory), buffer) as more:
                done = subprocess.run(command, capture_output=True, text=True, env={**environment, **more})
        else:
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            kind = BenchError if recorder is TARE else PeerError
            raise kind(f"exit code {done.returncode} of {' '.join(map(str, command))}\n{done.stderr}")
        figures = json.loads(done.stdout) if done.stdout else {"event_ns": 0.0, "clock_ns": 0.0}
        return Recorded(
            figures["event_ns"],
            figures["clock_ns"],
            sum(file.stat().st_size for file in Path(directory).rglob("*") if file.is_file()),
            _raw_bytes(path) if recorder is TARE else 0,
        )


# A chunk's header, docs/format.md: type, stored_bytes and raw_bytes are what is looked at.
_HEADER = struct.Struct("<IHBBQIIIIIIQQII")
_EVENTS = 4


def _raw_bytes(run_directory: Path) -> int:
    """What the event chunks of a run hold, headers included, before compression."""
    total = 0
    for file in run_directory.glob("*.tare"):
        data = file.read_bytes()
        at = 0
        while at + _HEADER.size <= len(data):
            _, _, kind, _, _, _, _, stored, raw, *_ = _HEADER.unpack_from(data, at)
            if kind == _EVENTS:
                total += _HEADER.size + raw
            at += _HEADER.size + stored
    return total


@contextmanager
def _lttng_session(directory: Path, buffer: int) -> Iterator[dict[str, str]]:
    """A session of LTTng that takes the driver's events; yields the environment to run it in."""
    if shutil.which("lttng-sessiond") is None:
        raise PeerError("lttng-sessiond is missing; `make bench` installs it")
    home = {"LTTNG_HOME": str(directory), "LTTNG_UST_REGISTER_TIMEOUT": "3000"}
    environment = {**os.environ, **home}
    pid = directory / "sessiond.pid"
    # As root the daemon is the system's: its sockets and pid file go aside all the same.
    daemon: list[str | Path] = ["lttng-sessiond", "--daemonize", "--no-kernel", "--quiet", "--pidfile", pid]
    subprocess.run(daemon, check=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def lttng(*arguments: str) -> None:
        command = ["lttng", "--no-sessiond", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise PeerError(f"{' '.join(command)}: {done.stdout}{done.stderr}")

    # Sub-buffers are of powers of two; a session has at least two of them for each processor.
    part = 1 << max(12, (buffer // 4).bit_length() - 1)
    try:
        lttng("create", "tare_bench", f"--output={directory}/trace")
        sizes = [f"--subbuf-size={part}", "--num-subbuf=4"]
        lttng("enable-channel", "-u", *sizes, "--buffers-uid", "events", "-s", "tare_bench")
        lttng("enable-event", "-u", "tare_bench:event", "-c", "events", "-s", "tare_bench")
        lttng("start", "tare_bench")
        yield home
        lttng("destroy", "tare_bench")
    finally:
        if pid.exists():
            os.kill(int(pid.read_text()), 15)
