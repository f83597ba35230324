"""How many nodes are below each node of a tree, where the user does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tare.lab.sweetspot import survey
from tare.lab.sweetspot.characterise import Probe
from tare.lab.sweetspot.live_tree import Topology
from tare.measuring import monitoring, sweet_spots
from tare.measuring.fan_out import Choice, Job, choose
from tare.measuring.sweet_spots import FOUND, Spot

SPEC = monitoring.parse("1s")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def chosen(job: Job, spec: str = "1s") -> Choice:
    found = choose(monitoring.parse(spec), job)
    assert found is not None
    return found


def run_with(folder: Path, spec: str, boi_ns: float, *, nodes: int, ranks: int, events: int = 60) -> None:
    """What a run with --monitor=auto has found."""
    folder.mkdir(exist_ok=True)
    (folder / FOUND).write_text(f"{Spot(ranks, nodes, events, 0, boi_ns, 10, 5e5, 1e4).line}\n")
    sweet_spots.take(monitoring.parse(spec), folder)


def probed(ranks: int, fan_out: int, bois_ns: dict[int, float], **others: str) -> None:
    """What tare sweetspot has found."""
    probes = [Probe(events, 5e5, 1e4, boi, [boi], 1.0, 3, []) for events, boi in bois_ns.items()]
    survey.keep(Topology(ranks, fan_out, **{"filter": SPEC.filter} | others), probes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("nodes", "fan_out", "levels"),
    [(2, 1, "1 level"), (6, 5, "1 level"), (9, 8, "1 level"), (10, 3, "2 levels"), (20, 4, "2 levels"),
     (73, 8, "2 levels"), (74, 4, "3 levels"), (1000, 6, "4 levels")],
)  # fmt: skip
def test_it_is_the_least_that_makes_no_more_levels_than_the_default(
    nodes: int, fan_out: int, levels: str
) -> None:
    found = chosen(Job(nodes))
    assert found.fan_out == fan_out and f"{nodes} nodes are {levels} below" in found.why


def test_one_node_is_no_tree() -> None:
    assert choose(SPEC, Job(1, 8)) is None
    assert choose(SPEC, Job()) is None, "others cannot connect"
    assert chosen(Job(), "1s,listen=10.1.0.0/16") == Choice(8, "how many nodes there are is not known")


def test_runs_on_as_many_nodes_decide(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    run_with(folder, "1s,fan-out=2", 3e6, nodes=6, ranks=24)
    assert chosen(Job(6, 24)).fan_out == 5, "one alone is compared with nothing"
    run_with(folder, "1s,fan-out=3", 2e6, nodes=6, ranks=24)
    run_with(folder, "1s,fan-out=5", 4e6, nodes=6, ranks=24)
    run_with(folder, "1s,fan-out=4", 1e6, nodes=6, ranks=48)
    run_with(folder, "1s,fan-out=4,filter=groups", 1e6, nodes=6, ranks=24)
    run_with(folder, "1s,fan-out=4", 1e6, nodes=7, ranks=24)
    run_with(folder, "1s,fan-out=4", 1e5, nodes=6, ranks=24, events=2)  # no other has profiles so small
    found = chosen(Job(6, 24))
    assert found.fan_out == 3 and "earlier runs on 6 nodes" in found.why and "60 events" in found.why
    assert chosen(Job(6)).fan_out == 4, "of any number of ranks"


def test_else_trees_of_tare_sweetspot_do() -> None:
    probed(64, 2, {16: 1e6, 128: 4e6})
    probed(64, 8, {16: 2e6, 128: 3e6})
    probed(64, 64, {16: 1e5, 128: 1e5})  # one node
    probed(64, 16, {16: 1e5, 128: 1e5}, filter="groups")
    probed(32, 16, {16: 1e5, 128: 1e5})
    found = chosen(Job(16, 64))
    assert found.fan_out == 2 and "64 ranks that tare sweetspot has measured" in found.why
    assert "16 events" in found.why
    probed(64, 2, {80: 4e6})
    probed(64, 8, {80: 3e6})
    assert chosen(Job(16, 64)).fan_out == 8, "80 is nearest to the usual size"
    assert chosen(Job(16)).fan_out == 4, "how many ranks there are is not known"


def test_a_damaged_cache_is_none() -> None:
    probed(64, 2, {64: 1e6})
    probed(64, 8, {64: 2e6})
    path = sweet_spots.path()
    text = path.read_text()
    for part in ('"boi_ns": 1000000.0', '"probes"', '"events"', "{"):
        for damage in ('"boi_ns": "x"', "null", "[]"):
            path.write_text(text.replace(part, damage))
            assert chosen(Job(16, 64)).fan_out in (2, 4)


def test_batch_systems_say_how_many_nodes_there_are(tmp_path: Path) -> None:
    assert Job.of({"SLURM_JOB_NUM_NODES": "4", "SLURM_NTASKS": "32"}) == Job(4, 32)
    assert Job.of({"SLURM_NNODES": "4"}) == Job(4)
    file = tmp_path / "nodes"
    file.write_text("a\na\nb\nb\n")
    assert Job.of({"PBS_NODEFILE": str(file)}) == Job(2, 4)
    assert Job.of({"PBS_NODEFILE": str(tmp_path / "none")}) == Job.of({"SLURM_NNODES": "x"}) == Job()
