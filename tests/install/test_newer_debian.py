"""The wheel on the Debian to come, with Python 3.14, Open MPI 6 and MPICH 5: `make test-wheel`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from alone import Place, find_hang, find_lines_of_python, made, sample_python, use_verbs
from environments import MpiEnvironment, mpich4, openmpi4
from roots import ROOTS, compiled_in
from wheels import wheel

FOLDER = ROOTS / "debian-14"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in the files of another Debian")


@pytest.fixture(scope="module")
def envs(tmp_path_factory: pytest.TempPathFactory) -> list[MpiEnvironment]:
    """The MPI libraries of that Debian: their names are those on this machine, their versions are not."""
    scripts = tmp_path_factory.mktemp("scripts")
    return [compiled_in(FOLDER, replace(env, mpi4py=False), scripts) for env in (openmpi4(), mpich4())]


@pytest.fixture(params=[0, 1], ids=["openmpi", "mpich"])
def env(request: pytest.FixtureRequest, envs: list[MpiEnvironment]) -> MpiEnvironment:
    which: int = request.param
    return envs[which]


@pytest.fixture(scope="module")
def place(envs: list[MpiEnvironment]) -> Iterator[Place]:
    of = wheel("cp312-abi3")
    place = made("venv", root=FOLDER, envs=envs)
    shutil.copy(of, place.path)
    place.can("python3", "-m", "venv", "venv")
    assert place.can("venv/bin/python", "--version").startswith("Python 3.14.")
    place.can("venv/bin/pip", "install", "--no-cache-dir", of.name)
    yield place
    shutil.rmtree(place.path)


def test_verbs(place: Place, env: MpiEnvironment) -> None:
    use_verbs(place, env)


def test_a_program_that_hangs(place: Place, env: MpiEnvironment) -> None:
    find_hang(place, env)


def test_lines_of_python_programs(place: Place, env: MpiEnvironment) -> None:
    find_lines_of_python(
        place, env, LIBRARIES / ("libmpi.so.40" if env.family == "openmpi" else "libmpi.so.12")
    )


def test_functions_of_python_programs(place: Place) -> None:
    sample_python(place)
