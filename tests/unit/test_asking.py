"""Questions to other nodes of a run (runs/asking.py); somebody answers as `tare run` and keepers do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tare import _native
from tare.errors import CommandError
from tare.runs import asking
from tare.runs.asking import RUNNER, answered


@contextmanager
def answering(run_dir: Path, *whose: str) -> Iterator[None]:
    """Answers the first question."""
    over = threading.Event()

    def answer() -> None:
        while not (run_dir / ".asked").read_text().endswith("\n"):
            if over.wait(0.001):
                return
        question = (run_dir / ".asked").read_text().strip()
        for who in whose:
            file = run_dir / f".seen-{question}{f'-{who}' if who else ''}"
            with file.open("r+") as made:  # who asks has made it
                made.write(f"chunks of {who}{_native.END_OF_ANSWER}")

    (run_dir / ".asked").touch()
    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_answers_are_there_as_long_as_they_are_read(tmp_path: Path) -> None:
    with answering(tmp_path, RUNNER, "node1"), answered(tmp_path, ["node1", RUNNER]) as answers:
        assert answers.silent == [] and not answers.runner_is_silent and answers.obstacle == ""
        texts = sorted(
            (tmp_path / name).read_text().split(_native.END_OF_ANSWER)[0] for name in answers.files
        )
        assert texts == ["chunks of ", "chunks of node1"]
    assert [path.name for path in tmp_path.iterdir()] == [".asked"]


def test_who_does_not_answer_in_time_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE_S", 0.2)
    begin = time.monotonic()
    with answering(tmp_path, "node1"), answered(tmp_path, ["node1", "node2", RUNNER]) as answers:
        assert time.monotonic() - begin > asking.PATIENCE_S
        assert sorted(answers.silent) == [RUNNER, "node2"] and answers.runner_is_silent
        assert len(answers.files) == 1 and answers.files[0].endswith("-node1")
        assert sorted(answers.without(["node0"]).silent) == [RUNNER, "node0", "node2"]
    assert [path.name for path in tmp_path.iterdir()] == [".asked"]


def test_questions_do_not_follow_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link leads to what nobody has asked to write to."""
    monkeypatch.setattr(asking, "PATIENCE_S", 0.2)
    secret = tmp_path / "secret"
    secret.write_text(_native.END_OF_ANSWER)
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / ".asked").symlink_to(secret)
    with pytest.raises(CommandError, match="is a symbolic link"), answered(run_dir, ["node1"]):
        pass
    assert secret.read_text() == _native.END_OF_ANSWER
    assert [path.name for path in run_dir.iterdir()] == [".asked"]


def test_nobody_is_asked_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tare.private_files.create", refuse)
    with answered(tmp_path, ["node1"]) as answers:
        assert answers.obstacle == "Permission denied" and answers.silent == ["node1"] and answers.files == []


def test_who_does_not_answer_of_a_run_that_is_over_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keeper that was killed has left its note; one that lives makes it anew, as the questions are gone."""
    monkeypatch.setattr(asking, "PATIENCE_S", 0.2)
    notes = [tmp_path / f".keeping-{who}" for who in ("node1", "node2")]
    for note in notes:
        note.touch()
    whom = ["node1", "node2"]
    with answering(tmp_path, "node1"), answered(tmp_path, whom, is_going_on=True):
        pass
    assert all(note.exists() for note in notes)
    (tmp_path / ".asked").unlink()
    with answering(tmp_path, "node1"), answered(tmp_path, whom, is_going_on=False) as answers:
        assert answers.silent == ["node2"]
    assert [path.name for path in tmp_path.iterdir()] == [".keeping-node1"]
