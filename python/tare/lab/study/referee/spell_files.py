"""Reads what the referee leaves: a file for each process (src/mpi/referee/spell_file.h)."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from tare import private_files
from tare.analysis.referee import PlacedSpell
from tare.errors import CommandError

AGREEMENT, AGREEMENT_BYTES = "agreement", 4096
SUFFIX = ".spells"
VERSION = 3
NOT_LOADED = 0xFFFF
UNKNOWN_HOOK = 2**64 - 1
SEVERAL_THREADS, UNKNOWN_ABI = 1, 2
_MAGIC = b"tareref\0"
_HEADER = struct.Struct("=8sIiiIII8HQQ8Q")
_SPELL = struct.Struct("=QQQQIIHHI")
MOST_SPELLS = 1 << 16
LARGEST = _HEADER.size + MOST_SPELLS * _SPELL.size


@dataclass(frozen=True)
class Process:
    """What one process has left."""

    host: str
    rank: int  # -1: no spell has begun
    ranks: int
    flags: int
    hindered: int  # places where a spell could not begin, because a request was under way
    functions: tuple[int, ...]  # of each tool: the number of its MPI functions; NOT_LOADED
    hook_ns: tuple[
        int | None, ...
    ]  # of each tool: its own time in MPI_Init and MPI_Finalize; None: not known
    spells: tuple[PlacedSpell, ...]


def prepare(directory: Path) -> None:
    """Makes the file by which the ranks agree."""
    with private_files.opened_directory(directory) as place:
        fd = private_files.create(place, AGREEMENT)
        try:
            os.ftruncate(fd, AGREEMENT_BYTES)
        finally:
            os.close(fd)


def read(directory: Path) -> list[Process]:
    """The processes of a run that called MPI, by rank. CommandError if a file is not one of the referee."""
    files = sorted(directory.glob(f"*{SUFFIX}"))
    found = [_process(file.name, private_files.read_regular(file, LARGEST)) for file in files]
    return sorted(found, key=lambda process: process.rank)


def _process(name: str, content: bytes) -> Process:
    if len(content) < _HEADER.size:
        raise CommandError(f"{name} is shorter than a file of the referee")
    magic, version, rank, ranks, tools, flags, hindered, *rest = _HEADER.unpack_from(content)
    spells, hooks = rest[9], rest[10 : 10 + tools]
    end = _HEADER.size + spells * _SPELL.size
    if magic != _MAGIC or version != VERSION or tools > 8 or spells > MOST_SPELLS or len(content) < end:
        raise CommandError(f"{name} is no file of this referee")
    rows = tuple(
        spell
        for spell in map(PlacedSpell._make, _SPELL.iter_unpack(content[_HEADER.size : end]))
        if spell.end_ns > spell.begin_ns
    )
    host = name.removesuffix(SUFFIX).rpartition(".")[0]
    hook_ns = tuple(None if each == UNKNOWN_HOOK else each for each in hooks)
    return Process(host, rank, ranks, flags, hindered, tuple(rest[:tools]), hook_ns, rows)
