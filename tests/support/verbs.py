"""Asks a verb of `tare` in a fork of this process, where its modules are loaded already.

That is several times quicker than a command, and the same from the entry point on. How commands start, other
tests try (test_start.py, test_cli.py)."""

from __future__ import annotations

import importlib
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

TIMEOUT_S = 60
# They use nothing that has threads in this process.
READING = ("info", "profile", "events", "explain", "where", "samples", "phases", "diff")


def ask(
    tare: Path | str,
    verb: Path | str,
    *arguments: Path | str,
    check: bool = False,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """What `tare VERB ARGUMENT...` prints, and its exit code, -N if signal N ended it."""
    command = list(map(str, (tare, verb, *arguments)))
    environment = os.environ if environment is None else environment
    is_of_this_python = Path(tare).parent == Path(sys.executable).parent
    if verb not in READING or not is_of_this_python or "COVERAGE_PROCESS_START" in environment:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=check, env=environment
        )
    _load()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _run(command, environment, out, err)
        done = subprocess.CompletedProcess(command, _wait(child, command), _text(out), _text(err))
    if check:
        done.check_returncode()
    return done


@cache
def _load() -> None:
    """Loads what verbs load when they need it."""
    for package in ("tare.commands", "tare.analysis", "tare.reporters", "tare.runs"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)


def _run(command: list[str], environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]) -> NoReturn:
    """Runs the command in this process, a fork, and ends the process."""
    code = 1
    try:
        if environment is not os.environ:
            os.environ.clear()
            os.environ.update(environment)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        sys.argv = command
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from tare.__main__ import main

        code = main(command[1:])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _wait(child: int, command: list[str]) -> int:
    descriptor = os.pidfd_open(child)
    try:
        ended, _, _ = select.select([descriptor], [], [], TIMEOUT_S)
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(descriptor)
    if not ended:
        raise subprocess.TimeoutExpired(command, TIMEOUT_S)
    return os.waitstatus_to_exitcode(status)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
