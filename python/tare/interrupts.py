"""Ctrl-C in libraries of others, which lose the KeyboardInterrupt, or crash because of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ENDING = (signal.SIGINT, signal.SIGTERM)
_databases: WeakSet[DuckDBPyConnection] = WeakSet()


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


def note_database(connection: DuckDBPyConnection) -> None:
    """Lets of_duckdb() interrupt the queries of this connection."""
    _databases.add(connection)


@contextmanager
def of_duckdb() -> Iterator[None]:
    """A signal that ends tare ends what DuckDB does; what DuckDB raises then becomes a KeyboardInterrupt.

    Handlers run in the main thread, which is in DuckDB until a query has its result: minutes. So another
    thread is told by the signal itself (signal.set_wakeup_fd).
    """
    with _told(_interrupt_databases):
        try:
            yield
        except Exception as error:
            if type(error).__name__ != "InterruptException" and str(error) != "Query interrupted":
                raise
            raise KeyboardInterrupt from error


def _interrupt_databases() -> None:
    for connection in list(_databases):
        connection.interrupt()


@contextmanager
def _told(action: Callable[[], None]) -> Iterator[None]:
    """A thread of its own does the action when a signal comes that ends tare."""
    import threading

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    except ValueError:  # another thread, in which no handler runs
        os.close(reading)
        os.close(writing)
        yield
        return

    def watch() -> None:
        while numbers := os.read(reading, 64):
            if before >= 0:
                with suppress(OSError):
                    os.write(before, numbers)
            if any(number in ENDING for number in numbers):
                action()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        thread.join()
        os.close(reading)
