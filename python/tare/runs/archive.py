"""Archives: making one of runs and files, taking one apart, finding a run in one."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare import private_files, units
from tare.errors import CommandError, UsageError, native_errors, unwritable
from tare.runs import directory
from tare.runs.metadata import META, Metadata, decode

if TYPE_CHECKING:
    from tare._native import Archive, ArchivedFile, ArchiveWriter

SUFFIX = ".tare"
# An error that lists the members of an archive names so many.
NAMED = 10
# A run directory without a name: /.
FALLBACK = "run"

Progress = Callable[[int], None]


@dataclass
class Member:
    """A run or a single file in an archive."""

    name: str
    kind: str  # "run" or "file"
    files: int = 0  # number of files
    bytes: int = 0  # their total size


@dataclass(frozen=True)
class Input:
    """Something to be merged: a run directory, a file of one, or the members of an archive."""

    path: Path
    kind: str  # "run", "file" or "archive"
    bytes: int  # total size


def open_archive(path: Path) -> Archive:
    """CommandError if there is no such archive, or if it cannot be read."""
    from tare import _native

    if path.is_dir():
        raise CommandError(
            f"{path} is a directory, not an archive; `tare merge -o ARCHIVE.tare {path}` makes one of a run"
        )
    if not path.is_file():
        raise CommandError(f"{path}: no such archive")
    if not _native.is_archive(path):
        raise CommandError(f"{path} is not an archive: only what `tare merge` made can be taken apart")
    with native_errors():
        return _native.Archive(path)


def is_archive(path: Path) -> bool:
    """Whether `tare merge` has made the file, as its first bytes say."""
    from tare import _native

    return path.is_file() and _native.is_archive(path)


def members(files: Iterable[ArchivedFile]) -> list[Member]:
    """The members in the order of the archive."""
    found: dict[str, Member] = {}
    for file in files:
        member = found.setdefault(file.member, Member(file.member, file.kind))
        member.files += 1
        member.bytes += file.size
    return list(found.values())


def choose_run(path: Path, wanted: str | None) -> str:
    """The run of an archive that is meant: the one it has, or the wanted one."""
    found = members(open_archive(path).files())
    if wanted is not None:
        for member in found:
            if member.name == wanted:
                return _as_run(path, member)
        raise CommandError(f"{path} holds no {wanted}; it holds {listed(found)}")
    if not found:
        raise CommandError(f"{path} is an archive without a single whole member")
    if len(found) > 1:
        raise CommandError(f"{path} is an archive, choose one with --member NAME: {listed(found)}")
    return _as_run(path, found[0])


def refuse_several(path: Path) -> None:
    """CommandError if it is an archive of several runs: for a verb that has no --member."""
    if is_archive(path) and len(found := members(open_archive(path).files())) > 1:
        raise CommandError(
            f"{path} is an archive of several runs: `tare split {path}` takes them out ({listed(found)})"
        )


def _as_run(path: Path, member: Member) -> str:
    if member.kind != "run":
        raise CommandError(
            f"{member.name} in {path} is a single file, not a run; `tare split {path}` takes it out"
        )
    return member.name


def listed(found: Sequence[Member]) -> str:
    """Names of members for a message: the first ones, and how many more there are."""
    names = ", ".join(member.name for member in found[:NAMED])
    return f"{names} and {len(found) - NAMED:,} more" if len(found) > NAMED else names


def read_meta(path: Path, member: str) -> Metadata:
    """meta.json of a run in an archive."""
    for file in open_archive(path).files():
        if (file.member, file.name) == (member, META):
            return _read_meta(path, file)
    raise CommandError(f"{member} in {path} has no {META}: `tare split {path}` takes out what it has")


def _read_meta(path: Path, file: ArchivedFile) -> Metadata:
    from tare import _native

    with path.open("rb") as archive:
        archive.seek(file.offset)
        text = archive.read(min(file.present, directory.LARGEST_META))
    return decode(text, f"{path}: {file.member}", _native.FORMAT_VERSION)


def find_input(path: Path) -> Input:
    """What is to be merged; fails if it cannot be."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        _must_be_complete(path)
        return Input(path, "run", sum(size for _, size in _files_below(path)))
    if is_archive(path):
        warnings = open_archive(path).warnings()
        if warnings:
            raise CommandError(f"{warnings[0]}; `tare split --damaged` takes out what is left")
        return Input(path, "archive", path.stat().st_size)
    if not stat.S_ISREG(mode) or path.suffix != SUFFIX:
        raise CommandError(f"{path} is neither a run directory nor a {SUFFIX} file")
    return Input(path, "file", path.stat().st_size)


def runs_of(given: Input) -> Iterator[tuple[str, str]]:
    """The identifiers and names of its runs, but for those whose meta.json is damaged."""
    if given.kind == "run":
        with suppress(CommandError):
            yield directory.read_meta(given.path).run_id, str(given.path)
    elif given.kind == "archive":
        for file in open_archive(given.path).files():
            if file.kind == "run" and file.name == META:
                with suppress(CommandError):
                    yield _read_meta(given.path, file).run_id, f"{file.member} in {given.path}"


def _must_be_complete(run_dir: Path) -> None:
    if not (run_dir / META).is_file():
        raise CommandError(f"{run_dir} is not a run directory: it has no {META}")
    left = _segments_left(run_dir)
    if left:
        raise CommandError(
            f"{run_dir}: records of {units.number_of(len(left), 'process', 'processes')} are still in "
            f"{left[0].parent}; "
            "wait for the run to end, or `tare recover` it"
        )


def _segments_left(run_dir: Path) -> list[Path]:
    """The segments that are left; none if meta.json is damaged: what is there is merged as it is."""
    try:
        return directory.segments(run_dir, directory.read_meta(run_dir))
    except CommandError:
        return []


def _files_below(run_dir: Path) -> list[tuple[str, int]]:
    """Every file with its size, sorted; names are relative, with slashes."""
    found = []
    for folder, folders, names in os.walk(run_dir, onerror=_raise):
        folders.sort()
        for name in folders:
            if (Path(folder) / name).is_symlink():
                raise CommandError(f"{Path(folder) / name} is a link to a directory; remove it")
        for name in sorted(names):
            path = Path(folder) / name
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise CommandError(f"{path} is a link; put the file in its place, or remove it")
            if not stat.S_ISREG(status.st_mode):
                raise CommandError(f"{path} is not a regular file; remove it")
            found.append((_text(path.relative_to(run_dir).as_posix()), status.st_size))
    return found


def _raise(error: OSError) -> None:
    raise error


def _text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = name.encode(errors="backslashreplace").decode()
        raise CommandError(f"the name {shown} is not UTF-8; rename it first") from None
    return name


def merge(inputs: Sequence[Input], output: Path, progress: Progress) -> list[Member]:
    """Writes the archive `output`, completely or not at all; returns what it holds."""
    from tare import _native

    new = _new_beside(output)
    names = _Names()
    try:
        with _named(new, output), native_errors():
            writer = _native.ArchiveWriter(new)
            for each in inputs:
                if each.kind == "archive":
                    _add_archive(writer, each.path, names, progress)
                else:
                    _add(writer, each, names, progress)
            writer.finish()
        refuse_existing(output)
        new.replace(output)
    finally:
        with suppress(OSError):
            new.unlink()
    return members(open_archive(output).files())


def _add(writer: ArchiveWriter, given: Input, names: _Names, progress: Progress) -> None:
    of_run = given.kind == "run"
    member = names.distinct(_text(given.path.resolve().name) or FALLBACK, of_run)
    if not of_run:
        writer.add_file(member, given.path, progress)
        return
    for name, _ in _files_below(given.path):
        writer.add_run_file(member, given.path, name, progress)


def _add_archive(writer: ArchiveWriter, path: Path, names: _Names, progress: Progress) -> None:
    archive = open_archive(path)
    renamed: dict[str, str] = {}
    for number, file in enumerate(archive.files()):
        member = file.member
        if member not in renamed:
            renamed[member] = names.distinct(member, file.kind == "run")
        writer.add_archived(renamed[member], archive, number, progress)


class _Names:
    """Gives every member a name of its own: run, run-2, ...; node.tare, node-2.tare, ..."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def distinct(self, name: str, of_run: bool) -> str:
        stem, suffix = (name, "") if of_run else (name.removesuffix(SUFFIX), SUFFIX)
        chosen = name
        while chosen in self._taken:
            self._next[name] = self._next.get(name, 1) + 1
            chosen = f"{stem}-{self._next[name]}{suffix}"
        self._taken.add(chosen)
        return chosen


def split(path: Path, output: Path, damaged: bool, progress: Progress) -> list[Member]:
    """Takes the archive apart into the directory `output`, completely or not at all."""
    archive = open_archive(path)
    if archive.warnings() and not damaged:
        raise CommandError(f"{archive.warnings()[0]}; take out what is left with --damaged")
    new = _new_beside(output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        new.mkdir(private_files.DIRECTORY_MODE)
    except OSError as error:
        raise unwritable(output, error) from error
    try:
        with _named(new, output), native_errors():
            for number, file in enumerate(archive.files()):
                to = new / file.member / file.name if file.kind == "run" else new / file.member
                to.parent.mkdir(private_files.DIRECTORY_MODE, parents=True, exist_ok=True)
                archive.extract(number, to, not damaged, progress)
        refuse_filled(output)
        new.replace(output)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return members(archive.files())


def refuse_existing(output: Path) -> None:
    """UsageError if the name is in use, also by a link that leads nowhere."""
    if output.exists() or output.is_symlink():
        raise UsageError(f"{output} exists; choose another name, or remove it")


def refuse_filled(output: Path) -> None:
    """UsageError unless the name is free or that of an empty directory."""
    if output.is_symlink() or (output.exists() and not (output.is_dir() and not any(output.iterdir()))):
        raise UsageError(f"{output} exists and is not an empty directory; choose another with -o")


@contextmanager
def _named(new: Path, output: Path) -> Iterator[None]:
    """Errors speak of the output, not of its temporary name."""
    try:
        yield
    except CommandError as error:
        raise CommandError(str(error).replace(str(new), str(output))) from error


def _new_beside(output: Path) -> Path:
    return output.with_name(f".{output.name}.{os.getpid()}.new")


def described(found: Sequence[Member]) -> str:
    """How much it is: "2 runs, 1 single file, 5 files"."""
    runs = sum(member.kind == "run" for member in found)
    counts = ((runs, "run"), (len(found) - runs, "single file"))
    parts = " and ".join(units.number_of(count, what) for count, what in counts if count)
    return f"{parts or 'nothing'} ({units.number_of(sum(member.files for member in found), 'file')})"
