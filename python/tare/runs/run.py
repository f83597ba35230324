"""A run that is opened, through the native reader: its tables, and what else it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from tare import progress_line, units
from tare._tables import Tables
from tare.errors import NOTHING_MEASURED, CommandError, UsageError, native_errors
from tare.runs import directory, missing, rounds, runner
from tare.runs.retiming import Retimed, Times, retime

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from tare._native import (
        Communicator,
        CurrentCall,
        EventRow,
        Exchange,
        Exported,
        Process,
        ReplayedWorld,
        SampleRow,
        SampleSummary,
        Scope,
        Site,
        Spell,
        Structure,
        Table,
        Timeline,
        TotalCost,
        Trace,
        WaitReport,
    )
    from tare._native import Run as NativeRun
    from tare._tables import EventsRow, PeersRow, PhasesRow, ProfileRow, TableName
    from tare.runs.asking import Answers
    from tare.runs.metadata import Metadata, Missing
    from tare.runs.rounds import RoundFile

_Row = TypeVar("_Row")

ProfileKey = Literal["site", "line", "function", "size", "communicator", "rank"]
PROFILE_KEYS: tuple[ProfileKey, ...] = get_args(ProfileKey)
# What a replay changes. The time of ranks outside MPI before the calls of a site: times a factor, and each of
# these times at most so many ns (rank, site, factor, ns). The sites in whose calls nobody waits. And ranks
# that share their work before the calls of sites, each time evenly on all ranks of the world, but for a share
# that stays with each of them (rank, site, share).
ReplayChange = tuple[Sequence[tuple[int, int, float, int]], Sequence[int], Sequence[tuple[int, int, float]]]
WEIGHED = (
    "calls of some spells were only counted (--weigh): times, bytes and events are those of the others; "
    "messages may lack an end"
)
THINNED = (
    "the trace has some spells only (--budget): it leaves out calls of the others; "
    "the profile has all of them"
)
COUNTED = (
    "some calls were only counted (--budget): times and bytes are those of the others, "
    "and the trace has fewer still"
)


def _read(get: Callable[[Run], _Row]) -> cached_property[_Row]:
    """What is read of a run when it is first asked for."""

    @wraps(get)
    def read(run: Run) -> _Row:
        with run._reading():
            return get(run)

    return cached_property(read)


class Run(Tables):
    """One run, in a directory or an archive, as it is when it is opened; `tare.open` makes one.

    Tables are read when somebody reads them (docs/tables.md). What is no table are objects of the classes in
    `tare._native`; docs/json.md explains those that verbs print. Times end in `_ns`: points in time are
    nanoseconds of Unix time, others are durations. `world` numbers the sets of processes that have an
    MPI_COMM_WORLD in common, from 0; `rank` is the rank there. A run in which no process called MPI has no
    rows. What is damaged is left out, and `warnings` names it. Every member raises CommandError, with one
    line, if the files cannot be read at all. Not safe for several threads at a time.
    """

    def __init__(
        self, run_dir: Path, meta: Metadata, member: str = "", answers: Answers | None = None
    ) -> None:
        self.run_dir = run_dir
        self.meta = meta
        self.member = member
        self.answers = answers  # None: no other node was asked
        self._native = self._open()
        self.retimed: Retimed | None = None

    def _open(self) -> NativeRun:
        from tare import _native

        with self._reading():
            if self.member:
                return _native.Run(self.run_dir, member=self.member)
            answers = self.answers.files if self.answers else []
            if not answers and not directory.has_records(self.run_dir, self.meta):
                return _native.empty_run()
            segment_dir = directory.segment_dir(self.run_dir, self.meta)
            return _native.Run(
                self.run_dir,
                segment_dir,
                self.meta.run_id,
                is_going_on=self.is_going_on,
                run_key=self.meta.run_key,
                answers=answers,
            )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Shows progress of what may take its time."""
        with native_errors(), progress_line.reading(self.run_dir.name):
            yield

    def use_times(self, times: Times) -> None:
        """Shows the events of the trace in other times, in all that is read from now on (docs/analyses.md).

        Profiles and accounts stay as they were recorded. To be called once, before the trace is read.
        """
        with self._reading():
            self.retimed = retime(self._native, times)

    @_read
    def is_going_on(self) -> bool:
        """Whether the run is still going on: somebody will yet write how it ended."""
        return not self.member and runner.is_going_on(self.run_dir, self.meta)

    @property
    def is_running(self) -> bool:
        """Whether it is still going on, or its processes are, although `tare run` has ended."""
        return self.is_going_on or any(process.state == "running" for process in self.processes)

    @property
    def has_keepers(self) -> bool:
        """Whether keepers have left notes: they still collect on other nodes, or were killed there."""
        return not self.member and bool(directory.keepers(self.run_dir))

    @property
    def start_ns(self) -> int:
        """Unix time at which `tare run` started the command; times are shown relative to it."""
        return self.meta.start_ns

    @property
    def end_ns(self) -> int | None:
        """Unix time at which the command ended; None if that is not known, or has not happened."""
        wall_ns = self.meta.wall_ns
        return None if wall_ns is None else self.start_ns + wall_ns

    @property
    def ending(self) -> str:
        """How the command ended, in words."""
        meta = self.meta
        if meta.imported is not None:
            return "imported; a trace does not say how its program ended"
        if meta.signal is not None:
            return f"killed by {units.signal_name(meta.signal)}"
        if meta.exit_code is not None:
            return f"exit code {meta.exit_code}"
        if self.is_running:
            return "running"
        if meta.tare is None and self.processes:  # a run that the program began itself (tare_start)
            return "every process has ended"
        return "not seen to end (`tare run` could not write how it ended, or was killed)"

    # Tables.

    def _table(self, name: TableName) -> Table[Any]:
        return self._native.table(name)

    def rows(self, table: Table[_Row]) -> list[_Row]:
        """All rows of a table of this run, as named tuples."""
        with self._reading():
            return table.rows()

    def profile(
        self,
        by: str | Sequence[str] = "site",
        *,
        functions: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
        worlds: Sequence[int] | None = None,
        callers_alone: bool = False,
    ) -> Table[ProfileRow]:
        """The profile by one key or several: "site", "line", "function", "size", "communicator", "rank".

        The others choose calls; None: all. `callers_alone`: those of threads that call MPI, or of the first
        thread of a process without MPI.
        """
        wanted = list(dict.fromkeys([by] if isinstance(by, str) else by))
        if not wanted or (unknown := [key for key in wanted if key not in PROFILE_KEYS]):
            named = ", ".join(unknown) if wanted else "nothing"
            raise UsageError(f"the profile has no key {named}; there are {', '.join(PROFILE_KEYS)}")
        return self._native.profile(wanted, functions, ranks or None, communicators, worlds, callers_alone)

    def calls_of(self, function: str) -> list[ProfileRow]:
        """The profile of the function, and of calls whose function is not known, by rank and communicator."""
        return self.rows(self.profile(["rank", "function", "communicator"], functions=[function, "other"]))

    def peers(
        self,
        by: Sequence[str] = ("rank",),
        worlds: Sequence[int] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
    ) -> Table[PeersRow]:
        """Messages and one-sided bytes by peer, and by "rank" and "communicator", as `by` says."""
        return self._native.peers(by, worlds, ranks, communicators)

    def phases(
        self,
        by: Sequence[str] = ("rank",),
        worlds: Sequence[int] | None = None,
        ranks: Sequence[int] | None = None,
    ) -> Table[PhasesRow]:
        """Times and MPI calls by phase (null: outside of all), and by "rank", if `by` says so."""
        return self._native.phases(by, worlds, ranks)

    def event_table(
        self,
        *,
        ranks: Sequence[int] | None = None,
        functions: Sequence[str] | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        limit: int = 0,
        columns: Sequence[str] | None = None,
    ) -> Table[EventsRow]:
        """The events as a table that every Arrow library takes (docs/tables.md); choices as of `events`.

        `columns` names those that are wanted, in their order; None: all. UsageError if there is no such
        column. Every stream of the table reads the trace anew.
        """
        from tare import _native

        if columns is not None and (unknown := set(columns) - set(_native.event_columns())):
            raise UsageError(
                f"events have no column {', '.join(sorted(unknown))}; "
                f"there are {', '.join(_native.event_columns())}"
            )
        return self._native.event_table(ranks, functions, start_ns, end_ns, limit, columns)

    def tables(self) -> dict[str, Table[Any]]:
        """All tables by their names in SQL (`listed`)."""
        return {name: self._native.table(name) for name in listed()}

    def sql(self, query: str, *, files: bool = False) -> DuckDBPyRelation | None:
        """What a query of the tables in DuckDB's SQL finds: `.fetchall()`, `.df()`, `.pl()`, …; None of a
        statement without a result. UsageError if the query is wrong.

        With `files` it may read and write files (COPY, read_csv, ATTACH).
        """
        from tare.runs import sql

        with sql.errors():
            return sql.connect(self.tables(), files=files).sql(query)

    def _repr_html_(self) -> str:
        """The run in notebooks."""
        from tare.runs import html

        return html.run(self)

    def expect_profile(self, *several: Sequence[str], **chosen: Any) -> None:
        """These profiles will be asked for: the next reading of the profiles answers that, too.

        `chosen` as for `profile`.
        """
        for by in several:
            self._native.expect_profile(by, **chosen)

    def expect_phases(self) -> None:
        """The same of phases, of all ranks together."""
        self._native.expect_phases()

    def expect_exchanges(self, max_groups: int) -> None:
        """The same of `exchanges`."""
        self._native.expect_exchanges(max_groups)

    # What the processes are and define.

    @property
    def process_count(self) -> int:
        """Number of `processes`, which this does not read."""
        return self._native.process_count()

    @cached_property
    def processes(self) -> list[Process]:
        """A row for each process that called MPI, sorted by world and rank."""
        return self._native.processes()

    @property
    def worlds(self) -> int:
        """The number of MPI_COMM_WORLDs in the run."""
        return len({process.world for process in self.processes})

    @_read
    def missing(self) -> list[Missing]:
        """Ranks of which there are no results here, by world and host; sums and tables lack them."""
        # Whoever wrote the end of a run and missed nobody has seen all; what was missing may have come since.
        if self.meta.imported is not None or (self.meta.ranks is not None and not self.meta.missing):
            return []
        return missing.find(self.missing_table.rows())

    @_read
    def saved(self) -> list[Missing]:
        """Ranks of which there is only what a keeper saved while they ran, by world and host."""
        return missing.find(self._native.saved())

    def total_cost(self, world: int | None = None) -> TotalCost:
        """The cost accounts of all processes added up, or of the ranks of a world."""
        with self._reading():
            return self._native.total_cost(world)

    def total_trace(self, world: int | None = None) -> Trace:
        """The same of their traces."""
        with self._reading():
            return self._native.total_trace(world)

    def exchanges(self, max_groups: int) -> list[Exchange]:
        """What the ranks of each world sent to one another, by at most so many groups of neighbours."""
        with self._reading():
            return self._native.exchanges(max_groups)

    @_read
    def spells(self) -> list[Spell]:
        """The spells of a run with --weigh or --budget, by world, rank and number; empty for other runs."""
        if self.meta.options.weigh is None and self.meta.options.budget is None:
            return []
        with self._reading():
            return self._native.spells()

    @cached_property
    def has_counted_time(self) -> bool:
        """Whether calls were only counted for some of the time, in spells or outside of them."""
        return any(process.counted_ns > 0 for process in self.processes)

    @cached_property
    def functions(self) -> list[str]:
        """Names of the functions that the run may have calls of."""
        return self._native.functions()

    @_read
    def event_names(self) -> list[str]:
        """Names of the events that the program defines itself (docs/api.md)."""
        return self._native.event_names()

    @_read
    def sites(self) -> list[Site]:
        """The call sites of all processes; rows of other tables name one by its index here.

        Equal sites of several processes are one. `shown` is the index in `path` of the frame that stands
        for the site (src/reader/run/site_frames.h).
        """
        return self._native.sites()

    @_read
    def communicators(self) -> list[Communicator]:
        """The communicators of all processes, equal ones as one; other rows name one by its index here."""
        return self._native.communicators()

    @_read
    def scopes(self) -> list[Scope]:
        """Windows and files; rows name one by its index here."""
        return self._native.scopes()

    @_read
    def current_calls(self) -> list[CurrentCall]:
        """The MPI calls that threads were in when the run was opened, or when their process died."""
        return self._native.current_calls()

    @_read
    def sample_rows(self) -> list[SampleRow]:
        """A row for each class of sampled messages, with its latencies (docs/samples.md)."""
        return self._native.samples()

    @_read
    def sample_summaries(self) -> list[SampleSummary]:
        """One for each rank that sampled messages."""
        return self._native.sample_summaries()

    def round_files(self) -> list[RoundFile]:
        """The files with the rounds of a run with --monitor, one for each host that stored some."""
        if self.member:
            return rounds.of_archive(self.run_dir, self.member)
        return rounds.of_directory(self.run_dir)

    # What the trace shows.

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
        with native_errors():
            for batch in self._native.events(ranks, functions, start_ns, end_ns, limit):
                yield from batch

    @_read
    def replayed_worlds(self) -> list[ReplayedWorld]:
        """The time that each world would take on an ideal network; reads the whole trace (src/reader/replay).

        There, messages arrive as soon as they are sent, and MPI takes no time but that of waiting for other
        ranks.
        """
        return self._native.replay()

    def replayed_with(self, world: int, changes: Sequence[ReplayChange]) -> list[ReplayedWorld]:
        """The same, and the time with each of these changes of a world (`without_ns`)."""
        with self._reading():
            return self._native.replay([(world, *change) for change in changes])

    @_read
    def wait_report(self) -> WaitReport:
        """Wait states, delays and the critical path, summed; reads the trace twice."""
        return self._native.wait_report()

    @_read
    def structure(self) -> Structure:
        """The phases and iterations that the trace shows; reads it twice (src/reader/structure)."""
        return self._native.structure()

    def timeline(self) -> Timeline | None:
        """The trace as bins in time (src/reader/timeline); None if the run has no trace.

        Reads the whole trace now.
        """
        if not any(process.trace.records for process in self.processes):
            return None
        with self._reading():
            return self._native.timeline()

    def export_trace(
        self, kind: str, to: Path, ranks: Sequence[int] | None, start_ns: int | None, end_ns: int | None
    ) -> Exported:
        """Writes the events for another tool; the file exists completely or not at all."""
        if not self.process_count:
            raise CommandError(NOTHING_MEASURED)
        with self._reading():
            if kind == "otf2":
                from tare.runs.otf2 import module

                export = partial(module().export_otf2, self._native)
            else:
                if kind == "perfetto":
                    from tare import packages

                    packages.require_library("a trace for Perfetto", "protozero")
                export = getattr(self._native, f"export_{kind}")
            result: Exported = export(str(to), self.start_ns, ranks, start_ns, end_ns)
            return result

    # What could not be read.

    @property
    def warnings(self) -> list[str]:
        """What could not be read; may grow while events are read."""
        with native_errors():
            lines = self._native.warnings()
        if self.retimed is not None:
            lines = [*lines, *(line for line in self.retimed.warnings if line not in lines)]
        if self.meta.options.weigh is not None:
            lines = [*lines, WEIGHED]
        if self.meta.options.budget is not None:
            lines = [*lines, *self._thinned()]
        if self.meta.options.monitor is not None:
            lines = [*lines, *rounds.of_nodes_alone(len(self.round_files()))]
        lines = [*lines, *missing.sentences(self)]
        return [*lines, self.unread] if self.unread else lines

    def _thinned(self) -> list[str]:
        if self.has_counted_time:
            return [COUNTED]
        return [THINNED] if any(not spell.traced or spell.cut for spell in self.spells) else []

    @cached_property
    def unread(self) -> str | None:
        """What the run says it has, and its files do not hold; a verb that reads it has failed then."""
        known, found = len(self.meta.ranks or ()), self.process_count
        if known > found:
            processes = units.number_of(known, "process", "processes")
            return f"the files of this run hold {found:,} of its {processes}"
        ended = not self.is_going_on  # of one that begins, segments are half made
        if not found and ended and self._native.warnings():
            return "the files of this run are damaged: they hold no process"
        return None


def listed() -> dict[str, str]:
    """The tables of a run by their names in SQL, and what a row of each is."""
    from tare import _native

    return dict(_native.tables())


def open_answered(run_dir: Path, answers: Answers) -> Run:
    """A run with what other nodes have answered."""
    return Run(run_dir, directory.read_meta(run_dir), answers=answers)


def open_run(run_dir: Path, member: str | None = None, times: Times = Times.RECORDED) -> Run:
    """The run in `run_dir`, or the one of an archive that `member` names, in these times.

    One clear line if it is none.
    """
    recording = _open_run(run_dir, member)
    recording.use_times(times)
    return recording


def _open_run(run_dir: Path, member: str | None) -> Run:
    from tare import _native

    if run_dir.is_file() and _native.is_archive(str(run_dir)):
        from tare.runs import archive

        chosen = archive.choose_run(run_dir, member)
        return Run(run_dir, archive.read_meta(run_dir, chosen), chosen)
    if member is not None:
        raise UsageError(f"{run_dir} is not an archive: leave out --member")
    return Run(run_dir, directory.read_meta(run_dir))
