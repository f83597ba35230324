"""Little memory: the program gets what it needs of it, and what does not fit for tare is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, mpich5, openmpi4, run
from measured import PROGRAMS, Measurement
from on_mpi import on_openmpi
from verbs import ask

DOCKER_DEFAULT = "64m"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")

# Runs a command, from the fourth argument on, with a /dev/shm of the size $1. If $2 is not empty, a file
# system of that size is at $3, and what it holds at the end is copied to $3.kept.
_IN_SMALL_MEMORY = """
mount --make-rprivate / && mount -t tmpfs -o size="$1" tmpfs /dev/shm || exit 99
[ -z "$2" ] || mount -t tmpfs -o size="$2" tmpfs "$3" || exit 99
kept=$3; small=$2; shift 3
"$@"; code=$?
[ -z "$small" ] || cp -a "$kept" "$kept.kept"
[ -z "$(ls /dev/shm | grep ^tare-)" ] || exit 98
exit $code
"""


def measure_in(
    shm: str,
    tare: Path,
    mpi: MpiEnvironment,
    ranks: int,
    argv: list[Path | str],
    run_dir: Path,
    *options: str,
    disk: str = "",
) -> Measurement:
    """Measures as `measure` does; the run directory may be as small as `disk`."""
    place = run_dir.parent
    prefix: list[Path | str] = ["unshare", "-m", "sh", "-c", _IN_SMALL_MEMORY, "sh", shm, disk, place]
    ended = run(mpi, ranks, argv, prefix=[*prefix, tare, "run", "-q", *options, "-o", run_dir, "--"])
    where = Path(f"{place}.kept") / run_dir.name if disk else run_dir
    return Measurement(tare, where, ended)


# Each fits without tare, and leaves little: MPI itself takes more for more ranks.
@pytest.mark.parametrize(
    ("mpi", "ranks", "window_mib"),
    [(openmpi4(), 4, 44), (openmpi4(), 12, 44), (mpich5(), 4, 36)],
    ids=["openmpi-4", "openmpi-12", "mpich-4"],
    indirect=["mpi"],
)
def test_a_window_that_fits_bare_fits_measured(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, ranks: int, window_mib: int
) -> None:
    program = compile_c(mpi, [PROGRAMS / "shared_window.c"], tmp_path / "window")
    measured = measure_in(
        DOCKER_DEFAULT, tare, mpi, ranks, [program, str(window_mib)], tmp_path / "run", "--trace"
    )
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "done\n"), measured.ended.stderr
    assert measured.calls()["MPI_Barrier"] == ranks * 100
    assert sum(row["function"] == "MPI_Barrier" for row in measured.events()) == ranks * 100
    assert [row["reduced"] for row in measured.info()["ranks"]] == [[]] * ranks


@pytest.mark.parametrize(
    ("disk", "reduced", "events"),
    [("5m", ["buffer"], True), ("2600k", ["events"], False), ("2000k", ["events", "profile"], False)],
)
@on_openmpi
def test_what_fits_is_measured(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, disk: str, reduced: list[str], events: bool
) -> None:
    """One rank, with a shared memory of 1 MiB and so much space for the run."""
    place = tmp_path / "disk"
    place.mkdir()
    program = compile_c(mpi, [PROGRAMS / "shared_window.c"], tmp_path / "window")
    measured = measure_in("1m", tare, mpi, 1, [program, "0"], place / "run", "--trace", disk=disk)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "done\n"), measured.ended.stderr
    assert "tare: " not in measured.ended.stderr
    assert measured.calls()["MPI_Barrier"] == 100
    assert measured.info()["ranks"][0]["reduced"] == reduced
    assert (measured.info()["trace"]["records"] > 0) == events
    told = ask(tare, "info", measured.directory, check=True).stdout
    assert told.count("REDUCED") == len(reduced)


def test_a_limit_of_the_size_of_files_is_the_reason(tare: Path, tmp_path: Path) -> None:
    """MPI libraries themselves need more than a program without MPI."""
    limited = ["sh", "-c", 'ulimit -f 2048; exec "$@"', "sh"]  # half of a KiB each
    command: list[Path | str] = [
        *limited,
        tare,
        "run",
        "-q",
        "--with",
        "files",
        "-o",
        tmp_path / "run",
        "--",
        "cat",
        __file__,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    limit = "the limit of the size of files (ulimit -f"
    assert ended.stderr.splitlines() == [
        f"tare: {limit}) leaves no room for a segment: this process is not measured",
        f"tare: no process of this command recorded a call of MPI or of files; nothing was measured; "
        f"{limit}: 1.00 MiB) leaves it no room",
    ]
