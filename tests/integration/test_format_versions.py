"""Runs recorded by earlier tares stay readable: tests/data/v<format version>/<run>, with what they hold.

`<run>.expected.json` has its ranks, the rows of its profile, and its first and last events.
tests/data/record.py makes both, for a new version.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT
from format_page import crc32c
from verbs import ask

DATA = ROOT / "tests" / "data"
RUNS = sorted(meta.parent for meta in DATA.glob("v*/*/meta.json"))
HEADER = struct.Struct("<IHBBQIIIIIIQQI")
HEADER_BYTES = HEADER.size + 4
EVENTS = 4
NEWEST = 2

stored = pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name}-{run.name}")


def read(tare: Path, verb: str, run: Path, *options: str) -> Any:
    done = ask(tare, verb, run, *options, "--json")
    assert done.returncode == 0, done.stderr
    # Nothing is said of a whole run; of a damaged one, what was skipped.
    assert all(line.endswith("were skipped") for line in done.stderr.splitlines()), done.stderr
    return json.loads(done.stdout)


def rows(tare: Path, verb: str, run: Path, *options: str) -> list[dict[str, Any]]:
    return list(read(tare, verb, run, *options)["rows"])


def expected(run: Path) -> Any:
    return json.loads((run.parent / f"{run.name}.expected.json").read_text("utf-8"))


def same_fields(found: Any, wanted: Any) -> Any:
    """What is found, with the fields of what is wanted alone: later tares may add some."""
    if isinstance(wanted, dict):
        return {key: same_fields(found.get(key), value) for key, value in wanted.items()}
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        return [same_fields(each, want) for each, want in zip(found, wanted, strict=True)]
    return found


def test_every_version_has_a_run() -> None:
    assert {run.parent.name for run in RUNS} == {f"v{number}" for number in range(1, NEWEST + 1)}


@stored
def test_reads_the_same_as_ever(run: Path, tare: Path) -> None:
    want = expected(run)
    info = read(tare, "info", run)
    assert info["warnings"] == []
    assert same_fields(info["ranks"], want["ranks"]) == want["ranks"]
    assert {"events": info["trace"]["records"], "dropped": info["trace"]["dropped"]} == want["trace"]
    profile = rows(tare, "profile", run, "--by", "site")
    assert same_fields(profile, want["profile"]) == want["profile"]
    events = rows(tare, "events", run)
    assert len(events) == want["events"]["number"]
    for begin, part in (0, want["events"]["first"]), (-len(want["events"]["last"]), want["events"]["last"]):
        found = events[begin : begin + len(part) or None]
        assert same_fields(found, part) == part


@stored
@pytest.mark.parametrize("share", [0.3, 0.4, 0.7, 0.95])
def test_a_copy_cut_off_is_read_to_its_last_whole_chunk(
    run: Path, share: float, tare: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (file,) = copy.glob("*.tare")
    whole = file.read_bytes()
    cut = whole[: int(len(whole) * share)]
    file.write_bytes(cut)
    chunks = whole_chunks(cut)
    left = len(cut) - chunks[-1].end
    assert left > 0, "cut between chunks: choose another share"

    assert read(tare, "info", copy)["warnings"] == [
        f"{file.name}: {left} bytes at offset {chunks[-1].end} are not a whole chunk and were skipped"
    ]
    found, everything = functions(tare, copy), functions(tare, run)
    assert bool(found) == any(chunk.type == EVENTS for chunk in chunks)
    assert 0 <= found.total() < everything.total()
    assert found <= everything


def functions(tare: Path, run: Path) -> Counter[tuple[str, int | None]]:
    """The calls, without their times, which move where there are fewer readings of the clock to go by. What
    MPI_Waitall has received is said by the records behind it, which may be where the copy is cut off."""
    return Counter(
        (row["function"], None if row["function"] == "MPI_Waitall" else row.get("bytes"))
        for row in rows(tare, "events", run)
    )


class Chunk:
    """A chunk header of a file, as docs/format.md has it."""

    def __init__(self, data: bytes, begin: int) -> None:
        fields = HEADER.unpack_from(data, begin)
        self.type, stored_bytes = fields[2], fields[7]
        self.end = begin + HEADER_BYTES + stored_bytes


def whole_chunks(data: bytes) -> list[Chunk]:
    chunks: list[Chunk] = []
    begin = 0
    while begin + HEADER_BYTES <= len(data) and Chunk(data, begin).end <= len(data):
        chunks.append(Chunk(data, begin))
        begin = chunks[-1].end
    return chunks


@stored
def test_a_newer_version_is_named(run: Path, tare: Path, tmp_path: Path) -> None:
    """A newer tare's header says so in both places: the file's chunks and meta.json."""
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (file,) = copy.glob("*.tare")
    data = bytearray(file.read_bytes())
    struct.pack_into("<H", data, 4, NEWEST + 1)
    struct.pack_into("<I", data, HEADER.size, crc32c(bytes(data[: HEADER.size])))
    file.write_bytes(data)
    for verb in ("info", "profile", "events"):
        message = failure(tare, verb, copy)
        assert message == (
            f"tare: {file.name} has format version {NEWEST + 1}, this tare reads versions 1 to {NEWEST}: "
            "read it with the tare that wrote it, or a newer one\n"
        )

    meta = json.loads((copy / "meta.json").read_text("utf-8"))
    (copy / "meta.json").write_text(json.dumps(meta | {"format": NEWEST + 1}), "utf-8")
    assert failure(tare, "info", copy) == (
        f"tare: {copy} has format {NEWEST + 1} of tare {meta['tare']}, this one reads up to {NEWEST}: "
        "install a newer tare\n"
    )


def failure(tare: Path, verb: str, run: Path) -> str:
    done = ask(tare, verb, run)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def test_crc32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283
