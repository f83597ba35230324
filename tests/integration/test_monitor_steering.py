"""`tare monitor`: changes of the monitoring of a running job, and messages to its ranks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import tare as package
from environments import PYTHON, ROOT, MpiEnvironment, compile_c, compile_fortran, mpich4, openmpi4
from measured import PROGRAMS, WITH_API
from on_mpi import both_families
from patience import wait_until
from tare._native import Round
from tare.errors import CommandError
from tare.runs.rounds import RoundFile

RANKS = 3
PATIENCE_S = 60
POINTS = "points,policy=nonblock"


@dataclass
class Job:
    tare: Path
    run: Path
    output: Path

    def rounds(self) -> list[Round]:
        return [made for file in self.run.glob("monitor-*.tare") for made in RoundFile(file).read()]

    def steer(self, *options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.tare, "monitor", self.run, *map(str, options)],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip

    def from_round(self, *options: object) -> int:
        """The first round of a request that is followed."""
        done = self.steer(*options)
        assert done.returncode == 0, done.stderr
        *_, last = done.stdout.splitlines()
        return int(last.split(": from round ")[1].split()[0])

    def wait_for_round(self, number: int) -> None:
        wait_until(lambda: any(made.round >= number for made in self.rounds()))

    def lines(self) -> list[list[str]]:
        return [line.split(" ") for line in self.output.read_text().splitlines()]


@contextmanager
def running(
    tare: Path, mpi: MpiEnvironment, folder: Path, argv: Sequence[object], spec: str
) -> Iterator[Job]:
    """A job until its end, which has to be a good one."""
    job = Job(tare, folder / "run", folder / "output")
    end = folder / "end"
    command = [
        tare,
        "run",
        "-q",
        f"--monitor={spec}",
        "-o",
        job.run,
        "--",
        *mpi.mpiexec,
        "-n",
        RANKS,
        *argv,
        end,
    ]
    with (
        job.output.open("w") as output,
        subprocess.Popen(
            list(map(str, command)), env=mpi.environ(), stdout=output, stderr=subprocess.PIPE
        ) as process,
    ):
        try:
            wait_until(lambda: len(job.rounds()) > 3)
            yield job
        finally:
            end.touch()
            _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said


@pytest.fixture
def steered(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "steered.c"], tmp_path / "steered", *WITH_API)


@pytest.fixture
def monitored(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "monitored.c"], tmp_path / "monitored", *WITH_API)


@both_families
def test_messages_reach_all_ranks_at_the_same_point(
    mpi: MpiEnvironment, steered: Path, tare: Path, tmp_path: Path
) -> None:
    with running(tare, mpi, tmp_path, [steered], POINTS) as job:
        done = job.steer("--send", "level=-3", "--send", "eps=1e-3", "--send", "what=go on, please")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(": from round ") == 3
        job.from_round("--send", "only=7", "--rank", "1")
        job.from_round("--send", "word=12", "--text")
        wait_until(lambda: sum(line[2] == "word" for line in job.lines()) == RANKS)
    lines = job.lines()
    for name, said in (("level", "1 -3 0 ''"), ("eps", "2 0 0.001 ''"), ("what", "3 0 0 'go on, please'"),
                       ("word", "3 0 0 '12'")):  # fmt: skip
        got = [line for line in lines if line[2] == name]
        assert sorted(line[0] for line in got) == ["0", "1", "2"]
        assert len({line[1] for line in got}) == 1, "all ranks are at the same point"
        assert {" ".join(line[3:-1]) for line in got} == {said}
        assert {line[-1] for line in got} == {"0"}
    assert [line[0] for line in lines if line[2] == "only"] == ["1"]


@both_families
def test_the_interval_changes_for_all_ranks_at_the_same_round(
    mpi: MpiEnvironment, steered: Path, tare: Path, tmp_path: Path
) -> None:
    with running(tare, mpi, tmp_path, [steered], POINTS) as job:
        first = job.from_round("--set", "every=5")
        second = job.from_round("--set", "every=2")
        job.wait_for_round(second + 10)
    found = [made for made in job.rounds() if made.ranks]
    assert all(list(made.ranks) == list(range(RANKS)) and not made.lost for made in found)
    numbers = [made.round for made in found]
    assert numbers[: numbers.index(first)] == list(range(numbers[0], first))
    between = [number for number in numbers if first <= number < second]
    assert between == list(range(first, second, 5))
    after = [number for number in numbers if number >= second]
    assert after == list(range(second, after[-1] + 1, 2))


@both_families
def test_the_filter_changes_for_all_ranks_at_the_same_round(
    mpi: MpiEnvironment, steered: Path, tare: Path, tmp_path: Path
) -> None:
    with running(tare, mpi, tmp_path, [steered], POINTS) as job:
        first = job.from_round("--set", "filter=none")
        job.wait_for_round(first + 10)
        second = job.from_round("--set", "filter=statistics,only=MPI_Barrier")
        job.wait_for_round(second + 10)
    found = job.rounds()
    assert [made.round for made in found] == list(range(found[0].round, found[-1].round + 1))
    for made in found:
        assert list(made.ranks) == list(range(RANKS)) and not made.lost
        expected = "statistics+histogram:16:time" if made.round < first else "none"
        assert made.filter == ("statistics" if made.round >= second else expected)
        if made.round >= second:
            assert [event.name for event in made.events] == ["MPI_Barrier"]
            assert made.events[0].calls.mean == made.round
        elif made.round < first:
            assert "MPI_Allreduce" in [event.name for event in made.events]


def test_with_points_of_the_clock(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "monitored.c"], tmp_path / "monitored", *WITH_API)
    with running(tare, mpi, tmp_path, [program, "calls", 500], "20ms") as job:
        first = job.from_round("--set", "interval=100ms")
        job.wait_for_round(first + 20)
        refused = job.steer("--set", "interval=50ms")
        assert refused.returncode == 2 and "multiple" in refused.stderr
    numbers = [made.round for made in job.rounds() if made.ranks and made.round >= first]
    assert len(numbers) >= 4 and {(number - first) % 5 for number in numbers} == {0}


def test_messages_in_fortran(tare: Path, tmp_path: Path) -> None:
    mpi = mpich4()
    sources = [ROOT / "fortran" / "tare.f90", PROGRAMS / "steered.f90"]
    program = compile_fortran(mpi, sources, tmp_path / "steered", *WITH_API)
    with running(tare, mpi, tmp_path, [program], POINTS) as job:
        for said in ("level=5", "eps=0.125", "what=go on"):
            job.from_round("--send", said)
        wait_until(lambda: sum(line[1] == "what" for line in job.lines()) == RANKS)
    assert sorted(" ".join(line) for line in job.lines()) == sorted(
        f"{rank} {said}" for rank in range(RANKS) for said in ("level 5", "eps .125", "what go on")
    )


def test_messages_in_python(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    with running(tare, mpi, tmp_path, [PYTHON, PROGRAMS / "steered.py"], POINTS) as job:
        for name, value in (("level", 5), ("eps", 0.25), ("what", "ä")):
            assert package.send(job.run, name, value) > 0
        wait_until(lambda: sum(line[1] == "what" for line in job.lines()) == RANKS)
        with pytest.raises(ValueError, match="64 bytes"):
            package.send(job.run, "what", "x" * 65)
    assert sorted(" ".join(line) for line in job.lines()) == sorted(
        f"{rank} {said} 0" for rank in range(RANKS) for said in ("level 5", "eps 0.25", "what 'ä'")
    )
    with pytest.raises(CommandError, match="has ended"):
        package.send(job.run, "level", 6)


def test_what_cannot_be_done_is_refused_in_one_line(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "steered.c"], tmp_path / "steered", *WITH_API)

    def refused(job: Job, code: int, word: str, *options: object) -> None:
        done = job.steer(*options)
        assert done.returncode == code, (options, done.stdout, done.stderr)
        assert word in done.stderr and len(done.stderr.splitlines()) == 1, (options, done.stderr)

    with running(tare, mpi, tmp_path, [program], POINTS) as job:
        refused(job, 2, "nothing to do")
        refused(job, 2, "policy cannot change", "--set", "policy=block")
        refused(job, 2, "'x=1'", "--set", "x=1")
        refused(job, 2, "write every=N", "--set", "interval=1s")
        refused(job, 2, "number of points", "--set", "every=0")
        refused(job, 2, "filter=magic", "--set", "filter=magic")
        refused(job, 1, "'0'", "--set", "filter=histogram:0")
        refused(job, 2, "level=3", "--send", "level")
        refused(job, 2, "no name", "--send", "a b=3")
        refused(job, 2, "64 bits", "--send", "a=99999999999999999999")
        refused(job, 2, "64 bytes", "--send", "a=" + 65 * "x")
        refused(job, 2, "--rank", "--set", "every=2", "--rank", "1")
        refused(job, 1, "no rank 7", "--send", "a=3", "--rank", "7")
        # From other programs of the user.
        with (job.run / "tree" / "controls").open("a") as file:
            file.write("nonsense\n" + 5000 * "x" + "\nt set every=99999999\n")
        job.from_round("--send", "a=1")
    refused(job, 1, "has ended", "--send", "a=1")
    plain = Job(tare, tmp_path / "plain", tmp_path / "nothing")
    subprocess.run([tare, "run", "-q", "-o", plain.run, "--", "true"], check=True, timeout=PATIENCE_S)
    refused(plain, 1, "is not monitored", "--send", "a=1")


@pytest.mark.parametrize("spec", ["auto:50ms", "points,every=auto"])
def test_who_chooses_the_interval_keeps_it(spec: str, tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "steered.c"], tmp_path / "steered", *WITH_API)
    with running(tare, mpi, tmp_path, [program], spec) as job:
        done = job.steer("--set", "every=3")
        assert done.returncode == 2 and "auto" in done.stderr
        job.from_round("--send", "a=1")
        wait_until(lambda: sum(line[2] == "a" for line in job.lines()) == RANKS)
