"""What of the machine bears on measuring: shared memory, the clock, the installation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tare import units
from tare.errors import TareError
from tare.measuring import library
from tare.runs.directory import SHARED_MEMORY

State = Literal["ok", "warning", "failed"]
CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
CPU_INFO = Path("/proc/cpuinfo")
TSC_FLAGS = {"constant_tsc", "nonstop_tsc"}


@dataclass(frozen=True)
class Check:
    """One fact about the machine; a warning costs speed or memory, not results."""

    name: str  # what was checked
    state: State
    detail: str  # what was found, in words


def checks() -> list[Check]:
    """Tests what tare needs of the machine, apart from MPI: its libraries, shared memory, a clock."""
    return [*_libraries(), _shared_memory(), _clock()]


def _libraries() -> Iterator[Check]:
    for name in (library.MEASURING, library.FORWARDING):
        try:
            yield Check(name, "ok", str(library.find(name)))
        except TareError as error:
            yield Check(name, "failed", str(error))


def _shared_memory() -> Check:
    name = f"{SHARED_MEMORY}"
    try:
        found = os.statvfs(SHARED_MEMORY)
    except OSError as error:
        return Check(name, "warning", f"{error.strerror}: records are kept in the run directory")
    free = found.f_bavail * found.f_frsize
    return Check(name, "ok", f"{units.size(free)} free, of which tare takes at most an eighth")


def _clock() -> Check:
    source = _read(CLOCK_SOURCE).strip() or "unknown"
    flags = next((line for line in _read(CPU_INFO).splitlines() if line.startswith("flags")), "")
    if source == "tsc" and set(flags.split()) >= TSC_FLAGS:
        return Check("clock", "ok", "the processor's time stamp counter, which the kernel trusts")
    return Check(
        "clock",
        "warning",
        f"the kernel uses '{source}': calls are timed by CLOCK_MONOTONIC_RAW, which costs more",
    )


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
