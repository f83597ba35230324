"""What Open MPI's launcher is told to hand on to other hosts."""

from __future__ import annotations

import re

import pytest
from environments import ROOT
from tare.measuring.launch import OF_USERS, VARIABLES
from tare.open_mpi import NAMES, handed_on

OURS = ["LD_PRELOAD", "TARE_RUN_DIR"]
# The referee works on one node.
OF_REFEREE = {"REFEREE", "REFEREE_TOOLS"}


def test_what_ranks_need_is_handed_on() -> None:
    command = ["/usr/bin/mpirun.openmpi", "-n", "4", "./app"]
    of_tare = {"LD_PRELOAD": "a:b", "TARE_RUN_DIR": "/run"}
    assert handed_on(command, of_tare, OURS) == {NAMES: "LD_PRELOAD;TARE_RUN_DIR"}
    assert handed_on(command, of_tare | {NAMES: "A;B=1"}, OURS) == {NAMES: "A;B=1;LD_PRELOAD;TARE_RUN_DIR"}
    # It would look up the first one and find a variable "policy".
    monitored = {"TARE_MONITOR": "policy=block,every=1"}
    assert handed_on(command, monitored, monitored) == {NAMES: "TARE_MONITOR=policy=block,every=1"}


def test_all_that_the_library_reads_is_handed_on() -> None:
    """docs/environment.md lists the variables, and the library in the ranks asks for them."""
    page = (ROOT / "docs" / "environment.md").read_text()
    documented = set(re.findall(r"^\| `TARE_(\w+)`", page, re.MULTILINE)) - {"TIMING"} - OF_REFEREE
    assert documented == {*VARIABLES, *OF_USERS}
    read = set()
    for folder in ("recorder", "monitor", "mpi", "format"):
        for file in (ROOT / "src" / folder).rglob("*.[hc]*"):
            if "_test" not in file.name and "testing" not in file.parts:
                read |= set(re.findall(r'"TARE_([A-Z_]+)"', file.read_text()))
    # How many nodes are simulated is for tests (sampling/private_path.h).
    assert read - {"SAMPLE_NODES"} - OF_REFEREE <= documented


@pytest.mark.parametrize(
    "command",
    [["./app"], ["bash", "job.sh"], ["mpirun", "-x", "A", "./app"], ["mpiexec", "--app", "file"]],
)
def test_who_chooses_himself_is_not_disturbed(command: list[str]) -> None:
    assert handed_on(command, {NAMES: "A"}, OURS) == {}
