"""What mpi/functions.toml says, and what it may not say."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT
from generate import generated
from roles import is_frequent
from source import source_of
from standard import Function, functions
from table import CLASSES, OPERATIONS, WAITS, Meaning, TableError, checked, expanded, meanings
from tare._functions import TABLE
from tare.functions import OUTSIDE_NET, SOURCES, is_collective, meaning
from tare.functions import Meaning as PythonMeaning

SOURCE = ROOT / "mpi" / "functions.toml"
GENERATED = ROOT / "build" / "release" / "generated"


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return dict(tomllib.loads(SOURCE.read_text())["mpi"])


@pytest.fixture(scope="module")
def standard(table: dict[str, Any]) -> list[Function]:
    return functions(table["libraries"]["prototypes"])


@pytest.fixture(scope="module")
def known(table: dict[str, Any], standard: list[Function]) -> dict[str, Meaning]:
    return {of.function.name: of for of in meanings(table["functions"], standard)}


def test_every_function_of_the_standard_means_something(known: dict[str, Meaning]) -> None:
    import pympistandard as std

    std.use_api_version(1)
    names = {str(p.express.iso_c.name) for p in std.PROCEDURES.values() if p.express.iso_c is not None}
    assert len(names) > 450
    assert not names - known.keys()


def test_every_word_is_used(known: dict[str, Meaning]) -> None:
    assert {of.kind for of in known.values()} == set(CLASSES)
    assert {of.waits for of in known.values()} == set(WAITS)
    assert {of.operation for of in known.values()} == {"", *OPERATIONS}


@pytest.mark.parametrize(
    ("name", "frequent"),
    [
        ("MPI_Send", True),
        ("MPI_Isend", True),
        ("MPI_Irecv", True),
        ("MPI_Isend_c", False),
        ("MPI_Send_init", False),
        ("MPI_Ibsend", False),
        ("MPI_Waitall", True),
        ("MPI_Allreduce", True),
        ("MPI_Iallreduce", False),
        ("MPI_Allreduce_init", False),
        ("MPI_Comm_dup", False),
        ("MPI_File_read", False),
    ],
)
def test_calls_of_inner_loops_have_wrappers_of_their_own(
    table: dict[str, Any], known: dict[str, Meaning], name: str, frequent: bool
) -> None:
    assert is_frequent(known[name]) == frequent
    text = "\n".join(generated(table)["wrappers.inc"])
    assert (f" measure<Function::{name}>" in text) == frequent
    assert (f" measure_apart<Function::{name}>" in text) != frequent


@pytest.mark.parametrize(
    ("name", "kind", "form", "waits"),
    [
        ("MPI_Send", "send", "blocking", "buffer"),
        ("MPI_Irsend_c", "send", "nonblocking", "buffer"),
        ("MPI_Ssend_init", "send", "persistent", "receiver"),
        ("MPI_Bsend", "send", "blocking", "nobody"),
        ("MPI_Psend_init", "send", "persistent", "unknown"),
        ("MPI_Irecv", "receive", "nonblocking", "sender"),
        ("MPI_Imrecv", "receive", "nonblocking", "arrival"),
        ("MPI_Isendrecv_replace", "exchange", "nonblocking", "partners"),
        ("MPI_Iprobe", "probe", "blocking", "nobody"),
        ("MPI_Improbe", "probe", "blocking", "nobody"),
        ("MPI_Startall", "start", "blocking", "nobody"),
        ("MPI_Waitsome", "completion", "blocking", "requests"),
        ("MPI_Testall", "completion", "blocking", "nobody"),
        ("MPI_Cancel", "request", "blocking", "nobody"),
        ("MPI_Ireduce_scatter_block_c", "collective", "nonblocking", "all"),
        ("MPI_Ialltoallw", "collective", "nonblocking", "contributors"),
        ("MPI_Bcast_init", "collective", "persistent", "root"),
        ("MPI_Reduce", "collective", "blocking", "at_root"),
        ("MPI_Exscan", "collective", "blocking", "lower"),
        ("MPI_Ineighbor_alltoall", "collective", "nonblocking", "neighbours"),
        ("MPI_Comm_idup_with_info", "collective", "nonblocking", "all"),
        ("MPI_Intercomm_merge", "collective", "blocking", "unknown"),
        ("MPI_Comm_free", "collective", "blocking", "some"),
        ("MPI_Win_fence", "collective", "blocking", "usually_all"),
        ("MPI_Rget_accumulate", "one_sided", "nonblocking", "nobody"),
        ("MPI_Win_lock", "epoch", "blocking", "locks"),
        ("MPI_File_iread_at_c", "file", "nonblocking", "storage"),
        ("MPI_File_iwrite_at_all", "collective", "nonblocking", "unknown"),
        ("MPI_Comm_iflush_buffer", "other", "nonblocking", "unknown"),
        ("MPI_Grequest_start", "request", "nonblocking", "unknown"),
        ("MPI_Init", "lifecycle", "blocking", "unknown"),
        ("MPI_Comm_rank", "lookup", "blocking", "nobody"),
        ("MPI_T_pvar_read", "lookup", "blocking", "nobody"),
        ("MPI_Type_vector", "local", "blocking", "nobody"),  # has no row
    ],
)
def test_meanings_of_known_functions(
    known: dict[str, Meaning], name: str, kind: str, form: str, waits: str
) -> None:
    assert (known[name].kind, known[name].form, known[name].waits) == (kind, form, waits)


def test_a_form_that_starts_a_request_is_one_of_a_function(standard: list[Function]) -> None:
    """But for those that there are in no other form."""
    names = {function.bare_name for function in standard}
    started = {function.blocking_name for function in standard if function.form != "blocking"}
    assert started - names == {"Psend", "Precv"}
    assert {"Grequest_start"} == {
        function.bare_name
        for function in standard
        if function.form != "blocking" and function.blocking_name == function.bare_name
    }


def test_operations_are_those_of_all_forms(known: dict[str, Meaning]) -> None:
    assert {name for name, of in known.items() if of.operation == "barrier"} == {
        "MPI_Barrier",
        "MPI_Ibarrier",
        "MPI_Barrier_init",
    }
    assert known["MPI_Rget_accumulate_c"].operation == known["MPI_Fetch_and_op"].operation
    assert known["MPI_Ialltoallw_c"].operation == "alltoallw"
    assert known["MPI_Win_flush_local_all"].completes_accesses == "all_locally"
    assert known["MPI_Win_lock"].completes_accesses == ""


def test_ranks_are_named_by_their_parameters(known: dict[str, Meaning]) -> None:
    assert known["MPI_Send"].peer == "dest"
    assert known["MPI_Win_flush_local"].peer == "rank"
    assert known["MPI_Put"].peer == "target_rank"
    assert (known["MPI_Ibcast"].root, known["MPI_Ibcast"].peer) == ("root", "")
    assert known["MPI_Comm_spawn"].root == "root"
    assert known["MPI_Cart_rank"].peer == known["MPI_Status_set_source"].peer == ""


def test_the_tables_of_cpp_and_python_agree(known: dict[str, Meaning]) -> None:
    """What the library was compiled with, what Python reads, and what the table says now."""
    pattern = r"TARE_MEANING\((\w+)" + r", (\w+)" * 6 + r"(?:, (.*))?\)"
    cpp = {
        name: (words, flags.split(", ") if flags else [])
        for name, *words, flags in re.findall(pattern, (GENERATED / "meanings.inc").read_text())
    }
    table = {name: words for name, words in TABLE.items() if meaning(name).source == "MPI"}
    assert cpp.keys() == table.keys() == known.keys()
    for name, (words, flags) in cpp.items():
        means, row = meaning(name), known[name]
        assert words == [
            means.kind,
            means.form,
            means.waits,
            means.operation or "none",
            row.completes_accesses or "none",
            means.epoch or "none",
        ]
        bounds = {".begins_world = true", ".ends_world = true", ".bounds_session = true"}
        assert (".is_rooted = true" in flags) == bool(means.root)
        assert (".is_poll = true" in flags) == bool(means.poll)
        assert bool(bounds & set(flags)) == (name in OUTSIDE_NET)
        assert (".calls_others = true" in flags) == bool(row.calls)
    assert {name: (of.kind, of.form, of.waits, of.peer, of.root) for name, of in known.items()} == {
        name: words[:5] for name, words in table.items()
    }


def test_the_functions_of_other_sources_have_tables_beside_their_code() -> None:
    tables = [source_of(tomllib.loads(path.read_text())) for path in (ROOT / "src").glob("*/functions.toml")]
    assert SOURCES == tuple(sorted(source.name for source in tables)) == ("files", "openmp", "stacks")
    for source in tables:
        for function in source.functions:
            means = meaning(function.name)
            assert (means.source, means.kind, means.waits) == (source.name, function.kind, function.waits)
            assert function.name in OUTSIDE_NET


def test_of_an_unknown_function_nothing_is_known() -> None:
    assert meaning("MPI_From_the_future") == PythonMeaning("other", "blocking", "unknown")
    assert not is_collective("MPI_From_the_future")


def test_collectives_are_blocking() -> None:
    assert is_collective("MPI_Alltoallv_c")
    assert is_collective("MPI_Comm_free")  # also where nobody waits in it
    assert is_collective("MPI_File_write_ordered_end")
    assert not is_collective("MPI_Ibarrier")
    assert not is_collective("MPI_Barrier_init")
    assert not is_collective("MPI_Send")


def test_keys() -> None:
    assert expanded("File_{read,write}{,_at}") == [
        "File_read",
        "File_read_at",
        "File_write",
        "File_write_at",
    ]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ({"Send": {"waits": "buffer"}}, "Send: has no class: one of local, "),
        ({"Send": {"class": "sends"}}, "Send: class is one of .*; not 'sends'"),
        ({"Send": {"class": "send", "waits": "for_ever"}}, "Send: waits is one of .*; not 'for_ever'"),
        ({"Send": {"class": "send", "wait": "buffer"}}, "Send: what is 'wait'[?] Attributes are class, "),
        ({"Send": {"class": "send", "bytes": 8}}, "Send: bytes is text, not 8"),
        ({"Send": {"class": "send", "bytes": "moved count datatype"}}, "Send: bytes begins with .*'moved'"),
        ({"Send": {"class": "send", "bytes": "moves count"}}, "Send: moves reads 2 parameters"),
        (
            {"Send": {"class": "send", "bytes": "moves count type"}},
            "Isend: MPI_Isend has no parameter type",
        ),
        ({"Sned": {"class": "send"}}, "Sned: there is no such function"),
        ({"Sned_*": {"class": "send"}}, "Sned_[*]: there is no function Sned_[*]"),
        ({"Send|Recv": {"class": "send"}}, "cannot read 'Send[|]Recv'"),
        ({"Bar*": {"class": "collective", "waits": "all"}}, "Barrier has two rows: Barrier, and Bar[*]"),
        ({"Barrier": None}, "Barrier has no row, and may not be local: it is given comm"),
        ({"Iprobe": {"class": "probe", "poll": "flag", "waits": "sender"}}, "a poll waits for nobody"),
        ({"Iprobe": {"class": "probe", "poll": "found"}}, "Iprobe: MPI_Iprobe has no parameter found"),
        (
            {"Bcast": {"class": "collective", "waits": "root", "peer": "root"}},
            "Bcast: a collective has no peer: root",
        ),
        ({"Barrier": {"class": "collective", "waits": "root"}}, "Barrier: waits for 'root', but has no root"),
        ({"Barrier": {"class": "collective"}}, "a collective call waits for all or .*'nobody'"),
        ({"Barrier": {"class": "send"}}, "Barrier: a send call has a peer; name its parameter"),
        ({"Bcast": {"class": "local"}}, "Bcast: only collectives have a root: root"),
        ({"Put": {"class": "one_sided"}}, "Put: a one_sided call says direction"),
        ({"Wait": {"class": "completion", "waits": "requests"}}, "Wait: a completion call says completes"),
        ({"Barrier": {"class": "local", "epoch": "locks"}}, "Barrier: epoch is of epoch calls, not of local"),
        ({"Barrier": {"class": "local", "operation": "barrier"}}, "Barrier: operation is of collective and"),
        ({"Group_size": {"class": "lookup", "frees": "window"}}, "Group_size: a look-up moves, frees"),
    ],
)
def test_what_the_table_may_not_say(
    table: dict[str, Any], standard: list[Function], rows: dict[str, Any], complaint: str
) -> None:
    changed = {name: row for key, row in table["functions"].items() for name in expanded(key)} | rows
    with pytest.raises(TableError, match=complaint) as raised:
        meanings({key: row for key, row in changed.items() if row is not None}, standard)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("tables", "complaint"),
    [
        ({}, r"\[mpi.functions\] is missing"),
        ({"mpi": {"functions": {}}}, r"\[mpi.libraries\] is missing"),
        ({"mpi": {"functions": {}, "libraries": {}, "function": {}}}, r"\[mpi.function\] means nothing"),
        ({"mpi": {"functions": {}, "libraries": {}}, "Send": {}}, r"\[Send\]: nothing is generated of it"),
    ],
)
def test_tables_that_nobody_reads_are_refused(tables: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TableError, match=complaint):
        checked(tables)


FILES: dict[str, dict[str, dict[str, Any]]] = {
    "files": {
        "write": {"class": "file", "waits": "storage", "arguments": ["bytes", "offset"]},
        "fsync": {"class": "file", "waits": "storage"},
    }
}


def test_functions_of_another_source_have_numbers_behind_those_of_mpi(table: dict[str, Any]) -> None:
    files = generated(table, [source_of(FILES), source_of({"loops": {"parallel": FILES["files"]["fsync"]}})])
    mpi = len(files["functions.inc"])
    assert files["sources.inc"] == [
        f'TARE_SOURCE("MPI", 1, {mpi})',
        f'TARE_SOURCE("files", {mpi + 1}, 2)',
        f'TARE_SOURCE("loops", {mpi + 3}, 1)',
    ]
    assert files["source_functions.inc"] == [
        'TARE_SOURCE_FUNCTION(fsync, "")',
        'TARE_SOURCE_FUNCTION(write, "bytes,offset")',
        'TARE_SOURCE_FUNCTION(parallel, "")',
    ]
    assert (
        files["source_meanings.inc"][0]
        == "TARE_MEANING(fsync, file, blocking, storage, none, none, none, none)"
    )
    module: dict[str, Any] = {}
    exec("\n".join(files["_functions.py"]), module)
    assert len(module["TABLE"]) == mpi + 3
    assert PythonMeaning(*module["TABLE"]["write"]) == PythonMeaning(
        "file", "blocking", "storage", source="files"
    )
    assert module["TABLE"]["MPI_Send"] == TABLE["MPI_Send"]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ({"Write": {}}, "'Write' is no name of a function of a source"),
        ({"write": {"class": "file", "wait": "storage"}}, "write: what is 'wait'[?]"),
        ({"write": {"class": "files"}}, "write: class is one of .*; not 'files'"),
        ({"write": {"class": "file"}}, "write: waits is one of .*; not None"),
        ({"write": FILES["files"]["fsync"] | {"arguments": ["a b"]}}, "write: arguments are at most 10"),
        ({"write": FILES["files"]["fsync"] | {"arguments": ["a"] * 11}}, "write: arguments are at most"),
    ],
)
def test_what_the_table_of_another_source_may_not_say(rows: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TableError, match=complaint):
        source_of({"files": rows})
    with pytest.raises(TableError, match="a source has one table, named like it; not a, b"):
        source_of({"a": rows, "b": {}})


def test_a_fault_is_one_line_of_the_build(tmp_path: Path) -> None:
    source = tmp_path / "functions.toml"
    source.write_text(
        SOURCE.read_text().replace('Barrier = { class = "collective"', 'Barrier = { class = "?"')
    )
    done = subprocess.run(
        [sys.executable, ROOT / "mpi" / "generate.py", source, tmp_path / "out"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.fullmatch(r"functions.toml: Barrier: class is one of [^\n]*; not '\?'\n", done.stderr)
    assert not (tmp_path / "out").exists()
