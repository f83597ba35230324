"""Choosers and analyses of the user's for message sampling: of examples/, wrong, slow, or calling MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, MpiEnvironment, compile_c
from measured import Measurement, measure
from on_mpi import both_debian, on_openmpi
from snippets import snippets
from verbs import ask

COUNT = 1000  # messages of each length
SIZES = (16, 256, 2048)
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char buffer[2048];
int main(int argc, char** argv) {
  int rank, sizes[] = {16, 256, 2048};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3 * atoi(argv[1]); ++i)
    if (rank == 0) MPI_Send(buffer, sizes[i % 3], MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(buffer, sizes[i % 3], MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d is done\\n", rank);
  MPI_Finalize();
  return 3;
}
"""
SLOW = """
#include <mpi.h>
#include <time.h>
#include <tare/sampling.h>
static void* begin(const char* arguments) { return (void*)arguments; }
static int choose(void* chooser, const tare_message* message, double* probability) {
  struct timespec start, now;
  int found;
  MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); /* it must not */
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < 200000);
  return message->number % 10 == 0;
}
static void end(void* chooser) {}
const tare_message_chooser* tare_message_chooser_1(void) {
  static const tare_message_chooser chooser = {TARE_SAMPLING_VERSION, begin, choose, end};
  return &chooser;
}
"""
ODD = """
#include <tare/sampling.h>
static void* begin(const char* arguments) { return (void*)arguments; }
static void add(void* analysis, const tare_sampled_message* message) {}
static void write(void* analysis, tare_analysis_output* output, void* to) {
  output(to, "\\033[31m\\xff\\n", 7);
  for (int i = 0; i < 10000; ++i) output(to, "0123456789", 10);
}
static void end(void* analysis) {}
const tare_message_analysis* tare_message_analysis_1(void) {
  static const tare_message_analysis analysis = {TARE_SAMPLING_VERSION, begin, add, write, end};
  return &analysis;
}
"""


def built(source: Path, compiler: str = "cc") -> Path:
    """The shared object of a source, as a user makes it."""
    made = source.with_suffix(".so")
    command: list[Path | str] = [compiler, "-Wall", "-Werror", "-shared", "-fPIC", f"-I{ROOT}/include"]
    subprocess.run([*command, source, "-o", made], check=True)
    return made


def example(folder: Path, name: str) -> Path:
    copy = folder / f"{name}.c"
    copy.write_text((ROOT / "examples" / copy.name).read_text())
    return built(copy)


def written(folder: Path, name: str, text: str, *flags: str) -> Path:
    source = folder / f"{name}.c"
    source.write_text(text)
    return built(source, *flags)


@pytest.fixture
def sampled(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> Any:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    program = compile_c(mpi, [source], tmp_path / "program")

    def run(name: str, spec: str, count: int = COUNT) -> Measurement:
        return measure(tare, mpi, 2, [program, str(count)], tmp_path / name, "--sample", spec)

    return run


def samples(measured: Measurement, *options: str) -> dict[str, Any]:
    return measured._read("samples", "tare.samples/1", "--limit", "0", *options)


def test_the_page_shows_the_examples() -> None:
    shown = [each.text for each in snippets(ROOT / "docs" / "samples.md") if each.language == "c"]
    examples = [
        (ROOT / "examples" / f"{name}.c").read_text() for name in ("choose_by_size", "latency_by_size")
    ]
    assert [text in example for text, example in zip(shown, examples, strict=True)] == [True, True]


@both_debian
def test_estimates_hold_though_probabilities_differ(sampled: Any, tmp_path: Path) -> None:
    all_from = 1024
    chooser, analysis = (example(tmp_path, name) for name in ("choose_by_size", "latency_by_size"))
    measured = sampled("run", f"{chooser}:{all_from},analysis={analysis}:5")
    assert measured.ended.returncode != 0 and "rank 1 is done" in measured.ended.stdout
    found = samples(measured, "--by", "size")
    assert found["messages"]["sent"] == len(SIZES) * COUNT
    assert found["messages"]["chosen"] == found["messages"]["paired"]
    rows = {row["bytes"]: row for row in found["rows"]}
    assert set(rows) == set(SIZES)
    variance = 0.0
    for size, row in rows.items():
        probability = min(size / all_from, 1)
        assert row["estimate"] == pytest.approx(row["count"] / probability, rel=1e-6)
        of_size = COUNT * (1 - probability) / probability
        assert abs(row["estimate"] - COUNT) <= 5 * of_size**0.5
        assert row["estimate_low"] <= row["estimate"] <= row["estimate_high"]
        variance += of_size
    assert rows[2048]["estimate_low"] == rows[2048]["estimate_high"] == COUNT == rows[2048]["count"]
    (together,) = samples(measured, "--by", "source")["rows"]
    total = len(SIZES) * COUNT
    assert together["estimate"] == pytest.approx(sum(row["estimate"] for row in rows.values()))
    assert abs(together["estimate"] - total) <= 5 * variance**0.5
    half = (together["estimate_high"] - together["estimate_low"]) / 2
    assert half == pytest.approx(1.96 * variance**0.5, rel=0.25)
    # Of all messages, though nearly all samples are of the longest.
    mean = sum(row["estimate"] * row["mean_ns"] for row in rows.values()) / together["estimate"]
    assert together["mean_ns"] == pytest.approx(mean)
    # The analysis has seen the same samples.
    (result,) = found["analyses"]
    assert (result["world"], result["rank"]) == (0, 1)
    lines = [line.split(":") for line in result["text"].splitlines()]
    counted = {int(size): sum(map(int, counts.split())) for size, counts in lines}
    assert counted == {size: rows[size]["count"] for size in SIZES}
    for cost in (measured.info()["cost"], measured.info()["ranks"][1]["cost"]):
        assert cost["analysis_ns"] > 0


@both_debian
def test_wrong_code_gives_one_line_and_changes_nothing(sampled: Any, tmp_path: Path) -> None:
    analysis = example(tmp_path, "latency_by_size")
    plain = sampled("plain", "none", 5)
    wrong = sampled("wrong", f"{analysis}:5", 5)
    assert wrong.ended.returncode == plain.ended.returncode
    assert sorted(wrong.ended.stdout.splitlines()) == sorted(plain.ended.stdout.splitlines())
    lines = [line for line in wrong.ended.stderr.splitlines() if "--sample: " in line]
    assert lines == [
        f"tare: --sample: {analysis} does not export tare_message_chooser_1(); messages are not sampled"
    ]
    found = samples(wrong)
    assert (found["messages"]["sent"], found["rows"]) == (0, [])
    (limit,) = found["limits"]
    assert limit.startswith("2 ranks did not sample: the chooser or the analysis could not be used")
    assert not list((tmp_path / "wrong").glob(".sample*"))


@on_openmpi
def test_a_slow_chooser_stands_in_the_account(sampled: Any, tmp_path: Path) -> None:
    """And what it calls of MPI is not recorded."""
    chooser = written(tmp_path, "slow", SLOW, "mpicc")
    measured = sampled("run", str(chooser), 20)
    sender, receiver = measured.info()["ranks"]
    cost = sender["cost"]
    assert 60 * 200_000 <= cost["chooser_ns"] < sender["net_ns"]
    assert receiver["cost"]["chooser_ns"] == 0
    assert cost["wrapper_ns"] < cost["chooser_ns"] / 4
    spent = cost["chooser_ns"] + cost["wrapper_ns"] + cost["flush_ns"] + cost["reading_ns"]
    assert cost["net_share"] == pytest.approx(spent / sender["net_ns"], rel=1e-3)
    assert "MPI_Iprobe" not in measured.calls()
    found = samples(measured, "--by", "source")
    assert found["messages"]["chosen"] == 6
    (row,) = found["rows"]
    assert row["estimate"] is None and "chooser" in row["not_estimated"]


@on_openmpi
def test_a_result_is_bounded_and_shown_with_escapes(sampled: Any, tare: Path, tmp_path: Path) -> None:
    analysis = written(tmp_path, "odd", ODD)
    measured = sampled("run", f"random:1,analysis={analysis}", 5)
    results = samples(measured)["analyses"]
    assert [result["rank"] for result in results] == [0, 1]
    assert all(len(result["text"]) == 65536 + 3 for result in results)
    assert results[0]["text"].startswith("\033[31m\\xff\n0123456789")
    shown = ask(tare, "samples", tmp_path / "run", check=True).stdout
    assert "\033" not in shown
    assert "Analysis of rank 1\n  \\x1b[31m\\xff\n  0123456789" in shown


@on_openmpi
def test_a_file_that_is_not_there_is_refused(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    for spec in ("./none.so:3", "random:1,analysis=none.so"):
        done = subprocess.run(
            [tare, "run", "--sample", spec, "--", "true"], capture_output=True, text=True, cwd=tmp_path
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert f"there is no file {tmp_path}/none.so" in done.stderr
