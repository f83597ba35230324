"""What is known of monitoring trees, from one run to the next: a cache in the user's home directory.

`tare sweetspot` fills it, and so do runs with `--monitor=auto`. Runs hand it to the root of their tree, and
take from there what it has found; src/tared/boi/spot_book.h has the format.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tare
from tare import private_files
from tare.errors import CommandError
from tare.measuring.monitoring import Monitoring

KNOWN, FOUND = "spots-known", "spots-found"
LARGEST_FOUND = 4 << 20
SPOTS, PROBES = "spots", "probes"  # of runs, and of tare sweetspot, in an entry of the cache


@dataclass(frozen=True)
class Spot:
    """The bottleneck offload interval (BOI) for profiles of one size, on a tree of one size."""

    ranks: int  # of the tree
    nodes: int  # of the tree
    events: int  # of a profile
    is_bound: int  # 1: the BOI is at most `boi_ns`
    boi_ns: float
    boi_spread_ns: float  # width of the range in which the search found it
    rest_ns: float  # one-way delay at rest: mean and standard deviation
    rest_deviation_ns: float
    direct_ns: float = -1.0  # duration of an offload; negative: not known

    @staticmethod
    def of_line(line: str) -> Spot | None:
        """The spot in a line of a file of spots; None if the line is none."""
        try:
            ranks, nodes, events, is_bound, *times = line.split()
            spot = Spot(int(ranks), int(nodes), int(events), int(is_bound), *map(float, times))
        except (TypeError, ValueError):
            return None
        return spot if spot.makes_sense else None

    @property
    def makes_sense(self) -> bool:
        """Whether the numbers are possible ones: other programs may write the files."""
        return min(self.ranks, self.nodes, self.events) > 0 and math.isfinite(self.boi_ns) and self.boi_ns > 0

    @property
    def line(self) -> str:
        """The spot as a line of a file of spots (src/tared/boi/spot_book.h), times in whole nanoseconds."""
        times = (self.boi_ns, self.boi_spread_ns, self.rest_ns, self.rest_deviation_ns, self.direct_ns)
        whole = (self.ranks, self.nodes, self.events, self.is_bound)
        return " ".join([*map(str, whole), *(f"{of:.0f}" for of in times)])


def path() -> Path:
    """The cache file, below XDG_CACHE_HOME or ~/.cache. It need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tare" / "sweetspots.json"


def key(tree: dict[str, Any]) -> str:
    """The key of an entry; it names the machine and tare, as times depend on both."""
    machine = os.uname()
    return json.dumps([machine.nodename, machine.machine, os.cpu_count(), tare.__version__, tree])


def entries() -> dict[str, Any]:
    """The entries of the cache by key. Empty if the file is missing or unreadable: it is only a cache."""
    try:
        found = json.loads(path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def change(key: str, make: Callable[[dict[str, Any]], None]) -> None:
    """Changes one entry, as well as it can: a cache that cannot be written is none."""
    all_of_them = entries()
    entry = all_of_them.get(key)
    if not isinstance(entry, dict):
        entry = all_of_them[key] = {}
    make(entry)
    entry["time"] = time.time()
    with suppress(OSError):
        path().parent.mkdir(parents=True, exist_ok=True)
        part = path().with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(all_of_them), "utf-8")
        part.replace(path())


def trees(monitoring: Monitoring) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The trees of the cache that were measured on this machine and with this filter, with their entries."""
    for text, entry in entries().items():
        with suppress(ValueError, KeyError, TypeError, IndexError, AttributeError):
            tree = json.loads(text)[-1]
            if text == key(tree) and tree["filter"] == monitoring.filter:
                yield tree, entry


def known(monitoring: Monitoring) -> list[Spot]:
    """The results of trees as this monitoring forms them, of any size; one of each size and profile."""
    found: dict[tuple[int, int, int], Spot] = {}
    for tree, entry in trees(monitoring):
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            for spot in [*_of_probes(tree, entry), *_of_runs(tree, entry, monitoring)]:
                at = (spot.ranks, spot.nodes, spot.events)
                # A bound says less, and made-up ranks are not those of a program.
                if spot.makes_sense and (at not in found or not spot.is_bound):
                    found[at] = spot
    return list(found.values())


def _of_probes(tree: dict[str, Any], entry: dict[str, Any]) -> Iterator[Spot]:
    """Ranks of `tare sweetspot` are below nodes that have none; programs form such trees of one node."""
    if PROBES not in entry or tree["nodes"] != 0 or tree["ranks"] > tree["fan_out"]:
        return
    for events, probe in entry[PROBES].items():
        trials = probe["boi_trials_ns"]
        spread_ns = max(trials) - min(trials)
        direct_ns = probe["direct_ns"] if probe["direct_ns"] >= 0 else -1.0  # it may be NaN
        rest = probe["rest_ns"], probe["rest_deviation_ns"], direct_ns
        yield Spot(tree["ranks"], 1, int(events), 0, probe["boi_ns"], spread_ns, *rest)


def _of_runs(tree: dict[str, Any], entry: dict[str, Any], monitoring: Monitoring) -> Iterator[Spot]:
    if SPOTS in entry and (tree["nodes"] == 1 or tree["fan_out"] == monitoring.fan_out):
        for spot in entry[SPOTS].values():
            yield Spot(**spot)


def hand_over(monitoring: Monitoring, folder: Path) -> None:
    """Hands the results to the root of the tree, before it begins: into the folder where nodes meet."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        lines = "".join(f"{spot.line}\n" for spot in known(monitoring))
        private_files.replace(folder / KNOWN, lines.encode())


def take(monitoring: Monitoring, folder: Path) -> None:
    """What the root has found, into the cache."""
    try:
        with private_files.opened_directory(folder) as directory:
            text = directory.read(FOUND, LARGEST_FOUND).decode("utf-8")
    except (OSError, ValueError, CommandError):
        return
    for spot in filter(None, map(Spot.of_line, text.splitlines())):
        of_one_node = spot.nodes == 1
        tree = {
            "ranks": spot.ranks,
            "nodes": spot.nodes,
            "fan_out": 0 if of_one_node else monitoring.fan_out,
            "transport": "shared memory" if of_one_node else "network",
            "filter": monitoring.filter,
        }
        change(key(tree), lambda entry, spot=spot: _put(entry, spot))  # type: ignore[misc]


def _put(entry: dict[str, Any], spot: Spot) -> None:
    of_sizes = entry.setdefault(SPOTS, {})
    before = of_sizes.get(str(spot.events))
    if not before or before["is_bound"] or not spot.is_bound:
        of_sizes[str(spot.events)] = asdict(spot)
