"""Open MPI's launcher hands the environment on to ranks of other hosts only where it is told to.

What ranks need to record is in the environment. Options `-x` of the user's and the list of names are refused
together, so with `-x` nothing is done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

NAMES = "OMPI_MCA_mca_base_env_list"
LAUNCHER = re.compile(r"(mpiexec|mpirun|orterun|prterun)(\.\w+)?")
# Options that say what is handed on, or have further options in a file.
OWN_CHOICE = {"-x", "--x", "-app", "--app", "-am", "--am", "-tune", "--tune"}


def own_choice(command: Sequence[str]) -> str:
    """The option of the command with which the user chooses what is handed on; empty: there is none."""
    if not command or not LAUNCHER.fullmatch(PurePath(command[0]).name):
        return ""
    return next((word for word in command if word in OWN_CHOICE), "")


def handed_on(command: Sequence[str], environment: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """A variable that has these handed on; nothing if the command is no such launcher, or chooses itself."""
    if not LAUNCHER.fullmatch(PurePath(command[0]).name) or own_choice(command):
        return {}
    before = environment.get(NAMES)
    return {
        NAMES: ";".join([*([before] if before else []), *(_word(name, environment[name]) for name in names)])
    }


def _word(name: str, value: str) -> str:
    """Open MPI takes a value that it looks up, and that has an = in it, for another variable."""
    return f"{name}={value}" if "=" in value and ";" not in value else name
