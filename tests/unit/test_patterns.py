"""Patterns in the name of a run directory."""

from __future__ import annotations

import os
import re

import pytest
from tare.runs import patterns

SLURM = {"SLURM_JOB_ID": "12", "SLURM_JOB_NAME": "a/b"}
ARRAY = {**SLURM, "SLURM_ARRAY_JOB_ID": "11", "SLURM_ARRAY_TASK_ID": "7", "SLURM_RESTART_COUNT": "2"}


@pytest.mark.parametrize(
    ("name", "variables", "expected"),
    [
        ("runs/app", {}, "runs/app"),
        ("app-%j-%r", SLURM, "app-12-0"),
        ("app-%j-%r", ARRAY, "app-12-2"),
        ("%A/%a", ARRAY, "11/7"),
        ("%x", SLURM, "a_b"),
        ("%j-%a", {"PBS_JOBID": "5[].server", "PBS_ARRAY_INDEX": "3"}, "5[].server-3"),
        ("%j-%a-%x", {"LSB_JOBID": "6", "LSB_JOBINDEX": "1", "LSB_JOBNAME": "n"}, "6-1-n"),
        ("%j", {"FLUX_JOB_ID": "f2"}, "f2"),
        ("%A", {"SLURM_JOB_ID": "12"}, "12"),
        ("100%%j", SLURM, "100%j"),
    ],
)
def test_values_stand_in_place_of_patterns(name: str, variables: dict[str, str], expected: str) -> None:
    assert patterns.expanded(name, variables) == expected


def test_host_process_and_date() -> None:
    host = os.uname().nodename.partition(".")[0]
    assert patterns.expanded("%N-%p", {}) == f"{host}-{os.getpid()}"
    assert re.fullmatch(r"a-20\d{6}-\d{6}", patterns.expanded("a-%d", {}))


@pytest.mark.parametrize(
    ("name", "variables", "why"),
    [
        ("%j", {}, "%j is the id of the job, and the environment names none"),
        (
            "%r",
            {"PBS_JOBID": "5"},
            "%r is how often Slurm has restarted the job, and the environment names none",
        ),
        ("%a", SLURM, "%a is the index in the job array, and the environment names none"),
        ("%q", SLURM, "%q stands for nothing; write %% for a percent sign"),
        ("50%", SLURM, "% stands for nothing; write %% for a percent sign"),
    ],
)
def test_what_stands_for_nothing_is_refused(name: str, variables: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        patterns.expanded(name, variables)
