"""Standard streams that are closed, full, or left by their reader: one line or none, and no traceback."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fake_tare import fake_command, fake_environment

READING = {
    "version": ("--version",),
    "help": ("profile", "--help"),
    "info": ("info", "measured"),
    "json": ("info", "measured", "--json"),
    "profile": ("profile", "measured"),
    "csv": ("profile", "measured", "--csv"),
    "markdown": ("profile", "measured", "--markdown"),
    "events": ("events", "measured"),
    "samples": ("samples", "measured"),
    "diff": ("diff", "measured", "measured"),
    "tools": ("study", "tools"),
    "recover": ("recover", "measured"),
}
# The reader of file descriptor 3 is gone before the verb starts.
LEFT = "exec 3> >(true); wait $!; "


def shell(tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=fake_environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def command(*arguments: str | Path) -> str:
    return shlex.join(fake_command(*arguments))


@pytest.mark.parametrize("verb", READING)
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"])
def test_result_that_cannot_be_written_fails_in_one_line(run_dir: Path, verb: str, where: str) -> None:
    (run_dir / "sampled").touch()
    done = shell(run_dir.parent, f"{command(*READING[verb])} {where}")
    reason = "No space left on device" if "full" in where else "Bad file descriptor"
    assert done.returncode == 1
    assert done.stderr == f"tare: cannot write to standard output: {reason}\n"


@pytest.mark.parametrize("verb", READING)
def test_reader_that_has_left_ends_a_verb_as_it_does_ls(run_dir: Path, verb: str) -> None:
    (run_dir / "sampled").touch()
    done = shell(run_dir.parent, f"{LEFT}{command(*READING[verb])} >&3; echo $?")
    assert (done.stdout, done.stderr) == (f"{128 + signal.SIGPIPE}\n", "")


@pytest.mark.parametrize("where", ["2> /dev/full", "2>&-", "2>&3"])
def test_what_is_said_beside_a_result_may_be_lost(run_dir: Path, where: str) -> None:
    for arguments in (("profile", "measured", "--csv"), ("profile", "nowhere")):
        plain = shell(run_dir.parent, command(*arguments))
        lost = shell(run_dir.parent, f"{LEFT}{command(*arguments)} {where}")
        assert (lost.returncode, lost.stdout) == (plain.returncode, plain.stdout)


@pytest.mark.parametrize(
    "where", ["2> /dev/full", "2>&-", "2>&3", "> /dev/full", ">&-", ">&3", ">&- 2>&-", "<&- >&- 2>&-"]
)
def test_command_keeps_its_exit_code_and_its_streams(program: Path, tmp_path: Path, where: str) -> None:
    report = tmp_path / "streams"
    body = (
        f'for fd in 0 1 2; do readlink /proc/$$/fd/$fd || echo closed; done > "{report}" 2>/dev/null; exit 6'
    )
    assert shell(tmp_path, f"{LEFT}{shlex.join([str(program), body])} {where}").returncode == 6
    bare = report.read_text().splitlines()
    assert shell(tmp_path, f"{LEFT}{command('run', '--', program, body)} {where}").returncode == 6
    measured = report.read_text().splitlines()
    assert ["pipe" if "pipe:" in each else each for each in measured] == [
        "pipe" if "pipe:" in each else each for each in bare
    ]
    (meta,) = tmp_path.glob("app-*/meta.json")
    assert json.loads(meta.read_text())["exit_code"] == 6


def test_program_that_is_not_measured_leaves_no_segment(program: Path, tmp_path: Path) -> None:
    """Its segment would stand in the root directory, as no run is named."""
    done = shell(tmp_path, shlex.join([str(program), "echo $$"]))
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path(f"/tare--{done.stdout.strip()}-0").exists()


def test_no_file_takes_the_place_of_a_closed_stream(run_dir: Path) -> None:
    """What is said must not land in a file that was opened in its place."""
    assert shell(run_dir.parent, f"{command('recover', 'measured')} >&- 2>&-").returncode == 1
    assert json.loads((run_dir / "meta.json").read_text())["collected"]["processes"] == 0
    assert (run_dir / "node.tare").read_text() == "chunk\n"


def test_interrupt_ends_a_verb_by_its_signal(run_dir: Path) -> None:
    """So that a loop of a shell ends, too."""
    started = subprocess.Popen(
        fake_command("events", run_dir, "--json"), env=fake_environment(FAKE_EVENTS_HANG="1"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stderr is not None
    assert started.stderr.readline() == "reading\n"
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=30)
    assert (started.returncode, said) == (-signal.SIGINT, "")


HALF_DONE = """
import os, signal, sys, tempfile, time
from tare import __main__ as entry


def work(given):
    with tempfile.TemporaryDirectory(dir=sys.argv[1]):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)


entry.exit_code_of = work
entry.main([sys.argv[2]])
"""


@pytest.mark.parametrize("verb", ["export", "view", "sweetspot"])
def test_what_is_half_done_is_removed_at_sigterm(verb: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HALF_DONE, str(tmp_path), verb]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")
    assert list(tmp_path.iterdir()) == []
