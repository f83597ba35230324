"""Archives: `tare merge` and `tare split` are exact inverses; a run in an archive reads like one on disk."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
FILE_LIMIT = 64
MANY = 2000
LARGE_BYTES = 256 << 20
MEMORY_BYTES = 128 << 20
SMALL_DISK = "64k"

Tare = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def call(tare: Path, tmp_path: Path) -> Tare:
    """Runs `tare` in tmp_path with few files allowed; keywords go to subprocess.run."""

    def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [tare, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILE_LIMIT, FILE_LIMIT)),
            **options,
        )

    return run


def succeed(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def fail(done: subprocess.CompletedProcess[str], exit_code: int = 1) -> str:
    """The one line of the failure."""
    assert (done.returncode, done.stdout) == (exit_code, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("tare: "), done.stderr
    return lines[0]


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def listing(call: Tare, archive: Path) -> list[dict[str, Any]]:
    document = json.loads(succeed(call("split", "--list", archive, "--json")))
    assert (document["schema"], document["run"]) == ("tare.archive/1", str(archive))
    return list(document["rows"])


def copy_of_run(to: Path, number: int = 0) -> Path:
    """The stored run; with a `number`, as another run, which was measured for itself."""
    shutil.copytree(RUN, to)
    if number:
        number_run(to, number)
    return to


def number_run(run: Path, number: int) -> None:
    text = (RUN / "meta.json").read_text()
    (run / "meta.json").write_text(text.replace(json.loads(text)["run_id"], f"{number:016x}"))


@pytest.fixture
def one(call: Tare, tmp_path: Path) -> Path:
    """An archive of one run."""
    succeed(call("merge", "-o", "one.tare", RUN))
    return tmp_path / "one.tare"


@pytest.fixture
def two(call: Tare, tmp_path: Path) -> Path:
    """An archive of two runs of different length: `whole` and `short`."""
    copy_of_run(tmp_path / "whole", 1)
    file = copy_of_run(tmp_path / "short", 2) / "node0.tare"
    file.write_bytes(file.read_bytes()[:9000])
    succeed(call("merge", "-o", "two.tare", "whole", "short"))
    return tmp_path / "two.tare"


def test_there_and_back(call: Tare, tmp_path: Path) -> None:
    """Whatever a run directory holds: odd names, folders, torn and empty files."""
    run = copy_of_run(tmp_path / "a run")
    (run / "node1.tare").write_bytes((RUN / "node0.tare").read_bytes()[:5000])
    (run / "node2.tare").touch()
    (run / "plots").mkdir()
    (run / "plots" / "größe, 1.svg").write_bytes(bytes(range(256)))
    single = tmp_path / "node0.tare"
    shutil.copy(RUN / "node0.tare", single)
    torn = tmp_path / "torn.tare"
    torn.write_bytes(b"not a chunk")

    assert succeed(call("merge", "-o", "runs.tare", torn, run, single)) == (
        f"runs.tare: 1 run and 2 single files (7 files), {size_of(tmp_path / 'runs.tare')}\n"
    )
    found = listing(call, tmp_path / "runs.tare")
    assert [(row["name"], row["kind"], row["files"]) for row in found] == [
        ("torn.tare", "file", 1),
        ("a run", "run", 5),
        ("node0.tare", "file", 1),
    ]
    assert succeed(call("split", "runs.tare")) == "runs: 1 run and 2 single files (7 files)\n"
    assert contents(tmp_path / "runs" / "a run") == contents(run)
    for file in torn, single:
        assert (tmp_path / "runs" / file.name).read_bytes() == file.read_bytes()
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"a run", "node0.tare", "torn.tare"}


def size_of(path: Path) -> str:
    from tare import units

    return units.size(path.stat().st_size)


def test_an_archive_of_what_was_taken_apart_is_the_same(call: Tare, two: Path, tmp_path: Path) -> None:
    succeed(call("split", two, "-o", "apart"))
    succeed(call("merge", "-o", "again.tare", "apart/whole", "apart/short"))
    assert (tmp_path / "again.tare").read_bytes() == two.read_bytes()


def test_archives_are_merged_by_their_members(call: Tare, one: Path, two: Path, tmp_path: Path) -> None:
    succeed(call("merge", "-o", "three.tare", two, one))
    assert [row["name"] for row in listing(call, tmp_path / "three.tare")] == ["whole", "short", "stencil"]
    succeed(call("split", "three.tare", "-o", "apart"))
    assert contents(tmp_path / "apart" / "stencil") == contents(RUN)


def test_equal_names_are_told_apart(call: Tare, tmp_path: Path) -> None:
    shutil.copy(RUN / "node0.tare", tmp_path)
    runs = [copy_of_run(tmp_path / f"{number}" / "stencil", number) for number in range(1, 7)]
    succeed(call("merge", "-o", "a.tare", *runs[:2], "node0.tare", "node0.tare", runs[2]))
    found = listing(call, tmp_path / "a.tare")
    assert [row["name"] for row in found] == [
        "stencil",
        "stencil-2",
        "node0.tare",
        "node0-2.tare",
        "stencil-3",
    ]
    succeed(call("merge", "-o", "b.tare", *runs[3:], "node0.tare"))
    succeed(call("merge", "-o", "c.tare", "a.tare", "b.tare"))
    names = [row["name"] for row in listing(call, tmp_path / "c.tare")]
    assert len(set(names)) == len(found) + 4


def test_a_run_is_merged_once(call: Tare, one: Path, two: Path, tmp_path: Path) -> None:
    """It is known by its identifier: as a copy, and within archives."""
    copy = copy_of_run(tmp_path / "copy")
    for inputs, other, name in (
        ((RUN, RUN), RUN, RUN),
        ((two, copy, RUN), copy, RUN),
        ((copy, two, one), copy, f"stencil in {one}"),
        ((two, "whole"), f"whole in {two}", "whole"),
    ):
        why = f"tare: {other} and {name} are the same run: name each once"
        assert fail(call("merge", "-o", "new.tare", *inputs), 2) == why
        assert not (tmp_path / "new.tare").exists()
    # Of damaged ones it is not known.
    for number in 1, 2:
        (copy_of_run(tmp_path / f"damaged-{number}") / "meta.json").write_text("{}")
    succeed(call("merge", "-o", "new.tare", "damaged-1", "damaged-2"))


def test_two_thousand_inputs(call: Tare, one: Path, tmp_path: Path) -> None:
    """Few files are allowed to be open; half of the runs have one name."""
    inputs: list[str | Path] = [one]
    original = copy_of_run(tmp_path / "original")
    for number in range(1, MANY):
        folder = tmp_path / "in" / f"{number}"
        folder.mkdir(parents=True)
        if number % 2:
            (folder / f"{number}.tare").hardlink_to(original / "node0.tare")
            inputs.append(folder / f"{number}.tare")
        else:
            (folder / "run").mkdir()
            (folder / "run" / "node0.tare").hardlink_to(original / "node0.tare")
            number_run(folder / "run", number)
            inputs.append(folder / "run")
    succeed(call("merge", "-o", "many.tare", *inputs))
    found = listing(call, tmp_path / "many.tare")
    assert len(found) == len({row["name"] for row in found}) == MANY

    assert json.loads(succeed(call("info", "many.tare", "--member", "run-500", "--json")))["ranks"]
    assert fail(call("info", "many.tare")).endswith(
        "choose one with --member NAME: stencil, 1.tare, run, 3.tare, run-2, 5.tare, "
        f"run-3, 7.tare, run-4, 9.tare and {MANY - 10:,} more"
    )
    succeed(call("split", "many.tare"))
    node = (RUN / "node0.tare").read_bytes()
    for row in found:
        path = tmp_path / "many" / row["name"]
        assert (path / "node0.tare" if row["kind"] == "run" else path).read_bytes() == node
        assert row["kind"] == "file" or set(contents(path)) == {"meta.json", "node0.tare"}


def test_large_files_take_no_memory(tare: Path, tmp_path: Path) -> None:
    run = copy_of_run(tmp_path / "run")
    with (run / "node1.tare").open("wb") as large:
        large.truncate(LARGE_BYTES)
    for arguments in (["merge", "-o", "a.tare", "run"], ["split", "a.tare"]):
        program = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        shown = subprocess.check_output(
            [sys.executable, "-c", program, tare, *arguments], cwd=tmp_path, text=True
        )
        assert int(shown.splitlines()[-1]) << 10 < MEMORY_BYTES
    assert (tmp_path / "a" / "run" / "node1.tare").stat().st_size == LARGE_BYTES


@pytest.mark.parametrize(
    "verb", [["info"], ["profile"], ["profile", "--by", "rank"], ["events"], ["events", "--rank", "1"]]
)
def test_a_run_in_an_archive_reads_like_its_directory(
    verb: list[str], call: Tare, one: Path, two: Path
) -> None:
    want = json.loads(succeed(call(*verb, RUN, "--json")))
    assert json.loads(succeed(call(*verb, one, "--json"))) == want | {"run": str(one)}
    assert json.loads(succeed(call(*verb, two, "--member", "whole", "--json"))) == want | {"run": str(two)}
    assert succeed(call(*verb, one)) == succeed(call(*verb, RUN))


def test_choosing_a_run(call: Tare, two: Path, tmp_path: Path) -> None:
    for verb in ("info", "profile", "events"):
        assert fail(call(verb, two)) == (
            f"tare: {two} is an archive, choose one with --member NAME: whole, short"
        )
    assert fail(call("info", two, "--member", "long")) == (
        f"tare: {two} holds no long; it holds whole, short"
    )
    for several in (["diff", two, RUN], ["diff", "--scaling", RUN, two], ["report", RUN, "--compare", two]):
        assert fail(call(*several)) == (
            f"tare: {two} is an archive of several runs: `tare split {two}` takes them out (whole, short)"
        )
    assert "is not an archive" in fail(call("info", RUN, "--member", "stencil"), 2)
    (warning,) = json.loads(succeed(call("info", two, "--member", "short", "--json")))["warnings"]
    assert warning.startswith("node0.tare: ")

    shutil.copy(RUN / "node0.tare", tmp_path / "node0.tare")
    succeed(call("merge", "-o", "single.tare", "node0.tare"))
    assert "node0.tare in single.tare is a single file" in fail(call("info", "single.tare"))
    assert "`tare split`" in fail(call("recover", two))


def test_an_archive_cut_off_is_read_as_far_as_it_goes(call: Tare, two: Path, tmp_path: Path) -> None:
    whole = two.read_bytes()
    everything = json.loads(succeed(call("events", two, "--member", "whole", "--json")))["rows"]
    last = -1
    for share in (0.2, 0.4, 0.55, 0.9):
        cut = tmp_path / "cut.tare"
        cut.write_bytes(whole[: int(share * len(whole))])
        done = call("info", cut, "--member", "whole", "--json")
        nothing = "the files of this run hold 0 of its 2 processes" if share == 0.2 else ""
        assert (done.returncode, nothing in done.stderr) == (1 if nothing else 0, True)
        document = json.loads(done.stdout)
        assert any("cut.tare is cut off" in warning for warning in document["warnings"])
        read = call("events", cut, "--member", "whole", "--json")
        assert "cut.tare is cut off" in read.stderr
        events = json.loads(read.stdout)["rows"] if not nothing else []
        assert read.returncode == (0 if events else 1)
        assert last <= len(events) <= len(everything)
        last = len(events)
    assert last == len(everything)

    assert "--damaged" in fail(call("split", cut))
    assert not (tmp_path / "cut").exists()
    assert "--damaged" in fail(call("merge", "-o", "new.tare", cut))
    done = call("split", cut, "--damaged")
    assert done.returncode == 0
    assert "cut.tare is cut off" in done.stderr
    assert contents(tmp_path / "cut" / "whole") == contents(tmp_path / "whole")
    rest = (tmp_path / "cut" / "short" / "node0.tare").read_bytes()
    assert 0 < len(rest) < 9000
    assert (tmp_path / "short" / "node0.tare").read_bytes().startswith(rest)


def test_a_changed_byte_is_found(call: Tare, one: Path, tmp_path: Path) -> None:
    data = bytearray(one.read_bytes())
    data[len(data) // 2] ^= 1
    one.write_bytes(data)
    assert "wrong checksum" in fail(call("split", one))
    assert {path.name for path in tmp_path.iterdir()} == {"one.tare"}
    assert succeed(call("split", one, "--damaged"))
    (changed,) = (
        name for name, data in contents(tmp_path / "one" / "stencil").items() if data != contents(RUN)[name]
    )
    assert changed == "node0.tare"


def test_nothing_is_overwritten(call: Tare, one: Path, tmp_path: Path) -> None:
    before = one.read_bytes()
    assert "one.tare exists" in fail(call("merge", "-o", one, RUN), 2)
    assert one.read_bytes() == before
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").touch()
    assert "not an empty directory" in fail(call("split", one, "-o", "out"), 2)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]
    (tmp_path / "out" / "kept").unlink()
    succeed(call("split", one, "-o", "out"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("missing", "missing: No such file or directory"),
        ("folder", "folder is not a run directory: it has no meta.json"),
        ("text", "text is neither a run directory nor a .tare file"),
        ("linked", "is a link to a directory"),
        ("pipe", "is not a regular file"),
    ],
)
def test_what_cannot_be_merged(given: str, message: str, call: Tare, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("hello")
    (copy_of_run(tmp_path / "linked") / "link").symlink_to("/tmp")
    os.mkfifo(copy_of_run(tmp_path / "pipe") / "fifo")
    before = set(tmp_path.iterdir())
    assert message in fail(call("merge", "-o", "a.tare", RUN, given))
    assert set(tmp_path.iterdir()) == before


def test_a_run_that_goes_on_is_not_merged(call: Tare, tmp_path: Path) -> None:
    run = copy_of_run(tmp_path / "run")
    meta = json.loads((run / "meta.json").read_text("utf-8"))
    (run / f"tare-{meta['run_id']}-1-0").touch()
    assert "`tare recover`" in fail(call("merge", "-o", "a.tare", run))


def test_what_is_no_archive_is_not_taken_apart(call: Tare) -> None:
    assert "is not an archive" in fail(call("split", RUN / "node0.tare"))
    assert "no such archive" in fail(call("split", "missing.tare"))
    assert f"`tare merge -o ARCHIVE.tare {RUN}` makes one" in fail(call("split", RUN))
    fail(call("split", RUN / "node0.tare", "--json"), 2)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tare-test", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"cannot mount a small disk; run this test as root: {done.stderr.strip()}", pytrace=False)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_nothing_behind(call: Tare, small_disk: Path, tmp_path: Path) -> None:
    inputs = [copy_of_run(tmp_path / f"{number}", number) for number in range(1, 6)]
    assert fail(call("merge", "-o", small_disk / "a.tare", *inputs)) == (
        f"tare: cannot write {small_disk}/a.tare: No space left on device"
    )
    assert list(small_disk.iterdir()) == []
    succeed(call("merge", "-o", "a.tare", *inputs))
    assert "No space left on device" in fail(call("split", "a.tare", "-o", small_disk / "a"))
    assert list(small_disk.iterdir()) == []


def test_interrupted_it_leaves_nothing_behind(tare: Path, tmp_path: Path) -> None:
    """Ctrl-C in the middle of a copy that would take minutes."""
    run = copy_of_run(tmp_path / "run")
    with (run / "node1.tare").open("wb") as large:
        large.truncate(1 << 39)
    process = subprocess.Popen([tare, "merge", "-o", "a.tare", "run"], cwd=tmp_path, stderr=subprocess.PIPE)
    new = tmp_path / f".a.tare.{process.pid}.new"
    try:
        while not (new.exists() and new.stat().st_size > 1 << 20):
            assert process.poll() is None
        process.send_signal(2)
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode not in (0, None)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
