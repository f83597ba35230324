"""Every MPI function that a library exports is wrapped, and what it means is known."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from environments import ROOT, MpiEnvironment
from tare._functions import TABLE

GENERATED = ROOT / "build" / "release" / "generated"


def functions(library: Path, prefix: str) -> set[str]:
    """Names of the functions (not the data) that a library exports and that begin with `prefix`."""
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    found = set()
    for line in done.stdout.splitlines():
        _, kind, name = line.split()
        if kind in "TWti" and name.startswith(prefix):
            found.add(name.split("@")[0])
    return found


def wrapped(tare: Path) -> set[str]:
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare.so")
    return functions(library, "MPI_") | functions(library, "PMPI_")


def test_every_exported_function_is_wrapped(mpi: MpiEnvironment, tare: Path) -> None:
    values_not_functions = re.compile((GENERATED / "not_wrapped.txt").read_text().strip())
    exported = {name for name in functions(mpi.library, "MPI_") if not values_not_functions.match(name)}
    exported |= {name for name in functions(mpi.library, "PMPI_") if not values_not_functions.match(name[1:])}
    assert len(exported) > 700, f"{mpi.library} is no MPI library"
    assert not exported - wrapped(tare)
    assert not {name.removeprefix("P") for name in exported} - TABLE.keys()


def test_every_function_of_the_standard_is_wrapped(tare: Path) -> None:
    import pympistandard as std

    std.use_api_version(1)
    names = set()
    for procedure in std.PROCEDURES.values():
        if procedure.express.iso_c is not None:
            names.add(procedure.express.iso_c.name)
        if procedure.has_embiggenment() and procedure.express.embiggen.iso_c is not None:
            names.add(procedure.express.embiggen.iso_c.name)
    assert len(names) > 650
    assert not {str(name) for name in names} - wrapped(tare)
