"""What is concluded from measurements of monitoring trees, on numbers that are known."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tare.errors import CommandError
from tare.lab.sweetspot import calibrate, characterise, simulate, survey
from tare.lab.sweetspot.characterise import Probe, Stability
from tare.lab.sweetspot.live_tree import Topology
from tare.lab.sweetspot.simulate import Costs
from tare.lab.sweetspot.tables import loss_map
from tare.lab.sweetspot.verb import sweetspot
from tare.measuring import sweet_spots


def probe(events: int = 64, boi_ns: float = 1e6, overall_ns: float = 1e4) -> Probe:
    return Probe(events, 2e6, 1e5, boi_ns, [boi_ns], boi_ns, 1, [], overall_ns=overall_ns)


def test_the_advice_is_the_tree_that_takes_profiles_most_often() -> None:
    slow, quick = Topology(64, 2), Topology(64, 16)
    probes = {
        slow: [probe(boi_ns=9e6)],
        quick: [probe(boi_ns=4e6, overall_ns=8e5)],
        Topology(8, 8): [probe()],
    }
    best = survey.best_of(probes, 64, 64, 10)
    assert best is not None
    assert best.interval_ns == pytest.approx(8e5 * 9), "the cost, not the queue, says how often"
    assert best.sentence() == "for 64 ranks, 64 events, at most 10 %: fan-out 16, every 7.20 ms or more"
    at_two = survey.best_of(probes, 64, 64, 2)
    assert at_two is not None
    assert at_two.topology is slow
    assert survey.best_of(probes, 64, 1024, 2) is None


def test_the_limiting_overhead_is_that_of_the_paper() -> None:
    assert probe(boi_ns=75.0, overall_ns=25.0).limiting_overhead == pytest.approx(25)
    assert probe(overall_ns=-5.0).limiting_overhead == 0, "noise is no gain"


class MadeUpTree:
    """A tree of which the true interval is known; it is slower when rounds come more often."""

    def __init__(self, true_ns: float) -> None:
        self.true_ns = true_ns

    def burst(self, _events: int, _rounds: int, interval_ns: float) -> SimpleNamespace:
        is_sustained = interval_ns >= self.true_ns
        return SimpleNamespace(arrival_interval=interval_ns if is_sustained else 1.1 * self.true_ns)


@pytest.mark.parametrize("true_ns", [0.85e6, 0.9e6, 1e6, 1.07e6, 1.2e6])
def test_the_true_value_is_the_least_interval_that_is_sustained(true_ns: float) -> None:
    tree: Any = MadeUpTree(true_ns)
    assert characterise.min_sustained(tree, 64, 1e6) == pytest.approx(true_ns, rel=0.02)


def test_a_true_value_that_is_far_away_is_beyond_all_steps() -> None:
    low: Any = MadeUpTree(0.5e6)
    high: Any = MadeUpTree(2e6)
    assert characterise.min_sustained(low, 64, 1e6) < 0.82e6
    assert characterise.min_sustained(high, 64, 1e6) > 1.22e6


def test_rank_sets_are_read() -> None:
    assert characterise.parse_ranks("0-2,7") == {0, 1, 2, 7}
    assert characterise.parse_ranks("") == set()


def test_a_threshold_saves_rounds_that_few_children_lack() -> None:
    dropped = ["", "3", "3,11", "0-3", "0-3,8-11"]  # fan-out 4
    assert characterise.accepted(dropped, 4, 0) == 20
    assert characterise.accepted(dropped, 4, 1) == 80, "one node without a result, too, is one failed child"
    assert characterise.accepted(dropped, 4, 4) == 100


def test_the_loss_map_shows_who_lost_when() -> None:
    assert loss_map(["", "1", "1-2", ""]) == ["    ", " ## ", "  # "]
    assert loss_map(["", ""]) == []
    wide = loss_map(["0-63"] * 100 + [""] * 100)
    assert {len(line) for line in wide} == {72}
    assert wide[0].startswith("###") and wide[0].endswith("   ")


def test_what_was_measured_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    topology = Topology(8, 2)
    assert survey.kept(topology, [64]) is None
    survey.keep(topology, [probe(64)])
    survey.keep(topology, [probe(128)])
    known = survey.kept(topology, [64, 128])
    assert known is not None
    assert [each.events for each in known[0]] == [64, 128]
    assert known[0][0].boi_ns == 1e6
    assert survey.kept(topology, [64, 256]) is None
    assert survey.kept(Topology(8, 4), [64]) is None
    sweet_spots.path().write_text("{")
    assert survey.kept(topology, [64]) is None


@pytest.mark.parametrize("fan_out", [2, 8, 64])
@pytest.mark.parametrize("ranks", [1, 64, 1000])
def test_a_tree_with_a_processor_for_each_node_is_as_quick_as_its_busiest(ranks: int, fan_out: int) -> None:
    costs = simulate.Costs(snapshot_ns=10_000, packet_ns=50_000)
    shape = simulate.Shape(ranks, fan_out)
    busiest = 10_000 * min(fan_out, ranks)
    widest = max((min(fan_out, count) for count in shape.levels[:-1]), default=0)
    expected = max(busiest, 50_000 * widest)
    assert simulate.boi_ns(shape, costs, None) == expected


def test_nodes_that_share_processors_take_turns() -> None:
    costs = simulate.Costs(snapshot_ns=10_000, packet_ns=50_000)
    shape = simulate.Shape(16, 4)
    assert shape.levels == [4, 1]
    work = 16 * 10_000 + 4 * 50_000
    assert simulate.boi_ns(shape, costs, 1) == work
    # The root alone takes 4 packets a round, and waits for its turn behind leaves.
    assert 4 * 50_000 <= simulate.boi_ns(shape, costs, 2) < 0.75 * work


def test_the_delay_at_rest_is_the_way_up() -> None:
    costs = simulate.Costs(snapshot_ns=10_000, packet_ns=50_000)
    assert simulate.resting_delay_ns(simulate.Shape(64, 8), costs) == 8 * 10_000 + 8 * 50_000


def paces(truth: Costs, processors: int, noise: float = 0.0) -> dict[Topology, list[float]]:
    """The paces of real trees, if the model were the truth."""
    signs = (1, -1, 0, 1, -1, 1, -1, 0)
    return {
        each: [
            simulate.boi_ns(simulate.Shape(each.ranks, each.fan_out), truth, processors) * (1 + noise * sign)
        ]
        for each, sign in zip((*calibrate.FITTED, *calibrate.HELD_OUT), signs, strict=True)
    }


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_costs_are_fitted_to_what_was_measured(noise: float) -> None:
    truth = Costs(snapshot_ns=2_000, packet_ns=30_000, round_ns=5_000, copy_ns=1_000)
    model = calibrate.fitted(64, paces(truth, 2, noise), 2)
    assert model.is_borne_out and model.error < 0.25 + 2 * noise
    assert model.costs.snapshot_ns == pytest.approx(truth.snapshot_ns, rel=0.1 + 2 * noise)
    assert model.costs.packet_ns == pytest.approx(truth.packet_ns, rel=0.3 + 2 * noise)


def test_a_model_that_is_off_is_not_borne_out() -> None:
    found = paces(Costs(2_000, 30_000), 2)
    found[calibrate.HELD_OUT[0]] = [value * 3 for value in found[calibrate.HELD_OUT[0]]]
    model = calibrate.fitted(64, found, 2)
    assert not model.is_borne_out
    assert model.checks[0].error == pytest.approx(-2 / 3, abs=0.05)


def simulated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: dict[Topology, list[float]]
) -> dict[str, Any]:
    """What the command says if trees of this machine are like that."""

    def calibrated(sizes: list[int], processors: int, _: object) -> list[calibrate.Model]:
        return [calibrate.fitted(events, found, 2) for events in sizes]

    monkeypatch.setattr(calibrate, "calibrated", calibrated)
    sweetspot(ranks="64,1000000", events="16", simulate=True, json=True)
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_trees_that_are_not_here_are_simulated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = Costs(snapshot_ns=2_000, packet_ns=30_000, round_ns=5_000, copy_ns=1_000)
    found = simulated(monkeypatch, capsys, paces(truth, 2, 0.1))
    assert len(found["checks"]) == len(calibrate.HELD_OUT)
    worst = max(abs(check["error_percent"]) for check in found["checks"])
    assert 0 < worst <= 50
    million = [row for row in found["simulated"] if row["ranks"] == 1_000_000]
    assert {row["fan_out"] for row in million} == {8, 16, 32, 64}
    for row in million:
        fan_out = row["fan_out"]
        exact = simulate.boi_ns(simulate.Shape(1_000_000, fan_out), truth, None)
        assert row["boi_ns"] == pytest.approx(exact, rel=0.5)
        assert row["boi_low_ns"] == pytest.approx(row["boi_ns"] / (1 + worst / 100))
        assert row["boi_high_ns"] == pytest.approx(row["boi_ns"] * (1 + worst / 100))
        assert row["model_error_percent"] == pytest.approx(worst)
        assert row["nodes"] == simulate.Shape(1_000_000, fan_out).nodes > 1_000_000 / fan_out
        assert row["resting_delay_ns"] >= next(
            other["resting_delay_ns"]
            for other in found["simulated"]
            if other["ranks"] == 64 and other["fan_out"] == fan_out
        )


def test_a_simulation_that_is_off_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = paces(Costs(2_000, 30_000), 2)
    found[calibrate.HELD_OUT[0]] = [value * 3 for value in found[calibrate.HELD_OUT[0]]]
    with pytest.raises(CommandError, match=r"the model is off by \d\d\.\d %"):
        simulated(monkeypatch, capsys, found)
    assert capsys.readouterr().out == ""


def test_repeated_probes_have_a_spread() -> None:
    found = Stability.of(64, [(1.0, 10.0), (2.0, 10.0), (3.0, 10.0)])
    assert found == Stability(64, 50.0, 0.0)
