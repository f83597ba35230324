"""The findings of `tare doctor` for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tare.doctor.machine import Check
from tare.doctor.probes import Finding
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.reporters.console import Console


def show(out: Console, findings: Sequence[Finding], checks: Sequence[Check]) -> None:
    """Prints the checks of the machine, then the findings of each MPI."""
    machine = Sheet([Heading(title, text=True) for title in ("Machine", "", "")])
    machine.rows += [[check.name, check.state, check.detail] for check in checks]
    terminal.show_sheet_with_text(out, machine)
    for installation, group in groupby(findings, key=lambda finding: finding.installation):
        out.line()
        out.line(f"{installation.name}  {installation.launcher}", bold=True)
        _show_bindings(out, list(group))


def _show_bindings(out: Console, findings: Sequence[Finding]) -> None:
    shown = Sheet(
        [
            Heading("Binding", text=True), Heading("Result", text=True), Heading("Calls"),
            Heading("Recorded"), Heading("Lines", text=True), Heading("", text=True),
        ]
    )  # fmt: skip
    for finding in findings:
        shown.rows.append(
            [
                finding.binding,
                finding.state,
                NOTHING if finding.expected is None else str(finding.expected),
                NOTHING if finding.recorded is None else str(finding.recorded),
                {None: NOTHING, True: "yes", False: "no"}[finding.lines],
                finding.detail,
            ]
        )
    terminal.show_sheet_with_text(out, shown, "  ")
