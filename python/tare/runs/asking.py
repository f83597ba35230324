"""Asks other nodes of a run which calls its living processes are in (`src/reader/run/answers.h`)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare import private_files, streams
from tare.errors import CommandError
from tare.runs import directory, runner

if TYPE_CHECKING:
    from tare.runs.run import Run

# They look whether they are asked every five seconds, and more often for a while once they were.
PATIENCE_S = 2 * runner.QUESTIONS_EVERY_S
LOOK_EVERY_S = 0.02
LEAST_OFTEN_S = 0.25
# As keepers are named by the files that they write, this is none of them.
RUNNER = ""


@dataclass(frozen=True)
class Answers:
    """The names of files of answers, which are removed afterwards; and who has not answered.

    `silent` are names of keepers, or RUNNER, which is `tare run`. `obstacle`: why nobody could be asked.
    """

    files: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    obstacle: str = ""

    @property
    def runner_is_silent(self) -> bool:
        """Whether `tare run` was asked in vain."""
        return RUNNER in self.silent

    def without(self, whom: Iterable[str]) -> Answers:
        """The same, and these were not asked, as they had not answered before."""
        return replace(self, silent=sorted({*self.silent, *whom}))


def others(recording: Run) -> list[str]:
    """Whom to ask about processes that are not seen here; none of a run that is all here.

    Keepers outlive a `tare run` that was killed, and one whose command has ended before all ranks.
    """
    notes = [] if recording.member else directory.keepers(recording.run_dir)
    if not (recording.is_going_on or notes):
        return []
    meta = recording.meta
    sees_its = runner.sees_memory(meta, directory.segment_dir(recording.run_dir, meta))
    if sees_its and not (recording.missing or recording.saved):
        return []
    touches = recording.is_going_on and meta.runner is not None and meta.runner.touches
    keepers = [note.name.removeprefix(directory.KEEPING) for note in notes]
    return sorted(keepers) + ([RUNNER] if touches and not sees_its else [])


@contextmanager
def answered(run_dir: Path, whom: Sequence[str], *, is_going_on: bool = True) -> Iterator[Answers]:
    """Has their answers as long as it is entered.

    Unless the run goes on, a keeper that does not answer is taken to be dead, and not asked again: its note
    is removed. If it lives, it makes another one.
    """
    if not whom:
        yield Answers()
        return
    question = os.urandom(8).hex()
    names = {who: f"{directory.SEEN}{question}{f'-{who}' if who else ''}" for who in whom}
    with private_files.opened_run(run_dir) as opened:
        made: list[str] = []
        try:
            try:
                for name in names.values():
                    os.close(private_files.create(opened, name))
                    made.append(name)
                opened.append(directory.ASKED, f"{question}\n".encode())
            except OSError as error:
                yield Answers(silent=list(whom), obstacle=error.strerror or str(error))
                return
            silent = _wait(opened, names)
            if not is_going_on and silent:
                made += [directory.ASKED, *(f"{directory.KEEPING}{who}" for who in silent)]
            yield Answers([name for who, name in names.items() if who not in silent], silent)
        finally:
            for name in made:
                with suppress(OSError):
                    os.unlink(name, dir_fd=opened.fd)


def _wait(opened: private_files.Directory, names: dict[str, str]) -> list[str]:
    """Waits until all have answered, or for as long as it may take; who has not."""
    from tare import _native

    end = _native.END_OF_ANSWER.encode()
    begin = time.monotonic()
    open_questions = dict(names)
    pause = LOOK_EVERY_S
    while True:
        for who, name in names.items():
            if who in open_questions and _has_end(opened, name, end):
                del open_questions[who]
        waited_s = time.monotonic() - begin
        if not open_questions or waited_s > PATIENCE_S:
            break
        if waited_s > 1:
            streams.progress(
                f"asking {len(open_questions):,} of {len(names):,} other nodes: {waited_s:.0f} s"
            )
        time.sleep(pause)
        pause = min(1.2 * pause, LEAST_OFTEN_S)
    if time.monotonic() - begin > 1:
        streams.progress("")
    return list(open_questions)


def _has_end(opened: private_files.Directory, name: str, end: bytes) -> bool:
    try:
        return opened.ends_with(name, end)
    except (OSError, CommandError):
        return False
