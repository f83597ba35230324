"""Entry point of the `tare` command: errors become one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from tare import programs, streams
from tare.errors import FAILED, CommandError, TareError

# They leave nothing behind, and may be in the native reader for seconds, where Python sees no interrupt.
READERS = [["info"], ["profile"], ["where"], ["diff"], ["samples"]]
# They would leave what is half done.
WRITERS = [["export"], ["view"], ["sweetspot"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb, and returns its exit code; or ends by the signal that shells expect."""
    streams.open_standard()
    programs.expect_children()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in READERS and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    ended_by = signal.SIGINT

    def terminate(_signal: int, _frame: object) -> None:
        """Cleans up like Ctrl-C."""
        nonlocal ended_by
        ended_by = signal.SIGTERM
        raise KeyboardInterrupt

    if given[:1] in WRITERS and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
    try:
        return streams.end(exit_code_of(given))
    except streams.UnwritableError as error:
        return streams.unwritten(error)
    except KeyboardInterrupt:
        return streams.exit_by_signal(ended_by)


def exit_code_of(given: Sequence[str]) -> int:
    """Runs one verb; its errors become a line."""
    try:
        from tare import cli

        return cli.run(given)
    except streams.UnwritableError:
        raise
    except CommandError as error:
        return report_error(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "tare":
            return report_error(f"tare is not installed completely ({error}); install it again", FAILED)
        from tare.packages import how_to_install

        package = error.name.partition(".")[0]
        return report_error(f"tare needs the package {package}: {how_to_install([package])}", FAILED)
    except ImportError as error:
        return report_error(f"tare is not installed completely ({error}); install it again", FAILED)
    except TareError as error:
        return report_error(str(error), FAILED)
    except OSError as error:
        return report_error(described(error), FAILED)
    except MemoryError:
        return report_error("there is not enough memory for this (ulimit -v)", FAILED)


def described(error: OSError) -> str:
    """What the system says of which file, without Python's number."""
    if error.strerror is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else error.strerror


def report_error(message: str, exit_code: int) -> int:
    """Prints the one line of a failure."""
    streams.tell(f"tare: {message}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
