"""Calls of functions on files (--with files): how many, of how many bytes, for how long; and that programs
that do what is hard to measure run as they do alone (programs/files.c)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, left_in_memory, measure
from on_mpi import both_families, on_openmpi

RANKS = 2
MS = 1_000_000
of_files = ("read", "write", "pread", "pwrite", "fsync", "fdatasync", "msync", "sync_file_range")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("files") / "files"
    subprocess.run(["gcc", "-O2", "-pthread", PROGRAMS / "files.c", "-o", made], check=True)
    return made


def alone(
    tare: Path, directory: Path, *argv: Path | str, options: tuple[str, ...] = ("--trace",)
) -> Measurement:
    """Runs a program without MPI."""
    command = [tare, "run", "--quiet", "--with", "files", *options, "-o", directory, "--", *argv]
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False
    )
    return Measurement(tare, directory, ended)


def calls_of(measured: Measurement) -> dict[str, tuple[int, int]]:
    """Calls and bytes by function, of the sources other than MPI."""
    rows = [row for row in measured.profile("function") if row["function"] in of_files]
    return {row["function"]: (row["calls"], row["bytes"]) for row in rows}


def file_events(measured: Measurement) -> list[dict[str, Any]]:
    return [row for row in measured.all_events() if row["function"] in of_files]


def test_calls_bytes_arguments_and_times_of_a_program_without_mpi(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    measured = alone(tare, tmp_path / "run", program, "counts", tmp_path)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    expected = {
        "write": (10 + 1 + 1, 10 * 4096 + 3 + 1),
        "pwrite": (5, 5000),
        "read": (7 + 1 + 1, 7 * 512 + 1),
        "pread": (3, 300),
        "fsync": (2, 0),
        "fdatasync": (1, 0),
        "msync": (1, 0),
        "sync_file_range": (1, 0),
    }
    assert calls_of(measured) == expected
    events = file_events(measured)
    assert Counter(row["function"] for row in events) == {
        name: calls for name, (calls, _) in expected.items()
    }
    by_function: dict[str, list[dict[str, Any]]] = {}
    for row in events:
        by_function.setdefault(row["function"], []).append(row)
    file = by_function["write"][0]["arguments"]["descriptor"]
    assert by_function["write"][0]["arguments"] == {"bytes": 4096, "descriptor": file, "error": 0}
    assert [row["arguments"]["offset"] for row in by_function["pwrite"]] == [0, 1000, 2000, 3000, 4000]
    assert {row["arguments"]["offset"] for row in by_function["pread"]} == {50}
    assert by_function["fsync"][0]["arguments"] == {"descriptor": file, "error": 0}
    assert by_function["msync"][0]["arguments"] == {"length": 4096, "error": 0}
    assert by_function["sync_file_range"][0]["arguments"] == {
        "descriptor": file, "error": 0, "offset": 4096, "length": 8192,
    }  # fmt: skip
    failed = by_function["read"][7]
    assert failed["arguments"] == {"descriptor": 2**32 - 1, "error": 9}
    assert "bytes" not in failed
    waiting = by_function["read"][8]
    assert waiting["bytes"] == 1
    assert 45 * MS < waiting["duration_ns"] < 250 * MS
    (process,) = measured.info()["ranks"]
    assert process["rank"] == -1
    assert measured.info()["options"]["sources"] == ["files"]
    assert left_in_memory(measured.directory) == []


def test_each_call_site_has_a_row(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "counts", tmp_path, options=())
    sites = Counter(row["function"] for row in measured.profile("site"))
    assert sites["write"] == 3
    assert sites["read"] == 3
    assert sites["fsync"] == 2
    callers = {row["caller"] for row in measured.profile("site")}
    assert callers <= {"counts", "write_times", "write_later", "open_file", "main"}
    cost = measured.info()["cost"]
    assert cost["calls"] == 34 + 3  # open and lseek are recorded, too
    assert cost["wrapper_ns"] > 34 * 20


def test_nothing_is_recorded_unless_it_is_asked_for(program: Path, tare: Path, tmp_path: Path) -> None:
    command = [tare, "run", "-o", tmp_path / "run", "--", program, "counts", tmp_path]
    ended = subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0
    assert "no process of this command recorded a call of MPI" in ended.stderr


def test_a_name_that_is_no_source_is_refused(program: Path, tare: Path, tmp_path: Path) -> None:
    command = [
        tare,
        "run",
        "--with",
        "files,tapes",
        "-o",
        tmp_path / "run",
        "--",
        program,
        "counts",
        tmp_path,
    ]
    ended = subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "'tapes' is no source of events; there are files, openmp, stacks" in ended.stderr
    assert not (tmp_path / "run").exists()


def test_forks_and_vforks(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "forks", tmp_path)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    of_processes = Counter(row["pid"] for row in measured.info()["ranks"])
    assert len(of_processes) == 2
    assert sorted(row["exit_code"] for row in measured.info()["ranks"]) == [0, 3]
    # The child of vfork is the parent's thread in the parent's memory.
    assert calls_of(measured) == {"write": (4 + 6 + 1 + 1, 40 + 60 + 20 + 30)}


def test_a_thread_that_is_cancelled_in_a_call(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "cancels", tmp_path)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    assert calls_of(measured) == {"read": (1, 0), "write": (2, 20)}
    (left,) = [row for row in file_events(measured) if row["function"] == "read"]
    assert "bytes" not in left
    # The thread may begin late on a loaded machine, but is cancelled 50 ms after it was made.
    assert 0 < left["duration_ns"] < 250 * MS


@pytest.mark.parametrize("buffer", ["8K", "4M"])
def test_signal_handlers(program: Path, tare: Path, tmp_path: Path, buffer: str) -> None:
    """A thread's first call, in a handler, is not recorded; nor those that interrupt tare itself."""
    options = ("--trace", "--buffer", buffer)
    measured = alone(tare, tmp_path / "run", program, "handlers", tmp_path, options=options)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    handled = int(measured.ended.stdout)
    rows = [row for row in measured.profile("function,size") if row["function"] == "write"]
    sizes = {row["size_to"]: row["calls"] for row in rows}
    assert sizes.pop(16) == 300_000
    assert sum(sizes.values()) < handled
    events = Counter(row["bytes"] for row in file_events(measured))
    assert events.pop(10) == 300_000
    assert sum(events.values()) == sum(sizes.values())


def test_a_program_that_closes_all_descriptors(program: Path, tare: Path, tmp_path: Path) -> None:
    options = ("--trace", "--buffer", "8K")
    measured = alone(tare, tmp_path / "run", program, "closes", tmp_path, options=options)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    assert calls_of(measured) == {"write": (4, 40)}


def test_what_was_recorded_survives_a_kill(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "kill", tmp_path)
    assert measured.ended.returncode == -9
    assert calls_of(measured) == {"write": (100, 1000)}
    assert len(file_events(measured)) == 100


def test_python(tare: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        f"file = os.open({str(tmp_path / 'written')!r}, os.O_RDWR | os.O_CREAT)\n"
        "for _ in range(5):\n"
        "    os.write(file, b'x' * 12345)\n"
        "os.fsync(file)\n"
        "assert os.pread(file, 777, 100) == b'x' * 777\n"
    )
    measured = alone(tare, tmp_path / "run", sys.executable, script)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    sizes = Counter((row["function"], row.get("bytes")) for row in file_events(measured))
    assert sizes["write", 12345] == 5
    assert sizes["pread", 777] == 1
    assert sizes["fsync", None] == 1


@both_families
def test_beside_mpi(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """What the MPI library does within its calls is a part of these."""
    program = compile_c(mpi, [PROGRAMS / "files.c"], tmp_path / "files", "-DWITH_MPI")
    measured = measure(
        tare, mpi, RANKS, [program, "with", tmp_path], tmp_path / "run", "--trace", "--with", "files"
    )
    assert measured.ended.returncode == 0
    events = [row for row in measured.all_events() if row["rank"] >= 0]
    for rank in range(RANKS):
        own = [row for row in events if row["rank"] == rank and row["thread"] == 0]
        written = [row for row in own if row["function"] == "write" and row["bytes"] == 1000]
        assert len(written) == 10 * (rank + 1)
        assert sum(row["function"] == "fsync" for row in own) == 1
        assert sum(row["function"] == "pwrite" for row in own) == 0
        assert sum(row["function"] == "MPI_File_write_at" for row in own) == 1
        (barrier,) = (row for row in own if row["function"] == "MPI_Barrier")
        assert all(row["start_ns"] + row["duration_ns"] <= barrier["start_ns"] for row in written)
    assert measured.calls()["MPI_Barrier"] == RANKS
    profile = {(row["rank"], row["function"]): row for row in measured.profile("rank,function")}
    assert profile[1, "fsync"]["calls"] == 1


@both_families
def test_a_rank_that_is_killed(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "files.c"], tmp_path / "files", "-DWITH_MPI")
    measured = measure(tare, mpi, RANKS, [program, "kill", tmp_path], tmp_path / "run", "--with", "files")
    assert measured.ended.returncode != 0
    calls = {(row["rank"], row["function"]): row["calls"] for row in measured.profile("rank,function")}
    assert calls[1, "fsync"] == 1
    assert calls[1, "write"] >= 20


def test_the_tables_have_the_arguments(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "counts", tmp_path)
    query = (
        "SELECT function, bytes, words FROM events WHERE function IN ('pwrite', 'msync') ORDER BY start_ns"
    )
    done = subprocess.run(
        [tare, "sql", measured.directory, query, "--json"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    rows = json.loads(done.stdout)["rows"]
    file = rows[0]["words"][1]
    assert [row["words"] for row in rows[:5]] == [[1000, file, 0, 1000 * i] for i in range(5)]
    assert rows[0]["bytes"] == 1000
    assert rows[5]["words"] == [4096, 0]


@on_openmpi
def test_the_share_of_mpi_is_that_of_the_time_that_is_measured(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """Calls are only counted in half of the spells, but for the barrier that ends them."""
    program = compile_c(mpi, [PROGRAMS / "uneven_barriers.c"], tmp_path / "uneven", "-O2")
    for name, options in (("whole", ()), ("half", ("--weigh=0.5",))):
        measured = measure(tare, mpi, RANKS, [program], tmp_path / name, "--with", "files", *options)
        late, waiting = measured.info()["ranks"]
        assert late["mpi_share"] < 0.4, name
        assert 0.4 < waiting["mpi_share"] < 0.98, name


THREADS_OPEN = """
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void* opens(void* unused) {
  for (int i = 0; i < 3000; i++) {
    const int file = open("/dev/null", O_WRONLY);
    if (write(file, "abc", 3) != 3) return unused;
    close(file);
  }
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, opens, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 5;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-14"])
def test_no_race_is_found_in_tare(compiler: str, tare: Path, tmp_path: Path) -> None:
    """ThreadSanitizer does not see what orders the calls of a library that it has not built."""
    source, made = tmp_path / "opens.c", tmp_path / "opens"
    source.write_text(THREADS_OPEN)
    subprocess.run([compiler, "-g", "-fsanitize=thread", "-pthread", source, "-o", made], check=True)
    plain = subprocess.run([made], capture_output=True, text=True, timeout=60, check=False)
    measured = alone(tare, tmp_path / "run", made, options=("--trace", "--buffer", "64K"))
    for ended in (plain, measured.ended):
        assert (ended.returncode, ended.stdout, ended.stderr) == (5, "ok\n", "")
    assert calls_of(measured)["write"] == (6000, 18000)
