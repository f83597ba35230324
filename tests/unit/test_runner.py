from __future__ import annotations

import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from some_run import metadata
from tare.runs import runner
from tare.runs.metadata import META, Metadata

# Runners whose pids mean other processes here: of another machine, with the host name of this one; in another
# PID namespace; and of a tare that said no more than the host.
ELSEWHERE: tuple[dict[str, Any], ...] = (
    {"runner": replace(runner.this_process(), machine="fedcba9876543210")},
    {"runner": replace(runner.this_process(), pid_namespace=1)},
    {"runner": replace(runner.this_process(), machine=None, pid_namespace=None), "host": "elsewhere"},
)


def running(**given: Any) -> Metadata:
    usual: dict[str, Any] = {
        "state": "running", "exit_code": None, "wall_ns": None, "host": socket.gethostname(),
        "runner": runner.this_process(),
    }  # fmt: skip
    return metadata(**usual | given)


def test_a_run_goes_on_as_long_as_its_runner(tmp_path: Path) -> None:
    assert runner.is_going_on(tmp_path, running())
    assert not runner.is_going_on(tmp_path, running(state="ended"))
    assert not runner.is_going_on(tmp_path, running(runner=None)), "of a tare that did not say who it is"


def test_another_process_of_the_same_number_is_not_the_runner(tmp_path: Path) -> None:
    mine = runner.this_process()
    later = replace(mine, start_ticks=mine.start_ticks - 1)
    assert not runner.is_going_on(tmp_path, running(runner=later))


def test_a_runner_that_nobody_has_waited_for_is_gone(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = runner.process(child.pid)
    assert found is not None
    assert not runner.is_going_on(tmp_path, running(runner=found))
    child.wait()
    assert not runner.is_going_on(tmp_path, running(runner=found))


@pytest.mark.parametrize(("age_s", "goes_on"), [(0.0, True), (runner.GONE_AFTER_S + 1, False)])
def test_other_hosts_see_that_meta_json_was_touched(tmp_path: Path, age_s: float, goes_on: bool) -> None:
    (tmp_path / META).touch()
    then = (tmp_path / META).stat().st_mtime - age_s
    os.utime(tmp_path / META, (then, then))
    for elsewhere in ELSEWHERE:
        assert runner.is_going_on(tmp_path, running(**elsewhere)) is goes_on


@pytest.mark.parametrize(
    ("of_meta_s", "of_records_s", "goes_on"),
    [
        (0.0, None, True),
        (runner.GONE_AFTER_S + 1, None, True),
        (runner.SILENT_AFTER_S + 60, 5.0, True),
        (runner.SILENT_AFTER_S + 60, runner.SILENT_AFTER_S + 30, False),
        (runner.SILENT_AFTER_S + 60, None, False),
    ],
)
def test_other_hosts_believe_a_run_that_is_not_touched_for_a_day(
    tmp_path: Path, of_meta_s: float, of_records_s: float | None, goes_on: bool
) -> None:
    """A process that was killed there says nothing any more."""
    own = replace(runner.this_process(), machine="fedcba9876543210", touches=False)
    for name, age_s in ((META, of_meta_s), ("node.tare", of_records_s)):
        if age_s is None:
            continue
        (tmp_path / name).touch()
        then = (tmp_path / name).stat().st_mtime - age_s
        os.utime(tmp_path / name, (then, then))
    assert runner.is_going_on(tmp_path, running(runner=own)) is goes_on


def test_meta_json_is_touched_until_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each touch is waited for; none comes after the end."""
    path = tmp_path / META
    path.touch()
    os.utime(path, (0, 0))
    monkeypatch.setattr(runner, "TOUCHED_EVERY_S", 0.001)
    with runner.watched(tmp_path):
        while path.stat().st_mtime == 0:
            pass
    os.utime(path, (0, 0))
    assert path.stat().st_mtime == 0
