"""A run with its tables: what `tare.open` returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

from tare.analysis import profile, ranks
from tare.analysis.profile import Chosen, Key, communicator_names
from tare.analysis.rows import PLACE, fields, place_of
from tare.errors import UsageError
from tare.runs.run import Run
from tare.tables import schema
from tare.tables.rows_table import RowsTable, Schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from tare._native import EventTable, Table
    from tare.runs.rounds import Event, Statistic

    AnyTable = EventTable | Table | RowsTable

# What there is, by name, and what a row of it is.
TABLES = {
    "profile": "calls of a call site, communicator and size",
    "ranks": "a process",
    "locations": "a thread with its buffer",
    "callsites": "a call path",
    "communicators": "a communicator",
    "peers": "two ranks that exchanged messages",
    "phases": "a phase on a rank",
    "samples": "a class of sampled messages",
    "rounds": "a metric of an event in a round (--monitor)",
    "reductions": "what a filter other than statistics made of an event in a round (--monitor)",
    "events": "a call, or an event of the program (trace)",
    "calls": "a call (trace)",
    "messages": "a message, with both ends (trace)",
    "collectives": "a rank's part in a collective operation (trace)",
    "requests": "a request, with the calls that started and completed it (trace)",
    "waits": "a wait state (trace)",
    "clock_violations": "two ranks whose clocks disagree (trace)",
    "flushes": "a write of an event buffer, or records lost (trace)",
}
OF_FLUSHES = ("tare:flush", "tare:drain", "tare:loss")
FLUSH_COLUMNS = ("start_ns", "duration_ns", "world", "rank", "thread", "function", "bytes", "records")
# Columns that calls do not have.
OF_EVENTS = ("records", "kind", "name", "begin", "value", "unit", "parameters", "text", "words")


class OpenRun(Run):
    """A run, and what it holds as tables, each of which is read when somebody reads it (docs/tables.md)."""

    def profile(self, by: str | Sequence[str] = "site", *, ranks: Sequence[int] | None = None) -> RowsTable:
        """The profile by one key or several: "site", "line", "function", "size", "communicator", "rank"."""
        wanted = [by] if isinstance(by, str) else list(by)
        if not wanted or (unknown := [key for key in wanted if key not in get_args(Key)]):
            named = ", ".join(unknown) if wanted else "nothing"
            raise UsageError(f"the profile has no key {named}; there are {', '.join(get_args(Key))}")
        keys = [cast(Key, key) for key in dict.fromkeys(wanted)]
        chosen = Chosen(ranks=frozenset(ranks or ()))
        columns = schema.of_profile(keys)
        return RowsTable(columns, lambda: _profile_rows(profile.summed(self, keys, chosen), columns))

    @property
    def calls(self) -> EventTable:
        """The calls of the trace alone."""
        from tare import _native

        columns = [name for name in _native.event_columns() if name not in OF_EVENTS]
        return self.event_table(functions=[*self.functions, "other"], columns=columns)

    @property
    def flushes(self) -> EventTable:
        """When event buffers were written, by whom, and records that were lost."""
        return self.event_table(functions=OF_FLUSHES, columns=FLUSH_COLUMNS)

    @property
    def ranks(self) -> RowsTable:
        """A row for each process."""
        return RowsTable(schema.RANKS, self._rank_rows)

    @property
    def locations(self) -> RowsTable:
        """A row for each location: a thread with its buffer."""
        return RowsTable(schema.LOCATIONS, lambda: cast("list[dict[str, Any]]", self.location_rows))

    @property
    def callsites(self) -> RowsTable:
        """A row for each call site, which is a call path; `site` is its number in the other tables."""
        return RowsTable(schema.CALLSITES, self._site_rows)

    @property
    def communicator_table(self) -> RowsTable:
        """A row for each communicator."""
        return RowsTable(schema.COMMUNICATORS, self._communicator_rows)

    @property
    def peers(self) -> RowsTable:
        """A row for each two ranks that exchanged messages."""
        return RowsTable(schema.PEERS, self._peer_rows)

    @property
    def phases(self) -> RowsTable:
        """A row for each phase and rank; `phase` is null outside of all."""
        return RowsTable(
            schema.PHASES, lambda: cast("list[dict[str, Any]]", self.phase_sums(["rank"], None, None))
        )

    @property
    def clock_violation_table(self) -> RowsTable:
        """A row for each two ranks whose clocks disagree: one ended what the other had not begun."""
        return RowsTable(schema.CLOCK_VIOLATIONS, lambda: cast("list[dict[str, Any]]", self.clock_violations))

    @property
    def samples(self) -> RowsTable:
        """A row for each class of sampled messages."""
        return RowsTable(schema.SAMPLES, self._sample_rows)

    def rounds(self) -> RowsTable:
        """The rounds of a run with --monitor, up to now: a row for each metric of each event."""
        return RowsTable(schema.ROUNDS, self._round_rows)

    def reductions(self) -> RowsTable:
        """The same of other filters than statistics: a row for each bin, quantile, group or rank."""
        return RowsTable(schema.REDUCTIONS, self._reduction_rows)

    def tables(self) -> dict[str, AnyTable]:
        """All tables by their names in SQL (`TABLES`)."""
        special: dict[str, AnyTable] = {
            "events": self.event_table(),
            "profile": self.profile(("site", "communicator", "size")),
            "communicators": self.communicator_table,
            "clock_violations": self.clock_violation_table,
            "rounds": self.rounds(),
            "reductions": self.reductions(),
        }
        return {name: special.get(name) or getattr(self, name) for name in TABLES}

    def _repr_html_(self) -> str:
        """In notebooks."""
        from tare.tables import html

        return html.run(self)

    def sql(self, query: str) -> DuckDBPyRelation | None:
        """What a query of the tables in DuckDB's SQL finds: `.fetchall()`, `.df()`, `.pl()`, …; None of a
        statement without a result. UsageError if the query is wrong."""
        from tare.tables import sql

        with sql.errors():
            return sql.connect(self.tables()).sql(query)

    def _rank_rows(self) -> Iterator[dict[str, Any]]:
        for process in self.processes:
            yield {
                **process,
                "mpi_share": ranks.mpi_share(process),
                "events": process["trace"]["events"],
                "dropped": process["trace"]["dropped"],
                "cost_share": process["cost"]["net_share"],
            }

    def _site_rows(self) -> Iterator[dict[str, Any]]:
        from tare.reporters import paths

        for number, _ in enumerate(self.sites):
            path = paths.one_line(profile.call_path(number, self.sites))
            yield {"site": number, **fields(place_of(number, self.sites), PLACE), "path": path}

    def _communicator_rows(self) -> Iterator[dict[str, Any]]:
        for name, each in zip(communicator_names(self.communicators), self.communicators, strict=True):
            key = f"{each['key']:016x}" if each["key"] else None
            yield {**each, "communicator": name, "communicator_key": key}

    def _peer_rows(self) -> Iterator[dict[str, Any]]:
        for row in self.peer_sums(["rank"], None, None, None):
            yield {**row, "peer": row["peer"] if row["peer"] >= 0 else None}

    def _round_rows(self) -> Iterator[dict[str, Any]]:
        for file in self.round_files():
            for made in file.read():
                shared = made.about()
                for event in made.events:
                    named = {"event": event.name, "kind": event.kind, "ranks": event.ranks}
                    for metric, statistic in _metrics(event):
                        yield {**shared, **named, "metric": metric, **vars(statistic)}

    def _reduction_rows(self) -> Iterator[dict[str, Any]]:
        from tare.runs import reductions

        for file in self.round_files():
            for made in file.read():
                yield from reductions.rows(made)

    def _sample_rows(self) -> Iterator[dict[str, Any]]:
        for sample in self.sample_rows:
            row: dict[str, Any] = dict(sample)
            for side in ("send", "receive"):
                place = fields(place_of(row[f"{side}_site"], self.sites), ("file", "line", "caller"))
                row |= {f"{side}_{name}": value for name, value in place.items()}
                row[f"{side}_site"] = row[f"{side}_site"] if row[f"{side}_site"] >= 0 else None
            row["source"] = row["source"] if row["source"] >= 0 else None
            yield row


def _metrics(event: Event) -> Iterator[tuple[str, Statistic]]:
    yield "calls", event.calls
    if event.kind == "counter":
        yield "value", event.bytes
        return
    yield "time_ns", event.time
    yield "bytes", event.bytes


def _profile_rows(rows: Sequence[profile.Row], columns: Schema) -> Iterator[dict[str, Any]]:
    from tare.reporters import paths

    for row in rows:
        yield paths.in_cell(row, list(columns))
