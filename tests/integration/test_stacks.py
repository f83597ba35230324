"""Samples of stacks (--with stacks): where processor time goes, of programs that use known times in known
functions (programs/stacks.c), and that they run as they do alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

import loader_in_signals
import pytest
import tare as api
from alone import Python, pythons
from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, left_in_memory, measure
from on_mpi import both_families
from tare import units

MS = 1_000_000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stacks") / "stacks"
    compile_c(openmpi4(), [PROGRAMS / "stacks.c"], made, "-O2", "-g", "-pthread")
    return made


def alone(tare: Path, directory: Path, *argv: Path | str, options: tuple[str, ...] = ()) -> Measurement:
    """Runs a program that does not call MPI."""
    command = [tare, "run", "--quiet", "--with", "stacks", *options, "-o", directory, "--", *argv]
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False
    )
    return Measurement(tare, directory, ended)


def said(measured: Measurement, verb: str, *options: Path | str) -> str:
    command = [str(word) for word in (measured.tare, verb, measured.directory, *options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@dataclass
class Times:
    """Processor time in ms, by the innermost of the program's functions that are known."""

    ms: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    samples: int = 0

    def near(self, name: str, true_ms: float, in_all_ms: float) -> bool:
        return is_near(self.ms[name], true_ms, in_all_ms, self.samples)


def times(run: Path, **chosen: int) -> Times:
    found = Times()
    opened = api.open(run)
    for row in opened.rows(opened.stack_samples):
        if row.activity != "program" or any(getattr(row, name) != value for name, value in chosen.items()):
            continue
        path = opened.sites[row.site].path if row.site is not None else ()
        words = (word for frame in path for word in re.findall(r"\w+", frame.caller or ""))
        name = next((word for word in words if word in {"first", "second"}), "other")
        found.ms[name] += row.time_ns / MS
        found.samples += row.samples
    return found


def is_near(measured_ms: float, true_ms: float, in_all_ms: float, number: int) -> bool:
    """Whether they differ by at most four standard deviations of a binomial share, and some samples.

    A busy machine takes fewer samples than one each 10 ms: the system sends signals at its ticks.
    """
    each_ms = in_all_ms / max(number, 1)
    share = true_ms / in_all_ms
    return abs(measured_ms - true_ms) <= each_ms * (4 * sqrt(number * share * (1 - share)) + 6)


def test_time_by_function_and_thread_of_a_program_without_mpi(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    measured = alone(tare, tmp_path / "run", program, "alone", "200")
    assert (measured.ended.returncode, measured.ended.stdout, measured.ended.stderr) == (0, "done\n", "")
    main, other = times(measured.directory, thread=0), times(measured.directory, thread=1)
    assert main.near("first", 200, 800)
    assert main.near("second", 600, 800)
    assert other.ms["first"] == 0
    assert other.near("second", 800, 800)
    opened = api.open(measured.directory)
    (sampling,) = opened.rows(opened.stack_sampling)
    assert sampling.interval_ns == 10 * MS
    assert (sampling.lost, sampling.unsampled_threads) == (0, 0)
    # All of its processor time is in samples, or after the last one of a thread.
    in_all_ns = sum(row.time_ns for row in opened.rows(opened.stack_samples)) + sampling.missed_ns
    assert 1600 * MS <= in_all_ns <= 1700 * MS
    assert 0 < sampling.cost_ns < 100 * MS


@both_families
def test_the_function_that_makes_a_rank_late(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    built = tmp_path / "stacks"
    compile_c(mpi, [PROGRAMS / "stacks.c"], built, "-O2", "-g", "-pthread")
    measured = measure(tare, mpi, 2, [built, "ranks", "100"], tmp_path / "run", "--with", "stacks", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    for rank in range(2):
        assert times(measured.directory, rank=rank).near("first", 100, 500)
    assert times(measured.directory, rank=1).near("second", 400, 500)
    found = json.loads(said(measured, "profile", "--by", "function", "--json"))["functions"]
    (in_second,) = (each for each in found if each["function"] == "compute (inlined in second)")
    assert (in_second["source"], in_second["rank_max"], in_second["calls"]) == ("program", 1, None)
    assert in_second["time_ns"] == in_second["rank_max_ns"] == 2 * in_second["rank_mean_ns"]
    assert 0 < in_second["error_ns"] < in_second["time_ns"]
    for name, least_ns in (("second", in_second["time_ns"]), ("main", in_second["time_ns"])):
        (outer,) = (each for each in found if each["function"] == name)
        assert outer["with_callees_ns"] >= least_ns
    (barrier,) = (each for each in found if each["function"] == "MPI_Barrier")
    assert (barrier["source"], barrier["calls"]) == ("MPI", 2)
    # A rank that waits in MPI uses its processor, too: such samples are of the call.
    opened = api.open(measured.directory)
    in_calls = [row for row in opened.rows(opened.stack_samples) if row.activity == "call"]
    assert {row.rank for row in in_calls} <= {0, 1}
    # In the trace, the samples lie between the calls.
    events = [row for row in measured.all_events() if row["function"] == "stack_sample"]
    assert {row["caller"] for row in events} & {"second", "compute (inlined in second)"}
    # Each stands for the processor time since the one before.
    of_program = sum(row.time_ns for row in opened.rows(opened.stack_samples) if row.activity == "program")
    assert sum(row["arguments"]["processor_ns"] for row in events) == of_program


def test_a_budget_makes_samples_fewer_and_times_stay(program: Path, tare: Path, tmp_path: Path) -> None:
    often = ("--stack-rate", "10000", "--budget", "0.1%")
    measured = alone(tare, tmp_path / "run", program, "alone", "200", options=often)
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert times(measured.directory, thread=0).near("second", 600, 800)
    assert times(measured.directory, thread=1).near("second", 800, 800)
    opened = api.open(measured.directory)
    (sampling,) = opened.rows(opened.stack_sampling)
    # Half of the budget: a sample of 1 us each 2 ms. None takes less than 100 ns, of 0.2 ms.
    assert sampling.interval_ns >= 0.2 * MS
    assert sampling.interval_ns % (0.1 * MS) == 0
    assert (
        f"of stacks at intervals of up to {units.duration(sampling.interval_ns)} instead of 100 µs"
        in said(measured, "info")
    )


def test_spells_that_only_count_take_no_samples(program: Path, tare: Path, tmp_path: Path) -> None:
    """So a trial compares spells with samples with spells without, and times are those of measured spells."""
    run = measure(
        tare, openmpi4(), 2, [program, "steps"], tmp_path / "run", "--with", "stacks", "--weigh=0.5"
    )
    assert run.ended.returncode == 0, run.ended.stderr
    for rank in range(2):
        spells = [spell for spell in api.open(run.directory).spells if spell.rank == rank]
        counted = sum(not spell.measured for spell in spells)
        assert counted > 5
        assert times(run.directory, rank=rank).near("first", 400 - 10 * counted, 400)


def test_what_is_paused_is_in_no_sample(program: Path, tare: Path, tmp_path: Path) -> None:
    run = measure(tare, openmpi4(), 1, [program, "paused"], tmp_path / "run", "--with", "stacks")
    assert run.ended.returncode == 0, run.ended.stderr
    found = times(run.directory)
    assert found.ms["second"] == 0
    assert found.near("first", 100, 100)
    assert sum(found.ms.values()) < 200, "the time of the pause is in no other sample"


def test_functions_of_python(tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", sys.executable, PROGRAMS / "spends.py")
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    opened = api.open(measured.directory)
    found = Times()
    for row in opened.rows(opened.stack_samples):
        found.samples += row.samples
        callers = [frame.caller for frame in opened.sites[row.site].path] if row.site is not None else []
        for name in ("first", "second"):
            if name in callers:
                assert callers[callers.index(name) - 1] == "spend"
                found.ms[name] += row.time_ns / MS
    assert found.near("first", 100, 400)
    assert found.near("second", 300, 400)


CALLS_OFTEN = """
import re, time
class Made:
    def __del__(self):
        self.gone = True
def key(value):
    return -value
def squares(n):
    yield from (i * i for i in range(n))
def calls(n):
    sorted(range(20 * n), key=key)
    sorted(range(20 * n), key=lambda value: -value)
    re.sub("a", lambda found: "b", "a" * n)
    sum(squares(n))
    for _ in range(n // 10):
        Made()
        exec("(lambda: 1)()")
while time.thread_time() < 4:
    calls(1000)
"""


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_python_is_interrupted_anywhere(python: Python, tare: Path, tmp_path: Path) -> None:
    """Also as it enters or leaves a function, when its frames are not there yet, or any more."""
    measured = alone(tare, tmp_path / "run", python.path, "-c", CALLS_OFTEN, options=("--stack-rate", "1000"))
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    opened = api.open(measured.directory)
    samples = in_calls = 0
    for row in opened.rows(opened.stack_samples):
        samples += row.samples
        path = opened.sites[row.site].path if row.site is not None else ()
        in_calls += row.samples * any(frame.caller == "calls" for frame in path)
    assert samples >= 200
    assert in_calls >= 0.8 * samples


NOT_ASCII = """
import time
class Größe:
    def méthode(self):
        while time.thread_time() < 0.3: pass
def 数():
    while time.thread_time() < 0.6: pass
    open(__file__).close()
Größe().méthode()
数()
"""


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_names_of_python_that_are_not_ascii(python: Python, tare: Path, tmp_path: Path) -> None:
    for name in ("pü.py", "日本.py", "😀.py"):
        script = tmp_path / name
        script.write_text(NOT_ASCII)
        measured = alone(tare, tmp_path / f"of-{name}", python.path, script, options=("--with", "files"))
        assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
        lines = json.loads(said(measured, "profile", "--by", "line", "--json"))["functions"]
        where = {(each["function"], each["line"]) for each in lines if each["file"] == str(script)}
        assert {("Größe.méthode", 5), ("数", 7)} <= where
        frames = [frame for site in api.open(measured.directory).sites for frame in site.path]
        assert ("数", str(script), 8) in {(each.caller, each.file, each.line) for each in frames}


def test_a_program_that_uses_signals_is_not_disturbed(program: Path, tare: Path, tmp_path: Path) -> None:
    bare = subprocess.run(
        [program, "signals", "100"], capture_output=True, text=True, timeout=60, check=False
    )
    measured = alone(tare, tmp_path / "run", program, "signals", "100")
    assert (measured.ended.returncode, measured.ended.stdout) == (bare.returncode, bare.stdout)
    assert bare.stdout == "urgent 2 own 1 profiled 1 faults 1 waited well\n"
    assert times(measured.directory, thread=0).near("first", 200, 200)


def test_handlers_that_are_set_by_any_function(program: Path, tare: Path, tmp_path: Path) -> None:
    """They are called for the program's own signals alone, and no other signal is pending."""
    bare = subprocess.run([program, "handlers", "50"], capture_output=True, text=True, timeout=60, check=True)
    assert "called 2" in bare.stdout
    assert "pending 0 1 called 0 held 1 then 1" in bare.stdout
    measured = alone(tare, tmp_path / "run", program, "handlers", "50")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, bare.stdout)
    assert times(measured.directory).near("first", 750, 750)


def test_handlers_have_the_flags_and_the_mask_of_the_program(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    bare = subprocess.run([program, "urgent", "50"], capture_output=True, text=True, timeout=60, check=True)
    assert [line.rpartition(" ")[2] for line in bare.stdout.splitlines()] == ["-1", "1", "-1", "-1", "1"]
    measured = alone(tare, tmp_path / "run", program, "urgent", "50")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, bare.stdout)


def test_signals_to_the_process_come_to_the_thread_that_is_sampled(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    """Not to another one, although this one gets the signal of samples at the same time."""
    measured = alone(tare, tmp_path / "run", program, "turned", "300")
    assert measured.ended.returncode == 0
    came, elsewhere = map(int, measured.ended.stdout.split()[1::2])
    assert came >= 50
    assert elsewhere <= came / 10


def test_time_with_blocked_signals_is_said_to_be_missing(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "blocked", "100")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "done\n")
    opened = api.open(measured.directory)
    (sampling,) = opened.rows(opened.stack_sampling)
    assert 300 * MS <= sampling.missed_ns <= 500 * MS
    assert times(measured.directory).ms["first"] < 250
    assert "there is no sample: threads had blocked the signal" in " ".join(
        said(measured, "profile", "--by", "function").split()
    )


def test_a_program_that_waits_for_the_signal_gets_its_own(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "waits", "50")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "urgent 1 waited 1 1 none 1\n")
    opened = api.open(measured.directory)  # of the program, and of that of its child
    assert max(row.missed_ns for row in opened.rows(opened.stack_sampling)) >= 100 * MS


def test_a_program_that_reads_the_signal_by_a_descriptor_gets_its_own(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    bare = subprocess.run(
        [program, "descriptor", "50"], capture_output=True, text=True, timeout=60, check=True
    )
    assert bare.stdout == "early 0, in a thread 0, polled 1, by epoll 1, child 0\n"
    measured = alone(tare, tmp_path / "run", program, "descriptor", "50")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, bare.stdout)
    opened = api.open(measured.directory)
    assert max(row.missed_ns for row in opened.rows(opened.stack_sampling)) >= 100 * MS
    assert "reads the signal by signalfd" in " ".join(said(measured, "profile", "--by", "function").split())


def test_waiting_with_signals_unblocked_meanwhile(program: Path, tare: Path, tmp_path: Path) -> None:
    """What a timer has sent while signals were blocked ends neither ppoll nor the like."""
    bare = subprocess.run([program, "unmasked", "50"], capture_output=True, text=True, timeout=60, check=True)
    assert bare.stdout.count("interrupted 0, without its signal 0") == 20
    measured = alone(tare, tmp_path / "run", program, "unmasked", "50")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, bare.stdout)


@pytest.mark.parametrize("compiler", ["gcc", "clang-14"])
def test_threads_that_thread_sanitizer_begins(
    compiler: str, tare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runtime that clang links into the program is above tare's pthread_create, that of gcc below."""
    program = tmp_path / "used_files"
    flags = ["-O1", "-pthread", "-fsanitize=thread"]
    monkeypatch.setenv("TSAN_OPTIONS", "report_bugs=0")  # it is about whether the program runs
    subprocess.run([compiler, *flags, PROGRAMS / "used_files.c", "-o", program], check=True)
    measured = alone(tare, tmp_path / "run", program, "threads", tmp_path, options=("--with", "files"))
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    assert measured.calls()["write"] == 4 * 20_000


@pytest.mark.parametrize(
    ("mode", "first_ms", "output"), [("cramped", 200, "done\n"), ("coroutine", 100, "overwritten 0\n")]
)
def test_time_on_a_small_stack(
    mode: str, first_ms: float, output: str, program: Path, tare: Path, tmp_path: Path
) -> None:
    """Samples are taken on a stack of their own, so nothing below the program's is overwritten."""
    measured = alone(tare, tmp_path / "run", program, mode, "100")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, output)
    found = times(measured.directory)
    assert found.near("first", first_ms, first_ms + 400)
    assert found.near("second", 400, first_ms + 400)
    (sampling,) = (opened := api.open(measured.directory)).rows(opened.stack_sampling)
    assert sampling.missed_ns < 200 * MS


def test_a_call_that_was_left_is_over(tare: Path, tmp_path: Path, program: Path) -> None:
    measured = measure(tare, openmpi4(), 1, [program, "left", "100"], tmp_path / "run", "--with", "stacks")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "done\n")
    assert times(measured.directory).near("first", 100, 100)


def test_a_fork_and_another_program(program: Path, tare: Path, tmp_path: Path) -> None:
    forked = alone(tare, tmp_path / "forked", program, "fork", "100")
    assert (forked.ended.returncode, forked.ended.stdout) == (0, "child 7\n")
    assert times(forked.directory).near("first", 100, 100)
    executed = alone(tare, tmp_path / "executed", program, "exec", "50")
    assert (executed.ended.returncode, executed.ended.stdout) == (0, "done\n")
    assert times(executed.directory).near("second", 350, 400)


def test_a_kill_loses_no_sample(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = alone(tare, tmp_path / "run", program, "killed", "200")
    assert measured.ended.returncode == -9
    assert times(measured.directory).near("first", 200, 200)
    assert not left_in_memory(measured.directory)


def test_flame_graphs_have_the_program_and_its_calls(program: Path, tare: Path, tmp_path: Path) -> None:
    measured = measure(tare, openmpi4(), 2, [program, "ranks", "100"], tmp_path / "run", "--with", "stacks")
    folded = tmp_path / "stacks.folded"
    said(measured, "export", "--to", "folded", "-o", folded)
    lines = [line.rpartition(" ") for line in folded.read_text().splitlines()]
    ns: dict[str, int] = defaultdict(int)
    for path, _, time in lines:
        ns[path] += int(time)
    late = sum(time for path, time in ns.items() if path.startswith("rank 1;") and "second" in path)
    assert is_near(late / MS, 400, 500, len(lines)), folded.read_text()
    assert any(re.match(r"rank 0;[^;]*main.*;MPI_Barrier$", path) for path in ns)
    speedscope = tmp_path / "stacks.speedscope.json"
    said(measured, "export", "--to", "speedscope", "-o", speedscope)
    document: dict[str, Any] = json.loads(speedscope.read_text())
    assert [each["name"] for each in document["profiles"]] == ["rank 0", "rank 1"]


LOADS_LATER = """
import ctypes, os, signal, sys
compute = ctypes.CDLL(sys.argv[1]).compute_in_library
compute(ctypes.c_double(400))
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["returns", "killed"])
def test_a_library_that_is_loaded_later_has_names(end: str, tare: Path, tmp_path: Path) -> None:
    """No call of tare's comes after it; its handler finds the library."""
    library = tmp_path / "library.so"
    flags = ["-O1", "-g", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, PROGRAMS / "loaded_later.c", "-o", library], check=True)
    measured = alone(tare, tmp_path / "run", sys.executable, "-c", LOADS_LATER, library, end)
    found = json.loads(said(measured, "profile", "--by", "function", "--json"))["functions"]
    (row,) = (each for each in found if each["function"] == "compute (inlined in compute_in_library)")
    assert row["file"].endswith("compute.h")
    assert 250 * MS <= row["time_ns"] <= 450 * MS
    assert sum(each["time_ns"] for each in found if each["function"] == "(unknown)") <= 20 * MS


READS = """
import os

def read_often(file):
    while os.times().user + os.times().system < 0.5:
        os.pread(file, 1 << 24, 0)

with open(__import__("sys").argv[1], "wb+") as file:
    file.write(bytes(1 << 24))
    file.flush()
    read_often(file.fileno())
"""


def test_a_sample_in_a_call_on_a_file_is_at_its_call_site(tare: Path, tmp_path: Path) -> None:
    measured = alone(
        tare, tmp_path / "run", sys.executable, "-c", READS, tmp_path / "file", options=("--with", "files")
    )
    assert measured.ended.returncode == 0
    opened = api.open(tmp_path / "run")
    of_calls = [row for row in opened.rows(opened.stack_samples) if row.activity == "call"]
    in_reads = sum(row.samples for row in of_calls if (row.caller, row.line) == ("read_often", 6))
    assert in_reads >= 5
    assert in_reads >= 0.8 * sum(row.samples for row in of_calls)


@pytest.mark.parametrize("options", [(), ("-fno-asynchronous-unwind-tables",)], ids=["tables", "no tables"])
def test_the_loader_is_not_called_where_a_signal_may_have_interrupted_it(
    options: tuple[str, ...], tare: Path, tmp_path: Path
) -> None:
    loader_in_signals.build(tmp_path, *options)
    program, library = tmp_path / "program", tmp_path / "library.so"
    measured = alone(tare, tmp_path / "run", program, library, "300", options=("--stack-rate", "1000"))
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    in_handlers, elsewhere = map(int, measured.ended.stdout.split())
    assert in_handlers == 0
    assert elsewhere > 0, "tare itself asks the loader elsewhere, and comes here"
    opened = api.open(tmp_path / "run")
    assert sum(row.samples for row in opened.rows(opened.stack_samples)) > 5
