"""Folders and units under src/ include one another in one direction only, as ARCHITECTURE.md draws it."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from environments import ROOT

BELOW = {
    "arch": {"mpi"},  # only the assembly: it is the part of src/mpi that is written once for each processor
    "format": set(),
    "recorder": {"format"},
    "monitor": {"format", "recorder"},
    "stack": {"format", "recorder"},
    "mpi": {"format", "recorder", "monitor", "stack"},
    "files": {"format", "recorder", "stack"},
    "stacks": {"format", "recorder", "stack"},
    "openmp": {"format", "recorder", "stack"},
    "preload": {"format", "recorder", "monitor", "stack", "mpi", "files", "openmp", "stacks"},
    "timing": {"format", "mpi"},
    "unwritten": set(),
    "witness": set(),
    "tared": {"format", "recorder", "monitor"},
    "reader": {"format"},
    "keeper": {"format", "recorder", "reader"},
    "library": {"format", "reader"},
    "exporters": {"format", "reader"},
    "importers": {"format", "reader"},
    "bindings": {"format", "reader", "exporters", "importers"},
}
# The folders of the reader, the lowest first: each includes from itself and from those before it.
READER_FOLDERS = [
    "store", "symbols", "model", "profile", "run", "events", "matching", "retiming", "replay", "waits",
    "timeline", "structure", "tables", "testing",
]  # fmt: skip
# The folders of tared, the same.
TARED_FOLDERS = ["filters", "drain", "tree", "boi", "monitor", "sweetspot"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"(\w+)/', re.MULTILINE)


def includes(folder: Path) -> set[tuple[str, str]]:
    """Pairs of a file and the folder it includes from."""
    return {
        (str(file.relative_to(ROOT)), name)
        for file in folder.rglob("*")
        if file.suffix in {".h", ".cpp", ".c", ".S"}
        for name in INCLUDE.findall(file.read_text())
        if (ROOT / "src" / name).is_dir()
    }


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir()))
def test_a_folder_includes_only_what_lies_below(folder: str) -> None:
    assert folder in BELOW, f"src/{folder} has no place in tests/unit/test_layers.py"
    upward = {
        (file, name) for file, name in includes(ROOT / "src" / folder) if name not in BELOW[folder] | {folder}
    }
    assert not upward


def test_the_map_draws_these_layers() -> None:
    rows = re.findall(
        r"^\| \[?`src/(\w+)/`.*\|([^|]*)\|$", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M
    )
    assert {folder: set(re.findall(r"`(\w+)`", may_use)) for folder, may_use in rows} == BELOW


def test_only_the_folder_of_a_processor_depends_on_it() -> None:
    macro = re.compile(r"__(x86_64|aarch64|amd64|arm64|SSE\w*|AVX\w*|ARM\w*)__")
    files = [file for file in (ROOT / "src").rglob("*") if file.suffix in {".h", ".cpp", ".c", ".S"}]
    assert len(files) > 500
    assert not [file for file in files if macro.search(file.read_text())]


def test_all_processors_have_the_same_files() -> None:
    x86, arm = (
        {str(file.relative_to(processor)) for file in processor.rglob("*.*")}
        for processor in (ROOT / "src" / "arch" / name for name in ("x86_64", "aarch64"))
    )
    assert x86 == arm


def test_headers_of_a_processor_include_nothing_of_tare() -> None:
    headers = list((ROOT / "src" / "arch").rglob("*.h"))
    assert headers
    assert not [file for file in headers if re.search(r'#\s*include\s+"', file.read_text())]


def test_a_folder_of_the_reader_includes_only_folders_below_it() -> None:
    folders = {path.name for path in (ROOT / "src" / "reader").iterdir() if path.is_dir()}
    assert folders == set(READER_FOLDERS)
    upward = [
        (str(file.relative_to(ROOT)), name)
        for order, folder in enumerate(READER_FOLDERS)
        for file in (ROOT / "src" / "reader" / folder).iterdir()
        if not file.stem.endswith("_test")
        for name in re.findall(r'"reader/(\w+)/', file.read_text())
        if name not in READER_FOLDERS[: order + 1]
    ]
    assert not upward


def test_a_folder_of_tared_includes_only_folders_below_it() -> None:
    upward = [
        (str(file.relative_to(ROOT)), name)
        for order, folder in enumerate(TARED_FOLDERS)
        for file in (ROOT / "src" / "tared" / folder).rglob("*.[ch]*")
        for name in re.findall(r'"tared/(\w+)/', file.read_text())
        if name not in TARED_FOLDERS[: order + 1]
    ]
    assert not upward


def loop(files: dict[str, str]) -> list[str]:
    """Units that include one another in a circle. A unit is X.h and X.cpp together."""
    unit = {file: file.rpartition(".")[0] for file in files}
    below: dict[str, set[str]] = {name: set() for name in unit.values()}
    for file, text in files.items():
        found = {
            unit[name]
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)
            if name in unit
        }
        below[unit[file]] |= found - {unit[file]}
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_no_units_include_one_another_in_a_loop() -> None:
    src = ROOT / "src"
    files = {
        file.relative_to(src).as_posix(): file.read_text()
        for file in src.rglob("*")
        if file.suffix in {".h", ".cpp", ".c"}
    }
    assert len(files) > 500
    assert not loop(files)


def test_a_loop_of_units_is_found() -> None:
    one_way = {"a/x.h": "", "a/x.cpp": '#include "a/x.h"\n#include "b/y.h"', "b/y.h": ""}
    assert loop(one_way) == []
    assert set(loop(one_way | {"b/y.cpp": '#include "b/z.h"', "b/z.h": '  #  include "a/x.h"'})) == {
        "a/x",
        "b/y",
        "b/z",
    }


def test_includes_are_found() -> None:
    assert any(name == "format" for _, name in includes(ROOT / "src" / "recorder"))
