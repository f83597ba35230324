"""Nothing that tare starts for itself comes from the current directory, which may be somebody else's."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import ROOT
from tare import programs
from tare.doctor import installations
from tare.lab.study import toolbox
from tare.measuring.source_sites import objects_of

PACKAGE = ROOT / "python" / "tare"
FILES = sorted(PACKAGE.rglob("*.py"))
STARTERS = {
    "run",
    "Popen",
    "call",
    "check_call",
    "check_output",
    "output",
    "run_in_group",
    "_output",
    "_compile",
}
# Ways past programs.py. Some take a shell, others look in PATH as the user's shell does.
ELSEWHERE = {
    "sys.executable", "shutil.which", "os.system", "os.popen", "os.execvp", "os.execlp", "os.spawnvp",
    "webbrowser.open", "subprocess.getoutput", "subprocess.getstatusoutput",
}  # fmt: skip


def names(tree: ast.AST) -> Iterator[str]:
    """The names of what is taken from a module, as in os.system."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def started_by_name(tree: ast.AST) -> Iterator[str]:
    """First words of commands that are no path, and calls that take a shell."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in STARTERS and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            first = node.args[0].elts[0] if node.args[0].elts else None
            if isinstance(first, ast.Constant) and not str(first.value).startswith("/"):
                yield str(first.value)
        if any(word.arg == "shell" for word in node.keywords):
            yield "shell"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_programs_are_found_in_one_place(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    assert list(started_by_name(tree)) == []
    assert file.name == "programs.py" or not ELSEWHERE & set(names(tree))


def test_other_ways_are_found() -> None:
    code = "from shutil import which\nos.system('a')\nsubprocess.run(['ldd', 'a'])\nrun(x, shell=True)"
    tree = ast.parse(code)
    assert ELSEWHERE & set(names(tree)) == {"os.system", "shutil.which"}
    assert list(started_by_name(tree)) == ["ldd", "shell"]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, in PATH by each of its names; what is executed there leaves a file behind."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    code = f"open({str(tmp_path / 'executed')!r}, 'w')\n"
    for module in ("tare", "re", "mpi4py", "pip", "sitecustomize"):
        (folder / f"{module}.py").write_text(code)
    for program in ("ldd", "gcc", "mpiexec", "c++filt", "addr2line", "scorep", "python3"):
        (folder / program).write_text(f"#!/bin/sh\n: >'{tmp_path / 'executed'}'\n")
        (folder / program).chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}:../hostile")
    return folder


def test_tools_are_not_taken_from_the_current_directory(hostile: Path) -> None:
    assert programs.find("scorep") == "./scorep"  # as the user's shell would
    assert (programs.tool("scorep"), toolbox.find_program("scorep")) == (None, None)
    assert programs.tool("sh") in ("/bin/sh", "/usr/bin/sh")
    assert not [
        each for each in installations._launchers(installations._bin_dirs([])) if hostile in each.parents
    ]
    assert list(objects_of([sys.executable]))
    assert not (hostile.parent / "executed").exists()


def test_modules_are_not_taken_from_the_current_directory(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tare top` runs this for its key w."""
    code = "from pathlib import Path; from tare.commands.top import _where; print(_where(Path('nowhere')))"
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60)
    assert not (hostile.parent / "executed").exists()
    assert "nowhere" in done.stdout, done.stderr
