from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from some_run import metadata
from tare.errors import CommandError, UsageError
from tare.runs import directory
from tare.runs.metadata import META, Options


def test_names_do_not_collide_within_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda _: "20260131-120000")
    made = [directory.create("app", None).name for _ in range(3)]
    assert made == ["app-20260131-120000", "app-20260131-120000-2", "app-20260131-120000-3"]


def test_wanted_directory_must_be_new_or_empty(tmp_path: Path) -> None:
    assert directory.create("app", tmp_path / "deep" / "new") == tmp_path / "deep" / "new"
    (tmp_path / "empty").mkdir()
    assert directory.create("app", tmp_path / "empty") == tmp_path / "empty"
    (tmp_path / "file").touch()
    for occupied in (tmp_path, tmp_path / "file"):
        with pytest.raises(UsageError, match="not an empty directory"):
            directory.create("app", occupied)


def test_segments_go_to_the_run_directory_where_there_is_no_shared_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "SHARED_MEMORY", tmp_path / "shm")
    assert directory.choose_segment_dir(tmp_path / "run") == tmp_path / "run"
    (tmp_path / "shm").mkdir()
    assert directory.choose_segment_dir(tmp_path / "run") == tmp_path / "shm"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away")
def test_files_of_other_users_are_no_segments(tmp_path: Path) -> None:
    own, foreign = (tmp_path / f"tare-{metadata().run_id}-1-{number}" for number in range(2))
    own.touch()
    foreign.touch()
    os.chown(foreign, 65534, 65534)
    assert directory.segments(tmp_path, metadata(segment_dir=str(tmp_path))) == [own]


def test_reserve_takes_real_room_until_released(tmp_path: Path) -> None:
    directory.keep_reserves(tmp_path)
    for name, size in directory.RESERVES.items():
        assert (tmp_path / name).stat().st_blocks * 512 >= size
        directory.release_reserve(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_meta_is_replaced_as_a_whole(tmp_path: Path) -> None:
    directory.write_meta(tmp_path, metadata(name="old"))
    directory.write_meta(tmp_path, metadata(name="new"))
    assert directory.read_meta(tmp_path).name == "new"
    assert [path.name for path in tmp_path.iterdir()] == [META]
    assert (tmp_path / META).stat().st_mode & 0o777 == 0o600


def test_meta_does_not_go_where_a_link_leads(tmp_path: Path) -> None:
    run_dir, outside = tmp_path / "run", tmp_path / "outside"
    run_dir.mkdir()
    outside.write_text("mine")
    for name in (META, f"{META}.new"):
        (run_dir / name).symlink_to(outside)
    directory.write_meta(run_dir, metadata())
    assert outside.read_text() == "mine"
    assert not (run_dir / META).is_symlink()


def test_a_pipe_instead_of_meta_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / META)
    with pytest.raises(CommandError, match=r"meta\.json is not a regular file"):
        directory.read_meta(tmp_path)
    (tmp_path / META).unlink()
    (tmp_path / META).symlink_to("/dev/zero")
    with pytest.raises(CommandError, match=r"meta\.json is a symbolic link"):
        directory.read_meta(tmp_path)


def test_a_name_in_meta_leads_nowhere(tmp_path: Path) -> None:
    """Segments are in shared memory or in the run directory, whatever meta.json says."""
    assert directory.segment_dir(tmp_path, metadata(segment_dir="/dev/shm")) == Path("/dev/shm")
    for elsewhere in ("/home/somebody", "../..", "", "/dev/shm/../../etc"):
        assert directory.segment_dir(tmp_path, metadata(segment_dir=elsewhere)) == tmp_path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "not a run directory"),
        ("{", "damaged"),
        ("[]", "damaged"),
    ],
)
def test_what_is_no_run_is_said_in_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / META).write_text(content)
    with pytest.raises(CommandError, match=message) as caught:
        directory.read_meta(tmp_path)
    assert "\n" not in str(caught.value)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_run_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(0o755)
    for wanted in ("new", "there"):
        assert mode(directory.create("app", tmp_path / wanted)) == 0o700
    directory.keep_reserves(tmp_path / "new")
    assert {mode(path) for path in (tmp_path / "new").iterdir()} == {0o600}


def test_a_directory_of_another_user_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody may write there, but only its owner can change that."""
    if os.geteuid() != 0:
        pytest.skip("needs to give a directory away")
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    theirs = Path("theirs")
    theirs.mkdir()
    theirs.chmod(0o777)
    os.chown(theirs, 54321, -1)
    os.seteuid(65534)
    try:
        for _ in range(2):
            with pytest.raises(
                CommandError, match="theirs: it belongs to user 54321, and must be your own; choose"
            ):
                directory.create("app", theirs)
    finally:
        os.seteuid(0)
    assert not any(theirs.iterdir())
    assert mode(theirs) == 0o777


def test_a_run_may_be_opened_to_a_group(tmp_path: Path) -> None:
    group = os.getegid()
    run_dir = directory.create("app", tmp_path / "run", group)
    assert (mode(run_dir), run_dir.stat().st_gid) == (0o750, group)
    meta = metadata(options=Options(group=str(group)))
    directory.write_meta(run_dir, meta)
    (run_dir / "node.tare").touch(0o600)
    (tmp_path / "outside").touch(0o600)
    (run_dir / "link.tare").symlink_to(tmp_path / "outside")
    (run_dir / "other.tare").hardlink_to(tmp_path / "outside")
    directory.open_to_group(run_dir, meta)
    assert mode(run_dir / META) == mode(run_dir / "node.tare") == 0o640
    assert mode(tmp_path / "outside") == 0o600, "what has a second name is not only the run's"


def test_a_group_has_a_name_or_a_number() -> None:
    assert directory.group_number("root") == 0
    assert directory.group_number("1234567") == 1234567
    assert directory.group_number("no-such-group") is None
    assert directory.group_number(None) is None


def test_reserves_do_not_go_where_links_lead(tmp_path: Path) -> None:
    run_dir, outside = tmp_path / "run", tmp_path / "outside"
    run_dir.mkdir()
    outside.write_text("mine")
    for name in directory.RESERVES:
        (run_dir / name).symlink_to(outside)
    directory.keep_reserves(run_dir)
    assert outside.read_text() == "mine"


def test_a_small_file_takes_little_memory_however_large_it_may_be(tmp_path: Path) -> None:
    """Login nodes and batch systems limit address space (ulimit -v)."""
    small = tmp_path / "small"
    small.write_text("content")
    code = (
        "import resource; from pathlib import Path; from tare import private_files\n"
        "resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))\n"
        f"path = Path({str(small)!r})\n"
        "print(private_files.read_regular(path, 1 << 30))\n"
        "with private_files.opened_directory(path.parent) as directory:\n"
        "    print(directory.read('small', 1 << 30))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "b'content'\nb'content'\n", done.stderr
