"""Programs with a known number of calls, compiled, run under tare, and compared."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tare import programs, units
from tare.analysis.profile import summed
from tare.doctor.installations import (
    ABI_WRAPPERS,
    C_WRAPPERS,
    FORTRAN_WRAPPERS,
    VERSION_TIMEOUT_S,
    Installation,
)
from tare.errors import TareError
from tare.runs.run import open_run

if TYPE_CHECKING:
    from tare.runs.run import Run

State = Literal["ok", "failed", "not tested"]
COMPILE_TIMEOUT_S = 60
RUN_TIMEOUT_S = 60
# What every probe calls on each rank.
CALLS = {"MPI_Barrier": 3, "MPI_Allreduce": 5, "MPI_Sendrecv": 7}
# mpi4py looks up rank and size by itself, too, so these are known for compiled probes only.
LOOKUPS = {"MPI_Comm_rank": 1, "MPI_Comm_size": 1}
MPI4PY_LIBRARY = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12", "intel": "libmpi.so.12"}


@dataclass(frozen=True)
class Binding:
    """A language binding of MPI: its probe program and how to compile it."""

    name: str
    source: str  # file name of the probe
    wrappers: tuple[str, ...] = ()  # names of compiler wrappers to try
    compiler: str = ""  # the compiler to use if no wrapper works
    libraries: tuple[str, ...] = ()  # libraries to link then
    flags: tuple[str, ...] = ()  # further ones of the compiler
    calls: Mapping[str, int] = field(default_factory=lambda: CALLS | LOOKUPS)  # by function: calls expected


_FORTRAN = (FORTRAN_WRAPPERS, "gfortran", ("-lmpifort", "-lmpi"))
BINDINGS = (
    Binding("C", "probe.c", C_WRAPPERS, "gcc", ("-lmpi",)),
    Binding("C, standard ABI", "probe.c", ABI_WRAPPERS),
    Binding("Fortran mpif.h", "probe.F90", *_FORTRAN),
    Binding("Fortran use mpi", "probe.F90", *_FORTRAN, ("-DUSE_MPI",)),
    Binding("Fortran use mpi_f08", "probe.F90", *_FORTRAN, ("-DUSE_F08",)),
    Binding("Python mpi4py", "probe_mpi4py.py", calls=CALLS),
)


@dataclass(frozen=True)
class Finding:
    """The result of the probe of one binding with one MPI. Numbers of calls are sums over all ranks."""

    installation: Installation
    binding: str
    state: State
    detail: str  # what was found, in words
    library: str | None = None  # version text of the MPI library
    expected: int | None = None  # calls that the probe makes
    recorded: int | None = None  # calls that tare recorded
    lines: bool | None = None  # whether call sites have source lines


class NotTestable(TareError):
    """The probe says nothing about tare: something that it needs is missing or broken."""


class Prober:
    """Tries the bindings of one MPI in a scratch directory of its own."""

    def __init__(self, installation: Installation, scratch: Path, pythons: Sequence[Path]) -> None:
        self._mpi = installation
        self._scratch = scratch
        self._pythons = pythons
        self._environment = installation.environment()
        self._ranks = min(2, os.cpu_count() or 1)
        self.libraries: set[Path] = set()

    def bindings(self) -> list[Binding]:
        """Those worth a row: the standard ABI only where there is a wrapper for it."""
        return [
            binding
            for binding in BINDINGS
            if binding.wrappers != ABI_WRAPPERS or self._mpi.wrapper(ABI_WRAPPERS)
        ]

    def probe(self, binding: Binding) -> Finding:
        """Compiles, measures and judges the probe of a binding.

        Raises nothing: a failure is a finding, too.
        """
        finding = Finding(self._mpi, binding.name, "not tested", "")
        try:
            with as_file(files("tare.probes") / binding.source) as source:
                if binding.wrappers:
                    return self._run(binding, finding, self._compiled(binding, source), {})
                return self._python(binding, finding, source)
        except NotTestable as error:
            return replace(finding, detail=str(error))
        except TareError as error:
            return replace(finding, state="failed", detail=str(error))

    def _compiled(self, binding: Binding, source: Path) -> list[str]:
        wrapper = self._mpi.wrapper(binding.wrappers)
        if wrapper is None and self._mpi.prefix is None:
            raise NotTestable(f"no {binding.wrappers[0]}{self._mpi.launcher.suffix}")
        program = self._scratch / source.name.replace(".", "_")
        flags = ["-g", *binding.flags, str(source), "-o", str(program)]
        why = f"no {binding.wrappers[0]}"
        if wrapper is not None:
            why = self._compile([str(wrapper), *flags])
        # The wrappers of wheels may name directories that exist nowhere.
        if why and self._mpi.prefix and (compiler := programs.tool(binding.compiler)):
            places = self._places(self._mpi.prefix)
            if not self._compile([compiler, *flags, *places, *binding.libraries]):
                why = ""
        if why:
            raise NotTestable(why)
        self._note_libraries(program)
        return [str(program)]

    def _compile(self, command: list[str]) -> str:
        """Why it does not compile; empty if it does."""
        code, text = run_in_group(command, self._scratch, self._environment, COMPILE_TIMEOUT_S)
        if code == 0:
            return ""
        return f"does not compile: {error_line(text) or units.ending(code)}"

    @staticmethod
    def _places(prefix: Path) -> list[str]:
        lib, include = prefix / "lib", prefix / "include"
        flags = [f"-I{include}", f"-L{lib}", f"-Wl,-rpath,{lib}"]
        version = programs.output([programs.tool("gcc") or "/usr/bin/gcc", "-dumpversion"], VERSION_TIMEOUT_S)
        # Intel MPI has a directory of modules for each version of gfortran.
        modules = sorted((include / "mpi" / "gfortran").glob(f"{version.split('.')[0].strip()}.*"))
        return [*flags, *(f"-I{folder}" for folder in modules[-1:])]

    def _note_libraries(self, program: Path) -> None:
        text = programs.output(programs.ldd(program), 10, self._environment)
        paths = re.findall(r"lib(?:mpi|mpich|mpi_abi)\.so\.\d+ => (\S+)", text)
        self.libraries |= {Path(path) for path in paths if path != "not"}

    def _python(self, binding: Binding, finding: Finding, source: Path) -> Finding:
        for python in self._pythons:
            code, _ = run_in_group([str(python), "-c", "import mpi4py"], self._scratch, os.environ, 30)
            if code == 0:
                return self._run(binding, finding, [str(python), str(source)], self._mpi4py_library())
        raise NotTestable("no mpi4py (pip install mpi4py)")

    def _mpi4py_library(self) -> dict[str, str]:
        """Leads mpi4py's wheel to this library, by the name that it looks for."""
        wanted = MPI4PY_LIBRARY.get(self._mpi.family)
        found = [path for path in self.libraries if "abi" not in path.name]
        if wanted is None or not found:
            return {}
        if found[0].name == wanted:
            return {"MPI4PY_LIBMPI": str(found[0])}
        folder = self._scratch / "renamed"
        folder.mkdir(exist_ok=True)
        link = folder / wanted
        if not link.is_symlink():
            link.symlink_to(found[0].resolve())
        before = self._environment.get("LD_LIBRARY_PATH")
        return {
            "MPI4PY_LIBMPI": str(link),
            "LD_LIBRARY_PATH": f"{folder}:{before}" if before else str(folder),
        }

    def _run(
        self, binding: Binding, finding: Finding, program: list[str], variables: Mapping[str, str]
    ) -> Finding:
        environment = {**self._environment, **variables}
        launch = [str(self._mpi.launcher), "-n", str(self._ranks), *program]
        run_dir = self._scratch / f"run-{binding.source}-{len(list(self._scratch.glob('run-*')))}"
        measured = programs.tare("run", "--quiet", "-o", str(run_dir), "--", *launch)
        code, text = run_in_group(measured, self._scratch, environment, RUN_TIMEOUT_S)
        if code != 0:
            bare_code, bare_text = run_in_group(launch, self._scratch, environment, RUN_TIMEOUT_S)
            if bare_code != 0:
                why = error_line(bare_text) or units.ending(bare_code)
                raise NotTestable(f"does not run without tare either: {why}")
            why = error_line(text) or units.ending(code)
            raise TareError(f"runs without tare, but not with it: {why}")
        return self._compared(binding, finding, open_run(run_dir))

    def _compared(self, binding: Binding, finding: Finding, recording: Run) -> Finding:
        if not recording.processes:
            raise TareError("no call was intercepted")
        library = recording.processes[0].mpi.strip()
        wanted = {name: calls * self._ranks for name, calls in binding.calls.items()}
        # mpi4py calls the large-count form of a function where the library has it.
        rows = [row for row in summed(recording, ["site"]) if row.function.removesuffix("_c") in wanted]
        seen = {name: 0 for name in wanted}
        for row in rows:
            seen[row.function.removesuffix("_c")] += row.calls
        wrong = [f"{name}: {seen[name]} of {wanted[name]}" for name in wanted if seen[name] != wanted[name]]
        at_source = [Path(row.file or "").name == binding.source for row in rows if row.timed]
        return replace(
            finding,
            state="failed" if wrong else "ok",
            detail=", ".join(wrong),
            library=library,
            expected=sum(wanted.values()),
            recorded=sum(seen.values()),
            lines=bool(at_source) and all(at_source),
        )


def error_line(text: str) -> str:
    """The line of a compiler's or launcher's output that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    if raised:
        return raised[-1]
    telling = [line for line in lines if re.search(r"error|cannot|not found|no such", line, re.IGNORECASE)]
    # Open MPI explains between two rules: the first paragraph says what is wrong.
    explained = [
        " ".join(found.split())
        for found in re.findall(r"^-{40,}\n(.+?)\n(?:\n|-)", text, re.DOTALL | re.MULTILINE)
    ]
    return (telling or explained or lines[-1:] or [""])[0]


def run_in_group(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
) -> tuple[int, str]:
    """Exit code and output; what the command started ends with it at the timeout."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return 127, f"cannot start {command[0]}: {error.strerror}"
    try:
        text, _ = process.communicate(timeout=timeout_s)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        return 124, f"error: no end after {timeout_s:g} s"
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
