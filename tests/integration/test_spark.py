"""The queries of tare.queries: equal on DuckDB and on a Spark cluster, and equal to what tare itself says."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import ibis
import pytest
import tare
from environments import ROOT
from spark import WORKERS, cluster, number_of_executors
from tare import queries

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
PROGRAM = ROOT / "examples" / "queries_on_spark.py"


def program() -> Any:
    spec = importlib.util.spec_from_file_location("queries_on_spark", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(directory: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in directory.glob("*.json")
    }


@pytest.fixture(scope="module")
def exported(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exported") / "run"
    subprocess.run([tare, "export", RUN, "--to", "parquet", "-o", directory], check=True, capture_output=True)
    return directory


@pytest.fixture(scope="module")
def found(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What DuckDB finds."""
    directory = tmp_path_factory.mktemp("duckdb")
    program().write(queries.of_parquet(ibis.duckdb.connect(), exported), directory)
    return results(directory)


@pytest.mark.timeout(1200)
@pytest.mark.long
def test_a_cluster_of_two_workers_finds_the_same(
    exported: Path, found: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    with cluster(tmp_path) as spark:
        done = spark.submit(PROGRAM, exported.as_uri(), tmp_path / "results")
    assert done.returncode == 0, done.stderr
    assert number_of_executors(done.stderr.splitlines()) == WORKERS
    on_spark = results(tmp_path / "results")
    assert sorted(on_spark) == sorted(program().QUERIES)
    assert {name: len(rows) for name, rows in on_spark.items() if not rows} == {}
    assert on_spark == found


def test_an_open_run_gives_the_same_as_its_export(
    found: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    program().write(queries.of_run(tare.open(RUN)), tmp_path)
    assert results(tmp_path) == found


def test_messages_are_those_of_the_profile(found: dict[str, list[dict[str, Any]]]) -> None:
    run = tare.open(RUN)
    sent = {
        (row.world, row.rank, row.peer): (row.sent_messages, row.sent_bytes)
        for row in run.rows(run.peers())
        if row.sent_messages
    }
    matrix = found["communication_matrix"]
    assert {
        (row["world"], row["source"], row["destination"]): (row["messages"], row["bytes"]) for row in matrix
    } == sent
    for other in ("message_sizes", "message_rate"):
        for column in ("messages", "bytes"):
            assert sum(row[column] for row in found[other]) == sum(row[column] for row in matrix)
    sizes = {(row["size_from"], row["messages"], row["bytes"]) for row in found["message_sizes"]}
    assert sizes == {(8, 1001, 8008)}


def test_calls_are_those_of_the_profile(found: dict[str, list[dict[str, Any]]]) -> None:
    run = tare.open(RUN)
    columns = run.sql("SELECT function, line, sum(calls), sum(time_ns) FROM profile WHERE timed GROUP BY ALL")
    assert columns is not None
    profiled = {(function, line): (calls, time_ns) for function, line, calls, time_ns in columns.fetchall()}
    traced = {
        (row["function"], row["line"]): (row["calls"], row["time_ns"]) for row in found["calls_by_line"]
    }
    assert {place: calls for place, (calls, _) in traced.items()} == {
        place: calls for place, (calls, _) in profiled.items()
    }
    for place, (calls, time_ns) in profiled.items():
        assert traced[place][1] == pytest.approx(time_ns, abs=calls), "a call is rounded to a nanosecond"


def test_imbalance_is_that_of_all_ranks(found: dict[str, list[dict[str, Any]]]) -> None:
    calls = tare.open(RUN).sql("SELECT function, rank, sum(duration_ns) FROM calls GROUP BY ALL")
    assert calls is not None
    times: dict[str, list[int]] = {}
    for function, rank, time_ns in calls.fetchall():
        times.setdefault(function, [0, 0])[rank] = int(time_ns)
    assert {row["function"] for row in found["imbalance"]} == set(times)
    for row in found["imbalance"]:
        of = times[row["function"]]
        assert (row["max_ns"], row["max_rank"]) == (max(of), of.index(max(of)))
        assert row["mean_ns"] == sum(of) / 2
        assert row["imbalance_ns"] == max(of) - sum(of) / 2


def test_waits_are_those_of_the_table(found: dict[str, list[dict[str, Any]]]) -> None:
    waits = tare.open(RUN).sql("SELECT count(*), sum(wait_ns), sum(delay_ns) FROM waits")
    assert waits is not None
    ((count, wait_ns, delay_ns),) = waits.fetchall()
    assert sum(row["waits"] for row in found["wait_states"]) == count
    assert sum(row["wait_ns"] for row in found["wait_states"]) == wait_ns
    assert sum(row["delay_ns"] for row in found["causes"]) == delay_ns


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        queries.message_rate({}, 0)
