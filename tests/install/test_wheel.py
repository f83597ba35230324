"""The wheel as somebody gets it who has nothing else: no compiler, no checkout. `make test-wheel`"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import loader_in_signals
import pytest
from alone import (
    Place,
    build_programs,
    find_hang,
    find_lines_of_python,
    made,
    pythons,
    ring,
    sample_python,
    use_verbs,
    variables,
)
from environments import MpiEnvironment, mpich4, openmpi4
from wheels import MODULES, check_content, wheel

MAX_SECONDS = 60  # of a processor, from nothing to the first summary
PYTHONS = pythons()
# What docs/api.md has for Python programs.
USES_API = """
import tare
tare.start("api")
step = tare.event("step", "id")

@tare.region("solve")
def solve(i, residual):
    step(i, residual)
    tare.count("heap", 2048, "bytes")

with tare.phase("iterate"):
    for i in range(3):
        solve(i, 0.5 / (i + 1))
tare.mark("restart")
tare.packed("sizes")(1, 1000)
tare.raw("log")("converged")
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who has nothing")


@pytest.fixture(scope="module", params=PYTHONS, ids=str)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A directory to which the wheel was downloaded, and in which pip of a Python has installed it."""
    of = wheel("cp311-cp311" if request.param.version == (3, 11) else "cp312-abi3")
    place = made("venv", request.param)
    shutil.copy(of, place.path)
    started = time.monotonic(), processor_s()
    place.can(request.param.path, "-m", "venv", "venv")
    place.can("venv/bin/pip", "install", "--no-cache-dir", of.name)
    first = place.run(
        "tare", "run", "-o", "first", "--", *ring(openmpi4(), place.path, 100), extra=variables(openmpi4())
    )
    used_s = processor_s() - started[1]
    took_s = time.monotonic() - started[0]
    print(f"from nothing to the first summary: {took_s:.1f} s, {used_s:.1f} s of a processor")
    assert re.search(r"ranks +2 on 1 host, 2 finished", first.stderr), first
    assert used_s < MAX_SECONDS
    yield place
    shutil.rmtree(place.path)


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(params=[openmpi4(), mpich4()], ids=lambda env: env.name, scope="module")
def env(request: pytest.FixtureRequest) -> MpiEnvironment:
    env: MpiEnvironment = request.param
    assert not env.missing()
    return env


@pytest.mark.parametrize(
    "tag, modules", [("cp311-cp311", "cpython-311-x86_64-linux-gnu.so"), ("cp312-abi3", "abi3.so")]
)
def test_what_is_in_it(tag: str, modules: str, tmp_path: Path) -> None:
    check_content(wheel(tag), modules, tmp_path)


def test_verbs(place: Place, env: MpiEnvironment) -> None:
    use_verbs(place, env)


def test_modules_are_those_of_the_python(place: Place) -> None:
    assert place.python is not None
    suffix = ".cpython-311-x86_64-linux-gnu.so" if place.python.version == (3, 11) else ".abi3.so"
    for module in MODULES:
        file = place.can("python", "-c", f"import tare.{module} as it; print(it.__file__)").strip()
        assert Path(file).name == module + suffix


def test_python_programs_record_and_read(place: Place) -> None:
    place.can("python", "-c", USES_API)
    events = json.loads(place.can("tare", "events", "--json", "api"))["rows"]
    steps = [row["parameters"] for row in events if row["name"] == "step"]
    assert steps == [[0, 0.5], [1, 0.25], [2, 1 / 6]]
    assert {"iterate", "solve", "heap", "restart", "sizes", "log"} <= {row["name"] for row in events}
    read = "import tare; print(tare.open('api').locations.__arrow_c_stream__())"
    assert "arrow_array_stream" in place.can("python", "-c", read)


def test_lines_of_python_programs(place: Place, env: MpiEnvironment) -> None:
    library = env.library if env.family == "openmpi" else place.path / "libmpi.so.12"
    find_lines_of_python(place, env, library)


def test_functions_of_python_programs(place: Place) -> None:
    sample_python(place)


# What follows does not depend on the Python.
with_debians = pytest.mark.parametrize("place", PYTHONS[:1], ids=str, indirect=True)


@with_debians
def test_a_program_that_hangs(place: Place, env: MpiEnvironment) -> None:
    find_hang(place, env)


@with_debians
def test_programs_are_built_with_it(place: Place) -> None:
    build_programs(place)


@with_debians
def test_manual_and_completion_are_there(place: Place) -> None:
    assert (place.prefix / "share/man/man1/tare-run.1").is_file()
    assert (place.prefix / "share/bash-completion/completions/tare").is_file()


@with_debians
def test_the_loader_is_not_called_where_a_signal_may_have_interrupted_it(place: Place) -> None:
    """Its unwinder is linked for a C library whose loader takes a lock; it may not ask it in a handler."""
    loader_in_signals.build(place.path)
    said = place.can(
        "tare", "run", "-q", "--with", "stacks", "--stack-rate", "1000", "-o", "stacks", "--",
        "./program", "./library.so", "300",
    )  # fmt: skip
    assert said.split()[0] == "0"
    functions = place.can("tare", "profile", "stacks", "--by", "function", "--json")
    assert "main" in {row["function"] for row in json.loads(functions)["functions"]}
