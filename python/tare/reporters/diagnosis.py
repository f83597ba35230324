"""The findings of `tare doctor` for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console

from tare.doctor.machine import Check
from tare.doctor.probes import Finding
from tare.reporters import terminal
from tare.units import NOTHING

DETAIL_INDENT = 4


def show(out: Console, findings: Sequence[Finding], checks: Sequence[Check]) -> None:
    machine = terminal.table(*map(terminal.text_column, ("Machine", "", "")))
    for check in checks:
        machine.add_row(check.name, check.state, check.detail)
    terminal.show_table(out, machine)
    for installation, group in groupby(findings, key=lambda finding: finding.installation):
        out.file.write("\n")
        out.print(f"{installation.name}  {installation.launcher}", style="bold", soft_wrap=True)
        _show_bindings(out, list(group))


def _show_bindings(out: Console, findings: Sequence[Finding]) -> None:
    shown = terminal.table(
        terminal.text_column("Binding"),
        terminal.text_column("Result"),
        terminal.number_column("Calls"),
        terminal.number_column("Recorded"),
        terminal.text_column("Lines"),
        terminal.text_column(""),
    )
    for finding in findings:
        shown.add_row(
            finding.binding,
            finding.state,
            NOTHING if finding.expected is None else str(finding.expected),
            NOTHING if finding.recorded is None else str(finding.recorded),
            {None: NOTHING, True: "yes", False: "no"}[finding.lines],
            finding.detail,
        )
    terminal.show_table(out, shown, "  ")
