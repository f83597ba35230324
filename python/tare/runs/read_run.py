"""A run that is opened, through the native reader: what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tare import progress_line, units
from tare.errors import native_errors
from tare.runs import directory, missing, rounds, runner
from tare.runs.retiming import Retimed, Times, retime

if TYPE_CHECKING:
    from tare._native import (
        Communicator,
        CurrentCall,
        Scope,
        Site,
        Spell,
        Violations,
    )
    from tare._native import (
        Run as NativeRun,
    )
    from tare.runs.metadata import Metadata
    from tare.runs.rounds import RoundFile


WEIGHED = (
    "calls of some spells were only counted (--weigh): times, bytes and events are those of the others; "
    "messages may lack an end"
)
THINNED = (
    "the trace has some spells only (--budget): it leaves out calls of the others; "
    "the profile has all of them"
)
COUNTED = (
    "calls of some spells were only counted (--budget): times and bytes are those of the others, "
    "and the trace has fewer still"
)


class ReadRun:
    """What its processes define, how it ended, and what of it is damaged; Run says the rest."""

    def __init__(self, run_dir: Path, meta: Metadata, member: str = "") -> None:
        self.run_dir = run_dir
        self.meta = meta
        self.member = member
        self._native = self._open()
        self.retimed: Retimed | None = None

    def use_times(self, times: Times) -> None:
        """Shows the events of the trace in other times, in all that is read from now on (docs/analyses.md).

        Profiles and accounts stay as they were recorded. To be called once, before the trace is read.
        """
        if self._native is not None:
            with self._reading():
                self.retimed = retime(self._native, times)

    @cached_property
    def clock_violations(self) -> list[Violations]:
        """Calls that the clocks contradict, as they were recorded; reads the trace."""
        if self.retimed is not None:
            return self.retimed.correction["violations"]
        with self._reading():
            return self._native.clock_violations() if self._native else []

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """For what may take its time."""
        with native_errors(), progress_line.reading(self.run_dir.name):
            yield

    def _open(self) -> NativeRun | None:
        from tare import _native

        if self.member:
            with self._reading():
                return _native.Run(self.run_dir, member=self.member)
        if not directory.has_records(self.run_dir, self.meta):
            return None
        with self._reading():
            segment_dir = directory.segment_dir(self.run_dir, self.meta)
            return _native.Run(
                self.run_dir,
                segment_dir,
                self.meta.run_id,
                is_going_on=self.is_going_on,
                run_key=self.meta.run_key,
            )

    @cached_property
    def is_going_on(self) -> bool:
        """Whether the run is still going on: somebody will yet write how it ended."""
        return not self.member and runner.is_going_on(self.run_dir, self.meta)

    @property
    def process_count(self) -> int:
        """Number of `processes`, which this does not read."""
        return self._native.process_count() if self._native else 0

    @property
    def start_ns(self) -> int:
        """Unix time at which `tare run` started the command; times are shown relative to it."""
        return self.meta.start_ns

    @property
    def end_ns(self) -> int | None:
        """Unix time at which the command ended; None if that is not known, or has not happened."""
        wall_ns = self.meta.wall_ns
        return None if wall_ns is None else self.start_ns + wall_ns

    @cached_property
    def spells(self) -> list[Spell]:
        """The spells of a run with --weigh or --budget, by world, rank and number; empty for other runs."""
        if self.meta.options.weigh is None and self.meta.options.budget is None:
            return []
        with self._reading():
            return self._native.spells() if self._native else []

    @cached_property
    def has_counted_spells(self) -> bool:
        """Whether there are spells, or parts of some, of which calls were only counted."""
        return any(
            not spell["measured"] or (spell["cut"] and spell["counted_calls"]) for spell in self.spells
        )

    @cached_property
    def functions(self) -> list[str]:
        """Names of the functions that the run may have calls of."""
        with self._reading():
            return self._native.functions() if self._native else []

    @cached_property
    def event_names(self) -> list[str]:
        """Names of the events that the program defines itself (docs/api.md)."""
        with self._reading():
            return self._native.event_names() if self._native else []

    @cached_property
    def sites(self) -> list[Site]:
        """The call sites of all processes; rows of other tables name one by its index here.

        Equal sites of several processes are one. `shown` is the index in `path` of the frame that stands
        for the site (src/reader/run/site_frames.h).
        """
        with self._reading():
            return self._native.sites() if self._native else []

    @cached_property
    def communicators(self) -> list[Communicator]:
        """The communicators of all processes, equal ones as one; other rows name one by its index here."""
        with self._reading():
            return self._native.communicators() if self._native else []

    @cached_property
    def scopes(self) -> list[Scope]:
        """Windows and files; rows name one by its index here."""
        with self._reading():
            return self._native.scopes() if self._native else []

    @cached_property
    def current_calls(self) -> list[CurrentCall]:
        """The MPI calls that threads were in when the run was opened, or when their process died."""
        with self._reading():
            return self._native.current_calls() if self._native else []

    def round_files(self) -> list[RoundFile]:
        """Where the rounds of a run with --monitor are stored, on each host that stored some."""
        if self.member:
            return rounds.of_archive(self.run_dir, self.member)
        return rounds.of_directory(self.run_dir)

    @property
    def warnings(self) -> list[str]:
        """What could not be read; may grow while events are read."""
        with native_errors():
            lines = self._native.warnings() if self._native else []
        if self.retimed is not None:
            lines = [*lines, *(line for line in self.retimed.warnings if line not in lines)]
        if self.meta.options.weigh is not None:
            lines = [*lines, WEIGHED]
        if self.meta.options.budget is not None:
            lines = [*lines, *self._thinned()]
        lines = [*lines, *missing.sentences(self.meta, str(self.run_dir))]
        return [*lines, self.unread] if self.unread else lines

    def _thinned(self) -> list[str]:
        if self.has_counted_spells:
            return [COUNTED]
        return [THINNED] if any(not spell["traced"] or spell["cut"] for spell in self.spells) else []

    @cached_property
    def unread(self) -> str | None:
        """What the run says it has, and its files do not hold; a verb that reads it has failed then."""
        known, found = len(self.meta.ranks or ()), self.process_count
        if known > found:
            processes = units.number_of(known, "process", "processes")
            return f"the files of this run hold {found:,} of its {processes}"
        ended = not self.is_going_on  # of one that begins, segments are half made
        if self._native is not None and not found and ended and self._native.warnings():
            return "the files of this run are damaged: they hold no process"
        return None
