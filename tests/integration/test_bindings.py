"""A known number of calls from known lines, in every binding, is what tare reports: exactly."""

from __future__ import annotations

from pathlib import Path

import expectations
from environments import PYTHON, MpiEnvironment, compile_c, compile_cxx, compile_fortran
from expectations import Expected, add_up, differences
from measured import PROGRAMS, Measurement, measure

RANKS = 2
FORTRAN_FLAGS = {"mpif.h": [], "mpi": ["-DUSE_MPI"], "mpi_f08": ["-DUSE_MPI_F08"]}


def test_c(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = PROGRAMS / "c_calls.c"
    program = compile_c(mpi, [source], tmp_path / "c_calls")
    measured = measure_ok(tare, mpi, [program], tmp_path / "run")
    assert_exact(expectations.read(source, program), measured)


def test_calls_that_libraries_make_themselves(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """They are part of the call that led to them, where it is only counted as well."""
    source = PROGRAMS / "nested_calls.c"
    # The header of MPI's standard ABI does not have what MPI 3.0 has removed.
    old = [] if mpi.abi == "standard" else ["-DOLD", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"]
    program = compile_c(mpi, [source], tmp_path / "nested_calls", *old)
    measured = measure_ok(tare, mpi, [program], tmp_path / "run")
    assert_exact(expectations.read(source, program), measured)


def test_cxx(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = PROGRAMS / "cxx_calls.cpp"
    program = compile_cxx(mpi, [source], tmp_path / "cxx_calls")
    measured = measure_ok(tare, mpi, [program], tmp_path / "run")
    assert_exact(expectations.read(source, program), measured)


def test_fortran(mpi_fortran: tuple[MpiEnvironment, str], tare: Path, tmp_path: Path) -> None:
    env, binding = mpi_fortran
    source = PROGRAMS / "fortran_calls.F90"
    flags = ["-ffree-line-length-none", "-fallow-argument-mismatch", *FORTRAN_FLAGS[binding]]
    program = compile_fortran(env, [source], tmp_path / source.stem, *flags)
    measured = measure_ok(tare, env, [program], tmp_path / "run")
    assert_exact(expectations.read(source, program), measured)


def test_python(mpi_python: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = PROGRAMS / "py_calls.py"
    measured = measure_ok(tare, mpi_python, [PYTHON, source], tmp_path / "run")
    # mpi4py itself looks many things up, and calls MPI while it is imported.
    assert_exact(expectations.read(source), measured, only_this_file=True)


def test_without_debug_information(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """The calling function and the object still name the call site."""
    program = compile_c(mpi, [PROGRAMS / "c_calls.c"], tmp_path / "c_calls", "-g0", "-fno-inline")
    measured = measure_ok(tare, mpi, [program], tmp_path / "run")
    sites = [row for row in measured.profile("site") if row["function"] == "MPI_Send"]
    assert {row["caller"] for row in sites} == {"blocking", "datatypes"}
    assert {Path(row["object"]).name for row in sites} == {"c_calls"}
    assert {(row["file"], row["line"]) for row in sites} == {(None, None)}


def test_profile_does_not_depend_on_the_trace(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = PROGRAMS / "cxx_calls.cpp"
    program = compile_cxx(mpi, [source], tmp_path / "cxx_calls")
    measured = measure_ok(tare, mpi, [program], tmp_path / "run", trace=False)
    assert_exact_profile(expectations.read(source, program), measured)
    assert measured.info()["trace"]["records"] == 0


def measure_ok(
    tare: Path, env: MpiEnvironment, argv: list[Path], directory: Path, trace: bool = True
) -> Measurement:
    options = ["--trace"] if trace else []
    measured = measure(tare, env, RANKS, argv, directory, *options)
    ended = measured.ended
    assert (ended.returncode, ended.stdout) == (0, "ok\n"), ended.stderr
    return measured


def assert_exact(expected: Expected, measured: Measurement, only_this_file: bool = False) -> None:
    assert_exact_profile(expected, measured, only_this_file)
    assert_exact_events(expected, measured, only_this_file)
    assert [(row["rank"], row["state"]) for row in measured.info()["ranks"]] == [
        (rank, "finished") for rank in range(RANKS)
    ]
    assert measured.info()["trace"]["dropped"] == 0


def assert_exact_profile(expected: Expected, measured: Measurement, only_this_file: bool = False) -> None:
    by_function = add_up(
        (function_of(row, only_this_file), row["calls"], row["bytes"]) for row in measured.profile("function")
    )
    if only_this_file:  # mpi4py adds calls of its own
        assert {key for key in expected.by_function(RANKS) if key not in by_function} == set()
    else:
        assert_no(differences(expected.by_function(RANKS), by_function))
    sites = [
        ((row["line"], function_of(row, only_this_file)), row["calls"], row["bytes"])
        for row in measured.profile("site")
        if is_wanted(row, expected, only_this_file)
    ]
    assert_no(differences(expected.by_site(RANKS), add_up(sites), strict=not only_this_file))


def assert_exact_events(expected: Expected, measured: Measurement, only_this_file: bool) -> None:
    events = [
        ((row["rank"], row["line"], function_of(row, only_this_file)), 1, row.get("bytes") or 0)
        for row in measured.events()
        if is_wanted(row, expected, only_this_file)
    ]
    assert_no(differences(expected.by_rank_and_site(RANKS), add_up(events), strict=not only_this_file))


def assert_no(differences: list[str]) -> None:
    assert not differences, "\n".join(["differences:", *differences])


def is_wanted(row: dict[str, object], expected: Expected, only_this_file: bool) -> bool:
    """Look-ups have no site; a call from any other file than the program's is a mistake, but for Python."""
    if row["function"] in expected.lookups:
        return False
    in_file = row["file"] is not None and Path(str(row["file"])).name == expected.source.name
    assert in_file or only_this_file, f"not from {expected.source.name}: {row}"
    return in_file


def function_of(row: dict[str, object], large_count_is_same: bool) -> str:
    name = str(row["function"])
    return name.removesuffix("_c") if large_count_is_same else name
