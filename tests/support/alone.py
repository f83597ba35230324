"""Somebody who has nothing: no rights, no checkout, no compiler; and what tare must do for them."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import expectations
import pytest
from environments import MACHINE, ROOT, MpiEnvironment, compile_c, mpich4, openmpi4
from roots import IN_ROOT

PROGRAMS = ROOT / "tests" / "programs"
PYTHON = "/usr/bin/python3"  # Debian's, which all users reach
NOBODY = 65534
NONE: Mapping[str, str] = {}
# Covers what is not there elsewhere, for this process alone, and gives all rights away. A folder can be shown
# that lies where root alone enters: at its place, with nothing beside it.
ALONE = """
shown=$1 hidden=$2
shift 2
[ -z "$hidden" ] || {
    mount --bind "$shown" /mnt && mount -t tmpfs -o mode=755 none "$hidden" && mkdir -p "$shown" &&
        mount --bind /mnt "$shown" || exit 99
}
for folder; do
    shift
    [ "$folder" = -- ] && break
    [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit 99
done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps=-all -- "$@"
"""
PKG_CONFIG = """
cc events.c $(pkg-config --cflags --libs tare) -o events
gfortran $(pkg-config --variable=fortran_source tare) events.f90 $(pkg-config --libs tare) -o events-f90
c++ -std=c++17 read_run.cpp $(pkg-config --cflags --libs tare-reader) -o read_run
echo '#include <tare/filter.h>' | cc $(pkg-config --cflags tare) -fsyntax-only -x c -
"""


ABOUT = """
import ensurepip, sys, venv
assert "t" not in sys.abiflags  # it has the GIL
print(sys.version_info[0], sys.version_info[1], sys.base_prefix)
"""


@dataclass(frozen=True)
class Python:
    """An interpreter, and the folder of its files."""

    path: str
    version: tuple[int, int]
    prefix: Path

    def __str__(self) -> str:
        return f"python{self.version[0]}.{self.version[1]}"

    @property
    def hidden_in(self) -> Path | None:
        """The folder around its files that only root enters; None if all users reach them."""
        above = reversed(self.prefix.parents)
        return next((folder for folder in above if not folder.stat().st_mode & stat.S_IXOTH), None)


def pythons() -> list[Python]:
    """Debian's Python, and one of each other version that is here, from 3.11 on, and makes environments.

    They are looked for in PATH, among those of pyenv, and in TARE_TEST_PYTHONS, a list as PATH is.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [
        PYTHON,
        *os.environ.get("TARE_TEST_PYTHONS", "").split(":"),
        *(f"python3.{minor}" for minor in range(11, 20)),
        *sorted(map(str, pyenv.glob("3.*/bin/python3"))),
    ]
    found: dict[tuple[int, int], Python] = {}
    for candidate in candidates:
        if not (path := shutil.which(candidate)):
            continue
        done = subprocess.run([path, "-c", ABOUT], capture_output=True, text=True)
        if done.returncode == 0:
            major, minor, prefix = done.stdout.split(maxsplit=2)
            version = int(major), int(minor)
            if version >= (3, 11):
                found.setdefault(version, Python(path, version, Path(prefix.strip())))
    return sorted(found.values(), key=lambda python: (python.path != PYTHON, python.version))


@dataclass(frozen=True)
class Place:
    """A directory of somebody without rights, and what they can do there. tare is in bin/ of `prefix`."""

    path: Path
    prefix: Path
    python: Python | None = None  # one that they have besides Debian's
    root: Path | None = None  # where they are: files of another Debian (tools/root.sh)

    def can(self, *command: str | Path, compiler: bool = False, extra: Mapping[str, str] = NONE) -> str:
        """What the command prints; it must succeed."""
        done = self.run(*command, compiler=compiler, extra=extra)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
        return done.stdout

    def run(
        self, *command: str | Path, compiler: bool = False, extra: Mapping[str, str] = NONE
    ) -> subprocess.CompletedProcess[str]:
        covered = [str(ROOT)] if compiler else [str(ROOT), "/usr/lib/gcc"]
        hidden = self.python.hidden_in if self.python else None
        shown = [str(self.python.prefix), str(hidden)] if self.python and hidden else ["", ""]
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        path = f"{self.prefix}/bin:/usr/bin:/bin"
        environment = {"HOME": str(self.path), "PATH": path, **kept, **extra}
        alone = ["unshare", "--mount", "sh", "-c", ALONE, "sh", *shown, *covered, "--"]
        if self.root:
            alone = [str(IN_ROOT), str(self.root), "env", f"PATH={path}"]
            environment |= {"PATH": os.environ["PATH"], "AS_USER": str(NOBODY)}
        return subprocess.run(
            [*alone, *map(str, command)], cwd=self.path, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=2400 if MACHINE else 180,  # an emulated processor is slow
        )  # fmt: skip

    def give(self) -> None:
        """What lies there belongs to them."""
        for each in (self.path, *self.path.rglob("*")):
            os.chown(each, NOBODY, NOBODY, follow_symlinks=False)


def made(
    prefix: str,
    python: Python | None = None,
    root: Path | None = None,
    envs: Sequence[MpiEnvironment] = (),
) -> Place:
    """A new place, with programs to measure and to build; `prefix` is below it.

    `envs`: the MPI libraries of its programs, if not those of this machine.
    """
    path = Path(tempfile.mkdtemp(prefix="tare-alone-", dir="/tmp"))
    for env in envs or (openmpi4(), mpich4()):
        for name in ("ring", "waiting"):
            compile_c(env, [PROGRAMS / f"{name}.c"], path / f"{name}-{env.name}")
    for file in ("events.c", "events.cpp", "events.f90", "read_run.cpp"):
        shutil.copy(ROOT / "examples" / file, path)
    for project in ("consumer", "reader_consumer"):
        shutil.copytree(ROOT / "tests" / project, path / project)
    for script in ("py_calls.py", "spends.py"):
        shutil.copy(PROGRAMS / script, path)
    (path / "libmpi.so.12").symlink_to(mpich4().library)  # mpi4py's wheel needs it by upstream's name
    place = Place(path, path / prefix, python, root)
    place.give()
    return place


def variables(env: MpiEnvironment) -> dict[str, str]:
    return {name: value for name, value in env.env.items() if not name.startswith(("MPI4PY", "LD_"))}


def ring(env: MpiEnvironment, path: Path, rounds: int) -> list[str]:
    return [*env.mpiexec, "-n", "2", str(path / f"ring-{env.name}"), str(rounds), str(path / "started")]


def use_verbs(place: Place, env: MpiEnvironment, without: Sequence[str] = ()) -> None:
    """Measures a program in each way; every verb reads it. `without`: libraries that were not there."""
    runs = Path(env.name)

    def tare(*words: str | Path) -> str:
        return place.can("tare", *words, extra=variables(env))

    def refused(name: str, *words: str | Path) -> None:
        done = place.run("tare", *words, extra=variables(env))
        assert done.returncode == 1 and name in done.stderr and done.stderr.count("\n") == 1, done

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
    # Lines of the program, by libdw.
    assert "ring.c:18" in tare("profile", trace)
    assert tare("events", trace).count("MPI_Sendrecv") >= 800
    for verb in ("explain", "phases", "where"):
        assert tare(verb, trace)
    assert "MPI_Sendrecv" in tare("diff", trace, "vs", again)
    for form, library in (
        ("perfetto", "protozero"), ("otf2", "OTF2"), ("paje", ""), ("speedscope", ""), ("folded", "")
    ):  # fmt: skip
        if library in without:
            refused(library, "export", trace, "--to", form, "-o", runs / form)
        else:
            tare("export", trace, "--to", form, "-o", runs / form)
    if "OTF2" not in without:
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
    tree = ["--ranks", "8", "--fan-out", "8", "--events", "64", "--brief", "--probes", "2", "--json"]
    if "ZeroMQ" in without:
        refused("ZeroMQ", "run", "--monitor", "-o", runs / "monitored", "--", "true")
        refused("ZeroMQ", "sweetspot", *tree)
    else:
        assert "round" in tare("info", measure("monitored", "--monitor", rounds=2000))
        assert json.loads(tare("sweetspot", *tree))
    measure("files", "--with", "files")
    measure("budget", "--budget", "5%")
    # What is not installed with it is said in one line.
    refused("duckdb", "sql", trace, "select 1")


def find_hang(place: Place, env: MpiEnvironment) -> None:
    """A deadlock of a program is named while it hangs, and after it was ended."""
    waiting = [*env.mpiexec, "-n", "2", str(place.path / f"waiting-{env.name}"), "waitall"]
    run = Path(env.name) / "hung"
    for patience_s in ("5", "20", "90"):  # the first is enough where no processor is emulated
        shutil.rmtree(place.path / run, ignore_errors=True)
        place.run("timeout", patience_s, "tare", "run", "-o", run, "--", *waiting, extra=variables(env))
        found = json.loads(place.can("tare", "where", "--json", run))
        if found["deadlock"]:
            break
    assert [each["rank"] for each in found["deadlock"]["blocked"]] == [0, 1]
    assert {row["function"] for row in found["rows"]} == {"MPI_Waitall"}


def find_lines_of_python(place: Place, env: MpiEnvironment, library: Path) -> None:
    """Each call of mpi4py is found at its line and path, from the frames of this Python."""
    ranks = 2
    source, run = PROGRAMS / "py_calls.py", Path(env.name) / "python"
    loaded = {"MPI4PY_LIBMPI": str(library), "LD_LIBRARY_PATH": str(place.path)}
    place.can("pip", "install", "--quiet", "--no-cache-dir", "mpi4py")
    program = [*env.mpiexec, "-n", str(ranks), "python", source.name]
    said = place.can(
        "tare", "run", "--quiet", "--trace", "-o", run, "--", *program, extra=variables(env) | loaded
    )
    assert said == "ok\n"
    rows = json.loads(place.can("tare", "profile", "--json", "--by", "site", run))["rows"]
    measured = expectations.add_up(
        ((row["line"], row["function"].removesuffix("_c")), row["calls"], row["bytes"])
        for row in rows
        if Path(row["file"] or "").name == source.name
    )
    wrong = expectations.differences(expectations.read(source).by_site(ranks), measured, strict=False)
    assert not wrong, "\n".join(wrong)
    place.can("tare", "export", run, "--to", "folded", "-o", f"{run}.folded")
    folded = (place.path / f"{run}.folded").read_text()
    assert re.search("^rank 0;<module>;main;upper_case;MPI_Sendrecv(_c)? ", folded, re.MULTILINE)


def sample_python(place: Place) -> None:
    """Samples of the stacks of a Python program have its functions, with all that they call."""
    place.can("tare", "run", "--quiet", "--with", "stacks", "-o", "spends", "--", "python", "spends.py")
    found = json.loads(place.can("tare", "profile", "--json", "--by", "function", "spends"))["functions"]
    whole_ms = {row["function"]: row["with_callees_ns"] / 1e6 for row in found}
    # On a busy machine, each of few samples stands for much time. A frame that is not read is in none.
    in_callers = sum(whole_ms.get(caller, 0) for caller in ("first", "second"))
    assert whole_ms["spend"] == pytest.approx(in_callers, rel=0.01), whole_ms
    assert whole_ms["spend"] >= 0.5 * sum(row["time_ns"] for row in found) / 1e6, whole_ms


def build_programs(place: Place) -> None:
    """pkg-config and CMake find tare below its prefix; programs find its libraries, also when installed."""
    pc = {"PKG_CONFIG_PATH": str(place.prefix / "lib/pkgconfig")}
    place.can("sh", "-ec", PKG_CONFIG, compiler=True, extra=pc)
    for project in ("consumer", "reader_consumer"):
        place.can("cmake", "-S", project, "-B", f"built/{project}", f"-DEXAMPLES={place.path}",
                  f"-DCMAKE_PREFIX_PATH={place.prefix}", compiler=True)  # fmt: skip
        place.can("cmake", "--build", f"built/{project}", compiler=True)
        place.can("cmake", "--install", f"built/{project}", "--prefix", "own", compiler=True)
    place.can(
        "tare",
        "run",
        "--quiet",
        "-o",
        "to-read",
        "--",
        *ring(openmpi4(), place.path, 100),
        extra=variables(openmpi4()),
    )
    built = Path("built/consumer")
    for program in (
        "events",
        "events-f90",
        built / "events_c",
        built / "events_cpp",
        built / "events_f90",
        "own/bin/events_c",
    ):
        run = f"run-{str(program).replace('/', '-')}"
        assert place.can(f"./{program}", run) == "recorded\n"
        assert "restart" in place.can("tare", "events", run)
    for program in ("read_run", "built/reader_consumer/read_run", "own/bin/read_run"):
        assert "MPI_Sendrecv" in place.can(f"./{program}", "to-read", "profile")
