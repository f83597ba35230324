"""Names made to harm whoever prints them, for the canned rows of fake_native."""

from __future__ import annotations

import builtins
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from made import made
from some_run import metadata
from tare.analysis.files import FIGURES
from tare.analysis.rows import changed
from tare.runs.metadata import Options, encode

# Moves the cursor, clears, turns the direction, hides, ends cells and rows, is markup of several kinds, a
# formula, half a character: none of it may reach a terminal, or a table, as it is.
EVIL = "=\x1b]0;x\x07\x1b[2J\x9b31m\u202e\u2066\u200b[red]\r\n\t|<b>&`$x_{\udcff"
# What is not a name.
FIXED = ("state", "until", "abi", "policy", "kind", "activity")


class Setter(Protocol):
    """Gives something an attribute, for a while."""

    def setattr(self, target: object, name: str, value: object) -> None: ...


def make_names_hostile(native: ModuleType, setter: Setter = builtins, evil: str = EVIL) -> None:
    """Puts `evil` around every name that the rows of `native` hold, and adds rows of further kinds."""
    own: dict[str, Any] = {
        "start_ns": native.START_NS + 30, "world": 0, "rank": 0, "thread": 0, "name": "mine"
    }  # fmt: skip
    more: dict[str, list[Any]] = {
        "EVENTS": [
            {**native.EVENTS[0], "thread": 1, "thread_name": "worker", "scope": 0},
            {**own, "kind": "region", "begin": True},
            {**own, "kind": "counter", "value": 1.0, "unit": "bytes"},
            {**own, "kind": "raw", "text": "note"},
        ],
        "SCOPES": [made(native.COMPILED.Scope, kind="file", name="data.h5", communicator=0, key=1)],
        "MESSAGES": ["what collecting says"],
        "STACK_SAMPLES": [
            {
                **_at(rank),
                "thread_name": "worker",
                "activity": "program",
                "path": "exchange",
                "samples": 10 + 90 * rank,
                "time_ns": (10 + 90 * rank) * 10_000_000,
            }
            for rank in (0, 1)
        ],
        "FILES": [
            {
                **dict.fromkeys(FIGURES, 1),
                "world": 0, "rank": rank, "pid": 4711, "threads": 1,
                "file": "/data/in", "naming": "whole", "interface": "POSIX", "kind": "file",
            }
            for rank in (0, 1)
        ],
        "REGIONS": [
            {
                **_at(rank),
                "start_ns": native.START_NS,
                **dict.fromkeys(("regions", "calls"), 1),
                **dict.fromkeys(("regions_ns", "team_ns", "work_ns", "idle_ns", "wait_ns"), 1_000_000),
            }
            for rank in (0, 1)
        ],
    }  # fmt: skip
    for name in (
        "PROCESSES", "LOCATIONS", "PROFILE", "PHASES", "FUNCTIONS", "SITES", "COMMUNICATORS", "EVENTS",
        "SAMPLES", "SAMPLE_SUMMARIES", "SCOPES", "STACK_SAMPLES", "FILES", "REGIONS", "WARNINGS", "MESSAGES",
    ):  # fmt: skip
        rows = [*getattr(native, name), *more.get(name, [])]
        setter.setattr(native, name, _made_hostile(rows, evil))


def hostile_run_dir(folder: Path, evil: str = EVIL) -> Path:
    """The directory of a run with samples and such names in meta.json, too."""
    run_dir = folder / "measured"
    run_dir.mkdir()
    for name in ("sampled", "node.tare"):
        (run_dir / name).touch()
    meta = metadata(
        segment_dir=str(run_dir), options=Options(trace=True, sources=("files", "openmp")),
        name=evil, host=evil, cwd=evil, command=["./app", evil], environment={evil: evil},
    )  # fmt: skip
    (run_dir / "meta.json").write_bytes(encode(meta))
    return run_dir


def _at(rank: int) -> dict[str, Any]:
    """The columns of a row that is of a thread at a place."""
    return {
        "world": 0, "rank": rank, "pid": 4711, "thread": 0, "site": 0, "file": "/src/app.c", "line": 12,
        "caller": "exchange", "object": "/bin/app", "offset": 16, "tail_call": None,
    }  # fmt: skip


def _made_hostile(value: Any, evil: str, key: str = "") -> Any:
    """The same with every name hostile, MPI's functions too."""
    if isinstance(value, dict):
        return {name: _made_hostile(each, evil, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_made_hostile(each, evil, key) for each in value]
    if hasattr(value, "__match_args__"):
        names = value.__match_args__
        return changed(value, **{name: _made_hostile(getattr(value, name), evil, name) for name in names})
    return f"{evil}{value}{evil}" if isinstance(value, str) and key not in FIXED else value
