"""Processes that used MPI and whose calls nobody saw: which, and why."""

from __future__ import annotations

import stat
import struct
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tare import private_files, programs
from tare.errors import CommandError
from tare.runs.metadata import Metadata, Unseen

# One line a process: reason, executable, what it is about (src/mpi/interposition/unseen.h).
NOTES = ".unseen-*"
LARGEST_NOTE = 1 << 20

_ELF_HEAD = struct.Struct("<4sB59x")
_PROGRAM_HEADERS = struct.Struct("<32xQ14xHH")  # of a 64-bit file: where, bytes each, how many
_PT_INTERP = 3


def find(run_dir: Path, command: Sequence[str], *, nothing_measured: bool) -> list[Unseen]:
    """What the processes have said at their end, and what the command tells if none could."""
    rows = _take_notes(run_dir)
    return rows or (_of_command(command) if nothing_measured else [])


def sentence(row: Unseen) -> str:
    """Why, and what to do."""
    name = Path(row.executable).name
    count = row.processes
    who = f"{count:,} process{'es' if count > 1 else ''} of {name}" if count else name
    return f"{who}: {_REASONS.get(row.reason, '{about}').format(about=row.about)}"


_REASONS = {
    "linked-in": "MPI is linked into the executable: link it with the shared library of MPI",
    "bypassed": "called MPI past tare: {about} was opened with RTLD_DEEPBIND, or linked with -Bsymbolic",
    "namespace": "called MPI in a namespace of its own, where tare is not: {about} was opened by dlmopen",
    "unknown": "called MPI, {about}, in a way that tare does not see (addresses from elsewhere than dlsym)",
    "static": "is statically linked: nothing can be preloaded into it; link it with shared libraries",
    "setuid": "is setuid or setgid: nothing is preloaded into it",
}


def _take_notes(run_dir: Path) -> list[Unseen]:
    found: Counter[tuple[str, str, str]] = Counter()
    with private_files.opened_directory(run_dir) as directory:
        for note in sorted(run_dir.glob(NOTES)):
            with suppress(OSError, CommandError):
                text = directory.read(note.name, LARGEST_NOTE).decode("utf-8", "replace")
                for line in text.splitlines():
                    reason, executable, about = [*line.split("\t"), "", ""][:3]
                    if reason in _REASONS:
                        found[reason, executable, about] += 1
                note.unlink()
    return [
        Unseen(reason=reason, executable=executable, about=about, processes=count)
        for (reason, executable, about), count in found.items()
    ]


def _of_command(command: Sequence[str]) -> list[Unseen]:
    """Executables among the words of the command that cannot be measured."""
    rows: list[Unseen] = []
    for path in dict.fromkeys(filter(None, map(programs.find, command))):
        with suppress(OSError, struct.error):
            reason = _why_not(path)
            if reason:
                rows.append(Unseen(reason=reason, executable=str(Path(path).absolute())))
    return rows


def _why_not(path: str) -> str | None:
    if Path(path).stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "setuid"
    if ".so" in Path(path).name:
        return None
    with Path(path).open("rb") as file:
        head = file.read(64)
        magic, width = _ELF_HEAD.unpack(head)
        if magic != b"\x7fELF" or width != 2:
            return None
        where, each, count = _PROGRAM_HEADERS.unpack(head[:58])
        file.seek(where)
        headers = file.read(each * count)
    types = [struct.unpack_from("<I", headers, i * each)[0] for i in range(count)]
    return None if _PT_INTERP in types else "static"


def sentences(meta: Metadata) -> list[str]:
    """One sentence for each process of the run that used MPI without being measured."""
    return [sentence(row) for row in meta.unseen]
