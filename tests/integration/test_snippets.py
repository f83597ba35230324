"""Every snippet in README.md and docs/ runs, compiles, or is the data that it is said to be.

They run in a directory that has what the pages take for granted: programs `./app`, `old/app` and so on, runs
`RUN`, `BASE`, `NEW`, and the commands `tare`, `mpiexec` and `python`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from environments import PYTHON, ROOT, compile_c, openmpi4
from measured import PROGRAMS
from snippets import PAGES, Snippet, indented_code, snippets

EVERY = [snippet for page in PAGES for snippet in snippets(page)]
SETS = [f"{name}-{number}" for name in ("base", "new") for number in (1, 2, 3)]
RUNS = ["RUN", "BASE", "NEW", "app-20260131-120000", *SETS]

# What stands around a part of a program.
BODY = "{{\nint i = 1;\ndouble residual = i;\n(void)residual;\n{text}\n}}\n"
AROUND = {
    "c": f"#include <tare/tare.h>\nint main(void) {BODY}",
    "c++": f"#include <tare/tare.hpp>\nint main() {BODY}",
    "fortran": "program part\n{text}\nend program part\n",
}
KEY = re.compile(r'"(\w+)":')
KNOWN = {"sh", "console", "python", "toml", "sql", "text", *AROUND}


@dataclass(frozen=True)
class Scratch:
    """The directory in which snippets run."""

    directory: Path
    environment: Mapping[str, str]
    known_options: dict[tuple[str, ...], set[str]] = field(default_factory=dict)

    def options_of(self, *verb: str) -> set[str]:
        if verb not in self.known_options:
            self.known_options[verb] = set(re.findall(r"--[a-z-]+", self.run(["tare", *verb, "--help"])))
        return self.known_options[verb]

    def run(self, command: Sequence[str | Path]) -> str:
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
        return done.stdout


# What their commands compute takes most of a minute.
LONG = {"tutorial-hypre.md", "monitoring-tree.md"}


@pytest.fixture(scope="module")
def scratch(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    mpi = openmpi4()
    if mpi.missing():
        pytest.skip(f"no {mpi.missing()}")
    directory = tmp_path_factory.mktemp("snippets")
    bin_directory = directory / "bin"
    bin_directory.mkdir()
    for name, program in {"tare": tare, "python": PYTHON, "mpiexec": Path(mpi.mpiexec[0])}.items():
        (bin_directory / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (bin_directory / name).chmod(0o755)
    app = compile_c(mpi, [PROGRAMS / "snippets.c"], directory / "app")
    for copy in ("your_program", "old/app", "new/app"):
        (directory / copy).parent.mkdir(exist_ok=True)
        shutil.copy2(app, directory / copy)
    shutil.copy2(app, directory / "libplugin.so")
    (directory / ".venv").symlink_to(ROOT / ".venv")
    for folder in ("build", "examples", "workloads"):
        (directory / folder).symlink_to(ROOT / folder)
    shutil.copy2(ROOT / "examples" / "events.c", directory / "app.c")
    prefix = directory / "home" / "tare"
    environment = {
        **mpi.environ(),
        "PATH": f"{bin_directory}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(prefix.parent),
        "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
    }
    environment.pop("LD_LIBRARY_PATH", None)
    made = Scratch(directory, environment)
    made.run(["cmake", "--install", "build/release", "--component", "devel", "--prefix", prefix])
    options = ["-q", "--trace", "--sample", "random:1", "-o", "RUN"]
    made.run(["tare", "run", *options, "--", "mpiexec", "-n", "4", "./app"])
    meta = (directory / "RUN" / "meta.json").read_text()
    for number, name in enumerate(RUNS[1:], 1):
        shutil.copytree(directory / "RUN", directory / name)
        # As runs that were measured each for itself.
        own = meta.replace(json.loads(meta)["run_id"], f"{number:016x}")
        (directory / name / "meta.json").write_text(own)
    return made


def of(*languages: str, run: bool = True) -> pytest.MarkDecorator:
    """The snippets in these languages that can be run, or cannot."""
    chosen = [each for each in EVERY if each.language in languages and (each.why_not_run is None) == run]
    return pytest.mark.parametrize("snippet", chosen, ids=lambda snippet: snippet.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_what_it_is(page: Path) -> None:
    assert not indented_code(page), "code is fenced by ``` and its language"
    runs = [each for each in snippets(page) if each.why_not_run is None]
    unknown = [(each.line, each.language) for each in runs if each.language not in KNOWN]
    assert not unknown, f"languages are {', '.join(sorted(KNOWN))}"


def with_those_before(snippet: Snippet) -> str:
    """A page goes on with what it has begun."""
    same = [each for each in snippets(snippet.page) if each.language == snippet.language]
    return "\n".join(each.text for each in same if each.line <= snippet.line)


def test_snippets_are_found() -> None:
    assert {each.language for each in EVERY} >= {
        "sh",
        "console",
        "c",
        "c++",
        "fortran",
        "python",
        "toml",
        "sql",
    }
    left_out = [each for each in EVERY if each.why_not_run is not None]
    assert len(left_out) * 2 < len([each for each in EVERY if each.language != "text"])


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=pytest.mark.long if page.name in LONG else ()) for page in PAGES],
)
def test_commands_run(page: Path, scratch: Scratch) -> None:
    """Those of a page in their order: one may go on with the run of another."""
    for snippet in snippets(page):
        if snippet.language == "sh" and snippet.why_not_run is None:
            scratch.run(["sh", "-euc", snippet.text])


@of("console")
def test_what_terminals_show(snippet: Snippet, scratch: Scratch) -> None:
    """The commands run; of JSON, the keys that are shown are there."""
    assert snippet.commands()
    printed = scratch.run(["sh", "-euc", "\n".join(snippet.commands())])
    assert not set(KEY.findall(snippet.text)) - set(KEY.findall(printed))


@of("sh", run=False)
def test_commands_that_are_not_run_are_commands(snippet: Snippet, scratch: Scratch) -> None:
    """Their verbs, options and files exist."""
    scratch.run(["sh", "-nc", snippet.text])
    for line in snippet.text.splitlines():
        words = line.split("#")[0].split(" -- ")[0].split()
        for word in words[1:]:
            assert word == "mine.toml" or not word.endswith((".toml", ".sh")) or (ROOT / word).is_file(), word
        if words[:1] == ["tare"]:
            verb = words[1:3] if words[1] == "study" else words[1:2]
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert options <= scratch.options_of(*verb)
        elif words[:1] == ["make"]:
            scratch.run(["make", "-n", "-C", ROOT, *words[1:]])


@of("c", "c++", "fortran")
def test_programs_compile_and_run(snippet: Snippet, scratch: Scratch, tmp_path: Path) -> None:
    compiler, suffix = {"c": ("cc", "c"), "c++": ("c++", "cpp"), "fortran": ("gfortran", "f90")}[
        snippet.language
    ]
    flags = scratch.run(["pkg-config", "--cflags", "--libs", "tare"]).split()
    module = scratch.run(["pkg-config", "--variable=fortran_source", "tare"]).split()
    source, program = tmp_path / f"part.{suffix}", tmp_path / "part"
    source.write_text(AROUND[snippet.language].format(text=snippet.text))
    # A part of a Fortran program has no place for values of its variables, which is a warning.
    further = ["-J", tmp_path, *module] if suffix == "f90" else ["-Wall", "-Wextra", "-Werror"]
    scratch.run([compiler, *further, source, "-o", program, *flags])
    scratch.run([program])


@of("python")
def test_python_runs(snippet: Snippet, scratch: Scratch) -> None:
    scratch.run([sys.executable, "-c", with_those_before(snippet)])


@of("toml")
def test_descriptions_of_studies_are_read(snippet: Snippet, scratch: Scratch) -> None:
    from tare.lab.study import description

    path = scratch.directory / "study.toml"
    path.write_text(with_those_before(snippet))
    read = description.read(path)
    assert read.workloads
    assert tomllib.loads(snippet.text)


@of("sql")
def test_queries_of_results_are_understood(snippet: Snippet, tmp_path: Path) -> None:
    from tare.lab.study.store import Store

    with Store(tmp_path, create=True) as store:
        for query in filter(str.strip, snippet.text.split(";")):
            assert store.rows(query) == []
