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
    assert runner.is_going_on(tmp_path, running(host="elsewhere")) is goes_on


def test_other_hosts_believe_a_run_that_is_not_touched(tmp_path: Path) -> None:
    own = replace(runner.this_process(), touches=False)
    assert runner.is_going_on(tmp_path, running(host="elsewhere", runner=own))


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
