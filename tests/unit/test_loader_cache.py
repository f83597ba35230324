"""The loader's cache is read as `ldconfig` prints it, and may be damaged."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tare import loader_cache


def test_it_is_what_ldconfig_prints() -> None:
    printed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s*(\S+) \(.*\) => (\S+)$", printed, re.MULTILINE)
    assert found
    assert list(loader_cache.entries()) == [(name, Path(path)) for name, path in found]


def test_any_part_of_it_is_read_without_an_error() -> None:
    content = loader_cache.FILE.read_bytes()
    whole = len(loader_cache.parse(content))
    for end in [*range(200), *range(200, len(content), 997)]:
        assert len(loader_cache.parse(content[:end])) <= whole
    assert loader_cache.parse(b"ld.so-1.7.0 of old" + content) == loader_cache.parse(content)
    assert loader_cache.parse(b"something else") == ()
