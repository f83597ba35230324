"""The rounds of a monitored run, as its file has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tare._native import Round
from tare.runs.rounds import RoundFile


def read_rounds(run: Path) -> list[Round]:
    (file,) = run.glob("monitor-*.tare")
    return list(RoundFile(file).read())


def of_event(made: Round, name: str) -> Any:
    (event,) = [event for event in made.events if event.name == name]
    return event
