"""The errors tare raises: every message is one line that says what failed and what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
NOTHING_MEASURED = "this run has no results of any process"


class TareError(Exception):
    """Base of every error of the package."""


class Incompatible(TareError):
    """Keys or choices of an analysis that do not go together. Says which; a verb says by which option."""


class CommandError(TareError):
    """Ends a command with `exit_code`."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(CommandError):
    """The command line asks for something that cannot be."""

    def __init__(self, message: str) -> None:
        super().__init__(message, WRONG_USAGE)


def unwritable(to: object, error: Exception) -> CommandError:
    """What could not be written, why, and what to do if the place is forbidden."""
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
    forbidden = getattr(error, "errno", None) in (errno.EACCES, errno.EPERM, errno.EROFS)
    return CommandError(f"cannot write {to}: {reason}{'; choose another place' * forbidden}")


@contextmanager
def native_errors() -> Iterator[None]:
    """Turns the native module's errors into tare's own."""
    from tare import _native

    try:
        yield
    except _native.Error as error:
        raise CommandError(str(error)) from error
