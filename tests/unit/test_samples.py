"""`tare samples` on a run of the fake reader."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from fake_tare import Tare
from made import made
from tare._native import SampleRow, SampleSummary
from tare.analysis import samples as analysis
from tare.analysis.rows import changed
from tare.reporters import samples as reporter
from tare.reporters.console import Console


@pytest.fixture
def sampled(run_dir: Path) -> Path:
    (run_dir / "sampled").touch()
    return run_dir


def document(tare: Tare, run: Path, *options: str) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(tare("samples", run, "--json", *options).stdout)
    assert printed["schema"] == "tare.samples/1"
    return printed


def test_a_run_without_samples_says_how_to_get_them(tare: Tare, run_dir: Path) -> None:
    done = tare("samples", run_dir)
    assert (done.returncode, done.stdout) == (1, "")
    assert "tare run --sample" in done.stderr


def test_the_slowest_come_first(tare: Tare, sampled: Path) -> None:
    rows = document(tare, sampled)["rows"]
    assert [(row["source"], row["bytes"], row["mean_ns"]) for row in rows] == [
        (None, None, 9000.0),
        (0, 4096, 2000.0),
        (0, 8, 400.0),
    ]
    assert rows[1]["send_file"] == "/src/app.c" and rows[1]["receive_object"] == "/lib/libsolver.so.1"
    assert [row["bytes"] for row in document(tare, sampled, "--sort", "messages")["rows"]] == [4096, None, 8]
    assert len(document(tare, sampled, "--limit", "1", "--source", "0")["rows"]) == 1


def test_figures_of_a_class(tare: Tare, sampled: Path) -> None:
    row = document(tare, sampled, "--source", "0", "--sort", "messages")["rows"][0]
    assert (row["count"], row["unexpected"], row["min_ns"], row["max_ns"]) == (8, 4, 1800, 2200)
    # Chosen with a probability of 0.1.
    assert row["estimate"] == 80
    for number in (row["estimate_low"], row["estimate_high"]):
        assert abs(8 - 0.1 * number) == pytest.approx(1.96 * math.sqrt(number * 0.1 * 0.9), rel=1e-4)
    assert row["estimate_low"] < 80 < row["estimate_high"]
    deviation = math.sqrt(2 * 200**2 / 7)
    assert row["deviation_ns"] == pytest.approx(deviation)
    # 2.365: Student's t with 7 degrees of freedom. A tenth of the messages is known.
    margin = 2.365 * deviation / math.sqrt(8) * math.sqrt(0.9)
    assert row["mean_high_ns"] - 2000 == pytest.approx(margin, rel=5e-3)
    assert row["total_ns"] == 80 * 2000
    assert 8 * 2000 < row["total_low_ns"] < row["total_ns"] < row["total_high_ns"]
    assert (row["unposted_ns"], row["transfer_ns"], row["late_sender_ns"]) == (500, 1500, 50)
    assert row["histogram"] == [{"from_ns": 1024, "to_ns": 2048, "count": 8}]


def test_classes_add_up(tare: Tare, sampled: Path) -> None:
    (row,) = document(tare, sampled, "--by", "receive,destination", "--source", "0")["rows"]
    assert row["count"] == 10
    assert row["mean_ns"] == pytest.approx((8 * 2000 + 2 * 400) / 10)
    assert [each["count"] for each in row["histogram"]] == [1, 1, 8]


def test_many_lengths_are_summed_by_powers_of_two() -> None:
    lengths = [0, 1, 2, 3, *range(1000, 1040)]
    classes = [fake_native.sample(0, (0, 2), length, 1, 500, {}) for length in lengths]
    rows = analysis.summed(classes, fake_native.SITES, ["size"], exact=False)
    found = sorted((row.bytes_from, row.bytes_to, row.bytes, row.count) for row in rows)
    assert found == [
        (0, 0, 0, 1),
        (1, 1, 1, 1),
        (2, 3, None, 2),
        (1000, 1023, None, 24),
        (1024, 1039, None, 16),
    ]
    assert len(analysis.summed(classes, fake_native.SITES, ["size"])) == len(lengths)
    few = classes[: analysis.MOST_LENGTHS]
    assert len(analysis.summed(few, fake_native.SITES, ["size"], exact=False)) == len(few)


def chosen_with(probability: float, latencies: list[int], size: int) -> Any:
    """A class of samples of one probability."""
    count = len(latencies)
    return changed(
        fake_native.sample(0, (0, 2), size, count, latencies[0], {}),
        weight=count / probability, weight_squared=count / probability**2,
        latency_ns=sum(latencies), squared_ns2=float(sum(latency**2 for latency in latencies)),
        unposted_ns=0, unwaited_ns=0, transfer_ns=sum(latencies),
    )  # fmt: skip


def test_equal_latencies_do_not_tell_the_error_of_their_mean() -> None:
    """Two readings of a coarse clock say nothing about the other messages."""
    (row,) = analysis.summed([chosen_with(0.1, [5030, 5030], 8)], fake_native.SITES, ["source"])
    assert row.mean_ns == 5030 and row.mean_low_ns is None and row.mean_high_ns is None
    (row,) = analysis.summed([chosen_with(1.0, [5030, 5030], 8)], fake_native.SITES, ["source"])
    assert row.mean_low_ns == row.mean_high_ns == 5030, "these are all"


@pytest.mark.parametrize(
    ("latency_of", "few", "many"),
    [
        (lambda draw: draw.gauss(20e3, 2e3), 95, 95),
        (lambda draw: 300e3 if draw.random() < 0.1 else 5e3, 94, 95),
        (lambda draw: min(2e3 / draw.random() ** (1 / 1.3), 3e6), 64, 78),
    ],
    ids=["normal", "two usual ones", "heavy tail"],
)
def test_how_often_intervals_hold(latency_of: Callable[[random.Random], float], few: int, many: int) -> None:
    """The shares are those of docs/samples.md: of 667 messages, chosen with a probability of 0.05 or 0.3."""
    draw = random.Random(7)
    for probability, expected in ((0.05, few), (0.3, many)):
        held = []
        for _ in range(1000):
            latencies = [round(latency_of(draw)) for _ in range(667)]
            chosen = [each for each in latencies if draw.random() < probability]
            (row,) = analysis.summed([chosen_with(probability, chosen, 8)], fake_native.SITES, ["source"])
            if row.mean_low_ns is not None and row.mean_high_ns is not None:  # else all are equal
                held.append(row.mean_low_ns <= sum(latencies) / len(latencies) <= row.mean_high_ns)
        assert 100 * sum(held) / len(held) == pytest.approx(expected, abs=1.5)


def test_messages_that_have_no_pair_are_told_even_if_all_were_to_be_sampled() -> None:
    (row,) = analysis.summed([chosen_with(1.0, [10, 20], 8)], fake_native.SITES, ["source"])
    for missed in (0, 7):
        lines: list[str] = []
        out: Any = SimpleNamespace(line=lambda: None, paragraph=lines.append)
        reporter._show_legend(out, [row], missed)
        assert any("have no pair" in line for line in lines) == (missed > 0)


def test_classes_count_by_the_messages_that_they_represent() -> None:
    """A chooser has taken each long message, and one in ten of the short ones."""
    short, long = [90, 110, 130, 70], [1000, 1200]
    classes = [chosen_with(0.1, short, 8), chosen_with(1.0, long, 4096)]
    (row,) = analysis.summed(classes, fake_native.SITES, ["source"])
    messages = 4 / 0.1 + 2
    mean = (40 * 100 + 2 * 1100) / messages
    assert row.estimate == pytest.approx(messages)
    assert row.mean_ns == pytest.approx(mean) == pytest.approx(row.transfer_ns)
    assert row.total_ns == pytest.approx(40 * 100 + 2 * 1100)
    # The long ones add nothing to what is uncertain: each short one adds (1 - p) / p² = 90.
    variance = sum(90 * (latency - mean) ** 2 for latency in short) * 6 / 5
    alike = messages**2 / (4 * 100 + 2)
    assert round(alike) == 4
    student = 3.182  # three degrees of freedom
    assert row.mean_high_ns == pytest.approx(mean + student * math.sqrt(variance) / messages, rel=1e-3)
    half = (row.estimate_high or 0) - messages
    of_total = math.sqrt(sum(latency**2 for latency in short) / 4)
    assert row.total_high_ns == pytest.approx((row.total_ns or 0) + half * of_total)


def test_the_result_of_an_analysis_is_bounded_text(tare: Tare, sampled: Path) -> None:
    (sampled / "analysed").touch()
    (result,) = document(tare, sampled)["analyses"]
    assert result == {"world": 0, "rank": 1, "text": "\x1b[31m\\xff" + "\nline" * 30 + "\n"}
    shown = tare("samples", sampled).stdout
    assert "Analysis of rank 1\n  \\x1b[31m\\xff\n  line\n" in shown
    assert shown.count("  line\n") == 19 and "… 11 more lines; --limit 0 shows all" in shown
    assert tare("samples", sampled, "--limit", "0").stdout.count("  line\n") == 30


def test_csv_agrees_with_json(tare: Tare, sampled: Path) -> None:
    table = list(csv.DictReader(io.StringIO(tare("samples", sampled, "--csv").stdout)))
    rows = document(tare, sampled)["rows"]
    for row in rows:
        del row["histogram"]
    assert table == [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]


def test_the_histogram_is_of_all_rows_whatever_the_table_has(tare: Tare, sampled: Path) -> None:
    whole, first = (
        tare("samples", sampled, "--sort", "messages", "--limit", limit).stdout for limit in ("0", "1")
    )
    title = "Latencies of these samples"
    assert "… 2 more rows" in first
    assert whole.partition(title)[2] == first.partition(title)[2] != ""


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("by", ["source,destination,send,receive,size", "send,receive", "size"])
def test_the_table_fits_the_terminal(tare: Tare, sampled: Path, by: str, columns: int) -> None:
    shown = tare("samples", sampled, "--by", by, COLUMNS=str(columns)).stdout
    assert max(map(len, shown.splitlines())) <= columns
    assert "280 messages sent, 30 chosen, 14 seen on both sides" in shown
    assert "2 sent while other calls, or the same one, sent on their channel" in shown
    # What there is no column for is said below the row.
    for words in ("42 .. 153", "50.0 % !", "500 ns", "128 ns    █   8.19 µs", "waited for the receiver"):
        assert words in shown
    assert "4 of classes that the table had no room for" in shown
    assert "1.02 µs - 2.05 µs" in shown


def test_a_counter_gives_no_estimates(tare: Tare, sampled: Path) -> None:
    (sampled / "sampled_by_counter").touch()
    assert [row["count"] for row in document(tare, sampled, "--sort", "messages")["rows"]] == [8, 4, 2]
    for row in document(tare, sampled, "--sort", "total")["rows"]:
        assert row["not_estimated"] == analysis.NO_PROBABILITY
        assert (row["estimate"], row["estimate_high"], row["mean_low_ns"], row["total_ns"]) == (None,) * 4
    table = csv.DictReader(io.StringIO(tare("samples", sampled, "--csv").stdout))
    assert {(row["estimate"], row["estimate_low"], row["total_high_ns"]) for row in table} == {("", "", "")}
    shown = " ".join(tare("samples", sampled).stdout.split())
    assert "number of messages and ± not known: the messages were chosen by a counter" in shown
    assert "confidence" not in shown and ".." not in shown


def test_wrong_keys_are_refused(tare: Tare, sampled: Path) -> None:
    done = tare("samples", sampled, "--by", "tag")
    assert done.returncode == 2
    assert "source, destination, send, receive, size" in done.stderr


def between(source: int, destination: int, uncertainty_ns: int) -> Any:
    """What the clocks mean for a class."""
    return made(SampleRow, source=source, destination=destination, uncertainty_ns=uncertainty_ns,
        between_nodes=source % 2 != destination % 2,
    )  # fmt: skip


def clock(rank: int, start: int, end: int, drift: int, span: int) -> Any:
    """The clock in the summary of a rank of two nodes, those of the ranks 0, 2 and 1, 3."""
    return made(SampleSummary,
        rank=rank, clock_rank=rank % 2, clock_uncertainty_ns=start, clock_end_uncertainty_ns=end,
        clock_drift_ns=drift, clock_span_ns=span,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "drift", "span", "uncertainty"),
    [
        (0, 0, 0, 5000),  # not compared at the end
        (600, -200, 10**9, 1000),  # never further than at the start
        (600, 1900, 10**9, 2500),
        (600, 4900, 10**9, 5000),  # no more than clocks drift
        (600, 90_000, 10**9, 90_600),  # but this one did: 90 in a million
    ],
)
def test_the_comparison_of_clocks_at_the_end_bounds_the_uncertainty(
    end: int, drift: int, span: int, uncertainty: int
) -> None:
    summaries = [clock(0, 0, 0, 0, span), clock(1, 1000, end, drift, span), clock(2, 0, 0, 0, 0)]
    summaries.append(clock(3, 1000, 0, 0, 0))
    classes = [between(0, 1, 5000), between(3, 2, 5000), between(0, 2, 0), between(-1, 1, 7)]
    after = [row.uncertainty_ns for row in analysis.with_both_comparisons(classes, summaries)]
    assert after == [uncertainty, uncertainty, 0, 7]


def test_every_field_is_described(tare: Tare, sampled: Path) -> None:
    """docs/json.md names all that a document holds, and says nothing of what it does not."""
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    section = page.split("## `tare.samples/1`")[1].split("\n## ")[0]
    described = {
        name
        for line in section.splitlines()
        if line.startswith("| ")
        for cell in line.split(" | ")[:2]
        for name in re.findall(r"`(\w+)`", cell)
    }
    found = document(tare, sampled)
    clock = analysis.comparisons([
        changed(fake_native.SAMPLE_SUMMARIES[0], clock_uncertainty_ns=5)
    ])  # fmt: skip
    fields = {
        *found,
        *found["messages"],
        *asdict(clock[0]),
        *(field for row in found["rows"] for field in row),
    }
    assert described == fields - {"schema", "run"}


def joined(*said: str) -> Any:
    return made(SampleSummary, spec="random:0.1", joining=["begun", *said])


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([made(SampleSummary, spec="random:0.1")] * 2, []),  # of an older version
        ([SampleSummary()], ["1 rank did not sample: it did not come out of the first call of MPI"]),
        ([SampleSummary()] * 2, ["2 ranks did not sample: they did not come out of the first call of MPI"]),
        ([joined("object_refused")], ["1 rank did not sample: the chooser or the analysis could not"]),
        ([joined("met")] * 2, []),
        ([joined("met", "several_nodes", "path_agreed")] * 2, []),
        ([joined("met", "met_late"), joined("met")], ["1 rank began late"]),
        ([joined(), joined()], ["2 ranks did not sample: not all ranks"]),
        ([joined("no_memory"), joined("met")], ["1 rank did not sample: no room"]),
        (
            [joined("met", "several_nodes"), joined("met", "several_nodes", "clocks_unknown")],
            ["messages between nodes were not sampled: the clocks"],
        ),
        (
            [joined("met", "several_nodes", "some_take_no_part")],
            ["messages between nodes were not sampled: some ranks are not measured"],
        ),
        (
            [joined("met", "several_nodes")],
            ["messages between nodes were not sampled: not all ranks have agreed"],
        ),
    ],
)
def test_what_kept_ranks_apart_is_said(ranks: list[Any], expected: list[str]) -> None:
    said = analysis.limits(ranks)
    assert len(said) == len(expected)
    assert all(found.startswith(start) for found, start in zip(said, expected, strict=True))


@pytest.mark.parametrize("summary", [SampleSummary(), joined("object_refused")])
def test_messages_that_no_rank_has_counted_have_no_number(summary: SampleSummary) -> None:
    out = io.StringIO()
    options = SimpleNamespace(sample="/home/a/mine.so")
    run: Any = SimpleNamespace(
        sample_summaries=[summary], sample_rows=[], worlds=1, meta=SimpleNamespace(options=options)
    )
    reporter.show(Console(out, 100), run, [], [], analysis.totals([summary]), 20, by_powers=False)
    text = out.getvalue()
    assert text.startswith(f"Sampled by {summary.spec or '/home/a/mine.so'}\n  1 rank did not sample")
    assert "sent" not in text
