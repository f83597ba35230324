"""tools/apt.sh without Debian, or the right to install: it accepts what is there, and names the rest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from environments import ROOT

APT = ROOT / "tools" / "apt.sh"
OWN = ("sh", "dirname", "id", "g++")  # what the script itself uses


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A PATH with the programs that the script uses; `id` says that this is not root."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in OWN:
        add(folder, name)
    (folder / "id").write_text("#!/bin/sh\necho 1000\n")
    return folder


def add(folder: Path, name: str) -> None:
    found = shutil.which(name)
    assert found, name
    (folder / name).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
    (folder / name).chmod(0o755)


def asked(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [folder / "sh", APT, *words], env={"PATH": str(folder)} | variables,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_what_is_there_by_other_means_is_accepted(bin_folder: Path) -> None:
    for name in ("cmake", "ninja", "python3"):
        add(bin_folder, name)
    done = asked(bin_folder, "build", "--optional", "optional")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_missing_is_named_in_one_line(bin_folder: Path) -> None:
    add(bin_folder, "python3")
    done = asked(bin_folder, "build")
    assert done.returncode == 1
    why = "tools/apt.sh: no apt-get here; to be installed by other means:"
    assert done.stderr == f"{why} cmake ninja-build\n"


@pytest.mark.parametrize("compiler", ["none", "old"])
def test_without_a_compiler_headers_are_named_beside_it(bin_folder: Path, compiler: str) -> None:
    """Only it can tell whether they are there."""
    for name in ("cmake", "ninja", "python3"):
        add(bin_folder, name)
    (bin_folder / "g++").unlink()
    if compiler == "old":
        (bin_folder / "g++").write_text("#!/bin/sh\ncase $* in *-std=c++20*) exit 1 ;; esac\n")
        (bin_folder / "g++").chmod(0o755)
    done = asked(bin_folder, "build")
    assert done.returncode == 1
    perhaps = "g++, and perhaps libzstd-dev libdw-dev, of which only a compiler for C++20 tells"
    assert done.stderr == f"tools/apt.sh: no apt-get here; to be installed by other means: {perhaps}\n"


def test_the_compiler_is_that_of_cmake(bin_folder: Path) -> None:
    for name in ("cmake", "ninja", "python3"):
        add(bin_folder, name)
    (bin_folder / "g++").rename(bin_folder / "another-c++")
    done = asked(bin_folder, "build", CXX="another-c++")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_somebody_without_rights_is_told_the_same(bin_folder: Path) -> None:
    for name in ("cmake", "ninja", "python3"):
        add(bin_folder, name)
    for name in ("apt-get", "dpkg-query"):
        (bin_folder / name).write_text("#!/bin/sh\nexit 1\n")
        (bin_folder / name).chmod(0o755)
    done = asked(bin_folder, "build")
    why = "tools/apt.sh: neither root nor sudo; to be installed by other means:"
    assert (done.returncode, done.stderr) == (1, f"{why} ca-certificates\n")
    (bin_folder / "sudo").write_text(
        "#!/bin/sh\nexit 1\n"
    )  # asks for a password, and has no terminal to do so
    (bin_folder / "sudo").chmod(0o755)
    assert asked(bin_folder, "build").returncode == 1


def test_without_what_is_optional_it_goes_on(bin_folder: Path, tmp_path: Path) -> None:
    for name in ("cmake", "ninja", "python3"):
        add(bin_folder, name)
    (bin_folder / "g++").write_text("#!/bin/sh\nread -r line\ncase $line in *zmq.hpp*) exit 1 ;; esac\n")
    assert asked(bin_folder, "build", "--optional", "optional").returncode == 0
    assert asked(bin_folder, "build", "optional").stderr.endswith("means: cppzmq-dev\n")
