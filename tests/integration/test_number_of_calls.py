"""Calls of a rank, a function, a site: one number, however a run is asked, timed or only counted."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import tare as package
from environments import ROOT, MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from tare.page import content
from tare.runs.run import open_run

RANKS = 2
ROUNDS = 3000
MESSAGES = 8
# By iterations.c, on each rank.
TRUTH = {
    "MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Recv_init": 1, "MPI_Request_free": 1,
    "MPI_Irecv": MESSAGES * ROUNDS, "MPI_Isend": MESSAGES * ROUNDS, "MPI_Waitall": ROUNDS,
    "MPI_Allreduce": ROUNDS, "MPI_Finalize": 1,
}  # fmt: skip
ALL = sum(TRUTH.values())
RUNS = {
    "plain": [],
    "look-ups timed": ["--time-lookups"],
    "budget": ["--budget", "0.5%"],
    "weighed": ["--weigh"],
    "traced": ["--trace"],
}
KEYS = ("rank", "function", "line", "site", "size", "communicator")
# What tells rows of each key apart.
COLUMNS = {
    "rank": ("rank",),
    "function": ("function",),
    "line": ("function", "file", "line"),
    "site": ("function", "file", "line"),
    "size": ("size_from",),
    "communicator": ("communicator",),
}

ONE = pytest.mark.parametrize("mpi", [openmpi4()], ids=lambda env: env.name, indirect=True)


class _Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release", "private")]


def in_c(run: Path, name: str) -> pa.Table:
    """A table as the C library has it."""
    library = ctypes.CDLL(str(next((ROOT / "build" / "release" / "src" / "library").glob("*.so"))))
    library.tare_reader_open.restype = ctypes.c_void_p
    library.tare_reader_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    library.tare_reader_open_table.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Stream)]
    opened = library.tare_reader_open(str(run).encode(), None)
    assert opened
    stream = _Stream()
    assert library.tare_reader_open_table(opened, name.encode(), ctypes.byref(stream)) == 0
    table = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()
    library.tare_reader_close.argtypes = [ctypes.c_void_p]
    library.tare_reader_close(opened)
    return table


def sums(
    rows: Iterable[Mapping[str, Any]], columns: Iterable[str], value: str = "calls"
) -> dict[Hashable, int]:
    found: Counter[Hashable] = Counter()
    for row in rows:
        found[tuple(str(row[name]) if row[name] not in (None, "") else None for name in columns)] += int(
            row[value]
        )
    return dict(found)


def printed(measured: Measurement, *arguments: str) -> str:
    command: list[str | Path] = [measured.tare, *arguments[:1], measured.directory, *arguments[1:]]
    shown: str = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return shown


def exported(measured: Measurement, to: str, out: Path) -> Callable[[str], list[dict[str, Any]]]:
    command: list[str | Path] = [measured.tare, "export", measured.directory, "--to", to, "-o", out]
    subprocess.run(command, capture_output=True, check=True)
    files = {"csv": ".csv", "parquet": "/**/*.parquet"}[to]
    connection = duckdb.connect()

    def rows(name: str) -> list[dict[str, Any]]:
        found = connection.execute(f"FROM '{out}/{name}{files}'")
        names = [column[0] for column in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    return rows


@ONE
@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_every_way_of_asking_gives_one_number(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, options: list[str]
) -> None:
    program = compile_c(mpi, [PROGRAMS / "iterations.c"], tmp_path / "iterations", "-g")
    argv: list[Path | str] = [program, str(ROUNDS), str(MESSAGES)]
    measured = measure(tare, mpi, RANKS, argv, tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    run = package.open(measured.directory)
    by_rank = {(str(rank),): ALL for rank in range(RANKS)}
    by_function = {(name,): RANKS * calls for name, calls in TRUTH.items()}

    # By each key: as JSON, as CSV, and from Python; they agree, and add up to all calls.
    for key in KEYS:
        found = sums(measured.profile(key), COLUMNS[key])
        assert sum(found.values()) == RANKS * ALL, key
        assert sums(pa.table(run.profile(key)).to_pylist(), COLUMNS[key]) == found
        assert (
            sums(
                csv.DictReader(io.StringIO(printed(measured, "profile", "--by", key, "--csv"))), COLUMNS[key]
            )
            == found
        )
        assert {"rank": by_rank, "function": by_function}.get(key, found) == found
        counted = sums(measured.profile(key), COLUMNS[key], "counted")
        assert sums(pa.table(run.profile(key)).to_pylist(), COLUMNS[key], "counted") == counted
        assert sum(counted.values()) == sum(sums(measured.profile("rank"), ["rank"], "counted").values())
    of_both = sums(measured.profile("rank,function"), ["rank", "function"])
    assert of_both == {(str(rank), name): calls for rank in range(RANKS) for name, calls in TRUTH.items()}

    # As text.
    lines = re.findall(r"^ *(\d+) +([\d,]+) ", printed(measured, "profile", "--by", "rank"), re.MULTILINE)
    assert {rank: int(calls.replace(",", "")) for rank, calls in lines} == {
        str(rank): ALL for rank in range(RANKS)
    }

    # By SQL, in C, in files: the same tables.
    files = [exported(measured, to, tmp_path / to) for to in ("csv", "parquet")]
    tables: list[Callable[[str], list[dict[str, Any]]]] = [
        lambda name: json.loads(printed(measured, "sql", "--json", f"FROM {name}"))["rows"],
        lambda name: in_c(measured.directory, name).to_pylist(),
        *files,
    ]
    for table in tables:
        assert sums(table("profile"), ["function"]) == by_function
        assert sums(table("totals"), ["function"]) == by_function
        assert sums(table("totals"), ["rank"]) == by_rank
        assert sums(table("ranks"), ["rank"]) == by_rank
        assert sums(table("locations"), ["rank"]) == by_rank
        if "--budget" not in options and "--weigh" not in options:  # else they are estimates
            assert sums(table("site_totals"), ["function"]) == by_function

    # In `tare info` and on the page.
    info = measured.info()
    assert sums(info["ranks"], ["rank"]) == by_rank
    assert sums(info["locations"], ["rank"]) == by_rank
    assert info["cost"]["calls"] == RANKS * ALL
    page = content.of_run(open_run(measured.directory))
    assert page["ranks"]["columns"]["calls"] == [ALL] * RANKS
    assert sums(page["sites"], ["function"]) == by_function
    assert page["overview"]["cost"]["calls"] == RANKS * ALL

    # Only look-ups and calls of spells that do not measure are only counted.
    counted = {row["function"]: row["counted"] for row in measured.profile("function")}
    if options in ([], ["--trace"]):
        assert {name: number for name, number in counted.items() if number} == {
            "MPI_Comm_rank": RANKS,
            "MPI_Comm_size": RANKS,
        }
    elif options == ["--time-lookups"]:
        assert not any(counted.values())
    else:
        assert 0 < counted["MPI_Isend"] <= RANKS * TRUTH["MPI_Isend"]
