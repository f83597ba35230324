"""`tare sweetspot` on live trees of this machine's processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import wait_until
from tare.lab.sweetspot import calibrate, simulate


def sweetspot(cache: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tare", "sweetspot", *options],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def content(cache: Path, *options: str) -> dict[str, Any]:
    done = sweetspot(cache, *options, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_tree_is_characterised(tmp_path: Path) -> None:
    found = content(tmp_path, "--ranks", "8", "--fan-out", "2,8", "--events", "16", "--transport", "tcp")
    assert found["schema"] == "tare.sweetspot/1"
    assert [(tree["fan_out"], tree["events"]) for tree in found["trees"]] == [(2, 16), (8, 16)]
    for tree in found["trees"]:
        assert tree["boi_ns"] > 0
        assert len(tree["boi_trials_ns"]) == 3
        assert min(tree["boi_trials_ns"]) <= tree["boi_ns"] <= max(tree["boi_trials_ns"])
        assert tree["resting_delay_ns"] > 0
        assert 0 < tree["direct_offload_ns"] <= tree["worst_offload_ns"]
        assert tree["reduction_ns"] > 0
        assert (tree["packet_ns"] > 0) == (tree["fan_out"] == 2), "one node has no packets"
        assert [step["interval"] for step in tree["steps"]]
    naive = {(each["policy"], round(each["interval_ns"])): each for each in found["naive"]}
    assert len(naive) == 9
    for (policy, _), each in naive.items():
        assert len(each["worst_costs_ns"]) == len(each["dropped"]) == 200
        if policy != "lossy":
            assert not any(each["dropped"])
            assert each["complete_percent"] == 100
    for tree in found["trees"]:
        assert [each["below"] for each in tree["arrivals_below_boi"]] == [0.1, 0.2, 0.4]
    assert [each["interval_ns"] for each in found["irregular"]] == pytest.approx(
        [factor * found["trees"][1]["boi_ns"] for factor in (1, 1.5, 2, 4)]
    )
    assert all(each["irregular_tenth_ns"] >= each["irregular_ns"] > 0 for each in found["irregular"])
    assert [(each["fan_out"], each["events"]) for each in found["stability"]] == [
        (tree["fan_out"], tree["events"]) for tree in found["trees"]
    ]
    assert all(each["rest_percent"] > 0 and each["boi_percent"] > 0 for each in found["stability"])
    assert len(found["advice"]) == 1
    assert found["advice"][0].startswith("for 8 ranks, 16 events, at most 2 %: fan-out ")


def test_what_is_known_is_not_measured_again(tmp_path: Path) -> None:
    options = ("--ranks", "4", "--fan-out", "4", "--events", "16", "--brief")
    first = content(tmp_path, *options)
    assert content(tmp_path, *options)["trees"] == first["trees"]
    assert content(tmp_path, *options, "--fresh")["trees"] != first["trees"]
    shown = sweetspot(tmp_path, *options).stdout
    assert "(measured " in shown
    assert "every " in shown


def test_figures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "figures"
    options = "--ranks 4 --fan-out 2 --events 16,32 --probes 2 --figures"
    done = sweetspot(tmp_path, *options.split(), str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    drawn = {path.name for path in folder.iterdir()}
    expected = "boi limiting-overhead search delay-block cost-lossy overheads arrivals-below stability"
    assert {f"{name}.svg" for name in expected.split()} <= drawn
    assert all("</svg>" in path.read_text() for path in folder.iterdir())


def test_filters_are_compared(tmp_path: Path) -> None:
    filters = ["statistics", "histogram", "groups"]
    options = ("--ranks", "8", "--fan-out", "4", "--events", "16", "--brief", "--filter", ",".join(filters))
    found = content(tmp_path, *options)
    assert [tree["filter"] for tree in found["trees"]] == filters
    assert "The BOI by filter" in sweetspot(tmp_path, *options).stdout


def test_the_model_of_trees_is_fitted_to_real_ones() -> None:
    """How far it is off depends on what else the machine does; that it is told as it is does not."""
    told: list[str] = []
    (model,) = calibrate.calibrated([16], os.cpu_count() or 1, told.append)
    assert len(told) == calibrate.REPEATS * (len(calibrate.FITTED) + len(calibrate.HELD_OUT))
    assert model.events == 16 and [check.topology for check in model.checks] == list(calibrate.HELD_OUT)
    assert min(vars(model.costs).values()) >= 0 < max(vars(model.costs).values())
    for check in model.checks:
        assert check.measured_ns > 1_000 and check.spread >= 0
        shape = simulate.Shape(check.topology.ranks, check.topology.fan_out)
        assert check.model_ns == simulate.boi_ns(shape, model.costs, os.cpu_count() or 1)
        assert check.error == pytest.approx(check.model_ns / check.measured_ns - 1)
    assert model.is_borne_out == (max(abs(check.error) for check in model.checks) <= calibrate.MAX_ERROR)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--ranks", "many"), "'many'"),
        (("--transport", "pigeon"), "pigeon"),
        (("--ranks", "5000"), "--simulate"),
        (("--fan-out", "1"), "--fan-out 1"),
        (("--events", "1000000"), "--events 1000000"),
        (("--simulate", "--fan-out", "8,1"), "--fan-out 1"),
        (("--simulate", "--filter", "groups"), "--filter"),
        (("--simulate", "--transport", "tcp"), "--transport"),
        (("--simulate", "--events", "70000"), "--events 70000"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: tuple[str, ...], named: str) -> None:
    done = sweetspot(tmp_path, *options)
    assert done.returncode == 2
    assert named in done.stderr


def test_a_filter_that_is_none_is_named(tmp_path: Path) -> None:
    done = sweetspot(tmp_path, "--ranks", "4", "--fan-out", "4", "--filter", "medians", "--brief")
    assert done.returncode == 1
    assert "'medians'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_tree_that_is_interrupted_leaves_nothing(number: int, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "tare", "sweetspot", "--ranks", "8", "--fan-out", "4", "--events", "16"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: any(scratch.rglob("socket-*")), process=process)
    os.killpg(process.pid, number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert list(scratch.iterdir()) == []
