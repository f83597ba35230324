"""A run with its tables: what `tare.open` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, get_args

from tare.analysis.profile import Key
from tare.errors import UsageError
from tare.runs.run import Run

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from tare._native import EventTable, Table

    AnyTable = EventTable | Table


class OpenRun(Run):
    """A run, and what it holds as tables, each of which is read when somebody reads it (docs/tables.md)."""

    def profile(self, by: str | Sequence[str] = "site", *, ranks: Sequence[int] | None = None) -> Table:
        """The profile by one key or several: "site", "line", "function", "size", "communicator", "rank"."""
        wanted = [by] if isinstance(by, str) else list(by)
        if not wanted or (unknown := [key for key in wanted if key not in get_args(Key)]):
            named = ", ".join(unknown) if wanted else "nothing"
            raise UsageError(f"the profile has no key {named}; there are {', '.join(get_args(Key))}")
        keys = [cast(Key, key) for key in dict.fromkeys(wanted)]
        return self._profile_table(keys, ranks)

    @property
    def calls(self) -> Table:
        """The calls of the trace alone."""
        return self._table("calls")

    @property
    def flushes(self) -> Table:
        """When event buffers were written, by whom, and records that were lost."""
        return self._table("flushes")

    @property
    def ranks(self) -> Table:
        """A row for each process."""
        return self._table("ranks")

    @property
    def locations(self) -> Table:
        """A row for each location: a thread with its buffer."""
        return self._table("locations")

    @property
    def callsites(self) -> Table:
        """A row for each call site, which is a call path; `site` is its number in the other tables."""
        return self._table("callsites")

    @property
    def communicator_table(self) -> Table:
        """A row for each communicator."""
        return self._table("communicators")

    @property
    def peers(self) -> Table:
        """A row for each two ranks that exchanged messages."""
        return self._table("peers")

    @property
    def phases(self) -> Table:
        """A row for each phase and rank; `phase` is null outside of all."""
        return self._table("phases")

    @property
    def totals(self) -> Table:
        """A row for each function and rank: calls, time and bytes of the whole run, also of calls only
        counted."""
        return self._table("totals")

    @property
    def site_totals(self) -> Table:
        """The same for each function, call site and rank; calls are an estimate, too."""
        return self._table("site_totals")

    def detected_phases(self) -> Table:
        """A row for each stretch of time in which the ranks do alike, as found from the trace."""
        return self._table("detected_phases")

    def iterations(self) -> Table:
        """A row for each iteration of each rank in a detected phase."""
        return self._table("iterations")

    @property
    def clock_violation_table(self) -> Table:
        """A row for each two ranks whose clocks disagree: one ended what the other had not begun."""
        return self._table("clock_violations")

    @property
    def samples(self) -> Table:
        """A row for each class of sampled messages."""
        return self._table("samples")

    @property
    def sample_histograms(self) -> Table:
        """A row for each bin of the latencies of a class of sampled messages."""
        return self._table("sample_histograms")

    def rounds(self) -> Table:
        """The rounds of a run with --monitor, as it was opened: a row for each metric of each event."""
        return self._table("rounds")

    def reductions(self) -> Table:
        """The same of other filters than statistics: a row for each bin, quantile, group or rank."""
        return self._table("reductions")

    def tables(self) -> dict[str, AnyTable]:
        """All tables by their names in SQL (`listed`)."""
        special: dict[str, AnyTable] = {
            "events": self.event_table(),
            "profile": self.profile(("site", "communicator", "size")),
            "communicators": self.communicator_table,
            "clock_violations": self.clock_violation_table,
            "detected_phases": self.detected_phases(),
            "iterations": self.iterations(),
            "rounds": self.rounds(),
            "reductions": self.reductions(),
        }
        return {name: special.get(name) or getattr(self, name) for name in listed()}

    def _repr_html_(self) -> str:
        """In notebooks."""
        from tare.tables import html

        return html.run(self)

    def sql(self, query: str, *, files: bool = False) -> DuckDBPyRelation | None:
        """What a query of the tables in DuckDB's SQL finds: `.fetchall()`, `.df()`, `.pl()`, …; None of a
        statement without a result. UsageError if the query is wrong.

        With `files` it may read and write files (COPY, read_csv, ATTACH).
        """
        from tare.tables import sql

        with sql.errors():
            return sql.connect(self.tables(), files=files).sql(query)


def listed() -> dict[str, str]:
    """What there is, by name, and what a row of it is."""
    from tare import _native

    return dict(_native.tables())
