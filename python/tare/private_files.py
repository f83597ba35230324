"""Reading and writing files of a directory that somebody else may have filled: no links are followed to be
written to, and nothing but regular files is read.

What is made here is for its owner alone, or for a group besides.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.errors import CommandError


def read_regular(path: Path, limit: int) -> bytes:
    """The content of a file; a pipe or a device is not waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise CommandError(f"{path} is not a regular file")
        content = file.read(limit + 1)
    if len(content) > limit:
        raise CommandError(f"{path} is larger than {limit:,} bytes")
    return content


@contextmanager
def opened_directory(path: Path) -> Iterator[int]:
    """What is opened relative to this file descriptor is in this directory, whatever its name is by then."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def create(directory: int, name: str) -> int:
    """A new file, open for writing. What has its name gives way; of a link, not where it leads to."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    return os.open(name, flags, 0o600, dir_fd=directory)


def replace(path: Path, content: bytes) -> None:
    """Writes a file as a whole or not at all."""
    new = f"{path.name}.new"
    with opened_directory(path.parent) as directory:
        try:
            with os.fdopen(create(directory, new), "wb") as file:
                file.write(content)
            os.replace(new, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            with suppress(OSError):
                os.unlink(new, dir_fd=directory)
            raise
