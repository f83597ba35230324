"""A run directory, or archive, that somebody made to have tare write, remove or read what lies elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT

RUN = ROOT / "tests" / "data" / "v1" / "stencil"
RUN_ID = json.loads((RUN / "meta.json").read_text("utf-8"))["run_id"]

Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def call(tare: Path) -> Call:
    """A line and an exit code, whatever it is; never a traceback, never for ever."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [tare, *arguments], capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2), done
        return done

    return run


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    copied = tmp_path / "run"
    shutil.copytree(RUN, copied)
    return copied


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A directory with files of the names that a run has."""
    place = tmp_path / "victim"
    place.mkdir()
    for name in ("precious", f"tare-{RUN_ID}-1-0", f"tare-{RUN_ID}.step", ".reserve", "tare-x-1-0"):
        (place / name).write_text("precious")
    return place


def change(run_dir: Path, **values: Any) -> None:
    path = run_dir / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


def contents(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.iterdir()}


def test_recover_goes_nowhere_else(call: Call, run_dir: Path, victim: Path) -> None:
    before = contents(victim)
    change(run_dir, segment_dir=str(victim))
    call("recover", run_dir)
    for run_id in ("../victim/tare", f"../../{victim.name}/x", "x", "*", "", "a" * 15, "A" * 16):
        change(run_dir, run_id=run_id)
        done = call("recover", run_dir)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "run_id is not 16 hexadecimal digits" in done.stderr
    assert contents(victim) == before


def test_recover_follows_no_links(call: Call, run_dir: Path, victim: Path) -> None:
    before = contents(victim)
    precious = victim / "precious"
    for name in ("meta.json.new", ".reserve", ".reserve-meta", ".finalizing-0", f"tare-{RUN_ID}-99999-0"):
        (run_dir / name).symlink_to(precious)
    (run_dir / f"tare-{RUN_ID}-99998-0").hardlink_to(precious)
    call("recover", run_dir)
    assert contents(victim) == before
    assert json.loads((run_dir / "meta.json").read_text("utf-8"))["run_id"] == RUN_ID


@pytest.mark.parametrize("name", ["meta.json", "pipe.tare", "node0.tare"])
def test_a_pipe_is_not_waited_for(call: Call, run_dir: Path, name: str) -> None:
    (run_dir / name).unlink(missing_ok=True)
    os.mkfifo(run_dir / name)
    for verb in ("info", "profile", "recover", "merge"):
        more = ("-o", run_dir.parent / "new.tare") if verb == "merge" else ()
        done = call(verb, *more, run_dir)
        assert done.returncode == 1
        expected = (
            "it has no meta.json" if (verb, name) == ("merge", "meta.json") else "is not a regular file"
        )
        assert expected in done.stderr


@pytest.mark.parametrize("verb", ["info", "profile", "events", "where"])
def test_a_run_whose_name_is_no_text_is_read(call: Call, run_dir: Path, verb: str) -> None:
    odd = Path(os.fsdecode(os.fsencode(run_dir.parent) + b"/r\xff\xfe"))
    run_dir.rename(odd)
    (odd / "node0.tare").rename(odd / os.fsdecode(b"n\xff.tare"))
    done = call(verb, odd)
    assert done.returncode == 0, done.stderr


def test_files_whose_names_are_no_text_are_told_of(call: Call, run_dir: Path) -> None:
    damaged = run_dir / os.fsdecode(b"n\xff.tare")
    damaged.write_bytes(b"no chunks" * 100)
    done = call("info", run_dir)
    assert done.returncode == 0
    assert "are not a whole chunk" in " ".join(done.stdout.split())


def test_merge_takes_no_file_from_elsewhere(call: Call, run_dir: Path, victim: Path) -> None:
    (run_dir / "notes").symlink_to(victim / "precious")
    done = call("merge", "-o", run_dir.parent / "a.tare", run_dir)
    assert done.returncode == 1
    assert "notes is a link" in done.stderr
    assert not (run_dir.parent / "a.tare").exists()


def test_what_is_taken_out_is_private(call: Call, run_dir: Path) -> None:
    archive, to = run_dir.parent / "a.tare", run_dir.parent / "out"
    call("merge", "-o", archive, run_dir)
    call("split", archive, "-o", to)
    assert archive.stat().st_mode & 0o077 == 0
    for path in [to, *to.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def pulled(run_dir: Path) -> Path:
    """The place of the request, made as if the run went on and its ranks offloaded when they are asked."""
    runner = {"pid": os.getpid(), "start_ticks": int(Path("/proc/self/stat").read_text().split()[21])}
    options = json.loads((run_dir / "meta.json").read_text("utf-8"))["options"] | {"monitor": "pull"}
    host = os.uname().nodename
    change(run_dir, options=options, state="running", runner=runner, host=host, start_ns=time.time_ns())
    (run_dir / "tree").mkdir()
    return run_dir / "tree" / "requests"


ASKING = (["top", "--once"], ["top", "--json"], ["watch", "--alert", "hang"])


@pytest.mark.parametrize("verb", ASKING, ids=" ".join)
@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "link on the way"])
def test_who_watches_a_run_writes_nowhere_else(
    call: Call, run_dir: Path, victim: Path, verb: list[str], kind: str
) -> None:
    before = contents(victim)
    requests = pulled(run_dir)
    if kind == "link":
        requests.symlink_to(victim / "precious")
    elif kind == "hard link":
        requests.hardlink_to(victim / "precious")
    elif kind == "pipe":
        os.mkfifo(requests)
    else:
        requests.parent.rmdir()
        requests.parent.symlink_to(victim)
    done = call(verb[0], run_dir, *verb[1:])
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
    assert str(requests) in done.stderr
    assert contents(victim) == before
    assert not (victim / "requests").exists()


LINKED = ("info", "profile", "events", "where", "explain", "report", "sql", "recover", "merge", "top")


@pytest.mark.parametrize("verb", LINKED)
@pytest.mark.parametrize("name", ["meta.json", "node0.tare", "monitor-0.tare"])
def test_no_file_of_a_run_is_a_link(call: Call, run_dir: Path, tmp_path: Path, verb: str, name: str) -> None:
    if (verb, name) == ("top", "node0.tare"):
        pytest.skip("rounds are all that it reads")
    elsewhere = tmp_path / "elsewhere"
    (run_dir / name).touch()
    (run_dir / name).rename(elsewhere)
    (run_dir / name).symlink_to(elsewhere)
    more: dict[str, list[str | Path]] = {
        "merge": ["-o", tmp_path / "new.tare"],
        "top": ["--once"],
        "sql": ["SELECT count(*) FROM calls"],
    }
    done = call(verb, run_dir, *more.get(verb, []))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
    assert f"{run_dir / name} is a" in done.stderr
    assert "link" in done.stderr


def test_the_way_to_a_run_may_be_a_link(call: Call, run_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "home").symlink_to(run_dir.parent)
    (tmp_path / "latest").symlink_to(run_dir)
    archive = tmp_path / "a.tare"
    assert call("merge", "-o", archive, tmp_path / "latest").returncode == 0
    (tmp_path / "latest.tare").symlink_to(archive)
    for of in (tmp_path / "home" / run_dir.name, tmp_path / "latest", tmp_path / "latest.tare"):
        assert call("info", of).returncode == 0


def test_the_page_of_a_run_is_no_link(call: Call, run_dir: Path, victim: Path) -> None:
    before = contents(victim)
    run_dir.with_name("run.html").symlink_to(victim / "precious")
    assert call("report", run_dir).returncode == 0
    assert contents(victim) == before
    named = run_dir.with_name("named.html")
    named.symlink_to(run_dir.with_name("page.html"))
    assert call("report", run_dir, "-o", named).returncode == 0
    assert run_dir.with_name("page.html").stat().st_size > 0
