"""Programs built with a sanitizer, or with an allocator preloaded, run and report as without tare."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from environments import SYSTEM, MpiEnvironment, compile_c, run
from measured import PROGRAMS, measure
from on_mpi import both_debian

RANKS, THREADS = 2, 2
EXCHANGES, BARRIERS = 200, 100  # as in sanitized.c
CLANG = "clang-14"
# By the name of the fault that each is to find.
SANITIZERS = {"overflow": "address", "race": "thread", "shift": "undefined", "leak": "leak"}
ALLOCATORS = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4"]
# Under gcc's, no program runs with MPICH of Debian, with or without tare.
RUNS_NOT = {("gcc", "thread", "debian-mpich")}

pytestmark = both_debian


def built(mpi: MpiEnvironment, compiler: str, folder: Path, *flags: str) -> Path:
    chosen = replace(mpi, env={**mpi.env, "OMPI_CC": compiler, "MPICH_CC": compiler})
    return compile_c(chosen, [PROGRAMS / "sanitized.c"], folder / "sanitized", "-pthread", *flags)


def said(ended: subprocess.CompletedProcess[str]) -> tuple[int, list[str], list[str]]:
    """Exit code, output, and what a sanitizer found."""
    found = [line for line in ended.stderr.splitlines() if re.search("SUMMARY: |: runtime error: ", line)]
    output = [line for line in ended.stdout.splitlines() if line.startswith("done")]
    return ended.returncode, sorted(output), sorted(found)


def check(
    mpi: MpiEnvironment, program: Path, fault: str, tare: Path, tmp_path: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The measured run; it is as the plain one, and its calls are right."""
    # Otherwise the launcher of Open MPI may kill a rank that has found a fault before it has said so.
    stays = {"OMPI_MCA_orte_abort_on_non_zero_status": "0"}
    chosen = replace(mpi, env={**mpi.env, **stays, **variables})
    plain = run(chosen, RANKS, [program, fault])
    measured = measure(tare, chosen, RANKS, [program, fault], tmp_path / "run", "--trace")
    assert said(measured.ended) == said(plain), measured.ended.stderr
    if "done 0" in plain.stdout:
        calls = measured.calls()
        assert calls["MPI_Sendrecv_replace"] == RANKS * THREADS * EXCHANGES
        assert calls["MPI_Barrier"] == RANKS * BARRIERS
        assert calls["MPI_Finalize"] == RANKS
    return measured.ended


@pytest.mark.parametrize("fault", SANITIZERS)
@pytest.mark.parametrize("compiler", ["gcc", CLANG])
def test_a_fault_is_found_as_without_tare(
    compiler: str, fault: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    check_fault(compiler, fault, (), mpi, tare, tmp_path)


def test_a_fault_is_found_by_the_shared_runtime_of_clang(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    resources = subprocess.run([CLANG, "-print-resource-dir"], capture_output=True, text=True, check=True)
    flags = ("-shared-libasan", f"-Wl,-rpath,{resources.stdout.strip()}/lib/linux")
    check_fault(CLANG, "overflow", flags, mpi, tare, tmp_path)


def check_fault(
    compiler: str, fault: str, flags: tuple[str, ...], mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    sanitizer = SANITIZERS[fault]
    program = built(mpi, compiler, tmp_path, f"-fsanitize={sanitizer}", *flags)
    options = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}
    ended = check(mpi, program, fault, tare, tmp_path, **options)
    if (compiler, sanitizer, mpi.name) not in RUNS_NOT:
        assert said(ended)[2], "the sanitizer finds nothing"


def test_no_leak_is_found_in_tare(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Both MPIs leak, and AddressSanitizer counts it: with tare the count is the same."""
    program = built(mpi, "gcc", tmp_path, "-fsanitize=address")
    ended = check(mpi, program, "leak", tare, tmp_path)
    assert "LeakSanitizer" in ended.stderr


@pytest.mark.parametrize("launcher_sets", ["env", "option", "nothing"])
def test_options_that_the_command_sets(
    launcher_sets: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """Leaks are not looked for, wherever that is said; a script that says it is as the variable itself."""
    program = built(mpi, "gcc", tmp_path, "-fsanitize=address")
    name, value = "ASAN_OPTIONS", "detect_leaks=0"
    variables: dict[str, str] = {}
    if launcher_sets == "env":
        command = [*mpi.mpiexec, "-n", "2", "env", f"{name}={value}"]
    elif launcher_sets == "option":
        option = ["-x", f"{name}={value}"] if mpi.family == "openmpi" else ["-genv", name, value]
        command = [*mpi.mpiexec, *option, "-n", "2"]
    else:
        command, variables = [*mpi.mpiexec, "-n", "2"], {name: value}
    ended = subprocess.run(
        [tare, "run", "-q", "-o", tmp_path / "run", "--", *command, program],
        env=mpi.environ(**variables), capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (ended.returncode, sorted(ended.stdout.splitlines())) == (0, ["done 0", "done 1"]), ended.stderr


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_a_preloaded_allocator(allocator: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    library = SYSTEM / allocator
    assert library.exists(), "tools/packages/test.txt lists its package"
    program = built(mpi, "gcc", tmp_path)
    ended = check(mpi, program, "none", tare, tmp_path, LD_PRELOAD=str(library))
    assert ended.returncode == 0, ended.stderr
