"""What a function means stands in mpi/functions.toml alone: no other code knows functions by their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import ROOT
from tare._functions import TABLE

CPP = [ROOT / "src" / name for name in (
    "reader", "exporters", "importers", "tared", "recorder", "monitor", "library", "bindings",
)]  # fmt: skip
PYTHON = ROOT / "python" / "tare"
# Doctor counts the calls of its own programs.
OWN_PROGRAMS = {"doctor/probes.py"}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
# Functions of other sources than MPI that are called like what everybody does.
WORDS = {"close", "open", "read", "write"}
# As a user of C++ would name one, or test for all of them.
NAMED = re.compile(r"Function::MPI_\w+")


def is_name(text: str) -> bool:
    """A whole text, or the start of names. Sentences for users may contain names."""
    return (
        (text in TABLE and text not in WORDS)
        or (f"MPI_{text}" in TABLE and "_" in text)
        or text in ("MPI_", "PMPI_")
    )


def names_in_cpp(code: str) -> Iterator[str]:
    code = COMMENT.sub("", code)
    yield from (found[1] for found in TEXT.finditer(code) if is_name(found[1]))
    yield from NAMED.findall(code)


def names_in_python(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_name(node.value):
            yield node.value


def production(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".h", ".cpp") and "_test" not in path.stem and "testing" not in path.parts
    ]


@pytest.mark.parametrize("folder", CPP, ids=lambda folder: folder.name)
def test_cpp_knows_no_function_by_its_name(folder: Path) -> None:
    files = production(folder)
    assert files
    found = {path.relative_to(ROOT).as_posix(): [*names_in_cpp(path.read_text("utf-8"))] for path in files}
    assert {path: names for path, names in found.items() if names and "native_test" not in path} == {}


def test_python_knows_no_function_by_its_name() -> None:
    files = {path.relative_to(PYTHON).as_posix(): path for path in PYTHON.rglob("*.py")}
    found = {
        name: [*names_in_python(path.read_text("utf-8"))]
        for name, path in files.items()
        if name not in OWN_PROGRAMS and path.name != "_functions.py"
    }
    assert len(found) > 100
    assert {name: names for name, names in found.items() if names} == {}


def test_names_are_found_where_they_stand() -> None:
    assert [*names_in_cpp('if (name == "MPI_Send") return Function::MPI_Recv;  // not "MPI_Wait"')] == [
        "MPI_Send",
        "Function::MPI_Recv",
    ]
    assert [*names_in_cpp('{"Win_fence", 1}, {"Wait", 2}, name.starts_with("MPI_")')] == ["Win_fence", "MPI_"]
    assert [*names_in_python('"""MPI_Send"""\nis_call = name.startswith("MPI_")\nprint("in MPI_Init")')] == [
        "MPI_Send",
        "MPI_",
    ]
