"""How many nodes are below each node of a monitoring tree, where the user does not say (docs/monitoring.md).

What was measured decides: runs of the same number of nodes, then trees of `tare sweetspot` with as many
ranks; of those the fan-out that takes profiles most often. Otherwise it follows from the number of nodes:
a node needs more time for a round the more nodes are below it, and a round more time the more levels there
are. So it is the least fan-out that makes no more levels than the default does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare._native import DEFAULT_FAN_OUT
from tare.measuring import sweet_spots
from tare.measuring.monitoring import LOOPBACK, Monitoring
from tare.measuring.sweet_spots import PROBES, SPOTS

# Nobody knows yet how large the profiles will be; sizes are compared that are nearest to this.
USUAL_EVENTS = 64


@dataclass(frozen=True)
class Job:
    """The size of the job according to the batch system; 0: not known."""

    nodes: int = 0  # number of nodes
    ranks: int = 0  # number of ranks

    @staticmethod
    def of(variables: Mapping[str, str]) -> Job:
        """The job that the variables of Slurm or of PBS describe."""
        nodes = variables.get("SLURM_JOB_NUM_NODES") or variables.get("SLURM_NNODES", "")
        if nodes.isdecimal():
            ranks = variables.get("SLURM_NTASKS", "")
            return Job(int(nodes), int(ranks) if ranks.isdecimal() else 0)
        with suppress(OSError, UnicodeError, KeyError):
            lines = Path(variables["PBS_NODEFILE"]).read_text("utf-8").split()
            return Job(len(set(lines)), len(lines))
        return Job()


@dataclass(frozen=True)
class Choice:
    """The fan-out, and the reason in words."""

    fan_out: int  # the maximum number of children of a node of the monitoring tree
    why: str


def choose(monitoring: Monitoring, job: Job) -> Choice | None:
    """Nothing if, as far as can be told, there will be one node."""
    if job.nodes == 1 or (job.nodes == 0 and monitoring.listen == LOOPBACK):
        return None
    for bois, of in (
        (_bois(monitoring, SPOTS, job, _of_runs), f"of earlier runs on {job.nodes} nodes"),
        (
            _bois(monitoring, PROBES, job, _of_probes),
            f"of trees of {job.ranks} ranks that tare sweetspot has measured",
        ),
    ):
        found = _least(bois)
        if found:
            return Choice(found[0], f"{of}, this one takes profiles of {found[1]} events most often")
    if job.nodes == 0:
        return Choice(DEFAULT_FAN_OUT, "how many nodes there are is not known")
    levels = _levels(job.nodes, DEFAULT_FAN_OUT)
    fan_out = next(each for each in range(1, DEFAULT_FAN_OUT + 1) if _levels(job.nodes, each) <= levels)
    below = "1 level" if levels == 1 else f"{levels} levels"
    return Choice(fan_out, f"the least with which {job.nodes} nodes are {below} below the root at most")


def _levels(nodes: int, fan_out: int) -> int:
    """The number of levels below the root."""
    levels, width, held = 0, 1, 1
    while held < nodes:
        width *= fan_out
        held += width
        levels += 1
    return levels


# The BOI by size of profiles and fan-out.
Bois = dict[int, dict[int, float]]


def _least(bois: Bois) -> tuple[int, int] | None:
    """The fan-out with the least BOI, and the size; nothing unless there are several of one size."""
    compared = [events for events, of in bois.items() if len(of) > 1]
    if not compared:
        return None
    events = min(compared, key=lambda size: (abs(size - USUAL_EVENTS), size))
    return min(bois[events], key=lambda fan_out: (bois[events][fan_out], fan_out)), events


def _of_runs(tree: dict[str, Any], job: Job) -> bool:
    return bool(tree["nodes"] == job.nodes and job.ranks in (0, tree["ranks"]))


def _of_probes(tree: dict[str, Any], job: Job) -> bool:
    # `fan_out` ranks on one node are no tree.
    return bool(tree["nodes"] == 0 and tree["ranks"] == job.ranks and tree["fan_out"] < tree["ranks"])


def _bois(monitoring: Monitoring, kind: str, job: Job, wanted: Callable[[dict[str, Any], Job], bool]) -> Bois:
    bois: Bois = {}
    for tree, entry in sweet_spots.trees(monitoring):
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            if wanted(tree, job):
                for events, found in entry.get(kind, {}).items():
                    of, fan_out = bois.setdefault(int(events), {}), int(tree["fan_out"])
                    of[fan_out] = min(float(found["boi_ns"]), of.get(fan_out, float("inf")))
    return bois
