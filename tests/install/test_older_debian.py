"""The wheel on an older C library, that of Debian 11, with the MPI libraries of that: `make test-wheel`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from alone import Place, find_hang, made, use_verbs
from environments import MpiEnvironment, mpich4, openmpi4
from loader_in_signals import LIBRARY
from measured import PROGRAMS
from roots import ROOTS, compiled_in
from wheels import wheel

FOLDER = ROOTS / "debian-11"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in the files of another Debian")


@pytest.fixture(scope="module")
def envs(tmp_path_factory: pytest.TempPathFactory) -> list[MpiEnvironment]:
    scripts = tmp_path_factory.mktemp("scripts")
    return [compiled_in(FOLDER, replace(env, mpi4py=False), scripts) for env in (openmpi4(), mpich4())]


@pytest.fixture(scope="module")
def place(envs: list[MpiEnvironment]) -> Iterator[Place]:
    of = wheel("cp311-cp311")
    place = made("venv", root=FOLDER, envs=envs)
    shutil.copy(of, place.path)
    assert "GLIBC 2.31" in place.can("ldd", "--version")
    # A Python that is built from Debian's source has no pip. That of this machine puts there what it would.
    place.can("/opt/python/bin/python3", "-m", "venv", "--without-pip", "venv")
    packages = place.path / "venv" / "lib" / "python3.11" / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", packages, "--only-binary", ":all:"]
    of_older = ["--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]
    subprocess.run([*map(str, pip), *of_older, str(place.path / of.name)], check=True, timeout=180)
    command = (packages / "bin" / "tare").read_text().splitlines(keepends=True)
    own = place.path / "venv" / "bin" / "tare"
    own.write_text(f"#!{place.path}/venv/bin/python3\n{''.join(command[1:])}")
    own.chmod(0o755)
    yield place
    shutil.rmtree(place.path)


@pytest.mark.parametrize("which", [0, 1], ids=["openmpi", "mpich"])
def test_verbs(place: Place, envs: list[MpiEnvironment], which: int) -> None:
    use_verbs(place, envs[which])


def test_a_program_that_hangs(place: Place, envs: list[MpiEnvironment]) -> None:
    find_hang(place, envs[0])


def test_the_loader_is_not_called_where_a_signal_may_have_interrupted_it(place: Place) -> None:
    """The loader of this C library takes a lock to tell in which object an address lies."""
    shutil.copy(PROGRAMS / "loader_in_signals.c", place.path)
    (place.path / "library.c").write_text(LIBRARY)
    place.can("gcc", "-O1", "-shared", "-fPIC", "library.c", "-o", "library.so")
    place.can("gcc", "-O1", "-rdynamic", "loader_in_signals.c", "-o", "program", "-ldl", "-lpthread")
    rate = ("--with", "stacks", "--stack-rate", "1000")
    said = place.can("tare", "run", "-q", *rate, "-o", "stacks", "--", "./program", "./library.so", "300")
    assert said.split()[0] == "0"
    sampled = json.loads(place.can("tare", "profile", "stacks", "--by", "function", "--json"))["functions"]
    assert sum(row["time_ns"] for row in sampled if row["calls"] is None) > 150_000_000
