"""The standard streams: the one way out for text, and where output that cannot be written becomes a failure.

Text holds names that come from runs, programs and files: what is not printable in them is escaped here, or
before, where it is laid out (reporters/).

Standard error carries what is said beside the result: where nobody takes it, it is dropped, and nothing
changes. Standard output is the result: where nobody takes it, the verb ends, quietly if its reader has left,
as `ls` does.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from typing import TYPE_CHECKING

from tare.errors import CommandError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

OUTPUT, ERROR = 1, 2
CLEAR_LINE = "\r\033[K"


class UnwritableError(CommandError):
    """Standard output takes no more."""

    def __init__(self, number: int) -> None:
        super().__init__(f"cannot write to standard output: {os.strerror(number)}")
        self.reader_left = number == errno.EPIPE


class _Stream(io.FileIO):
    """A standard stream that fails once at most: the interpreter flushes what is left when it ends."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._has_failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        if not self._has_failed:
            try:
                return super().write(data)
            except OSError as error:
                self._has_failed = True
                if self.fileno() == OUTPUT:
                    raise UnwritableError(error.errno or errno.EIO) from None
        return memoryview(data).nbytes


def open_standard() -> None:
    """Makes sys.stdout and sys.stderr what this module promises."""
    _fill_closed()
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text(OUTPUT, sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(ERROR, sys.stderr)


def visible(text: str) -> str:
    """The text with escapes for what moves the cursor, turns the direction, hides, or is no character at all:
    control characters, also line ends; formats; surrogates."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def distinct(text: str) -> str:
    """The same, of which no two texts become one: for names that tell things apart where others read them."""
    return visible(text.replace("\\", r"\\"))


def say(line: str = "") -> None:
    """A line of the result."""
    print(visible(line))


def tell(line: str) -> None:
    """A line beside the result."""
    print(visible(line), file=sys.stderr)


def progress(line: str) -> None:
    """Takes the place of the progress told before, for people only; none if empty."""
    if sys.stderr.isatty():
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        print(f"{CLEAR_LINE}{visible(line)[: width - 1]}", end="", file=sys.stderr, flush=True)


def end(exit_code: int) -> int:
    """The exit code of a verb that ends with `exit_code`, once all it has said is written."""
    try:
        sys.stdout.flush()
    except UnwritableError as error:
        return unwritten(error)
    return exit_code


def unwritten(error: UnwritableError) -> int:
    """The exit code where the result was not taken; does not return if its reader has left."""
    if error.reader_left:
        exit_by_signal(signal.SIGPIPE)
    tell(f"tare: {error}")
    return error.exit_code


def exit_by_signal(number: int) -> int:
    """Ends this process by a signal, as shells expect it; returns only if it is no fatal one."""
    if number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:  # not of those of the C library
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    return 128 + number


def _fill_closed() -> None:
    """No file that is opened becomes a standard stream; the measured command finds them closed still."""
    for descriptor in range(ERROR + 1):
        try:
            os.fstat(descriptor)
        except OSError:
            # Of the contrary direction, so that using it fails as before.
            os.open(os.devnull, os.O_RDONLY if descriptor else os.O_WRONLY)


def _text(descriptor: int, before: object) -> io.TextIOWrapper:
    # Paths need not be text, and a terminal need not know our characters.
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(descriptor)),
        encoding=getattr(before, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=descriptor == ERROR or os.isatty(descriptor),
    )
