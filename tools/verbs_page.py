"""verbs_page.py: prints the page of the documentation that has the help of every verb."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from manual import command

TARE = Path(sys.executable).with_name("tare")


def help_of(words: list[str]) -> str:
    """What the command says of itself."""
    environment = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [TARE, *words, "--help"], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.rstrip()


def main() -> None:
    """Prints the page."""
    print("# Verbs\n\nThis is what every verb says with `--help`.")
    for each in command().all():
        words = each.prog.split()[1:]
        print(f"\n{'##' if len(words) < 2 else '###'} {each.prog}\n\n```text\n{help_of(words)}\n```")


if __name__ == "__main__":
    main()
