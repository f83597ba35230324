"""docs/json.md names each field of the documents that verbs print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from on_mpi import on_openmpi
from verbs import ask

DOCUMENT = re.compile(r"^## `(tare\.\w+)/1`\n(.*?)(?=^#+ |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(DOCUMENT.findall((ROOT / "docs" / "json.md").read_text("utf-8")))
PLACE = ("function", "file", "line", "caller", "object", "offset", "tail_call")
VERBS = [
    "info", "explain", "where", "phases", "events --paths", "samples", "diff --limit 5",
    *(f"profile --by {keys}" for keys in (
        "site", "size", "communicator", "rank", "peer", "phase", "function", "line", "function,rank"
    )),
]  # fmt: skip


def named(section: str) -> set[str]:
    """What the section says in backquotes; `cause_file`, … stands for all that tells a place."""
    beginnings = re.findall(r"`(\w+_)file`[^|]*…", section)
    return {*re.findall(r"`(\w+)`", section), *(first + last for first in beginnings for last in PLACE)}


def fields(value: Any, within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for name, content in value.items():
            yield (*within, name)
            # Other pages give the names of these.
            yield from fields(content, (*within, name)) if name != "arguments" else ()
    elif isinstance(value, list):
        for each in value:
            yield from fields(each, within)


def unnamed(document: dict[str, Any]) -> set[str]:
    """Its section names those of the document itself; those within, perhaps a section that it refers to."""
    section = SECTIONS[document["schema"].removesuffix("/1")]
    referred = [SECTIONS.get(other, "") for other in re.findall(r"`(tare\.\w+)/1`", section)]
    own = named(section) | {"schema", "run"}
    others = own.union(*map(named, referred))
    return {
        ".".join(path) for path in fields(document) if path[-1] not in (own if len(path) == 1 else others)
    }


@on_openmpi
@pytest.mark.parametrize(
    "options", ["--trace --budget 5% --with stacks", "--sample random:1 --monitor=100ms --with files"]
)
def test_each_field_is_named(mpi: MpiEnvironment, tare: Path, tmp_path: Path, options: str) -> None:
    ring = compile_c(mpi, [PROGRAMS / "ring.c"], tmp_path / "ring")
    program: list[Path | str] = [ring, "2000", tmp_path / "started"]
    runs = [measure(tare, mpi, 2, program, tmp_path / name, *options.split()).directory for name in "ab"]
    found: dict[str, set[str]] = {}
    for verb, *words in map(str.split, VERBS):
        of = [runs[0], "vs", runs[1]] if verb == "diff" else runs[:1]
        done = ask(tare, verb, *of, *words, "--json")
        if done.stdout:
            document = json.loads(done.stdout)
            found.setdefault(document["schema"], set()).update(unnamed(document))
    assert len(found) >= 6
    assert {schema: names for schema, names in found.items() if names} == {}
