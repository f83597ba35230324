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

PRIVATE, PRIVATE_DIRECTORY = 0o600, 0o700
GROUP, GROUP_DIRECTORY = 0o640, 0o750


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


def create(directory: int, name: str, group: int | None = None) -> int:
    """A new file, open for writing. What has its name gives way; of a link, not where it leads to."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    fd = os.open(name, flags, PRIVATE, dir_fd=directory)
    if group is not None:
        with suppress(OSError):
            _open_to(fd, group)
    return fd


def open_to_group(path: Path, group: int) -> None:
    """Has a group read a file of ours, or list a directory of ours; nothing where it is somebody else's."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(fd)
            regular = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
            if status.st_uid == os.geteuid() and (regular or stat.S_ISDIR(status.st_mode)):
                _open_to(fd, group, of_directory=not regular)
        finally:
            os.close(fd)


def _open_to(fd: int, group: int, *, of_directory: bool = False) -> None:
    os.fchown(fd, -1, group)
    os.fchmod(fd, GROUP_DIRECTORY if of_directory else GROUP)


def replace(path: Path, content: bytes, group: int | None = None) -> None:
    """Writes a file completely or not at all."""
    new = f"{path.name}.new"
    with opened_directory(path.parent) as directory:
        try:
            with os.fdopen(create(directory, new, group), "wb") as file:
                file.write(content)
            os.replace(new, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            with suppress(OSError):
                os.unlink(new, dir_fd=directory)
            raise
