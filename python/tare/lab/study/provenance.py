"""What is recorded of the machine and the software of a run, so that sets that disagree can be compared.

A fact is a name and a text. Those of `identity` make results another study's: they may not change unnoticed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tare import programs
from tare.runs.environment import kept

Provenance = dict[str, str]
# Provenance whose change makes a result incomparable: the program, the MPI, the tool, the machine.
IDENTITY = re.compile(r"(program|launcher|library|tool)\.|machine\.(host|processor|processors|memory)$")
UNKNOWN = "unknown"


def machine() -> Provenance:
    """Facts about this machine, by name."""
    facts = {
        "machine.host": socket.gethostname(),
        "machine.processor": _processor(),
        "machine.processors": str(len(os.sched_getaffinity(0))),
        "machine.memory": f"{_memory_kib() // 1024} MiB",
        "machine.kernel": platform.release(),
        "machine.system": _system(),
        "machine.governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "machine.turbo": _read("/sys/devices/system/cpu/intel_pstate/no_turbo"),
        "machine.smt": _read("/sys/devices/system/cpu/smt/control"),
        "machine.clock": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "machine.transparent_huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "machine.libc": " ".join(platform.libc_ver()),
        "software.python": platform.python_version(),
    }
    return {name: value for name, value in facts.items() if value}


def file_system(path: Path) -> Provenance:
    """The file system of the directory that the tools write to."""
    best = ("", "", "", "")
    for line in _read("/proc/self/mounts").splitlines():
        device, mount, kind, options = line.split()[:4]
        inside = path.resolve().is_relative_to(mount)
        if inside and len(mount) >= len(best[1]):
            best = (device, mount, kind, options)
    device, mount, kind, options = best
    return {
        "output.file_system": kind or UNKNOWN,
        "output.device": device,
        "output.mount": mount,
        "output.mount_options": options,
    }


def program(name: str, command: Sequence[str], environment: Mapping[str, str]) -> Provenance:
    """The executable of a workload, and what the loader would load into it."""
    path = programs.find(command[0], environment.get("PATH"))
    if path is None:
        return {}
    facts = {f"program.{name}": f"{command[0]} sha256:{digest(Path(path))}"}
    for library, where in _libraries(path, environment.get("LD_LIBRARY_PATH", "")):
        facts[f"library.{name}.{library}"] = f"{where} sha256:{digest(Path(where))}"
    return facts


def mpi(name: str, launcher: str, environment: Mapping[str, str]) -> Provenance:
    """Facts about an MPI: version, and path and checksum of its launcher.

    Empty if the launcher is missing.
    """
    path = programs.find(launcher, environment.get("PATH"))
    if path is None:
        return {}
    done = _output((path, "--version"), tuple(sorted(environment.items())))
    version = next((line.strip() for line in done.splitlines() if re.search(r"\d+\.\d+", line)), UNKNOWN)
    return {
        f"launcher.{name}": f"{os.path.realpath(path)} sha256:{digest(Path(path))}",
        f"mpi.{name}": version,
    }


def tool(name: str, words: Iterable[str]) -> Provenance:
    """The files that a tool's own words name, and its installed programs."""
    facts = {}
    for word in words:
        path = programs.find(word) if "{" not in word and "/" not in word else word
        if path and Path(path).is_file():
            facts[f"tool.{name}.{Path(path).name}"] = f"{os.path.realpath(path)} sha256:{digest(Path(path))}"
    return facts


def environment(variables: Mapping[str, str]) -> Provenance:
    """Variables that say how programs run, without secrets."""
    return {f"environment.{name}": value for name, value in kept(variables).items()}


def fingerprint(facts: Mapping[str, str]) -> str:
    """A short checksum of facts. Equal facts have equal ones."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(facts.items()))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Name, value before, value after of every fact that is not the same; empty where there is none."""
    names = sorted(before.keys() | after.keys())
    return [
        (name, before.get(name, ""), after.get(name, ""))
        for name in names
        if before.get(name, "") != after.get(name, "")
    ]


def changed_identity(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Differences that forbid mixing: of facts that both have."""
    return [
        (name, old, new)
        for name, old, new in differences(before, after)
        if IDENTITY.match(name) and old and new
    ]


@cache
def digest(path: Path) -> str:
    """The first 16 hex digits of the file's SHA-256."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return UNKNOWN


@cache
def _libraries(path: str, library_path: str) -> list[tuple[str, str]]:
    variables = dict(os.environ)
    variables.pop("LD_PRELOAD", None)
    if library_path:
        variables["LD_LIBRARY_PATH"] = library_path
    text = _output(tuple(programs.ldd(path)), tuple(sorted(variables.items())))
    return sorted(re.findall(r"^\s*(\S+) => (/\S+)", text, re.MULTILINE))


@cache
def _output(command: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> str:
    return programs.output(command, 20, dict(variables))


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _processor() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return match[1] if match else platform.machine()


def _memory_kib() -> int:
    match = re.search(r"^MemTotal:\s*(\d+)", _read("/proc/meminfo"), re.MULTILINE)
    return int(match[1]) if match else 0


def _system() -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', _read("/etc/os-release"), re.MULTILINE)
    return match[1] if match else platform.system()
