"""What meta.json holds (docs/json.md): its types, and the one place that reads and writes its text.

Whatever is in the file, the result of `decode` has these types and ranges; all else is a CommandError.
Writing needs no more than the standard library, so that `tare run` starts quickly.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from tare import interrupts
from tare.errors import CommandError

META = "meta.json"
SCHEMA = "tare.meta/1"

State = Literal["running", "ended", "recovered"]

_SCHEMA_FORM = re.compile(r"tare\.meta/([1-9][0-9]{0,8})")
_RUN_ID_FORM = re.compile(r"[0-9a-f]{16}")
_RUN_KEY_FORM = re.compile(r"(?:[0-9a-f]{32})?")
_NEVER_MORE = 2**63
_HIGHEST_SIGNAL = 127
_HIGHEST_CODE = 2**31


DEFAULT_STACK_RATE = 100  # samples of a stack in a second of processor time (src/stacks/sampler.cpp)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `tare run`. A run that a program began itself is a trace with the defaults."""

    trace: bool = False  # events are recorded, and not the profile alone
    buffer: int | None = None  # size of an event buffer in bytes; None: the default
    policy: Literal["block", "drop", "overwrite"] = "block"  # what happens if an event buffer is full
    keep_ns: int | None = None  # age of the oldest events that a flight recorder keeps; None: any
    write: bool = True  # False: event buffers are encoded, but not written
    drain: Literal["inline", "tared"] = "inline"  # who writes event buffers
    stack: int | None = None  # frames of a call path; None: the default
    stack_rate: int | None = None  # samples of a stack in a second of processor time; None: the default
    time_lookups: bool = False  # look-up functions are timed, and not only counted
    sample: str | None = None  # the SPEC of --sample
    sources: tuple[str, ...] = ()  # sources of events beside MPI
    weigh: float | None = None  # the share of spells that do not measure
    budget: float | None = None  # the share of the time that measuring may cost
    budget_bytes: int | None = None  # the size that the trace may have
    monitor: str | None = None  # the SPEC of --monitor
    keep_env: tuple[str, ...] = ()  # patterns of environment variables to store
    forward: bool = False  # wrappers only forward calls, and record nothing
    group: str | None = None  # the group that may read the run


@dataclass(frozen=True, kw_only=True)
class Runner:
    """The process that writes how the run ended; a later one of this pid starts later."""

    pid: int
    start_ticks: int  # clock ticks after boot, as in /proc/PID/stat
    machine: str | None = None  # where it runs, and the next field too: `_native`. Missing in older runs
    pid_namespace: int | None = None  # in which `pid` is its number
    memory: str | None = None  # the one that it sees behind the segment directory: `_native.collector`
    # It touches meta.json as long as it lives, so that other hosts can see that.
    touches: bool = False

    def __post_init__(self) -> None:
        _check("pid", self.pid, 2**31)
        _check("start_ticks", self.start_ticks)


@dataclass(frozen=True, kw_only=True)
class RankEnd:
    """How a process ended. The fields are explained for the ranks of `tare info` in docs/json.md."""

    world: int
    rank: int
    host: str
    pid: int
    state: str
    exit_code: int | None
    until: str | None = None  # this and the next field are missing in older runs
    signal: int | None = None


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """Processes of one executable that used MPI, but whose calls tare did not see."""

    reason: str  # why
    executable: str
    about: str = ""  # further text for the user
    processes: int = 0  # their number; 0: not counted


@dataclass(frozen=True, kw_only=True)
class Launched:
    """`tare run` as one of the processes that a launcher has started."""

    variable: str  # of the environment, which tells the rank
    rank: int
    size: int | None  # the number of ranks; None: not told

    def __post_init__(self) -> None:
        _check("rank", self.rank, 2**31)
        _check("size", self.size, 2**31)


@dataclass(frozen=True, kw_only=True)
class Missing:
    """Ranks of a world of which the run holds no results."""

    world: int
    size: int  # the number of ranks of the world
    ranks: list[tuple[int, int]]  # the first and the last of each range
    host: str | None = None  # where they ran; None: not known

    def __post_init__(self) -> None:
        for first, last in self.ranks:
            if not 0 <= first <= last < self.size:
                raise ValueError(f"ranks {first} to {last} of {self.size} are missing")


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What was collected from the processes at the end (src/reader/run/collect.h)."""

    processes: int  # processes whose segments were collected
    running: int  # processes that still ran
    recovered_events: int  # records found in event buffers
    kept: int  # segments that could not be written to the run directory
    messages: list[str]  # one line each
    unknown: int = 0  # processes of which it was not known whether they ran; missing in older runs


@dataclass(frozen=True, kw_only=True)
class Reception:
    """How the rounds of a monitored run came in, up to the end of `tare run`."""

    rounds: int  # that were stored
    profiles: int  # of ranks, in these rounds
    excess_ns: int  # from the end of the command until the last one had come; 0: it had before
    cut_off: int | None = None  # profiles that came too late; None: nothing was cut off

    def __post_init__(self) -> None:
        for name in ("rounds", "profiles", "excess_ns", "cut_off"):
            _check(name, getattr(self, name))


@dataclass(kw_only=True)
class Metadata:
    """The contents of meta.json (docs/json.md). None: not known, or not known yet."""

    schema: str = SCHEMA
    format: int  # version of the format of the files
    tare: str | None = None  # version of tare; None: a run that the program began itself
    run_id: str  # 16 hexadecimal digits
    run_key: str = ""  # which only the run's processes know (src/format/run_key.h); in older runs empty
    name: str
    command: list[str]
    cwd: str  # working directory of the command
    host: str  # where `tare run` runs
    processors: int | None = None  # that it, and what it starts, may use there
    start_ns: int  # Unix time
    options: Options = field(default_factory=Options)
    segment_dir: str  # where segments are until they are collected
    runner: Runner | None = None
    state: State  # of the command
    environment: dict[str, str] = field(default_factory=dict)  # stored variables
    exit_code: int | None = None  # of the command
    signal: int | None = None  # the signal that killed it
    wall_ns: int | None = None  # its duration
    ranks: list[RankEnd] | None = None
    cost: dict[str, int | float | None] | None = None  # the cost account of all ranks
    collected: Taken | None = None
    reception: Reception | None = None  # of a monitored run
    unseen: list[Unseen] = field(default_factory=list)
    launched: Launched | None = None
    missing: list[Missing] = field(default_factory=list)  # at the end of the run
    imported: str | None = None  # the trace of another tool from which the run was made

    def __post_init__(self) -> None:
        # It is part of names of files, which are read, appended to and removed.
        if not _RUN_ID_FORM.fullmatch(self.run_id):
            raise ValueError("run_id is not 16 hexadecimal digits")
        if not _RUN_KEY_FORM.fullmatch(self.run_key):
            raise ValueError("run_key is not 32 hexadecimal digits")
        _check("start_ns", self.start_ns)
        _check("wall_ns", self.wall_ns)
        _check("processors", self.processors)
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
        with interrupts.held():  # msgspec may crash if an exception comes between
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
    return [RankEnd(**{name: getattr(process, name) for name in kept}) for process in processes]
