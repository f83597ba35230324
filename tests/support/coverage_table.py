"""Prints which share of the lines of each folder was reached: of the JSON of gcovr and of coverage.py."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path, PurePath


def main(cxx: str, python: str) -> None:
    files = [
        (file["filename"], file["line_covered"], file["line_total"])
        for file in json.loads(Path(cxx).read_text())["files"]
    ] + [
        (name, file["summary"]["covered_lines"], file["summary"]["num_statements"])
        for name, file in json.loads(Path(python).read_text())["files"].items()
    ]
    reached: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for name, covered, total in files:
        parts = PurePath(name).parent.parts
        for folder in {"/".join(parts[:3]), parts[0]}:
            reached[folder] += covered
            lines[folder] += total
    print(f"{'folder':32} {'lines':>8} {'reached':>8}")
    for folder in sorted(lines):
        if lines[folder]:
            print(f"{folder:32} {lines[folder]:8,} {reached[folder] / lines[folder]:8.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
