"""Modules of the Python package import one another in one direction only, as ARCHITECTURE.md draws it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from environments import ROOT

PACKAGE = ROOT / "python" / "tare"

# The folders, the lowest first: each may import itself and those before it. Modules beside them lie below.
FOLDERS = [
    "runs",
    "analysis",
    "measuring",
    "monitor",
    "doctor",
    "reporters",
    "tables",
    "queries",
    "page",
    "viewers",
    "study",
    "commands",
]
# What starts the others.
ABOVE_ALL = {"__init__", "__main__", "cli"}
# Native modules, and what is generated.
NATIVE = {"_native", "_record", "_functions", "__version__"}


def place(module: str) -> int:
    """How high a module of the package lies, from its name below `tare`."""
    name = module.split(".")[0]
    if name in FOLDERS:
        return FOLDERS.index(name)
    return len(FOLDERS) if name in ABOVE_ALL else -1


def imports(file: Path) -> set[str]:
    """Names below `tare` of the modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            found |= {name.removeprefix("tare.") for name in names if name.startswith("tare.")}
        elif isinstance(node, ast.ImportFrom) and node.module == "tare":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tare."):
            found.add(node.module.removeprefix("tare."))
    return found - NATIVE


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_a_module_imports_only_what_lies_below(file: Path) -> None:
    name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
    if place(name) == len(FOLDERS):
        return
    assert not {module for module in imports(file) if place(module) > place(name)}


def test_every_folder_has_its_place() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders - {"probes"} == set(FOLDERS)


def test_imports_are_found() -> None:
    assert "runs.run" in imports(PACKAGE / "__init__.py")


@pytest.mark.parametrize("folder", ["runs", "analysis"])
def test_what_is_no_verb_names_no_option(folder: str) -> None:
    named = [
        (file.name, node.value)
        for file in (PACKAGE / folder).glob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("--")
    ]
    assert not named
