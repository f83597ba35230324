"""Fixtures shared by all tests."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from environments import MACHINE, ROOT, MpiEnvironment, all_environments
from installed import install_devel
from measured import left_in_memory

# Programs that tests interrupt would ignore it if the tests were started in the background of a script, or by
# nohup.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# What verbs print is as wide as where there is no terminal. pytest-xdist sets the width of the terminal.
os.environ.pop("COLUMNS", None)


REPEATED = (
    ROOT / "build" / "repeated.txt"
)  # tests that were run again because they failed; `make test` shows it


def pytest_configure(config: pytest.Config) -> None:
    """Gives the tests a place for what they compile, and a shared memory of their own.

    There they neither find nor leave what is another's.

    tare goes to the run directory where its files fill an eighth of the shared memory, so tests of what lies
    there would depend on what other runs have left. Only root can; others use the machine's.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:  # workers inherit all of it
        return
    programs = tempfile.TemporaryDirectory(prefix="tare-compiled-")
    config.add_cleanup(programs.cleanup)
    os.environ["TARE_TEST_COMPILED"] = programs.name  # environments.compiled()
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, private_below, no_flags = 0x20000, 0x44000, 0  # CLONE_NEWNS; MS_PRIVATE | MS_REC
    if libc.unshare(new_mounts) == 0 and libc.mount(b"none", b"/", None, private_below, None) == 0:
        libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", no_flags, None)


def _note_repeated(test: str, reason: str = "") -> None:
    REPEATED.parent.mkdir(exist_ok=True)
    with REPEATED.open("a") as file:
        file.write(f"{test} {reason}".rstrip() + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """The workers of pytest-xdist leave it to their session."""
    repeats = "rerun"  # pytest-rerunfailures is about to
    if report.outcome == repeats and "PYTEST_XDIST_WORKER" not in os.environ:
        crash = getattr(report.longrepr, "reprcrash", None)
        _note_repeated(report.nodeid, crash.message.partition("\n")[0] if crash else "")


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("lf"):
        for item in session.items:
            _note_repeated(item.nodeid, "(--last-failed)")


@pytest.fixture(autouse=True)
def _no_segments_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs that a test killed, and nobody recovered, leave their segments in the machine's shared memory."""
    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for meta in folder.rglob("meta.json") if folder else ():
        if meta.is_symlink() or not meta.is_file():  # tests of hostile runs have pipes and devices
            continue
        with suppress(OSError, ValueError, KeyError, TypeError):
            run_id = json.loads(meta.read_bytes())["run_id"]
            if re.fullmatch("[0-9a-f]{16}", run_id):  # tests write others, too, that mean more than one run
                for segment in left_in_memory(meta.parent):
                    segment.unlink(missing_ok=True)


@pytest.fixture(scope="session", params=all_environments(), ids=lambda env: env.name)
def mpi(request: pytest.FixtureRequest) -> MpiEnvironment:
    """One MPI library after the other."""
    return installed(request.param)


@pytest.fixture(
    scope="session",
    params=[(env, binding) for env in all_environments() for binding in env.fortran_bindings],
    ids=lambda param: f"{param[0].name}-{param[1]}",
)
def mpi_fortran(request: pytest.FixtureRequest) -> tuple[MpiEnvironment, str]:
    """One MPI library and Fortran binding ("mpif.h", "mpi", "mpi_f08") after the other."""
    env, binding = request.param
    return installed(env), binding


@pytest.fixture(
    scope="session", params=[env for env in all_environments() if env.mpi4py], ids=lambda env: env.name
)
def mpi_python(request: pytest.FixtureRequest) -> MpiEnvironment:
    """One MPI library after the other, of those that mpi4py's wheel runs on."""
    return installed(request.param)


def installed(env: MpiEnvironment) -> MpiEnvironment:
    """Fails, rather than skips, where a library is missing: all of them are to be tested."""
    if missing := env.missing():
        pytest.fail(f"{env.name} is not installed (run `make test`): no {missing}", pytrace=False)
    return env


@pytest.fixture(scope="session")
def tare() -> Path:
    """The command."""
    if MACHINE:
        import roots

        return roots.tare()
    path = ROOT / ".venv" / "bin" / "tare"
    if not path.exists():
        pytest.fail(f"{path} does not exist (run `make`)", pytrace=False)
    return path


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix under which the development files are installed."""
    return install_devel(tmp_path_factory.mktemp("install"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium, one for all tests. A test opens pages in contexts of its own, and closes those."""
    with chromium() as running:
        yield running
