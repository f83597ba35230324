"""What nearly every call reads lies in one cache line of the library (src/recorder/every_call.h)."""

from __future__ import annotations

import re
import subprocess

from tare.measuring import library

LINE = 64


def test_the_variables_that_every_call_reads_are_one_cache_line() -> None:
    measuring = library.find(library.MEASURING)
    sections = subprocess.run(
        ["readelf", "-SW", measuring], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"\.tare\.every_call +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections)
    assert found is not None
    address, size = (int(number, 16) for number in found.groups())
    assert address % LINE == 0
    assert 0 < size <= LINE
