"""The wheel as somebody gets it who has nothing else: no compiler, no checkout. `make test-wheel`"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from environments import ROOT, MpiEnvironment, compile_c, mpich4, openmpi4

PROGRAMS = ROOT / "tests" / "programs"
PYTHON = "/usr/bin/python3"  # Debian's, which all users reach
NOBODY = 65534
GLIBC = (2, 28)
OF_GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
MAX_BYTES = 15e6
NONE: Mapping[str, str] = {}
MAX_SECONDS = 60  # of a processor, from nothing to the first summary
# Covers what is not there elsewhere, for this process alone, and gives all rights away.
ALONE = """
for folder; do shift; [ "$folder" = -- ] && break; mount -t tmpfs none "$folder" || exit 99; done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps=-all -- "$@"
"""
PKG_CONFIG = """
cc events.c $(pkg-config --cflags --libs tare) -o events
gfortran $(pkg-config --variable=fortran_source tare) events.f90 $(pkg-config --libs tare) -o events-f90
c++ -std=c++17 read_run.cpp $(pkg-config --cflags --libs tare-reader) -o read_run
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who has nothing")


@pytest.fixture(scope="module")
def wheel() -> Path:
    (wheel,) = (ROOT / "dist").glob("tare_mpi-*.whl")
    return wheel


@dataclass(frozen=True)
class Place:
    """A directory of somebody without rights, and what this somebody can do there."""

    path: Path

    def can(self, *command: str | Path, compiler: bool = False, extra: Mapping[str, str] = NONE) -> str:
        """What the command prints; it must succeed."""
        done = self.run(*command, compiler=compiler, extra=extra)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
        return done.stdout

    def run(
        self, *command: str | Path, compiler: bool = False, extra: Mapping[str, str] = NONE
    ) -> subprocess.CompletedProcess[str]:
        covered = [str(ROOT)] if compiler else [str(ROOT), "/usr/lib/gcc"]
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        environment = (
            {"HOME": str(self.path), "PATH": f"{self.path}/venv/bin:/usr/bin:/bin"} | kept | dict(extra)
        )
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", ALONE, "sh", *covered, "--", *map(str, command)],
            cwd=self.path, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=180,
        )  # fmt: skip


@pytest.fixture(scope="module")
def place(wheel: Path) -> Iterator[Place]:
    """A directory to which the wheel was downloaded, and in which pip has installed it."""
    path = Path(tempfile.mkdtemp(prefix="tare-wheel-", dir="/tmp"))
    shutil.copy(wheel, path)
    for env in (openmpi4(), mpich4()):
        for name in ("ring", "waiting"):
            compile_c(env, [PROGRAMS / f"{name}.c"], path / f"{name}-{env.name}")
    for file in ("events.c", "events.cpp", "events.f90", "read_run.cpp"):
        shutil.copy(ROOT / "examples" / file, path)
    shutil.copytree(ROOT / "tests" / "consumer", path / "consumer")
    for each in (path, *path.rglob("*")):
        os.chown(each, NOBODY, NOBODY)
    place = Place(path)
    started = time.monotonic(), processor_s()
    place.can(PYTHON, "-m", "venv", "venv")
    place.can("venv/bin/pip", "install", "--no-cache-dir", wheel.name)
    first = place.run(
        "tare", "run", "-o", "first", "--", *ring(openmpi4(), path, 100), extra=variables(openmpi4())
    )
    used_s = processor_s() - started[1]
    took_s = time.monotonic() - started[0]
    print(f"from nothing to the first summary: {took_s:.1f} s, {used_s:.1f} s of a processor")
    assert re.search(r"ranks +2 on 1 host, 2 finished", first.stderr), first
    assert used_s < MAX_SECONDS
    yield place
    shutil.rmtree(path)


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def variables(env: MpiEnvironment) -> dict[str, str]:
    return {name: value for name, value in env.env.items() if not name.startswith(("MPI4PY", "LD_"))}


def ring(env: MpiEnvironment, path: Path, rounds: int) -> list[str]:
    return [*env.mpiexec, "-n", "2", str(path / f"ring-{env.name}"), str(rounds), str(path / "started")]


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
    runs = Path(env.name)

    def tare(*words: str | Path) -> str:
        return place.can("tare", *words, extra=variables(env))

    def measure(name: str, *options: str, rounds: int = 400) -> Path:
        tare("run", "--quiet", *options, "-o", runs / name, "--", *ring(env, place.path, rounds))
        return runs / name

    trace = measure("trace", "--trace")
    again = measure("again", "--trace", "--drain", "tared")
    info = json.loads(tare("info", "--json", trace))
    assert [rank["state"] for rank in info["ranks"]] == ["finished", "finished"]
    for run in (trace, again):
        rows = json.loads(tare("profile", "--json", run))["rows"]
        assert [row["calls"] for row in rows if row["function"] == "MPI_Sendrecv"] == [800]
    # Lines of the program, by the libdw that is linked in.
    assert "ring.c:18" in tare("profile", trace)
    assert tare("events", trace).count("MPI_Sendrecv") >= 800
    for verb in ("explain", "phases", "where"):
        assert tare(verb, trace)
    assert "MPI_Sendrecv" in tare("diff", trace, "vs", again)
    for form in ("perfetto", "otf2", "paje", "speedscope", "folded"):
        tare("export", trace, "--to", form, "-o", runs / form)
    tare("import", runs / "otf2", "-o", runs / "imported")
    assert "MPI_Sendrecv" in tare("profile", runs / "imported")
    tare("report", trace, "-o", runs / "page.html")
    assert (place.path / runs / "page.html").stat().st_size > 1e5
    tare("merge", "-o", runs / "both.tare", trace, again)
    tare("split", runs / "both.tare", "-o", runs / "split")
    assert tare("profile", "--csv", runs / "split" / "trace") == tare("profile", "--csv", trace)
    tare("recover", trace)
    sampled = measure("sampled", "--sample", "random:1")
    assert "ring.c:18" in tare("samples", sampled)
    monitored = measure("monitored", "--monitor", rounds=2000)
    assert "round" in tare("info", monitored)
    measure("files", "--with", "files")
    measure("budget", "--budget", "5%")
    # What is not installed with it is said in one line.
    sql = place.run("tare", "sql", trace, "select 1")
    assert sql.returncode != 0 and "duckdb" in sql.stderr and sql.stderr.count("\n") == 1


def test_the_tree_of_tared(place: Place) -> None:
    words = ["--ranks", "8", "--fan-out", "8", "--events", "64", "--brief", "--probes", "2", "--json"]
    assert json.loads(place.can("tare", "sweetspot", *words))


def test_a_program_that_hangs(place: Place, env: MpiEnvironment) -> None:
    waiting = [*env.mpiexec, "-n", "2", str(place.path / f"waiting-{env.name}"), "waitall"]
    run = Path(env.name) / "hung"
    place.run("timeout", "5", "tare", "run", "-o", run, "--", *waiting, extra=variables(env))
    found = json.loads(place.can("tare", "where", "--json", run))
    assert [each["rank"] for each in found["deadlock"]["blocked"]] == [0, 1]
    assert {row["function"] for row in found["rows"]} == {"MPI_Waitall"}


def test_programs_are_built_with_it(place: Place) -> None:
    """pkg-config and CMake find it below the prefix of the Python; the programs find its libraries."""
    pc = {"PKG_CONFIG_PATH": str(place.path / "venv/lib/pkgconfig")}
    place.can("sh", "-ec", PKG_CONFIG, compiler=True, extra=pc)
    place.can("cmake", "-S", "consumer", "-B", "built", f"-DEXAMPLES={place.path}", compiler=True)
    place.can("cmake", "--build", "built", compiler=True)
    for program in ("events", "events-f90", "built/events_c", "built/events_cpp", "built/events_f90"):
        run = f"run-{program.replace('/', '-')}"
        assert place.can(f"./{program}", run) == "recorded\n"
        assert "restart" in place.can("tare", "events", run)
    assert "MPI_Sendrecv" in place.can("./read_run", "first", "profile")
