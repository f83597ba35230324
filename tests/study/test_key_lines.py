"""The lines of the keys of TOML texts, which tell where an error is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT
from tare.lab import study
from tare.lab.study.key_lines import KeyPath, key_lines

# Q and S stand for the quotes of texts of several lines.
TRICKY = r"""
# [no.table]
top = 1 # [no.table]
"quoted = [key]" = 'a # b' # c
[a . "b.c"]   # d
x.y = 2
x . 'z' = Q
[no.table]
z = 3 \Q
Q""
empty = QQ
after = S
no = 1S''
when = 1979-05-27 07:32:00
list = [ # ]
  [1, 2],
  "]", ']',
  { k = [3,
     4], "l" = { m = "}" } },
]
[[t]]
u = {}
[[t.v]]
w = 1
[[t]]
[[t.v]]
[[t.v]]
w = 2
[t.other]
s = "\u00e9\""
s2 = 1
""".replace("Q", 3 * '"').replace("S", 3 * "'")
LINES: dict[KeyPath, int] = {
    ("top",): 3,
    ("quoted = [key]",): 4,
    ("a",): 5,
    ("a", "b.c"): 5,
    ("a", "b.c", "x"): 6,
    ("a", "b.c", "x", "y"): 6,
    ("a", "b.c", "x", "z"): 7,
    ("a", "b.c", "empty"): 11,
    ("a", "b.c", "after"): 12,
    ("a", "b.c", "when"): 14,
    ("a", "b.c", "list"): 15,
    ("a", "b.c", "list", 0): 16,
    ("a", "b.c", "list", 0, 1): 16,
    ("a", "b.c", "list", 2): 17,
    ("a", "b.c", "list", 3, "k"): 18,
    ("a", "b.c", "list", 3, "k", 1): 19,
    ("a", "b.c", "list", 3, "l", "m"): 19,
    ("t",): 21,
    ("t", 0): 21,
    ("t", 0, "v", 0, "w"): 24,
    ("t", 1): 25,
    ("t", 1, "v", 0): 26,
    ("t", 1, "v", 1, "w"): 28,
    ("t", 1, "other", "s2"): 31,
}


def paths(content: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The paths of all that a document has."""
    steps = content.items() if isinstance(content, dict) else enumerate(content)
    for step, value in steps:
        yield (*path, step)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, step))


def test_keys_are_found_whatever_texts_hold() -> None:
    found = key_lines(TRICKY)
    assert set(found) == set(paths(tomllib.loads(TRICKY)))
    assert {path: found[path] for path in LINES} == LINES


SHIPPED = Path(study.__path__[0])
FILES = [SHIPPED / "template.toml", *(SHIPPED / "tools").glob("*.toml"), *(ROOT / "studies").glob("*.toml")]


@pytest.mark.parametrize("file", sorted(FILES), ids=lambda file: file.stem)
def test_each_key_of_what_is_shipped_stands_in_its_line(file: Path) -> None:
    text = file.read_text("utf-8")
    lines = text.split("\n")
    found = key_lines(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    for path, line in found.items():
        assert str(path[-1]) in lines[line - 1] or isinstance(path[-1], int)


@pytest.mark.parametrize("text", ["a = 1\nb = [", "a = 1\n]", "a = 1\n[b", "a = 1\nb = {c", "a = 1\n= 2"])
def test_what_cannot_be_followed_has_no_lines(text: str) -> None:
    assert key_lines(text)[("a",)] == 1
