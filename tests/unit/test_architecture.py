"""ARCHITECTURE.md, and the README.md beside the code, are short and name what exists."""

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
    "tools",
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
SOURCES = (".cpp", ".h", ".hpp", ".c", ".S", ".py", ".toml", ".js", ".f90")
WORDS = {
    word
    for file in FILES
    if file.endswith(SOURCES) and "/vendor/" not in file and (ROOT / file).is_file()
    for word in re.findall(r"\w+", (ROOT / file).read_text("utf-8", "replace"))
}

ARCHITECTURE = ROOT / "ARCHITECTURE.md"
PAGES = [
    ARCHITECTURE,
    *sorted(
        page
        for place in ("src", "python")
        for page in (ROOT / place).rglob("README.md")
        if "vendor" not in page.parts
    ),
]
MAX_LINES = {ARCHITECTURE: 250}
MAX_LINES_BESIDE_THE_CODE = 150


def named(text: str) -> list[str]:
    """What a page calls a file or a folder."""
    words = re.findall(r"`([\w./*<>-]+)`", text)
    return [word for word in words if word.endswith((*ENDINGS, "/")) and not PATTERNS.search(word)]


def identifiers(text: str) -> list[str]:
    """Names of types, functions and variables: with a capital inside, an underscore, or a scope."""
    words = re.findall(r"`(?:enum )?([A-Za-z_][\w:]*)(?:\(\))?`", text)
    return [word for word in words if re.search(r"\w_|::|[a-z][A-Z]", word)]


def exists(name: str) -> bool:
    """Whether it is a path from the root, or the end of one: a page names files as context makes clear."""
    return any(f"/{path}".endswith(f"/{name.rstrip('/')}") for path in FILES)


def of_all(find: object) -> list[object]:
    assert callable(find)
    found = {(page, name) for page in PAGES for name in find(page.read_text("utf-8"))}
    return [pytest.param(*each, id=f"{each[0].relative_to(ROOT)}: {each[1]}") for each in sorted(found)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_short(page: Path) -> None:
    assert len(page.read_text("utf-8").splitlines()) <= MAX_LINES.get(page, MAX_LINES_BESIDE_THE_CODE)


def test_the_pages_name_places() -> None:
    assert len(of_all(named)) > 150 and len(of_all(identifiers)) > 30


@pytest.mark.parametrize(("page", "name"), of_all(named))
def test_what_is_named_exists(page: Path, name: str) -> None:
    assert exists(name), f"{page} names {name}, which is not there"


@pytest.mark.parametrize(("page", "name"), of_all(identifiers))
def test_what_is_named_is_in_the_code(page: Path, name: str) -> None:
    assert set(name.split("::")) <= WORDS, f"{page} names {name}, which is not in the code"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        assert link.startswith("http") or (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_map_leads_to_a_page_beside_the_code(page: Path) -> None:
    assert f"({page.relative_to(ROOT).as_posix()})" in ARCHITECTURE.read_text("utf-8")


# What a page says, the folder with the code that decides it, and what stands there.
NUMBERS = [
    ("src/recorder/README.md", "| 2,048 (", "src/recorder", "rows_of_sites = 2048;"),
    ("src/recorder/README.md", "first 64 families", "src/recorder", "first_families = 64;"),
    ("src/recorder/README.md", "| 2,047; 62.", "src/format", "peer_capacity = 2048;"),
    ("src/recorder/README.md", "| 2,047; 62.", "src/format", "phase_capacity = 64;"),
    ("src/recorder/README.md", "| 512 KiB, ", "src/recorder", "definition_bytes = 512 * 1024;"),
    ("src/recorder/README.md", "| 1,024 |", "src/recorder", "names = 1024;"),
    ("src/recorder/README.md", "first 32 calls", "src/recorder", "first_calls = 32;"),
    ("src/recorder/README.md", "one in 256", "src/recorder", "mean_gap = 256;"),
    ("src/recorder/README.md", "has eight sub", "src/recorder", " = 8 * own_sub_buffer;"),
    ("src/recorder/README.md", "a budget: two)", "src/recorder", " = 2 * own_sub_buffer;"),
    ("src/recorder/README.md", "2 KiB ahead", "src/format", "records_ahead = 2048;"),
    ("src/mpi/README.md", "| 14,335 |", "src/format", "request_capacity = 14336;"),
    ("src/mpi/README.md", "4,096 at the", "src/mpi", "capacity = 4096;"),
    ("src/mpi/README.md", "profile, 16 that", "src/mpi", "of_their_own = 16;"),
    ("src/mpi/README.md", "1,024 each (64 KiB", "src/mpi", "windows = 1024;"),
    ("src/mpi/README.md", "1,024 each (64 KiB", "src/mpi", "files = 1024;"),
    ("src/mpi/README.md", "24,576", "src/stack", "Numbers<32768> sites;"),
    ("src/mpi/sampling/README.md", "last 4,096", "src/mpi", "capacity = 1U << 12;"),
    ("src/mpi/sampling/README.md", "or 32 messages", "src/mpi", "listen_every = 32;"),
    ("src/stack/README.md", "has 4 frames", "src/stack", "stack_frames = 4;"),
    ("src/tared/README.md", "up to 10 ms", "src/recorder", "patience_ns = 10'000'000;"),
    ("src/reader/README.md", "at most 40,000", "python/tare/page", "MAX_DRAWN = 40_000"),
]


@pytest.mark.parametrize(("page", "words", "folder", "code"), NUMBERS)
def test_numbers_are_those_of_the_code(page: str, words: str, folder: str, code: str) -> None:
    assert words in (ROOT / page).read_text("utf-8")
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in SOURCES]
    assert any(code in path.read_text("utf-8") for path in files), f"{page}: '{words}' is true no more"


def test_what_is_missing_is_noticed() -> None:
    assert not exists("src/reader/none.cpp") and not exists(str(Path("matcher") / "x.h"))
    assert identifiers("`Location::commit` and `mode`, `commit_any`") == ["Location::commit", "commit_any"]
