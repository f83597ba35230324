"""The code in the pages of the documentation.

A block is fenced, and its language says what it is: what runs (`sh`), what a terminal shows (`console`, its
commands behind `$`), a program or a part of one, data, or `text`, which is neither. A block that cannot be
run where it is tested stands below a comment that says why: <!-- not run: REASON -->
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from environments import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Snippet:
    page: Path
    line: int  # of its first line
    language: str
    text: str
    why_not_run: str | None

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.line}"

    def commands(self) -> list[str]:
        """The commands that a terminal shows."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text("utf-8")
    return [
        Snippet(page, text.count("\n", 0, at.start("text")) + 1, at["language"], at["text"], at["why"])
        for at in _BLOCK.finditer(text)
    ]


def indented_code(page: Path) -> list[int]:
    """Lines that begin a block which is not fenced, so that nothing says what it is."""
    unfenced = _BLOCK.sub(lambda at: re.sub(r"[^\n]", "", at[0]), page.read_text("utf-8"))
    return [unfenced.count("\n", 0, at.end()) + 1 for at in re.finditer(r"\n\n(?= {4}\S)", unfenced)]
