"""Results that cannot be collected, or that are not this run's to collect."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, run
from measured import PROGRAMS, Measurement, left_in_memory
from on_mpi import both_families
from unfinished import RANKS, hanging
from verbs import ask

NOBODY = 65534
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounts a file system, and is another user for a while"
)

# Mounts a file system at $1, runs the command behind it, and copies to $1.kept what is there then.
_ON_A_DISK = """
mount --make-rprivate / && mount -t tmpfs tmpfs "$1" || exit 99
disk=$1; shift; "$@"; code=$?; cp -a "$disk" "$disk.kept"; exit $code
"""
# Runs the command, and makes the file system at $1 read-only.
_THEN_READ_ONLY = 'disk=$1; shift; "$@"; code=$?; mount -o remount,ro "$disk"; exit $code'


@both_families
def test_a_failure_to_collect_is_told_however_quiet(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    program = compile_c(mpi, [PROGRAMS / "shared_window.c"], tmp_path / "window")
    prefix: list[Path | str] = [
        "unshare",
        "-m",
        "sh",
        "-c",
        _ON_A_DISK,
        "sh",
        disk,
        tare,
        "run",
        "-q",
        "-o",
        disk / "run",
        "--",
    ]
    ended = run(mpi, RANKS, [program, "1"], prefix=[*prefix, "sh", "-c", _THEN_READ_ONLY, "sh", disk])
    assert (ended.returncode, ended.stdout) == (0, "done\n"), "the program has not failed"
    kept, unwritten = ended.stderr.splitlines()
    read_only = f"cannot write to {disk}/run (Read-only file system)"
    assert kept == (
        f"tare: {read_only}: the results of {RANKS} processes are kept in /dev/shm; make it writable and run "
        f"`tare recover {disk}/run`"
    )
    assert unwritten == f"tare: {read_only}; make it writable and run `tare recover {disk}/run`"
    measured = Measurement(tare, Path(f"{disk}.kept") / "run", ended)
    told = ask(tare, "info", measured.directory, check=True).stdout
    assert "could not write how it ended" in " ".join(told.split())
    subprocess.run([tare, "recover", measured.directory], check=True, capture_output=True)
    assert measured.calls()["MPI_Barrier"] == RANKS * 100
    assert left_in_memory(measured.directory) == []


@both_families
def test_another_run_directory_takes_nothing(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Names of segments show the id of their run to everybody, who can write it into a meta.json."""
    program = compile_c(mpi, [PROGRAMS / "waiting.c"], tmp_path / "waiting")
    run_dir, evil = tmp_path / "run", tmp_path / "evil"
    with hanging(tare, mpi, [str(program), "receive"], run_dir):
        pass
    measured = Measurement(tare, run_dir, subprocess.CompletedProcess([], 0))
    calls = measured.calls()
    segments = left_in_memory(run_dir)
    evil.mkdir()
    meta = json.loads((run_dir / "meta.json").read_text("utf-8"))
    for stolen in ({"run_key": ""}, {"run_key": "0" * 32}):
        (evil / "meta.json").write_text(json.dumps(meta | stolen), "utf-8")
        for owner in (0, NOBODY):
            for path in (evil, evil / "meta.json"):
                os.chown(path, owner, owner)
            done = subprocess.run([tare, "recover", evil], capture_output=True, text=True)
            assert f"{RANKS} segments in /dev/shm of a run with the id of this one" in done.stdout
            assert left_in_memory(run_dir) == segments
            assert list(evil.glob("*.tare")) == []
            told = ask(tare, "profile", evil)
            assert told.returncode == 1
            assert "MPI_" not in told.stdout
    moved = tmp_path / "moved"
    shutil.move(run_dir, moved)
    subprocess.run([tare, "recover", moved], check=True, capture_output=True)
    assert Measurement(tare, moved, measured.ended).calls() == calls
    assert left_in_memory(moved) == []


# Makes files named like segments of the run, for processes that live, and runs the command.
_AMONG_FOREIGN_SEGMENTS = """
import os, subprocess, sys, time
count, user = map(int, sys.argv[1:3])
children = []
for number in range(count):
    child = os.fork()
    if child == 0:
        os.setuid(user)
        name = f"/dev/shm/tare-{os.environ['TARE_RUN_ID']}-{os.getpid()}-{number:x}"
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
        os.execv("/bin/sleep", ["sleep", "60"])
    children.append((child, number))
paths = [f"/dev/shm/tare-{os.environ['TARE_RUN_ID']}-{child}-{number:x}" for child, number in children]
while not all(map(os.path.exists, paths)):
    time.sleep(0.01)
code = subprocess.run(sys.argv[3:]).returncode
print(*paths)
sys.exit(code)
"""


@both_families
def test_segments_of_other_users_are_left_alone(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    count = 300
    program = compile_c(mpi, [PROGRAMS / "shared_window.c"], tmp_path / "window")
    prefix: list[str | Path] = ["prlimit", "--nofile=256:", tare, "run", "-q", "-o", tmp_path / "run", "--"]
    # /dev/shm of its own, so that nothing is left; the end of its first process ends all others.
    alone = [
        "unshare",
        "-m",
        "-p",
        "-f",
        "sh",
        "-c",
        'mount -t tmpfs tmpfs /dev/shm && mount -t proc proc /proc && "$@"',
        "sh",
    ]
    foreign = ["python3", "-c", _AMONG_FOREIGN_SEGMENTS, str(count), str(NOBODY)]
    ended = run(mpi, RANKS, [program, "1"], prefix=[*alone, *prefix, *foreign])
    assert ended.returncode == 0, ended.stderr
    assert f"{count} files of other users in /dev/shm are named like segments of this run" in ended.stderr
    measured = Measurement(tare, tmp_path / "run", ended)
    assert measured.calls()["MPI_Barrier"] == RANKS * 100
    assert [row["state"] for row in measured.info()["ranks"]] == ["finished"] * RANKS


@both_families
def test_a_process_that_becomes_another_user_first_is_named(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    source = tmp_path / "drops.c"
    source.write_text(
        "#include <mpi.h>\n#include <unistd.h>\n"
        f"int main(void) {{ int is; if (setuid({NOBODY}) != 0) return 1; return MPI_Initialized(&is); }}\n"
    )
    program = compile_c(mpi, [source], tmp_path / "drops")
    ended = subprocess.run(
        [tare, "run", "-o", tmp_path / "run", "--", program], capture_output=True, text=True, check=True
    )
    try:
        (line,) = ended.stderr.splitlines()
        assert "belongs to nobody: a process that changes its user before it calls MPI" in line
    finally:
        for left in Path("/dev/shm").glob(
            f"tare-{json.loads((tmp_path / 'run' / 'meta.json').read_text())['run_id']}-*"
        ):
            left.unlink()
