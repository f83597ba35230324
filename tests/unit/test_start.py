"""Verbs start quickly: what they load is held, as times cannot be on a machine that does other things."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_tare import fake_environment
from tare.measuring import launch, signals

# Each takes longer to load than a verb may take to start, or is for few of them.
HEAVY = {
    "scipy", "numpy", "pandas", "matplotlib", "statsmodels", "duckdb", "pyarrow",
    "typer", "click", "rich", "pydantic", "argcomplete",
    "email", "http", "ssl", "hashlib", "secrets", "random", "statistics", "socket", "asyncio",
    "importlib.metadata", "importlib.resources", "tomllib", "logging", "multiprocessing", "unittest",
}  # fmt: skip
# Of verbs that do more than read one run.
OF_OTHERS = {
    "subprocess",
    "threading",
    "tare.runs.archive",
    "tare.measuring.launch",
    "tare.measuring.measurement",
}
PROBE = """
import json, sys
from fake_native import install
from pathlib import Path
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


@pytest.mark.parametrize("verb", ["--version", "info", "profile", "explain", "events", "samples", "diff"])
def test_reading_verbs_load_nothing_heavy(run_dir: Path, verb: str) -> None:
    (run_dir / "sampled").touch()
    runs = [] if verb.startswith("-") else [run_dir] * (2 if verb == "diff" else 1)
    found = loaded(run_dir.parent, verb, *runs)
    assert not found & HEAVY
    assert not found & OF_OTHERS
    assert verb.startswith("-") or "tare.runs.run" in found


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


def test_run_loads_neither_what_starts_nor_what_finds_programs_in_python(tmp_path: Path) -> None:
    found = loaded(tmp_path, "run", "-q", "-o", "r", "--", "true")
    assert not found & (HEAVY | {"subprocess", "shutil", "tare.runs.archive", "tare.reporters.summary"})


@pytest.fixture
def held() -> Iterator[set[int]]:
    """The signals that were blocked before all were."""
    before = signals.hold()
    yield before
    for _ in signals.pending():
        pass
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_what_the_end_needs_is_loaded_while_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: set[int]
) -> None:
    """It waits for the second module, and the third one is not there."""
    (tmp_path / "first_of_the_end.py").touch()
    (tmp_path / "second_of_the_end.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    modules = ["first_of_the_end", "second_of_the_end", "third_of_the_end"]
    command = ["sh", "-c", f"until [ -e '{tmp_path}/loaded' ]; do sleep 0.01; done; exit 5"]
    ending = launch.run(command, dict(os.environ), held, modules)
    assert (ending.exit_code, ending.signal) == (5, None)


def test_the_start_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch, held: set[int]) -> None:
    """It begins when all is prepared: before that, the witness has been started."""
    prepared: list[int] = []

    class Slow(signals.Witness):
        def early(self) -> list[signal.struct_siginfo]:
            time.sleep(0.05)
            prepared.append(time.time_ns())
            return super().early()

    monkeypatch.setattr(signals, "Witness", Slow)
    ending = launch.run(["true"], dict(os.environ), held)
    assert prepared[0] <= ending.start_ns <= ending.start_ns + ending.wall_ns <= time.time_ns()


def test_a_command_that_ends_at_once_is_not_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: set[int]
) -> None:
    """The first module waits for its end; the second is not loaded any more."""
    (tmp_path / "waits_for_the_end.py").write_text(
        "import os\nos.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)\n"
    )
    (tmp_path / "too_late.py").write_text("raise SystemExit('loaded')\n")
    monkeypatch.syspath_prepend(tmp_path)
    modules = ["waits_for_the_end", "too_late"]
    ending = launch.run(["sh", "-c", "kill -9 $$"], dict(os.environ), held, modules)
    assert (ending.exit_code, ending.signal) == (None, signal.SIGKILL)
