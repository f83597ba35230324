"""What was found is kept, for as long as the same tare runs on the same machine: a probe takes seconds."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tare
from tare.monitor.characterise import Probe
from tare.monitor.live_tree import Topology


def path() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tare" / "sweetspots.json"


def _key(topology: Topology) -> str:
    machine = os.uname()
    of = [machine.nodename, machine.machine, os.cpu_count(), tare.__version__]
    return json.dumps([*of, asdict(topology)])


def _all() -> dict[str, Any]:
    try:
        found = json.loads(path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load(topology: Topology, sizes: list[int]) -> tuple[list[Probe], float] | None:
    """Probes of these sizes, and when they were made (seconds since the epoch)."""
    entry = _all().get(_key(topology), {})
    try:
        probes = [Probe(**entry["probes"][str(events)]) for events in sizes]
        return probes, float(entry["time"])
    except (KeyError, TypeError, ValueError):
        return None


def save(topology: Topology, probes: list[Probe]) -> None:
    """As good as it goes: a cache that cannot be written is none."""
    all_of_them = _all()
    entry = all_of_them.setdefault(_key(topology), {"probes": {}})
    entry["time"] = time.time()
    entry["probes"] |= {str(probe.events): asdict(probe) for probe in probes}
    try:
        path().parent.mkdir(parents=True, exist_ok=True)
        part = path().with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(all_of_them), "utf-8")
        part.replace(path())
    except OSError:
        pass
