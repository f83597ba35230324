"""A database, or a query, that somebody made to have tare read, write or run what lies elsewhere."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from environments import ROOT
from tare.errors import CommandError
from tare.lab.study.store import FILE, Store

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
SECRET = "root:x:0:0: precious"
DESCRIPTION = """
[workload.app]
command = "./app"
[mpi.here]
launch = "mpiexec -n {ranks}"
[factors]
tool = ["none", "tare"]
"""
VERBS = (["study", "report"], ["study", "report", "--json"], ["report"], ["study", "model"])

Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def call(tare: Path, tmp_path: Path) -> Call:
    """A line and an exit code, whatever it is; never a traceback, never for ever."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [tare, *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode in (0, 1, 2), done
        return done

    return run


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(SECRET)
    return path


def results(directory: Path) -> Path:
    with Store(directory, create=True) as store:
        store.describe({"description": DESCRIPTION})
        for block in range(7):
            for position, tool in enumerate(("none", "tare")):
                levels = {"workload": "app", "tool": tool, "mpi": "here", "ranks": "2"}
                store.connection.execute(
                    "INSERT INTO runs (run, set_name, block, position, cell, factors, environment, state, "
                    "net_s, wall_s, hook_s, wrap_s) VALUES (?, '1', ?, ?, ?, ?, 'e', 'ok', ?, 2, 0.1, 0.1)",
                    [
                        10 * block + position,
                        block,
                        position,
                        " ".join(f"{name}={level}" for name, level in levels.items()),
                        levels,
                        1 + 0.1 * position + 0.001 * block,
                    ],
                )
    return directory


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return results(tmp_path / "study")


def spoil(study: Path, *statements: str) -> None:
    with duckdb.connect(str(study / FILE)) as connection:
        for statement in statements:
            connection.execute(statement)


def as_view(table: str, columns: str, of: str) -> tuple[str, str, str]:
    return (
        f"ALTER TABLE {table} RENAME TO before",
        f"CREATE VIEW {table} AS SELECT * REPLACE ({columns}) FROM before, {of}",
        "CHECKPOINT",
    )


def hostile(secret: Path) -> dict[str, tuple[str, ...]]:
    text = f"read_text('{secret}')"
    return {
        "a view": as_view("study", "content AS value", text),
        "a view of the runs": as_view("runs", "content AS set_name", text),
        "an empty view": ("CREATE VIEW latencies2 AS SELECT 1", *as_view("flushes", "0 AS run", text)),
        "a macro": (f"CREATE MACRO max(x) AS (SELECT content FROM {text})",),
        "a macro that hides the others": (
            f"CREATE MACRO median(x) AS (SELECT content FROM {text})",
            "CREATE MACRO duckdb_functions() AS TABLE SELECT 1 AS function_name WHERE false",
        ),
        "a table macro": ("CREATE MACRO duckdb_tables() AS TABLE SELECT 'weights' AS table_name",),
        "a type": ("CREATE TYPE rows AS ENUM ('a')",),
        "a generated column": (
            "DROP TABLE sessions",
            "CREATE TABLE sessions (started TIMESTAMP, set_name VARCHAR, elapsed_s DOUBLE, runs_s DOUBLE, "
            "pauses_s DOUBLE, runs INTEGER GENERATED ALWAYS AS (42))",
        ),
        "a default": ("ALTER TABLE runs ALTER COLUMN run SET DEFAULT 42",),
    }


@pytest.mark.parametrize("kind", list(hostile(Path())))
def test_nothing_but_tables_is_used(study: Path, secret: Path, kind: str) -> None:
    spoil(study, *hostile(secret)[kind])
    mine = results(study.parent / "mine-results")
    options: tuple[tuple[Path, dict[str, Any]], ...] = (
        (study, {}),
        (study, {"create": True}),
        (study, {"exports_to": study.parent}),
        (mine, {"create": True, "other": study}),
    )
    for directory, given in options:
        with pytest.raises(CommandError, match="it is not used"):
            Store(directory, **given)


def test_no_verb_uses_it(call: Call, study: Path, secret: Path) -> None:
    spoil(study, *hostile(secret)["a view"])
    for verb in VERBS:
        done = call(*verb[:2], study, *verb[2:]) if verb[0] == "study" else call(*verb, study)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), (verb, done)
        assert "it is not used" in done.stderr
        assert SECRET not in done.stdout + done.stderr
    assert not (study / "report.html").exists()
    done = call("study", "export", study, "--to", "csv", "--into", "tables")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
    mine = results(study.parent / "mine-results")
    file = study.parent / "mine.toml"
    file.write_text(DESCRIPTION)
    done = call("study", "join", file, study, "--as", "theirs")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
    with Store(mine) as store:
        assert store.rows("SELECT DISTINCT set_name FROM runs") == [("1",)]


def test_what_is_never_named_is_never_evaluated(call: Call, study: Path, secret: Path) -> None:
    """People keep their own tables and views beside those of the study."""
    spoil(study, "CREATE TABLE mine (a INTEGER)", f"CREATE VIEW my_view AS FROM read_text('{secret}')")
    done = call("study", "report", study)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + (study / "report.html").read_text("utf-8")


def test_who_may_not_read_what_another_process_writes_is_told_what_to_do(call: Call, study: Path) -> None:
    with duckdb.connect(str(study / FILE)):
        done = call("study", "report", study)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "another process writes it, as a study that runs; read a copy" in done.stderr


@pytest.mark.parametrize("name", [FILE, f"{FILE}.wal"])
def test_links_and_pipes_are_no_databases(call: Call, study: Path, tmp_path: Path, name: str) -> None:
    elsewhere = results(tmp_path / "elsewhere")
    before = (elsewhere / FILE).read_bytes()
    (tmp_path / "theirs.toml").write_text(DESCRIPTION)
    for make in (
        lambda path: path.symlink_to(elsewhere / FILE),
        os.mkfifo,
        lambda path: path.mkdir(),
        lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path)),
    ):
        (study / name).unlink(missing_ok=True)
        make(study / name)
        for words in (
            ["report", study],
            ["study", "report", study],
            ["study", "export", study, "--to", "csv", "--into", "tables"],
            ["study", "run", "theirs.toml", "-o", study, "--resume"],
        ):
            done = call(*words)
            assert (done.returncode, done.stderr.count("\n")) in ((1, 1), (2, 1)), done
        (study / name).rmdir() if (study / name).is_dir() else (study / name).unlink()
    assert (elsewhere / FILE).read_bytes() == before


def test_the_page_goes_nowhere_else(call: Call, study: Path, secret: Path) -> None:
    (study / "report.html").symlink_to(secret)
    assert call("report", study).returncode == 0
    assert secret.read_text() == SECRET
    assert (study / "report.html").read_text("utf-8").startswith("<!")


def test_a_damaged_database_gives_one_line(call: Call, study: Path) -> None:
    whole = (study / FILE).read_bytes()
    newer = whole[:12] + (9999).to_bytes(8, "little") + whole[20:]
    for content in (b"", b"no database", whole[:4096], whole[: len(whole) // 2], bytes(len(whole)), newer):
        (study / FILE).write_bytes(content)
        done = call("study", "report", study)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), (len(content), done)
        assert str(study / FILE) in done.stderr or "no results" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "query",
    [
        "FROM read_text('{secret}')",
        "FROM '{secret}'",
        "FROM read_csv('{secret}')",
        "FROM glob('{place}/*')",
        "COPY ranks TO '{place}/written.csv'",
        "ATTACH '{place}/attached.db'",
        "EXPORT DATABASE '{place}/exported'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM recording",
    ],
)
def test_a_query_reaches_nothing_but_the_run(call: Call, tmp_path: Path, secret: Path, query: str) -> None:
    before = sorted(tmp_path.iterdir())
    done = call("sql", RUN, query.format(secret=secret, place=tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert sorted(tmp_path.iterdir()) == before


def test_a_query_may_read_and_write_files_if_the_user_says_so(
    call: Call, tmp_path: Path, secret: Path
) -> None:
    done = call("sql", RUN, f"SELECT content FROM read_text('{secret}')", "--files")
    assert (done.returncode, SECRET in done.stdout) == (0, True), done
    assert call("sql", RUN, f"COPY ranks TO '{tmp_path}/ranks.csv'", "--files").returncode == 0
    assert (tmp_path / "ranks.csv").read_text().startswith("world,rank")


def test_tables_are_written_where_the_user_says(call: Call, tmp_path: Path) -> None:
    """Tables go through a link, and to a name that is a text of SQL."""
    place = tmp_path / "it's here"
    place.mkdir()
    (tmp_path / "link").symlink_to(place)
    for kind in ("csv", "parquet"):
        done = call("export", RUN, "--to", kind, "-o", f"link/../link/{kind}")
        assert done.returncode == 0, done.stderr
        assert (place / kind).is_dir()
    shutil.rmtree(place / "csv")
    assert call("events", RUN, "--parquet", "link/events.parquet").returncode == 0
    assert (place / "events.parquet").stat().st_size > 0
