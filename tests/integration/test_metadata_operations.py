"""What a run asks of the file system of its directory, which many nodes share: it is counted by strace."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, mpich4, run
from measured import PROGRAMS
from tare.runs.directory import ASKED

# docs/environment.md states these.
OF_A_RANK = {"open": 2, "stat": 4, "change": 0}
OF_A_RUN = 200
CALLS = {
    "open": "open openat openat2 creat",
    "stat": "stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat",
    "change": "mkdir mkdirat unlink unlinkat rmdir rename renameat renameat2 link linkat symlink symlinkat "
    "mknodat chmod fchmod fchmodat chown fchown fchownat truncate ftruncate fallocate utimensat",
}
KINDS = {call: kind for kind, calls in CALLS.items() for call in calls.split()}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[MpiEnvironment, Path]:
    mpi = mpich4()
    return mpi, compile_c(mpi, [PROGRAMS / "brief.c"], tmp_path_factory.mktemp("metadata") / "rank-of-a-job")


def operations(
    program: tuple[MpiEnvironment, Path], tare: Path, ranks: int, to: Path, *options: str
) -> dict[str, dict[str, int]]:
    """How often each kind of call names the run directory or what is in it, in ranks and elsewhere."""
    mpi, rank = program
    directory, told = to / "the-run", to / "calls"
    trace: list[Path | str] = ["strace", "-f", "-y", "-qq", "-e", "trace=%file,%desc,execve", "-o", told]
    ended = run(
        mpi,
        ranks,
        [rank, "3", "30"],
        prefix=[*trace, tare, "run", "--quiet", *options, "-o", directory, "--"],
        timeout_s=300,
    )
    assert ended.returncode == 0, ended.stderr
    lines = [line.split(None, 1) for line in told.read_text(errors="replace").splitlines()]
    of_ranks = {pid for pid, call in lines if call.startswith(f'execve("{rank}"')}
    assert len(of_ranks) == ranks
    counts: dict[str, dict[str, int]] = {who: defaultdict(int) for who in ("ranks", "others")}
    for pid, call in lines:
        kind = KINDS.get(re.split(r"\W", call, maxsplit=1)[0])
        # Questions of other hosts are looked for every five seconds, however long the run takes.
        if (
            kind
            and f"/{ASKED}" not in call
            and f'"{ASKED}"' not in call
            and re.search(rf'{re.escape(str(directory))}[/">]', call)
        ):
            counts["ranks" if pid in of_ranks else "others"][kind] += 1
    return counts


@pytest.mark.parametrize("options", [(), ("--trace",)], ids=["profile", "trace"])
def test_a_rank_asks_little(
    program: tuple[MpiEnvironment, Path], tare: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    few, many = 2, 6
    found = {}
    for ranks in (few, many):
        (tmp_path / str(ranks)).mkdir()
        counts = operations(program, tare, ranks, tmp_path / str(ranks), *options)
        assert not counts["ranks"], "a rank does not touch the run directory"
        found[ranks] = counts["others"]
    assert sum(found[few].values()) <= OF_A_RUN
    for kind, most in OF_A_RANK.items():
        more = found[many][kind] - found[few][kind]
        assert more <= most * (many - few), (kind, found)
    assert found[many]["open"] > found[few]["open"], "the results of each rank were collected"
