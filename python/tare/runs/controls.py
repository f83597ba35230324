"""Requests for a running job that is monitored: the other end of src/tared/monitor/control_desk.h."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tare import private_files
from tare.errors import CommandError
from tare.runs import directory, runner
from tare.runs.metadata import Metadata
from tare.runs.requests import LOOK_EVERY_S, MEETING_PLACE

FILE, ANSWERS = "controls", "answers"
INTEGERS = range(-(2**63), 2**63)
LARGEST_ANSWERS = 64 << 20
PATIENCE_S = 10.0


def ask(run: Path, request: str, patience_s: float = PATIENCE_S) -> int:
    """Hands the request to the root of the tree, and waits for its answer: the round from which on it holds.

    CommandError if the run is not monitored or has ended, if it is somebody else's, or if the root refuses.
    """
    from tare import _native

    meta = directory.monitored(run)
    if not runner.is_going_on(run, meta):
        raise CommandError(f"{run} has ended")
    token = os.urandom(8).hex()
    line = f"{token} {request}\n".encode()
    if len(line) > _native.LONGEST_REQUEST:
        raise CommandError("that is too long: choose fewer events or places")
    place = run / MEETING_PLACE
    with private_files.opened_run(run) as files:
        if os.geteuid() not in (files.owner, private_files.ROOT):
            raise CommandError(f"cannot steer {run}: only its owner can write into {place}")
        try:
            files.append(f"{MEETING_PLACE}/{FILE}", line)
            answer = _answer(files, token, run, meta, patience_s)
        except FileNotFoundError as error:
            raise CommandError(f"{run} has ended, or its tared has not begun") from error
        except OSError as error:
            raise CommandError(f"cannot steer {run}: {place}: {error.strerror}") from error
    word, _, rest = answer.partition(" ")
    if word == "ok" and rest.isdecimal():
        return int(rest)
    raise CommandError(f"{run}: {rest}")


def _answer(files: private_files.Directory, token: str, run: Path, meta: Metadata, patience_s: float) -> str:
    """Waits for it. CommandError if the run ends, or if none comes in time."""
    until = time.monotonic() + patience_s
    while (answer := _find(files, token)) is None:
        if not runner.is_going_on(run, meta):
            raise CommandError(f"{run} has ended")
        if time.monotonic() > until:
            raise CommandError(
                f"no answer has come in {patience_s:g} s: ranks have reached too few offload points, or "
                f"tared hangs; tare where {run} says where the ranks are"
            )
        time.sleep(LOOK_EVERY_S)
    return answer


def _find(files: private_files.Directory, token: str) -> str | None:
    try:
        answers = files.read(f"{MEETING_PLACE}/{ANSWERS}", LARGEST_ANSWERS)
    except FileNotFoundError:
        return None
    for line in answers.decode("utf-8", "replace").splitlines(keepends=True):
        if line.startswith(f"{token} ") and line.endswith("\n"):
            return line.strip().partition(" ")[2]
    return None


def message(name: str, value: float | str, rank: int | None) -> str:
    """The request for it; ValueError if name or value are none."""
    from tare import _native

    is_name = name.isascii() and all(letter.isalnum() or letter in "_-." for letter in name)
    if not is_name or not 0 < len(name) <= _native.LONGEST_CONTROL_NAME:
        longest = _native.LONGEST_CONTROL_NAME
        raise ValueError(f"'{name}' is no name: it has at most {longest} letters, digits, dots, - and _")
    if rank is not None and not 0 <= rank < 2**31:
        raise ValueError(f"{rank} is no rank")
    to = "all" if rank is None else str(rank)
    if isinstance(value, str):
        if len(value.encode()) > _native.LONGEST_CONTROL_TEXT or not value.isprintable():
            longest = _native.LONGEST_CONTROL_TEXT
            raise ValueError(f"'{value}' is longer than {longest} bytes, or is not printable")
        return f"send {to} text {name} {value}"
    if isinstance(value, int):
        if value not in INTEGERS:
            raise ValueError(f"{value} is no integer of 64 bits")
        return f"send {to} integer {name} {int(value)}"
    if not abs(value) < float("inf"):
        raise ValueError(f"{value} is not finite")
    return f"send {to} real {name} {value!r}"
