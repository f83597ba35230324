"""verbs_page.py: prints the page of the documentation that has the help of every verb."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tare import registry
from tare.options import Group

TARE = Path(sys.executable).with_name("tare")


def verbs() -> Iterator[list[str]]:
    """The words of every verb, those of a group behind their group."""
    for name, entry in registry.entries(registry.VERBS).items():
        verb = entry.load()
        yield [name]
        if isinstance(verb, Group):
            yield from ([name, each] for each in verb.verbs)


def help_of(words: list[str]) -> str:
    """What the verb says of itself."""
    environment = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [TARE, *words, "--help"], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.rstrip()


def main() -> None:
    """Prints the page."""
    print("# Verbs\n\nThis is what every verb says with `--help`.")
    for words in ([], *verbs()):
        title = " ".join(["tare", *words])
        print(f"\n{'##' if len(words) < 2 else '###'} {title}\n\n```text\n{help_of(words)}\n```")


if __name__ == "__main__":
    main()
