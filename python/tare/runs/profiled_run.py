"""Profiles, cost and samples of a run, through the native reader."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tare.runs.read_run import ReadRun
from tare.runs.sums import Sums, tables_query

if TYPE_CHECKING:
    from tare._native import (
        Exchange,
        FunctionTotal,
        Location,
        PeerSum,
        PhaseSum,
        Process,
        ProfileSum,
        Questions,
        SampleRow,
        SampleSummary,
        SiteTotal,
        SumKey,
        SumsQuery,
        TotalCost,
        Trace,
    )


class ProfiledRun(ReadRun):
    """What the profiles of its processes hold; they are read when they are asked for."""

    @cached_property
    def processes(self) -> list[Process]:
        """A row for each process that called MPI, sorted by world and rank."""
        with self._reading():
            self._sums.read_expected()  # rows need the profiles, too
            return self._native.processes() if self._native else []

    @property
    def worlds(self) -> int:
        """The number of MPI_COMM_WORLDs in the run."""
        return len({process["world"] for process in self.processes})

    @cached_property
    def _sums(self) -> Sums:
        return Sums(self._native.sums if self._native else None)

    def expect(self, questions: Questions) -> None:
        """What will be asked of the profiles: the next reading of them answers that, too (runs/sums.py)."""
        self._sums.expect(questions)

    def profile_sums(self, queries: Sequence[SumsQuery]) -> list[list[ProfileSum]]:
        """The profile, added up by the keys of each query: one list of rows for each query, in their order.

        Reads the profiles of all processes once, whatever the number of queries (src/reader/run/questions.h).
        """
        with self._reading():
            return self._sums.profile(queries)

    def total_cost(self, world: int | None = None) -> TotalCost | None:
        """The cost accounts of all processes added up, or of the ranks of a world; None if none recorded."""
        with self._reading():
            self._sums.read_expected()
            return self._native.total_cost(world) if self._native else None

    def total_trace(self, world: int | None = None) -> Trace | None:
        """The same of their traces."""
        with self._reading():
            self._sums.read_expected()
            return self._native.total_trace(world) if self._native else None

    @cached_property
    def location_rows(self) -> list[Location]:
        """A row for each thread that recorded, sorted by world and rank: what it counted and lost."""
        with self._reading():
            self._sums.read_expected()
            return self._native.locations() if self._native else []

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
            return self._sums.peers(tables_query(by, worlds, ranks, communicators))

    def phase_sums(self, by: list[str], worlds: list[int] | None, ranks: list[int] | None) -> list[PhaseSum]:
        """Times and MPI calls by phase, added up also by "rank", as `by` says; choices as in `peer_sums`."""
        with self._reading():
            return self._sums.phases(tables_query(by, worlds, ranks))

    def exchanges(self, max_groups: int) -> list[Exchange]:
        """What the ranks of each world sent to one another, by at most so many groups of neighbours."""
        with self._reading():
            return self._sums.exchanges(max_groups)

    def calls_of(self, function: str) -> list[ProfileSum]:
        """The profile of the function, and of calls whose function is not known."""
        by: Sequence[SumKey] = ("world", "rank", "function", "communicator")
        (rows,) = self.profile_sums([{"by": by, "functions": [function, "other"]}])
        return rows

    @cached_property
    def function_totals(self) -> list[FunctionTotal]:
        """Calls of each function on each rank, over the whole run."""
        with self._reading():
            return self._native.function_totals() if self._native else []

    def totals_by_site(self, query: SumsQuery) -> list[SiteTotal]:
        """Calls of each function at each site, over the whole run: of each rank, or of all together.

        `query` is as for `profile_sums`, but for communicators.
        """
        with self._reading():
            return self._native.site_totals(query) if self._native else []

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
