"""Changes the code in small ways, one at a time, and counts the changes at which a unit test fails.

The changes are made in a copy, build/mutants. Of each folder a random sample is tried, the same one for the
same seed. Those that no test notices are printed: a test is missing, or the code is of no use, or the change
makes no difference.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator, Set
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage.data import CoverageData  # mypy finds bench/coverage.py first

ROOT = Path(__file__).parents[2]
COPY = ROOT / "build" / "mutants"
BUILD = COPY / "build" / "mutants"
# By folder: the target of the unit tests, and which of them are run.
CXX = {
    "src/format": ("format_test", "*"),
    "src/reader/matching": ("reader_test", "*"),
    "src/reader/waits": ("reader_test", "*"),
    "src/recorder/budget": ("recorder_test", "Governor*:CostFactor*:CommonShares*:Spell*"),
}
FOLDERS = [*CXX, "python/tare/analysis"]
TEST_SECONDS = 60

# What stands between blanks is exchanged, in both directions; the others are replaced.
PAIRS = ["== !=", "< <=", "> >=", "< >", "+ -", "* /", "&& ||", "& |", "+= -="]
CHANGES = [(f" {a} ", f" {b} ") for pair in PAIRS for a, b in (pair.split(), reversed(pair.split()))] + [
    ("++", "--"), ("true", "false"), ("false", "true"), ("std::min", "std::max"), ("std::max", "std::min"),
    ("continue;", "break;"), ("if (", "if (false && "), ("if (", "if (true || "), ("if (!", "if ("),
]  # fmt: skip
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
STATEMENT = re.compile(r"( +)(?!return|using)[\w.>:\[\]-]+(\(.*\)| [-+|&]?= .*);$")
NO_CODE = re.compile(r"\s*(//|#|static_assert|template|using|\[\[)")


class Change(NamedTuple):
    file: Path
    line: int
    column: int
    text: Callable[[], str]  # of the whole file
    reached: Set[int] = (
        frozenset()
    )  # of Python: lines, one of which a test reaches that may notice the change


def cxx_changes(file: Path) -> Iterator[Change]:
    lines = file.read_text().splitlines(keepends=True)

    def changed(i: int, begin: int, end: int, new: str) -> str:
        return "".join([*lines[:i], lines[i][:begin], new, lines[i][end:], *lines[i + 1 :]])

    for i, line in enumerate(lines):
        if NO_CODE.match(line):
            continue
        code = line.partition(" //")[0].rstrip("\n")
        code = re.sub(r'"(\\.|[^"\\])*"', lambda text: "\0" * len(text[0]), code)
        spans = [(*at.span(), new) for old, new in CHANGES for at in re.finditer(re.escape(old), code)]
        spans += [(*at.span(), str(int(at[0]) + 1)) for at in NUMBER.finditer(code)]
        spans += [(*at.span(), at[1] + ";") for at in STATEMENT.finditer(code)]
        for span in spans:
            yield Change(file, i + 1, span[0], partial(changed, i, *span))


def python_changes(file: Path) -> Iterator[Change]:
    text = file.read_text()
    nodes = list(ast_nodes(get_ast(text)))
    for name in operator_names():
        if "BitOr" in name or get_operator(name).arguments():  # hints of types have `|`
            continue
        operator = get_operator(name)()
        places = [(node, begin) for node in nodes for begin, _ in operator.mutation_positions(node)]
        for number, (node, (line, column)) in enumerate(places):
            while node.parent and not node.type.endswith(("stmt", "def")):
                node = node.parent
            change = partial(mutate_code, text, operator, number)
            yield Change(file, line, column, change, {line, node.start_pos[0]})


def run(command: list[str], seconds: float | None = None, **environment: str) -> int:
    """The exit code; -1 if the command takes longer."""
    with subprocess.Popen(
        command, cwd=COPY, env=os.environ | environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return -1


class CxxTests:
    def __init__(self, folder: str) -> None:
        target, cases = CXX[folder]
        self.build = ["cmake", "--build", str(BUILD), "-j1", "--target", target]
        program = BUILD / "src" / folder.split("/")[1] / target
        self.test = [str(program), "--gtest_fail_fast", f"--gtest_filter={cases}"]
        if run(["cmake", "--preset", "mutants"]) or run(self.build) or run(self.test):
            raise SystemExit(f"tests/support/mutants.py: {target} does not pass as it is")

    def notice(self, _: Change) -> bool | None:
        """None: it does not compile."""
        return None if run(self.build) else run(self.test, TEST_SECONDS) != 0


class PythonTests:
    def __init__(self, folder: str) -> None:
        """Runs all tests once, so that it is known which of them reach a line."""
        if self.run(["tests/unit", "--cov", folder, "--cov-context", "test", "--cov-report", ""]):
            raise SystemExit("tests/support/mutants.py: tests/unit does not pass as it is")
        self.reached = CoverageData(str(COPY / ".coverage"))
        self.reached.read()

    @staticmethod
    def run(tests: list[str], seconds: float | None = None) -> int:
        pytest = [
            str(ROOT / ".venv/bin/python"),
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        return run(pytest, seconds, PYTHONPATH=str(COPY / "python"), PYTHONDONTWRITEBYTECODE="1")

    def notice(self, change: Change) -> bool:
        by_line = self.reached.contexts_by_lineno(str(change.file))
        contexts = {name.partition("|")[0] for line in change.reached for name in by_line.get(line, [])}
        # Without a name: an import.
        tests = ["tests/unit"] if "" in contexts else sorted({name.partition("[")[0] for name in contexts})
        return bool(tests) and self.run(tests, 5 * TEST_SECONDS) != 0


def copy_tree() -> None:
    """Files that are equal keep their times, so that they are not built again."""
    for folder in ("python", "tests"):
        shutil.rmtree(COPY / folder, ignore_errors=True)
    listed = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    # What the build adds to the package, and the sources over it.
    installed = next((ROOT / ".venv/lib").glob("python3*/site-packages")) / "tare"
    files = {
        COPY / "python/tare" / file.relative_to(installed): file
        for file in installed.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    } | {COPY / name: ROOT / name for name in names if (ROOT / name).is_file()}
    for target, source in files.items():
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    if not (COPY / ".venv").exists():
        (COPY / ".venv").symlink_to(ROOT / ".venv")


def measure(folder: str, number: int, seed: int) -> str:
    """Tries `number` changes of the folder. The result is a line of text."""
    tests = CxxTests(folder) if folder in CXX else PythonTests(folder)
    changes_of, pattern = (cxx_changes, "*.[ch]*") if folder in CXX else (python_changes, "*.py")
    places: dict[tuple[Path, int, int], list[Change]] = {}
    for file in sorted((COPY / folder).rglob(pattern)):
        if not file.stem.endswith("_test"):
            for change in changes_of(file):
                places.setdefault((change.file, change.line, change.column), []).append(change)
    chance = random.Random(seed)
    chosen = [chance.choice(places[at]) for at in chance.sample(sorted(places), min(number, len(places)))]
    tried = noticed = 0
    for change in sorted(chosen):
        before, after = change.file.read_text(), change.text()
        change.file.write_text(after)
        try:
            result = tests.notice(change)
        finally:
            change.file.write_text(before)
        tried += result is not None
        noticed += result is True
        if result is False:
            line, new = (text.splitlines()[change.line - 1].strip() for text in (before, after))
            print(f"{change.file.relative_to(COPY)}:{change.line}: {line}\n    passes as: {new}", flush=True)
    return f"{folder}: {noticed} of {tried} changes are noticed ({noticed / max(tried, 1):.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=60, help="changes of each folder (default: 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"default: {', '.join(FOLDERS)}")
    options = parser.parse_args()
    os.nice(15)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a loop that no longer ends may allocate
    copy_tree()
    results = [measure(folder, options.number, options.seed) for folder in options.folders or FOLDERS]
    print("", *results, sep="\n")


if __name__ == "__main__":
    main()
