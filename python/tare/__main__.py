"""Entry point of the `tare` command: errors become one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tare import output
from tare.errors import FAILED, WRONG_USAGE, CommandError, TareError

if TYPE_CHECKING:
    from typer import Typer

# They leave nothing behind, and may be in the native reader for seconds, where Python sees no interrupt.
READERS = [["info"], ["profile"], ["where"], ["diff"], ["samples"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb, and returns its exit code; or ends by the signal that shells expect."""
    output.open_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in READERS and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return output.end(exit_code_of(given))
    except output.UnwritableError as error:
        return output.unwritten(error)
    except KeyboardInterrupt:
        return output.die_of(signal.SIGINT)


def exit_code_of(given: Sequence[str]) -> int:
    """Runs one verb; its errors become a line."""
    try:
        from tare.cli import application

        return run_verb(application(given), given)
    except output.UnwritableError:
        raise
    except CommandError as error:
        return complain(str(error), error.exit_code)
    except ImportError as error:
        return complain(f"tare is not installed completely ({error}); install it again", FAILED)
    except TareError as error:
        return complain(str(error), FAILED)
    except OSError as error:
        return complain(described(error), FAILED)


def run_verb(app: Typer, arguments: Sequence[str]) -> int:
    """What the library of command lines finds wrong becomes a line, too."""
    from typer import BadParameter

    wrong_usage: Any = BadParameter.__mro__[1]  # the library keeps the class to itself
    try:
        code = app(args=list(arguments), prog_name="tare", standalone_mode=False)
    except wrong_usage as error:
        context, message = error.ctx, error.format_message()
        if context is None or message != context.get_help():
            verb = context.command_path if context else "tare"
            message = " ".join(message.replace("Value error, ", "").split()).rstrip(".")
            return complain(f"{message[:1].lower()}{message[1:]}; see {verb} --help", WRONG_USAGE)
        print(message, file=sys.stderr)  # a verb is missing
        return WRONG_USAGE
    return code if isinstance(code, int) else 0


def described(error: OSError) -> str:
    """What the system says of which file, without Python's number."""
    if error.strerror is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else error.strerror


def complain(message: str, exit_code: int) -> int:
    """Prints the one line of a failure."""
    print(f"tare: {message}", file=sys.stderr)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
