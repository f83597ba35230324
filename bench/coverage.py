"""How evenly each strategy covers the messages of a bursty program (PHOTON, section 4.6 and Figure 11).

workloads/halo sends six messages at once and then computes. A strategy that looks at a clock finds the first
message after the computation and misses those behind it; an even one takes each of the six as often.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from programs import built
from report import Row, Table

from tools import ROOT, TARE, BenchError, openmpi4, run

RANKS, FACES, ITERATIONS = 2, 6, 4000
# About one message in 24 each: as many samples for every strategy.
STRATEGIES = ("random:0.04", "counter:24,12", "counter:24,0", "timer:100us,20us", "timer:100us,0us")
FIGURE = ROOT / "build" / "bench" / "coverage.svg"


@dataclass(frozen=True)
class Coverage:
    """Which messages of rank 0 a strategy took: pairs of the number of the burst and the place in it."""

    strategy: str
    taken: Sequence[tuple[int, int]]

    @property
    def by_place(self) -> list[int]:
        counts = Counter(place for _, place in self.taken)
        return [counts[place] for place in range(FACES)]

    @property
    def evenness(self) -> float:
        """The entropy of the places: 1 if all are taken as often, 0 if one alone is."""
        total = sum(self.by_place)
        shares = [count / total for count in self.by_place if count] if total else []
        return sum(share * math.log(1 / share) for share in shares) / math.log(FACES)


def measure() -> list[Table]:
    coverages = [_cover(strategy) for strategy in STRATEGIES]
    rows = [Row(each.strategy, each.evenness) for each in coverages]
    places = [f"{each.strategy}: {' '.join(map(str, each.by_place))}" for each in coverages]
    notes = [f"samples by place in the burst, {FACES * ITERATIONS:,} messages:", *places, _draw(coverages)]
    title = "Coverage of workloads/halo's bursts (PHOTON 4.6): evenness over the places in a burst"
    return [Table(title, "1: even", "", rows, 1, digits=3, notes=notes)]


def _cover(strategy: str) -> Coverage:
    argv: list[Path | str] = [built("workloads/halo"), "-n", "8", "8", "8", "-i", str(ITERATIONS), "-w", "20"]
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as directory:
        out = Path(directory) / "run"
        prefix: list[Path | str] = [
            TARE,
            "run",
            "-q",
            "--trace",
            "--sample",
            f"{strategy},write",
            "-o",
            out,
            "--",
        ]
        done = run(openmpi4(), RANKS, argv, prefix=prefix, timeout_s=120)
        if done.returncode != 0:
            raise BenchError(done.stderr)
        listed = subprocess.run([TARE, "events", out, "--json"], capture_output=True, text=True, check=True)
    taken = []
    for row in json.loads(listed.stdout)["rows"]:
        if row.get("name") == "tare.message":
            source, _, tag, _, number, *_ = row["parameters"]
            if source == 0:
                taken.append((number, tag))
    return Coverage(strategy, sorted(taken))


def _draw(coverages: Sequence[Coverage]) -> str:
    """A dot for each sampled message: its burst to the right, its place in it upwards."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(len(coverages), 1, sharex=True, figsize=(9, 1.4 * len(coverages)))
    for axis, each in zip(axes, coverages, strict=True):
        axis.plot(
            [burst for burst, _ in each.taken], [place + 1 for _, place in each.taken], "k.", markersize=2
        )
        axis.set_ylim(0.5, FACES + 0.5)
        axis.set_title(f"{each.strategy}: evenness {each.evenness:.2f}", fontsize=9, loc="left")
        axis.set_ylabel("place")
    axes[-1].set_xlabel("burst")
    figure.tight_layout()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE)
    plt.close(figure)
    return f"figure: {FIGURE.relative_to(ROOT)}"
