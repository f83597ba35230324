"""Changes the code in small ways, one at a time, and counts the changes at which a unit test fails.

The changes are made in a copy, build/mutants. Of each folder a random sample is tried, the same one for the
same seed. Those that no test notices are printed: a test is missing, or the code is of no use, or the change
makes no difference.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage.data import CoverageData  # mypy finds bench/coverage.py first

ROOT = Path(__file__).parents[2]
COPY = ROOT / "build" / "mutants"
BUILD = COPY / "build" / "release"
# By folder: the target of the unit tests, and which of them are run.
CXX = {
    "src/format": ("format_test", "*"),
    "src/reader/matching": (
        "reader_test",
        "Match*:Channels*:Posted*:OpenReq*:CallRole*:Wait*:Replay*:Cl*:Comp*",
    ),
    "src/reader/waits": ("reader_test", "Wait*:Crit*"),
    "src/recorder/budget": ("recorder_test", "Governor*:CostFactor*:CommonShares*:Spell*"),
}
FOLDERS = [*CXX, "python/tare/analysis"]
CPU_SECONDS, SECONDS = "30", 600  # of one run of the tests

# What stands between blanks is exchanged, in both directions; the others are replaced.
PAIRS = ["== !=", "< <=", "> >=", "< >", "+ -", "* /", "&& ||", "& |", "+= -="]
CHANGES = [(f" {a} ", f" {b} ") for pair in PAIRS for a, b in (pair.split(), reversed(pair.split()))] + [
    ("++", "--"), ("true", "false"), ("false", "true"), ("std::min", "std::max"), ("std::max", "std::min"),
]  # fmt: skip
NUMBER = re.compile(r"(?<![\w.'])\d+(?:\.\d+)?(?![\w.'])")
# Expressions that a line of C++ holds whole: of a condition its begin, else the last group.
CONDITION = re.compile(r"\b(?:if|while) \(")
BOUND = re.compile(r"\bfor \([^;]*; ([^;]*);")
VALUE = re.compile(r"(?:\breturn|[\w>&*] [*&]?\w+ =) ([^{;][^;]*);")
STATEMENT = re.compile(r"^ +((?!return|using|delete|throw)[\w.>:\[\]-]+(?:\(.*\)| [-+|&]?= .*));$")
NO_CODE = re.compile(r"\s*(//|#|static_assert|template|using|friend|\[\[)|.* = (default|delete);")
# All changes of C++ are compiled at once. The environment says which of them is made.
SWITCH = """#pragma once
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wtype-limits"
#include <cstdlib>
#include <type_traits>
inline int chosen_change() noexcept {
  static const int number = std::atoi(std::getenv("TARE_CHANGE") ? std::getenv("TARE_CHANGE") : "0");
  return number;
}
constexpr bool is_changed(int number) noexcept {
  return !std::is_constant_evaluated() && chosen_change() == number;
}
"""


def run(command: list[str], seconds: float | None = None, **environment: str) -> int:
    """The exit code; -1 if the command takes longer. The output is in build.log."""
    with (COPY / "build.log").open("w") as log, subprocess.Popen(
        command, cwd=COPY, env=os.environ | environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return -1


def expressions(code: str) -> Iterator[tuple[int, int, str]]:
    """Begin and end of each in a line, and its type, if that is known."""
    for found in CONDITION.finditer(code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        if not depth and not re.search(r"[;\0{]| = ", code[found.end() : end]):
            yield found.end(), end - 1, "bool"
    for pattern, kind in (BOUND, "bool"), (VALUE, ""), (STATEMENT, "void"):
        for found in pattern.finditer(code):
            outside, before = found[1], ""
            while outside != before:
                outside, before = re.sub(r"[(\[{][^()\[\]{}]*[)\]}]", "", outside), outside
            if not re.search(r"[,()\[\]{}]", outside):
                yield *found.span(1), kind


def cxx_change(line: str, number: int, chance: random.Random) -> tuple[str, str] | None:
    """A changed line, and the line with a switch for the change."""
    if NO_CODE.match(line):
        return None
    code = re.sub(r'"(\\.|[^"\\])*"', lambda text: "\0" * len(text[0]), line.partition(" //")[0])
    found = []
    for begin, end, kind in expressions(code):
        text = line[begin:end]
        spans = [(at.span(), new) for old, new in CHANGES for at in re.finditer(re.escape(old), code)]
        spans += [(at.span(), f"({at[0]} + 1)") for at in NUMBER.finditer(code)]
        changed = [line[begin:a] + new + line[b:end] for (a, b), new in spans if begin <= a and b <= end]
        changed += {"bool": ["false", "true"], "void": ["0"]}.get(kind, [])
        # A constant has to be a variable for that.
        head = re.sub(r"\bconstexpr (?=[^(]* = $)", "const ", line[:begin])
        for new in changed:
            switch = f"is_changed({number}) ? {kind}({new}) : {kind}({text})"
            found.append((line[:begin] + new + line[end:], head + switch + line[end:]))
    return chance.choice(found) if found else None


def measure_cxx(folder: str, number: int, chance: random.Random) -> tuple[int, int]:
    target, cases = CXX[folder]
    files = [file for file in sorted((COPY / folder).rglob("*.[ch]*")) if not file.stem.endswith("_test")]
    lines = {file: file.read_text().splitlines() for file in files}
    places = [(file, i) for file in files for i in range(len(lines[file]))]
    changes: dict[tuple[Path, int], tuple[int, str, str]] = {}
    for file, i in chance.sample(places, len(places)):
        if len(changes) < number and (change := cxx_change(lines[file][i], len(changes) + 1, chance)):
            changes[file, i] = (len(changes) + 1, *change)
    (COPY / "src/is_changed.h").write_text(SWITCH)
    run(["cmake", "--preset", "developer", "-DTARE_BINDINGS=OFF", "-DTARE_WORKLOADS=OFF"])
    while True:
        for file in files:
            switched = [changes.get((file, i), (0, "", line))[2] for i, line in enumerate(lines[file])]
            text = "\n".join(['#include "is_changed.h"', "#line 1", *switched, ""])
            if text != file.read_text():
                file.write_text(text)
        if run(["cmake", "--build", str(BUILD), "-j1", "--target", target, "--", "-k0"]) == 0:
            break
        # Changes that do not compile are no changes.
        log = (COPY / "build.log").read_text()
        named = re.findall(r"(?m)^(\S+?):(\d+):\d+: (?:error|note)", log)
        wrong = changes.keys() & {((BUILD / name).resolve(), int(line) - 1) for name, line in named}
        if not wrong:
            raise SystemExit(f"mutants.py: {target} does not compile:\n{log[-2000:]}")
        for place in wrong:
            del changes[place]
    program = str(BUILD / "src" / folder.split("/")[1] / target)
    test = ["prlimit", f"--cpu={CPU_SECONDS}", program, "--gtest_fail_fast", f"--gtest_filter={cases}"]
    if run(test, SECONDS):
        raise SystemExit(f"mutants.py: {target} fails as it is")
    noticed = 0
    for (file, i), (which, changed, _) in sorted(changes.items()):
        if run(test, SECONDS, TARE_CHANGE=str(which)):
            noticed += 1
        else:
            show(file, i + 1, lines[file][i], changed)
    return noticed, len(changes)


def measure_python(folder: str, number: int, chance: random.Random) -> tuple[int, int]:
    def run_tests(tests: list[str], seconds: int | None = SECONDS) -> int:
        pytest = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "--maxfail=1", *tests]
        return run(pytest, seconds, PYTHONPATH=str(COPY / "python"), PYTHONDONTWRITEBYTECODE="1")

    # All of them once, so that it is known which of them reach a line. Those that fail anyway are left out.
    measured = ["--cov", folder, "--cov-context=test", "--cov-report=", f"--cov-config={os.devnull}"]
    run_tests(["tests/unit", "--maxfail=9", *measured], None)
    cache = COPY / "build/pytest/v/cache/lastfailed"
    failed = json.loads(cache.read_text()) if cache.exists() else {}
    cache.unlink(missing_ok=True)
    data = CoverageData(str(COPY / ".coverage"))
    data.read()
    reached = {file: data.contexts_by_lineno(str(file)) for file in (COPY / folder).rglob("*.py")}
    names = {name for lines in reached.values() for line in lines.values() for name in line if name}
    modules = sorted({name.partition("::")[0] for name in names})
    if not modules:
        raise SystemExit(f"mutants.py: no unit test reaches {folder}")
    deselected = [f"--deselect={name}" for name in failed]
    changes: dict[tuple[Path, int, int], list[tuple[str, int, int]]] = {}
    for file in sorted(reached):
        nodes = list(ast_nodes(get_ast(file.read_text())))
        for name in operator_names():
            if "BitOr" in name or get_operator(name).arguments():  # hints of types have `|`
                continue
            positions = get_operator(name)().mutation_positions
            places = [(node, begin) for node in nodes for begin, _ in positions(node)]
            for occurrence, (node, begin) in enumerate(places):
                while node.parent and not node.type.endswith(("stmt", "def")):
                    node = node.parent
                changes.setdefault((file, *begin), []).append((name, occurrence, node.start_pos[0]))
    noticed = 0
    chosen = chance.sample(sorted(changes), min(number, len(changes)))
    for file, line, column in sorted(chosen):
        name, occurrence, begin = chance.choice(changes[file, line, column])
        contexts = {text.partition("|")[0] for at in (begin, line) for text in reached[file].get(at, [])}
        # Without a name: an import.
        tests = modules if "" in contexts else sorted({text.partition("[")[0] for text in contexts})
        before = file.read_text()
        after = mutate_code(before, get_operator(name)(), occurrence)
        file.write_text(after)
        if tests and run_tests([*tests, *deselected]):
            noticed += 1
        else:
            show(file, line, *(text.splitlines()[line - 1] for text in (before, after)))
        file.write_text(before)
    return noticed, len(chosen)


def show(file: Path, line: int, before: str, after: str) -> None:
    where = f"{file.relative_to(COPY)}:{line}"
    print(f"{where}: {before.strip()}\n{'passes as: ':>{len(where) + 2}}{after.strip()}", flush=True)


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=100, help="changes of each folder (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"default: {', '.join(FOLDERS)}")
    options = parser.parse_args()
    os.nice(15)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a loop that no longer ends may allocate
    copy_tree()
    results = []
    for folder in options.folders or FOLDERS:
        measure = measure_cxx if folder in CXX else measure_python
        noticed, tried = measure(folder, options.number, random.Random(options.seed))
        results.append(f"{folder}: {noticed} of {tried} changes are noticed ({noticed / max(tried, 1):.0%})")
    print("", *results, sep="\n")


if __name__ == "__main__":
    main()
