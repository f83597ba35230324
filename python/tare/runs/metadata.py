"""What meta.json holds (docs/json.md): its types, and the one place that reads and writes its text.

Whatever is in the file, the result of `decode` has these types and ranges; all else is a CommandError.
Writing needs no more than the standard library, so that `tare run` starts quickly.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from tare.errors import CommandError

META = "meta.json"
SCHEMA = "tare.meta/1"

State = Literal["running", "ended", "recovered"]

_SCHEMA_FORM = re.compile(r"tare\.meta/([1-9][0-9]{0,8})")
_RUN_ID_FORM = re.compile(r"[0-9a-f]{16}")
_NEVER_MORE = 2**63
_HIGHEST_SIGNAL = 127
_HIGHEST_CODE = 2**31


@dataclass(frozen=True, kw_only=True)
class Options:
    """What `tare run` was asked to do; a run that a program began itself is a trace, and else as usual."""

    trace: bool = False
    buffer: int | None = None
    policy: Literal["block", "drop", "overwrite"] = "block"
    keep_ns: int | None = None
    write: bool = True
    drain: Literal["inline", "tared"] = "inline"
    stack: int | None = None
    time_lookups: bool = False
    sample: str | None = None
    weigh: float | None = None  # the share of spells that do not measure
    budget: float | None = None  # the share of the time that measuring may cost
    budget_bytes: int | None = None  # and the bytes of the trace
    monitor: str | None = None  # the SPEC of --monitor
    keep_env: tuple[str, ...] = ()
    forward: bool = False
    group: str | None = None  # that may read the run, beside its owner


@dataclass(frozen=True, kw_only=True)
class Runner:
    """The process on `Metadata.host` that writes how the run ended; a later one of this pid starts later."""

    pid: int
    start_ticks: int  # after the machine's start, as in /proc/PID/stat
    # It touches meta.json as long as it lives, so that other hosts can see that.
    touches: bool = False

    def __post_init__(self) -> None:
        _check("pid", self.pid, 2**31)
        _check("start_ticks", self.start_ticks)


@dataclass(frozen=True, kw_only=True)
class RankEnd:
    """How a process ended; of `tare info`'s ranks the fields of this name."""

    world: int
    rank: int
    host: str
    pid: int
    state: str
    exit_code: int | None
    until: str | None = None  # older runs do not have these
    signal: int | None = None


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """Processes of one executable that used MPI, and whose calls nobody saw; 0 of them: nobody counted."""

    reason: str
    executable: str
    about: str = ""
    processes: int = 0


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What was taken over from the processes at the end."""

    processes: int
    running: int
    recovered_events: int
    kept: int
    messages: list[str]


@dataclass(kw_only=True)
class Metadata:
    """One run; what is None is not known yet, or never was."""

    schema: str = SCHEMA
    format: int
    tare: str | None = None  # None: a run that the program began itself
    run_id: str
    name: str
    command: list[str]
    cwd: str
    host: str
    start_ns: int
    options: Options = field(default_factory=Options)
    segment_dir: str
    runner: Runner | None = None
    state: State
    environment: dict[str, str] = field(default_factory=dict)
    exit_code: int | None = None
    signal: int | None = None
    wall_ns: int | None = None
    ranks: list[RankEnd] | None = None
    cost: dict[str, int | float | None] | None = None
    collected: Taken | None = None
    unseen: list[Unseen] = field(default_factory=list)
    imported: str | None = None  # the trace of another tool that it was made of

    def __post_init__(self) -> None:
        # It is part of names of files, which are read, appended to and removed.
        if not _RUN_ID_FORM.fullmatch(self.run_id):
            raise ValueError("run_id is not 16 hexadecimal digits")
        _check("start_ns", self.start_ns)
        _check("wall_ns", self.wall_ns)
        _check("exit_code", self.exit_code, _HIGHEST_CODE)
        _check("signal", self.signal, _HIGHEST_SIGNAL + 1)


def _check(name: str, value: int | None, limit: int = _NEVER_MORE) -> None:
    if value is not None and not 0 <= value < limit:
        raise ValueError(f"{name} is {value}")


def encode(meta: Metadata) -> bytes:
    """The text of meta.json; names that are no UTF-8 lose what is not."""
    text = json.dumps(meta, indent=1, ensure_ascii=False, default=vars)
    return (text + "\n").encode("utf-8", "replace")


@dataclass(frozen=True)
class _Version:
    """What can be read of any version."""

    schema: str
    format: int
    tare: str | None = None


def decode(text: bytes, run: str, newest_format: int) -> Metadata:
    """The meta.json of `run`, if this tare can read the run."""
    _check_version(_decoded(text, _Version, run), run, newest_format)
    return _decoded(text, Metadata, run)


_T = TypeVar("_T")


def _decoded(text: bytes, wanted: type[_T], run: str) -> _T:
    import msgspec

    try:
        return msgspec.json.decode(text, type=wanted)
    except (msgspec.MsgspecError, ValueError) as error:
        reason = " ".join(str(error).split())
    except RecursionError:
        reason = "its values lie too deep in one another"
    raise CommandError(f"{run}/{META} is damaged: {reason}")


def _check_version(found: _Version, run: str, newest_format: int) -> None:
    schema = _SCHEMA_FORM.fullmatch(found.schema)
    if not schema:
        raise CommandError(f"{run}/{META} is damaged: its schema is not one of tare")
    by = f"of tare {found.tare or '?'}, this one reads up to"
    if int(schema[1]) > int(SCHEMA.rpartition("/")[2]):
        raise CommandError(f"{run} has {found.schema} {by} {SCHEMA}: install a newer tare")
    if found.format > newest_format:
        raise CommandError(f"{run} has format {found.format} {by} {newest_format}: install a newer tare")


def as_rank_ends(processes: list[Any]) -> list[RankEnd]:
    """How every process ended, of the native reader's rows."""
    kept = RankEnd.__dataclass_fields__
    return [RankEnd(**{name: process[name] for name in kept}) for process in processes]
