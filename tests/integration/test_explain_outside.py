"""`tare explain` on programs with faults outside MPI, in functions, files and threads (planted_outside.c)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import planted
import pytest
from environments import ROOT, compile_c, openmpi4
from planted import Planted
from verbs import ask

OPENMPI = openmpi4()
# Its child computes long enough to be sampled, says that it has, and is ended.
PARENT = """
import subprocess, sys, time

if len(sys.argv) == 1:
    while time.process_time() < 0.3:
        pass
    print("computed", flush=True)
    time.sleep(100)
child = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE)
child.stdout.readline()
child.terminate()
child.wait()
sys.exit(int(sys.argv[1]))
"""
HELPER = """
import os, threading, time

def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

reading, writing = os.pipe()
helper = threading.Thread(target=os.read, args=(reading, 1))
helper.start()
compute(0.5)
os.write(writing, b"x")
helper.join()
compute(0.5)
"""
# One of each kind; the others take as long again.
FIRST = (
    "late by a function",
    "serial files",
    "busy thread",
    "critical section",
    "small reads",
    "even threads",
)


def cases() -> list[Any]:
    return [
        pytest.param(each, id=each.name, marks=() if each.name in FIRST else pytest.mark.long)
        for each in planted.programs(planted.OUTSIDE)
    ]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("planted") / "outside"
    return compile_c(OPENMPI, [planted.OUTSIDE], made, "-O2", "-g", "-fopenmp")


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # what comes first depends on times, which another program can spoil
@pytest.mark.parametrize("program", cases())
def test_the_planted_fault_comes_first_and_no_other(
    program: Planted, compiled: Path, tare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Idle threads leave the two processors to the others, but where what they wait for comes at once.
    monkeypatch.setenv("OMP_WAIT_POLICY", "active" if program.name == "tiny regions" else "passive")
    options = ("--with", "files,openmp,stacks", "--stack-rate", "500")
    said = planted.explained(tare, OPENMPI, compiled, program, tmp_path / "run", *options)
    found = planted.judge(program, said, exactly=False)
    assert not (found.wrong or found.missing or found.false or found.blamed), (found, said["sentences"])
    if program.name in ("serial files", "root that reads"):
        assert said["findings"][0]["used_file"] == "anon_inode:[timerfd]"
    assert said["lost_ns"] == sum(each["lost_ns"] for each in said["findings"]) + said["unexplained_ns"]


def test_a_program_without_mpi(tare: Path, tmp_path: Path) -> None:
    """The example of docs/openmp.md: its threads have 230 and 580 of 590 ms to do."""
    program, run = tmp_path / "uneven", tmp_path / "run"
    source = ROOT / "examples" / "uneven.c"
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", source, "-o", program, "-lm"], check=True)
    subprocess.run([tare, "run", "-q", "--with", "openmp", "-o", run, "--", program], check=True, timeout=60)
    done = ask(tare, "explain", run, check=True)
    said = " ".join(done.stdout.split())
    assert said.startswith("1. Idle threads: the threads of omp_parallel at uneven.c:17 (in main) idle ")
    assert "thread 1 works for " in said
    assert "ranks" not in said
    assert "trace" not in said


def test_a_helper_thread_in_files_takes_none_of_the_time(tare: Path, tmp_path: Path) -> None:
    """It waits half of the time for the thread that computes."""
    script = tmp_path / "helper.py"
    script.write_text(HELPER)
    command: list[str | Path] = [tare, "run", "--with", "files", "-o", tmp_path / "run"]
    subprocess.run([*command, sys.executable, script], check=True, capture_output=True)
    said = ask(tare, "explain", tmp_path / "run", check=True)
    assert "Files:" not in said.stdout
    assert "Threads beside the first are in files for " in said.stdout


@pytest.mark.parametrize(("code", "has_ended_well"), [(0, True), (3, False)])
def test_a_program_may_end_its_children(tare: Path, tmp_path: Path, code: int, has_ended_well: bool) -> None:
    """A child that is killed is no end of a program that goes on to its own."""
    run, parent = tmp_path / "run", tmp_path / "parent.py"
    parent.write_text(PARENT)
    command: list[str | Path] = [tare, "run", "-q", "--with", "stacks", "-o", run, "--"]
    command += [sys.executable, parent, str(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    states = ask(tare, "info", run, check=True).stdout
    assert "killed" in states
    said = ask(tare, "explain", run, check=True).stdout
    assert ("did not come to its end" not in said) is has_ended_well, said
