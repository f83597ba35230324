"""What this distribution is called, what it needs, and how people are told to get that."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tare
from environments import ROOT
from tare import packages
from tare.errors import CommandError
from tare.lab.study import store

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# In indices of packages, `tare` is somebody else's.
OTHERS = re.compile(r"pip install\W+tare\b(?!-mpi)|tare\[")


def test_the_distribution_has_a_name_of_its_own_and_the_command_keeps_its() -> None:
    assert PROJECT["name"] == "tare-mpi"
    assert list(PROJECT["scripts"]) == ["tare"]


def test_the_version_stands_in_one_file() -> None:
    """CMakeLists.txt has it. The package and the metadata of a wheel take it from there."""
    said = re.findall(
        r"^project\(tare VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE
    )
    assert said == [tare.__version__]
    assert "version" in PROJECT["dynamic"]
    files = [ROOT / "pyproject.toml", *(ROOT / "python").rglob("*.py"), *(ROOT / "cmake").iterdir()]
    assert not [file for file in files if f'"{said[0]}"' in file.read_text()]


def test_what_a_study_needs_is_said_once() -> None:
    said = [re.split(r"\W", each)[0] for each in PROJECT["optional-dependencies"]["study"]]
    required = (ROOT / "tools" / "requirements" / "study.txt").read_text().splitlines()
    assert tuple(said) == store.NEEDED == tuple(re.split(r"\W", line)[0] for line in required)


def test_the_recipe_of_spack_needs_what_the_build_needs() -> None:
    """But for what a source distribution does without, and for what builds wheels."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    needed = {re.split(r"[^\w-]", each)[0] for each in build} - {"scikit-build-core", "pympistandard"}
    recipe = ROOT / "packaging" / "spack" / "spack_repo" / "tare" / "packages" / "tare" / "package.py"
    assert needed <= set(re.findall(r'depends_on\("py-([\w-]+)', recipe.read_text()))


def test_nobody_is_told_to_install_what_is_somebody_elses() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "*.py", "*.sh", "*.toml", "Makefile"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    files = [ROOT / name for name in listed if (ROOT / name).is_file() and not name.startswith("tests/")]
    assert len(files) > 100
    assert not [str(file) for file in files if OTHERS.search(file.read_text())]


def test_libraries_that_a_build_may_lack_are_those_of_cmake(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "cmake" / "TareDependencies.cmake").read_text()
    declared = re.findall(r'tare_optional\((\w+) "[^"]*\(Debian: ([^)]*)\)"', text)
    assert dict(declared) == packages.LIBRARIES
    monkeypatch.setattr(packages, "WITHOUT", {"OTF2"})
    packages.require_library("--monitor", "ZeroMQ")
    with pytest.raises(CommandError) as error:
        packages.require_library("an OTF2 archive", "OTF2")
    assert str(error.value) == (
        "an OTF2 archive needs OTF2, without which this tare was built: install it "
        "(Debian: apt install libotf2-trace-dev) and build tare again"
    )


def test_what_is_missing_comes_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"pandas", "duckdb"}
    monkeypatch.setattr(packages, "find_spec", lambda name: None if name in missing else Path(name))
    with pytest.raises(CommandError) as error:
        packages.require("tare study", store.NEEDED)
    assert str(error.value) == (
        f"tare study needs duckdb, pandas: {sys.executable} -P -m pip install duckdb pandas"
    )
