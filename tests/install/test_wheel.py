"""The wheel as somebody gets it who has nothing else: no compiler, no checkout. `make test-wheel`"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from alone import PYTHON, Place, build_programs, find_hang, made, ring, use_verbs, variables
from environments import ROOT, MpiEnvironment, mpich4, openmpi4

GLIBC = (2, 28)
OF_GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
MAX_BYTES = 15e6
MAX_SECONDS = 60  # of a processor, from nothing to the first summary

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who has nothing")


@pytest.fixture(scope="module")
def wheel() -> Path:
    (wheel,) = (ROOT / "dist").glob("tare_mpi-*.whl")
    return wheel


@pytest.fixture(scope="module")
def place(wheel: Path) -> Iterator[Place]:
    """A directory to which the wheel was downloaded, and in which pip has installed it."""
    place = made("venv")
    shutil.copy(wheel, place.path)
    started = time.monotonic(), processor_s()
    place.can(PYTHON, "-m", "venv", "venv")
    place.can("venv/bin/pip", "install", "--no-cache-dir", wheel.name)
    first = place.run(
        "tare", "run", "-o", "first", "--", *ring(openmpi4(), place.path, 100), extra=variables(openmpi4())
    )
    used_s = processor_s() - started[1]
    took_s = time.monotonic() - started[0]
    print(f"from nothing to the first summary: {took_s:.1f} s, {used_s:.1f} s of a processor")
    assert re.search(r"ranks +2 on 1 host, 2 finished", first.stderr), first
    assert used_s < MAX_SECONDS
    yield place
    shutil.rmtree(place.path)


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(params=[openmpi4(), mpich4()], ids=lambda env: env.name, scope="module")
def env(request: pytest.FixtureRequest) -> MpiEnvironment:
    env: MpiEnvironment = request.param
    assert not env.missing()
    return env


def test_what_is_in_it(wheel: Path, tmp_path: Path) -> None:
    assert wheel.name.endswith(f"-cp311-cp311-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64.whl")
    assert wheel.stat().st_size <= MAX_BYTES
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    objects = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    names = {path.name for path in objects}
    assert {"libtare.so", "libtare_record.so.0", "libtare-reader.so.0", "tared"} <= names
    for path in objects:
        dynamic = subprocess.run(["readelf", "-dVW", path], capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) <= OF_GLIBC, path
        assert "PATH)" not in dynamic, path
        versions = [tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([\d.]+)", dynamic)]
        assert max(versions, default=GLIBC) <= GLIBC, path
        assert str(ROOT).encode() not in path.read_bytes(), path
    (licences,) = tmp_path.glob("*.dist-info/licenses/linked")
    texts = {path.name: path.read_text(errors="replace") for path in licences.iterdir()}
    for linked in ("zeromq3", "elfutils", "nanobind", "libzstd-dev", "libotf2-trace-dev", "libstdc++-12-dev"):
        assert "opyright" in texts[linked]
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in texts["LGPL-3"]


def test_verbs(place: Place, env: MpiEnvironment) -> None:
    use_verbs(place, env)


def test_a_program_that_hangs(place: Place, env: MpiEnvironment) -> None:
    find_hang(place, env)


def test_programs_are_built_with_it(place: Place) -> None:
    build_programs(place)


def test_manual_and_completion_are_there(place: Place) -> None:
    assert (place.prefix / "share/man/man1/tare-run.1").is_file()
    assert (place.prefix / "share/bash-completion/completions/tare").is_file()
