"""The wheel for a processor that is emulated, in a root of it under qemu: `make test-aarch64`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from alone import Place, find_hang, made, use_verbs
from environments import MACHINE, MpiEnvironment, mpich4, openmpi4
from roots import EMULATED
from wheels import check_content, wheel

pytestmark = pytest.mark.skipif(not MACHINE, reason="no processor is emulated (TARE_TEST_MACHINE)")


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A directory to which the wheel was downloaded, and in which pip has installed it."""
    of = wheel("cp311-cp311", MACHINE)
    place = made("venv", root=EMULATED)
    shutil.copy(of, place.path)
    place.can("python3", "-m", "venv", "venv")
    place.can("venv/bin/pip", "install", "--no-cache-dir", of.name)
    yield place
    shutil.rmtree(place.path)


@pytest.fixture(params=[openmpi4, mpich4], ids=lambda debians: debians.__name__, scope="module")
def env(request: pytest.FixtureRequest) -> MpiEnvironment:
    """Its launcher is that of the root, without what enters it."""
    env: MpiEnvironment = request.param()
    return replace(env, mpiexec=env.mpiexec[-1:])


@pytest.mark.parametrize(
    "tag, modules", [("cp311-cp311", f"cpython-311-{MACHINE}-linux-gnu.so"), ("cp312-abi3", "abi3.so")]
)
def test_what_is_in_it(tag: str, modules: str, tmp_path: Path) -> None:
    check_content(wheel(tag, MACHINE), modules, tmp_path, MACHINE)


def test_verbs(place: Place, env: MpiEnvironment) -> None:
    use_verbs(place, env)


def test_a_program_that_hangs(place: Place, env: MpiEnvironment) -> None:
    find_hang(place, env)
