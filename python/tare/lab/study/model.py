"""What writing traces costs at sizes that nobody here can run: a model fitted to measured flushes.

A flush of b bytes takes, where nothing else writes,

    t(b) = l + b / w          l: fixed part, w: rate of a rank; both fitted by least squares to single flushes

On a shared file system with S servers of rate W each, n processes that write at once get a share of it:

    t(b, n) = l + b * max(1 / w, n / (u(f) S W e(f)))      f: files written at once

u = min(1, f / S) is the share of the servers that have a file at all. e, what is left of a server's rate by
going back and forth between files, is 1 up to one file a server, then 1 / (1 + c log2(f / S)). Creating the
files costs f / m, m: files that the metadata servers create in a second. With one file a rank f is the
number of ranks; with one file a node the number of nodes, and the ranks of a node append to it one after
another, which the fitted rate holds already (they did when it was measured).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tare.errors import CommandError
from tare.lab.study import statistics

# Fewer tell nothing about a slope.
MIN_FLUSHES = 20
# A fit that explains less of the variation of the durations (R squared) says nothing about other sizes.
MIN_EXPLAINED = 0.1


class NoModelError(CommandError):
    """The flushes do not say what the model needs."""


@dataclass(frozen=True)
class FileSystem:
    """The assumed file system. The defaults are those of a large Lustre system of 2022, in round numbers."""

    servers: int = 500  # S above
    server_bytes_per_s: float = 5e9  # W above
    creates_per_s: float = 50_000.0  # m above: files that the metadata servers create in a second
    switch_cost: float = 0.15  # c above; 0: files share a server without loss
    ranks_per_node: int = 64


@dataclass(frozen=True)
class Fit:
    """The fit of t(b) = latency_s + b / bytes_per_s to measured flushes."""

    latency_s: float
    latency_error_s: float  # its standard error
    bytes_per_s: float
    bytes_per_s_low: float  # its 95 % confidence interval; infinite if the slope may be 0
    bytes_per_s_high: float
    explained: float  # R squared
    flushes: int  # number of flushes
    mean_bytes: float  # of a flush


@dataclass(frozen=True)
class Demand:
    """What one rank writes in a run."""

    flushes: float  # number of flushes
    bytes: float  # their total size


@dataclass(frozen=True)
class Prediction:
    """Seconds that a rank spends on writing, for `ranks` ranks that all write at once."""

    ranks: int
    files_per_rank: int  # number of files if each rank writes its own
    files_per_node: int  # number of files if the ranks of a node share one
    create_per_rank_s: float  # time of creating files, with one file for each rank
    create_per_node_s: float  # and with one file for each node
    write_per_rank_s: float  # time of writing, with one file for each rank
    write_per_node_s: float  # and with one file for each node

    @property
    def per_rank_s(self) -> float:
        """Seconds that a rank spends on its files, with one file for each rank."""
        return self.create_per_rank_s + self.write_per_rank_s

    @property
    def per_node_s(self) -> float:
        """The same with one file for each node."""
        return self.create_per_node_s + self.write_per_node_s


def fit(sizes: Sequence[float], durations: Sequence[float]) -> Fit:
    """Least squares over single flushes; NoModelError where sizes explain nothing of the durations."""
    import numpy as np
    import statsmodels.api as models

    if len(sizes) < MIN_FLUSHES:
        raise NoModelError(
            f"the runs with a trace have {len(sizes)} flushes, {MIN_FLUSHES} are needed: "
            "run some, with small buffers"
        )
    across, up = np.asarray(sizes, float), np.asarray(durations, float)
    mean_bytes = float(across.mean())
    if float(across.std()) < 0.01 * mean_bytes:
        raise NoModelError(
            f"no model: all {len(sizes):,} flushes have {mean_bytes / 1024:.1f} KiB, so that nothing tells "
            "their fixed part from the rate; vary the buffer in the study"
        )
    found = models.OLS(up, models.add_constant(across)).fit()
    explained = 0.0 if statistics.are_equal(up) else float(found.rsquared)
    latency, slope = (float(value) for value in found.params)
    low, high = (float(value) for value in found.conf_int(0.05)[1])
    if slope <= 0 or explained < MIN_EXPLAINED:
        why = (
            "flushes of more bytes do not take longer"
            if slope <= 0
            else "something else decides how long they take"
        )
        raise NoModelError(
            f"no model: the sizes of {len(sizes):,} flushes explain {100 * explained:.1f} % of the variation "
            f"of their durations (R² = {explained:.3f}, {100 * MIN_EXPLAINED:.0f} % are needed): {why}"
        )
    return Fit(
        max(0.0, latency), float(found.bse[0]), 1 / slope, _rate(high), _rate(low), explained, len(up),
        mean_bytes,
    )  # fmt: skip


def _rate(slope: float) -> float:
    return 1 / slope if slope > 0 else math.inf


def used(files: float, system: FileSystem) -> float:
    """The share of the servers that have one of so many files, 0 to 1."""
    return min(1.0, files / system.servers)


def efficiency(files: float, system: FileSystem) -> float:
    """The share of their bandwidth that servers reach when they switch between so many files, 0 to 1."""
    crowd = files / system.servers
    return 1.0 if crowd <= 1 else 1 / (1 + system.switch_cost * math.log2(crowd))


def predict(fitted: Fit, demand: Demand, ranks: int, system: FileSystem) -> Prediction:
    """Seconds that each of `ranks` ranks spends on writing, with one file for each rank and for each node."""
    nodes = math.ceil(ranks / system.ranks_per_node)

    def write_s(files: int) -> float:
        shared = used(files, system) * system.servers * system.server_bytes_per_s * efficiency(files, system)
        return demand.flushes * fitted.latency_s + demand.bytes * max(1 / fitted.bytes_per_s, ranks / shared)

    return Prediction(
        ranks=ranks,
        files_per_rank=ranks,
        files_per_node=nodes,
        create_per_rank_s=ranks / system.creates_per_s,
        create_per_node_s=nodes / system.creates_per_s,
        write_per_rank_s=write_s(ranks),
        write_per_node_s=write_s(nodes),
    )
