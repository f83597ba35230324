"""The workloads of the ready-made studies do what their headers say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import installed
from environments import ROOT, MpiEnvironment, compile_c, openmpi4, run
from verbs import ask

WORKLOADS = ROOT / "workloads"
BUILT = ROOT / "build" / "release" / "workloads"
RUNS, PHOTONS = 12, 200


@pytest.fixture(scope="module")
def openmpi() -> MpiEnvironment:
    return installed(openmpi4())


def found(pattern: str, text: str) -> list[str]:
    match = re.search(pattern, text)
    assert match is not None, text
    return list(match.groups())


def test_photons_are_the_same_on_any_number_of_ranks(openmpi: MpiEnvironment, tmp_path: Path) -> None:
    program = compile_c(openmpi, [WORKLOADS / "photons.c"], tmp_path / "photons", "-O2", "-lm")
    arguments = ["-p", str(PHOTONS)]
    alone, both, weak = (
        run(openmpi, ranks, [program, *size, *arguments], cwd=tmp_path)
        for ranks, size in ((1, ["-r", str(RUNS)]), (2, ["-r", str(RUNS)]), (2, ["-R", str(RUNS // 2)]))
    )
    for done in (alone, both, weak):
        assert done.returncode == 0, done.stderr
    tallies = [
        found(r"(\d+) flights\s+absorbed +(\S+), escaped (\S+)", each.stdout) for each in (alone, both, weak)
    ]
    assert tallies[0] == tallies[1] == tallies[2]
    absorbed, escaped = float(tallies[0][1]), float(tallies[0][2])
    assert absorbed + escaped == pytest.approx(1)
    assert 0.3 < escaped < 0.4, "as with 640,000 photons: 0.340"


def test_photons_send_five_messages_a_run(openmpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(openmpi, [WORKLOADS / "photons.c"], tmp_path / "photons", "-O2", "-lm")
    prefix: list[Path | str] = [tare, "run", "-q", "-o", tmp_path / "run", "--"]
    command: list[Path | str] = [program, "-r", str(RUNS), "-p", str(PHOTONS)]
    assert run(openmpi, 2, command, prefix=prefix, cwd=tmp_path).returncode == 0
    shown = ask(tare, "profile", tmp_path / "run", "--by", "function", "--json")
    calls = {row["function"]: row["calls"] for row in json.loads(shown.stdout)["rows"]}
    assert calls["MPI_Send"] == calls["MPI_Recv"] == 5 * RUNS // 2


def test_photons_with_events_record_two_a_flight(openmpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    prefix: list[Path | str] = [tare, "run", "-q", "--trace", "-o", tmp_path / "run", "--"]
    command: list[Path | str] = [BUILT / "photons_events", "-r", "2", "-p", str(PHOTONS)]
    done = run(openmpi, 1, command, prefix=prefix, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (flights,) = found(r"(\d+) flights", done.stdout)
    shown = ask(tare, "info", tmp_path / "run", "--json")
    events = json.loads(shown.stdout)["ranks"][0]["trace"]["records"]
    assert 2 * int(flights) <= events <= 2 * int(flights) + 20


def test_wavefronts_give_the_same_flux_on_any_grid_of_ranks(openmpi: MpiEnvironment, tmp_path: Path) -> None:
    """Every cell is computed from its neighbours upwind, whoever has them; messages in another order show."""
    program = compile_c(openmpi, [WORKLOADS / "wavefront.c"], tmp_path / "wavefront", "-O2", "-lm")
    fluxes = set()
    # Of 8 x 8 x 7 cells, where the last block of planes is short; in x and in y, then in both.
    for ranks, cells, sends in ((1, (8, 8), 0), (2, (4, 8), 1), (4, (4, 4), 4)):
        for planes, directions in ((1, 6), (4, 3), (7, 1)):
            size = [*map(str, cells), "7", "-k", str(planes), "-a", str(directions), "-i", "5"]
            done = run(openmpi, ranks, [program, "-n", *size], cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            told = json.loads(done.stdout)
            assert told["drift"] < 1e-12, "what is emitted is absorbed or flies out"
            assert told["messages"] == 5 * 8 * (6 // directions) * -(-7 // planes) * sends
            fluxes.add(told["flux"])
    assert max(fluxes) - min(fluxes) < 2e-9, "digits that are printed"


def test_the_flux_of_a_wavefront_is_that_of_an_endless_box(openmpi: MpiEnvironment, tmp_path: Path) -> None:
    """All that is emitted inside a large box collides: emission / (collisions - scattering) = 20."""
    program = compile_c(openmpi, [WORKLOADS / "wavefront.c"], tmp_path / "wavefront", "-O2", "-lm")

    def flux(cells: int, sweeps: int) -> float:
        size = [str(cells)] * 3
        done = run(openmpi, 1, [program, "-n", *size, "-i", str(sweeps)], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return float(json.loads(done.stdout)["flux"])

    small, large = flux(40, 20), flux(80, 20)
    assert small < large < 20
    # What is lost flies out through the faces, which have half as much of a box twice as wide; a bit more, as
    # the box is only a few free paths of 10 cells wide.
    assert 0.5 < (20 - large) / (20 - small) < 0.65


def test_a_wavefront_that_cannot_be_cut_is_refused(openmpi: MpiEnvironment, tmp_path: Path) -> None:
    program = compile_c(openmpi, [WORKLOADS / "wavefront.c"], tmp_path / "wavefront", "-O2", "-lm")
    done = run(openmpi, 1, [program, "-a", "4"], cwd=tmp_path)
    assert done.returncode == 2
    assert "usage: wavefront" in done.stderr


def test_zones_keep_their_heat_and_record_every_zone(
    openmpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    prefix: list[Path | str] = [tare, "run", "-q", "--trace", "-o", tmp_path / "run", "--"]
    command: list[Path | str] = [BUILT / "zones_events", "-z", "6", "-n", "8", "8", "-s", "20"]
    openmpi = replace(openmpi, env={**openmpi.env, "OMP_NUM_THREADS": "3"})
    done = run(openmpi, 2, command, prefix=prefix, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["ranks"], told["threads"]) == (2, 3)
    assert told["lost"] < 1e-12
    shown = ask(tare, "events", tmp_path / "run", "--json")
    zones = [row for row in json.loads(shown.stdout)["rows"] if row.get("name") == "zone"]
    assert len(zones) == 2 * 2 * 6 * 20, "ranks, ends of an event, zones, steps"
    assert {(row["rank"], row["thread"]) for row in zones} == {(rank, n) for rank in (0, 1) for n in range(3)}
