"""Message sampling: every pair that it finds is a message and its receive, whatever the program does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pytest
import tare as tare_package
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian, on_openmpi

RANKS = 3
# Programs of patterns.c; thousands take minutes.
PATTERNS = int(os.environ.get("TARE_TEST_PATTERNS", "40"))
LOSSES = (
    "ambiguous", "ambiguous_received", "unnumbered", "unpaired", "recordless", "contradictory", "lost",
    "unreachable",
)  # fmt: skip
COUNT = 200  # of sampled.c: messages of each of three kinds


def samples(measured: Measurement, *options: str) -> dict[str, Any]:
    return measured._read("samples", "tare.samples/1", "--limit", "0", *options)


def lost(messages: dict[str, int]) -> dict[str, int]:
    return {name: messages[name] for name in LOSSES if messages[name]}


@pytest.fixture
def sampled(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> Any:
    """Runs sampled.c."""
    program = compile_c(mpi, [PROGRAMS / "sampled.c"], tmp_path / "sampled", "-g")

    def run(name: str, spec: str, *arguments: str) -> Measurement:
        argv: list[Path | str] = [program, str(COUNT), *arguments]
        measured = measure(tare, mpi, 2, argv, tmp_path / name, "--sample", spec)
        assert measured.ended.returncode == 0, measured.ended.stderr
        return measured

    return run


def sample_patterns(mpi: MpiEnvironment, tare: Path, tmp_path: Path, threshold: float = 1) -> dict[str, Any]:
    """Runs patterns.c; lengths differ from message to message: a pair of two would be a contradiction."""
    program = compile_c(mpi, [PROGRAMS / "patterns.c"], tmp_path / "patterns")
    argv: list[Path | str] = [program, "1", str(PATTERNS)]
    timeout_s = 120 + PATTERNS
    measured = measure(
        tare, mpi, RANKS, argv, tmp_path / "run", "--sample", f"random:{threshold},stat", timeout_s=timeout_s
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    said = dict(re.findall(r"(\w+) (\d+)", measured.ended.stdout))
    found = samples(measured)
    messages = found["messages"]
    # Ready mode is agreed on by further messages.
    assert messages["sent"] >= int(said["sent"]) > 10 * PATTERNS
    assert set(lost(messages)) <= {"unpaired"}
    assert messages["unpaired"] <= int(said["truncated"])
    assert messages["paired"] == messages["chosen"] - messages["unpaired"]
    if threshold == 1:
        assert messages["chosen"] == messages["sent"]
        assert messages["unpaired"] == int(said["truncated"])
    else:  # five standard deviations
        spread = 5 * (messages["sent"] * threshold * (1 - threshold)) ** 0.5
        assert abs(messages["chosen"] - messages["sent"] * threshold) < spread
    return found


def test_every_pair_of_random_patterns_is_right(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rows = sample_patterns(mpi, tare, tmp_path)["rows"]
    assert not any(row["uncertainty_ns"] for row in rows)


@on_openmpi
def test_every_pair_of_a_third_of_the_messages_is_right(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """Less is kept of a receive whose message is not chosen."""
    sample_patterns(mpi, tare, tmp_path, threshold=0.3)


@both_debian
def test_every_pair_between_nodes_is_right(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Ranks 0 and 2 believe to be on one node, rank 1 on another."""
    apart = replace(mpi, env={**mpi.env, "TARE_SAMPLE_NODES": "2"})
    found = sample_patterns(apart, tare, tmp_path)
    for row in found["rows"]:
        if row["source"] is not None:
            between = (row["source"] - row["destination"]) % 2 == 1
            assert (row["uncertainty_ns"] > 0) == between
    (clock,) = found["clocks"]
    assert clock["rank"] == 1
    # The clock of rank 1 is that of rank 0: what it seems to drift is what the comparisons do not know.
    assert abs(clock["drift_ns"]) <= clock["uncertainty_ns"] + clock["end_uncertainty_ns"]
    assert 0 < clock["span_ns"] < 600 * 10**9


@on_openmpi
def test_a_job_that_dies_has_the_first_comparison_of_clocks(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "killed.c"], tmp_path / "killed")
    apart = replace(mpi, env={**mpi.env, "TARE_SAMPLE_NODES": "2"})
    measured = measure(tare, apart, 2, [program, "all"], tmp_path / "run", "--sample", "random:1")
    assert measured.ended.returncode != 0
    (clock,) = samples(measured)["clocks"]
    assert clock["uncertainty_ns"] > 0
    assert (clock["end_uncertainty_ns"], clock["drift_ns"], clock["span_ns"]) == (None, None, None)


@both_debian
def test_pairs_are_those_of_the_marks_in_the_messages(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "patterns.c"], tmp_path / "patterns")
    argv: list[Path | str] = [program, "5000", "3", str(tmp_path / "marks")]
    measured = measure(tare, mpi, RANKS, argv, tmp_path / "run", "--trace", "--sample", "random:1,write")
    assert measured.ended.returncode == 0, measured.ended.stderr
    found: Counter[tuple[int, ...]] = Counter()
    rows = measured._read("events", "tare.events/1")["rows"]
    for row in rows:
        if row.get("name") != "tare.message":
            continue
        source, _, tag, size, number, _, _, posted, waited, ended = row["parameters"]
        assert posted <= waited <= ended > 0
        found[row["rank"], source, tag, number, size] += 1
    marks: Counter[tuple[int, ...]] = Counter()
    for rank in range(RANKS):
        for line in (tmp_path / f"marks.{rank}").read_text().splitlines():
            source, tag, number, size = map(int, line.split())
            marks[rank, source, tag, number, size] += 1
    said = {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", measured.ended.stdout)}
    # Handshakes of one byte, and what was received with MPI_STATUS_IGNORE, have no marks.
    without_marks = Counter({message: n for message, n in (found - marks).items() if message[-1] > 1})
    assert without_marks.total() == said["unseen"]
    assert not marks - found
    # And they are those of the trace, which has the messages of a channel in the order of sending.
    sent = Counter(numbered_by_channel(rows))
    assert not found - sent
    assert (sent - found).total() == said["truncated"]


def numbered_by_channel(rows: list[dict[str, Any]]) -> Iterator[tuple[int, ...]]:
    """Destination, source, tag, number in its channel and length of all that a trace says was sent."""
    count: Counter[tuple[Any, ...]] = Counter()
    sends = re.compile(r"MPI_(I?[bsr]?send|Sendrecv(_replace)?|Start(all)?)", re.IGNORECASE)
    for row in rows:
        for sent in row.get("requests", [row]) if sends.fullmatch(row.get("function", "")) else []:
            if "bytes" in sent and "peer_world" in sent:
                ends = (sent["peer_world"], row["rank"], sent["tag"])
                count[sent["communicator_key"], *ends] += 1
                yield (*ends, count[sent["communicator_key"], *ends], sent["bytes"])


@both_debian
def test_threads_are_right_or_ambiguous(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "pattern_threads.c"], tmp_path / "patterns", "-pthread")
    argv: list[Path | str] = [program, "1", "200"]
    measured = measure(tare, mpi, 2, argv, tmp_path / "run", "--sample", "random:1,stat")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    messages = samples(measured)["messages"]
    assert set(lost(messages)) <= {"ambiguous", "ambiguous_received"}
    assert messages["sent"] == messages["received"] == messages["chosen"]
    # Two of three iterations are on channels of a thread's own.
    assert messages["paired"] >= messages["sent"] / 2
    assert messages["paired"] + sum(lost(messages).values()) >= messages["sent"]


@both_debian
def test_another_thread_may_ask_below_thread_multiple(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "other_thread_samples.c"], tmp_path / "program", "-pthread")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--sample", "random:0.5")
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == 2
    assert measured.ended.stderr == ""
    messages = samples(measured)["messages"]
    assert messages["sent"] == 5000
    assert lost(messages) == {}


@both_debian
def test_requests_that_start_together_have_no_order(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Requests of the same channel have none, nor do those of which one takes what another might."""
    times = 20
    program = compile_c(mpi, [PROGRAMS / "started.c"], tmp_path / "started")
    measured = measure(tare, mpi, 2, [program, str(times)], tmp_path / "run", "--sample", "random:1")
    messages = samples(measured)["messages"]
    by_isendrecv = int(measured.ended.stdout)
    assert messages["sent"] == messages["received"] == messages["chosen"] == 9 * times + by_isendrecv
    assert lost(messages) == {"ambiguous": 2 * times, "ambiguous_received": 4 * times}
    assert messages["paired"] == 3 * times + by_isendrecv


@on_openmpi
def test_what_is_late_is_told_by_its_lines(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = PROGRAMS / "lateness.c"
    lines = source.read_text().splitlines()
    late_ns = 20_000_000
    program = compile_c(mpi, [source], tmp_path / "lateness", "-g")
    measured = measure(tare, mpi, 2, [program, "5"], tmp_path / "run", "--sample", "random:1")
    unposted, unwaited, sent_late = (
        next(row for row in samples(measured)["rows"] if row["bytes"] == size) for size in (101, 102, 103)
    )
    assert unposted["unposted_ns"] >= late_ns and unposted["unwaited_ns"] == 0
    assert unwaited["unwaited_ns"] >= late_ns and unwaited["unposted_ns"] == 0
    # The receiver may be kept from waiting meanwhile, but hardly five times nearly all of the time.
    assert sent_late["late_sender_ns"] >= late_ns / 20
    for row, side, comment in (
        (unposted, "receive", "not posted"),
        (unwaited, "receive", "not waited for"),
        (sent_late, "send", "the late one"),
    ):
        assert row["count"] == 5
        assert row[f"{side}_file"] == str(source)
        assert comment in lines[row[f"{side}_line"] - 1]


@on_openmpi
@pytest.mark.parametrize(
    ("spec", "chosen", "paired"),
    [
        ("random:1", 3 * COUNT, 3 * COUNT),
        ("random:1,stat,size=17-8K", COUNT, COUNT),
        ("random:1,communicator=pairs", 2 * COUNT, 2 * COUNT),
        ("random:1,function=MPI_Isend", COUNT, COUNT),
        ("random:1,phase=second half", 3 * COUNT // 2, 3 * COUNT // 2),
        ("counter:10", 3 * COUNT // 10, 3 * COUNT // 10),
        ("random:1,off", 3 * COUNT, 3 * COUNT),
        ("none", 0, 0),
    ],
)
def test_what_is_asked_for_is_sampled(spec: str, chosen: int, paired: int, sampled: Any) -> None:
    found = samples(sampled("run", spec))
    assert (found["spec"], found["messages"]["sent"]) == (spec, 3 * COUNT)
    assert (found["messages"]["chosen"], found["messages"]["paired"]) == (chosen, paired)
    assert sum(row["count"] for row in found["rows"]) == (0 if "off" in spec else paired)
    for row in found["rows"]:
        assert (row["source"], row["destination"]) == (0, 1)
        assert row["send_file"].endswith("sampled.c") and row["receive_file"].endswith("sampled.c")
        assert 0 < row["min_ns"] <= row["mean_ns"] <= row["max_ns"] < 10**11
        parts = row["unposted_ns"] + row["unwaited_ns"] + row["transfer_ns"]
        assert parts == pytest.approx(row["mean_ns"], rel=1e-6, abs=2)
        assert (row["histogram"] is None) == ("stat" in spec)
        if row["histogram"] is not None:
            assert sum(each["count"] for each in row["histogram"]) == row["count"]


@on_openmpi
def test_the_choice_is_repeated_with_its_seed(sampled: Any) -> None:
    def chosen(name: str, spec: str) -> list[tuple[int, int]]:
        rows = samples(sampled(name, spec), "--by", "send")["rows"]
        return sorted((row["send_line"], row["count"]) for row in rows)

    once = chosen("a", "random:0.3,seed=5")
    assert chosen("b", "random:0.3,seed=5") == once
    assert chosen("c", "random:0.3,seed=6") != once


@on_openmpi
def test_a_site_can_be_chosen(sampled: Any) -> None:
    rows = samples(sampled("all", "random:1"))["rows"]
    (one,) = [row for row in rows if row["bytes"] == 4096]
    name = Path(one["send_object"]).name
    found = samples(sampled("one", f"random:1,site={name}+{one['send_offset']}"))
    assert [row["bytes"] for row in found["rows"]] == [4096]
    assert found["messages"]["chosen"] == COUNT


@on_openmpi
def test_estimates_stand_for_all_messages(sampled: Any) -> None:
    found = samples(sampled("run", "random:0.5"), "--by", "destination")["rows"]
    (row,) = found
    assert row["estimate"] == pytest.approx(2 * row["count"])
    assert row["estimate_low"] <= row["estimate"] <= row["estimate_high"]
    # Four standard deviations of a binomial.
    assert abs(row["count"] - 1.5 * COUNT) < 4 * (3 * COUNT * 0.25) ** 0.5


ESTIMATES = (
    "estimate", "estimate_low", "estimate_high", "mean_low_ns", "mean_high_ns", "total_ns", "total_low_ns",
    "total_high_ns",
)  # fmt: skip


@on_openmpi
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("counter:30,0", None),
        ("counter:30,20", None),
        ("timer:100us,20us", None),
        ("counter:30,0", "random:0.5"),
        ("random:0.5", "counter:30,0"),
    ],
)
def test_no_number_is_estimated_without_a_probability(sampled: Any, first: str, then: str | None) -> None:
    """The program sends at three lines in turn, and a counter of 30 only finds one of them."""
    measured = sampled("run", f"{first},freq", *([then] if then else []))
    found = samples(measured, "--by", "destination")
    assert found["messages"]["paired"] > 0
    (row,) = found["rows"]
    assert row["count"] == found["messages"]["paired"]
    assert {name: row[name] for name in ESTIMATES} == dict.fromkeys(ESTIMATES)
    assert "counter or a timer" in row["not_estimated"]
    if (first, then) == ("counter:30,0", None):
        assert len({each["send_line"] for each in samples(measured, "--by", "send")["rows"]}) == 1
    command = [measured.tare, "samples", measured.directory, "--by", "destination"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "number of messages and ± not known" in shown and "confidence" not in shown


@on_openmpi
def test_histograms_are_a_table(sampled: Any) -> None:
    """The same bins as in the JSON of `tare samples`, which has lines in place of call paths."""
    measured = sampled("run", "random:1")
    expected: Counter[tuple[int, ...]] = Counter()
    for row in samples(measured)["rows"]:
        for each in row["histogram"]:
            expected[row["send_line"], row["bytes"], each["from_ns"], each["to_ns"]] += each["count"]
    table = pa.table(tare_package.open(measured.directory).sample_histograms).to_pylist()
    found: Counter[tuple[int, ...]] = Counter()
    for row in table:
        found[row["send_line"], row["bytes"], row["from_ns"], row["to_ns"]] += row["count"]
    assert found == expected
    assert found.total() == 3 * COUNT
    assert {(row["source"], row["destination"]) for row in table} == {(0, 1)}
    query = "SELECT sum(count) AS count, min(from_ns) AS least FROM sample_histograms"
    command = [measured.tare, "sql", measured.directory, "--json", query]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["rows"]
    assert shown == [{"count": 3 * COUNT, "least": min(low for _, _, low, _ in expected)}]
    without = sampled("stat", "random:1,stat")
    assert pa.table(tare_package.open(without.directory).sample_histograms).num_rows == 0


@on_openmpi
@pytest.mark.parametrize("spec", ["random:0.2", "random:0.2,seed=3", "counter:1,0"])
def test_intervals_hold_the_messages_of_each_line(sampled: Any, spec: str) -> None:
    rows = samples(sampled("run", spec), "--by", "send")["rows"]
    assert len(rows) == 3
    for row in rows:
        assert row["not_estimated"] is None
        assert row["estimate_low"] <= COUNT <= row["estimate_high"]
        if spec == "counter:1,0":
            assert (row["count"], row["estimate_low"], row["estimate_high"]) == (COUNT, COUNT, COUNT)


@on_openmpi
def test_the_program_changes_it(sampled: Any) -> None:
    changed = sampled("run", "none", "random:1,stat,size=16")
    assert changed.ended.stdout == "0\n"
    found = samples(changed)
    assert (found["messages"]["chosen"], found["messages"]["paired"]) == (COUNT, COUNT)
    refused = sampled("refused", "none", "random:2")
    assert refused.ended.stdout == "-1\n"
    assert "random is random:THRESHOLD" in refused.ended.stderr
    assert samples(refused)["messages"]["chosen"] == 0
    untraced = sampled("untraced", "none", "random:1,write")
    assert "write needs a trace" in untraced.ended.stderr


@on_openmpi
def test_a_file_changes_it(sampled: Any) -> None:
    """Rank 0 only sends, rank 1 only receives; each looks when a call that does so has returned."""
    found = samples(sampled("run", "none", "random:1,stat,size=16", "file"))
    assert (found["messages"]["chosen"], found["messages"]["paired"]) == (COUNT, COUNT)
    assert {(row["bytes"], row["histogram"]) for row in found["rows"]} == {(16, None)}
    refused = sampled("refused", "none", "random:2", "file")
    assert refused.ended.stderr.count("random is random:THRESHOLD") == 1  # of two ranks of the node
    assert samples(refused)["messages"]["chosen"] == 0


@on_openmpi
def test_samples_are_like_all_messages(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """The test of Kolmogorov and Smirnov, on latencies of all messages that the program itself measured."""
    program = compile_c(mpi, [PROGRAMS / "latencies.c"], tmp_path / "latencies", "-O2")
    argv: list[Path | str] = [program, "50000", str(tmp_path / "marks")]
    measured = measure(tare, mpi, 2, argv, tmp_path / "run", "--trace", "--sample", "random:0.01,write")
    assert measured.ended.returncode == 0, measured.ended.stderr
    marks = {}
    for line in (tmp_path / "marks").read_text().splitlines():
        tag, number, took = map(int, line.split())
        marks[tag, number] = took
    chosen, shorter = [], []
    for row in measured._read("events", "tare.events/1")["rows"]:
        if row.get("name") == "tare.message":
            _, _, tag, _, number, _, _, _, _, ended = row["parameters"]
            chosen.append(marks[tag, number])
            shorter.append(marks[tag, number] - ended)
    assert len(chosen) > 350
    everything = sorted(marks.values())
    distance = max(
        max(abs(bisect_right(everything, x) / len(everything) - rank / len(chosen)) for rank in (i, i + 1))
        for i, x in enumerate(sorted(chosen))
    )
    # At the level of 1 in 10,000.
    assert distance < 2.23 * (1 / len(chosen) + 1 / len(everything)) ** 0.5
    # The program reads its clock outside the calls.
    assert 0 <= median(shorter) < 2000
