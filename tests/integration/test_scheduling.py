"""The time that ranks were on their processors: the same on an idle and on a busy machine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import tare as tare_package
from browser import Opened
from environments import MpiEnvironment, all_environments, compile_c
from measured import PROGRAMS, Measurement, measure
from verbs import ask

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
MPICH = next(env for env in all_environments() if env.name == "debian-mpich")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("off_processor")
    sources = [PROGRAMS / "off_processor.c"]
    return {env.name: compile_c(env, sources, directory / env.name, "-O2") for env in (OPENMPI, MPICH)}


def table(of: Measurement) -> list[dict[str, Any]]:
    found = tare_package.open(of.directory).sql(
        "SELECT rank, (net_ns - mpi_ns - descheduled_outside_ns - blocked_outside_ns) / 1e6 AS computed_ms, "
        "blocked_outside_ns / 1e6 AS blocked_ms, descheduled_ns, switches, processors "
        "FROM ranks ORDER BY rank"
    )
    assert found is not None
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("mpi", [OPENMPI, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("options", [(), ("--trace",), ("--with", "files")])
@pytest.mark.parametrize("killed", [False, True], ids=["finished", "killed"])
def test_computing_sleeping_and_waiting_for_a_processor_are_told_apart(
    mpi: MpiEnvironment,
    options: tuple[str, ...],
    killed: bool,
    compiled: dict[str, Path],
    tare: Path,
    tmp_path: Path,
) -> None:
    command: list[str | Path] = [compiled[mpi.name], *(["kill"] if killed else [])]
    measured = measure(tare, mpi, 2, command, tmp_path / "run", *options)
    rows = table(measured)
    for row in rows:
        assert 185 < row["computed_ms"] < 230, rows
        assert row["processors"]
    assert rows[0]["blocked_ms"] < 30
    assert 295 < rows[1]["blocked_ms"] < 330, rows
    assert rows[1]["switches"] >= 20
    said = json.loads(ask(tare, "info", measured.directory, "--json", check=True).stdout)
    for row, rank in zip(rows, said["ranks"], strict=True):
        scheduling = rank["scheduling"]
        assert (scheduling["descheduled_ns"], scheduling["switches"]) == (
            row["descheduled_ns"],
            row["switches"],
        )
        assert round(scheduling["blocked_outside_ns"] / 1e6, 3) == round(row["blocked_ms"], 3)
        assert rank["cost"]["readings"] == scheduling["readings"] >= 20
        assert 0.9 * rank["net_ns"] < scheduling["observed_ns"] <= 1.01 * rank["net_ns"]
    if options != ("--trace",):
        return
    # Who is late on a busy machine is a matter of chance.
    waits = tare_package.open(measured.directory).sql(
        "SELECT DISTINCT root_scheduled FROM root_causes WHERE NOT root_in_call"
    )
    assert waits is not None
    found = {row[0] for row in waits.fetchall()}
    assert found and found <= {"running", "descheduled", "blocked"}


def test_ranks_that_share_a_processor_are_told_first(
    compiled: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    for options in ((), ("--trace",)):
        run = tmp_path / f"run{len(options)}"
        command: list[str | Path] = ["taskset", "-c", "0", *MPICH.mpiexec, "-n", "2", compiled[MPICH.name]]
        subprocess.run([tare, "run", "-q", "-o", run, *options, "--", *command], check=True, timeout=120)
        said = json.loads(ask(tare, "explain", run, "--json", check=True).stdout)
        first = said["findings"][0]
        assert (first["kind"], first["ranks"], first["calls"]) == ("oversubscription", [0, 1], 1)
        assert "2 ranks share 1 processor" in first["sentence"]
        info = ask(tare, "info", run, check=True).stdout
        assert "ranks 0-1 share 1 processor" in info
        profile = ask(tare, "profile", run, check=True).stdout
        assert "descheduled" in profile


def test_the_panel_of_a_gap_tells_how_long_it_had_a_processor(
    compiled: dict[str, Path], tare: Path, tmp_path: Path, browser: Any
) -> None:
    measured = measure(tare, MPICH, 2, [compiled[MPICH.name]], tmp_path / "run", "--trace")
    subprocess.run(
        [tare, "report", measured.directory, "-o", tmp_path / "page.html"], check=True, timeout=120
    )
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    opened = Opened(context.new_page(), (tmp_path / "page.html").as_uri())
    opened.wait("document.querySelector('#timeline canvas.lanes').dataset.ready")
    longest = "tare.timeline.about.off_processor.find(([row, , , , blocked]) => row === 1 && blocked > 14e6)"
    opened.page.evaluate(
        f"(([row, from, to]) => tare.timeline.panel.choose(row, (from + to) / 2, true))({longest})"
    )
    opened.wait("document.querySelector('#timeline .chosen-part')?.textContent.includes('Processor')")
    (text,) = opened.texts("#timeline .chosen-part")
    assert "on one" in text and "15." in text and "blocked: asleep" in text
    assert opened.complaints == []
    context.close()


def test_where_calls_are_short_the_share_without_a_processor_is_known(tare: Path, tmp_path: Path) -> None:
    """Two ranks on one processor, with calls of microseconds: each has it for half of the time."""
    program = Path(__file__).parents[2] / "build" / "release" / "workloads" / "diffusion"
    command: list[str | Path] = ["taskset", "-c", "0", *OPENMPI.mpiexec, "--bind-to", "none", "-n", "2"]
    command += [program, "-n", "20", "20", "20", "-s", "2"]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    run = tmp_path / "run"
    subprocess.run([tare, "run", "-q", "-o", run, "--", *command], check=True, env=environment, timeout=120)
    found = tare_package.open(run).sql("SELECT sum(descheduled_ns) / sum(net_ns) FROM ranks")
    assert found is not None
    assert found.fetchall()[0][0] > 0.4


@pytest.mark.parametrize("mpi", [OPENMPI, MPICH], ids=lambda mpi: mpi.name)
def test_the_time_before_mpi_finalize_counts(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """A rank sleeps there. If both ranks slept for half as long, the program would take 0.2 s less."""
    program = compile_c(mpi, [PROGRAMS / "late_end.c"], tmp_path / "late_end")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--trace")
    rows = table(measured)
    # Of a rank that is hardly outside MPI there may be no reading.
    assert (rows[0]["blocked_ms"] or 0) < 30 and 390 < rows[1]["blocked_ms"] < 440, rows
    said = json.loads(ask(tare, "explain", measured.directory, "--json", check=True).stdout)
    (found,) = (each for each in said["findings"] if each["cause_function"] == "MPI_Finalize")
    assert found["cause_rank"] == 1 and found["cause_blocked"] > 0.9, found
    # It is not known if other programs took the ranks' processors for long.
    assert found["gain_ns"] is None or 0.18e9 < found["gain_ns"] < 0.22e9, found
