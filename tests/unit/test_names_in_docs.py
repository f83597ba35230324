"""Whoever follows several pages in one directory finds the names free that a page makes."""

from __future__ import annotations

import re
from collections import defaultdict

from snippets import PAGES, snippets


def test_no_two_pages_make_files_of_one_name() -> None:
    made: dict[str, set[str]] = defaultdict(set)
    for page in PAGES:
        for snippet in snippets(page):
            if snippet.language == "sh":
                for name in re.findall(r" -o (\S+)", snippet.text):
                    made[name].add(page.name)
    assert {"uneven", "first"} <= set(made)
    # The id of a job, and the time, make them different.
    assert {name: pages for name, pages in made.items() if len(pages) > 1 and "%" not in name} == {}
