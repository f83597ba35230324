"""The tables of a run: what docs/tables.md says that they have, and the same sums everywhere; SQL on them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tare as tare_package
from environments import all_environments, compile_c
from measured import PROGRAMS, Measurement, measure
from tare import queries
from tare.errors import UsageError
from tare.runs import sql
from tare.runs.html import SHOWN
from tare.runs.run import Run, listed

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
RANKS, ROUNDS = 3, 20
TABLES = listed()


@pytest.fixture(scope="module")
def measured(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    directory = tmp_path_factory.mktemp("tables")
    program = compile_c(OPENMPI, [PROGRAMS / "matched.c"], directory / "matched")
    options = ["--trace", "--buffer", "64K"]
    found = measure(tare, OPENMPI, RANKS, [program, str(ROUNDS)], directory / "run", *options)
    assert found.ended.returncode == 0, found.ended.stderr
    return found


@pytest.fixture(scope="module")
def thinned(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """Most of its calls are only counted."""
    directory = tmp_path_factory.mktemp("thinned")
    program = compile_c(OPENMPI, [PROGRAMS / "iterations.c"], directory / "iterations")
    found = measure(tare, OPENMPI, RANKS, [program, "500"], directory / "run", "--budget", "0.1%")
    assert found.ended.returncode == 0, found.ended.stderr
    return found


def query(measured: Measurement, text: str) -> list[tuple[object, ...]]:
    relation = tare_package.open(measured.directory).sql(text)
    assert relation is not None
    return relation.fetchall()


def test_a_run_shows_itself_in_notebooks(measured: Measurement) -> None:
    opened = tare_package.open(measured.directory)
    shown = opened._repr_html_()
    assert f"{RANKS} on 1 host" in shown and "exit code 0" in shown
    assert all(name in shown for name in TABLES)
    assert "<td>MPI_" in opened.profile("function")._repr_html_()
    ranks, messages = opened.ranks._repr_html_(), opened.messages._repr_html_()
    assert ranks.count("<td>finished</td>") == RANKS and "more rows" not in ranks
    assert messages.count("<tr>") == 1 + SHOWN and "<p>… more rows</p>" in messages
    peers = opened.peers()._repr_html_()
    assert peers.count("<tr>") == 1 + len(query(measured, "FROM peers"))


def test_every_table_is_listed(tare: Path, measured: Measurement) -> None:
    done = subprocess.run(
        [tare, "sql", measured.directory], capture_output=True, text=True, timeout=60, check=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == list(TABLES)


class Watched:
    """A table that counts how often it is read."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.reads = 0

    def __arrow_c_schema__(self) -> object:
        return self.table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.reads += 1
        return self.table.__arrow_c_stream__(requested_schema)


def test_columns_are_known_before_a_table_is_read(measured: Measurement) -> None:
    run = tare_package.open(measured.directory)
    tables: dict[str, Any] = {
        **run.tables(),
        **{by: run.profile(by.split(",")) for by in ("rank", "line", "size,communicator", "rank,function")},
        "chosen": run.profile(
            "function", functions=["MPI_Send"], communicators=["MPI_COMM_WORLD"], ranks=[1]
        ),
        "peers of all": run.peers(by=["communicator"]),
        "phases of all": run.phases(by=[]),
        "some columns": run.event_table(columns=["rank", "function", "requests"]),
    }
    for name, table in tables.items():
        assert pa.schema(table) == pa.RecordBatchReader.from_stream(table).schema, name


def test_queries_read_the_tables_that_they_need(
    measured: Measurement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB and Ibis ask for the columns of all when they get them; those of 100,000 ranks take 11 GiB."""
    watched = {name: Watched(table) for name, table in tare_package.open(measured.directory).tables().items()}
    monkeypatch.setattr(Run, "tables", lambda _: watched)
    run = tare_package.open(measured.directory)
    connection = sql.connect(watched)
    through_ibis = queries.of_run(run)
    assert not any(table.reads for table in watched.values())
    connection.sql("DESCRIBE messages").fetchall()
    text = "SELECT count(DISTINCT state) FROM ranks JOIN totals AS a USING (rank) JOIN totals USING (rank)"
    assert connection.sql(text).fetchall() == [(1,)]
    assert through_ibis["callsites"].count().execute() > 0
    assert {name for name, table in watched.items() if table.reads} == {"ranks", "totals", "callsites"}


@pytest.mark.parametrize("by", ["function", "line", "site", "size", "communicator", "rank", "rank,function"])
@pytest.mark.parametrize("of", ["whole", "thinned"])
def test_the_profile_is_that_of_the_verb(by: str, of: str, request: pytest.FixtureRequest) -> None:
    """Also of a run in which some calls were only counted."""
    run: Measurement = request.getfixturevalue("measured" if of == "whole" else "thinned")
    table = pa.table(tare_package.open(run.directory).profile(by.split(",")))
    rows = run.profile(by)
    (columns,) = {tuple(name for name in row if not name.startswith("path")) for row in rows}
    assert set(columns) <= set(table.column_names)
    found, said = (
        sorted((tuple(row[name] for name in columns) for row in some), key=repr)
        for some in (table.to_pylist(), rows)
    )
    assert found == said
    assert of == "whole" or any(row["counted"] for row in rows)


def test_calls_are_those_of_the_profile(measured: Measurement) -> None:
    counted = query(measured, "SELECT function, count(*) FROM calls GROUP BY ALL ORDER BY 1")
    profiled = "SELECT function, sum(calls) FROM profile WHERE timed GROUP BY ALL ORDER BY 1"
    assert [(name, int(str(count))) for name, count in query(measured, profiled)] == counted
    in_ranks = query(measured, "SELECT sum(records) FROM ranks")
    assert in_ranks == query(measured, "SELECT sum(records) FROM locations")


def test_requests_have_the_calls_that_started_and_completed_them(measured: Measurement) -> None:
    """There are as many as the calls of the trace have started, and they have the times of the messages."""
    started = query(
        measured,
        """SELECT count(*) FROM calls WHERE request IS NOT NULL
        AND NOT regexp_matches(function, '^MPI_(Wait|Test|Start|Request_)|_init$')""",
    )
    assert (
        query(measured, "SELECT count(*) FROM requests WHERE NOT starts_with(function, 'MPI_Start')")
        == started
    )
    assert int(str(started[0][0])) > ROUNDS * RANKS
    # Who makes a persistent request has started nothing yet: it would be one that is never completed.
    assert query(measured, "SELECT count(*) > 0 FROM calls WHERE function = 'MPI_Send_init'") == [(True,)]
    assert query(measured, "SELECT count(*) FROM requests WHERE ends_with(function, '_init')") == [(0,)]
    assert query(measured, "SELECT count(*) FROM requests WHERE completion_leave_ns < enter_ns") == [(0,)]
    # A message that a request sent: both tables say when, and by which call it was completed.
    for side, rank in (("send", "source"), ("receive", "destination")):
        both = query(
            measured,
            f"""SELECT count(*), count(*) FILTER (completion_leave_ns = {side}_completion_leave_ns
                AND completion_line IS NOT NULL)
            FROM messages JOIN requests ON requests.world = messages.world AND requests.rank = {rank}
                AND requests.thread = {side}_thread AND requests.enter_ns = {side}_enter_ns
            WHERE {side}_function IN ('MPI_Isend', 'MPI_Issend', 'MPI_Irecv')
                AND {side}_completion_leave_ns IS NOT NULL""",
        )
        assert both[0][0] == both[0][1]
        assert int(str(both[0][0])) > 0


def test_peers_are_the_messages(measured: Measurement) -> None:
    of_messages = "SELECT source, destination, count(*) FROM messages GROUP BY ALL ORDER BY ALL"
    of_peers = "SELECT rank, peer, sent_messages FROM peers WHERE sent_messages > 0 ORDER BY ALL"
    assert query(measured, of_peers) == query(measured, of_messages)


def test_output_of_the_verb(tare: Path, measured: Measurement) -> None:
    def said(*options: str) -> str:
        text = "SELECT rank, rank, state, mpi_share / 0 AS none FROM ranks ORDER BY rank"
        command = [str(tare), "sql", str(measured.directory), text, *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    found = json.loads(said("--json"))
    assert found["schema"] == "tare.sql/1"
    assert [column["name"] for column in found["columns"]] == ["rank", "rank_2", "state", "none"]
    assert [row["rank_2"] for row in found["rows"]] == list(range(RANKS))
    assert {row["state"] for row in found["rows"]} == {"finished"}
    assert {row["none"] for row in found["rows"]} == {None}
    rows = list(csv.DictReader(io.StringIO(said("--csv"))))
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(RANKS)]
    lines = said().splitlines()
    assert lines[0].split() == ["rank", "rank_2", "state", "none"]
    assert len(lines) == 1 + RANKS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM ranks", '"nothing" not found'),
        ("FROM nowhere", "nowhere does not exist"),
        ("SELECT error('what it says') FROM ranks", "what it says"),
        ("; -- nothing", "the query is empty"),
    ],
)
def test_an_error_is_one_line(text: str, expected: str, tare: Path, measured: Measurement) -> None:
    command = [str(tare), "sql", str(measured.directory), text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("tare: ")
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
    assert done.stdout == ""


def test_without_duckdb_it_says_what_to_install(tare: Path, measured: Measurement, tmp_path: Path) -> None:
    (tmp_path / "duckdb.py").write_text("raise ImportError('hidden')\n")
    command = [str(tare), "sql", str(measured.directory), "SELECT 1"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 1
    assert re.fullmatch(r"tare: SQL needs duckdb: \S+ -P -m pip install duckdb\n", done.stderr)


def test_a_key_that_there_is_not_is_named(measured: Measurement) -> None:
    with pytest.raises(UsageError, match="no key colour; there are site, line"):
        tare_package.open(measured.directory).profile("colour")
