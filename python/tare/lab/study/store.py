"""The results of a study: one DuckDB file that anyone can query; docs/study.md describes its tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare import databases, packages
from tare.errors import CommandError
from tare.lab.study.plan import Planned
from tare.lab.study.provenance import Provenance
from tare.lab.study.runner import Outcome
from tare.tables import dataset

if TYPE_CHECKING:
    import duckdb

VERSION = 1
NEEDED = ("duckdb", "pandas", "statsmodels", "matplotlib")
FILE = "study.duckdb"
FEW_ROWS = 20
# Rows that belong to a run.
OF_RUNS = ("ranks", "measures", "flushes", "weights", "sampled", "latencies", "phases", "refereed")
TABLES = ("study", "environments", "runs", *OF_RUNS, "sessions")
SCHEMA = """
CREATE TABLE study (name VARCHAR PRIMARY KEY, value VARCHAR);
CREATE TABLE environments (environment VARCHAR, fact VARCHAR, value VARCHAR,
    PRIMARY KEY (environment, fact));
CREATE TABLE runs (
    run INTEGER PRIMARY KEY, set_name VARCHAR, block INTEGER, position INTEGER, cell VARCHAR,
    factors MAP(VARCHAR, VARCHAR), environment VARCHAR, state VARCHAR, message VARCHAR, exit_code INTEGER,
    started TIMESTAMP, wall_s DOUBLE, net_s DOUBLE, init_s DOUBLE, finalize_s DOUBLE, hook_s DOUBLE,
    wrap_s DOUBLE, net_cpu_s DOUBLE, cpu_s DOUBLE, max_rss_kib BIGINT, load_before DOUBLE, load_after DOUBLE,
    foreign_share DOUBLE, output_bytes BIGINT, output_files INTEGER, events BIGINT, events_mean DOUBLE,
    events_max BIGINT, flushes BIGINT, flush_s DOUBLE, flush_max_s DOUBLE
);
CREATE TABLE ranks (
    run INTEGER, rank INTEGER, host VARCHAR, pid INTEGER, entered VARCHAR, init_s DOUBLE, net_s DOUBLE,
    finalize_s DOUBLE, hook_s DOUBLE, wrap_s DOUBLE, net_user_s DOUBLE, net_system_s DOUBLE, user_s DOUBLE,
    system_s DOUBLE, max_rss_kib BIGINT, net_waits BIGINT, net_preempted BIGINT, major_faults BIGINT,
    events BIGINT, calls BIGINT, flushes BIGINT, flush_s DOUBLE, flush_bytes BIGINT
);
CREATE TABLE measures (run INTEGER, phase VARCHAR, quantity VARCHAR, unit VARCHAR, value DOUBLE);
CREATE TABLE flushes (run INTEGER, rank INTEGER, start_s DOUBLE, duration_s DOUBLE, bytes BIGINT,
    records BIGINT);
CREATE TABLE sessions (started TIMESTAMP, set_name VARCHAR, elapsed_s DOUBLE, runs_s DOUBLE, pauses_s DOUBLE,
    runs INTEGER);
"""
# Younger than the others: older results are given them when they are written to, and are read without them.
YOUNGER = """
CREATE TABLE IF NOT EXISTS weights (run INTEGER, account_s DOUBLE, account_error_s DOUBLE, trial DOUBLE,
    trial_low DOUBLE, trial_high DOUBLE, trial_why VARCHAR);
CREATE TABLE IF NOT EXISTS sampled (run INTEGER, rank INTEGER, spec VARCHAR, sent BIGINT, received BIGINT,
    chosen BIGINT, paired BIGINT);
CREATE TABLE IF NOT EXISTS latencies (run INTEGER, bytes BIGINT, messages BIGINT, mean_ns DOUBLE,
    min_ns BIGINT, max_ns BIGINT);
CREATE TABLE IF NOT EXISTS phases (run INTEGER, rank INTEGER, phase VARCHAR, events BIGINT, flushes BIGINT,
    bytes BIGINT);
CREATE TABLE IF NOT EXISTS refereed (run INTEGER, cell VARCHAR, overhead DOUBLE, low DOUBLE, high DOUBLE,
    spells BIGINT, bare_spells BIGINT, compared DOUBLE, why VARCHAR);
"""


_COUNTING = "r.set_name = $1 AND r.block > 0 AND r.state = 'ok'"
# What is read of the runs of a set, by table.
OF_SET = {
    # Run, account_s, account_error_s, trial, trial_low, trial_high of each run of tare, of all sets.
    "weights": "SELECT run, account_s, account_error_s, trial, trial_low, trial_high FROM weights",
    # Cell, run, spec, sent, chosen, net_s of each rank of the runs that sampled messages.
    "sampled": "SELECT r.cell, r.run, s.spec, s.sent, s.chosen, k.net_s FROM sampled s "
    f"JOIN runs r USING (run) LEFT JOIN ranks k USING (run, rank) WHERE {_COUNTING} ORDER BY r.run, s.rank",
    # Cell, run, bytes, messages, mean_ns of each length of message that runs have sampled.
    "latencies": "SELECT r.cell, r.run, l.bytes, l.messages, l.mean_ns FROM latencies l "
    f"JOIN runs r USING (run) WHERE {_COUNTING} ORDER BY r.run, l.bytes",
    # Cell of the tool, overhead, low, high, why of each tool of the runs under the referee.
    "refereed": "SELECT f.cell, f.overhead, f.low, f.high, f.why FROM refereed f "
    f"JOIN runs r USING (run) WHERE {_COUNTING} ORDER BY r.run",
    # Cell, runs, phase, rank, events, flushes, bytes: medians of the runs where they are known. A rank that
    # was not in a phase has 0 there. Phases are in the order of the program.
    "phases": "WITH known AS (SELECT r.cell, p.*, p.rowid AS place FROM phases p JOIN runs r USING (run) "
    f"WHERE {_COUNTING}), "
    "present AS (SELECT DISTINCT cell, run, rank FROM known), "
    "named AS (SELECT cell, phase, min(place) AS place FROM known GROUP BY ALL) "
    "SELECT t.cell, count(DISTINCT t.run), n.phase, t.rank, median(coalesce(k.events, 0)), "
    "median(coalesce(k.flushes, 0)), median(coalesce(k.bytes, 0)) "
    "FROM present t JOIN named n ON n.cell = t.cell LEFT JOIN known k "
    "ON k.run = t.run AND k.rank = t.rank AND k.phase IS NOT DISTINCT FROM n.phase "
    "GROUP BY t.cell, n.phase, n.place, t.rank ORDER BY t.cell, n.place, t.rank",
}


class Store:
    """An open study; every run is committed as it ends."""

    def __init__(
        self,
        directory: Path,
        *,
        create: bool = False,
        other: Path | None = None,
        exports_to: Path | None = None,
    ) -> None:
        """`other`: the directory of results to `join`; `exports_to`: where `export` may write."""
        packages.require("tare study", NEEDED)
        path = directory / FILE
        for results in (*(() if create else (directory,)), *((other,) if other else ())):
            if not os.path.lexists(results / FILE):
                raise CommandError(f"{results} holds no results; `tare study run` makes them")
        if create:
            directory.mkdir(parents=True, exist_ok=True)
        self._connection = databases.opened(
            directory, FILE, SCHEMA + YOUNGER, writable=create, other=other, writes_to=exports_to
        )
        with databases.errors(f"{path} cannot be opened"):
            if create and not self._tables():
                self._connection.execute(SCHEMA)
                self.describe({"schema": f"tare.study/{VERSION}"})
            if create:
                self._connection.execute(YOUNGER)
            version = self.described("schema")
        if version != f"tare.study/{VERSION}":
            raise CommandError(f"{path} has schema {version}, this tare reads tare.study/{VERSION}")

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection to DuckDB. The store owns it."""
        return self._connection

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows that a query returns."""
        with databases.errors("the results cannot be read"):
            return self._connection.execute(query, list(parameters)).fetchall()

    def of_set(self, table: str, *set_name: str) -> list[tuple[Any, ...]]:
        """What the runs of a set have in a table, as OF_SET says; nothing where older results lack it."""
        return self.rows(OF_SET[table], *set_name) if table in self._tables() else []

    def _tables(self, database: str | None = None) -> set[str]:
        """The tables of the database of this name; None: of this one."""
        names = (
            "SELECT table_name FROM duckdb_tables() WHERE database_name = coalesce($1, current_database())"
        )
        return {row[0] for row in self.rows(names, database)}

    def describe(self, facts: Mapping[str, str]) -> None:
        """Stores facts about the study, by name. They replace those of the same names."""
        for name, value in facts.items():
            self._connection.execute("INSERT OR REPLACE INTO study VALUES (?, ?)", [name, value])

    def described(self, name: str) -> str | None:
        """A fact about the study; None if it is not stored."""
        found = self.rows("SELECT value FROM study WHERE name = ?", name)
        return str(found[0][0]) if found else None

    def add_environment(self, name: str, facts: Provenance) -> None:
        """Stores the facts of an environment, unless it is stored already."""
        if not self.rows("SELECT 1 FROM environments WHERE environment = ? LIMIT 1", name):
            self._connection.executemany(
                "INSERT INTO environments VALUES (?, ?, ?)",
                [[name, fact, value] for fact, value in sorted(facts.items())],
            )

    def provenance_of_sets(self) -> dict[str, Provenance]:
        """The facts that the runs of each set had; of several values the last."""
        result: dict[str, Provenance] = {}
        for name, fact, value in self.rows(
            "SELECT r.set_name, e.fact, e.value FROM environments e JOIN "
            "(SELECT set_name, environment, max(run) AS last FROM runs GROUP BY ALL) r USING (environment) "
            "ORDER BY r.last"
        ):
            result.setdefault(name, {})[fact] = value
        return result

    def done(self, set_name: str) -> set[tuple[int, str]]:
        """Block and cell of the runs that need not be repeated."""
        rows = self.rows("SELECT block, cell FROM runs WHERE set_name = ?", set_name)
        return {(block, cell) for block, cell in rows}

    def remove_failed(self, set_name: str) -> None:
        """Deletes the failed runs of a set, with all that belongs to them."""
        failed = "SELECT run FROM runs WHERE set_name = ? AND state <> 'ok'"
        for table in OF_RUNS:
            self._connection.execute(f"DELETE FROM {table} WHERE run IN ({failed})", [set_name])
        self._connection.execute("DELETE FROM runs WHERE set_name = ? AND state <> 'ok'", [set_name])

    def add_run(self, planned: Planned, set_name: str, environment: str, outcome: Outcome) -> int:
        """Stores a run with all that belongs to it, or nothing.

        Returns its number. CommandError if that fails.
        """
        with self._whole("the results cannot be stored; what is stored goes on with --resume"):
            return self._add_run(planned, set_name, environment, outcome)

    @contextmanager
    def _whole(self, failure: str) -> Iterator[None]:
        """All that is stored within it, or nothing. CommandError, with `failure`, if that fails."""
        with databases.errors(failure):
            self._connection.begin()
            try:
                yield
            except BaseException:
                self._connection.rollback()
                raise
            self._connection.commit()

    def _add_run(self, planned: Planned, set_name: str, environment: str, outcome: Outcome) -> int:
        (run,) = self.rows("SELECT coalesce(max(run), 0) + 1 FROM runs")[0]
        ranks = _ranks(run, outcome)
        counts = outcome.counts
        events = [rank.events for rank in counts.ranks if rank.events is not None]
        flushes = [rank for rank in counts.ranks if rank.flushes is not None]
        levels = {name: level for name, level in planned.cell.levels if level is not None}
        hook, net = _slowest(ranks, "hook_s"), _slowest(ranks, "net_s")
        row = {
            "run": run, "set_name": set_name, "block": planned.block, "position": planned.position,
            "cell": planned.cell.key, "environment": environment, "state": outcome.state,
            "message": outcome.message, "exit_code": outcome.exit_code, "wall_s": outcome.wall_s,
            "net_s": net, "init_s": _slowest(ranks, "init_s"), "finalize_s": _slowest(ranks, "finalize_s"),
            "hook_s": hook, "wrap_s": _mean(ranks, "wrap_s"),
            "net_cpu_s": _sum(ranks, "net_user_s", "net_system_s"),
            "cpu_s": _sum(ranks, "user_s", "system_s"),
            "max_rss_kib": _slowest(ranks, "max_rss_kib"), "load_before": outcome.load_before,
            "load_after": outcome.load_after, "foreign_share": outcome.foreign_share,
            "output_bytes": counts.bytes, "output_files": counts.files, "events": counts.events,
            "events_mean": sum(events) / len(events) if events else None,
            "events_max": max(events, default=None),
            "flushes": sum(rank.flushes or 0 for rank in flushes) if flushes else None,
            "flush_s": sum(rank.flush_s or 0 for rank in flushes) if flushes else None,
            "flush_max_s": max((rank.flush_s or 0 for rank in flushes), default=None),
        }  # fmt: skip
        self._insert("runs", [row], extra=("factors", "started"), values=[levels, _time(outcome.started_ns)])
        self._insert("ranks", ranks)
        names = ("run", "phase", "quantity", "unit", "value")
        self._insert("measures", [dict(zip(names, (run, *each), strict=True)) for each in outcome.measures])
        found: dict[str, Sequence[Any]] = {
            "flushes": counts.flushes,
            "weights": () if counts.weight is None else (counts.weight,),
            "sampled": counts.chosen,
            "latencies": counts.latencies,
            "phases": counts.phases,
        }
        for table, of_run in found.items():
            self._insert_many(table, [{"run": run, **vars(each)} for each in of_run])
        self._insert(
            "refereed", [{"run": run, "cell": key, **vars(each)} for key, each in outcome.weighed.items()]
        )
        return int(run)

    def _insert(
        self,
        table: str,
        rows: list[dict[str, Any]],
        extra: tuple[str, ...] = (),
        values: list[Any] | None = None,
    ) -> None:
        if not rows:
            return
        names = [*rows[0], *extra]
        marks = ", ".join("?" for _ in names)
        content = [[*row.values(), *(values or [])] for row in rows]
        statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
        self._connection.executemany(statement, content)

    def _insert_many(self, table: str, rows: list[dict[str, Any]]) -> None:
        """The same as _insert; DuckDB takes a millisecond for a statement, and no more for a whole frame."""
        if len(rows) < FEW_ROWS:
            self._insert(table, rows)
            return
        import pandas as pd

        self._connection.register("made", pd.DataFrame(rows))
        self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM made")
        self._connection.unregister("made")

    def join(self, theirs: str | None, ours: str) -> tuple[str, int]:
        """Takes over the set `theirs` of the other results, or their newest, as `ours`; its name and runs."""
        if self.rows("SELECT 1 FROM runs WHERE set_name = ? LIMIT 1", ours):
            raise CommandError(f"there is a set '{ours}' already; name the new one otherwise")
        with self._whole("the other results cannot be joined"):
            return self._join(theirs, ours)

    def _join(self, theirs: str | None, ours: str) -> tuple[str, int]:
        version = self.rows("SELECT value FROM other.study WHERE name = 'schema'")
        if version != [(f"tare.study/{VERSION}",)]:
            raise CommandError("the other results have another schema")
        sets = [row[0] for row in self.rows("SELECT set_name FROM other.runs GROUP BY 1 ORDER BY max(run)")]
        if not sets:
            raise CommandError("the other results have no runs")
        if theirs is not None and theirs not in sets:
            raise CommandError(f"the other results have no set '{theirs}', but {', '.join(sets)}")
        chosen = theirs or str(sets[-1])
        common = "SELECT count(*) FROM other.runs WHERE set_name = ? AND cell IN (SELECT cell FROM main.runs)"
        if self.rows("SELECT 1 FROM runs LIMIT 1") and not self.rows(common, chosen)[0][0]:
            raise CommandError("no combination of the other results is one of this study's")
        (offset,) = self.rows("SELECT coalesce(max(run), 0) FROM runs")[0]
        of_set = "SELECT run FROM other.runs WHERE set_name = $1"
        moved = "SELECT * REPLACE (run + $2 AS run"
        self._connection.execute(
            "INSERT OR IGNORE INTO environments SELECT * FROM other.environments "
            "WHERE environment IN (SELECT environment FROM other.runs WHERE set_name = $1)",
            [chosen],
        )
        (count,) = self.rows(
            f"INSERT INTO runs BY NAME {moved}, $3 AS set_name) FROM other.runs WHERE set_name = $1",
            chosen, offset, ours,
        )[0]  # fmt: skip
        self._connection.execute(
            "INSERT INTO sessions BY NAME SELECT * REPLACE ($2 AS set_name) FROM other.sessions "
            "WHERE set_name = $1",
            [chosen, ours],
        )
        for table in self._tables("other").intersection(OF_RUNS):
            self._connection.execute(
                f"INSERT INTO {table} BY NAME {moved}) FROM other.{table} WHERE run IN ({of_set})",
                [chosen, offset],
            )
        return chosen, int(count)

    def add_session(self, session: Mapping[str, Any]) -> None:
        """Stores a session, by the columns of the table sessions."""
        self._insert("sessions", [dict(session)])

    def export(self, directory: Path, kind: str) -> list[Path]:
        """One file a table. `directory` lies where the store may write."""
        directory.mkdir(parents=True, exist_ok=True)
        written = []
        there = self._tables()
        for table in (each for each in TABLES if each in there):
            path = directory / f"{table}.{kind}"
            # CSV has no maps: levels of factors are JSON there, and in Parquet the same.
            source = (
                "(SELECT * REPLACE (to_json(factors) AS factors) FROM runs)" if table == "runs" else table
            )
            with databases.errors(f"{path} cannot be written"):
                write = dataset.write_csv if kind == "csv" else dataset.write_parquet
                write(self._connection, source, path.resolve())
            written.append(path)
        return written


def _time(unix_ns: int) -> datetime:
    return datetime.fromtimestamp(unix_ns * 1e-9, UTC).replace(tzinfo=None)


def _ranks(run: int, outcome: Outcome) -> list[dict[str, Any]]:
    counted = {rank.rank: rank for rank in outcome.counts.ranks}
    rows = []
    for record in outcome.timings:
        counts = counted.get(record["rank"])
        hook = record["init_ns"] + record["finalize_ns"]
        kept = ("rank", "host", "pid", "entered", "max_rss_kib", "net_waits", "net_preempted", "major_faults")
        times = ("init", "net", "finalize", "net_user", "net_system", "user", "system")
        counted_of = ("events", "calls", "flushes", "flush_s", "flush_bytes")
        rows.append(
            {
                "run": run,
                **{name: record[name] for name in kept},
                **{f"{name}_s": record[f"{name}_ns"] * 1e-9 for name in times},
                "hook_s": hook * 1e-9,
                "wrap_s": outcome.wall_s - (hook + record["net_ns"]) * 1e-9,
                **{name: counts and getattr(counts, name) for name in counted_of},
            }
        )
    return rows


def _slowest(ranks: list[dict[str, Any]], name: str) -> Any:
    return max((rank[name] for rank in ranks), default=None)


def _mean(ranks: list[dict[str, Any]], name: str) -> float | None:
    return sum(rank[name] for rank in ranks) / len(ranks) if ranks else None


def _sum(ranks: list[dict[str, Any]], *names: str) -> float | None:
    return sum(rank[name] for rank in ranks for name in names) if ranks else None
