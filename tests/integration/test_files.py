"""The table of files (--with files): figures by file and interface of programs whose use of files is known
(programs/used_files.c, programs/files.c), and names of descriptors that come from anywhere."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tare as library
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_families
from tare.page import content
from tare.runs.run import open_run
from verbs import ask

WIDE = os.environ | {"COLUMNS": "250"}
FORTIFIED = "-D_FORTIFY_SOURCE=2"


@pytest.fixture(scope="module", params=["", FORTIFIED], ids=["plain", "fortified"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as it is, and with the functions that _FORTIFY_SOURCE puts in place of others."""
    made = tmp_path_factory.mktemp("files") / "used_files"
    flags = [request.param] if request.param else ["-U_FORTIFY_SOURCE"]
    subprocess.run(["gcc", "-O2", "-pthread", *flags, PROGRAMS / "used_files.c", "-o", made], check=True)
    symbols = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout
    assert ("__read_chk" in symbols) == ("__fread_chk" in symbols) == bool(request.param)
    return made


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plain") / "used_files"
    subprocess.run(["gcc", "-O2", "-pthread", PROGRAMS / "used_files.c", "-o", made], check=True)
    return made


def run_with_files(
    tare: Path, tmp_path: Path, *argv: Path | str, options: tuple[str, ...] = (), **how: Any
) -> Measurement:
    command = [tare, "run", "--quiet", "--with", "files", *options, "-o", tmp_path / "run", "--", *argv]
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60, check=False, **how
    )
    return Measurement(tare, tmp_path / "run", ended)


def printed(measured: Measurement, verb: str, *options: str) -> str:
    return ask(measured.tare, verb, measured.directory, *options, check=True).stdout


def used(measured: Measurement) -> list[Any]:
    opened = library.open(measured.directory)
    return list(opened.rows(opened.file_table))


def by_name(measured: Measurement, interface: str = "POSIX", under: Path | str = "") -> dict[str, Any]:
    """The rows of an interface by the last part of the name; one for each."""
    rows = [row for row in used(measured) if row.interface == interface and row.file is not None]
    rows = [row for row in rows if row.file.startswith(str(under))]
    found = {row.file.rsplit("/", 1)[-1]: row for row in rows}
    assert len(found) == len(rows), [row.file for row in rows]
    return found


def figures(row: Any, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)


def test_with_a_sanitizer(tare: Path, files: Path, tmp_path: Path) -> None:
    """Its own functions, which the program calls in place of the C library's, lie below those of tare."""
    program = tmp_path / "sanitized"
    flags = ["-O1", "-pthread", "-fsanitize=address"]
    subprocess.run(["gcc", *flags, PROGRAMS / "used_files.c", "-o", program], check=True)
    measured = run_with_files(tare, tmp_path, program, "descriptors", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = by_name(measured)
    assert figures(rows["first"], "writes", "written_bytes", "consecutive_writes") == (3, 30, 2)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    return made


def test_consecutive_strided_backward_and_appended_accesses(
    program: Path, tare: Path, files: Path, tmp_path: Path
) -> None:
    measured = run_with_files(tare, tmp_path, program, "patterns", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = by_name(measured)
    row = rows["consecutive"]
    assert row.file == str(files.resolve() / "consecutive")
    assert figures(row, "kind", "naming", "threads") == ("file", "whole", 1)
    assert figures(row, "opens", "closes", "seeks", "syncs", "other_calls", "failed") == (1, 1, 1, 1, 0, 0)
    assert figures(row, "reads", "writes", "read_bytes", "written_bytes") == (6, 10, 10_000, 10_000)
    assert figures(row, "located_reads", "consecutive_reads", "sequential_reads") == (6, 5, 5)
    assert figures(row, "located_writes", "consecutive_writes", "sequential_writes") == (10, 9, 9)
    assert figures(row, "strided_reads", "strided_writes", "switches") == (0, 0, 1)
    assert figures(row, "read_end", "written_end") == (10_000, 10_000)
    (shown,) = (
        each
        for each in content.of_run(open_run(measured.directory))["files"]["files"]
        if each["file"] == row.file
    )
    assert (shown["reads"], shown["writes"], shown["read_bytes"], shown["written_bytes"]) == (
        6,
        10,
        10_000,
        10_000,
    )
    assert shown["consecutive_share"] == pytest.approx(14 / 16)
    assert figures(row, "writes_to_1k", "reads_to_10k", "reads_to_100") == (10, 5, 1)
    assert 0 < row.longest_write_ns <= row.write_ns
    assert 0 < row.longest_read_ns <= row.read_ns
    assert row.sync_ns > 0
    assert row.meta_ns > 0
    row = rows["strided"]
    assert figures(row, "writes", "consecutive_writes", "sequential_writes", "strided_writes") == (
        10,
        0,
        9,
        8,
    )
    assert figures(row, "reads", "consecutive_reads", "sequential_reads", "strided_reads") == (12, 0, 0, 8)
    assert figures(row, "written_end", "read_end", "writes_to_100", "switches") == (9_100, 9_050, 10, 1)
    row = rows["parts"]
    assert figures(row, "writes", "written_bytes", "consecutive_writes") == (2, 2_000, 1)
    assert figures(row, "reads", "read_bytes", "read_end", "opens") == (2, 2_000, 1_500, 2)
    row = rows["appended"]  # two open files of one name, in turns
    assert figures(row, "opens", "writes", "written_bytes", "written_end") == (2, 7, 100, 90)
    assert row.located_writes == 6, "it is not known where pwrite has appended"
    assert figures(row, "consecutive_writes", "sequential_writes", "strided_writes") == (0, 4, 2)
    (unknown,) = [row for row in used(measured) if row.interface == "POSIX" and row.file is None]
    assert figures(unknown, "opens", "failed", "naming") == (1, 1, "unknown")


def test_calls_by_size_have_their_time_and_bytes(tare: Path, tmp_path: Path) -> None:
    write = "import os; f = os.open('out', os.O_WRONLY | os.O_CREAT); [os.write(f, b'x' * n) for n in SIZES]"
    sizes = [100_000] * 5 + [10] * 7
    script = write.replace("SIZES", str(sizes))
    measured = run_with_files(tare, tmp_path, sys.executable, "-I", "-c", script, cwd=tmp_path)
    assert measured.ended.returncode == 0, measured.ended.stderr
    rows = {row["size_from"]: row for row in measured.profile("size")}
    large = rows[65536]
    assert (large["calls"], large["bytes"], large["timed"]) == (5, 500_000, True)
    assert large["time_ns"] > 0
    everything = {row["function"]: row for row in measured.profile("function")}
    assert sum(row["bytes"] for row in rows.values()) == sum(row["bytes"] for row in everything.values())
    shown = printed(measured, "profile", "--by", "size")
    assert "Of MPI" not in shown
    assert "Rows are of MPI and of other sources" in shown


def test_communicators_and_ranks_are_of_mpi_alone(tare: Path, tmp_path: Path) -> None:
    script = "import os; f = os.open('out', os.O_WRONLY | os.O_CREAT); os.write(f, b'x' * 1000)"
    measured = run_with_files(tare, tmp_path, sys.executable, "-I", "-c", script, cwd=tmp_path)
    assert measured.profile("communicator") == []
    (rank,) = measured.profile("rank")
    assert (rank["calls"], rank["time_ns"], rank["bytes"]) == (0, 0, 0)
    assert "Rows are of MPI alone" in printed(measured, "profile", "--by", "rank")
    chosen = printed(measured, "profile", "--by", "rank", "--function", "write")
    assert "MPI" not in chosen.splitlines()[-2]
    assert "1000 B" in chosen.splitlines()[-1]


def test_streams(program: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, program, "streams", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = by_name(measured, "stdio")
    row = rows["stream"]
    assert figures(row, "opens", "closes", "seeks", "syncs") == (2, 1, 1, 1)
    assert figures(row, "writes", "written_bytes") == (3, 40 + 4 + 9)
    assert figures(row, "reads", "read_bytes") == (4, 4 + 8 + 1053)
    assert figures(row, "located_reads", "consecutive_writes", "read_end") == (None, None, None)
    assert figures(row, "writes_to_100", "reads_to_10k") == (3, 1)
    assert figures(rows["reopened"], "opens", "closes", "writes", "written_bytes") == (1, 1, 1, 3)
    posix = by_name(measured)
    assert figures(posix["stream"], "opens", "reads") == (1, 0)
    assert "memory" not in " ".join(rows)


def test_errors_of_streams(program: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    """The end of a file is none, whatever errno is; a call that moves nothing has one if its stream does."""
    measured = run_with_files(tare, tmp_path, program, "ends", files, options=("--trace",))
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    calls = {"fputs", "fgets", "fwrite", "fprintf"}
    moving = [row["arguments"] for row in measured.all_events() if row["function"] in calls]
    assert [(each["error"], each.get("bytes")) for each in moving] == [
        (0, 2), (0, 2), (0, 0), *[(errno.ENOSPC, None)] * 3,
    ]  # fmt: skip
    assert figures(by_name(measured, "stdio", "/dev")["full"], "writes", "failed") == (3, 3)


def test_descriptors_that_come_from_anywhere(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    """Duplicates, numbers that are used again, and what is closed and opened behind the library's back."""
    measured = run_with_files(tare, tmp_path, plain, "descriptors", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = by_name(measured)
    assert figures(rows["first"], "writes", "written_bytes", "consecutive_writes") == (3, 30, 2)
    assert figures(rows["second"], "writes", "written_bytes", "consecutive_writes") == (4, 28, 3)
    assert figures(rows["third"], "opens", "writes", "written_bytes") == (0, 3, 15)
    assert "fifth" not in rows
    assert figures(rows["sixth"], "opens", "writes", "written_bytes") == (1, 1, 6)
    assert figures(rows["fourth"], "opens", "writes", "written_bytes") == (1, 1, 4)
    (pipe,) = [row for name, row in rows.items() if name.startswith("pipe:[")]
    assert figures(pipe, "kind", "reads", "writes", "located_writes") == ("pipe", 1, 1, 0)
    (unknown,) = [row for row in used(measured) if row.file is None]
    assert figures(unknown, "reads", "failed") == (1, 1)


def test_inherited_descriptors(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    (files / "in").write_bytes(b"x" * 100)
    with (files / "in").open("rb") as source, (files / "out").open("wb") as to:
        command = [
            tare,
            "run",
            "--quiet",
            "--with",
            "files",
            "-o",
            tmp_path / "run",
            "--",
            plain,
            "inherits",
            files,
        ]
        subprocess.run([str(word) for word in command], stdin=source, stdout=to, timeout=60, check=True)
    rows = by_name(Measurement(tare, tmp_path / "run", subprocess.CompletedProcess((), 0)))
    assert figures(rows["in"], "opens", "reads", "read_bytes", "consecutive_reads", "read_end") == (
        0,
        2,
        10,
        1,
        10,
    )
    assert figures(rows["out"], "opens", "writes", "written_bytes") == (0, 3, 18)


def test_hostile_names(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "hostile", files)
    shutil.rmtree(files)  # nothing else finds its way in paths of 5,000 bytes
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = {row.written_bytes: row for row in used(measured) if row.interface == "POSIX"}
    assert rows[1].file.endswith("/a\n\x1b[31m\\xff<b>&")
    assert figures(rows[6], "naming", "writes") == ("cut", 1)
    assert len(rows[6].file) == 1024
    assert rows[6].file.startswith(f"{tmp_path.resolve()}/files/ddd")
    assert figures(rows[9], "naming", "file", "kind") == ("unknown", None, "file")
    for options in ([], ["--csv"], ["--markdown"]):
        shown = subprocess.run(
            [str(tare), "profile", str(measured.directory), "--by", "file", *options],
            capture_output=True, timeout=60, check=True, env=WIDE,
        ).stdout  # fmt: skip
        assert b"\x1b[31m" not in shown
        assert b"/a\n" not in shown
        assert b"\xff" not in shown
        assert b"31m" in shown
    told = ask(tare, "profile", measured.directory, "--by", "file", "--json", check=True).stdout
    assert rows[1].file in [row["file"] for row in json.loads(told)["rows"]]


def test_more_files_than_the_table_has_room_for(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "many", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = [row for row in used(measured) if row.interface == "POSIX"]
    assert sum(row.written_bytes for row in rows) == 1500 * 6
    assert sum(row.opens for row in rows) == sum(row.closes for row in rows) == 1500
    (others,) = [row for row in rows if row.naming == "others"]
    assert 400 < others.opens < 600
    assert others.writes == 2 * others.opens
    shown = subprocess.run(
        [str(tare), "profile", str(measured.directory), "--by", "file"],
        capture_output=True, text=True, timeout=60, check=True, env=WIDE,
    ).stdout  # fmt: skip
    assert "(other files)" in shown
    assert "more files than its table has room for" in " ".join(shown.split())


def test_threads_lose_no_calls(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "threads", files)
    row = by_name(measured)["shared"]
    assert figures(row, "writes", "written_bytes", "writes_to_100") == (80_000, 640_000, 80_000)
    assert 2 <= row.threads <= 5  # the first has opened it


def test_a_jump_out_of_a_read(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "jumps", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = by_name(measured)
    assert figures(rows["jumped"], "writes", "written_bytes", "consecutive_writes") == (2, 20, 1)
    (pipe,) = [row for name, row in rows.items() if name.startswith("pipe:[")]
    assert figures(pipe, "reads", "read_bytes", "written_bytes") == (1, 2, 2)


def test_descriptors_in_signal_handlers(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    """Handlers close and duplicate where they interrupt tare, and then their calls are not recorded."""
    measured = run_with_files(tare, tmp_path, plain, "handlers", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    handled, copies = map(int, measured.ended.stdout.split())
    rows = by_name(measured)
    assert figures(rows["handled"], "writes", "written_bytes") == (2 * copies, 4 * copies)
    assert rows["other"].writes <= handled
    assert (files / "other").stat().st_size == handled


def test_forked_and_vforked_children(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "forks", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = [row for row in used(measured) if row.file and row.file.endswith("/forked")]
    assert sorted(figures(row, "opens", "writes", "written_bytes") for row in rows) == [
        (0, 6, 60),
        (1, 6, 60),
    ]
    parent = max(rows, key=lambda row: row.opens)
    # The child has moved the position that both share.
    assert figures(parent, "consecutive_writes", "sequential_writes", "written_end") == (4, 5, 120)
    # Processes without MPI are rows of their own, by their numbers.
    pids = {row.pid for row in rows}
    for keys in ("rank", "function,rank"):
        writes = measured.profile(keys, "--function", "write")
        assert {row["pid"]: row["calls"] for row in writes if row["calls"]} == dict.fromkeys(pids, 6)
    shown = printed(measured, "profile", "--by", "file,rank")
    assert all(f"process {pid}" in shown for pid in pids)


def test_a_limit_of_descriptors(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "limited", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    rows = by_name(measured)
    assert rows["limit"].opens == rows["limit"].closes > 0
    assert figures(rows["after"], "opens", "writes", "written_bytes") == (1, 2, 18)


def test_before_main(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "early", files)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    assert figures(by_name(measured)["early"], "opens", "writes", "written_bytes") == (1, 3, 36)
    assert figures(by_name(measured, "stdio")["early-stream"], "opens", "written_bytes", "closes") == (
        1,
        5,
        1,
    )


def test_what_was_counted_survives_a_kill(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    measured = run_with_files(tare, tmp_path, plain, "killed", files)
    assert measured.ended.returncode == -9
    assert figures(by_name(measured)["killed"], "opens", "writes", "written_bytes") == (1, 100, 1100)
    assert figures(by_name(measured, "stdio")["stream"], "opens", "writes", "written_bytes") == (1, 1, 4)


def test_a_process_that_writes_its_results_itself(
    plain: Path, tare: Path, files: Path, tmp_path: Path
) -> None:
    """All is in the run before `tare run` could have collected it, as where it does not see the memory."""
    script = f"{plain} patterns {files} && cp {tmp_path}/run/*.tare {tmp_path}/written"
    measured = run_with_files(tare, tmp_path, "env", "-u", "TARE_COLLECTOR", "bash", "-c", script)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    (file,) = measured.directory.glob("*.tare")
    (tmp_path / "written").replace(file)
    row = by_name(measured, under=files.resolve())["consecutive"]
    assert figures(row, "opens", "reads", "writes", "consecutive_writes") == (1, 6, 10, 9)


def test_streams_of_cpp(tare: Path, files: Path, tmp_path: Path) -> None:
    source = tmp_path / "streams.cpp"
    source.write_text(
        "#include <fstream>\n#include <string>\n"
        "int main(int, char** argv) {\n"
        "  { std::ofstream out(argv[1]); out << std::string(20000, 'x'); }\n"
        "  std::string text;\n"
        "  std::ifstream in(argv[1]);\n"
        "  in >> text;\n"
        "  return text.size() == 20000 ? 0 : 1;\n"
        "}\n"
    )
    subprocess.run(["g++", "-O2", source, "-o", tmp_path / "streams"], check=True)
    measured = run_with_files(tare, tmp_path, tmp_path / "streams", files / "streamed")
    assert measured.ended.returncode == 0
    rows = {row.interface: row for row in used(measured) if row.file and row.file.endswith("/streamed")}
    assert figures(rows["stdio"], "opens", "closes") == (2, 2)
    assert figures(rows["POSIX"], "read_bytes", "written_bytes") == (20_000, 20_000)


def test_files_of_python(tare: Path, files: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "with open(sys.argv[1], 'wb', buffering=0) as to:\n"
        "    for _ in range(5):\n"
        "        to.write(b'x' * 1000)\n"
        "with open(sys.argv[1], 'rb') as source:\n"
        "    assert len(source.read()) == 5000\n"
    )
    measured = run_with_files(tare, tmp_path, sys.executable, script, files / "of python")
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    row = by_name(measured, under=files.resolve())["of python"]
    assert figures(row, "opens", "closes", "writes", "written_bytes") == (2, 2, 5, 5000)
    assert figures(row, "read_bytes", "consecutive_writes") == (5000, 4)


@both_families
def test_files_of_ranks_and_mpi_io(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "files.c"], tmp_path / "program", "-DWITH_MPI")
    files = tmp_path / "files"
    files.mkdir()
    measured = measure(tare, mpi, 2, [program, "with", files], tmp_path / "run", "--with", "files")
    assert measured.ended.returncode == 0
    rows = [row for row in used(measured) if row.rank >= 0 and str(files.resolve()) in (row.file or "")]
    own = {(row.rank, Path(row.file).name): row for row in rows if row.interface == "POSIX"}
    # MPI's own calls are parts of those of the program, which itself reads the file later.
    assert sorted(own) == [(0, "rank0"), (0, "shared"), (1, "rank1"), (1, "shared")]
    for rank in range(2):
        assert figures(own[rank, "shared"], "reads", "read_bytes", "opens") == (1, 100, 1)
        assert own[rank, "shared"].kind == own[rank, f"rank{rank}"].kind == "file"
        row = own[rank, f"rank{rank}"]
        assert figures(row, "opens", "writes", "syncs") == (1, 10 * (rank + 1), 1)
        assert row.written_bytes == 10_000 * (rank + 1)
    shared = [row for row in rows if row.interface == "MPI-IO"]
    assert [figures(row, "rank", "opens", "writes", "written_bytes", "closes") for row in shared] == [
        (0, 1, 1, 4096, 1), (1, 1, 1, 4096, 1),
    ]  # fmt: skip
    assert {figures(row, "naming", "writes_to_10k", "located_writes", "kind") for row in shared} == {
        ("given", 1, None, None)
    }
    assert all(0 < row.longest_write_ns == row.write_ns < row.write_ns + row.meta_ns for row in shared)
    assert {row.file for row in shared} == {str(files.resolve() / "shared")}
    (summed,) = [row for row in measured.profile("file") if row["interface"] == "MPI-IO"]
    assert (summed["ranks"], summed["writes"], summed["written_bytes"]) == (2, 2, 8192)
    ranked = measured.profile("rank,file")
    assert {row["rank"] for row in ranked if row["interface"] == "MPI-IO"} == {0, 1}


def test_files_of_tare_are_not_counted(plain: Path, tare: Path, files: Path, tmp_path: Path) -> None:
    command = [
        tare, "run", "--quiet", "--with", "files", "--trace", "--buffer", "8K", "-o", tmp_path / "run", "--",
        plain, "threads", files,
    ]  # fmt: skip
    subprocess.run([str(word) for word in command], capture_output=True, timeout=60, check=True)
    measured = Measurement(tare, tmp_path / "run", subprocess.CompletedProcess((), 0))
    assert measured.info()["cost"]["flushes"] > 0
    assert all(str(tmp_path / "run") not in (row.file or "") for row in used(measured))
    assert all("/dev/shm" not in (row.file or "") for row in used(measured))


def test_what_tare_does_for_descriptors_is_none_of_the_program(tare: Path, tmp_path: Path) -> None:
    """It asks for the number of the process, which the program never does."""
    source = tmp_path / "duplicates.c"
    source.write_text(
        "#include <unistd.h>\n"
        "int main(void) {\n"
        "  for (int i = 0; i < 1000000; i++) close(dup(1));\n"
        "  return 0;\n"
        "}\n"
    )
    program = tmp_path / "duplicates"
    subprocess.run(["gcc", "-O2", source, "-o", program], check=True)
    command: list[Path | str] = [
        tare,
        "run",
        "-q",
        "--with",
        "files,stacks",
        "-o",
        tmp_path / "run",
        "--",
        program,
    ]
    subprocess.run(command, timeout=60, check=True)
    shown: list[Path | str] = [tare, "profile", tmp_path / "run", "--by", "function", "--json"]
    done = subprocess.run(shown, capture_output=True, text=True, timeout=60, check=True)
    found = {row["function"] for row in json.loads(done.stdout)["functions"]}
    assert "close" in found and not [name for name in found if "getpid" in name]


READS = """
import sys
def writes(name):
    with open(name, "wb", buffering=0) as file:
        for _ in range(50):
            file.write(b"1234")  # LINE writes
def reads(name):
    with open(name, "rb", buffering=0) as file:
        for _ in range(50):
            file.read(4)  # LINE reads
writes(sys.argv[1])
reads(sys.argv[1])
"""


def test_calls_of_python_code_are_at_its_lines(tare: Path, tmp_path: Path) -> None:
    """Not at those of the interpreter, where all calls of a script would be at one line."""
    script = tmp_path / "script.py"
    script.write_text(READS)
    measured = run_with_files(tare, tmp_path, sys.executable, script, tmp_path / "data")
    run = library.open(measured.directory)
    rows = [row for row in run.rows(run.profile("line")) if row.file == str(script)]
    lines = {(row.function, row.caller, row.line): row.calls for row in rows}
    for function, at in (("write", "writes"), ("read", "reads")):
        number = READS[: READS.index(f"# LINE {at}")].count("\n") + 1
        assert lines[function, at, number] == 50


PAUSES = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char bytes[8] = "";
  const int file = open(argv[1], O_CREAT | O_RDWR, 0600);
  for (int i = 0; i < 500000; ++i) (void)!pread(file, bytes, 8, 0);
  sleep(1);
  for (int i = 0; i < 500000; ++i) (void)!pwrite(file, bytes, 8, 0);
}
"""


def test_without_spells_calls_are_measured_again_when_the_budget_has_room(tare: Path, tmp_path: Path) -> None:
    """A program without MPI passes no synchronisation points. Its calls cost more than the budget allows."""
    program = tmp_path / "pauses"
    (tmp_path / "pauses.c").write_text(PAUSES)
    subprocess.run(["gcc", "-O2", tmp_path / "pauses.c", "-o", program], check=True)
    measured = run_with_files(tare, tmp_path, program, tmp_path / "data", options=("--budget", "1%"))
    totals = {each["function"]: each for each in measured.info()["totals"]}
    assert totals["pread"]["calls"] == totals["pwrite"]["calls"] == 500_000
    assert 0 < totals["pread"]["measured_calls"] < 500_000
    assert totals["pwrite"]["measured_calls"] > 0
    said = ask(tare, "explain", measured.directory, check=True).stdout
    assert "times and shares are of the rest; how long it is in these calls is not known" in " ".join(
        said.split()
    )
