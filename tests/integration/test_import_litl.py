"""`tare import` of traces that liblitl writes."""

from __future__ import annotations

import os
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tare as tare_package
from environments import ROOT
from measured import PROGRAMS


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """tests/programs/litl_trace.c."""
    program = tmp_path_factory.mktemp("litl") / "litl_trace"
    command: list[Path | str] = ["cc", PROGRAMS / "litl_trace.c", "-o", program, "-llitl", "-lpthread"]
    subprocess.run(command, check=True, timeout=60)
    return program


def write(writer: Path, to: Path, threads: int, events: int) -> list[list[str]]:
    """The words of each line that the program prints, which is an event."""
    command: list[Path | str] = [writer, to, str(threads), str(events)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    return [line.split(maxsplit=2) for line in printed.splitlines()]


def import_trace(tare: Path, trace: Path, to: Path) -> subprocess.CompletedProcess[str]:
    command: list[Path | str] = [tare, "import", trace, "-o", to]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def what_was_recorded(row: dict[str, Any]) -> list[str]:
    """The event as the program prints it, without the thread."""
    code = row["name"].removeprefix("event ")
    if row["kind"] == "raw":
        return [code, row["text"]]
    if not row["words"]:
        return [code]
    data = struct.pack(f"<{len(row['words'])}Q", *row["words"])
    return [code, " ".join(map(str, struct.unpack("<iih", data[:10])))]


def found_in(run: Path, rank: int) -> dict[int, list[list[str]]]:
    """Events of each thread, in their order."""
    found: dict[int, list[list[str]]] = {}
    rows = pa.table(tare_package.open(run).event_table(ranks=[rank])).to_pylist()
    for row in sorted(rows, key=lambda row: row["start_ns"]):
        found.setdefault(row["thread"], []).append(what_was_recorded(row))
    return found


def by_thread(lines: list[list[str]]) -> dict[int, list[list[str]]]:
    events: dict[int, list[list[str]]] = {}
    for thread, *event in lines:
        events.setdefault(int(thread), []).append(event)
    return events


@pytest.mark.parametrize(("threads", "events"), [(0, 1), (2, 100), (50, 30)])
def test_every_event_comes_back(tare: Path, writer: Path, tmp_path: Path, threads: int, events: int) -> None:
    """Buffers are small and threads begin late: chunks are linked, and the list of threads has parts."""
    written = by_thread(write(writer, tmp_path / "app.litl", threads, events))
    done = import_trace(tare, tmp_path / "app.litl", tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    number = (threads + 1) * (events + 2)
    named = "thread" if threads == 0 else "threads"
    assert done.stdout == f"{tmp_path / 'run'}: {number:,} events of {threads + 1} {named}\n"
    assert found_in(tmp_path / "run", 0) == written


def test_an_archive_of_traces(tare: Path, writer: Path, tmp_path: Path) -> None:
    written = [by_thread(write(writer, tmp_path / f"{i}.litl", i, 40)) for i in range(3)]
    merge: list[Path | str] = [writer, "--merge", tmp_path / "all.litl"]
    subprocess.run([*merge, *(tmp_path / f"{i}.litl" for i in range(3))], check=True, timeout=60)
    done = import_trace(tare, tmp_path / "all.litl", tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    run = tare_package.open(tmp_path / "run")
    ranks = pa.table(run.ranks).to_pylist()
    assert [(row["rank"], row["executable"]) for row in ranks] == [(i, f"{i}.litl") for i in range(3)]
    assert [found_in(tmp_path / "run", rank) for rank in range(3)] == written


def test_verbs_read_it(tare: Path, writer: Path, tmp_path: Path) -> None:
    write(writer, tmp_path / "app.litl", 1, 10)
    run = tmp_path / "app-imported"
    subprocess.run([tare, "import", "app.litl"], cwd=tmp_path, check=True, timeout=60)

    def output(*arguments: Path | str) -> str:
        return subprocess.check_output([tare, *arguments], text=True, timeout=60, cwd=tmp_path)

    assert "imported; a trace does not say how its program ended" in output("info", run)
    assert Counter(output("events", run).split())["0x202"] == 2
    counted = output("sql", run, "--csv", "SELECT name, count(*) FROM events GROUP BY ALL ORDER BY name")
    assert counted.splitlines()[1:] == ["event 0x101,20", "event 0x202,2", "event 0x303,2"]
    output("explain", run)
    output("report", run, "-o", tmp_path / "page.html")
    output("export", run, "--to", "perfetto", "-o", tmp_path / "trace.pftrace")


def test_a_trace_cut_off_gives_one_line(tare: Path, writer: Path, tmp_path: Path) -> None:
    write(writer, tmp_path / "app.litl", 3, 60)
    whole = (tmp_path / "app.litl").read_bytes()
    cut = tmp_path / "cut.litl"
    for size in (200, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:size])
        done = import_trace(tare, cut, tmp_path / "run")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"tare: {cut} cannot be imported: it is cut off, or damaged\n"
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("written_s", [-10 * 365 * 86400, 15_000_000_000])
def test_a_file_that_was_written_when_no_run_was_is_of_1970(
    tare: Path, tmp_path: Path, written_s: int
) -> None:
    trace = tmp_path / "trace.litl"
    trace.write_bytes((ROOT / "fuzz" / "seeds" / "litl" / "trace.litl").read_bytes())
    os.utime(trace, (written_s, written_s))
    done = import_trace(tare, trace, tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert tare_package.open(tmp_path / "run").meta.start_ns == 0
