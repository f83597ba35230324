"""A run directory: its creation, meta.json, the reserve on its disk, where its segments are."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tare import private_files
from tare.errors import CommandError, UsageError
from tare.runs import environment, missing, runner
from tare.runs.metadata import META, Metadata, Options, decode, encode
from tare.units import KIB

# Set free when the program has ended: on a full disk the profile, then meta.json still find room.
RESERVE = ".reserve"
META_RESERVE = ".reserve-meta"
RESERVES = {RESERVE: 256 * KIB, META_RESERVE: 64 * KIB}
# Questions of `tare where` on other nodes, which see `tare run` and keepers; files of their answers; notes of
# keepers (src/reader/run/answers.h, src/keeper).
ASKED = ".asked"
SEEN = ".seen-"
KEEPING = ".keeping-"
SHARED_MEMORY = Path("/dev/shm")
# The system allows 4,095 bytes, and the files below have names, too.
LONGEST_PATH = 3_700
# A rank takes some 150 bytes of it.
LARGEST_META = 1 << 30


def create(name: str, wanted: Path | None, group: int | None = None) -> Path:
    """Makes an empty directory for this user and `group`: `wanted`, or one named after program and time."""
    try:
        run_dir = _create_wanted(wanted, group) if wanted else _create_named(name, group)
        if len(os.fsencode(run_dir)) > LONGEST_PATH:
            discard(run_dir)
            raise UsageError(f"the path of the run directory is too long ({LONGEST_PATH:,} bytes at most)")
        return run_dir
    except OSError as error:
        where = wanted or Path.cwd()
        raise CommandError(
            f"cannot make a run directory in {where}: {error.strerror}; choose another with -o DIR"
        ) from error


def _create_wanted(wanted: Path, group: int | None) -> Path:
    if wanted.exists() and (not wanted.is_dir() or any(wanted.iterdir())):
        raise _taken(wanted)
    wanted.mkdir(private_files.DIRECTORY_MODE, parents=True, exist_ok=True)
    _protect(wanted, group)
    try:  # a launcher may have started several that want it
        private_files.claim(wanted / META)
    except FileExistsError:
        raise _taken(wanted) from None
    return wanted.resolve()


def _taken(wanted: Path) -> UsageError:
    by = missing.launched(os.environ)
    return UsageError(
        f"{wanted} exists and is not an empty directory; "
        + (f"{missing.of_launcher(by)}, and others want the same" if by else "choose another with -o")
    )


def _protect(run_dir: Path, group: int | None) -> None:
    """Also a directory that was there before: nobody else may put files or links into it."""
    try:
        run_dir.chmod(private_files.DIRECTORY_MODE if group is None else private_files.GROUP_DIRECTORY_MODE)
    except PermissionError as error:
        owner = run_dir.stat().st_uid
        if owner == os.geteuid():
            raise
        reason = f"it belongs to {private_files.user_name(owner)}, and must be your own"
        raise PermissionError(error.errno, reason) from None
    if group is not None:
        os.chown(run_dir, -1, group)


def _create_named(name: str, group: int | None) -> Path:
    stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for attempt in range(1, 1000):
        path = Path.cwd() / (stem if attempt == 1 else f"{stem}-{attempt}")
        try:
            path.mkdir(private_files.DIRECTORY_MODE)
        except FileExistsError:
            continue
        _protect(path, group)
        return path
    raise OSError(errno.EEXIST, "too many runs in this second")


def discard(run_dir: Path) -> None:
    """Removes a run directory in which nothing was measured."""
    for name in (META, ASKED, *RESERVES):
        (run_dir / name).unlink(missing_ok=True)
    run_dir.rmdir()


def choose_segment_dir(run_dir: Path) -> Path:
    """Shared memory, if there is any. Processes use it as far as it has room (src/recorder/room.h)."""
    return SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK | os.X_OK) else run_dir


def describe(command: list[str], name: str, run_dir: Path, options: Options, version: int) -> Metadata:
    """The content of meta.json before the program starts."""
    from tare import __version__

    segments = choose_segment_dir(run_dir)
    return Metadata(
        format=version,
        tare=__version__,
        run_id=os.urandom(8).hex(),
        run_key=os.urandom(16).hex(),
        name=name,
        command=command,
        cwd=str(Path.cwd()),
        host=os.uname().nodename,
        processors=len(os.sched_getaffinity(0)),
        start_ns=time.time_ns(),
        options=options,
        segment_dir=str(segments),
        runner=replace(runner.this_process(), memory=runner.memory_name(segments)),
        launched=missing.launched(os.environ),
        state="running",
        environment=environment.kept(os.environ, options.keep_env),
    )


def keep_reserves(run_dir: Path) -> None:
    """Makes files as large as what the end of the run writes; OSError if there is too little room."""
    with private_files.opened_directory(run_dir) as directory:
        for name, size in RESERVES.items():
            with os.fdopen(private_files.create(directory, name), "wb") as reserve:
                os.posix_fallocate(reserve.fileno(), 0, size)


def expect_questions(run_dir: Path) -> None:
    """Makes their file: by NFS, who looked for it in vain may not see it for a minute. OSError: no room."""
    with private_files.opened_directory(run_dir) as directory:
        os.close(private_files.create(directory, ASKED))


def release_reserve(run_dir: Path, name: str) -> None:
    """Releases the reserve. If it stays, there is less room, and nothing else is wrong."""
    with suppress(OSError):
        (run_dir / name).unlink()


def remove_notes(run_dir: Path) -> None:
    """What ranks have told one another by files (src/mpi/sampling/); questions, and answers to nobody."""
    notes = (*run_dir.glob(".finalizing-*"), *run_dir.glob(f"{SEEN}*"))
    for note in (*notes, run_dir / ".sample-refused", run_dir / ASKED):
        with suppress(OSError):
            note.unlink()


def keepers(run_dir: Path) -> list[Path]:
    """Notes of those that collect on other nodes (src/keeper), as long as they work."""
    return list(run_dir.glob(f"{KEEPING}*"))


def write_meta(run_dir: Path, meta: Metadata) -> None:
    """Replaces meta.json completely or not at all."""
    private_files.replace(run_dir / META, encode(meta), group_number(meta.options.group))


def group_number(name: str | None) -> int | None:
    """The number of a group, given by name or number; None if there is none of that name here."""
    if name is None:
        return None
    import grp

    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        return int(name) if name.isascii() and name.isdigit() else None


def open_to_group(run_dir: Path, meta: Metadata) -> None:
    """Has the group of the run read what was collected."""
    group = group_number(meta.options.group)
    if group is not None:
        for path in run_dir.glob("*.tare"):
            private_files.open_to_group(path, group)


def read_meta(run_dir: Path) -> Metadata:
    """meta.json of a run that this tare can read."""
    from tare import _native

    if run_dir.is_file():
        raise CommandError(f"{run_dir} is neither a run directory nor an archive of runs")
    if not run_dir.is_dir():
        raise CommandError(f"{run_dir}: no such run directory")
    try:
        with private_files.opened_run(run_dir) as directory:
            text = directory.read(META, LARGEST_META)
    except FileNotFoundError:
        raise CommandError(f"{run_dir} is not a run directory: it has no {META}") from None
    return decode(text, str(run_dir), _native.FORMAT_VERSION)


def monitored(run_dir: Path, *, also_ended: bool = False) -> Metadata:
    """The same of a run that is monitored; CommandError if it is not. `also_ended`: files of rounds do."""
    if run_dir.is_file():
        raise CommandError(f"{run_dir} is a file: a run that is monitored is a directory")
    meta = read_meta(run_dir)
    if not meta.options.monitor and not (also_ended and any(run_dir.glob("monitor-*.tare"))):
        raise CommandError(f"{run_dir} is not monitored: start it with tare run --monitor -- COMMAND")
    return meta


def has_records(run_dir: Path, meta: Metadata) -> bool:
    """Whether any process called MPI: it left chunks, or a segment not yet collected."""
    return any(run_dir.glob("*.tare")) or bool(segments(run_dir, meta))


def segment_dir(run_dir: Path, meta: Metadata) -> Path:
    """The place of segments beside the run directory: a name in meta.json leads nowhere else."""
    return SHARED_MEMORY if Path(meta.segment_dir) == SHARED_MEMORY else run_dir


def segments(run_dir: Path, meta: Metadata) -> list[Path]:
    """The segments that are not yet collected; in the run directory those without room elsewhere.

    Every user can make files with such names in shared memory: theirs are none.
    """
    owners = {os.geteuid(), run_dir.stat().st_uid}
    return [path for path, owner in _named_like_segments(run_dir, meta) if owner in owners]


def segments_of_others(run_dir: Path, meta: Metadata) -> list[tuple[Path, int]]:
    """What is named like a segment of the run and belongs to another user, with the number of that user."""
    owners = {os.geteuid(), run_dir.stat().st_uid}
    return [
        (path, owner)
        for path, owner in _named_like_segments(run_dir, meta)
        if owner is not None and owner not in owners
    ]


def _named_like_segments(run_dir: Path, meta: Metadata) -> list[tuple[Path, int | None]]:
    places = {segment_dir(run_dir, meta).resolve(), run_dir.resolve()}
    return sorted((path, _owner(path)) for place in places for path in place.glob(f"tare-{meta.run_id}-*"))


def _owner(path: Path) -> int | None:
    """None of a file that has gone meanwhile."""
    try:
        return path.lstat().st_uid
    except FileNotFoundError:
        return None
