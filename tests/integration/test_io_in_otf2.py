"""The I/O records of OTF2 (programs/io_records.c), as libotf2's own readers see them."""

from __future__ import annotations

import platform
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import otf2
import tare as library
from environments import MpiEnvironment, compile_c
from exporting import exported
from measured import PROGRAMS, measure
from on_mpi import both_families, on_openmpi

UNKNOWN = 2**64 - 1

BOTH = """#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char data[4] = "abc";
  MPI_Init(&argc, &argv);
  if (chdir(argv[1]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  const char* names[] = {"./both", "both"};
  for (int i = 0; i < 2; ++i) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, names[i], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 0, data, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  int file = open("both", O_RDONLY);
  int failed = read(file, data, 4) != 4;
  close(file);
  MPI_Finalize();
  return failed;
}
"""

APPENDING = ("READ_WRITE", {"CREATE", "TRUNCATE"}, {"APPEND"})


def operation(mode: str, result: int, asked: int = UNKNOWN, *flags: str) -> list[tuple[object, ...]]:
    """The records of an operation; each call of MPI asks for as much as it moves."""
    return [(mode, asked, set(flags)), *[("issued",)] * ("NON_BLOCKING" in flags), ("complete", result)]


OF_POSIX = [
    ("create", *APPENDING),
    *operation("WRITE", 100),
    ("seek", -90, "FROM_END", 10),
    *operation("READ", 50),
    *operation("READ", 30),
    *operation("FLUSH", UNKNOWN),
    ("destroy",),
    ("create", "READ_ONLY", set(), set()),
    *operation("READ", 100),
    ("destroy",),
]
OF_STREAM = [
    ("create", "WRITE_ONLY", {"CREATE", "TRUNCATE"}, set()),
    *operation("WRITE", 30),
    ("seek", 5, "FROM_START", 5),
    *operation("WRITE", 8),
    ("destroy",),
]
OF_MPI = [
    ("create", "READ_WRITE", set(), set()),
    *operation("WRITE", 64, 64, "COLLECTIVE"),
    *operation("WRITE", 32, 32, "NON_BLOCKING"),
    *operation("FLUSH", UNKNOWN, UNKNOWN, "COLLECTIVE"),
    *operation("READ", 16, 16, "COLLECTIVE", "NON_BLOCKING"),
    *operation("READ", 8, 8),
    ("destroy",),
]


def flags_of(of: object) -> set[str]:
    """The names of the bits of a flag."""
    names: dict[int, str] = type(of)._names  # type: ignore[attr-defined]
    return {name for bit, name in names.items() if bit & of.value}  # type: ignore[attr-defined]


def name_of(of: object) -> str:
    return str(of).split(".")[1]


def described(event: object) -> tuple[object, ...]:
    kind = type(event).__name__
    if isinstance(event, otf2.events.IoCreateHandle):
        return "create", name_of(event.mode), flags_of(event.creation_flags), flags_of(event.status_flags)
    if isinstance(event, otf2.events.IoSeek):
        return "seek", event.offset_request, name_of(event.whence), event.offset_result
    if isinstance(event, otf2.events.IoOperationBegin):
        return name_of(event.mode), event.bytes_request, flags_of(event.operation_flags)
    if isinstance(event, otf2.events.IoOperationComplete):
        return "complete", event.bytes_result
    return (kind.removeprefix("Io").removesuffix("Handle").removeprefix("Operation").lower(),)


def vars_of(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("function", "used_file", "bytes")}


def io_events(archive: Path) -> Iterator[tuple[int, object]]:
    """The number of the rank of each event on a handle."""
    with otf2.reader.open(str(archive / "traces.otf2")) as trace:
        for location, event in trace.events:
            if hasattr(event, "handle"):
                yield location.group._ref, event


@both_families
def test_records_of_all_interfaces(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "io_records.c"], tmp_path / "io_records", "-g")
    (tmp_path / "files").mkdir()
    command: list[Path | str] = [program, tmp_path / "files"]
    measured = measure(tare, mpi, 2, command, tmp_path / "run", "--trace", "--with", "files")
    archive = tmp_path / "out.otf2"
    export: list[str | Path] = [tare, "export", measured.directory, "--to", "otf2", "-o", archive]
    subprocess.run(export, check=True, timeout=60)
    found: dict[tuple[int, str], list[tuple[object, ...]]] = defaultdict(list)
    handles, under_way = {}, {}
    for rank, event in io_events(archive):
        name = event.handle.name  # type: ignore[attr-defined]
        handles[name] = event.handle  # type: ignore[attr-defined]
        found[rank, Path(name).name if ":" not in name else name.split(":")[0]].append(described(event))
        if isinstance(event, otf2.events.IoOperationBegin):
            under_way[event.handle, event.matching_id] = event
        if isinstance(event, otf2.events.IoOperationComplete):
            del under_way[event.handle, event.matching_id]
    assert not under_way
    assert found[0, "posix"] == OF_POSIX
    assert found[0, "stream"] == OF_STREAM
    assert found[0, "shared"] == found[1, "shared"] == OF_MPI
    assert found[0, "pipe"].count(("complete", 7)) == 2  # the MPI library may have pipes as well
    assert (1, "posix") not in found
    assert not any("descriptor" in name for name in handles)  # of the call that failed
    whole = str(tmp_path / "files" / "posix")
    assert (handles[whole].file.name, handles[whole].io_paradigm.identification) == (whole, "POSIX")
    assert handles[str(tmp_path / "files" / "stream")].io_paradigm.identification == "ISOC"
    assert handles["shared"].io_paradigm.identification == "MPI-IO"
    assert handles["shared"].comm.name == "MPI_COMM_WORLD"
    # The same files are in the other forms of the events.
    opened = library.open(measured.directory)
    table = opened.rows(opened.event_table())
    for rows in ([vars_of(row) for row in table], measured.all_events()):
        writes = [row for row in rows if row["function"] == "write" and row.get("used_file") == whole]
        assert [row["bytes"] for row in writes] == [100]
    lists: list[Any] = [row.parameters for row in table if (row.used_file, row.function) == (whole, "pread")]
    assert [each[0] for each in lists] == [30.0]
    assert_read_by_otf2_print(archive)


@on_openmpi
def test_a_file_used_through_both_is_one(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """MPI_File_open was given its name in the current directory, in two ways."""
    source, files = tmp_path / "both.c", tmp_path / "files"
    source.write_text(BOTH)
    files.mkdir()
    program = compile_c(mpi, [source], tmp_path / "program")
    measured = measure(tare, mpi, 2, [program, files], tmp_path / "run", "--trace", "--with", "files")
    archive = exported(tare, measured.directory, "otf2", tmp_path / "out.otf2")
    with otf2.reader.open(str(archive / "traces.otf2")) as trace:
        assert [file.name for file in trace.definitions.io_files if "both" in file.name] == [
            str(files / "both")
        ]
        of_file = [
            (handle.name, handle.io_paradigm.identification, handle.file.scope.name)
            for handle in trace.definitions.io_handles
            if handle.file is not None and handle.file.name == str(files / "both")
        ]
    host = platform.node()
    assert sorted(set(of_file)) == [
        ("./both", "MPI-IO", host),
        (str(files / "both"), "POSIX", host),
        ("both", "MPI-IO", host),
    ]


def assert_read_by_otf2_print(archive: Path) -> None:
    printed = subprocess.run(
        ["otf2-print", "-G", "-A", archive / "traces.otf2"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "IO_CREATE_HANDLE" in printed.stdout
    assert printed.stderr == ""


@on_openmpi
def test_mpi_io_alone(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "io_records.c"], tmp_path / "io_records", "-g")
    (tmp_path / "files").mkdir()
    measured = measure(tare, mpi, 2, [program, tmp_path / "files"], tmp_path / "run", "--trace")
    archive = tmp_path / "out.otf2"
    export: list[str | Path] = [tare, "export", measured.directory, "--to", "otf2", "-o", archive]
    subprocess.run(export, check=True, timeout=60)
    assert_read_by_otf2_print(archive)
