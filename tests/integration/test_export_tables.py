"""`tare export --to parquet` and `--to csv`: the tables of a trace, read back by DuckDB and pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pytest
import tare as tare_package
from exporting import TOO_LARGE, export, export_to_full_disk, exported, measured

LONG = ["events", "messages", "collectives", "requests", "waits", "root_causes"]
TABLES = {
    *LONG, "profile", "ranks", "missing", "locations", "scheduling", "callsites", "communicators", "peers",
    "phases", "totals", "site_totals", "samples", "sample_histograms", "detected_phases", "iterations",
    "clock_violations", "rounds", "reductions", "regions", "files", "stack_samples", "stack_frames",
    "stack_sampling",
}  # fmt: skip
# What the program has none of, or what it has by chance: on a busy machine, its iterations differ.
MAY_BE_EMPTY = {
    "missing", "scheduling", "phases", "totals", "samples", "sample_histograms", "clock_violations", "rounds",
    "reductions", "iterations", "regions", "files", "stack_samples", "stack_frames", "stack_sampling",
}  # fmt: skip


def expected(run: Path, name: str) -> Any:
    return pa.table(tare_package.open(run).tables()[name])


@pytest.fixture(scope="module")
def run(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tare, tmp_path_factory.mktemp("tables"), "matched.c", 2, "20").directory


def sorted_rows(relation: Any, columns: list[str]) -> list[tuple[Any, ...]]:
    chosen = ", ".join(f'"{column}"' for column in columns)
    return sorted(relation.select(chosen).fetchall(), key=repr)


def test_parquet_is_partitioned_and_whole(tare: Path, run: Path, tmp_path: Path) -> None:
    out = exported(tare, run, "parquet", tmp_path / "out")
    assert {file.name for file in out.iterdir()} == TABLES
    assert {file.name for file in (out / "events" / "world=0").iterdir()} == {
        f"rank={rank}" for rank in range(2)
    }
    for name in TABLES:
        table = expected(run, name)
        found = duckdb.read_parquet(f"{out}/{name}/**/*.parquet", hive_partitioning=False)
        assert set(found.columns) == set(table.column_names)
        assert table.num_rows > 0 or name in MAY_BE_EMPTY
        assert sorted_rows(found, table.column_names) == sorted_rows(
            duckdb.from_arrow(table), table.column_names
        )
    # Only the files of the rank are read.
    dataset = pyarrow.dataset.dataset(out / "events", partitioning="hive", format="parquet")
    fragments = list(dataset.get_fragments(filter=pyarrow.dataset.field("rank") == 1))
    assert fragments and all("rank=1" in fragment.path for fragment in fragments)


def test_csv_has_the_same_rows(tare: Path, run: Path, tmp_path: Path) -> None:
    out = exported(tare, run, "csv", tmp_path / "out")
    assert {file.name for file in out.iterdir()} == {f"{name}.csv" for name in TABLES}
    for name in TABLES:
        table = expected(run, name)
        found = duckdb.read_csv(str(out / f"{name}.csv"), sample_size=-1)
        assert found.columns == table.column_names
        simple = [
            column.name
            for column in table.schema
            if pa.types.is_integer(column.type) and column.name != "communicator_key"
        ]
        assert sorted_rows(found, simple) == sorted_rows(duckdb.from_arrow(table), simple)


def test_what_does_not_go(tare: Path, run: Path, tmp_path: Path) -> None:
    done = export(tare, run, "csv", tmp_path / "out", "--rank", "1")
    assert done.returncode == 2
    assert done.stderr == "tare: --rank does not go with --to csv: select the rank from the tables\n"
    assert TOO_LARGE in export_to_full_disk(tare, run, "csv", tmp_path / "out")
