"""Regions, counters, markers, phases and events of a Python program, in the trace of its run.

Under `tare run --trace` they go to that run; `start()` makes a run without it. Otherwise they do nothing, at
the price of a call. Objects may be kept and used by any thread; those of equal names are the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Literal, NamedTuple, ParamSpec, TypeVar

from tare import _record

__all__ = [
    "ControlMessage",
    "control",
    "count",
    "counter",
    "event",
    "is_recording",
    "mark",
    "packed",
    "phase",
    "raw",
    "region",
    "sample",
    "start",
    "sweet_spot",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")

# The one that is loaded already comes first: that of libtare.so, or of a library that the program links.
_record.load(str(Path(__file__).parent / "lib" / "libtare_record.so"))


class Region(_record.Region):
    """A span of the program; see `region`."""

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def within(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self:
                return function(*args, **kwargs)

        return within


_regions: dict[str, Region] = {}
_phases: dict[str, _record.Phase] = {}
_counters: dict[str, _record.Counter] = {}
_markers: dict[str, _record.Marker] = {}
_events: dict[str, tuple[str, _record.Event]] = {}
_packed: dict[str, _record.Packed] = {}
_raw: dict[str, _record.Raw] = {}


def start(path: str | os.PathLike[str] | None = None) -> None:
    """Begins a run in the directory `path`, or one named after program and time; not in `tare run`."""
    _record.start(None if path is None else os.fspath(path))


def is_recording() -> bool:
    """Whether events are recorded."""
    return _record.recording()


def sample(spec: str) -> bool:
    """Changes which messages this rank samples (docs/samples.md); False, and a line on stderr, if not."""
    return _record.sample(spec)


def pause() -> None:
    """Stops the recording of calls, events and samples of this thread, until `resume()`."""
    _record.pause()


def resume() -> None:
    """Resumes the recording of this thread after `pause()`."""
    _record.resume()


def flush() -> None:
    """Writes the trace of this thread so far to the run now, at a time that the program chooses."""
    _record.flush()


def progress() -> None:
    """Marks the end of an iteration or time step, for `tare run --weigh` (docs/weigh.md)."""
    _record.progress()


def offload() -> None:
    """Marks a point at which `tare run --monitor` may take the profile of this rank (docs/monitoring.md)."""
    _record.offload()


SpotSource = Literal["unknown", "measured", "cached", "interpolated"]
_SOURCES: tuple[SpotSource, ...] = ("unknown", "measured", "cached", "interpolated")  # as in tare.h


class SweetSpot(NamedTuple):
    """What is known about the monitoring tree of `tare run --monitor`, for profiles of `events` events.

    Times are in seconds; None: not known, or not known yet. A deviation is a standard deviation.
    docs/monitoring.md has the definitions.
    """

    events: int  # the size of the profiles
    source: SpotSource  # how the BOI is known
    is_bound: bool  # True: the BOI is at most `boi`, because points of this run are no closer together
    boi: float | None  # the bottleneck offload interval
    boi_spread: float | None  # the width of the range in which the search found it
    resting_delay: float | None  # one-way delay of rounds that do not wait for one another
    resting_delay_deviation: float | None
    delay: float | None  # one-way delay of the last rounds
    delay_deviation: float | None
    direct_cost: float | None  # duration of an offload of this rank
    direct_cost_deviation: float | None
    overall_cost: float | None  # how much longer an iteration with an offload is; may be negative
    overall_cost_deviation: float | None


def sweet_spot(events: int = 0) -> SweetSpot:
    """The sweet spot for profiles of `events` events; 0: of the current size. Never waits for other ranks."""
    of, source, is_bound, *times = _record.sweet_spot(events)
    known: list[float | None] = [None if time < 0 else time for time in times]
    if times[-1] >= 0:
        known[-2] = times[-2]  # a difference
    return SweetSpot(of, _SOURCES[source], is_bound, *known)


class ControlMessage(NamedTuple):
    """A message that a user has sent with `tare monitor --send`."""

    name: str
    value: int | float | str
    lost: int  # messages that this process has missed so far


def control() -> ControlMessage | None:
    """The next message of a user to this rank, or None. To be called behind offload points."""
    is_there, name, value, lost = _record.control()
    return ControlMessage(name, value, lost) if is_there else None


def region(name: str) -> Region:
    """A span of the program: `with region("solve"): ...`, or a decorator of a function. Spans nest."""
    return _regions.get(name) or _regions.setdefault(name, Region(name))


def phase(name: str) -> _record.Phase:
    """A stretch of the whole run: `with phase("setup"): ...`, or its `begin()` and `end()`."""
    return _phases.get(name) or _phases.setdefault(name, _record.Phase(name))


def counter(name: str, unit: str = "") -> _record.Counter:
    """A value over time: `counter("heap", "bytes").set(value)`. The unit is that of the first use."""
    return _counters.get(name) or _counters.setdefault(name, _record.Counter(name, unit))


def count(name: str, value: float, unit: str = "") -> None:
    """Sets a counter."""
    counter(name, unit).set(value)


def mark(name: str) -> None:
    """A point in time."""
    (_markers.get(name) or _markers.setdefault(name, _record.Marker(name))).mark()


def event(name: str, types: str = "") -> _record.Event:
    """An event with up to 10 typed parameters: `event("step", "Id")(step, residual)`.

    `types` has one letter for each, as in `struct`: b B h H i I q Q f d. Integers are cut to their type.
    """
    known, found = _events.get(name) or _events.setdefault(name, (types, _record.Event(name, types)))
    if known != types:
        raise ValueError(f"the event {name!r} has the types {known!r}, not {types!r}: choose another name")
    return found


def packed(name: str) -> _record.Packed:
    """An event with up to 10 unsigned integers: `packed("sent")(peer, size)`."""
    return _packed.get(name) or _packed.setdefault(name, _record.Packed(name))


def raw(name: str) -> _record.Raw:
    """An event of text or bytes: `raw("note")("converged")`. More than 2048 bytes are cut."""
    return _raw.get(name) or _raw.setdefault(name, _record.Raw(name))
