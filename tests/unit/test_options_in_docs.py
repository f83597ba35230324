"""Every option that --help shows is named in README.md or on a page of docs/."""

from __future__ import annotations

import re

import pytest
from environments import ROOT
from tare import parser, registry
from tare.options import Group

FILES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
PAGES = "\n".join(page.read_text("utf-8") for page in FILES)
# Pages write -o and -q.
ELSEWHERE = {"--help", "--output", "--quiet"}


def verbs() -> dict[str, parser.Verb]:
    """All verbs by their names, those of groups too."""
    found: dict[str, parser.Verb] = {}
    for name, entry in registry.entries(registry.VERBS).items():
        verb = entry.load()
        if isinstance(verb, Group):
            found |= {f"{name} {of}": each for of, each in verb.verbs.items()}
        else:
            found[name] = verb
    return found


@pytest.mark.parametrize(("prog", "verb"), verbs().items())
def test_options_are_named_on_a_page(prog: str, verb: parser.Verb) -> None:
    shown = parser.of_verb(verb, f"tare {prog}")[0].format_help()
    options = set(re.findall(r"--[a-z][a-z-]+", "\n".join(re.findall(r"^ +-.*", shown, re.MULTILINE))))
    assert {each for each in options - ELSEWHERE if not re.search(rf"{each}\b(?!-)", PAGES)} == set()
