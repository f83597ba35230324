"""The libraries that the dynamic loader finds by name: what `ldconfig -p` prints, without starting it."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

FILE = Path("/etc/ld.so.cache")
# The format of glibc since 2.2 (sysdeps/generic/dl-cache.h). Older text may precede it in the file.
_MAGIC = b"glibc-ld.so.cache1.1"
_HEAD = struct.Struct("=20sII20x")  # magic, number of entries, length of the texts
_ENTRY = struct.Struct("=iIIIQ")  # flags, offsets of name and path, version of the system, hardware


@cache
def entries() -> tuple[tuple[str, Path], ...]:
    """Name and path of each library; of equal names, the one that the loader prefers comes first."""
    try:
        return parse(FILE.read_bytes())
    except OSError:
        return ()


def find(name: str) -> Path | None:
    """The path of the library of this name; None if there is none."""
    return next((path for known, path in entries() if known == name), None)


def parse(content: bytes) -> tuple[tuple[str, Path], ...]:
    """The entries of the content of a cache; none where its format is not known."""
    content = content[max(content.find(_MAGIC), 0) :]
    if not content.startswith(_MAGIC) or len(content) < _HEAD.size:
        return ()
    _, count, _ = _HEAD.unpack_from(content)
    end = _HEAD.size + min(count, (len(content) - _HEAD.size) // _ENTRY.size) * _ENTRY.size
    places = _ENTRY.iter_unpack(content[_HEAD.size : end])
    return tuple((_text(content, name), Path(_text(content, path))) for _, name, path, _, _ in places)


def _text(content: bytes, at: int) -> str:
    return content[at : content.find(b"\0", at)].decode("utf-8", "surrogateescape")
