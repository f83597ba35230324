"""A docstring is a sentence or names a thing: it does not begin with a preposition or a subordinate clause.

"Of a function; None if it is not known" leaves the reader to find out what is returned.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator

from environments import ROOT

# A phrase that begins with one of these is no subject. Whole sentences can be turned.
FIRST_WORD = re.compile(
    r"(about|above|across|after|against|along|among|around|as|at|because|before|behind|below|beneath|beside|between"
    r"|beyond|by|despite|down|during|except|for|from|if|in|inside|into|like|near|of|off|on|onto|out|outside|over|per"
    r"|since|than|through|throughout|till|to|towards?|under|unless|until|up|upon|via|when|where|while|with|within"
    r"|without)\b",
    re.IGNORECASE,
)


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Lines and texts."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found = ast.get_docstring(node)
            if found:
                yield node.body[0].lineno, found


def begins_badly(docstring: str) -> bool:
    """Whether the first word is one of FIRST_WORD."""
    return FIRST_WORD.match(docstring) is not None


def test_docstrings_begin_with_their_subject_or_verb() -> None:
    files = subprocess.check_output(["git", "ls-files", "*.py", "*.pyi"], cwd=ROOT, text=True).split()
    assert len(files) > 400
    bad = [
        f"{file}:{line}: {docstring.splitlines()[0]}"
        for file in files
        if (ROOT / file).is_file()
        for line, docstring in docstrings((ROOT / file).read_text("utf-8"))
        if begins_badly(docstring)
    ]
    assert not bad, "\n".join(bad)


def test_a_preposition_is_noticed() -> None:
    assert begins_badly("Of a function; None if it is not known.") and begins_badly("In seconds.")
    assert not begins_badly("The meaning of a function.") and not begins_badly("Returns it.")
    assert not begins_badly("`tare run` in a container.")
