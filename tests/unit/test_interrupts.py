"""Ctrl-C ends tare as a signal does, whatever is interrupted."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tare import databases
from tare.reporters import parquet
from tare.runs import metadata, sql
from tare.tables import dataset

ENDLESS = "SELECT count(*) FROM range(1000000000000000)"


@pytest.mark.parametrize("errors", [sql.errors, lambda: databases.errors("it cannot be read")])
def test_an_interrupted_query_is_no_error(errors: Callable[[], AbstractContextManager[None]]) -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), errors(), sql.connect({}) as connection:
        timer.start()
        connection.execute(ENDLESS).fetchall()


def interrupted(*_arguments: Any, **_options: Any) -> Any:
    raise RuntimeError("Query interrupted")


def test_an_interrupted_dataset_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "_write_table", interrupted)
    monkeypatch.setattr(sql, "connect", lambda *_, **__: SimpleNamespace(close=lambda: None))
    tables = {name: None for name in dataset.written()}
    with pytest.raises(KeyboardInterrupt):
        dataset.write(SimpleNamespace(tables=lambda: tables), tmp_path / "out", "parquet")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_table_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(part: str, **_options: Any) -> None:
        Path(part).write_text("half")
        interrupted()

    @contextmanager
    def database(**_options: Any) -> Iterator[Any]:
        yield SimpleNamespace(register=lambda *_: None, sql=lambda _: SimpleNamespace(write_parquet=write))

    monkeypatch.setattr(databases, "in_memory", database)
    with pytest.raises(KeyboardInterrupt):
        parquet.write(None, tmp_path / "events.parquet")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_metadata_are_read_before_an_interrupt_counts() -> None:
    """The exception of a handler may crash the interpreter within msgspec.json.decode."""
    reached = []

    @dataclass
    class Sent:
        value: int

        def __post_init__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(self.value)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        metadata._decoded(b'{"value": 7}', Sent, "run")
    assert reached == [7]
    assert signal.getsignal(signal.SIGINT) is before
