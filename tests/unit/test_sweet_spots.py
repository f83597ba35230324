"""What is known of monitoring trees from one run to the next."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from tare.lab.sweetspot import survey
from tare.lab.sweetspot.characterise import Probe
from tare.lab.sweetspot.live_tree import Topology
from tare.measuring import monitoring, sweet_spots
from tare.measuring.sweet_spots import FOUND, KNOWN, Spot

SPEC = monitoring.parse("1s")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def probe(events: int, boi_ns: float, direct_ns: float = math.nan) -> Probe:
    return Probe(events, 5e5, 1e4, boi_ns, [boi_ns, boi_ns + 7, boi_ns - 3], 1.0, 3, [], direct_ns=direct_ns)


def spot(events: int, boi_ns: float, **others: int) -> Spot:
    return replace(Spot(8, 1, events, 0, boi_ns, 10, 5e5, 1e4), **others)


def found(folder: Path, *spots: Spot) -> None:
    folder.mkdir(exist_ok=True)
    (folder / FOUND).write_text("".join(f"{each.line}\n" for each in spots))


def test_a_tree_of_one_node_is_what_sweetspot_has_measured_with_ranks_below_one_node() -> None:
    survey.keep(Topology(8, 8, filter=SPEC.filter), [probe(16, 1e6, 200.0), probe(64, 2e6)])
    survey.keep(Topology(8, 2, filter=SPEC.filter), [probe(16, 9e6)])  # ranks below nodes without any
    survey.keep(Topology(8, 64, filter="groups"), [probe(16, 8e6)])
    known = sweet_spots.known(SPEC)
    assert known == [replace(spot(16, 1e6), direct_ns=200.0), spot(64, 2e6)]
    assert sweet_spots.known(monitoring.parse("1s,filter=groups")) == [spot(16, 8e6)]
    assert sweet_spots.known(monitoring.parse("1s,filter=none")) == []


def test_what_a_run_has_found_is_handed_to_the_next_one(tmp_path: Path) -> None:
    of_two = spot(20, 4e6, nodes=2)
    found(tmp_path / "tree", spot(20, 3e6), of_two)
    sweet_spots.take(SPEC, tmp_path / "tree")
    folder = tmp_path / "next"
    sweet_spots.hand_over(SPEC, folder)
    lines = (folder / KNOWN).read_text().splitlines()
    assert lines == ["8 1 20 0 3000000 10 500000 10000 -1", "8 2 20 0 4000000 10 500000 10000 -1"]
    assert [Spot.of_line(line) for line in lines] == [spot(20, 3e6), of_two]
    assert folder.stat().st_mode & 0o777 == 0o700
    # Several nodes are another tree with another fan-out; a node is not.
    assert sweet_spots.known(monitoring.parse("1s,fan-out=3")) == [spot(20, 3e6)]


def test_ranks_of_a_program_tell_more_than_made_up_ones_and_a_bound_less(tmp_path: Path) -> None:
    survey.keep(Topology(8, 8, filter=SPEC.filter), [probe(16, 1e6), probe(64, 2e6)])
    found(tmp_path / "tree", spot(16, 1.5e6), spot(64, 1e6, is_bound=1), spot(99, 1e6, is_bound=1))
    sweet_spots.take(SPEC, tmp_path / "tree")
    assert sweet_spots.known(SPEC) == [spot(16, 1.5e6), spot(64, 2e6), spot(99, 1e6, is_bound=1)]
    found(tmp_path / "tree", spot(99, 3e6), spot(16, 1e6, is_bound=1))
    sweet_spots.take(SPEC, tmp_path / "tree")
    assert sweet_spots.known(SPEC) == [spot(16, 1.5e6), spot(64, 2e6), spot(99, 3e6)]


def test_of_other_machines_nothing_is_known(tmp_path: Path) -> None:
    found(tmp_path / "tree", spot(20, 3e6))
    sweet_spots.take(SPEC, tmp_path / "tree")
    elsewhere = (
        sweet_spots.path().read_text().replace(json.loads(next(iter(sweet_spots.entries())))[0], "elsewhere")
    )
    sweet_spots.path().write_text(elsewhere)
    assert sweet_spots.entries() and sweet_spots.known(SPEC) == []


def test_what_is_damaged_is_nothing(tmp_path: Path) -> None:
    sweet_spots.take(SPEC, tmp_path / "none")
    assert sweet_spots.known(SPEC) == [] and not sweet_spots.path().exists()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / FOUND).write_text(
        "8 1 20\n8 1 20 0 nan 1 1 1\n8 1 0 0 5 1 1 1\n\n8 1 20 0 3000000 10 500000 100"
    )
    sweet_spots.take(SPEC, tmp_path / "tree")
    assert [each.events for each in sweet_spots.known(SPEC)] == [20]
    whole = sweet_spots.path().read_text()
    (key,) = sweet_spots.entries()
    for wrong in (
        whole[:-5],
        "[]",
        json.dumps({key: 5}),
        json.dumps({key: {"spots": {"20": {}}}}),
        '{"x": {}}',
    ):
        sweet_spots.path().write_text(wrong)
        assert sweet_spots.known(SPEC) == []
    sweet_spots.take(SPEC, tmp_path / "tree")
    assert [each.events for each in sweet_spots.known(SPEC)] == [20]
