"""Constructs of OpenMP (--with openmp) in three runtimes, in programs whose times are known by construction
(programs/openmp.c): how many, how long, in which region; and that programs run as they do alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import otf2
import otf2_trace
import pytest
import tare as api
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, left_in_memory, measure
from on_mpi import both_families
from tare import units
from tare.analysis import stacks
from tare.page import content
from tare.runs.run import open_run
from verbs import ask

MS = 1_000_000
SOURCE = PROGRAMS / "openmp.c"
INTEL = Path(sys.prefix) / "lib" / "libiomp5.so"
LLVM = Path("/usr/lib/llvm-14/lib/libomp.so")


@dataclass(frozen=True)
class Runtime:
    """A runtime of OpenMP and a compiler for it."""

    name: str
    compiler: tuple[str, ...]

    def compile(self, source: Path, out: Path, *options: str) -> Path:
        subprocess.run([*self.compiler, *options, source, "-o", out], check=True)
        return out


GNU = Runtime("gnu", ("gcc", "-g", "-O2", "-fopenmp"))
OMPT = Runtime("llvm", ("clang-14", "-g", "-O2", "-fno-optimize-sibling-calls", "-fopenmp"))
RUNTIMES = [
    GNU,
    OMPT,
    Runtime(
        "intel",
        (
            "clang-14",
            "-g",
            "-O2",
            "-fno-optimize-sibling-calls",
            "-fopenmp=libiomp5",
            f"-L{INTEL.parent}",
            f"-Wl,-rpath,{INTEL.parent}",
        ),
    ),
]


@pytest.fixture(scope="module", params=RUNTIMES, ids=lambda runtime: runtime.name)
def runtime(request: pytest.FixtureRequest) -> Runtime:
    chosen: Runtime = request.param
    return chosen


@pytest.fixture(scope="module")
def program(runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runtime.compile(SOURCE, tmp_path_factory.mktemp(runtime.name) / "openmp")


def alone(
    tare: Path, directory: Path, *argv: Path | str, options: tuple[str, ...] = (), **variables: str
) -> Measurement:
    """Runs a program without MPI."""
    command = [tare, "run", "--quiet", "--with", "openmp", *options, "-o", directory, "--", *argv]
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | variables,
    )  # fmt: skip
    return Measurement(tare, directory, ended)


def line_of(mark: str, source: Path = SOURCE) -> int:
    """The line that is marked so in the program."""
    return next(
        number for number, text in enumerate(source.read_text().splitlines(), 1) if f"// LINE {mark}" in text
    )


def output(measured: Measurement, *words: str) -> dict[str, Any]:
    done = ask(measured.tare, "profile", measured.directory, "--json", *words, check=True)  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def regions(measured: Measurement, *more: str) -> dict[Any, dict[str, Any]]:
    """The regions by line; with `more` keys by line and these."""
    rows = output(measured, "--by", ",".join(("region", *more)))["rows"]
    found = {(row["line"], *(row[key] for key in more)) if more else row["line"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def calls_of(measured: Measurement) -> Counter[str]:
    rows = [row for row in measured.profile("function") if row["function"].startswith("omp_")]
    return Counter({row["function"]: row["calls"] for row in rows})


def lines_of(measured: Measurement, *functions: str) -> Counter[int]:
    """Calls of the functions, by the lines from which they were called."""
    lines: Counter[int] = Counter()
    for row in measured.profile("site"):
        if row["function"] in functions:
            lines[row["line"]] += row["calls"]
    return lines


def time_of(measured: Measurement, function: str) -> int:
    return sum(row["time_ns"] for row in measured.profile("function") if row["function"] == function)


def ended_well(measured: Measurement, code: int = 0) -> None:
    assert (measured.ended.returncode, measured.ended.stderr) == (code, "")
    assert left_in_memory(measured.directory) == []


def worked_of(measured: Measurement) -> list[int]:
    """What the program itself says of its two threads, in ns; at least what it was made for."""
    return [int(word) for word in measured.ended.stdout.split()]


def near(ns: float, expected_ns: float) -> bool:
    """A thread may lose its processor between two readings of the clock, of the program and of tare."""
    return abs(ns - expected_ns) <= 3 * MS + 0.05 * expected_ns


@pytest.mark.flaky(reruns=3)
def test_an_imbalance(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "uneven")
    ended_well(measured)
    (region,) = regions(measured).values()
    assert (region["caller"].partition(".")[0], region["line"]) == ("uneven", line_of("uneven"))
    assert (region["calls"], region["threads"]) == (5, 2)
    worked = worked_of(measured)
    assert worked[0] >= 60 * MS and worked[1] >= 20 * MS
    assert region["time_ns"] >= worked[0]
    assert near(region["work_max_ns"], worked[0])
    assert near(2 * region["work_mean_ns"], sum(worked))
    assert region["work_max_thread"] == 0
    assert region["idle_share"] == pytest.approx(1 - sum(worked) / (2 * region["time_ns"]), abs=0.05)
    assert region["team_ns"] == pytest.approx(2 * region["time_ns"], rel=0.001)
    assert region["work_ns"] + region["idle_ns"] == region["team_ns"]
    by_thread = regions(measured, "thread")
    line = line_of("uneven")
    assert near(by_thread[line, 0]["work_ns"], worked[0])
    assert near(by_thread[line, 1]["work_ns"], worked[1])
    assert by_thread[line, 1]["idle_share"] == pytest.approx(1 - worked[1] / region["time_ns"], abs=0.05)
    assert by_thread[line, 0]["idle_share"] < by_thread[line, 1]["idle_share"]
    assert calls_of(measured) == {"omp_parallel": 5, "omp_implicit_task": 10}
    (efficiency,) = output(measured)["openmp"]
    on_page = content.of_run(open_run(measured.directory))["openmp"]
    (shown,) = on_page["regions"]
    for figure in ("calls", "time_ns", "threads", "work_mean_ns", "work_max_ns", "idle_ns", "idle_share"):
        assert shown[figure] == region[figure], figure
    assert on_page["efficiencies"][0][1].startswith(units.percent(efficiency["openmp_parallel_efficiency"]))
    (process,) = measured.info()["ranks"]
    net = process["net_ns"]
    # By hand: thread 0 computes all the time, thread 1 as long as it works.
    other = by_thread[line, 1]["work_ns"]
    most = net - region["time_ns"] + by_thread[line, 0]["work_ns"]
    assert efficiency["threads"] == 2
    assert efficiency["openmp_parallel_efficiency"] == pytest.approx((most + other) / 2 / net, rel=1e-3)
    assert efficiency["openmp_load_balance"] == pytest.approx((most + other) / 2 / most, rel=1e-3)
    assert efficiency["openmp_communication_efficiency"] == pytest.approx(most / net, rel=1e-3)


@pytest.mark.flaky(reruns=3)
def test_waiting_in_barriers(program: Path, runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "barriers", options=("--trace",))
    ended_well(measured)
    assert calls_of(measured) == {"omp_parallel": 1, "omp_implicit_task": 2, "omp_barrier": 4}
    (region,) = regions(measured).values()
    assert near(region["work_ns"], sum(worked_of(measured)))
    # Both threads work 20 ms, and wait for the other one in the rest.
    assert near(time_of(measured, "omp_implicit_task"), region["work_ns"] + time_of(measured, "omp_barrier"))
    events = [row for row in measured.all_events() if row["function"].startswith("omp_")]
    assert Counter(row["function"] for row in events) == calls_of(measured)
    (parallel,) = (row for row in events if row["function"] == "omp_parallel")
    assert parallel["arguments"]["threads"] == 2
    parts = {row["thread"]: row for row in events if row["function"] == "omp_implicit_task"}
    assert {**parts[0]["arguments"], "object": 0} == {"number": 0, "threads": 2, "object": 0}
    assert {**parts[1]["arguments"], "object": 0} == {"number": 1, "threads": 2, "object": 0}
    for row in events:
        assert parallel["start_ns"] <= row["start_ns"]
        assert row["start_ns"] + row["duration_ns"] <= parallel["start_ns"] + parallel["duration_ns"]


def test_who_spins_in_a_barrier_is_in_its_call(runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    """Not in the program as well: times of functions and calls add up."""
    source = PROGRAMS / "spinning_barrier.c"
    program = runtime.compile(source, tmp_path / "program")
    measured = alone(
        tare, tmp_path / "run", program, options=("--with", "stacks"), OMP_WAIT_POLICY="active",
        KMP_BLOCKTIME="infinite",
    )  # fmt: skip
    ended_well(measured)
    opened = api.open(measured.directory)
    samples = opened.rows(opened.stack_samples)
    in_calls = sum(row.time_ns for row in samples if row.activity == "call")
    assert in_calls == sum(row.time_ns for row in samples if row.line == line_of("spins", source))
    waited = time_of(measured, "omp_barrier")
    assert waited >= 250 * MS
    assert in_calls <= waited + 50 * MS, "it may yield to others that want its processor"
    functions = {row["function"]: row["time_ns"] for row in output(measured, "--by", "function")["functions"]}
    assert functions.get(stacks.IN_OPENMP, 0) <= 50 * MS, "at the end of the region"


@pytest.mark.flaky(reruns=3)
def test_waiting_for_mutexes(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "mutexes")
    ended_well(measured)
    assert calls_of(measured) == {
        "omp_parallel": 4, "omp_implicit_task": 8, "omp_critical": 4, "omp_lock": 6,
    }  # fmt: skip
    found = regions(measured)
    assert lines_of(measured, "omp_lock") == {line_of(mark): 2 for mark in ("sets", "takes", "again")}
    work_ns = [found[line_of(mark)]["work_ns"] for mark in ("critical", "named", "lock", "nest")]
    assert all(each >= 20 * MS for each in work_ns)
    assert near(sum(work_ns), sum(worked_of(measured)))
    waited_ns = time_of(measured, "omp_critical") + time_of(measured, "omp_lock")
    assert near(time_of(measured, "omp_implicit_task"), sum(work_ns) + waited_ns)


@pytest.mark.flaky(reruns=3)
def test_otf2_has_threads_and_teams(program: Path, runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    """What libotf2's own reader and the package of PyPI make of regions, their threads and constructs."""
    measured = alone(tare, tmp_path / "run", program, "mutexes", options=("--trace",))
    archive = tmp_path / "out.otf2"
    subprocess.run(
        [tare, "export", measured.directory, "--to", "otf2", "-o", archive], check=True, timeout=60
    )
    regions = Counter(row["function"] for row in measured.all_events())
    trace = otf2_trace.read(archive)
    assert trace.records["ThreadFork"] == trace.records["ThreadJoin"] == regions["omp_parallel"] > 0
    assert trace.records["ThreadTeamBegin"] == trace.records["ThreadTeamEnd"] == regions["omp_implicit_task"]
    with otf2.reader.open(str(archive / "traces.otf2")) as opened:
        roles = {
            region.name: (str(region.region_role), str(region.paradigm))
            for region in opened.definitions.regions
        }
        teams = {comm.name: len(comm.group.members) for comm in opened.definitions.comms}
    assert roles["omp_parallel"] == ("RegionRole.PARALLEL", "Paradigm.OPENMP")
    assert roles["omp_critical"] == ("RegionRole.CRITICAL", "Paradigm.OPENMP")
    assert teams == {"team of 2 threads": 2}
    printed = subprocess.run(
        ["otf2-print", archive / "traces.otf2"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "THREAD_FORK" in printed.stdout
    assert "ERROR" not in printed.stderr


def test_tasks_are_work_also_where_a_thread_waits(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "tasks")
    ended_well(measured)
    calls = calls_of(measured)
    assert calls["omp_task"] + calls["omp_undeferred_task"] == 6
    assert calls["omp_taskwait"] == 1
    (region,) = regions(measured).values()
    assert near(region["work_ns"], sum(worked_of(measured)))
    assert region["work_ns"] >= 60 * MS
    assert region["time_ns"] <= 1.05 * region["team_ns"] / 2


def test_groups_of_tasks(program: Path, runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    """The program itself checks the data of its tasks."""
    measured = alone(tare, tmp_path / "run", program, "groups")
    ended_well(measured)
    calls = calls_of(measured)
    assert calls["omp_task"] + calls["omp_undeferred_task"] == 4 + 1 + 4
    assert calls["omp_undeferred_task"] >= 1
    assert calls["omp_taskgroup"] == 2
    shared = lines_of(measured, "omp_taskloop", "omp_task", "omp_undeferred_task")[line_of("shared")]
    assert shared == 4 + calls["omp_taskloop"]
    found = regions(measured)
    assert near(found[line_of("groups")]["work_ns"], sum(worked_of(measured)))


@pytest.mark.parametrize("numbers", [130, 20_000])
def test_tasks_may_have_much_data(numbers: int, tare: Path, tmp_path: Path) -> None:
    program = GNU.compile(SOURCE, tmp_path / "openmp", f"-DLARGE={numbers}")
    measured = alone(tare, tmp_path / "run", program, "groups")
    ended_well(measured)
    calls = calls_of(measured)
    assert calls["omp_task"] + calls["omp_undeferred_task"] == 4 + 1 + 4
    assert near(regions(measured)[line_of("groups")]["work_ns"], sum(worked_of(measured)))


def test_work_sharing(program: Path, runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "loops", options=("--trace",))
    ended_well(measured)
    calls = calls_of(measured)
    assert calls["omp_parallel"] == 2
    assert calls["omp_for"] == 2 * 4
    assert calls["omp_sections"] == 2
    assert calls["omp_implicit_barrier"] >= 2 * 3
    counts = Counter(
        row["arguments"]["iterations"] for row in measured.all_events() if row["function"] == "omp_for"
    )
    assert counts == {8: 6, 4: 2}
    sections = [row for row in measured.all_events() if row["function"] == "omp_sections"]
    assert {row["arguments"]["sections"] for row in sections} == {2}


def test_nested_regions(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "nested")
    ended_well(measured)
    assert calls_of(measured) == {"omp_parallel": 3 + 6, "omp_implicit_task": 6 + 12}
    found = regions(measured)
    outer, inner = found[line_of("outer")], found[line_of("inner")]
    assert (outer["calls"], inner["calls"]) == (3, 6)
    # The inner regions are a part of the outer ones, which work 5 ms in each thread beside them.
    assert inner["work_ns"] >= 6 * (10 + 5) * MS
    assert near(outer["work_ns"] - inner["time_ns"] + inner["work_ns"], sum(worked_of(measured)))


def test_exceptions_in_regions(runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    compiler = {"gcc": "g++", "clang-14": "clang++-14"}[runtime.compiler[0]]
    program = tmp_path / "exceptions"
    source = PROGRAMS / "region_exceptions.cpp"
    subprocess.run([compiler, *runtime.compiler[1:], source, "-o", program], check=True)
    measured = alone(tare, tmp_path / "run", program, options=("--trace",))
    assert (measured.ended.returncode, measured.ended.stdout, measured.ended.stderr) == (0, "100\n", "")
    calls = {row["function"]: row["calls"] for row in measured.profile("function")}
    assert (calls["omp_parallel"], calls["omp_implicit_task"]) == (100, 200)


OUTLINED = """
#include <ctime>
static int counted;
namespace heat {
struct Field {
  double value = 0;
  void smooth();
  void scatter();
};
}
static double processor_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}
void heat::Field::smooth() {
#pragma omp parallel
  for (double own = 0, until = processor_ms() + 200; processor_ms() < until;)
    for (int i = 0; i < 100000; ++i) *static_cast<volatile double*>(&own) = own + i;
}
void heat::Field::scatter() {
#pragma omp parallel
#pragma omp single
#pragma omp task
  for (double own = 0, until = processor_ms() + 200; processor_ms() < until;)
    for (int i = 0; i < 100000; ++i) *static_cast<volatile double*>(&own) = own - i;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)  // compilers make functions of their own for it, at this line
  for (int i = 0; i < 100; ++i) sum += i;
#pragma omp parallel
#pragma omp critical
  ++counted;
}
int main() {
  heat::Field field;
  field.smooth();
  field.scatter();
}
"""


def test_code_of_regions_and_tasks_is_that_of_the_function_around_them(
    runtime: Runtime, tare: Path, tmp_path: Path
) -> None:
    compiler = {"gcc": "g++", "clang-14": "clang++-14"}[runtime.compiler[0]]
    program, source = tmp_path / "outlined", tmp_path / "outlined.cpp"
    source.write_text(OUTLINED)
    subprocess.run([compiler, *runtime.compiler[1:], source, "-o", program], check=True)
    options = ("--with", "stacks,openmp", "--stack-rate", "1000")
    measured = alone(tare, tmp_path / "run", program, options=options)
    functions = output(measured, "--by", "function")["functions"]
    sampled_ms = {each["function"]: each["time_ns"] / MS for each in functions if each["source"] == "program"}
    assert not [name for name in sampled_ms if "omp_fn" in name or ".omp" in name or "omp_task" in name]
    for function in ("heat::Field::smooth()", "heat::Field::scatter()"):
        assert sampled_ms[function] > 100
    regions = output(measured, "--by", "region")["rows"]
    assert {row["caller"].partition(" (inlined")[0] for row in regions} == {
        "heat::Field::smooth()",
        "heat::Field::scatter()",
    }


def test_constructs_that_are_only_counted_are_as_many(runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    """The first thread only counts in some spells, while others record their parts of its regions."""
    program = runtime.compile(PROGRAMS / "openmp_spells.c", tmp_path / "program")
    whole = alone(tare, tmp_path / "whole", program, "40")
    some = alone(tare, tmp_path / "some", program, "40", options=("--weigh=0.5",))
    found = [calls_of(each) for each in (whole, some)]
    for calls in found:
        calls["omp_task"] += calls.pop("omp_undeferred_task", 0)  # it depends on who runs them
    assert found[0] == found[1]
    rows = [row for row in some.profile("site") if row["function"] == "omp_implicit_task"]
    assert any(row["counted"] for row in rows)
    timed = [row for row in rows if row["timed"]]
    assert all(row["line"] for row in timed)
    # Those of the other threads, of the regions that were only counted, too.
    assert sum(row["calls"] for row in timed) >= 40 * 5
    # But what is said of a region is of the same regions for all of its threads.
    first = min(line for line, _ in regions(some, "thread"))
    of_threads = [row["calls"] for (line, _), row in regions(some, "thread").items() if line == first]
    assert len(of_threads) == 2
    assert len(set(of_threads)) == 1
    assert 0 < of_threads[0] == regions(some)[first]["calls"] < 40


RECURSION = """
#include <unistd.h>
static int fibonacci(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a) if (n > 10)
  a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 10)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  int found = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  found = fibonacci(18);
#pragma omp parallel num_threads(2)
  usleep(100000);
  return found != 2584;
}
"""


def test_regions_are_known_though_tasks_have_more_call_paths_than_there_is_room_for(
    tare: Path, tmp_path: Path
) -> None:
    (tmp_path / "program.c").write_text(RECURSION)
    program = GNU.compile(tmp_path / "program.c", tmp_path / "program", "-O0")
    measured = alone(tare, tmp_path / "run", program, options=("--with=stacks",))
    said = ask(tare, "profile", measured.directory, check=True)
    assert "was full" in said.stderr
    found = regions(measured)
    assert [(found[line]["calls"], found[line]["threads"]) for line in sorted(found)] == [(1, 2), (1, 2)]


TEAMS = """
#include <unistd.h>
int main(void) {
  for (int n = 1; n <= 4; n += 3) {
#pragma omp parallel num_threads(n)
    usleep(n == 1 ? 900000 : 100000);
  }
  return 0;
}
"""


def test_teams_of_several_sizes_idle_as_long_as_each_does(
    runtime: Runtime, tare: Path, tmp_path: Path
) -> None:
    (tmp_path / "program.c").write_text(TEAMS)
    program = runtime.compile(tmp_path / "program.c", tmp_path / "program")
    [found] = regions(alone(tare, tmp_path / "run", program)).values()
    assert (found["calls"], found["threads"]) == (2, 4)
    of_single = 900 * MS
    # The team of four takes the rest of the time.
    assert found["team_ns"] == pytest.approx(of_single + 4 * (found["time_ns"] - of_single), rel=0.05)


def test_regions_that_are_left(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "jumps", program, "jumps")
    ended_well(measured)
    assert calls_of(measured) == {"omp_parallel": 3, "omp_implicit_task": 6, "omp_critical": 6}
    measured = alone(tare, tmp_path / "cancels", program, "cancels", OMP_CANCELLATION="true")
    ended_well(measured)
    assert calls_of(measured)["omp_parallel"] == 1 + 5
    assert regions(measured)[line_of("uneven")]["calls"] == 5


def test_forks(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "forks")
    ended_well(measured, 3)
    assert sorted(row["exit_code"] for row in measured.info()["ranks"]) == [3, 3]
    assert calls_of(measured) == {"omp_parallel": 10, "omp_implicit_task": 20}
    assert regions(measured)[line_of("uneven")]["calls"] == 10


def test_a_fork_in_a_region(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "forks inside")
    assert measured.ended.returncode == 4  # Intel's runtime warns of forks in regions
    assert left_in_memory(measured.directory) == []
    assert calls_of(measured)["omp_implicit_task"] == 2


def test_teams_of_other_threads(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "threads")
    ended_well(measured, 5)
    assert calls_of(measured) == {"omp_parallel": 10, "omp_implicit_task": 20}


def test_without_the_source_nothing_is_recorded(program: Path, tare: Path, tmp_path: Path) -> None:
    command = [tare, "run", "-o", tmp_path / "run", "--", program, "loops"]
    ended = subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0
    assert "no process of this command recorded a call of MPI" in ended.stderr


@pytest.mark.parametrize("runtime", [OMPT], ids=lambda runtime: runtime.name, indirect=True)
def test_a_program_that_wants_no_tools(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "uneven", OMP_TOOL="disabled")
    assert measured.ended.returncode == 0
    assert not measured.info()["ranks"]


TOOL = """
#include <stdio.h>
typedef struct { int (*begin)(void*, int, void*); void (*end)(void*); unsigned long long data; } result;
static int begin(void* look_up, int device, void* data) { fputs("tool\\n", stderr); return 1; }
static void end(void* data) {}
static result own = {begin, end, 0};
result* ompt_start_tool(unsigned version, const char* runtime) { return &own; }
"""


@pytest.mark.parametrize("place", ["library", "OMP_TOOL_LIBRARIES", "program"])
def test_another_tool_goes_first(tare: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "tool.c").write_text(TOOL)
    tool = tmp_path / "libtool.so"
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "tool.c", "-o", tool], check=True)
    more = [str(tmp_path / "tool.c"), "-rdynamic"] if place == "program" else []
    more += [str(tool), "-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path}"] if place == "library" else []
    program = OMPT.compile(SOURCE, tmp_path / "openmp", *more)
    variables: dict[str, Any] = {"OMP_TOOL_LIBRARIES": str(tool)} if place == "OMP_TOOL_LIBRARIES" else {}
    measured = alone(tare, tmp_path / "run", program, "uneven", **variables)
    assert measured.ended.returncode == 0
    assert "tool\n" in measured.ended.stderr
    assert ("another tool is told of OpenMP" in measured.ended.stderr) == (place != "program")
    assert not measured.info()["ranks"]


def test_a_program_for_gnus_runtime_on_llvms(tare: Path, tmp_path: Path) -> None:
    """It has the same functions, and tells of events: nothing is counted twice."""
    subprocess.run([*GNU.compiler, "-c", SOURCE, "-o", tmp_path / "openmp.o"], check=True)
    program = tmp_path / "openmp"
    subprocess.run(["gcc", tmp_path / "openmp.o", "-o", program, LLVM, "-pthread"], check=True)
    for number, (what, expected) in enumerate({
        "uneven": {"omp_parallel": 5, "omp_implicit_task": 10},
        "mutexes": {"omp_parallel": 4, "omp_implicit_task": 8, "omp_critical": 4, "omp_lock": 6},
        "tasks": {"omp_parallel": 1, "omp_implicit_task": 2, "omp_task": 6, "omp_taskwait": 1},
        "nested": {"omp_parallel": 9, "omp_implicit_task": 18},
    }.items()):  # fmt: skip
        measured = alone(tare, tmp_path / str(number), program, what)
        ended_well(measured)
        found = calls_of(measured)
        assert {name: found[name] for name in expected} == expected
        if what != "nested":
            assert near(
                sum(each["work_ns"] for each in output(measured, "--by", "region,thread")["rows"]),
                sum(worked_of(measured)),
            )


def test_two_runtimes_in_one_process(tare: Path, tmp_path: Path) -> None:
    """A program for GNU's, and a library for LLVM's, which also has GNU's functions."""
    library = tmp_path / "liblibrary.so"
    OMPT.compile(PROGRAMS / "openmp_library.c", library, "-shared", "-fPIC")
    program = GNU.compile(
        SOURCE,
        tmp_path / "openmp",
        "-DWITH_LIBRARY",
        "-Wl,--no-as-needed",
        str(library),
        f"-Wl,-rpath,{tmp_path}",
    )
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert re.search(r"libgomp.*libomp", loaded, re.DOTALL)
    measured = alone(tare, tmp_path / "run", program, "both")
    ended_well(measured)
    assert calls_of(measured) == {"omp_parallel": 5 + 3, "omp_implicit_task": 10 + 6}
    found = {(row["file"].rpartition("/")[2], row["line"]): row for row in regions(measured).values()}
    assert found["openmp.c", line_of("uneven")]["calls"] == 5
    # The program's line from which the library is called.
    of_library = found["openmp.c", line_of("call")]
    assert of_library["calls"] == 3
    assert of_library["work_max_ns"] >= 27 * MS
    assert of_library["work_max_thread"] != 0


@pytest.mark.parametrize("runtime", [GNU, OMPT], ids=lambda runtime: runtime.name, indirect=True)
def test_python(runtime: Runtime, tare: Path, tmp_path: Path) -> None:
    """An extension whose runtime is opened with it, and is in nobody else's search order."""
    library = tmp_path / "liblibrary.so"
    runtime.compile(PROGRAMS / "openmp_library.c", library, "-shared", "-fPIC")
    script = tmp_path / "script.py"
    script.write_text(f"import ctypes\nctypes.CDLL({str(library)!r}).library_region()\n")
    measured = alone(tare, tmp_path / "run", sys.executable, script)
    ended_well(measured)
    assert calls_of(measured) == {"omp_parallel": 3, "omp_implicit_task": 6}
    assert regions(measured)[line_of("library", PROGRAMS / "openmp_library.c")]["calls"] == 3
    # The same without the source: the extension finds its runtime.
    command = [tare, "run", "--quiet", "-o", tmp_path / "off", "--", sys.executable, script]
    assert subprocess.run([str(word) for word in command], timeout=60, check=False).returncode == 0


@both_families
@pytest.mark.flaky(reruns=3)
def test_beside_mpi(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Rank 1 has two calls of `uneven`, rank 0 has one and waits for it in MPI."""
    program = compile_c(mpi, [SOURCE], tmp_path / "openmp", "-DWITH_MPI", "-fopenmp", "-g")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--with", "openmp")
    assert measured.ended.returncode == 0
    by_rank = regions(measured, "rank")
    line = line_of("uneven")
    assert by_rank[line, 0]["calls"] == 5
    assert by_rank[line, 1]["calls"] == 10
    found = output(measured)
    (of_mpi,), (hybrid,) = found["efficiency"], found["openmp"]
    by_thread = {
        (row["rank"], row["thread"]): row for row in output(measured, "--by", "region,rank,thread")["rows"]
    }
    processes = measured.info()["ranks"]
    useful = {}
    for rank in range(2):
        first = by_thread[rank, 0]
        outside_ns = processes[rank]["net_ns"] - processes[rank]["mpi_ns"]
        useful[rank, 0] = outside_ns - first["time_ns"] + first["work_ns"]
        useful[rank, 1] = by_thread[rank, 1]["work_ns"]
        assert useful[rank, 0] >= 60 * (rank + 1) * MS and useful[rank, 1] >= 20 * (rank + 1) * MS
    net_ns = max(process["net_ns"] for process in processes)
    mean_ns, most_ns = sum(useful.values()) / 4, max(useful.values())
    assert hybrid["threads"] == 4
    assert hybrid["parallel_efficiency"] == pytest.approx(mean_ns / net_ns, rel=1e-3)
    assert hybrid["load_balance"] == pytest.approx(mean_ns / most_ns, rel=1e-3)
    assert hybrid["communication_efficiency"] == pytest.approx(most_ns / net_ns, rel=1e-3)
    for name in ("parallel_efficiency", "load_balance", "communication_efficiency"):
        assert hybrid[f"openmp_{name}"] * of_mpi[name] == pytest.approx(hybrid[name], rel=1e-9)
    # The time in OpenMP is none in MPI.
    assert of_mpi["mpi_share"] == pytest.approx(
        sum(each["mpi_ns"] / each["net_ns"] for each in processes) / 2, rel=1e-3
    )
