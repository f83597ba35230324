"""Ctrl-C in libraries of others, which lose the KeyboardInterrupt, or crash because of it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held() -> Iterator[None]:
    """What the handler of a signal that ends tare raises comes when this is over.

    A mask would not do: another thread would take the signal, and the main thread run the handler.
    """
    came: list[int] = []
    before = {number: each for number in ENDING if callable(each := signal.getsignal(number))}
    try:
        for number in before:
            signal.signal(number, lambda number, _frame: came.append(number))
    except ValueError:  # another thread, in which no handler runs
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in came:
            signal.raise_signal(each)


@contextmanager
def of_duckdb() -> Iterator[None]:
    """What DuckDB raises when it is interrupted becomes the KeyboardInterrupt that it has replaced."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error
