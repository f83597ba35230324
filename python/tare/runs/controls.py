"""Requests for a running job that is monitored: the other end of src/tared/monitor/control_desk.h."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

from tare.errors import CommandError
from tare.runs import directory, runner
from tare.runs.requests import LOOK_EVERY_S, MEETING_PLACE

FILE, ANSWERS = "controls", "answers"
# As src/tared/monitor/control_desk.h and src/format/control.h have them.
LONGEST_LINE = 3000
LONGEST_NAME = 31
LONGEST_TEXT = 64
INTEGERS = range(-(2**63), 2**63)
PATIENCE_S = 10.0


def ask(run: Path, request: str, patience_s: float = PATIENCE_S) -> int:
    """Hands the request to the root of the tree, and waits for its answer: the round from which on it holds.

    CommandError if the run is not monitored or has ended, if it is somebody else's, or if the root refuses.
    """
    from tare import _native

    meta = directory.read_meta(run, _native.FORMAT_VERSION)
    if not meta.options.monitor:
        raise CommandError(f"{run} is not monitored: start it with tare run --monitor -- COMMAND")
    if not runner.is_going_on(run, meta):
        raise CommandError(f"{run} has ended")
    token = secrets.token_hex(8)
    line = f"{token} {request}\n".encode()
    if len(line) > LONGEST_LINE:
        raise CommandError("that is too long: choose fewer events or places")
    place = run / MEETING_PLACE
    try:
        folder = _open_place(place)
    except FileNotFoundError as error:
        raise CommandError(f"{run} has ended, or its tared has not begun") from error
    except OSError as error:
        raise CommandError(f"cannot steer {run}: only its owner can write into {place}") from error
    try:
        _append(folder, line)
        until = time.monotonic() + patience_s
        while (answer := _answer(folder, token)) is None:
            if not runner.is_going_on(run, meta):
                raise CommandError(f"{run} has ended")
            if time.monotonic() > until:
                raise CommandError(
                    f"no answer has come in {patience_s:g} s: ranks have reached too few offload points, or "
                    f"tared hangs; tare where {run} says where the ranks are"
                )
            time.sleep(LOOK_EVERY_S)
    except OSError as error:
        raise CommandError(f"cannot steer {run}: {place}: {error.strerror}") from error
    finally:
        os.close(folder)
    word, _, rest = answer.partition(" ")
    if word == "ok" and rest.isdecimal():
        return int(rest)
    raise CommandError(f"{run}: {rest}")


def _open_place(place: Path) -> int:
    """The meeting place of a run of this user, which is no link."""
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if os.fstat(folder).st_uid != os.geteuid():
        os.close(folder)
        raise PermissionError
    return folder


def _append(folder: int, line: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(FILE, flags, 0o600, dir_fd=folder)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)


def _answer(folder: int, token: str) -> str | None:
    try:
        fd = os.open(ANSWERS, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        for line in file.read().decode("utf-8", "replace").splitlines(keepends=True):
            if line.startswith(f"{token} ") and line.endswith("\n"):
                return line.strip().partition(" ")[2]
    return None


def message(name: str, value: float | str, rank: int | None) -> str:
    """The request for it; ValueError if name or value are none."""
    is_name = name.isascii() and all(letter.isalnum() or letter in "_-." for letter in name)
    if not is_name or not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"'{name}' is no name: it has at most {LONGEST_NAME} letters, digits, dots, - and _")
    if rank is not None and not 0 <= rank < 2**31:
        raise ValueError(f"{rank} is no rank")
    to = "all" if rank is None else str(rank)
    if isinstance(value, str):
        if len(value.encode()) > LONGEST_TEXT or not value.isprintable():
            raise ValueError(f"'{value}' is longer than {LONGEST_TEXT} bytes, or is not printable")
        return f"send {to} text {name} {value}"
    if isinstance(value, int):
        if value not in INTEGERS:
            raise ValueError(f"{value} is no integer of 64 bits")
        return f"send {to} integer {name} {int(value)}"
    if not abs(value) < float("inf"):
        raise ValueError(f"{value} is not finite")
    return f"send {to} real {name} {value!r}"
