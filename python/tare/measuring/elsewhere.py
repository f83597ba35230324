"""`tare recover` on the nodes of a run by one command, which the user names."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tare import programs, units
from tare.errors import CommandError, UsageError

# In the command: the node, for a command for each node, or all nodes with commas between them.
HOST = "{host}"
HOSTS = "{hosts}"
NOWHERE = (
    "--launch: nothing was started, as this run does not know on which hosts the missing ranks ran; name one "
    "in COMMAND instead of {host}, or give a COMMAND that starts a program on all (docs/nodes.md)"
)
# A run may come from elsewhere, and its names of nodes become words of a command, and of a shell of ssh.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def check(launch: str) -> list[str]:
    """The words of the command. UsageError if it is none."""
    try:
        words = shlex.split(launch)
    except ValueError as error:
        raise UsageError(f"--launch {launch}: {error}") from error
    if not words:
        raise UsageError("--launch takes a command, like 'ssh {host}' or 'srun --ntasks-per-node=1'")
    if HOST in launch and HOSTS in launch:
        raise UsageError(f"--launch {launch}: {HOST} is each node, and {HOSTS} all of them: leave out one")
    return words


def names_nodes(launch: str) -> bool:
    """Whether the nodes stand in the command."""
    return HOST in launch or HOSTS in launch


def recover(run_dir: Path, words: Sequence[str], hosts: Sequence[str], more: Sequence[str]) -> list[str]:
    """Has what is left on other nodes written into the run directory; what went wrong, a line each.

    `hosts`: the nodes whose results are missing. `more`: options of `tare recover`. CommandError, before
    anything is started, if what the run has for the name of a node cannot be one.
    """
    for host in hosts:
        if NAME.fullmatch(host) is None:
            raise CommandError(f"{host!r} in this run is no name of a node: nothing was started")
    sys.stdout.flush()  # they write to it, too
    there = programs.module("tare", "recover", "--part", *more, str(run_dir.resolve()))
    text = " ".join(words)
    if not hosts and (HOST in text or HOSTS in text):
        return []
    if HOST in text:
        # As ssh, it gives a shell the command.
        commands = [[word.replace(HOST, host) for word in words] + [shlex.join(there)] for host in hosts]
    else:
        commands = [[word.replace(HOSTS, ",".join(hosts)) for word in words] + there]
    return [trouble for trouble in map(_trouble, commands) if trouble]


def _trouble(command: Sequence[str]) -> str:
    """Runs it; what went wrong, or nothing."""
    program = programs.find(command[0])
    if program is None:
        raise CommandError(f"cannot start {command[0]}: command not found")
    done = subprocess.run([program, *command[1:]], stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return ""
    return f"`{shlex.join(command)}` failed ({units.ending(done.returncode)})"
