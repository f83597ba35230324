"""`tare export --to otf2`, read by the `otf2` package of PyPI and by otf2-print."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import otf2_trace
import pyarrow as pa
import pytest
import tare as tare_package
from environments import PYTHON
from exporting import (
    HOSTILE_NAMES,
    damage,
    export,
    exported,
    hostile_run,
    measured,
    rows,
    start_ns,
)
from measured import PROGRAMS
from otf2_trace import Trace

MESSAGE_KEYS = ("tag", "communicator", "bytes", "received_bytes", "send_enter_ns", "send_function",
                "receive_enter_ns", "receive_function", "receive_completion_leave_ns")  # fmt: skip
NO_ROOT = 2**32 - 1


def read(tare: Path, run: Path, to: Path, *options: str) -> Trace:
    return otf2_trace.read(exported(tare, run, "otf2", to, *options))


def table(run: Path, name: str) -> list[dict[str, Any]]:
    return list(pa.table(getattr(tare_package.open(run), name)).to_pylist())


def as_counter(messages: list[dict[str, Any]], name: Any) -> Counter[tuple[Any, ...]]:
    return Counter(
        (name(one["source"]), name(one["destination"]), *(one[key] for key in MESSAGE_KEYS))
        for one in messages
    )


def assert_same_messages(run: Path, trace: Trace) -> None:
    expected = [one for one in table(run, "messages") if one["send_enter_ns"] and one["receive_enter_ns"]]
    # The table takes a receive that was cancelled late for one that took a message.
    doubtful = {_channel(one) for one in expected if (one["received_bytes"] or 0) != one["bytes"]}
    sure = [one for one in expected if _channel(one) not in doubtful]
    channels = {_channel(one) for one in sure}
    assert len(sure) >= len(expected) / 2
    found = [one for one in trace.messages if _channel(one) in channels]
    assert as_counter(found, str) == as_counter(sure, lambda rank: f"rank {rank}")
    assert not trace.unsent


def _channel(message: dict[str, Any]) -> tuple[str, str, int, str]:
    source, destination = (str(message[end]).removeprefix("rank ") for end in ("source", "destination"))
    return source, destination, message["tag"], message["communicator"]


def assert_same_collectives(run: Path, trace: Trace) -> None:
    """The table has none of intercommunicators, and not the end of communicators."""
    keys = ("communicator", "function", "enter_ns", "completion_leave_ns")
    found = Counter(
        (one["process"], *(one[key] for key in keys))
        for one in trace.collectives
        if not one["inter"] and one["op"] != "CollectiveOp.DESTROY_HANDLE"
    )
    assert found == Counter(
        (f"rank {one['rank']}", *(one[key] for key in keys))
        for one in table(run, "collectives")
        if one["window"] is None and one["mpi_file"] is None and one["completion_leave_ns"] is not None
    )


def assert_same_calls(tare: Path, run: Path, trace: Trace) -> None:
    calls = [one for one in rows(tare, run) if str(one["function"]).startswith("MPI_")]
    expected: dict[tuple[Any, ...], Any] = {
        (f"rank {one['rank']}", one["thread"], one["start_ns"], one["function"], one.get("line")): one[
            "duration_ns"
        ]
        for one in calls
    }

    def line(span: dict[str, Any]) -> int | None:
        site = span["attributes"].get("call_site")
        return site.line_number if site else None

    found = {
        (one["process"], one["thread"], one["start"], one["name"], line(one)): one["end"] - one["start"]
        for one in trace.spans
        if one["name"].startswith("MPI_")
    }
    assert found.keys() == expected.keys()
    # A poll begins where the one before ended, and times are rounded.
    assert {expected[key] - found[key] for key in found} <= {-1, 0, 1}


@pytest.mark.parametrize(
    ("program", "ranks", "arguments"),
    [
        ("persistent.c", 2, ["30"]),
        ("sendrecv.c", 2, []),
        ("matched.c", 2, ["10"]),
        ("handover.c", 2, ["20"]),
        ("communicators.c", 4, []),
        ("received.c", 4, []),
        ("patterns.c", 4, ["1", "4"]),
    ],
)
def test_every_call_message_and_collective(
    tare: Path, tmp_path: Path, program: str, ranks: int, arguments: list[str]
) -> None:
    run = measured(tare, tmp_path, program, ranks, *arguments).directory
    trace = read(tare, run, tmp_path / "out")
    assert_same_calls(tare, run, trace)
    assert_same_messages(run, trace)
    assert_same_collectives(run, trace)


def test_sizes_and_roots_of_collectives(tare: Path, tmp_path: Path) -> None:
    """docs/bytes.md says what tare counts; OTF2 tells what is put in from what is taken out."""
    run = measured(tare, tmp_path, "received.c", 4).directory
    trace = read(tare, run, tmp_path / "out")
    of_table = {
        (f"rank {one['rank']}", one["enter_ns"]): one
        for one in table(run, "collectives")
        if one["bytes"] is not None
    }
    compared = 0
    for one in trace.collectives:
        row = of_table.get((one["process"], one["enter_ns"]))
        if row is None:
            continue
        compared += 1
        is_root = one["process"] == f"rank {row['root']}"
        if row["root"] is None:
            assert one["root"] == NO_ROOT
        # What a rank takes from a root stands for its bytes.
        from_root = re.search("MPI_I?(bcast|scatter)", one["function"], re.IGNORECASE) and not is_root
        assert one["received" if from_root else "sent"] == row["bytes"]
    assert compared > 50


def test_roots_between_groups(tare: Path, tmp_path: Path) -> None:
    """Rank 0 takes what ranks 1 and 3, the other group, put in. Rank 2 has no part in it."""
    trace = read(tare, measured(tare, tmp_path, "received.c", 4).directory, tmp_path / "out")
    shown = {
        (one["function"], one["process"], one["root"], one["sent"], one["received"])
        for one in trace.collectives
        if one["inter"] and one["function"] in ("MPI_Gather", "MPI_Reduce")
    }
    of_self, of_this_group = 2**32 - 2, 2**32 - 3
    expected = set()
    for function, bytes_of_one, bytes_of_all in (("MPI_Gather", 8, 16), ("MPI_Reduce", 20, 20)):
        expected |= {
            (function, "rank 0", of_self, 0, bytes_of_all),
            (function, "rank 2", of_this_group, 0, 0),
            (function, "rank 1", 0, bytes_of_one, 0),
            (function, "rank 3", 0, bytes_of_one, 0),
        }
    assert shown == expected


def test_otf2_print_reads_it(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "ring.c", 3, "40", str(tmp_path / "begun")).directory
    out = exported(tare, run, "otf2", tmp_path / "out")
    done = subprocess.run(["otf2-print", out / "traces.otf2"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    records = Counter(re.findall("^([A-Z_]+) ", done.stdout, re.MULTILINE))
    trace = otf2_trace.read(out)
    calls = [one for one in rows(tare, run) if str(one["function"]).startswith("MPI_")]
    assert records["ENTER"] == records["LEAVE"] == trace.records["Enter"] >= len(calls)
    assert records["MPI_SEND"] + records["MPI_ISEND"] == 3 * 40
    assert records["MPI_RECV"] + records["MPI_IRECV"] == 3 * 40
    definitions = subprocess.run(
        ["otf2-print", "-G", out / "traces.otf2"], capture_output=True, text=True, timeout=60
    )
    assert (definitions.returncode, definitions.stderr) == (0, "")
    assert re.search(r"^COMM .*MPI_COMM_WORLD", definitions.stdout, re.MULTILINE)
    assert "Ticks per Seconds: 1000000000" in definitions.stdout
    assert len(trace.hosts) == 1 and trace.threads == {f"rank {rank}": 1 for rank in range(3)}
    assert trace.communicators["MPI_COMM_WORLD"] == [["rank 0", "rank 1", "rank 2"]]


def test_events_of_the_program(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    subprocess.run([tare, "run", "--quiet", "--trace", "-o", run, "--", *program], check=True, timeout=60)
    out = exported(tare, run, "otf2", tmp_path / "out")
    trace = otf2_trace.read(out)
    spans = Counter((one["name"], one["depth"]) for one in trace.spans if "tare:" not in one["name"])
    events = {("step", 1): 1, ("empty", 1): 1, ("sent", 1): 1, ("note", 1): 2}
    assert spans == {("setup", 0): 1, ("solve", 0): 150, ("inner", 1): 150, ("raises", 0): 1, **events}
    # Events take no time, and their parameters are attributes with their types.
    parameters = [
        (one["name"], {name: value for name, value in one["attributes"].items()})
        for one in trace.spans
        if (one["name"], one["depth"]) in events and one["start"] == one["end"]
    ]
    assert parameters == [
        ("step", {"parameter_1": -1, "parameter_2": 2**32 - 1, "parameter_3": 3.25}),
        ("empty", {}),
        ("sent", {"parameter_1": 1, "parameter_2": 2**40}),
        ("note", {"text": "ä\\x0a"}),
        ("note", {"text": "\\xff"}),
    ]
    shown = subprocess.run(["otf2-print", out / "traces.otf2"], capture_output=True, text=True, timeout=60)
    assert (shown.returncode, shown.stderr) == (0, "")
    for typed in ("INT32; -1)", "UINT32; 4294967295)", "DOUBLE; 3.25)", "UINT64; 1099511627776)"):
        assert typed in shown.stdout
    assert [value for _, value in trace.metrics] == [12.5, float("inf")]
    printed = subprocess.run(["otf2-marker", out / "traces.otf2"], capture_output=True, text=True, timeout=60)
    markers = re.findall('Category: "(\\w+)"|Text: "(.*)"', printed.stdout)
    assert [name or text for name, text in markers] == ["here", ""]


def test_hostile_names(tare: Path, tmp_path: Path) -> None:
    trace = read(tare, hostile_run(tmp_path), tmp_path / "out")
    assert {one["name"] for one in trace.spans if "tare:" not in one["name"]} == set(HOSTILE_NAMES.values())
    assert {name for name, _ in trace.metrics} == set(HOSTILE_NAMES.values())


def test_a_part_of_the_time_and_of_the_ranks(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "ring.c", 3, "40", str(tmp_path / "begun")).directory
    times = sorted(int(str(row["start_ns"])) for row in rows(tare, run))
    middle = f"{(times[len(times) // 2] - start_ns(run)) / 1e9:.9f}"
    done = export(tare, run, "otf2", tmp_path / "part", "--rank", "1", "--from", middle)
    assert done.returncode == 0
    assert done.stderr == "tare: not all messages are shown: the start of the trace was left out\n"
    trace = otf2_trace.read(tmp_path / "part")
    assert {one["process"] for one in trace.spans} == {"rank 1"}
    assert len(trace.spans) == len(rows(tare, run, "--rank", "1", "--from", middle))
    assert not trace.messages and not trace.collectives
    # From a time on before all events, nothing is left out.
    whole = read(tare, run, tmp_path / "whole", "--from", "0")
    assert len(whole.messages) == len(read(tare, run, tmp_path / "all").messages) > 0
    # Up to some time, messages are those that are whole by then.
    first = read(tare, run, tmp_path / "first", "--to-time", middle)
    assert 0 < len(first.messages) < 3 * 40


def test_what_is_lost_is_said(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "persistent.c", 2, "100").directory
    whole = read(tare, run, tmp_path / "whole")
    name = damage(run)
    done = export(tare, run, "otf2", tmp_path / "rest")
    assert done.returncode == 0
    assert name in done.stderr and "damaged" in done.stderr
    assert "not all messages are shown: calls were lost" in done.stderr
    rest = otf2_trace.read(tmp_path / "rest")
    assert 0 < len(rest.spans) < len(whole.spans)
    assert not rest.unsent and len(rest.messages) < len(whole.messages)


def test_no_place_to_write(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "persistent.c", 2, "2").directory
    done = export(tare, run, "otf2", tmp_path / "missing" / "out")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_a_tare_without_libotf2_says_what_to_install(tare: Path, tmp_path: Path) -> None:
    """A build without the library says so of itself."""
    run = measured(tare, tmp_path, "persistent.c", 2, "2").directory
    hidden = """
import sys, tare._version
tare._version.WITHOUT = {"OTF2"}
from tare.__main__ import main
sys.exit(main())
"""
    command: list[Path | str] = [PYTHON, "-c", hidden, "export", run, "--to", "otf2", "-o", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert "libotf2-trace-dev" in done.stderr and done.stderr.count("\n") == 1


def test_one_sided_accesses(tare: Path, tmp_path: Path) -> None:
    """What accesses.c does: with whom, how many bytes, which call completed it. Its first MPI_Put fails."""
    run = measured(tare, tmp_path, "accesses.c", 3).directory
    trace = read(tare, run, tmp_path / "out")
    expected = Counter(
        (f"rank {rank}", function, f"rank {(rank + step) % 3}", sent, received, locally, completed)
        for rank in range(3)
        for function, step, sent, received, locally, completed in (
            ("MPI_Put", 1, 24, None, None, "MPI_Win_fence"),
            ("MPI_Get", -1, 16, None, None, "MPI_Win_fence"),
            ("MPI_Accumulate", 1, 32, 0, None, "MPI_Win_flush"),
            ("MPI_Get_accumulate", 1, 8, 8, None, "MPI_Win_unlock"),
            ("MPI_Fetch_and_op", 1, 8, 8, "MPI_Win_flush_local", None),
            ("MPI_Compare_and_swap", -1, 8, 8, None, "MPI_Win_unlock_all"),
            ("MPI_Rput", 1, 40, None, "MPI_Wait", "MPI_Win_unlock_all"),
        )
    )
    keys = ("process", "function", "target", "sent", "received", "locally_in", "completed_in")
    assert Counter(tuple(one.get(key) for key in keys) for one in trace.accesses) == expected
    assert {one["window"] for one in trace.accesses} == {"memory"}
    assert trace.fences == {(f"rank {rank}", "memory"): 2 for rank in range(3)}
    printed = subprocess.run(
        ["otf2-print", tmp_path / "out" / "traces.otf2"], capture_output=True, text=True, timeout=60
    )
    assert printed.returncode == 0 and printed.stderr == ""
    assert Counter(re.findall(r"^RMA_(?:PUT|GET|ATOMIC)", printed.stdout, re.MULTILINE)) == {
        "RMA_PUT": 6,
        "RMA_GET": 3,
        "RMA_ATOMIC": 12,
    }
