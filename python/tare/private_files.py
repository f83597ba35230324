"""The one way to open what lies below a directory that somebody else may have filled, as a run directory.

The way to the directory is the user's, and may lead through links. Below it no link is followed, and nothing
is opened but regular files of whoever owns the directory. What is made here is for its owner alone, or for a
group besides. `src/reader/store/run_directory.h` is the same for the native reader.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tare.errors import CommandError

FILE_MODE, DIRECTORY_MODE = 0o600, 0o700
GROUP_FILE_MODE, GROUP_DIRECTORY_MODE = 0o640, 0o750
ROOT = 0
PIECE = 1 << 20
OPEN_TO_ALL = 0o7
_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Directory:
    """A directory that is open: what is opened by `fd` lies in it, whatever has its name by then."""

    path: Path
    fd: int
    owner: int

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """A file below it, by a relative name. CommandError if it is no regular file of the owner.

        OSError if there is none, or if it may not be opened.
        """
        *folders, last = name.split("/")
        at = os.dup(self.fd)
        try:
            for folder in folders:
                at, before = self._step(at, folder, os.O_RDONLY | os.O_DIRECTORY, name), at
                os.close(before)
            fd = self._step(at, last, flags, name)
        finally:
            os.close(at)
        try:
            self._check(fd, name, flags)
        except CommandError:
            os.close(fd)
            raise
        return fd

    def _step(self, at: int, part: str, flags: int, name: str) -> int:
        if part in ("", ".", ".."):
            raise CommandError(f"{self.path / name} does not lie below {self.path}")
        try:
            return os.open(part, flags | _CAREFULLY, FILE_MODE, dir_fd=at)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(at, part):
                text = f"{self.path / name} is a symbolic link; put the file in its place"
                raise CommandError(text) from None
            if error.errno in (errno.ENXIO, errno.EISDIR):  # a pipe that nobody reads, a socket, a directory
                raise CommandError(f"{self.path / name} is not a regular file") from None
            raise OSError(error.errno, error.strerror, str(self.path / name)) from None

    def _check(self, fd: int, name: str, flags: int) -> None:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise CommandError(f"{self.path / name} is not a regular file")
        if flags & os.O_ACCMODE != os.O_RDONLY and status.st_nlink != 1:
            raise CommandError(f"{self.path / name} has a second name elsewhere, and was left alone")
        if flags & os.O_CREAT and status.st_size == 0:
            self.give(fd)
            status = os.fstat(fd)
        if not self._trusts(status.st_uid):
            owner = user_name(status.st_uid)
            raise CommandError(f"{self.path / name} belongs to {owner}, and was left alone")

    def _trusts(self, owner: int) -> bool:
        """root reads no more of somebody's directory than what is theirs: it may read all that links name."""
        user = os.geteuid()
        return owner == self.owner or (user != ROOT and owner in (user, ROOT))

    def check(self, name: str, *, writing: bool = False) -> None:
        """Checks a file that something else is to open. CommandError and OSError as for `open`."""
        os.close(self.open(name, os.O_RDWR if writing else os.O_RDONLY))

    def read(self, name: str, limit: int) -> bytes:
        """The content of a file. CommandError if it is larger than `limit`."""
        with os.fdopen(self.open(name), "rb") as file:
            return _content(file, limit, self.path / name)

    def ends_with(self, name: str, end: bytes) -> bool:
        """Whether a file has this end. Opened anew, as network file systems then tell what others wrote."""
        fd = self.open(name)
        try:
            size = os.fstat(fd).st_size
            return size >= len(end) and os.pread(fd, len(end), size - len(end)) == end
        finally:
            os.close(fd)

    def append(self, name: str, content: bytes) -> None:
        """Adds to a file, which is made if it is not there."""
        with os.fdopen(self.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
            file.write(content)

    def give(self, fd: int) -> None:
        """What root makes in somebody's directory is theirs."""
        if self.owner != os.geteuid() == ROOT:
            with suppress(OSError):
                os.fchown(fd, self.owner, -1)


@contextmanager
def opened_directory(path: Path) -> Iterator[Directory]:
    """OSError if it cannot be opened."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Directory(path, fd, os.fstat(fd).st_uid)
    finally:
        os.close(fd)


@contextmanager
def opened_run(path: Path) -> Iterator[Directory]:
    """The same of a run directory. CommandError if it is another user's who has not given it to this one.

    Given is what not everybody can read: who can, can by its group, or by an access list. root needs no
    leave, and what is root's is trusted.
    """
    try:
        with opened_directory(path) as directory:
            user = os.geteuid()
            open_to_all = os.fstat(directory.fd).st_mode & OPEN_TO_ALL
            if user != ROOT and directory.owner not in (user, ROOT) and open_to_all:
                raise CommandError(
                    f"{path} belongs to {user_name(directory.owner)}, who has not given it to you: "
                    "copy it and read the copy, or ask for a run that was made with --group"
                )
            yield directory
    except PermissionError as error:
        if error.filename != str(path):
            raise
        raise CommandError(
            f"{path}: {error.strerror}; a run is its owner's alone, unless it was made with --group"
        ) from error


def user_name(number: int) -> str:
    """The name of a user; the number if the user has no name here."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _is_link(at: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _content(file: BinaryIO, limit: int, path: Path) -> bytes:
    """The content, read in pieces: Python takes memory for all that is asked for, and users may have less."""
    content = bytearray()
    while piece := file.read(PIECE):
        content += piece
        if len(content) > limit:
            raise CommandError(f"{path} is larger than {limit:,} bytes")
    return bytes(content)


def read_regular(path: Path, limit: int) -> bytes:
    """The content of a file that the user names; a pipe or a device is not waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise CommandError(f"{path} is not a regular file")
        return _content(file, limit, path)


def create(directory: Directory, name: str, group: int | None = None, mode: int = FILE_MODE) -> int:
    """A new file, open for writing. What has its name gives way; of a link, not where it leads to."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory.fd)
    fd = os.open(name, flags, mode, dir_fd=directory.fd)
    directory.give(fd)
    if group is not None:
        with suppress(OSError):
            _open_to(fd, group)
    return fd


def part_of(to: Path) -> Path:
    """What a file or directory is called until it is whole: no name that the user has given anything."""
    return to.with_name(f"{to.name}.{os.getpid()}.part")


def claim(path: Path) -> None:
    """Makes an empty file. FileExistsError if there is anything of this name."""
    with opened_directory(path.parent) as directory:
        os.close(os.open(path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE, dir_fd=directory.fd))


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
    os.fchmod(fd, GROUP_DIRECTORY_MODE if of_directory else GROUP_FILE_MODE)


def replace(path: Path, content: bytes, group: int | None = None, mode: int = FILE_MODE) -> None:
    """Writes a file completely or not at all. A link of this name gives way, and is not followed."""
    new = f"{path.name}.new"
    with opened_directory(path.parent) as directory:
        try:
            with os.fdopen(create(directory, new, group, mode), "wb") as file:
                file.write(content)
            os.replace(new, path.name, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)
        except OSError:
            with suppress(OSError):
                os.unlink(new, dir_fd=directory.fd)
            raise
