"""An offload in the rank: with a reader that keeps up, comes late or never comes; nobody waits.

Nataraj et al. (2008) measured 2 to 4 ms for 64 events.
"""

from __future__ import annotations

import json
import re
import subprocess
from statistics import median

from programs import built
from report import Row, Table
from tare.analysis.intervals import median_interval

EVENTS = (64, 1024)
POLICIES = ("nonblock", "lossy")
# Numbers of the program's `reader`.
READERS = ("a reader keeps up", "comes late", "never comes")
LIMIT_US = 2.0
NS_PER_US = 1000


def measure(rounds: int) -> list[Table]:
    samples: dict[tuple[int, str, str], list[float]] = {}
    for _ in range(rounds):
        for events in EVENTS:
            for policy in POLICIES:
                for name, value in _run(policy, events).items():
                    samples.setdefault((events, policy, name), []).append(value)
    rows = [
        Row(
            f"{events:,} events, {policy}: {name}",
            median(values),
            median_interval(values),
            LIMIT_US if events == EVENTS[0] else None,
        )
        for (events, policy, name), values in samples.items()
    ]
    return [
        Table("An offload in the rank, median of a run", "us", "us", rows, rounds, digits=2, over="in all")
    ]


def _run(policy: str, events: int) -> dict[str, float]:
    """Median times, by what the reader does."""
    command = [str(built("bench/offload_bench")), policy, str(events), "--benchmark_format=json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = {}
    for each in json.loads(done.stdout)["benchmarks"]:
        match = re.search(r"reader:(\d+)/cold:(\d+)", each["name"])
        assert match is not None, each["name"]
        name = READERS[int(match[1])] + (", caches are cold" if match[2] == "1" else "")
        found[name] = each["p50_ns"] / NS_PER_US
    return found
