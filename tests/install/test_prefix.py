"""What `cmake --install` leaves below a prefix, for somebody who has nothing else. `make test-install`"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from alone import PYTHON, Place, build_programs, find_hang, made, use_verbs, variables
from environments import ROOT, openmpi4

HEADERS = {"arrow.h", "filter.h", "reader.h", "sampling.h", "tare.h", "tare.hpp"}
RUNS = ["msgspec", "scipy"]
BUILDS = ["nanobind", "shtab", "argparse-manpage", *RUNS]  # without pympistandard
OPTIONAL = {"TARE_PROTOZERO_INCLUDE": "protozero", "TARE_ZMQ": "ZeroMQ", "TARE_OTF2": "OTF2"}

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who has nothing"),
    pytest.mark.timeout(3600),  # a fixture builds all of tare
]


def run(*command: str | Path, within: Path = ROOT) -> str:
    done = subprocess.run(list(map(str, command)), cwd=within, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def environment(folder: Path, packages: list[str]) -> Path:
    """Its Python, which has these packages."""
    run(PYTHON, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "--quiet", *packages)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def whole() -> Iterator[Place]:
    """The build of the checkout, installed into an environment of somebody."""
    place = made("env")
    environment(place.prefix, RUNS)
    run("cmake", "--install", ROOT / "build" / "release", "--prefix", place.prefix)
    place.give()
    yield place
    shutil.rmtree(place.path)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in a source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    build = "import scikit_build_core.build as b, sys; print(b.build_sdist(sys.argv[1]))"
    run(ROOT / ".venv" / "bin" / "python", "-c", build, folder)
    (archive,) = folder.glob("tare_mpi-*.tar.gz")
    with tarfile.open(archive) as content:
        content.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def bare(source: Path) -> Iterator[Place]:
    """A source distribution, built where nothing is there that can be done without."""
    place = made("bare")
    python = environment(place.path / "python", BUILDS)
    missing = [f"-D{variable}=OFF" for variable in OPTIONAL]
    shared = subprocess.run(
        ["gcc", "-print-file-name=libzstd.so"], capture_output=True, text=True
    ).stdout.strip()
    said = run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DPython_EXECUTABLE={python}",
               f"-DTARE_ZSTD={shared}", *missing)  # fmt: skip
    lines = [line for line in said.splitlines() if line.startswith("-- tare: ")]
    assert len(lines) == len(OPTIONAL) + 1
    for name in (*OPTIONAL.values(), "libzstd.a"):
        assert sum(f"{name} is not here" in line for line in lines) == 1
    run("cmake", "--build", source / "build", "-j2")
    run("cmake", "--install", source / "build", "--prefix", place.prefix)
    shutil.rmtree(source / "build")
    place.give()
    yield place
    shutil.rmtree(place.path)


def test_everything_is_below_the_prefix(whole: Place) -> None:
    assert {path.name for path in (whole.prefix / "include" / "tare").iterdir()} == HEADERS
    for path in (
        "lib/cmake/tare/tareConfig.cmake", "lib/cmake/tare-reader/tare-reader-config.cmake",
        "lib/pkgconfig/tare.pc", "lib/pkgconfig/tare-reader.pc", "share/tare/tare.f90",
        "share/man/man1/tare-run.1", "share/zsh/site-functions/_tare",
    ):  # fmt: skip
        assert (whole.prefix / path).is_file(), path
    assert "tare 0." in whole.can("tare", "--version")


def test_verbs(whole: Place) -> None:
    use_verbs(whole, openmpi4())


def test_a_program_that_hangs(whole: Place) -> None:
    find_hang(whole, openmpi4())


def test_programs_are_built_with_it(whole: Place) -> None:
    build_programs(whole)


def test_a_python_that_is_missing_or_lacks_a_package_is_named(whole: Place) -> None:
    """The one that tare was built for cannot be reached."""
    plain = whole.path / "plain"
    run("cmake", "--install", ROOT / "build" / "release", "--prefix", plain)
    done = whole.run(plain / "bin" / "tare", "--version")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "build tare again" in done.stderr
    done = whole.run(PYTHON, plain / "bin" / "tare", "study", "tools")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tare: tare needs the package msgspec: {PYTHON} -P -m pip install msgspec\n"


def test_a_build_without_what_is_optional(bare: Place) -> None:
    """Everything else works, and what does not says why."""
    use_verbs(bare, openmpi4(), without=sorted(OPTIONAL.values()))
    build_programs(bare)


def test_what_is_needed_is_said_at_once(source: Path, tmp_path: Path) -> None:
    """One message has the names of Debian's packages."""
    python = environment(tmp_path / "python", ["msgspec"])
    needed = ["-DTARE_ZSTD=OFF", "-DTARE_LIBDW=OFF", f"-DPython_EXECUTABLE={python}"]
    done = subprocess.run(
        ["cmake", "-S", source, "-B", tmp_path / "build", *needed],
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = " ".join(done.stderr.split())
    assert done.returncode != 0
    said_of = "zstd (Debian: libzstd-dev), elfutils' libdw (Debian: libdw-dev), the Python package nanobind"
    assert f"tare needs {said_of}" in said


COMPLETIONS = {
    "bash": "bash-completion/completions/tare",
    "zsh": "zsh/site-functions/_tare",
    "fish": "fish/vendor_completions.d/tare.fish",
}
BASH = r"""
source $0
COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p tare | sed 's/.*-F \([^ ]*\).*/\1/')
echo ${COMPREPLY[@]}
"""
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=(${0:h} \$fpath); autoload -Uz compinit; compinit -D; zle -N show; bindkey '^I' show"
zpty -w shell 'show() { zle complete-word; print "<$BUFFER>"; }; echo rea""dy'
zpty -r shell said '*ready*'
zpty -w -n shell "$1"$'\t'
zpty -r shell said '*<*>*'
print -r -- $said
"""


@pytest.mark.parametrize(
    ("shell", "ask"),
    [
        ("bash", BASH), ("fish", "source $argv[1]; complete -C $argv[2]"), ("zsh", ZSH)
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("tare prof", "profile"),
        ("tare diff given-a giv", "given-file"),
        ("tare weigh --tool giv", "given-file"),
        ("tare run -- mpiexec -n 4 ./giv", "given-file"),
        ("tare run mpiexec -n 4 ./giv", "given-file"),
    ],
)
def test_shells_complete(whole: Place, shell: str, ask: str, line: str, completed: str) -> None:
    """The verbs, and files wherever they are given."""
    (whole.path / "given-file").touch()
    assert completed in whole.can(shell, "-c", ask, whole.prefix / "share" / COMPLETIONS[shell], line)


def test_manual_pages_are_shown_without_a_warning(whole: Place) -> None:
    pages = sorted((whole.prefix / "share" / "man" / "man1").iterdir())
    assert len(pages) > 20
    for page in pages:
        done = subprocess.run(
            ["man", "--warnings=w", "--encoding=UTF-8", "--local-file", page],
            env={"MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", (page, done.stderr)
        assert "NAME" in done.stdout
        assert not re.search(r"See tare-\s", done.stdout)


def test_variables_of_the_launcher(whole: Place) -> None:
    """A program that tare measures gets none of them: its own Python stays as it is."""
    said = whole.can("tare", "run", "--quiet", "-o", "measured-env", "--", "env", extra=variables(openmpi4()))
    assert "PYTHON" not in said


def test_a_module_loads_it(whole: Place) -> None:
    use = f"module use {whole.prefix}/share/modulefiles; module load tare"
    use += "; echo $PYTHONPATH; man -w tare-run; which tare; man -w man >&2"
    said = whole.can(
        "bash", "-ec", f"source /usr/share/modules/init/bash; {use}", extra={"PATH": "/usr/bin:/bin"}
    )
    site, page, command = said.split()
    assert Path(site, "tare", "api.py").is_file()
    assert page == f"{whole.prefix}/share/man/man1/tare-run.1"
    assert command == f"{whole.prefix}/bin/tare"
