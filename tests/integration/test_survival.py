"""What was recorded survives SIGKILL at any moment and a full disk."""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
import tare as tare_package
from environments import MpiEnvironment, compile_c, run
from measured import PROGRAMS, Measurement, left_in_memory, measure
from on_mpi import both_families
from patience import wait_until

RANKS = 2
SENDS, ALLREDUCES, MANY = 3000, 20, 1_500_000  # as in killed.c
KNOWN = {"MPI_Allreduce": ALLREDUCES, "MPI_Send": SENDS}
TOO_SMALL_DISK = "1m"
START_TIMEOUT_S = 30
# Each way of killing comes twice in a dozen.
KILLS = int(os.environ.get("TARE_TEST_KILLS", "12"))


@pytest.fixture
def killed(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "killed.c"], tmp_path / "killed")


@pytest.mark.parametrize("who", ["one", "all"])
def test_ranks_kill_themselves(
    who: str, mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path
) -> None:
    measured = measure(tare, mpi, RANKS, [killed, who], tmp_path / "run", "--trace", "--buffer", "64K")
    assert measured.ended.returncode != 0
    # The launcher kills the ranks that are left, by whatever signal.
    states = {row["rank"]: (row["state"], row["until"]) for row in measured.info()["ranks"]}
    assert states == dict.fromkeys(range(RANKS), ("killed", "end"))
    calls = measured.calls()
    assert {name: calls[name] for name in KNOWN} == {name: RANKS * each for name, each in KNOWN.items()}
    for rank in range(RANKS):
        events = Counter(row["function"] for row in measured.events("--rank", str(rank)))
        assert {name: events[name] for name in KNOWN} == KNOWN
    assert left_in_memory(measured.directory) == []


@pytest.mark.parametrize("policy", ["drop", "overwrite"])
@pytest.mark.parametrize("who", ["all", "alive"])
@both_families
def test_a_full_buffer(
    policy: str, who: str, mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path
) -> None:
    """What it keeps is the first or the last calls without a gap, however the ranks end."""
    options = ["--policy", policy, "--buffer", "64K"]
    measured = measure(tare, mpi, RANKS, [killed, who], tmp_path / "run", *options)
    assert (measured.ended.returncode == 0) == (who == "alive")
    assert measured.calls()["MPI_Send"] == RANKS * SENDS  # the profile has lost nothing
    for row in measured.info()["ranks"]:
        kept = [
            event["tag"] for event in measured.events("--rank", str(row["rank"]), "--function", "MPI_Send")
        ]
        assert SENDS // 4 < len(kept) < SENDS // 2
        first = 0 if policy == "drop" else SENDS - len(kept)
        assert kept == list(range(first, first + len(kept)))
        assert (row["trace"]["dropped"] >= SENDS - len(kept)) == (policy == "drop")
        assert (row["trace"]["overwritten_bytes"] > 0) == (policy == "overwrite")
    assert left_in_memory(measured.directory) == []


@both_families
def test_only_what_is_young_is_kept(mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path) -> None:
    measured = measure(tare, mpi, RANKS, [killed, "alive", "3"], tmp_path / "run", "--keep", "last:2.5s")
    assert measured.ended.returncode == 0, measured.ended.stderr
    functions = Counter(event["function"] for event in measured.events())
    assert functions == {"MPI_Barrier": RANKS, "MPI_Finalize": RANKS}


@both_families
@pytest.mark.parametrize(("kept", "are_matched"), [("2s", False), ("1h", True)])
def test_of_ranks_that_kept_other_times_nothing_is_matched(
    kept: str, are_matched: bool, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """The first message, or barrier, that one has kept is a later one of the other."""
    program = compile_c(mpi, [PROGRAMS / "lives_longer.c"], tmp_path / "lives_longer")
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--keep", f"last:{kept}")
    assert measured.ended.returncode == 0, measured.ended.stderr
    barriers = {
        rank: len(measured.events("--rank", str(rank), "--function", "MPI_Barrier")) for rank in (0, 1)
    }
    assert (barriers[0] == barriers[1] == 40) if are_matched else (0 < barriers[1] < barriers[0] < 40)
    run = tare_package.open(measured.directory)
    messages = pa.table(run.messages).to_pylist()
    assert [(each["bytes"], each["received_bytes"]) for each in messages] == (
        [(size, size) for size in range(1, 41)] if are_matched else []
    )
    assert pa.table(run.collectives).num_rows == (2 * 40 if are_matched else 0)
    trace = run.total_trace()
    assert bool(trace.overwritten_bytes) == (not are_matched)


@both_families
@pytest.mark.parametrize("repeat", range(KILLS))
def test_killed_at_any_moment(
    repeat: int, mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path
) -> None:
    """Every call that had returned is there, and at most one more, which was about to return."""
    chance = random.Random(repeat)
    drain = "tared" if repeat % 3 == 0 else "inline"
    with Running(tare, mpi, killed, tmp_path, "--drain", drain) as running:
        time.sleep(chance.uniform(0, 0.4))
        victims = list(range(RANKS)) if repeat % 2 else [chance.randrange(RANKS)]
        for rank in victims:
            with suppress(ProcessLookupError):  # the launcher may have been faster with the others
                os.kill(running.progress(rank).pid, signal.SIGKILL)
        running.process.wait(timeout=60)
    measured = running.measurement()
    states = {row["rank"]: row["state"] for row in measured.info()["ranks"]}
    assert set(states) == set(range(RANKS))
    assert all(states[rank] == "killed" for rank in victims)
    assert_complete(measured, running)
    assert left_in_memory(measured.directory) == []


@both_families
@pytest.mark.parametrize("drain", ["inline", "tared"])
def test_everything_is_killed(
    drain: str, mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path
) -> None:
    """tare itself, the launcher and the ranks: what is left is readable as it is, and after `recover`."""
    with Running(tare, mpi, killed, tmp_path, "--drain", drain) as running:
        time.sleep(0.2)
        running.kill_all()
    assert_tared_ends(running.directory)
    measured = running.measurement()
    assert {row["state"] for row in measured.info()["ranks"]} == {"killed"}
    assert_complete(measured, running)
    before = sites_of(measured)
    subprocess.run([str(tare), "recover", str(measured.directory)], check=True, capture_output=True)
    assert left_in_memory(measured.directory) == []
    assert sites_of(measured) == before
    assert_complete(measured, running)


@both_families
def test_tare_alone_is_killed(mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path) -> None:
    """The job goes on without it, and nothing of it is lost."""
    with Running(tare, mpi, killed, tmp_path) as running:
        running.process.kill()
        running.process.wait()
        before = [running.progress(rank).returned for rank in range(RANKS)]
        wait_until(
            lambda: all(running.progress(rank).returned >= before[rank] + 1000 for rank in range(RANKS))
        )
        os.killpg(running.process.pid, signal.SIGKILL)  # the launcher
        for rank in range(RANKS):
            with suppress(ProcessLookupError):
                os.kill(running.progress(rank).pid, signal.SIGKILL)
        running.kill_all()
    subprocess.run([str(tare), "recover", str(running.directory)], check=True, capture_output=True)
    measured = running.measurement()
    assert left_in_memory(measured.directory) == []
    assert_complete(measured, running)


@both_families
def test_seen_while_it_runs(mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path) -> None:
    """A run can be read before it has ended, and reading does not disturb it."""
    with Running(tare, mpi, killed, tmp_path) as running:
        time.sleep(0.1)
        returned = sum(running.progress(rank).returned for rank in range(RANKS))
        measured = running.measurement()
        assert {row["state"] for row in measured.info()["ranks"]} == {"running"}
        assert measured.calls()["MPI_Send"] >= returned
        running.kill_all()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={TOO_SMALL_DISK}", "tare-test", str(place)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(f"cannot mount a small disk; run this test as root: {done.stderr.strip()}", pytrace=False)
    try:
        yield place
    finally:
        for directory in place.glob("*/"):
            for segment in left_in_memory(directory):
                segment.unlink()
        subprocess.run(["umount", str(place)], check=True)


@both_families
@pytest.mark.parametrize("is_quiet", [False, True])
def test_full_disk(is_quiet: bool, mpi: MpiEnvironment, killed: Path, tare: Path, small_disk: Path) -> None:
    directory = small_disk / "run"
    prefix: list[Path | str] = [tare, "run", *(["-q"] if is_quiet else []), "--trace", "-o", directory, "--"]
    ended = run(mpi, RANKS, [killed, "many"], prefix=prefix)
    assert (ended.returncode, ended.stdout) == (0, "ok\n"), ended.stderr
    measured = Measurement(tare, directory, ended)

    info = measured.info()
    dropped, events = info["trace"]["dropped"], info["trace"]["records"]
    assert dropped > 0
    said = f"tare: the trace lacks {dropped:,}" if is_quiet else f"DROPPED    {dropped:,}"
    assert f"{said} records: no space" in ended.stderr, "the loss is hidden"
    assert events + dropped >= RANKS * MANY
    assert [(row["rank"], row["state"]) for row in info["ranks"]] == [(r, "finished") for r in range(RANKS)]
    assert measured.calls()["MPI_Send"] == RANKS * MANY  # the profile has lost nothing
    assert measured.events("--limit", "1000")  # and what was written can be read


def segments_of(directory: Path) -> list[Path]:
    return sorted(path for path in left_in_memory(directory) if path.suffix != ".step")


def fill(disk: Path) -> None:
    with (disk / "fill").open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


@both_families
def test_recovery_on_a_full_disk(
    mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path, small_disk: Path
) -> None:
    """One line says what to do, and nothing is lost until it has been done."""
    (small_disk / "run").mkdir()
    (tmp_path / "run").symlink_to(small_disk / "run")
    # So many calls, of which none has been written, do not fit into what is left of the file's last page.
    with Running(tare, mpi, killed, tmp_path, "--buffer", "1M") as running:
        running.wait_for_calls(10_000)
        running.kill_all()
        measured = running.measurement()
    segments = segments_of(measured.directory)
    for reserve in (small_disk / "run").glob(".reserve*"):
        reserve.unlink()  # as if there were more ranks than it has room for
    fill(small_disk)
    calls, events = measured.calls(), measured.info()["trace"]["records"]
    for _ in range(2):
        done = subprocess.run([str(tare), "recover", str(small_disk / "run")], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            "tare: disk full: the results of 2 processes are kept in /dev/shm; free space and run "
            f"`tare recover {small_disk}/run`\n"
        )
        assert segments_of(measured.directory) == segments != []
        assert measured.calls() == calls
    (small_disk / "fill").unlink()
    done = subprocess.run([str(tare), "recover", str(small_disk / "run")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert left_in_memory(measured.directory) == []
    assert (measured.calls(), measured.info()["trace"]["records"]) == (calls, events)
    fill(small_disk)  # with nothing but meta.json to be written
    done = subprocess.run([str(tare), "recover", str(small_disk / "run")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"tare: cannot write to {small_disk}/run (No space left on device); free space and run "
        f"`tare recover {small_disk}/run`\n"
    )


@dataclass(frozen=True)
class Progress:
    pid: int
    returned: int


class Running:
    """`killed forever` under tare; leaves no process behind."""

    def __init__(
        self, tare: Path, env: MpiEnvironment, program: Path, directory: Path, *options: str
    ) -> None:
        self.tare, self.directory = tare, directory / "run"
        self.file = directory / "progress"
        all_options = ["--trace", "--buffer", "64K", "--quiet", *options, "-o", str(self.directory)]
        launch = [*env.mpiexec, "-n", str(RANKS), str(program), "forever", str(self.file)]
        self.process = subprocess.Popen(
            [str(tare), "run", *all_options, "--", *launch],
            env=env.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Running:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not all(self.has_started(rank) for rank in range(RANKS)):
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.kill_all()
                pytest.fail(f"the program did not start within {START_TIMEOUT_S} s")
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()

    def has_started(self, rank: int) -> bool:
        return self.path(rank).exists() and self.progress(rank).returned > 0

    def wait_for_calls(self, count: int) -> None:
        """Waits until each rank has made so many."""
        wait_until(
            lambda: all(self.progress(rank).returned >= count for rank in range(RANKS)), process=self.process
        )

    def path(self, rank: int) -> Path:
        return self.file.with_name(f"{self.file.name}.{rank}")

    def progress(self, rank: int) -> Progress:
        return Progress(*struct.unpack("qq", self.path(rank).read_bytes()))

    def kill_all(self) -> None:
        """tare and the launcher, which are one group, and the ranks, which may be others."""
        with_pids = [self.progress(rank).pid for rank in range(RANKS) if self.path(rank).exists()]
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for pid in with_pids:
                if is_running(pid):
                    os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while any(is_running(pid) for pid in with_pids) and time.monotonic() < deadline:
            time.sleep(0.01)

    def measurement(self) -> Measurement:
        ended = subprocess.CompletedProcess[str](self.process.args, self.process.returncode or 0)
        return Measurement(self.tare, self.directory, ended)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def assert_tared_ends(directory: Path) -> None:
    """tared of a run, if there is one."""
    wait_until(lambda: not processes_of(directory))


def processes_of(directory: Path) -> list[str]:
    """Command lines of processes that name a run directory."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            lines += [line] if str(directory) in line else []
    return lines


def assert_complete(measured: Measurement, running: Running) -> None:
    returned = {rank: running.progress(rank).returned for rank in range(RANKS)}
    total = sum(returned.values())
    assert total <= measured.calls()["MPI_Send"] <= total + RANKS
    for rank in range(RANKS):
        events = [row for row in measured.events("--rank", str(rank)) if row["function"] == "MPI_Send"]
        assert returned[rank] <= len(events) <= returned[rank] + 1
        starts = [row["start_ns"] for row in events]
        assert starts == sorted(starts)


def sites_of(measured: Measurement) -> list[tuple[object, ...]]:
    """Everything but times, which get more exact when the clock is read once more."""
    fields = ("world", "function", "file", "line", "caller", "object", "calls", "bytes")
    return sorted(tuple(row[field] for field in fields) for row in measured.profile("site"))
