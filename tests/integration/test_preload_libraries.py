"""What the libraries that are loaded into programs are made of."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from environments import ROOT

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


# packaging/symbols has what programs call that were built with some tare/tare.h or tare/reader.h. Later ones
# may add to it (docs/compatibility.md, tools/release.sh).
@pytest.mark.parametrize(
    ("name", "list_"),
    [
        ("site-packages/tare/lib/libtare.so", "libtare"),
        ("site-packages/tare/lib/libtare_record.so", "libtare"),
    ],
)
def test_the_interface_for_programs_only_grows(name: str, list_: str, tare: Path) -> None:
    (library,) = tare.parent.parent.glob(f"lib/python3.*/{name}")
    check_symbols(library, list_)


def test_the_interface_for_readers_only_grows() -> None:
    check_symbols(ROOT / "build" / "release" / "src" / "library" / "libtare-reader.so", "libtare-reader")


def check_symbols(library: Path, list_: str) -> None:
    exported = re.findall(r" (tare_\w+(?:@@\w+)?)$", output("nm", "-D", "--defined-only", library), re.M)
    assert sorted(exported) == (ROOT / "packaging" / "symbols" / f"{list_}.txt").read_text().split()


def output(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
