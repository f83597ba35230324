"""ARCHITECTURE.md names files and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from environments import ROOT

PLACES = (
    "src",
    "python",
    "mpi",
    "include",
    "fortran",
    "tests",
    "docs",
    "bench",
    "fuzz",
    "studies",
    "workloads",
)
FILES = {
    path.relative_to(ROOT).as_posix()
    for place in PLACES
    for path in (ROOT / place).rglob("*")
    if "__pycache__" not in path.parts
} | {path.name for path in ROOT.iterdir()}
ENDINGS = (".cpp", ".h", ".hpp", ".c", ".S", ".py", ".md", ".toml", ".js", ".f90")
# Names of files that stand for many, or that a run has.
PATTERNS = re.compile(r"VERB|\*|<|>|meta\.json")


def named(text: str) -> list[str]:
    """What the page calls a file or a folder, but for the section on what does not exist yet."""
    before, _, after = text.partition("## Places for planned features")
    present = before + after[after.index("\n## ") :]
    words = re.findall(r"`([\w./*<>-]+)`", present)
    return [word for word in words if word.endswith((*ENDINGS, "/")) and not PATTERNS.search(word)]


def exists(name: str) -> bool:
    """As a path from the root, or the end of one: the page names files as its context makes clear."""
    return any(f"/{path}".endswith(f"/{name.rstrip('/')}") for path in FILES)


PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def test_the_page_names_places() -> None:
    assert len(named(PAGE)) > 100


@pytest.mark.parametrize("name", sorted(set(named(PAGE))))
def test_what_is_named_exists(name: str) -> None:
    assert exists(name), f"ARCHITECTURE.md names {name}, which is not there"


def test_a_missing_file_is_noticed() -> None:
    assert not exists("src/reader/none.cpp") and not exists(str(Path("matcher") / "x.h"))
