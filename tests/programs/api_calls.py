"""Records with tare's Python API: api_calls.py [RUN_DIR [wait]]. Prints whether it recorded."""

from __future__ import annotations

import os
import signal
import sys
import threading

import tare

THREADS, ROUNDS = 3, 50


@tare.region("inner")
def inner(value: int) -> int:
    """Adds one."""
    return value + 1


def solve() -> None:
    for i in range(ROUNDS):
        with tare.region("solve"):
            assert inner(i) == i + 1


def main() -> None:
    assert "typer" not in sys.modules and "rich" not in sys.modules
    assert inner.__doc__ == "Adds one."
    arguments = sys.argv[1:]
    if arguments:
        tare.start(arguments[0])
    with tare.phase("setup"):
        tare.mark("here")
        tare.counter("heap", "bytes").set(12.5)
        tare.count("heap", float("inf"))
        tare.event("step", "iId")(-1, 2**32 - 1, 3.25)
        tare.event("empty")()
        tare.packed("sent")(1, 2**40)
        tare.raw("note")("ä\n")
        tare.raw("note")(b"\xff")
        tare.pause()
        assert not tare.is_recording()
        tare.mark("here")
        tare.flush()
        tare.resume()
    threads = [threading.Thread(target=solve) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        with tare.region("raises"):
            raise KeyError
    except KeyError:
        pass
    print("recorded" if tare.is_recording() else "nothing", flush=True)
    if arguments[1:] == ["wait"]:
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGKILL)


main()
