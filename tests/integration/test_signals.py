"""Every signal to `tare run` has the effect that it has on the command without it."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS
from on_mpi import both_debian
from patience import wait_until

TIMEOUT_S = 60
ENDED = 7  # exit code of signalled.c
# These two have no handlers.
CATCHABLE = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
# By default these are ignored; or they stop a process, but not one of a session without a shell.
HARMLESS = {
    signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGTSTP, signal.SIGTTIN,
    signal.SIGTTOU,
}  # fmt: skip
OF_C_LIBRARY = 1 << 31 | 1 << 32  # signals 32 and 33, which posix_spawn leaves ignored
MARK = signal.SIGRTMAX  # the last one that is taken of several


@pytest.fixture(scope="session")
def signalled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("signalled") / "signalled"
    subprocess.run(["cc", "-O1", str(PROGRAMS / "signalled.c"), "-o", str(program)], check=True)
    return program


class Running:
    """The program, alone or under `tare run`, as the leader of a session."""

    def __init__(
        self, program: Path, folder: Path, how: str, *before: str | Path, terminal: bool = False
    ) -> None:
        self.file, self.controller = folder / "said", -1
        standard = subprocess.DEVNULL
        if terminal:
            self.controller, standard = pty.openpty()
        self.process = subprocess.Popen(
            [*map(str, before), str(program), str(self.file), how],
            stdin=standard,
            stdout=standard if terminal else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if terminal else None,
        )
        if terminal:
            os.close(standard)
        self.until(lambda: bool(self.said()))

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.controller >= 0:
            os.close(self.controller)

    def said(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    def got(self) -> list[int]:
        return [int(line.split()[1]) for line in self.said() if line.startswith("got")]

    @property
    def pid(self) -> int:
        """The pid of the program itself."""
        return int(self.said()[0].split()[1])

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.005)

    def end(self) -> int:
        """Tells it to end; its exit code, or minus a signal."""
        self.file.with_name("said.end").touch()
        return self.process.wait(TIMEOUT_S)


def measured(tare: Path, folder: Path) -> list[str | Path]:
    return [tare, "run", "-q", "-o", folder / "run", "--"]


def outcome(program: Path, folder: Path, number: int, *before: str | Path) -> int:
    folder.mkdir()
    with Running(program, folder, "default", *before) as running:
        os.kill(running.process.pid, number)
        return running.end() if number in HARMLESS else running.process.wait(TIMEOUT_S)


@pytest.mark.parametrize("number", CATCHABLE, ids=str)
def test_default_actions(number: int, signalled: Path, tare: Path, tmp_path: Path) -> None:
    """A signal comes to `tare run` alone: the command ends by it, and `tare run` does."""
    expected = outcome(signalled, tmp_path / "plain", number)
    assert expected == (ENDED if number in HARMLESS else -number)
    prefix = measured(tare, tmp_path / "measured")
    assert outcome(signalled, tmp_path / "measured", number, *prefix) == expected


@pytest.mark.parametrize("terminal", [False, True], ids=["detached", "terminal"])
@pytest.mark.parametrize("number", CATCHABLE, ids=str)
def test_each_signal_comes_once(
    number: int, terminal: bool, signalled: Path, tare: Path, tmp_path: Path
) -> None:
    """The signal is sent to `tare run` alone, to the process group, and to each process."""
    with Running(signalled, tmp_path, "handle", *measured(tare, tmp_path), terminal=terminal) as running:
        os.kill(running.process.pid, number)
        running.until(lambda: len(running.got()) == 1)
        os.killpg(running.process.pid, number)
        running.until(lambda: len(running.got()) >= 2)
        os.kill(running.process.pid, MARK)
        running.until(lambda: len(running.got()) >= 3)
        assert running.end() == ENDED
        assert running.got() == [number, number, MARK]


KEYS = {b"\x03": signal.SIGINT, b"\x1c": signal.SIGQUIT, b"\x1a": signal.SIGTSTP}


@pytest.mark.parametrize("key", KEYS)
def test_keys(key: bytes, signalled: Path, tare: Path, tmp_path: Path) -> None:
    with Running(signalled, tmp_path, "handle", *measured(tare, tmp_path), terminal=True) as running:
        os.write(running.controller, key)
        running.until(lambda: bool(running.got()))
        os.kill(running.process.pid, MARK)
        running.until(lambda: len(running.got()) >= 2)
        assert running.end() == ENDED
        assert running.got() == [KEYS[key], MARK]


def test_the_terminal_goes_away(signalled: Path, tare: Path, tmp_path: Path) -> None:
    with Running(signalled, tmp_path, "default", *measured(tare, tmp_path), terminal=True) as running:
        os.close(running.controller)
        running.controller = -1
        assert running.process.wait(TIMEOUT_S) == -signal.SIGHUP


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM, signal.SIGXCPU, signal.SIGUSR1])
def test_timeout(number: signal.Signals, signalled: Path, tare: Path, tmp_path: Path) -> None:
    """It signals its child, then the process group: the command gets it at least once, twice at most."""
    timeout = ["timeout", "-s", number.name.removeprefix("SIG"), "1"]
    with Running(signalled, tmp_path, "handle", *timeout, *measured(tare, tmp_path)) as running:
        running.until(lambda: bool(running.got()))
        running.end()
        assert 1 <= running.got().count(number) <= 2


def test_a_command_in_a_process_group_of_its_own(signalled: Path, tare: Path, tmp_path: Path) -> None:
    """What the terminal sends to ours has to be passed on."""
    with Running(
        signalled, tmp_path, "handle", *measured(tare, tmp_path), "setsid", terminal=True
    ) as running:
        os.write(running.controller, b"\x03")
        running.until(lambda: bool(running.got()))
        os.killpg(running.process.pid, signal.SIGTERM)
        running.until(lambda: len(running.got()) >= 2)
        assert running.end() == ENDED
        assert running.got() == [signal.SIGINT, signal.SIGTERM]


def test_an_alarm_of_before(signalled: Path, tare: Path, tmp_path: Path) -> None:
    """A timer survives exec; the command has not inherited it, as it would have without tare."""
    start = ["python3", "-c", "import os, signal, sys; signal.alarm(1); os.execvp(sys.argv[1], sys.argv[1:])"]
    with Running(signalled, tmp_path, "default", *start, *measured(tare, tmp_path)) as running:
        assert running.process.wait(TIMEOUT_S) == -signal.SIGALRM


def test_time_of_the_processor(tare: Path, tmp_path: Path) -> None:
    """A limit counts for each process: it ends the command, and `tare run` only with it."""
    busy = ["sh", "-c", "while :; do :; done"]
    limited = ["sh", "-c", 'ulimit -S -t 2; exec "$@"', "sh", *map(str, measured(tare, tmp_path)), *busy]
    assert subprocess.run(limited, timeout=TIMEOUT_S).returncode == -signal.SIGXCPU


def test_after_the_command_has_ended(tare: Path, tmp_path: Path) -> None:
    """Whenever they come, signals end both, or change nothing; and nothing goes on."""
    found = set()
    for delay_ms in range(0, 600, 25):
        folder = tmp_path / str(delay_ms)
        folder.mkdir()
        command = [*map(str, measured(tare, folder)), "sleep", "0.2"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(delay_ms / 1e3)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        _, said = process.communicate(timeout=TIMEOUT_S)
        assert not said or (said.count("\n") == 1 and "nothing was measured" in said)
        found.add(process.returncode)
        assert not members(process.pid)
    assert found <= {0, -signal.SIGTERM}


def test_before_the_command_has_started(tare: Path, tmp_path: Path) -> None:
    """Whatever part of `tare run` it meets, both end by it, and nothing is left behind that goes on."""
    for delay_ms in range(0, 240, 12):
        folder = tmp_path / str(delay_ms)
        folder.mkdir()
        command = [*map(str, measured(tare, folder)), "sleep", str(TIMEOUT_S)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(delay_ms / 1e3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == -signal.SIGTERM
        assert not members(process.pid)


def members(group: int) -> list[str]:
    """Processes of a process group, but zombies."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            text = file.read_text()
            state, _, of_group = text.rpartition(")")[2].split()[:3]
            found += [text] if int(of_group) == group and state not in "ZX" else []
    return found


def test_no_witness_is_left(signalled: Path, tare: Path, tmp_path: Path) -> None:
    """Also of a `tare run` that was killed; the command goes on, and `tare recover` works."""
    with Running(signalled, tmp_path, "default", *measured(tare, tmp_path)) as running:
        assert len(members(running.process.pid)) == 3
        running.process.kill()
        running.until(lambda: len(members(running.process.pid)) == 1)
        os.kill(running.pid, signal.SIGTERM)
        running.until(lambda: not members(running.process.pid))


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class Shell:
    """An interactive shell on a terminal, and the commands that it runs."""

    def __init__(self) -> None:
        self.controller, terminal = pty.openpty()
        self._bash = subprocess.Popen(
            ["bash", "--norc", "-i"], stdin=terminal, stdout=terminal, stderr=terminal,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), start_new_session=True,
            env={**os.environ, "TERM": "dumb"},
        )  # fmt: skip
        os.close(terminal)
        os.set_blocking(self.controller, False)

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.controller)  # which ends its commands
        self._bash.kill()
        self._bash.wait()

    def type(self, text: str) -> None:
        os.write(self.controller, text.encode())

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            with suppress(BlockingIOError):
                os.read(self.controller, 65536)  # what is printed must go somewhere
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def until_they_are(self, states: str, pids: list[int]) -> None:
        self.until(lambda: all(state(pid) in states for pid in pids))


# Processes that go on wait for the next signal. In "R", it may not have taken the last one yet.
STOPPED, GOING_ON = "T", "S"


def test_job_control(signalled: Path, tare: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    command = " ".join(map(str, [*measured(tare, tmp_path), signalled, said, "default"]))
    with Shell() as shell:
        shell.type(f"{command}; echo $? >{tmp_path}/code\n")
        shell.until(lambda: said.exists() and said.read_text().endswith("\n"))
        pids = [int(word) for word in said.read_text().split()[1:]]  # the program, and tare
        for again in ("fg", "bg", "fg", "fg"):
            shell.type("\x1a")
            shell.until_they_are(STOPPED, pids)
            shell.type(f"{again}\n")
            shell.until_they_are(GOING_ON, pids)
            if again == "bg":
                shell.type("fg\n")
                shell.until(lambda: foreground(shell.controller) == os.getpgid(pids[1]))
        for _ in range(3):  # `tare run` alone
            os.kill(pids[1], signal.SIGTSTP)
            shell.until_they_are(STOPPED, pids)
            os.kill(pids[1], signal.SIGCONT)
            shell.until_they_are(GOING_ON, pids)
        # Stopped with the whole group, and told to go on alone.
        os.killpg(os.getpgid(pids[1]), signal.SIGSTOP)
        shell.until_they_are(STOPPED, pids)
        os.kill(pids[1], signal.SIGCONT)
        shell.until_they_are(GOING_ON, pids)
        said.with_name("said.end").touch()
        shell.until(lambda: not goes_on(pids[1]))


# As `tare run` does, with a command that sleeps; but it says when it asks the witness, and waits for a line.
SLOW_TO_ASK = """
import os, sys
from tare.measuring import signals

class Slow(signals.Witness):
    def came(self):
        print("asks", flush=True)
        sys.stdin.readline()
        return super().came()

signals.hold()
child = os.posix_spawn("/bin/sleep", ["sleep", "600"], {}, setsigmask=())
relay = signals.Relay(child, Slow())
print(child, flush=True)
relay.wait()
"""


@pytest.mark.parametrize("is_to_all", [True, False], ids=["to all", "to tare alone"])
def test_told_to_stop_right_after_told_to_go_on(is_to_all: bool) -> None:
    """The kernel discards the earlier signal where it is pending, as at a witness that was not asked yet."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_TO_ASK],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0,
    ) as tare:  # fmt: skip
        assert tare.stdin and tare.stdout
        child = int(tare.stdout.readline())
        try:
            os.killpg(tare.pid, signal.SIGCONT)
            assert tare.stdout.readline() == "asks\n"
            (os.killpg if is_to_all else os.kill)(tare.pid, signal.SIGTSTP)
            tare.stdin.write("go\n" * 9)
            tare.stdin.flush()
            wait_until(lambda: [state(pid) for pid in (tare.pid, child)] == ["T", "T"], TIMEOUT_S)
        finally:
            os.killpg(tare.pid, signal.SIGKILL)


SOON_AFTER = """
import os, signal
from tare.measuring import signals

signals.hold()
child = os.posix_spawn("/bin/true", ["true"], {}, setsigmask=())
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
signal.raise_signal(signal.SIGTERM)  # as what ended the command, and came here, too
print(signals.Relay(child, signals.Witness()).wait())
print(signal.SIGTERM in signal.sigpending())
signal.raise_signal(signal.SIGINT)  # as by somebody who saw that the command is gone
signals.let_stop()
print(signal.SIGINT in signal.sigpending())
"""


def test_what_comes_when_the_command_is_gone_is_for_tare() -> None:
    """It ends what tare waits for then, however soon it comes."""
    done = subprocess.run([sys.executable, "-c", SOON_AFTER], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False", "True"]


def foreground(controller: int) -> int:
    """The process group in the foreground of the terminal."""
    return int(struct.unpack("i", fcntl.ioctl(controller, termios.TIOCGPGRP, bytes(4)))[0])


def test_reading_in_the_background(tare: Path, tmp_path: Path) -> None:
    """The terminal stops who reads from the background, and `tare run` with it; `fg` lets both go on."""
    command = " ".join(map(str, measured(tare, tmp_path)))
    name, read = tmp_path / "pid", tmp_path / "read"
    reader = f"sh -c 'read line; echo $line >{read}'"
    with Shell() as shell:
        shell.type(f"{command} {reader} & echo $! >{name}\n")
        shell.until(lambda: name.exists() and name.read_text().endswith("\n"))
        pid = int(name.read_text())
        children = Path(f"/proc/{pid}/task/{pid}/children")
        shell.until(lambda: len(children.read_text().split()) == 2)  # the witness, and the reader
        pids = [pid, int(children.read_text().split()[1])]
        shell.until_they_are(STOPPED, pids)
        jobs = tmp_path / "jobs"
        jobs.touch()
        while "Stopped" not in jobs.read_text():  # otherwise `fg` tells nobody to go on
            jobs.unlink()
            shell.type(f"jobs >{jobs}.new; mv {jobs}.new {jobs}\n")
            shell.until(jobs.exists)
        shell.type("fg\n")
        shell.until_they_are(GOING_ON, pids)
        shell.type("word\n")
        shell.until(lambda: not goes_on(pid))
        assert read.read_text() == "word\n"


@pytest.mark.parametrize("ignored", ["CHLD", "INT", "HUP", "TERM"])
def test_what_the_caller_ignores(ignored: str, signalled: Path, tare: Path, tmp_path: Path) -> None:
    """It is ignored by the command as well, and the end of the command is seen."""
    start = ["env", f"--ignore-signal={ignored}"]
    with Running(signalled, tmp_path, "default", *start, *measured(tare, tmp_path)) as running:
        number = signal.Signals[f"SIG{ignored}"]
        status = Path(f"/proc/{running.pid}/status").read_text()
        mask = int(status.partition("SigIgn:")[2].split()[0], 16)
        assert mask & ~OF_C_LIBRARY == 1 << (number - 1)
        os.kill(running.process.pid, number)
        assert running.end() == ENDED


def test_what_the_caller_blocks(signalled: Path, tare: Path, tmp_path: Path) -> None:
    start = ["env", "--block-signal=USR1"]
    with Running(signalled, tmp_path, "default", *start, *measured(tare, tmp_path)) as running:
        status = Path(f"/proc/{running.pid}/status").read_text()
        assert int(status.partition("SigBlk:")[2].split()[0], 16) == 1 << (signal.SIGUSR1 - 1)
        assert running.end() == ENDED


# Here a launcher exits with one code or another, also without tare.
CHOOSES = {("mpich", "TERM"), ("mpich", "INT"), ("mpich", "QUIT"), ("mpich", "ALRM")}
TO_LAUNCHERS = ["INT", "TERM", "QUIT", "HUP", "ALRM", "XCPU"]


@pytest.mark.parametrize("name", TO_LAUNCHERS)
@both_debian
def test_launchers(name: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """They end as they do without tare, and so do their ranks."""
    program = compile_c(mpi, [PROGRAMS / "endings.c"], tmp_path / "endings")
    number = signal.Signals[f"SIG{name}"]
    plain = launched(mpi, program, tmp_path / "plain", number)
    prefix = measured(tare, tmp_path / "measured")
    found = launched(mpi, program, tmp_path / "measured", number, *prefix)
    if (mpi.family, name) in CHOOSES:
        assert found[0] >= 0 <= plain[0] and found[1] == plain[1]
    else:
        assert found == plain


def launched(
    mpi: MpiEnvironment, program: Path, folder: Path, number: int, *before: str | Path
) -> tuple[int, bool]:
    """Exit code, or minus a signal; and whether all ranks have ended."""
    folder.mkdir()
    words = [*before, *mpi.mpiexec, "-n", "2", program, "kill", folder / "pid"]
    process = subprocess.Popen(
        list(map(str, words)), env=mpi.environ(), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    files = [folder / f"pid.{rank}" for rank in range(2)]
    wait_until(lambda: all(file.exists() and file.read_text() for file in files), TIMEOUT_S, process)
    ranks = [int(file.read_text()) for file in files]
    process.send_signal(number)
    try:
        code = process.wait(TIMEOUT_S)
        late = time.monotonic() + 2
        while time.monotonic() < late and any(map(goes_on, ranks)):
            time.sleep(0.01)
        return code, not any(map(goes_on, ranks))
    finally:
        for pid in filter(goes_on, ranks):
            os.kill(pid, signal.SIGKILL)


def goes_on(pid: int) -> bool:
    try:
        return state(pid) not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
