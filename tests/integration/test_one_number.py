"""One word is one number, however a run is asked: in each verb, as text, JSON or CSV, in tables, on pages."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import tare as package
from browser import Opened
from environments import ROOT, MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from on_mpi import on_openmpi
from tare import units
from tare.functions import OUTSIDE_NET
from tare.page import content
from tare.runs.run import open_run
from tare.words import WORDS
from verbs import ask

RANKS = 2
MESSAGES = 8
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


class _Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release", "private")]


def calls_of_iterations(rounds: int) -> dict[str, int]:
    """What iterations.c calls on each rank."""
    return {
        "MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Recv_init": 1, "MPI_Request_free": 1,
        "MPI_Irecv": MESSAGES * rounds, "MPI_Isend": MESSAGES * rounds, "MPI_Waitall": rounds,
        "MPI_Allreduce": rounds, "MPI_Finalize": 1,
    }  # fmt: skip


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


@cache  # the runs have ended
def opened(run: Path) -> Any:
    return package.open(run)


@cache
def answer(tare: Path, verb: str, run: Path, *arguments: str) -> str:
    # Wide enough for names that differ at their end.
    wide = os.environ | {"COLUMNS": "200"}
    return ask(tare, verb, run, *arguments, check=True, environment=wide).stdout


def printed(measured: Measurement, verb: str, *arguments: str) -> str:
    return answer(measured.tare, verb, measured.directory, *arguments)


def document(measured: Measurement, verb: str, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed(measured, verb, *arguments, "--json"))
    return found


def profile(measured: Measurement, by: str) -> list[dict[str, Any]]:
    return list(document(measured, "profile", "--by", by)["rows"])


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


@on_openmpi
@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_every_way_of_asking_gives_one_number(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, options: list[str]
) -> None:
    program = compile_c(mpi, [PROGRAMS / "iterations.c"], tmp_path / "iterations", "-g")
    rounds = 600 if "--trace" in options else 3000
    truth = calls_of_iterations(rounds)
    in_all = sum(truth.values())
    argv: list[Path | str] = [program, str(rounds), str(MESSAGES)]
    measured = measure(tare, mpi, RANKS, argv, tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    run = package.open(measured.directory)
    of_ranks = {(str(rank),): in_all for rank in range(RANKS)}
    of_functions = {(name,): RANKS * calls for name, calls in truth.items()}

    # By each key: as JSON, as CSV, and from Python; they agree, and add up to all calls.
    for key in KEYS:
        found = sums(profile(measured, key), COLUMNS[key])
        assert sum(found.values()) == RANKS * in_all, key
        assert sums(pa.table(run.profile(key)).to_pylist(), COLUMNS[key]) == found
        assert (
            sums(
                csv.DictReader(io.StringIO(printed(measured, "profile", "--by", key, "--csv"))), COLUMNS[key]
            )
            == found
        )
        assert {"rank": of_ranks, "function": of_functions}.get(key, found) == found
        counted = sums(profile(measured, key), COLUMNS[key], "counted")
        assert sums(pa.table(run.profile(key)).to_pylist(), COLUMNS[key], "counted") == counted
        assert sum(counted.values()) == sum(sums(profile(measured, "rank"), ["rank"], "counted").values())
    of_both = sums(profile(measured, "rank,function"), ["rank", "function"])
    assert of_both == {(str(rank), name): calls for rank in range(RANKS) for name, calls in truth.items()}

    # As text.
    lines = re.findall(r"^ *(\d+) +([\d,]+) ", printed(measured, "profile", "--by", "rank"), re.MULTILINE)
    assert {rank: int(calls.replace(",", "")) for rank, calls in lines} == {
        str(rank): in_all for rank in range(RANKS)
    }

    # By SQL, in C, in files: the same tables.
    files = [exported(measured, to, tmp_path / to) for to in ("csv", "parquet")]
    tables: list[Callable[[str], list[dict[str, Any]]]] = [
        lambda name: json.loads(printed(measured, "sql", "--json", f"FROM {name}"))["rows"],
        lambda name: in_c(measured.directory, name).to_pylist(),
        *files,
    ]
    for table in tables:
        assert sums(table("profile"), ["function"]) == of_functions
        assert sums(table("totals"), ["function"]) == of_functions
        assert sums(table("totals"), ["rank"]) == of_ranks
        assert sums(table("ranks"), ["rank"]) == of_ranks
        assert sums(table("locations"), ["rank"]) == of_ranks
        if "--budget" not in options and "--weigh" not in options:  # else they are estimates
            assert sums(table("site_totals"), ["function"]) == of_functions

    # In `tare info` and on the page.
    info = document(measured, "info")
    assert sums(info["ranks"], ["rank"]) == of_ranks
    assert sums(info["locations"], ["rank"]) == of_ranks
    assert info["cost"]["calls"] == RANKS * in_all
    page = content.of_run(open_run(measured.directory))
    assert page["ranks"]["columns"]["calls"] == [in_all] * RANKS
    assert sums(page["sites"], ["function"]) == of_functions
    assert page["overview"]["cost"]["calls"] == RANKS * in_all

    # Only look-ups and calls of spells that do not measure are only counted.
    counted = {row["function"]: row["counted"] for row in profile(measured, "function")}
    if options in ([], ["--trace"]):
        assert {name: number for name, number in counted.items() if number} == {
            "MPI_Comm_rank": RANKS,
            "MPI_Comm_size": RANKS,
        }
    elif options == ["--time-lookups"]:
        assert not any(counted.values())
    else:
        assert 0 < counted["MPI_Isend"] <= RANKS * truth["MPI_Isend"]


# What is run, with how many ranks' worth of it, and how it is recorded.
RECORDED = {
    "profile": ("planted.c", ["neighbours"], []),
    "traced": ("planted.c", ["load imbalance"], ["--trace"]),
    "iterations": ("known_phases.c", ["slow"], ["--trace"]),
    "phases and own events": ("phases.c", [], ["--trace"]),
    "threads": ("threads.c", [], ["--trace"]),
    "budget": ("iterations.c", ["10000", "8"], ["--budget", "10%,1M"]),
    "samples": ("iterations.c", ["3000", "8"], ["--sample", "random:0.3"]),
    "killed": ("killed.c", ["one"], ["--trace"]),
}
# How a number is written for people, by its word.
WRITTEN: dict[str, Callable[[Any], str]] = {
    "calls": units.count, "timed calls": units.count, "records": units.count, "dropped": units.count,
    "events": units.count, "messages": units.count, "waits": units.count, "iterations": units.count,
    "entered": units.count, "flushes": units.count,
    "bytes": lambda size: units.size(size) if size else units.NOTHING,
    "time": units.duration, "MPI time": units.duration, "net time": units.duration, "waited": units.duration,
    "imbalance": units.duration, "wall time": units.duration, "takes": units.duration,
    "median": units.duration, "longest": units.duration, "flushing": units.duration,
    "in calls": units.duration, "share in calls": units.percent,
    "MPI share": units.percent, "load balance": units.percent, "parallel efficiency": units.percent,
    "communication efficiency": units.percent, "serialisation efficiency": units.percent,
    "transfer efficiency": units.percent, "of phase": units.percent,
    "cost": lambda share: f"{100 * share:.2f} %",
}  # fmt: skip
# Words of efficiencies, and the fields that have them.
EFFICIENCIES = {
    "net time": "net_ns", "MPI share": "mpi_share", "load balance": "load_balance",
    "parallel efficiency": "parallel_efficiency", "communication efficiency": "communication_efficiency",
    "serialisation efficiency": "serialisation_efficiency", "transfer efficiency": "transfer_efficiency",
}  # fmt: skip
IN_ALL = "in all"
# The words of fields, by what a row is of; a heading of a text is the word itself.
WORD_OF = {
    "rank": {
        "calls": "calls", "mpi_ns": "MPI time", "time_ns": "MPI time", "net_ns": "net time",
        "mpi_share": "MPI share", "share": "MPI share", "bytes": "bytes", "records": "records",
        "dropped": "dropped",
    },
    "function": {
        "calls": "calls", "time_ns": "time", "bytes": "bytes", "imbalance_ns": "imbalance",
        "timed_calls": "timed calls",
    },
    "phase": {
        "time_ns": "time", "calls_ns": "in calls", "calls_share": "share in calls",
        "timed_calls": "timed calls", "bytes": "bytes", "entries": "entered",
    },
    "detected": {
        "duration_ns": "takes", "mpi_share": "MPI share", "line_share": "of phase",
        "iterations": "iterations", "median_ns": "median", "longest_ns": "longest",
    },
    "wait": {"waits": "waits", "wait_ns": "waited"},
}  # fmt: skip
# Words whose cell in a text is empty, or says so, where there is no such number.
MAY_LACK = {"imbalance": units.NOTHING, "entered": units.NOTHING, "iterations": units.NOTHING,
            "median": units.NOTHING, "time": "counted"}  # fmt: skip


class Said:
    """Each number by its word and what it is of, with the places that say it."""

    def __init__(self) -> None:
        self.by_word: dict[tuple[str, Hashable], dict[str, Any]] = {}

    def add(self, place: str, word: str, of: Hashable, value: Any) -> None:
        if value is not None:
            assert place not in self.by_word.setdefault((word, of), {}), (place, word, of)
            self.by_word[word, of][place] = value

    def rows(self, place: str, rows: Iterable[Mapping[str, Any]], key: Callable[[Any], Hashable]) -> None:
        """The numbers of each row that have a word."""
        for row in rows:
            of: Any = key(row)
            for field, word in WORD_OF[of[0]].items():
                self.add(place, word, of, row.get(field))

    def text(self, place: str, rows: Iterable[Mapping[str, str]], key: Callable[[Any], Hashable]) -> None:
        """The same of a table of a text (`table_of`)."""
        for row in rows:
            of: Any = key(row)
            for word in dict.fromkeys(WORD_OF[of[0]].values()):
                if (cell := row.get(word)) != MAY_LACK.get(word, ""):
                    self.add(place, word, of, cell)

    def check(self) -> None:
        """All places agree: numbers, to a microsecond where they are sums, and texts as they are written."""
        wrong: list[tuple[Any, ...]] = []
        for (word, of), places in self.by_word.items():
            numbers = {place: value for place, value in places.items() if not isinstance(value, str)}
            if not numbers:  # nobody knows it
                wrong += [(word, of, places)] if {*places.values()} != {"-"} else []
                continue
            (first, exact), *others = numbers.items()
            wrong += [
                (word, of, first, exact, place, value)
                for place, value in others
                if value != pytest.approx(exact, rel=1e-6, abs=1e-9 if isinstance(exact, float) else 0)
                and not ("time" in word and abs(value - exact) <= 1000)
            ]
            wrong += [
                (word, of, first, WRITTEN[word](exact), place, value)
                for place, value in places.items()
                if isinstance(value, str) and value.lstrip("~") != WRITTEN[word](exact)
            ]
        assert not wrong, "\n".join(map(str, wrong))

    def places(self, word: str) -> int:
        """The most places that say the word of one thing."""
        return max((len(places) for (each, _), places in self.by_word.items() if each == word), default=0)


def table_of(text: str, first: str) -> list[dict[str, str]]:
    """A table of the text, whose first heading is known; cells have two spaces between them.

    Its headings as words."""
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if re.match(rf" *{re.escape(first)}\b", line))
    headings = re.split(r" {2,}", lines[begin].strip())
    names = [name if name.startswith("MPI") else name[0].lower() + name[1:] for name in headings]
    rows: list[dict[str, str]] = []
    for line in lines[begin + 1 :]:
        cells = re.split(r" {2,}", line.strip())
        if len(cells) != len(names):
            break
        rows.append(dict(zip(names, cells, strict=True)))
    return rows


def sql(measured: Measurement, query: str) -> list[dict[str, Any]]:
    """The rows of a query, as `tare sql` has them (`test_every_way_of_asking_gives_one_number`)."""
    found = opened(measured.directory).sql(query)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def by_rank(row: Mapping[str, Any]) -> Hashable:
    return "rank", int(row["rank"])


def by_function(row: Mapping[str, Any]) -> Hashable:
    return "function", row["function"]


def by_phase(row: Mapping[str, Any]) -> Hashable:
    return "phase", row["phase"] or "(in no phase)"


def by_number(row: Mapping[str, Any]) -> Hashable:
    return "detected", row["number"]


def by_wait(row: Mapping[str, Any]) -> Hashable:
    return "wait", (row["kind"], row["function"], row["file"], row["line"])


def numbered(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "number": number} for number, row in enumerate(rows)]


def is_share_known(measured: Measurement) -> bool:
    """Whether it is of all ranks: with a budget, too few calls may have been measured."""
    return None not in [row["mpi_share"] for row in sql(measured, "FROM ranks")]


def say_runs_and_ranks(said: Said, measured: Measurement) -> None:
    """What info, profile, diff, explain and the tables have of the run and of its ranks."""
    info = document(measured, "info")
    said.rows("info --json", info["ranks"], by_rank)
    for rank in info["ranks"]:
        said.add("info --json", "records", by_rank(rank), rank["trace"]["records"])
    text = printed(measured, "info")
    shown = table_of(text, "Rank")
    if "measured" in shown[0]:
        for row in shown:
            del row["net time"]
    said.text("info", shown, by_rank)
    said.rows("sql ranks", sql(measured, "FROM ranks"), by_rank)
    summed = (
        "SELECT rank, sum(calls)::bigint calls, sum(records)::bigint records, sum(dropped)::bigint dropped"
    )
    said.rows("sql locations", sql(measured, f"{summed} FROM locations GROUP BY rank"), by_rank)
    of_ranks = profile(measured, "rank")
    said.rows("profile --by rank --json", of_ranks, by_rank)
    head = printed(measured, "profile", "--by", "rank")
    said.text("profile --by rank", table_of(head, "Rank"), by_rank)
    both = "profile --by rank,function --json"
    for of, value in sums(profile(measured, "rank,function"), ["rank"], "bytes").items():
        said.add(both, "bytes", ("rank", int(of[0])), value)  # type: ignore[index]

    (efficiency,) = document(measured, "profile", "--by", "rank")["efficiency"]
    told = document(measured, "explain")
    (found,) = content.of_run(open_run(measured.directory))["overview"]["efficiency"]
    for word, field in EFFICIENCIES.items():
        said.add("profile --json", word, IN_ALL, efficiency[field])
        said.add("page", word, IN_ALL, found[field])
    said.add("explain --json", "net time", IN_ALL, told["net_ns"])
    said.add("explain --json", "MPI share", IN_ALL, told["mpi_share"])
    said.add("sql ranks", "net time", IN_ALL, sql(measured, "SELECT max(net_ns) n FROM ranks")[0]["n"])
    if is_share_known(measured):
        of_all = sql(measured, "SELECT avg(mpi_share) n FROM ranks")[0]["n"]
        said.add("sql ranks", "MPI share", IN_ALL, of_all)
    labels = {"MPI share": "MPI share", "load balance": "load balance",
              "communication": "communication efficiency",
              "parallel efficiency": "parallel efficiency", "serialisation": "serialisation efficiency",
              "transfer": "transfer efficiency"}  # fmt: skip
    for label, value in re.findall(r"^ +([A-Za-z ]+?) {2,}([\d.]+ %)", head, re.MULTILINE):
        if label in labels:
            said.add("profile", labels[label], IN_ALL, value)
    said.add("profile", "net time", IN_ALL, re.search(r"net time ([\d.]+ \S+)", head)[1])  # type: ignore[index]
    assert is_share_known(measured) == ("MPI share  not known" not in text)
    if is_share_known(measured):
        said.add("info", "MPI share", IN_ALL, re.search(r"mean ([\d.]+ %)", text)[1])  # type: ignore[index]

    figures_of = {each["metric"]: each["new"][0] for each in printed_diff(measured)["figures"]}
    said.add("diff --json", "calls", IN_ALL, figures_of["calls"])
    said.add("diff --json", "net time", IN_ALL, figures_of["net"])
    if is_whole(profile(measured, "function")):
        said.add("diff --json", "bytes", IN_ALL, figures_of["bytes"])
        said.add("diff --json", "MPI time", "mean", figures_of["mpi"])
    said.add("sql ranks", "calls", IN_ALL, sum(rank["calls"] for rank in info["ranks"]))
    said.add("info --json", "calls", IN_ALL, info["cost"]["calls"])
    said.add("profile --json", "bytes", IN_ALL, sum(row["bytes"] for row in of_ranks))
    # The estimate for calls timed by sample may be more than all time, which diff does not go beyond.
    if all(rank["threads"] == 1 and rank["mpi_ns"] <= rank["net_ns"] for rank in info["ranks"]):
        said.add("info --json", "MPI time", "mean", sum(rank["mpi_ns"] for rank in info["ranks"]) / RANKS)
    said.add("info --json", "cost", IN_ALL, info["cost"]["net_share"])
    said.add("info", "cost", IN_ALL, re.search(r"in all +([\d.]+ %)", text)[1])  # type: ignore[index]
    said.add("info --json", "records", IN_ALL, info["trace"]["records"])
    if info["trace"]["records"]:
        said.add("info", "records", IN_ALL, re.search(r"trace +([\d,]+) record", text)[1])  # type: ignore[index]
        (in_all,) = sql(measured, "SELECT sum(records)::bigint n FROM locations")
        said.add("sql locations", "records", IN_ALL, in_all["n"])


def printed_diff(measured: Measurement) -> dict[str, Any]:
    return document(measured, "diff", str(measured.directory), "--accept-failed")


def is_whole(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all calls but look-ups were measured, by the profile by function."""
    return not any(row["counted"] and row["timed"] for row in rows)


def say_functions(said: Said, measured: Measurement) -> None:
    """Calls, time and bytes of functions, and of lines."""
    rows = profile(measured, "function")
    said.rows("profile --by function --json", rows, by_function)
    said.text(
        "profile --by function",
        table_of(printed(measured, "profile", "--by", "function", "--limit", "0"), "Function"),
        by_function,
    )
    summed = "SELECT function, sum(calls)::bigint calls, sum(bytes)::bigint bytes"
    with_time = f"{summed}, sum(time_ns)::bigint time_ns FROM profile GROUP BY ALL"
    said.rows("sql profile", sql(measured, with_time), by_function)
    if is_whole(rows):
        said.rows("sql totals", sql(measured, f"{summed} FROM totals GROUP BY ALL"), by_function)
    by_line = profile(measured, "line")
    for word, field in (("calls", "calls"), ("time", "time_ns"), ("bytes", "bytes")):
        sums_of: Counter[Hashable] = Counter()
        for row in by_line:
            sums_of[by_function(row)] += row[field]
        for of, value in sums_of.items():
            said.add("profile --by line --json", word, of, value)
    # diff leaves out what begins and ends MPI, and look-ups. It compares whole runs.
    for row in printed_diff(measured)["functions"]:
        said.add("diff --json", "calls", by_function(row), row["calls"]["new"][0])
        for word, field in (("time", "time_ns"), ("bytes", "bytes")):
            of_all = word if is_whole(rows) else f"whole {word}"
            said.add("diff --json", of_all, by_function(row), row[field]["new"][0])
    for row in rows:
        for word, field in (("time", "time_ns"), ("bytes", "bytes")):
            said.add("profile --by function --json", f"whole {word}", by_function(row), row[f"whole_{field}"])
    # All time of functions is the MPI time of the ranks, but for calls that have not returned.
    ranks = document(measured, "info")["ranks"]
    within = [row["time_ns"] for row in rows if row["function"] not in OUTSIDE_NET]
    said.add("profile --by function --json", "MPI time", IN_ALL, sum(within))
    said.add("info --json", "MPI time", IN_ALL, sum(rank["mpi_ns"] - rank["unreturned_ns"] for rank in ranks))
    phases = sql(measured, "FROM phases")
    said.add("sql phases", "in calls", IN_ALL, sum(row["calls_ns"] for row in phases))
    in_calls = sum(row["time_ns"] for row in rows if row["timed"])
    said.add("profile --by function --json", "in calls", IN_ALL, in_calls)
    said.add("sql phases", "bytes", IN_ALL, sum(row["bytes"] for row in phases))
    said.add("sql phases", "timed calls", IN_ALL, sum(row["timed_calls"] for row in phases))
    said.add("profile --json", "timed calls", IN_ALL, sum(row["calls"] - row["counted"] for row in rows))


def say_phases(said: Said, measured: Measurement) -> None:
    """Phases that the program marks, and those that were found, with their iterations."""
    said.rows("profile --by phase --json", profile(measured, "phase"), by_phase)
    said.text(
        "profile --by phase", table_of(printed(measured, "profile", "--by", "phase"), "Phase"), by_phase
    )
    sums_of = ", ".join(
        f"sum({name})::bigint {name}" for name in ("time_ns", "calls_ns", "timed_calls", "bytes")
    )
    said.rows("sql phases", sql(measured, f"SELECT phase, {sums_of} FROM phases GROUP BY ALL"), by_phase)
    page = content.of_run(open_run(measured.directory))
    said.rows("page", page["phases"], by_phase)

    found = document(measured, "phases")["phases"]

    with_first_loop = [{**loop, **row} for row in found for loop in (row["loops"] or [{}])[:1]]
    said.rows("phases --json", with_first_loop, by_number)
    said.rows("page", numbered(page["structure"]), by_number)
    if found:
        said.text("phases", numbered(table_of(printed(measured, "phases"), "Phase")), by_number)
    said.rows("sql detected_phases", sql(measured, "FROM detected_phases"), by_number)


def say_trace(said: Said, measured: Measurement) -> None:
    """Events, messages and waits."""
    info = document(measured, "info")
    is_whole = info["options"]["budget"] is None
    of_program = "kind IS NOT NULL OR NOT starts_with(function, 'tare:')"
    events = sql(measured, f"SELECT count(*) n FROM events WHERE {of_program}")[0]["n"]
    said.add("sql events", "events", IN_ALL, events)
    rows = document(measured, "events")["rows"]
    of_verb = sum("kind" in row or not row["function"].startswith("tare:") for row in rows)
    said.add("events --json", "events", IN_ALL, of_verb)
    if not events:
        return
    for to in ("perfetto", "paje", "otf2"):
        out = measured.directory.parent / f"out-{to}"
        command: list[str | Path] = [measured.tare, "export", measured.directory, "--to", to, "-o", out]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (number,) = re.findall(r"([\d,]+) events", told)
        said.add(f"export --to {to}", "events", IN_ALL, int(number.replace(",", "")))
    if is_whole:
        cost = info["cost"]
        said.add("info --json", "events", IN_ALL, cost["calls"] - cost["counted"] + cost["own_events"])
        assert sum("kind" in row for row in rows) == cost["own_events"]
        of_calls = "SELECT function, count(*) timed_calls FROM calls GROUP BY ALL"
        said.rows("sql calls", sql(measured, of_calls), by_function)
        for row in profile(measured, "function"):
            if row["timed"]:
                timed = row["calls"] - row["counted"]
                said.add("profile --by function --json", "timed calls", by_function(row), timed)
        of_peers = profile(measured, "peer")
        said.add(
            "profile --by peer --json", "messages", IN_ALL, sum(row["sent_messages"] for row in of_peers)
        )
        for table, number in (("messages", "count(*)"), ("peers", "coalesce(sum(sent_messages), 0)::bigint")):
            (in_all,) = sql(measured, f"SELECT {number} n FROM {table}")
            said.add(f"sql {table}", "messages", IN_ALL, in_all["n"])

    page = content.of_run(open_run(measured.directory))
    cells = page["matrix"]["cells"] if page["matrix"] else []
    assert sum(row[2] for row in cells) == sum(row["sent_messages"] for row in profile(measured, "peer"))
    summed = "count(*) waits, sum(wait_ns)::bigint wait_ns"
    query = f"SELECT kind, function, file, line, {summed} FROM waits GROUP BY ALL"
    said.rows("sql waits", sql(measured, query), by_wait)
    said.rows("page", page["waits"], by_wait)


def say_page(said: Said, measured: Measurement, browser: Any, to: Path) -> None:
    """What Chromium shows. Each number in it has its definition."""
    command: list[str | Path] = [measured.tare, "report", measured.directory, "-o", to]
    subprocess.run(command, capture_output=True, text=True, check=True)
    context = browser.new_context(viewport={"width": 1600, "height": 1200}, offline=True)
    opened = Opened(context.new_page(), to.as_uri())

    def rows(section: str, *fields: str) -> list[dict[str, str]]:
        if not opened.page.locator(f"#{section}").count():
            return []
        opened.page.locator(f"#{section}").scroll_into_view_if_needed()
        opened.page.wait_for_timeout(200)
        first = f"document.querySelector('#{section} .tabulator')"
        cells = [
            opened.page.evaluate(
                f"[...{first}.querySelectorAll(\".tabulator-cell[tabulator-field='{field}']\")]"
                ".map(each => each.textContent)"
            )
            for field in fields
        ]
        return [dict(zip(fields, row, strict=True)) for row in zip(*cells, strict=True)]

    said.rows("Chromium", rows("imbalance", "rank", "calls", "net_ns", "mpi_ns", "share"), by_rank)
    detected = rows("phases", "phase", "duration_ns", "mpi_share", "line_share")
    said.rows("Chromium", numbered(detected), by_number)
    of_locations = rows("flushes", "rank", "location", "records")
    if len({row["rank"] for row in of_locations}) == len(of_locations):
        said.rows("Chromium", of_locations, by_rank)
    cards = dict(zip(opened.texts(".card .label"), opened.texts(".card .value"), strict=True))
    assert (cards["MPI share"] != "Not known") == is_share_known(measured)
    if is_share_known(measured):
        said.add("Chromium", "MPI share", IN_ALL, cards["MPI share"])
        assert opened.page.locator(".card .label span").first.get_attribute("title") == WORDS["MPI share"]
    said.add("Chromium", "cost", IN_ALL, cards["Cost of measuring"])
    # Each heading of numbers says what it means.
    without = opened.page.eval_on_selector_all(
        ".tabulator-col[tabulator-field] .tabulator-col-title span",
        "all => all.filter(each => !each.title).map(each => each.textContent)",
    )
    assert set(without) <= NAMES, "numbers without a definition"
    assert opened.complaints == []
    context.close()


# Headings of what is not a number, but names something.
NAMES = {
    "Function", "Where", "Caller", "World", "Rank", "Host", "State", "Location", "Kind", "What it did",
    "Phase", "Iteration", "Iterations begin with", "Most time in and before", "Longer than usual", "Name",
    "Sent at", "Received at", "From", "To",
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Measurement]:
    def record(name: str) -> Measurement:
        directory, mpi = tmp_path_factory.mktemp("recorded"), openmpi4()
        source, arguments, options = RECORDED[name]
        (installed,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare_record.so")
        library = directory / "libtare_record.so.0"
        library.symlink_to(installed)
        flags = [f"-I{ROOT}/include", "-pthread", str(library), f"-Wl,-rpath,{directory}"]
        program = compile_c(mpi, [PROGRAMS / source], directory / "program", "-g", *flags)
        return measure(tare, mpi, RANKS, [program, *arguments], directory / "run", *options)

    return record


@pytest.mark.parametrize("name", RECORDED)
def test_one_word_is_one_number(
    name: str, recorded: Callable[[str], Measurement], browser: Any, tmp_path: Path
) -> None:
    measured, said = recorded(name), Said()
    assert (measured.ended.returncode != 0) == (name == "killed"), measured.ended.stderr
    say_runs_and_ranks(said, measured)
    say_functions(said, measured)
    say_phases(said, measured)
    say_trace(said, measured)
    say_page(said, measured, browser, tmp_path / "page.html")
    said.check()
    # Nothing was compared with itself alone.
    at_least = {
        "calls": 6, "MPI time": 5, "MPI share": 6, "net time": 4, "time": 4, "bytes": 4, "timed calls": 3,
        "cost": 3,
    }  # fmt: skip
    if RECORDED[name][2] == ["--trace"]:
        at_least |= {"events": 5, "records": 3, "messages": 3, "load balance": 3}
    if not is_share_known(measured):
        del at_least["MPI share"]
    if name == "iterations":
        at_least |= {"iterations": 3, "waits": 2, "takes": 4}
    if name == "phases and own events":
        at_least |= {"entered": 3}
    assert {word: said.places(word) for word in at_least if said.places(word) < at_least[word]} == {}
