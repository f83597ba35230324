"""Finding MPIs and judging probes; the probes themselves run in tests/integration/test_cli.py."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from fake_tare import Tare
from tare.commands import doctor
from tare.doctor import installations, machine, probes
from tare.doctor.probes import NotTestable, Prober

VERSIONS = {
    "mpiexec.openmpi": "mpiexec.openmpi (OpenRTE) 4.1.4",
    "mpiexec.mpich": "HYDRA build details:\n    Version:   4.0.2",
    "mpiexec.hydra": "HYDRA build details:\n    Version:   4.0.2",
}


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two MPIs side by side, as alternatives; the bare names lead to one of them."""
    folder = tmp_path / "usr" / "bin"
    for name, version in VERSIONS.items():
        executable(folder / name, f"echo '{version}'")
    for name in ("mpicc.openmpi", "mpicc.mpich", "mpifort.openmpi"):
        executable(folder / name, "exit 1")
    (folder / "mpiexec").symlink_to("mpiexec.openmpi")
    (tmp_path / "bin").symlink_to("usr/bin")
    monkeypatch.setenv("PATH", f"{folder}:{tmp_path / 'bin'}:/usr/bin-of-nothing")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "no-prefix"))
    return folder


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    prefix = tmp_path / "venv"
    executable(
        prefix / "bin" / "mpiexec", "echo 'Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 1'"
    )
    (prefix / "lib").mkdir()
    (prefix / "lib" / "libmpi.so.12").touch()
    return prefix


def test_every_mpi_is_found_once_with_its_own_wrappers(debian: Path) -> None:
    found = {mpi.name: mpi for mpi in installations.find([])}
    assert set(found) == {"Open MPI 4.1.4", "MPICH 4.0.2"}
    openmpi, mpich = found["Open MPI 4.1.4"], found["MPICH 4.0.2"]
    assert openmpi.launcher == debian / "mpiexec.openmpi"
    assert openmpi.wrapper(installations.C_WRAPPERS) == debian / "mpicc.openmpi"
    assert mpich.wrapper(installations.C_WRAPPERS) == debian / "mpicc.mpich"
    assert mpich.wrapper(installations.FORTRAN_WRAPPERS) is None
    assert openmpi.prefix is None


def test_named_prefix_comes_first_with_its_libraries(debian: Path, wheel: Path) -> None:
    first = installations.find([wheel])[0]
    assert (first.name, first.prefix) == ("Intel MPI 2021.18.1", wheel)
    variables = first.environment()
    assert variables["LD_LIBRARY_PATH"].split(":")[0] == str(wheel / "lib")
    assert variables["I_MPI_ROOT"] == str(wheel)


def test_missing_compiler_is_not_tested(debian: Path, tmp_path: Path) -> None:
    mpich = next(mpi for mpi in installations.find([]) if mpi.family == "mpich")
    prober = Prober(mpich, tmp_path, [])
    findings = {binding.name: prober.probe(binding) for binding in prober.bindings()}
    assert {finding.state for finding in findings.values()} == {"not tested"}
    assert findings["Fortran use mpi"].detail == "no mpifort.mpich"
    assert findings["C"].detail == "does not compile: exit code 1"
    assert findings["Python mpi4py"].detail.startswith("no mpi4py")


def test_program_that_fails_by_itself_is_not_tested(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "mpiexec", "echo 'error: no network' >&2; exit 1")
    mpi = installations.Installation("mpich", "1", tmp_path / "bin" / "mpiexec", None)
    binding = probes.BINDINGS[0]
    with pytest.raises(NotTestable, match="does not run without tare either: error: no network"):
        Prober(mpi, tmp_path, [])._run(binding, probes.Finding(mpi, "C", "ok", ""), ["x"], {})


def test_hanging_program_is_ended(tmp_path: Path) -> None:
    start = time.monotonic()
    code, text = probes.run_in_group(
        ["sh", "-c", "sleep 60 & wait"], tmp_path, {"PATH": "/bin:/usr/bin"}, 0.3
    )
    assert (code, text) == (124, "error: no end after 0.3 s")
    assert time.monotonic() - start < 10


def test_error_line_is_the_telling_one() -> None:
    text = "file.f90:3:7:\n\n  3 |   use mpi_f08\n      |  1\nFatal Error: Cannot open module\nterminated.\n"
    assert probes.error_line(text) == "Fatal Error: Cannot open module"
    assert probes.error_line("exploded\n---\n") == "exploded"
    rule = 74 * "-"
    explained = (
        f"{rule}\nThe wrapper was unable to find\ngcc in your PATH.\n\nIt was specified\nsomewhere.\n{rule}\n"
    )
    assert probes.error_line(explained) == "The wrapper was unable to find gcc in your PATH."
    assert probes.error_line("Traceback\n  raise RuntimeError(x)\nRuntimeError: no library\nerror\n") == (
        "RuntimeError: no library"
    )
    assert probes.error_line("") == ""


def test_clock_other_than_tsc_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("CLOCK_SOURCE", "hpet\n"), ("CPU_INFO", "flags : fpu constant_tsc nonstop_tsc\n")):
        (tmp_path / name).write_text(content)
        monkeypatch.setattr(machine, name, tmp_path / name)
    assert (machine._clock().state, "hpet" in machine._clock().detail) == ("warning", True)
    (tmp_path / "CLOCK_SOURCE").write_text("tsc\n")
    assert machine._clock().state == "ok"


def test_machine_without_mpi_is_told_so(tare: Tare, tmp_path: Path) -> None:
    document = json.loads(tare("doctor", "--json", PATH=str(tmp_path)).stdout)
    assert (document["schema"], document["rows"]) == ("tare.doctor/1", [])
    assert "none found" in {check["name"]: check["detail"] for check in document["checks"]}["MPI"]


def test_prefix_must_be_one(tare: Tare, tmp_path: Path) -> None:
    done = tare("doctor", "--mpi", tmp_path)
    assert done.returncode == 2
    assert "has no directory bin" in done.stderr


def test_a_probe_says_nothing_of_the_cost_of_a_call() -> None:
    """The first calls of a program, of which a probe consists, cost tens of times what the others do."""
    mpi = installations.Installation("mpich", "1", Path("mpiexec"), None)
    found = probes.Finding(mpi, "C", "ok", "", expected=34, recorded=34, lines=True)
    assert [
        check.name for check in doctor._not_tested([found], set(installations.libraries_of_loader()))
    ] == []
    assert not any("cost" in name or name.endswith("_ns") for name in vars(found))
