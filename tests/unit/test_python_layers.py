"""Modules of the Python package import one another in one direction only, as ARCHITECTURE.md draws it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from environments import ROOT
from tare import registry

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
    "exporters",
    "commands",
    "lab",
]
# What starts the others.
ABOVE_ALL = {"__init__", "__main__", "cli"}
# Native modules, and what is generated.
NATIVE = {"_native", "_record", "_functions", "_version", "__version__"}


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


def test_nothing_but_the_laboratory_knows_the_laboratory() -> None:
    """It registers what it adds: without its folder, tare is complete but for that."""
    files = [file for file in PACKAGE.rglob("*.py") if not file.is_relative_to(PACKAGE / "lab")]
    assert not [file for file in files if "tare.lab" in file.read_text() or "tare/lab" in file.read_text()]


def test_studies_and_sweet_spots_do_not_know_one_another() -> None:
    for one, other in (("study", "sweetspot"), ("sweetspot", "study")):
        files = (PACKAGE / "lab" / one).rglob("*.py")
        assert not [file for file in files if any(name.startswith(f"lab.{other}") for name in imports(file))]


def test_verbs_exporters_and_findings_are_registered_and_named_nowhere_else() -> None:
    """The modules that use a group import none of what is registered in it."""
    for group, user in (
        (registry.VERBS, "cli"),
        (registry.EXPORTERS, "commands.export"),
        (registry.FINDINGS, "analysis.explain.explain"),
        (registry.PAGES, "commands.report"),
    ):
        modules = {entry.target.partition(":")[0] for entry in registry.entries(group).values()}
        used = imports(PACKAGE / f"{user.replace('.', '/')}.py")
        assert modules
        assert not {f"tare.{name}" for name in used} & (modules - {"tare.analysis.explain.calls"})


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
