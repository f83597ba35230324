"""`tare export --to folded` and `--to speedscope`: times of call paths, read as their formats say."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from environments import compile_c
from exporting import OPENMPI, export, exported
from measured import PROGRAMS, measure


# The file format of speedscope, as its page describes it; more than that is an error here.
class Frame(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    file: str | None = None
    line: int | None = None


class Shared(msgspec.Struct, forbid_unknown_fields=True):
    frames: list[Frame]


class Sampled(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["sampled"]
    name: str
    unit: Literal["nanoseconds"]
    startValue: Annotated[int, msgspec.Meta(ge=0)]
    endValue: int
    samples: list[list[int]]
    weights: list[int]


class File(msgspec.Struct, forbid_unknown_fields=True):
    schema: Literal["https://www.speedscope.app/file-format-schema.json"] = msgspec.field(name="$schema")
    shared: Shared
    profiles: list[Sampled]
    name: str
    exporter: str
    activeProfileIndex: int


def profiled(tare: Path, folder: Path) -> Path:
    """A run without a trace: profiles need none."""
    path = compile_c(OPENMPI, [PROGRAMS / "exchange.c"], folder / "program")
    return measure(tare, OPENMPI, 2, [path], folder / "run").directory


def times(tare: Path, run: Path, *options: str) -> Counter[tuple[str, str]]:
    """Nanoseconds by rank and function, of the profile."""
    command: list[Path | str] = [tare, "profile", run, "--by", "function,rank", "--json", *options]
    found: Counter[tuple[str, str]] = Counter()
    for row in json.loads(subprocess.check_output(command, timeout=60))["rows"]:
        if row.get("time_ns"):
            found[f"rank {row['rank']}", row["function"]] += row["time_ns"]
    return found


def folded_stacks(text: str) -> list[tuple[list[str], int]]:
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    return [(path.split(";"), int(value)) for path, value in lines]


def test_folded_stacks(tare: Path, tmp_path: Path) -> None:
    run = profiled(tare, tmp_path)
    stacks = folded_stacks(exported(tare, run, "folded", tmp_path / "out").read_text())
    found: Counter[tuple[str, str]] = Counter()
    for path, value in stacks:
        assert path[1] == "main"
        found[path[0], path[-1]] += value
    assert found == times(tare, run)
    one = folded_stacks(exported(tare, run, "folded", tmp_path / "one", "--rank", "1").read_text())
    assert {path[0] for path, _ in one} == {"rank 1"}


def test_speedscope(tare: Path, tmp_path: Path) -> None:
    run = profiled(tare, tmp_path)
    file = msgspec.json.decode(exported(tare, run, "speedscope", tmp_path / "out").read_bytes(), type=File)
    found: Counter[tuple[str, str]] = Counter()
    frames = file.shared.frames
    lines = set()
    for of in file.profiles:
        assert len(of.samples) == len(of.weights)
        assert of.endValue == sum(of.weights)
        for stack, weight in zip(of.samples, of.weights, strict=True):
            found[of.name, frames[stack[-1]].name] += weight
            lines.add((Path(frames[stack[-2]].file or "").name, frames[stack[-2]].line))
    assert found == times(tare, run)
    rows: list[dict[str, Any]] = json.loads(
        subprocess.check_output([tare, "profile", run, "--by", "line", "--json"], timeout=60)
    )["rows"]
    assert lines == {(Path(row["file"]).name, row["line"]) for row in rows if row["time_ns"]}


def test_a_profile_has_no_times_to_choose_from(tare: Path, tmp_path: Path) -> None:
    run = profiled(tare, tmp_path)
    done = export(tare, run, "folded", tmp_path / "out", "--from", "1")
    assert (done.returncode, done.stderr) == (2, "tare: --from and --to-time do not go with --to folded\n")
    done = export(tare, run, "speedscope", tmp_path / "missing" / "out")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
