"""Verbs start quickly: what they load is held, as times cannot be on a machine that does other things."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_tare import fake_environment

# Each takes longer to load than a verb may take to start, or is for few of them.
HEAVY = {
    "scipy", "numpy", "pandas", "matplotlib", "statsmodels", "duckdb", "pyarrow",
    "typer", "click", "rich", "pydantic", "argcomplete",
    "email", "http", "ssl", "hashlib", "secrets", "random", "statistics", "socket", "asyncio",
    "importlib.metadata", "importlib.resources", "tomllib", "logging", "multiprocessing", "unittest",
}  # fmt: skip
# Of verbs that do more than read one run.
OF_OTHERS = {"subprocess", "threading", "tare.archive", "tare.launch", "tare.measurement"}
PROBE = """
import json, sys
from fake_native import find_generated, install
from pathlib import Path
find_generated()
install(Path("libm.so.6"))
before = set(sys.modules)
from tare import cli
from tare.errors import TareError
try:
    cli.run(sys.argv[1:])
except TareError as error:
    print(error, file=sys.stderr)
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded(folder: Path, *arguments: str | Path) -> set[str]:
    """What this verb loads beyond Python and the fake reader."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *map(str, arguments)], cwd=folder, env=with_support(),
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    modules: set[str] = set(json.loads(done.stdout.splitlines()[-1]))
    return modules


def with_support() -> dict[str, str]:
    variables = fake_environment()
    variables["PYTHONPATH"] += f":{Path(__file__).parent.parent / 'support'}"
    return variables


@pytest.mark.parametrize("verb", ["--version", "info", "profile", "events", "samples", "diff"])
def test_reading_verbs_load_nothing_heavy(run_dir: Path, verb: str) -> None:
    (run_dir / "sampled").touch()
    runs = [] if verb.startswith("-") else [run_dir] * (2 if verb == "diff" else 1)
    found = loaded(run_dir.parent, verb, *runs)
    assert not found & HEAVY
    assert not found & OF_OTHERS
    assert verb.startswith("-") or "tare.recording" in found


@pytest.mark.parametrize(
    "arguments",
    [
        ("merge", "-o", "new.tare", "nowhere"), ("split", "nowhere"), ("recover", "nowhere"),
        ("study", "report", "nowhere"), ("study", "run", "nowhere.toml"), ("doctor", "--mpi", "nowhere"),
        ("profile", "--help"), ("study", "--help"), ("--help",),
    ],
)  # fmt: skip
def test_verbs_load_nothing_heavy_before_they_have_something_to_do(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    found = loaded(tmp_path, *arguments)
    assert not found & (HEAVY - {"hashlib", "random", "tomllib", "socket", "importlib.resources"})
