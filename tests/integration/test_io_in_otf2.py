"""The I/O records of OTF2 (programs/io_records.c), as libotf2's own readers see them."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import otf2
import tare as library
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from on_mpi import both_families, on_openmpi

UNKNOWN = 2**64 - 1

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
