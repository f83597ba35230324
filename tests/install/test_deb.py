"""The Debian package, unpacked where nothing else of tare is. `make test-install`"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from alone import PYTHON, Place, made, ring, variables
from environments import ROOT, openmpi4

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    (package,) = (ROOT / "dist").glob("tare-mpi_*.deb")
    place = made("unused")
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", str(package)]
    subprocess.run(
        install, check=True, capture_output=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    )
    try:
        yield place
    finally:
        subprocess.run(["apt-get", "purge", "-y", "-qq", "tare-mpi"], check=True, capture_output=True)
        shutil.rmtree(place.path)


def test_the_installed_command_measures(place: Place) -> None:
    env = openmpi4()
    for name in ("one", "two"):
        place.can(
            "tare",
            "run",
            "--quiet",
            "--trace",
            "-o",
            name,
            "--",
            *ring(env, place.path, 200),
            extra=variables(env),
        )
    assert "ring.c:18" in place.can("tare", "profile", "one")
    assert "MPI_Sendrecv" in place.can("tare", "diff", "one", "vs", "two")  # by Debian's SciPy
    place.can("tare", "export", "one", "--to", "otf2", "-o", "archive")


def test_python_and_compilers_find_it(place: Place) -> None:
    count = "import tare; print(tare.open('one').process_count)"
    assert place.can(PYTHON, "-c", count) == "2\n"
    place.can(
        "sh",
        "-ec",
        "cc events.c $(pkg-config --cflags --libs tare) -o events && ./events recorded",
        compiler=True,
    )
    assert Path("/usr/share/man/man1/tare-run.1.gz").is_file()
