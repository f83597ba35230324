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


def output(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
