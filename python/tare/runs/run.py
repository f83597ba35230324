"""What a run holds, read through the native reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tare.errors import CommandError, UsageError, native_errors
from tare.runs import directory
from tare.runs.profiled_run import ProfiledRun
from tare.runs.retiming import Times

if TYPE_CHECKING:
    from tare._native import (
        EventRow,
        EventTable,
        Exported,
        ProfileKey,
        ReplayedWorld,
        Structure,
        Table,
        TableName,
        Timeline,
        WaitReport,
    )


class Run(ProfiledRun):
    """One run, in a directory or an archive, as it is when it is opened; `tare.open` makes one.

    Rows are dictionaries whose keys `_native.pyi` lists; docs/json.md explains those that verbs print.
    Times end in `_ns`: points in time are nanoseconds of Unix time, others are durations. `world` numbers
    the sets of processes that have an MPI_COMM_WORLD in common, from 0; `rank` is the rank there. A run in
    which no process called MPI has no rows. What is damaged is left out, and `warnings` names it. Every
    member raises CommandError, with one line, if the files cannot be read at all. Not safe for several
    threads at a time.
    """

    @cached_property
    def replayed_worlds(self) -> list[ReplayedWorld]:
        """The time that each world would take on an ideal network; reads the whole trace (src/reader/replay).

        There, messages arrive as soon as they are sent, and MPI takes no time but that of waiting for other
        ranks.
        """
        with self._reading():
            return self._native.replay() if self._native else []

    def events(
        self,
        ranks: list[int] | None,
        functions: list[str] | None,
        start_ns: int | None,
        end_ns: int | None,
        limit: int,
    ) -> Iterator[EventRow]:
        """The events one by one, those of all locations merged in the order of time.

        Only those of `ranks`, of `functions`, and that overlap [`start_ns`, `end_ns`]; None: all. `limit`
        is the largest number of events; 0: no limit.
        """
        if self._native is None:
            return
        with native_errors():
            for batch in self._native.events(ranks, functions, start_ns, end_ns, limit):
                yield from batch

    def event_table(
        self,
        *,
        ranks: Sequence[int] | None = None,
        functions: Sequence[str] | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        limit: int = 0,
        columns: Sequence[str] | None = None,
    ) -> EventTable:
        """The events as a table that every Arrow library takes (docs/tables.md); choices as of `events`.

        `columns` names those that are wanted, in their order; None: all. UsageError if there is no such
        column. Every stream of the table reads the trace anew.
        """
        from tare import _native

        wanted = None if columns is None else list(columns)
        if wanted is not None and (unknown := set(wanted) - set(_native.event_columns())):
            raise UsageError(
                f"events have no column {', '.join(sorted(unknown))}; "
                f"there are {', '.join(_native.event_columns())}"
            )
        if self._native is None:
            return _native.no_events(wanted)
        chosen = (
            None if ranks is None else list(ranks),
            None if functions is None else list(functions),
        )
        return self._native.event_table(*chosen, start_ns, end_ns, limit, wanted)

    def timeline(self) -> Timeline | None:
        """The trace as bins in time (src/reader/timeline); None if the run has no trace.

        Reads the whole trace now.
        """
        if self._native is None or not any(process["trace"]["events"] for process in self.processes):
            return None
        with self._reading():
            return self._native.timeline()

    def _table(self, name: TableName) -> Table:
        from tare import _native

        return self._native.table(name) if self._native else _native.empty_table(name)

    def _profile_table(self, by: Sequence[ProfileKey], ranks: Sequence[int] | None) -> Table:
        from tare import _native

        chosen = list(ranks) if ranks else None
        return self._native.profile_table(by, chosen) if self._native else _native.empty_profile_table(by)

    @property
    def messages(self) -> Table:
        """The messages of the trace, one row each with both ends, as a table for Arrow (docs/tables.md).

        Sends and receives are matched by MPI's rules of order (src/reader/matching/matcher.h).
        """
        return self._table("messages")

    @property
    def requests(self) -> Table:
        """The requests of the trace, each with the call that started it and the one that completed it."""
        return self._table("requests")

    @property
    def collectives(self) -> Table:
        """The collective operations of the trace, a row for each rank, as a table for Arrow."""
        return self._table("collectives")

    def export_trace(
        self, kind: str, to: Path, ranks: Sequence[int] | None, start_ns: int | None, end_ns: int | None
    ) -> Exported:
        """Writes the events for another tool; the file exists completely or not at all."""
        if self._native is None:
            raise CommandError("no process of this run called MPI")
        chosen = None if ranks is None else list(ranks)
        with self._reading():
            if kind == "otf2":
                from tare.runs.otf2 import module

                export = partial(module().export_otf2, self._native)
            else:
                export = getattr(self._native, f"export_{kind}")
            result: Exported = export(str(to), self.start_ns, chosen, start_ns, end_ns)
            return result

    @property
    def waits(self) -> Table:
        """The wait states of the trace, one row each, as a table for Arrow.

        docs/analyses.md defines them, after Scalasca (Zhukov et al.; Boehme et al. for the delays).
        """
        return self._table("waits")

    @cached_property
    def wait_report(self) -> WaitReport:
        """Wait states, delays and the critical path, summed; reads the trace twice."""
        if self._native is None:
            nothing: WaitReport = {
                "waits": [],
                "causes": [],
                "delays": [],
                "critical_path": [],
                "clock_violations": [],
                "warnings": [],
            }
            return nothing
        with self._reading():
            return self._native.wait_report()

    @cached_property
    def structure(self) -> Structure:
        """The phases and iterations that the trace shows; reads it twice (src/reader/structure)."""
        if self._native is None:
            return {"phases": [], "loops": []}
        with self._reading():
            return self._native.structure()


_AnyRun = TypeVar("_AnyRun", bound=Run)


def open_run(run_dir: Path, member: str | None = None) -> Run:
    """The run in `run_dir`, or the one of an archive that `member` names; one clear line if it is none."""
    return open_as(Run, run_dir, member)


def open_as(
    kind: type[_AnyRun], run_dir: Path, member: str | None = None, times: Times = Times.RECORDED
) -> _AnyRun:
    """The same as an object of a derived class, in these times."""
    recording = _open_as(kind, run_dir, member)
    recording.use_times(times)
    return recording


def _open_as(kind: type[_AnyRun], run_dir: Path, member: str | None) -> _AnyRun:
    from tare import _native

    if run_dir.is_file() and _native.is_archive(str(run_dir)):
        from tare.runs import archive

        chosen = archive.choose_run(run_dir, member)
        return kind(run_dir, archive.read_meta(run_dir, chosen, _native.FORMAT_VERSION), chosen)
    if member is not None:
        raise UsageError(f"{run_dir} is not an archive: leave out --member")
    return kind(run_dir, directory.read_meta(run_dir, _native.FORMAT_VERSION))
