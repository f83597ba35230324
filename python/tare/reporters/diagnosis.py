"""The findings of `tare doctor` for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tare.doctor.machine import Check
from tare.doctor.probes import Finding
from tare.reporters import terminal
from tare.reporters.sheet import Column, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.reporters.console import Console


LINES = {None: NOTHING, True: "yes", False: "no"}
MACHINE = (
    Column("Machine", text=True, cell=lambda check: check.name),
    Column("", text=True, cell=lambda check: check.state),
    Column("", text=True, cell=lambda check: check.detail),
)
BINDINGS = (
    Column("Binding", text=True, cell=lambda finding: finding.binding),
    Column("Result", text=True, cell=lambda finding: finding.state),
    Column("Calls", cell=lambda finding: NOTHING if finding.expected is None else str(finding.expected)),
    Column("Recorded", cell=lambda finding: NOTHING if finding.recorded is None else str(finding.recorded)),
    Column("Lines", text=True, cell=lambda finding: LINES[finding.lines]),
    Column("", text=True, cell=lambda finding: finding.detail),
)


def show(out: Console, findings: Sequence[Finding], checks: Sequence[Check]) -> None:
    """Prints the checks of the machine, then the findings of each MPI."""
    terminal.show_sheet_with_text(out, Sheet.of(MACHINE, checks))
    for installation, group in groupby(findings, key=lambda finding: finding.installation):
        out.title(f"{installation.name}  {installation.launcher}")
        terminal.show_sheet_with_text(out, Sheet.of(BINDINGS, group), "  ")
