"""`tare import`: archives of EZTrace, and those that tare itself exports."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tare as tare_package
from environments import PYTHON, ROOT, compile_c, run
from exporting import OPENMPI, exported, measured, rows
from measured import PROGRAMS, measure
from verbs import ask


def import_trace(tare: Path, trace: Path, to: Path) -> subprocess.CompletedProcess[str]:
    command: list[Path | str] = [tare, "import", trace, "-o", to]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def imported(tare: Path, trace: Path, to: Path) -> Path:
    done = import_trace(tare, trace, to)
    assert (done.returncode, done.stderr) == (0, "")
    return to


def output(tare: Path, *arguments: Path | str) -> str:
    return subprocess.check_output([tare, *arguments], text=True, timeout=60)


def messages(run_dir: Path) -> Counter[str]:
    """All but numbers of sites, and of queued messages, of which an import may know more."""
    found = pa.table(tare_package.open(run_dir).messages).to_pylist()
    left = ("message", "communicator_key", "queued")
    return Counter(
        json.dumps({key: value for key, value in one.items() if "site" not in key and key not in left})
        for one in found
    )


def profile(tare: Path, run_dir: Path, by: str) -> list[dict[str, Any]]:
    wanted = ("function", "line", "rank", "calls", "time_ns", "bytes", "received", "min_ns", "max_ns")
    found = json.loads(output(tare, "profile", run_dir, "--by", by, "--json"))["rows"]
    return sorted(
        ({key: row[key] for key in wanted if key in row} for row in found if row["timed"]), key=repr
    )


def test_events_of_the_program_come_back(tare: Path, tmp_path: Path) -> None:
    """Parameters keep their types and values; markers and what only looks like a parameter do not come."""
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    original = tmp_path / "run"
    subprocess.run(
        [tare, "run", "--quiet", "--trace", "-o", original, "--", *program], check=True, timeout=60
    )
    back = imported(tare, exported(tare, original, "otf2", tmp_path / "out"), tmp_path / "back")

    def events(of: Path) -> list[tuple[Any, ...]]:
        table = pa.table(tare_package.open(of).event_table()).to_pylist()
        kept = [row for row in table if row["kind"] in ("event", "packed", "raw")]
        return [(row["start_ns"], row["kind"], row["name"], row["parameters"], row["words"]) for row in kept]

    assert len(events(original)) == 5
    assert events(back) == events(original)
    texts = [
        row["text"] for row in pa.table(tare_package.open(back).event_table()).to_pylist() if row["text"]
    ]
    assert texts == ["ä\\x0a", "\\xff"]


@pytest.mark.parametrize(
    ("program", "ranks", "arguments"),
    [("matched.c", 2, ["10"]), ("persistent.c", 2, ["20"]), ("communicators.c", 4, [])],
)
def test_what_was_exported_comes_back(
    tare: Path, tmp_path: Path, program: str, ranks: int, arguments: list[str]
) -> None:
    original = measured(tare, tmp_path, program, ranks, *arguments).directory
    back = imported(tare, exported(tare, original, "otf2", tmp_path / "out"), tmp_path / "back")
    assert messages(back) == messages(original) and messages(back)
    for by in ("function,rank", "line"):
        # Polls in a row may share a nanosecond, which the export gives to the second.
        for one, other in zip(profile(tare, back, by), profile(tare, original, by), strict=True):
            assert {**one, "time_ns": 0, "min_ns": 0, "max_ns": 0} == {
                **other, "time_ns": 0, "min_ns": 0, "max_ns": 0
            }  # fmt: skip
            assert abs(one["time_ns"] - other["time_ns"]) <= one["calls"]

    def calls(of: Path) -> Counter[tuple[Any, ...]]:
        keys = ("start_ns", "rank", "function", "file", "line")
        # To MPI_PROC_NULL nothing is sent, and OTF2 has no record of it.
        return Counter(
            (*(row.get(key) for key in keys), row.get("bytes") or 0)
            for row in rows(tare, of)
            if str(row.get("function")).startswith("MPI_")  # an imported flush is a region
        )

    assert calls(back) == calls(original)
    collectives = [
        Counter(pa.table(tare_package.open(of).collectives).column("function").to_pylist())
        for of in (original, back)
    ]
    assert collectives[0] == collectives[1]
    assert "not known  another tool recorded" in output(tare, "info", back)
    for verb in ("where", "info"):
        assert "imported; a trace does not say how its program ended" in output(tare, verb, back)
    assert output(tare, "explain", back)


PROBED = """
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char data[2][100] = {{0}};
  for (int bytes = 40; bytes < 43; ++bytes) {
    MPI_Message probed[2];
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i)
      if (rank == 0)
        MPI_Send(data[i], bytes, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
      else
        MPI_Mprobe(0, 8, MPI_COMM_WORLD, &probed[i], MPI_STATUS_IGNORE);
    for (int i = 0; rank == 1 && i < 2; ++i) MPI_Imrecv(data[i], 100, MPI_BYTE, &probed[i], &requests[i]);
    if (rank == 1) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
}
"""


def test_what_was_probed_and_then_received(tare: Path, tmp_path: Path) -> None:
    """OTF2 has the request at the probe, tare at the receive of what was probed."""
    source = tmp_path / "probed.c"
    source.write_text(PROBED)
    original = measured(tare, tmp_path, str(source), 2).directory
    back = imported(tare, exported(tare, original, "otf2", tmp_path / "out"), tmp_path / "back")
    assert messages(back) == messages(original) and messages(back)
    received = {row["function"]: row["bytes"] for row in profile(tare, back, "function,rank")}
    assert received["MPI_Imrecv"] == 2 * (40 + 41 + 42)


AROUND = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int threads, rank, data[10] = {0};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
      {
        MPI_Sendrecv_replace(data, 10, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fclose(fopen(argv[0], "r"));
      }
#pragma omp barrier
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
"""


def test_what_contains_calls_of_mpi_does_not_swallow_them(tare: Path, tmp_path: Path) -> None:
    """Constructs of OpenMP and calls on files are regions of the program."""
    source = tmp_path / "around.c"
    source.write_text(AROUND)
    program = compile_c(OPENMPI, [source], tmp_path / "around", "-fopenmp")
    options = ["--trace", "--with", "openmp", "--with", "files"]
    original = measure(tare, OPENMPI, 2, [program], tmp_path / "run", *options).directory
    archive = exported(tare, original, "otf2", tmp_path / "out")
    done = import_trace(tare, archive, tmp_path / "back")
    back = tmp_path / "back"
    assert (done.stdout, done.stderr) == (f"{back}: 16 MPI calls of 2 processes\n", "")
    assert messages(back) == messages(original) and messages(back).total() == 6

    def of_mpi(of: Path) -> list[dict[str, Any]]:
        return [row for row in profile(tare, of, "function,rank") if row["function"].startswith("MPI_")]

    for one, other in zip(of_mpi(back), of_mpi(original), strict=True):
        rounded = {
            name: pytest.approx(other[name], abs=other["calls"]) for name in ("time_ns", "min_ns", "max_ns")
        }
        assert one == {**other, **rounded}
    regions = [row for row in rows(tare, back) if row.get("kind") == "region"]
    begins = Counter(row["name"] for row in regions if row["begin"])
    assert begins["omp_parallel"] == 6 and begins["omp_implicit_task"] == 12
    assert begins["omp_barrier"] == 12 and begins["fopen"] == begins["fclose"] == 6
    assert begins == Counter(row["name"] for row in regions if not row["begin"])


def test_calls_of_a_library_without_source(tare: Path, tmp_path: Path) -> None:
    """libHYPRE has no debug information: its calls are shown at the program's lines, as in the original."""
    program = ROOT / "build" / "release" / "workloads" / "diffusion"
    arguments = ["-n", "8", "8", "8", "-s", "1"]
    original = measure(tare, OPENMPI, 2, [program, *arguments], tmp_path / "run", "--trace")
    assert original.ended.returncode == 0, original.ended.stderr
    back = imported(tare, exported(tare, original.directory, "otf2", tmp_path / "out"), tmp_path / "back")

    def lines(of: Path) -> Counter[tuple[Any, ...]]:
        found = json.loads(output(tare, "profile", of, "--by", "line", "--json"))["rows"]
        sums: Counter[tuple[Any, ...]] = Counter()
        for row in found:
            if row["timed"] and row["file"]:
                sums[row["function"], row["file"], row["line"]] += row["calls"]
        return sums

    def callers(of: Path) -> set[tuple[str, ...]]:
        found = json.loads(output(tare, "profile", of, "--by", "site", "--json"))["rows"]
        return {tuple(frame["caller"] for frame in row["path"]) for row in found if row["timed"]}

    assert lines(back) == lines(original.directory)
    assert callers(back) == callers(original.directory) and len(callers(back)) > 10
    assert any(function == "MPI_Isend" for function, _, _ in lines(back))
    assert "at python" not in output(tare, "explain", back)


def test_events_of_the_program(tare: Path, tmp_path: Path) -> None:
    original = tmp_path / "run"
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    subprocess.run(
        [tare, "run", "--quiet", "--trace", "-o", original, "--", *program], check=True, timeout=60
    )
    back = imported(tare, exported(tare, original, "otf2", tmp_path / "out"), tmp_path / "back")

    def events(of: Path) -> Counter[tuple[Any, ...]]:
        keys = ("start_ns", "name", "kind", "begin", "value", "unit")
        return Counter(
            tuple(row.get(key) for key in keys)
            for row in rows(tare, of)
            if row.get("kind") in ("region", "counter") and "tare:" not in str(row["name"])
        )

    assert events(back) == events(original) and events(back)


@pytest.mark.skipif(shutil.which("eztrace") is None, reason="needs EZTrace")
def test_a_trace_of_eztrace(tare: Path, tmp_path: Path) -> None:
    path = compile_c(OPENMPI, [PROGRAMS / "ring.c"], tmp_path / "ring")
    prefix: list[Path | str] = ["eztrace", "-t", "openmpi", "-o", tmp_path / "traces"]
    done = run(OPENMPI, 3, [*prefix, path, "5", tmp_path / "begun"], timeout_s=120)
    assert done.returncode == 0, done.stderr
    anchor = next((tmp_path / "traces").rglob("*.otf2"))
    back = imported(tare, anchor, tmp_path / "back")
    printed = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, timeout=60).stdout
    entered = Counter(re.findall(r'^ENTER .*Region: "(MPI_\w+)"', printed, re.MULTILINE))
    found: Counter[str] = Counter()
    for row in profile(tare, back, "function"):
        found[row["function"]] += row["calls"]
    assert found == entered and entered["MPI_Sendrecv"] == 3 * 5
    collectives = pa.table(tare_package.open(back).collectives).to_pylist()
    assert Counter(one["function"] for one in collectives) == {"MPI_Allreduce": 3}
    assert {one["bytes"] for one in collectives} == {8}


def test_what_is_no_trace(tare: Path, tmp_path: Path) -> None:
    missing = import_trace(tare, tmp_path / "none", tmp_path / "back")
    assert (missing.returncode, missing.stderr) == (1, f"tare: {tmp_path / 'none'}: no such trace\n")
    text = tmp_path / "text.otf2"
    text.write_text("no trace")
    done = import_trace(tare, text, tmp_path / "back")
    assert done.returncode == 1 and done.stderr.startswith(f"tare: {text} cannot be imported: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "back").exists()


def test_damaged_archives_give_one_line_or_a_run(tare: Path, tmp_path: Path) -> None:
    original = measured(tare, tmp_path, "persistent.c", 2, "5").directory
    out = exported(tare, original, "otf2", tmp_path / "out")
    files = sorted(file for file in out.rglob("*") if file.is_file() and file.stat().st_size > 100)
    choose = random.Random(7)
    refused = 0
    for number in range(24):
        damaged = tmp_path / f"damaged-{number}"
        shutil.copytree(out, damaged)
        file = damaged / files[number % len(files)].relative_to(out)
        content = bytearray(file.read_bytes())
        if number % 2:
            del content[choose.randrange(len(content)) :]
        else:
            for _ in range(4):
                content[choose.randrange(len(content))] = choose.randrange(256)
        file.write_bytes(content)
        done = import_trace(tare, damaged, tmp_path / f"back-{number}")
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 1:
            refused += 1
            assert done.stderr.startswith("tare: ") and done.stderr.count("\n") == 1, done.stderr
            assert not (tmp_path / f"back-{number}").exists()
        else:
            assert ask(tare, "info", tmp_path / f"back-{number}").returncode in (0, 1)
    assert refused


def with_clock(to: Path, resolution: int, *times: int) -> Path:
    """An archive of one call that begins and ends at these ticks."""
    import otf2

    with otf2.writer.open(str(to), timer_resolution=resolution) as trace:
        region = trace.definitions.region("MPI_Barrier")
        node = trace.definitions.system_tree_node("node", parent=trace.definitions.system_tree_node("root"))
        group = trace.definitions.location_group("process", system_tree_parent=node)
        writer = trace.event_writer("main", group=group)
        writer.enter(times[0], region)
        writer.leave(times[1], region)
    return to


@pytest.mark.parametrize(
    ("resolution", "times", "why"),
    [
        (0, (100, 200), "its clock has no ticks in a second"),
        (1, (100, 10**18), "its events lie years apart"),
    ],
)
def test_impossible_times_are_one_line(
    tare: Path, tmp_path: Path, resolution: int, times: tuple[int, int], why: str
) -> None:
    trace = with_clock(tmp_path / "trace", resolution, *times)
    done = import_trace(tare, trace, tmp_path / "run")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tare: {trace}/traces.otf2 cannot be imported: it is damaged: {why}\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("written_s", [-10 * 365 * 86400, 15_000_000_000])
def test_a_file_may_have_been_written_when_no_run_was(tare: Path, tmp_path: Path, written_s: int) -> None:
    trace = with_clock(tmp_path / "trace", 1_000_000_000, 100, 200)
    os.utime(trace / "traces.otf2", (written_s, written_s))
    assert tare_package.open(imported(tare, trace, tmp_path / "run")).meta.wall_ns == 100
