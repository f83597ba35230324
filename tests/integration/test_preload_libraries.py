"""What the libraries that are loaded into programs are made of."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# An exception of the program may pass through their frames, and a thread of it may be cancelled in them. They
# have no part in that (src/stack/inside.h): the unwinder that is linked into them is not the one
# that unwinds.
UNWINDING = re.compile(
    r"_Unwind_(Resume|RaiseException|ForcedUnwind)|__gxx_personality|__cxa_(throw|begin_catch)"
)


@pytest.mark.parametrize(
    "name",
    ["libtare.so", "libtare-forward.so", "libtare-timing.so", "libtare-referee.so", "libtare_record.so"],
)
def test_no_part_in_exceptions(name: str, tare: Path) -> None:
    (library,) = tare.parent.parent.glob(f"lib/python3.*/site-packages/tare/lib/{name}")
    symbols = output("nm", library)
    assert "tare" in symbols, "stripped"
    assert UNWINDING.search(symbols) is None
    assert ".gcc_except_table" not in output("readelf", "-SW", library)


# What programs call that were built with some tare/tare.h; later ones may add to it (docs/compatibility.md).
INTERFACE = {
    "TARE_API_1": """
        begin_phase control count define_counter define_event define_marker define_packed define_phase
        define_raw define_region end_phase enter find_sweet_spot flush leave mark offload pause progress
        record record0 record1 record2 record3 record4 record_raw recording resume sample start""",
}


def test_the_interface_for_programs_only_grows(tare: Path) -> None:
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare.so")
    exported = set(re.findall(r" (tare_\w+@@\w+)$", output("nm", "-D", "--defined-only", library), re.M))
    assert exported == {
        f"tare_{name}@@{version}" for version, names in INTERFACE.items() for name in names.split()
    }


def output(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
