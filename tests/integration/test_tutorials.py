"""Each tutorial finds what it says it finds, at the line that it shows, and not any more after the change."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from environments import PYTHON, ROOT, compile_c, openmpi4
from measured import Measurement
from planted import what_is_said
from snippets import snippets

TRACED = re.compile(r"^tare run -q --trace -o (?P<name>\w+) -- mpiexec (?P<rest>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Tutorial:
    """A page whose traced runs are one of the slow program, and one of the changed program."""

    name: str
    kind: str  # of the finding
    cause: int | None  # the rank that causes it
    fewer_calls: int = 0  # the slow program makes this many times the calls of the changed one, at least

    @property
    def page(self) -> Path:
        return ROOT / "docs" / f"tutorial-{self.name}.md"

    def text(self) -> str:
        return " ".join(self.page.read_text("utf-8").split())

    def measure(self, tare: Path, to: Path) -> list[Measurement]:
        """Runs the commands of the page that trace."""
        (to / "examples").symlink_to(ROOT / "examples")
        mpi = openmpi4()
        compile_c(
            mpi, [ROOT / "workloads" / "diffusion.c"], to / "diffusion", "-I/usr/include/hypre", "-lHYPRE"
        )
        blocks = "".join(each.text for each in snippets(self.page) if each.language == "sh")
        runs = []
        for at in TRACED.finditer(blocks):
            command = f"{tare} run -q --trace -o {at['name']} -- {mpi.mpiexec[0]} {at['rest']}"
            environment = {**mpi.environ(), "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"}
            ended = subprocess.run(
                ["sh", "-euc", command], cwd=to, env=environment, capture_output=True, text=True, timeout=300
            )
            assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
            runs.append(Measurement(tare, to / at["name"], ended))
        return runs


def place(found: dict[str, Any], prefix: str) -> str:
    """The place as the sentence has it."""
    file, line = found[f"{prefix}file"], found[f"{prefix}line"]
    at = f"{Path(file).name}:{line}" if file else Path(found[f"{prefix}object"]).name
    return f"{found[f'{prefix}function']} at {at}"


@pytest.mark.long
@pytest.mark.flaky(reruns=1)  # how a machine shares its processors among programs changes what is found
@pytest.mark.parametrize(
    "tutorial",
    [
        Tutorial("lammps", "late receiver", cause=0),
        Tutorial("hypre", "tiny messages", cause=None, fewer_calls=10),
        Tutorial("mpi4py", "late sender", cause=0),
    ],
    ids=lambda tutorial: tutorial.name,
)
def test_what_a_tutorial_finds(tutorial: Tutorial, tare: Path, tmp_path: Path) -> None:
    runs = tutorial.measure(tare, tmp_path)
    assert len(runs) == 2
    calls = [sum(run.calls().values()) for run in runs]
    assert calls[0] >= tutorial.fewer_calls * calls[1]
    before, after = map(what_is_said, runs)
    found = [each for each in before["findings"] if each["kind"] == tutorial.kind]
    if not found and before["findings"][0]["kind"] == "descheduled" and before["findings"][0]["share"] > 0.3:
        pytest.skip("other programs have the processors")
    assert found, before["sentences"]
    assert found[0]["cause_rank"] == tutorial.cause
    assert place(found[0], "" if tutorial.cause is None else "cause_") in tutorial.text()
    assert tutorial.kind not in [each["kind"] for each in after["findings"]], after["sentences"]
