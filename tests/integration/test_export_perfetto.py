"""`tare export --to perfetto`: the trace as Perfetto's protobuf classes and its trace processor read it."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import perfetto_trace
import perfetto_ui
from environments import PYTHON, compile_c
from exporting import (
    HOSTILE_NAMES,
    OPENMPI,
    STENCIL,
    damage,
    export,
    exported,
    hostile_run,
    measured,
    recorded,
    rows,
    start_ns,
)
from measured import PROGRAMS, measure
from perfetto_trace import Slice

KEPT = ("file", "line", "communicator", "window", "mpi_file", "peer", "root", "tag", "bytes", "received",
        "source", "source_tag", "rank", "function")  # fmt: skip


def read(tare: Path, run: Path, to: Path, *options: str) -> list[Slice]:
    return perfetto_trace.read(exported(tare, run, "perfetto", to, *options))


def calls_of(slices: list[Slice]) -> Counter[str]:
    """Calls as `tare events` has them; times since the first of all, as the zeros differ."""
    calls = [one for one in slices if one.name.startswith("MPI_")]
    zero = min(one.start for one in calls)
    return Counter(
        json.dumps(
            {
                "rank": int(one.process.removeprefix("rank ")),
                "function": one.name,
                "start": one.start - zero,
                "duration": one.end - one.start,
                "file": one.file or None,
                "line": one.line or None,
                **{key: value for key, value in one.arguments.items() if key != "requests"},
            },
            sort_keys=True,
        )
        for one in calls
    )


def expected_calls(tare: Path, run: Path, *options: str) -> Counter[str]:
    found = [row for row in rows(tare, run, *options) if str(row["function"]).startswith("MPI_")]
    zero = min(row["start_ns"] for row in found)  # type: ignore[type-var]
    return Counter(json.dumps(_expected(row, zero), sort_keys=True) for row in found)


def _expected(row: dict[str, Any], zero: Any) -> dict[str, Any]:
    if re.match("MPI_(Wait|Test)", row["function"]):
        # The only request of a completion is said in its row; here each is a message.
        for key in ("peer", "peer_world", "tag"):
            row.pop(key, None)
    one = {key: row[key] for key in KEPT if row.get(key) is not None}
    one |= {"start": row["start_ns"] - zero, "duration": row["duration_ns"]}
    one |= {key: row.get(key) for key in ("file", "line")}
    for world, rank in (("peer_world", "peer"), ("source_world", "source")):
        if row.get(world) is not None and rank in one and row[world] != row[rank]:
            one[world] = row[world]
    return one


def assert_same_calls(tare: Path, run: Path, to: Path) -> list[Slice]:
    slices = read(tare, run, to)
    assert calls_of(slices) == expected_calls(tare, run)
    return slices


def test_a_stored_trace(tare: Path, tmp_path: Path) -> None:
    assert_same_calls(tare, STENCIL, tmp_path / "out")


def test_messages_of_requests_in_any_order(tare: Path, tmp_path: Path) -> None:
    """Messages come from any source too, are started together, completed one by one and in random orders."""
    rounds, messages = 30, 8
    run = measured(tare, tmp_path, "persistent.c", 2, str(rounds)).directory
    slices = assert_same_calls(tare, run, tmp_path / "out")
    sent = {flow: one.process for one in slices for flow in one.sent}
    received = {flow: one.process for one in slices for flow in one.received}
    assert sum(len(one.sent) for one in slices) == len(sent) == 2 * rounds * messages
    assert set(sent) == set(received)
    assert all(sent[flow] != received[flow] for flow in sent)
    assert {one.name for one in slices if one.sent} == {"MPI_Startall"}
    assert {one.name for one in slices if one.received} == {"MPI_Waitall", "MPI_Wait", "MPI_Waitsome"}


def test_messages_of_requests_started_one_by_one(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "matched.c", 2, "10").directory
    slices = read(tare, run, tmp_path / "out")
    sent = [flow for one in slices if one.name == "MPI_Start" for flow in one.sent]
    received = {flow for one in slices for flow in one.received}
    assert sent and set(sent) <= received


def test_every_message_goes_where_it_was_sent(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "ring.c", 3, "40", str(tmp_path / "begun")).directory
    slices = assert_same_calls(tare, run, tmp_path / "out")
    received = {flow: one for one in slices for flow in one.received}
    sent = [(flow, one) for one in slices for flow in one.sent]
    assert len(sent) == 3 * 40
    for flow, one in sent:
        assert received[flow].process == f"rank {one.arguments['peer']}"
        assert received[flow].end > one.start


def test_a_cancelled_receive_takes_no_message(tare: Path, tmp_path: Path) -> None:
    source = tmp_path / "cancels.c"
    source.write_text(CANCELS)
    run = measured(tare, tmp_path, str(source), 2).directory
    slices = read(tare, run, tmp_path / "out")
    sent = [flow for one in slices for flow in one.sent]
    received = {flow: one for one in slices for flow in one.received}
    assert len(sent) == 4 and set(sent) == set(received)
    assert {one.name for one in received.values()} == {"MPI_Recv"}
    ends = [received[flow].end for flow in sent]
    assert ends == sorted(ends), "the n-th that is sent is the n-th that is received"


CANCELS = """
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, value = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++)
    if (rank == 0)
      MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    else
      MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
"""


def test_windows_and_files(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "onesided.c", 4, str(tmp_path / "data")).directory
    slices = assert_same_calls(tare, run, tmp_path / "out")
    assert {key for one in slices for key in one.arguments} >= {"window", "mpi_file", "peer", "communicator"}


def test_calls_on_files(tare: Path, tmp_path: Path) -> None:
    """They have their arguments, also those that are negative, and their file."""
    program = compile_c(OPENMPI, [PROGRAMS / "io_records.c"], tmp_path / "program")
    (tmp_path / "files").mkdir()
    command: list[Path | str] = [program, tmp_path / "files"]
    run = measure(tare, OPENMPI, 2, command, tmp_path / "run", "--trace", "--with", "files").directory
    slices = [one for one in read(tare, run, tmp_path / "out") if one.category == "source"]
    found = Counter((one.name, tuple(sorted(one.arguments.items()))) for one in slices)
    expected: Counter[Any] = Counter()
    for row in rows(tare, run):
        if "arguments" not in row:
            continue
        arguments: dict[str, Any] = {**row["arguments"]}  # type: ignore[dict-item]
        signed = {name: value - 2**64 if value >= 2**63 else value for name, value in arguments.items()}
        file = {"used_file": row["used_file"]} if "used_file" in row else {}
        signed.pop("object", None)
        expected[row["function"], tuple(sorted((signed | file).items()))] += 1
    assert found == expected
    posix = str(tmp_path / "files" / "posix")
    of_posix = [one for one in slices if one.arguments.get("used_file") == posix]
    (seek,) = (one for one in of_posix if one.name == "lseek")
    assert (seek.arguments["offset"], seek.arguments["position"]) == (-90, 10)
    assert [one.arguments["error"] for one in slices if one.name == "read" and "bytes" not in one.arguments]


def test_events_of_the_program(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    subprocess.run([tare, "run", "--quiet", "--trace", "-o", run, "--", *program], check=True, timeout=60)
    slices = read(tare, run, tmp_path / "out")
    spans = Counter(
        (one.name, one.depth) for one in slices if one.kind == "slice" and "tare:" not in one.name
    )
    assert spans == {("setup", 0): 1, ("solve", 0): 150, ("inner", 1): 150, ("raises", 0): 1}
    assert [one.value for one in slices if one.kind == "counter"] == [12.5, float("inf")]
    instants = {one.name: one.arguments for one in slices if one.kind == "instant"}
    assert instants["here"] == instants["empty"] == {}
    assert instants["step"] == {"parameters": [-1, 2**32 - 1, 3.25]}
    assert instants["sent"] == {"parameters": [1, 2**40]}
    assert [one.arguments["text"] for one in slices if one.name == "note"] == ["ä\\x0a", "\\xff"]


def test_a_part_of_the_time_and_of_the_ranks(tare: Path, tmp_path: Path) -> None:
    times = sorted(int(str(row["start_ns"])) for row in rows(tare, STENCIL))
    begin, end = (f"{(times[len(times) * part // 4] - start_ns(STENCIL)) / 1e9:.9f}" for part in (1, 3))
    options = ["--rank", "1", "--from", begin]
    found = calls_of(read(tare, STENCIL, tmp_path / "out", *options, "--to-time", end))
    assert found == expected_calls(tare, STENCIL, *options, "--to", end)
    assert 0 < found.total() < len(times) / 2


OPEN_REGIONS = """
import sys, tare
tare.start(sys.argv[1])
outer = tare.region("outer")
with outer:
    for i in range(9):
        with tare.region("inner"):
            tare.count("step", i)
outer.__enter__()
tare.mark("last")
"""


def test_regions_that_are_open_at_the_edges_of_time(tare: Path, tmp_path: Path) -> None:
    run = recorded(tmp_path, OPEN_REGIONS)
    done = export(tare, run, "perfetto", tmp_path / "all")
    without_end = "tare: 1 region or phase has no end in the trace; it ends with it\n"
    assert (done.returncode, done.stderr) == (0, without_end)
    spans = [one for one in perfetto_trace.read(tmp_path / "all") if one.kind == "slice"]
    assert Counter(one.name for one in spans) == {"outer": 2, "inner": 9}
    # From the count in the fifth of the inner regions on.
    counts = [row for row in rows(tare, run) if row.get("kind") == "counter"]
    begin = f"{(int(str(counts[4]['start_ns'])) - start_ns(run)) / 1e9:.9f}"
    done = export(tare, run, "perfetto", tmp_path / "part", "--from", begin)
    assert (done.returncode, done.stderr) == (0, without_end.replace("the trace", "this part of the trace"))
    part = perfetto_trace.read(tmp_path / "part")
    seen = Counter(one.name for one in part if one.kind == "slice")
    assert seen == {"outer": 2, "inner": 5}
    assert [one.start for one in part][:1] == [min(one.start for one in spans)]


def test_hostile_names(tare: Path, tmp_path: Path) -> None:
    slices = read(tare, hostile_run(tmp_path), tmp_path / "out")
    assert {one.name for one in slices if "tare:" not in one.name} == set(HOSTILE_NAMES.values())


def test_damaged_chunks_are_left_out_and_named(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "persistent.c", 2, "100").directory
    whole = read(tare, run, tmp_path / "whole")
    name = damage(run)
    done = export(tare, run, "perfetto", tmp_path / "rest")
    assert done.returncode == 0
    assert name in done.stderr and "damaged" in done.stderr
    assert 0 < len(perfetto_trace.read(tmp_path / "rest")) < len(whole)


def test_what_cannot_be_exported(tare: Path, tmp_path: Path) -> None:
    path, out = compile_c(OPENMPI, [PROGRAMS / "exchange.c"], tmp_path / "program"), tmp_path / "out"
    run = measure(tare, OPENMPI, 2, [path], tmp_path / "run").directory
    done = export(tare, run, "perfetto", out)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tare: this run has no trace: measure it with tare run --trace -- COMMAND\n"
    out.touch()
    done = export(tare, STENCIL, "perfetto", out)
    assert done.returncode == 2
    assert done.stderr == f"tare: {out} exists; choose another name, or remove it\n"
    done = export(tare, STENCIL, "perfetto", tmp_path / "missing" / "out")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    done = export(tare, STENCIL, "perfetto", tmp_path / "new", "--from", "2", "--to-time", "1")
    assert (done.returncode, done.stderr) == (2, "tare: --from 2 is later than --to-time 1\n")


def test_perfetto_itself_shows_it(tare: Path, tmp_path: Path, browser: Any) -> None:
    """`tare view` in Chromium, asked by its trace processor."""
    ranks = 11  # more than one digit
    run = measured(tare, tmp_path, "ring.c", ranks, "40", str(tmp_path / "begun")).directory
    calls = Counter(
        str(row["function"]) for row in rows(tare, run) if str(row["function"]).startswith("MPI_")
    )
    with perfetto_ui.viewing(tare, run, browser) as (query, page):
        names = perfetto_ui.groups(page)
        assert [name.split()[:2] for name in names] == [["rank", str(rank)] for rank in range(ranks)]
        found = query("SELECT name, count(*) AS n FROM slice WHERE category = 'MPI' GROUP BY name")
        assert dict(found) == calls
        assert query("SELECT 'flows' AS name, count(*) AS n FROM flow") == [["flows", ranks * 40]]
        wrong = "SELECT name, value AS n FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"
        assert query(wrong) == []
        lines = query(
            "SELECT DISTINCT display_value AS name, 1 AS n FROM args WHERE key = 'source.line_number'"
        )
        assert {line for line, _ in lines} == {str(row["line"]) for row in rows(tare, run) if row.get("line")}
