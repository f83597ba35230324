"""What a run holds, read through the native reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tare import progress_line
from tare.errors import CommandError, UsageError, native_errors
from tare.runs import directory, rounds, runner, site_frames
from tare.runs.retiming import Retimed, Times, retime

if TYPE_CHECKING:
    from tare._native import (
        Communicator,
        CurrentCall,
        EventRow,
        EventTable,
        Exported,
        Location,
        PeerSum,
        PhaseSum,
        Process,
        ProfileSum,
        ReplayedWorld,
        SampleRow,
        SampleSummary,
        Scope,
        Site,
        Spell,
        SumKey,
        SumsQuery,
        Table,
        TableName,
        Timeline,
        Violations,
        WaitReport,
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


class Run:
    """One run, in a directory or an archive, as it is when it is opened; `tare.open` makes one.

    Rows are dictionaries whose keys `_native.pyi` lists; docs/json.md explains those that verbs print.
    Times end in `_ns`: points in time are nanoseconds of Unix time, others are durations. `world` numbers
    the sets of processes that have an MPI_COMM_WORLD in common, from 0; `rank` is the rank there. A run in
    which no process called MPI has no rows. What is damaged is left out, and `warnings` names it. Every
    member raises CommandError, with one line, if the files cannot be read at all. Not safe for several
    threads at a time.
    """

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
            return _native.Run(self.run_dir, segment_dir, self.meta.run_id, is_going_on=self.is_going_on)

    @cached_property
    def is_going_on(self) -> bool:
        """Whether the run is still going on: somebody will yet write how it ended."""
        return not self.member and runner.is_going_on(self.run_dir, self.meta)

    @cached_property
    def processes(self) -> list[Process]:
        """A row for each process that called MPI, sorted by world and rank."""
        with self._reading():
            return self._native.processes() if self._native else []

    def profile_sums(self, queries: Sequence[SumsQuery]) -> list[list[ProfileSum]]:
        """The profile, added up by the keys of each query: one list of rows for each query, in their order.

        Reads the profiles of all processes once, whatever the number of queries (src/reader/profile).
        """
        with self._reading():
            return self._native.profile_sums(queries) if self._native else [[] for _ in queries]

    @cached_property
    def location_rows(self) -> list[Location]:
        """A row for each thread that recorded, sorted by world and rank: what it counted and lost."""
        with self._reading():
            return self._native.locations() if self._native else []

    @cached_property
    def spells(self) -> list[Spell]:
        """The spells of a run with --weigh, by world, rank and number; empty for other runs."""
        if self.meta.options.weigh is None:
            return []
        with self._reading():
            return self._native.spells() if self._native else []

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

    def peer_sums(
        self,
        by: list[str],
        worlds: list[int] | None,
        ranks: list[int] | None,
        communicators: list[int] | None,
    ) -> list[PeerSum]:
        """Messages and one-sided bytes by peer, added up also by "rank" and "communicator", as `by` says.

        `worlds`, `ranks` and `communicators` restrict it; None: all. Communicators are indices of
        `communicators`.
        """
        with self._reading():
            return self._native.peer_sums(by, worlds, ranks, communicators) if self._native else []

    def phase_sums(self, by: list[str], worlds: list[int] | None, ranks: list[int] | None) -> list[PhaseSum]:
        """Times and MPI calls by phase, added up also by "rank", as `by` says; choices as in `peer_sums`."""
        with self._reading():
            return self._native.phase_sums(by, worlds, ranks) if self._native else []

    @cached_property
    def sites(self) -> list[Site]:
        """The call sites of all processes; rows of other tables name one by its index here.

        Equal sites of several processes are one. `shown` is the index in `path` of the frame that stands
        for the site (site_frames.py).
        """
        with self._reading():
            found = self._native.sites() if self._native else []
        return site_frames.with_chosen_frames(found, self.profile_sums)

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

    def calls_of(self, function: str) -> list[ProfileSum]:
        """The profile of the function, and of calls whose function is not known."""
        by: Sequence[SumKey] = ("world", "rank", "function", "communicator")
        (rows,) = self.profile_sums([{"by": by, "functions": [function, "other"]}])
        return rows

    @cached_property
    def replayed_worlds(self) -> list[ReplayedWorld]:
        """The time that each world would take on an ideal network; reads the whole trace (src/reader/replay).

        There, messages arrive as soon as they are sent, and MPI takes no time but that of waiting for other
        ranks.
        """
        with self._reading():
            return self._native.replay() if self._native else []

    def round_files(self) -> list[RoundFile]:
        """Where the rounds of a run with --monitor are stored, on each host that stored some."""
        if self.member:
            return rounds.of_archive(self.run_dir, self.member)
        return rounds.of_directory(self.run_dir)

    @property
    def end_ns(self) -> int | None:
        """Unix time at which the command ended; None if that is not known, or has not happened."""
        wall_ns = self.meta.wall_ns
        return None if wall_ns is None else self.start_ns + wall_ns

    @cached_property
    def sample_rows(self) -> list[SampleRow]:
        """A row for each class of sampled messages, with its latencies (docs/samples.md)."""
        with self._reading():
            return self._native.samples() if self._native else []

    @cached_property
    def sample_summaries(self) -> list[SampleSummary]:
        """One for each rank that sampled messages."""
        with self._reading():
            return self._native.sample_summaries() if self._native else []

    @property
    def warnings(self) -> list[str]:
        """What could not be read; may grow while events are read."""
        with native_errors():
            lines = self._native.warnings() if self._native else []
        if self.retimed is not None:
            lines = [*lines, *(line for line in self.retimed.warnings if line not in lines)]
        if self.meta.options.weigh is not None:
            lines = [*lines, WEIGHED]
        return [*lines, self.unread] if self.unread else lines

    @cached_property
    def unread(self) -> str | None:
        """What the run says it has, and its files do not hold; a verb that reads it has failed then."""
        known, found = len(self.meta.ranks or ()), len(self.processes)
        if known > found:
            return f"the files of this run hold {found:,} of its {known:,} processes"
        ended = not self.is_going_on  # of one that begins, segments are half made
        if self._native is not None and not found and ended and self._native.warnings():
            return "the files of this run are damaged: they hold no process"
        return None

    @property
    def start_ns(self) -> int:
        """Unix time at which `tare run` started the command; times are shown relative to it."""
        return self.meta.start_ns

    @property
    def worlds(self) -> int:
        return len({process["world"] for process in self.processes})

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
        """Writes the events for another tool; the file is there as a whole or not at all."""
        if self._native is None:
            raise CommandError("no process of this run called MPI")
        shown = [site["shown"] for site in self.sites]
        chosen = None if ranks is None else list(ranks)
        with self._reading():
            if kind == "otf2":
                from tare.runs.otf2 import module

                export = partial(module().export_otf2, self._native)
            else:
                export = getattr(self._native, f"export_{kind}")
            result: Exported = export(str(to), self.start_ns, shown, chosen, start_ns, end_ns)
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
