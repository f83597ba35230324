"""Names with patterns, as in `tare run -o app-%j`: each job has a run directory of its own."""

from __future__ import annotations

import os
import pwd
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

Variables = Mapping[str, str]
# Of Slurm, PBS, LSF and Flux.
JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID")


def _first(variables: Variables, *names: str) -> str | None:
    """The value of the first that is set and not empty."""
    return next((variables[name] for name in names if variables.get(name)), None)


def _restarts(variables: Variables) -> str | None:
    """Slurm sets the variable from the first restart on."""
    first = "0" if "SLURM_JOB_ID" in variables else None
    return _first(variables, "SLURM_RESTART_COUNT") or first


def _host(_: Variables) -> str:
    return os.uname().nodename.partition(".")[0]


def _user(variables: Variables) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(os.geteuid()).pw_name
    return variables.get("USER") or str(os.geteuid())


# What a letter stands for; None: it stands for nothing here.
LETTERS: dict[str, tuple[str, Callable[[Variables], str | None]]] = {
    "j": ("the id of the job", lambda of: _first(of, *JOBS)),
    "A": ("the id of the job array", lambda of: _first(of, "SLURM_ARRAY_JOB_ID", *JOBS)),
    "a": (
        "the index in the job array",
        lambda of: _first(of, "SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX"),
    ),
    "r": ("how often Slurm has restarted the job", _restarts),
    "x": ("the name of the job", lambda of: _first(of, "SLURM_JOB_NAME", "PBS_JOBNAME", "LSB_JOBNAME")),
    "N": ("the host", _host),
    "u": ("the user", _user),
    "d": ("the date and time", lambda _: time.strftime("%Y%m%d-%H%M%S")),
    "p": ("the process id of tare run", lambda _: str(os.getpid())),
    "%": ("a percent sign", lambda _: "%"),
}


def expanded(name: str, variables: Variables) -> str:
    """The name with values in place of patterns. ValueError if a pattern stands for nothing."""

    def value(found: re.Match[str]) -> str:
        letter = found[1]
        if letter not in LETTERS:
            raise ValueError(f"%{letter} stands for nothing; write %% for a percent sign")
        meaning, of = LETTERS[letter]
        text = of(variables)
        if text is None:
            raise ValueError(f"%{letter} is {meaning}, and the environment names none")
        # It is a part of one name.
        return text.replace("/", "_")

    return re.sub(r"%(.?)", value, name)
