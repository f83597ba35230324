"""What a frame is called: found after the run, in whatever form the debug information is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, compile_cxx, compile_fortran, openmpi4
from measured import measure

CXX = """
#include <mpi.h>
namespace halo {
struct Field { double value; };
template <class T>
struct Exchange {
  static inline __attribute__((always_inline)) void send(const T& what) {
    MPI_Send(&what, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);  // inner
  }
  __attribute__((noinline)) void operator()(const T& what) const {
    send(what);  // outer
    __asm__ volatile("");
  }
};
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  halo::Exchange<halo::Field>()({1.0});  // main
  MPI_Finalize();
}
"""

FORTRAN = """
module boundary
contains
  subroutine exchange()
    use mpi
    integer :: ierror, value(1)
    value = 1
    call MPI_Send(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror) ! inner
  end subroutine
end module
program solver
  use mpi
  use boundary
  integer :: ierror
  call MPI_Init(ierror)
  call exchange() ! main
  call MPI_Finalize(ierror)
end program
"""


def line_of(text: str, word: str) -> int:
    return next(
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith((f"// {word}", f"! {word}"))
    )


@pytest.fixture
def mpi() -> MpiEnvironment:
    """What is tried here does not depend on the MPI."""
    return openmpi4()


def send(tare: Path, mpi: MpiEnvironment, program: Path, out: Path) -> dict[str, Any]:
    measured = measure(tare, mpi, 1, [program], out)
    assert measured.ended.returncode == 0, measured.ended.stderr
    (row,) = [row for row in measured.profile("site") if row["function"] == "MPI_Send"]
    return row


def cxx(mpi: MpiEnvironment, out: Path, *flags: str) -> Path:
    source = out / "halo.cpp"
    source.write_text(CXX)
    return compile_cxx(mpi, [source], out / "halo", "-O2", "-g", *flags)


def check_cxx(row: dict[str, Any]) -> None:
    exchange = "halo::Exchange<halo::Field>"
    assert row["caller"] == (
        f"{exchange}::send(halo::Field const&) (inlined in {exchange}::operator()(halo::Field const&) const)"
    )
    assert (Path(row["file"]).name, row["line"]) == ("halo.cpp", line_of(CXX, "inner"))
    assert [(frame["caller"], frame["line"]) for frame in row["path"][1:]] == [("main", line_of(CXX, "main"))]


@pytest.mark.parametrize("flags", [(), ("-no-pie",), ("-gdwarf-4",)], ids=["pie", "no-pie", "dwarf4"])
def test_cxx_names_and_inlined_functions(
    flags: tuple[str, ...], mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    check_cxx(send(tare, mpi, cxx(mpi, tmp_path, *flags), tmp_path / "run"))


def test_separate_debug_file(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = cxx(mpi, tmp_path)
    debug = tmp_path / ".debug" / "halo.debug"
    debug.parent.mkdir()
    commands: tuple[list[Path | str], ...] = (
        ["objcopy", "--only-keep-debug", program, debug],
        ["strip", "--strip-all", program],
        ["objcopy", f"--add-gnu-debuglink={debug}", program],
    )
    for command in commands:
        subprocess.run(command, check=True)
    check_cxx(send(tare, mpi, program, tmp_path / "run"))


def test_without_debug_information_the_symbol_table_has_names(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = cxx(mpi, tmp_path)
    subprocess.run(["strip", "--strip-debug", program], check=True)
    row = send(tare, mpi, program, tmp_path / "run")
    assert row["caller"] == "halo::Exchange<halo::Field>::operator()(halo::Field const&) const"
    assert (row["file"], row["line"]) == (None, None)


def test_names_stay_when_the_program_is_gone(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    measured = measure(tare, mpi, 1, [cxx(mpi, build)], tmp_path / "run")
    shutil.rmtree(build)
    (row,) = [row for row in measured.profile("site") if row["function"] == "MPI_Send"]
    check_cxx(row)


def test_fortran_module_procedures(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = tmp_path / "solver.f90"
    source.write_text(FORTRAN)
    row = send(tare, mpi, compile_fortran(mpi, [source], tmp_path / "solver", "-g"), tmp_path / "run")
    assert (row["caller"], row["line"]) == ("boundary::exchange", line_of(FORTRAN, "inner"))
    assert [(frame["caller"], frame["line"]) for frame in row["path"][1:]][:1] == [
        ("solver", line_of(FORTRAN, "main"))
    ]


def test_a_shared_object_opened_late(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    (tmp_path / "plugin.c").write_text(
        "#include <mpi.h>\n"
        "void plugin(void)\n"
        '{ MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); __asm__ volatile(""); }\n'
    )
    compile_c(mpi, [tmp_path / "plugin.c"], tmp_path / "plugin.so", "-g", "-O2", "-shared", "-fPIC")
    (tmp_path / "host.c").write_text(
        "#include <dlfcn.h>\n#include <mpi.h>\n#include <unistd.h>\n"
        "int main(int argc, char **argv)\n{\n  MPI_Init(&argc, &argv);\n"
        "  void *object = chdir(argv[1]) == 0 ? dlopen(argv[2], RTLD_NOW) : 0;\n"
        '  void (*call)(void) = (void (*)(void))dlsym(object, "plugin");\n'
        "  call();\n  dlclose(object);\n  MPI_Finalize();\n  return 0;\n}\n"
    )
    host = compile_c(mpi, [tmp_path / "host.c"], tmp_path / "host", "-g", "-O2", "-ldl")
    # Where it is found depends on where the program is.
    measured = measure(tare, mpi, 1, [host, tmp_path, "./plugin.so"], tmp_path / "run")
    (row,) = [row for row in measured.profile("site") if row["function"] == "MPI_Send"]
    assert (Path(row["file"]).name, row["line"]) == ("host.c", 9)
    assert [(Path(frame["file"]).name, frame["caller"]) for frame in row["path"]] == [
        ("plugin.c", "plugin"),
        ("host.c", "main"),
    ]
