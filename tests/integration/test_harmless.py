"""A measured program ends as it would have ended, and says what it would have said, whatever it does."""

from __future__ import annotations

import platform
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from environments import MpiEnvironment, all_environments, compile_c, mpich4, openmpi4, run
from expectations import symbols_of
from measured import PROGRAMS, Measurement, left_in_memory, measure
from verbs import ask

RANKS = 2
ALLREDUCES, SENDS = 10, 1000  # of one work() in behaviour.c

# How often each rank of behaviour.c does its work, by mode.
WORKS = {
    "plain": 1,
    "exit_late": 1,
    "no_finalize": 1,
    "abort": 1,
    "exit": 1,
    "exit_at_once": 1,
    "segv": 1,
    "term": 1,
    "fork_exit": 2,
    "fork_exec": 2,
    "shell": 1,
    "chdir": 2,
    "close_fds": 101,
}
FIRST_RANK_STATE = {"abort": "aborted", "segv": "killed", "term": "killed", "exit_at_once": "exited"}
WAITING_RANKS_STATE = {"abort", "exit", "exit_at_once", "segv", "term"}  # their launcher kills the others
FINALIZED = {"plain", "fork_exit", "fork_exec", "shell", "chdir", "close_fds"}
ALONE = ["plain", "close_all_first", "close_fds", "exit", "abort", "segv", "term"]

# Most of it is the same under every MPI of a family; how ranks and launchers end one another is not.
EVERYWHERE = ["plain", "abort", "exit_at_once", "segv", "fork_exec"]
ALONE_EVERYWHERE = ["plain", "close_all_first", "abort"]

# Debian's MPICH refuses MPI_Comm_spawn under its own mpiexec.
NO_SPAWN = {"debian-mpich"}
# Intel's needs to be told, and a fabric other than shared memory.
SPAWNING = {"I_MPI_SPAWN": "on", "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}

# A launcher does not say the same each time when a rank fails: the measured run must equal one of so many.
PLAIN_RUNS = 6
# And what it still lets the others do and say is a matter of luck, also without tare: a difference counts if
# it is there every time.
by_luck = pytest.mark.flaky(reruns=2)


def modes(chosen: Iterable[str], everywhere: Sequence[str]) -> pytest.MarkDecorator:
    """The parameters `mpi` and `mode`: some modes on every MPI, the others on Debian's."""
    of_launcher = {"exit_late", *WAITING_RANKS_STATE}
    debian = (openmpi4(), mpich4())
    cases = [
        pytest.param(env, mode, id=f"{env.name}-{mode}", marks=by_luck if mode in of_launcher else ())
        for env in all_environments()
        for mode in chosen
        if mode in everywhere or env in debian
    ]
    return pytest.mark.parametrize(("mpi", "mode"), cases, indirect=["mpi"])


@pytest.fixture(scope="session")
def behaviour(mpi: MpiEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp(f"behaviour-{mpi.name}")
    return compile_c(mpi, [PROGRAMS / "behaviour.c"], directory / "behaviour")


@modes(WORKS, EVERYWHERE)
def test_under_a_launcher(
    mode: str, mpi: MpiEnvironment, behaviour: Path, tare: Path, tmp_path: Path
) -> None:
    measured = measure(tare, mpi, RANKS, [behaviour, mode], tmp_path / "run", "--trace", "--buffer", "64K")
    assert_own_files_untouched(behaviour)
    if mode == "abort":
        assert_no_more(measured.ended, lambda: run(mpi, RANKS, [behaviour, mode]))
    else:
        assert_same(measured.ended, lambda: run(mpi, RANKS, [behaviour, mode]))
    assert_worked(measured, RANKS * WORKS[mode])
    states = [row["state"] for row in measured.info()["ranks"]]
    assert len(states) == RANKS
    if mode == "exit_late":  # once a rank has failed its launcher may kill the other, on its last steps
        assert "finished" in states and set(states) <= {"finished", "killed"}
    elif mode in FINALIZED:
        assert states == ["finished"] * RANKS
    if mode in FIRST_RANK_STATE:
        assert states[0] == FIRST_RANK_STATE[mode]
    if mode in WAITING_RANKS_STATE:
        assert states[1:] == ["killed"] * (RANKS - 1)
    assert_tidy(measured)


@modes(ALONE, ALONE_EVERYWHERE)
def test_without_a_launcher(
    mode: str, mpi: MpiEnvironment, behaviour: Path, tare: Path, tmp_path: Path
) -> None:
    measured = measure_alone(mpi, tare, [behaviour, mode], tmp_path / "run", "--trace", "--buffer", "64K")
    assert_own_files_untouched(behaviour)
    assert_same(measured.ended, lambda: run_alone(mpi, [behaviour, mode]))
    assert_worked(measured, WORKS.get(mode, 1))
    assert len(measured.info()["ranks"]) == 1
    assert_tidy(measured)


def test_relative_directory(mpi: MpiEnvironment, behaviour: Path, tare: Path, tmp_path: Path) -> None:
    """A program that changes its directory writes where it was told before."""
    measured = measure(
        tare, mpi, RANKS, [behaviour, "chdir"], Path("run"), "--trace", "--buffer", "64K", cwd=tmp_path
    )
    measured = Measurement(tare, tmp_path / "run", measured.ended)
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert_worked(measured, RANKS * WORKS["chdir"])
    assert_tidy(measured)


@by_luck
def test_spawn(mpi: MpiEnvironment, behaviour: Path, tare: Path, tmp_path: Path) -> None:
    env = replace(mpi, env={**mpi.env, **SPAWNING})
    plain = run(env, RANKS, [behaviour, "spawn"])
    assert (plain.returncode == 0) == (mpi.name not in NO_SPAWN), plain.stderr
    measured = measure(tare, env, RANKS, [behaviour, "spawn"], tmp_path / "run", "--trace")
    assert_tidy(measured)
    if mpi.name in NO_SPAWN:
        assert measured.ended.returncode == plain.returncode
        # One rank or both complain before the launcher ends them.
        assert set(lines(measured.ended.stderr)) == set(lines(plain.stderr))
        assert_worked(measured, RANKS)
        return
    assert_same(measured.ended, lambda: run(env, RANKS, [behaviour, "spawn"]))
    assert_worked(measured, RANKS + 1)
    calls = measured.calls()
    assert calls["MPI_Comm_spawn"] == RANKS
    assert calls["MPI_Barrier"] == 2 * RANKS + 1
    assert calls["MPI_Comm_disconnect"] == RANKS + 1
    ranks = measured.info()["ranks"]
    assert sorted(Counter(row["world"] for row in ranks).values()) == [1, RANKS]
    assert {row["state"] for row in ranks} == {"finished"}


def test_sessions_only(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    if mpi.family == "openmpi":
        pytest.skip(f"{mpi.name} implements MPI 3, which has no sessions")
    program = compile_c(mpi, [PROGRAMS / "sessions.c"], tmp_path / "sessions")
    assert "mpi_init" not in symbols_of(program)
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    calls = measured.calls()
    assert calls["MPI_Allreduce"] == RANKS * 10
    assert calls["MPI_Session_init"] == calls["MPI_Session_finalize"] == RANKS
    info = measured.info()
    assert [(row["rank"], row["state"]) for row in info["ranks"]] == [
        (rank, "finished") for rank in range(RANKS)
    ]
    # The sessions begin and end the net time; the program goes on for 300 ms.
    for row in info["ranks"]:
        assert 0 < row["mpi_ns"] <= row["net_ns"] < row["wall_ns"] - 3e8
    said = ask(tare, "info", tmp_path / "run", check=True).stdout
    (hooks,) = (line for line in said.splitlines() if line.startswith("  hooks "))
    assert hooks.endswith(" in MPI_Session_init")
    assert_tidy(measured)


def test_destructor_of_a_library(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """MPI starts in a library's constructor and ends in its destructor."""
    library = tmp_path / "libdestructor.so"
    compile_c(mpi, [PROGRAMS / "destructor_library.c"], library, "-shared", "-fPIC")
    program = compile_c(
        mpi, [PROGRAMS / "destructor.c", library], tmp_path / "destructor", f"-Wl,-rpath,{tmp_path}"
    )
    measured = measure(tare, mpi, 1, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    assert_same(measured.ended, lambda: run(mpi, 1, [program]))
    calls = measured.calls()
    assert (calls["MPI_Init"], calls["MPI_Barrier"], calls["MPI_Finalize"]) == (1, 5 + 1, 1)
    assert [row["state"] for row in measured.info()["ranks"]] == ["finished"]
    events = Counter(row["function"] for row in measured.events())
    assert (events["MPI_Barrier"], events["MPI_Finalize"]) == (6, 1)
    assert_tidy(measured)


def test_communicators_freed_in_a_callback(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "callback_frees.c"], tmp_path / "callback_frees")
    plain = run(mpi, RANKS, [program])
    assert (plain.returncode, plain.stdout) == (0, "ok\n"), plain.stderr
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    rows = {row["function"]: row for row in measured.profile("function")}
    # In each round a rank is once the root, which sends an int, and once receives one.
    assert rows["MPI_Scatterv"]["calls"] == RANKS * 2 * 20
    assert rows["MPI_Scatterv"]["bytes"] == RANKS * 2 * 20 * 4


def test_summary_follows_the_output(mpi: MpiEnvironment, behaviour: Path, tare: Path, tmp_path: Path) -> None:
    plain = run(mpi, RANKS, [behaviour, "shell"])
    measured = run(
        mpi, RANKS, [behaviour, "shell"], prefix=[tare, "run", "--trace", "-o", tmp_path / "run", "--"]
    )
    # Shells of several ranks write at once: a launcher may put a line of one into that of another.
    assert (measured.returncode, characters(measured.stdout)) == (plain.returncode, characters(plain.stdout))
    assert measured.stderr.startswith(plain.stderr)
    assert str(tmp_path / "run") in measured.stderr.replace("\n", "")


SHELL = """echo out; echo error >&2; ls -d / | cat; bash -c 'ls -d /tmp'; python3 -c 'print(1)'; exit 4"""


@pytest.mark.parametrize(
    "command", [["bash", "-c", SHELL], ["sh", "-c", "kill -TERM $$"], ["true"], ["false"]]
)
def test_processes_without_mpi(command: list[str], tare: Path, tmp_path: Path) -> None:
    """Shells, interpreters and tools leave nothing; tare adds the line that says so."""
    plain = subprocess.run(command, capture_output=True, text=True)
    prefix = [str(tare), "run", "--quiet", "--trace", "-o", str(tmp_path / "run"), "--"]
    ended = subprocess.run([*prefix, *command], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (plain.returncode, plain.stdout)
    assert ended.stderr.splitlines()[:-1] == plain.stderr.splitlines()
    assert ended.stderr.splitlines()[-1].startswith("tare: no process of this command recorded a call of MPI")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["meta.json"]
    assert left_in_memory(tmp_path / "run") == []


def run_alone(env: MpiEnvironment, command: list[Path | str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        env=env.environ(),
    )


def measure_alone(
    env: MpiEnvironment, tare: Path, command: list[Path | str], directory: Path, *options: str
) -> Measurement:
    ended = run_alone(env, [tare, "run", "--quiet", *options, "-o", directory, "--", *command])
    return Measurement(tare, directory, ended)


Ended = subprocess.CompletedProcess[str]


def assert_same(measured: Ended, run_plain: Callable[[], Ended]) -> None:
    """The exit code and output are those of an unmeasured run."""
    for _ in range(PLAIN_RUNS):
        plain = run_plain()
        if outcome(plain) == outcome(measured):
            return
    assert outcome(measured) == outcome(plain)


def assert_no_more(measured: Ended, run_plain: Callable[[], Ended]) -> None:
    """Asserts what assert_same does, but lines may be missing: launchers that abort lose output.

    (MPICH's does once in 25 runs; test_without_a_launcher compares every line.)
    """
    plain = [run_plain() for _ in range(2)]
    assert measured.returncode == plain[0].returncode
    said = {line for each in plain for line in lines(each.stdout) + lines(each.stderr)}
    assert set(lines(measured.stdout) + lines(measured.stderr)) <= said


def outcome(ended: Ended) -> tuple[int, Counter[str], Counter[str]]:
    """The outcome without numbers (of processes, ranks, addresses), in any order: several processes speak.

    Characters, not lines, because the output of one may come between a line of another and its end.
    """
    return ended.returncode, characters(ended.stdout), characters(ended.stderr)


def characters(text: str) -> Counter[str]:
    return Counter("".join(lines(text)))


def lines(text: str) -> list[str]:
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text.replace(platform.node(), "HOST"))
    text = re.sub(r"\d+", "NUMBER", text)
    # Open MPI's run-time complains now and then about its own messages.
    noise = ("PMIX ERROR", "ORTE_ERROR_LOG")
    return sorted(
        line.rstrip()
        for line in text.splitlines()
        if line.strip() and not any(word in line for word in noise)
    )


def assert_worked(measured: Measurement, works: int) -> None:
    calls, events = measured.calls(), Counter(row["function"] for row in measured.events())
    for function, each in (("MPI_Allreduce", ALLREDUCES), ("MPI_Send", SENDS)):
        assert calls[function] == works * each
        assert events[function] == works * each


def assert_own_files_untouched(program: Path) -> None:
    for path in program.parent.glob(f"{program.name}.own.*"):
        assert path.stat().st_size == 0, f"somebody wrote into {path}"
        path.unlink()


def assert_tidy(measured: Measurement) -> None:
    """Nothing is left but the run directory with its two files."""
    names = sorted(path.name for path in measured.directory.iterdir())
    assert names == sorted([f"{platform.node()}.tare", "meta.json"])
    assert left_in_memory(measured.directory) == []
