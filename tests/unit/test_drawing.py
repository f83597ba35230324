"""What verbs draw on terminals, and nowhere else."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from fake_tare import Tare, fake_command, fake_environment
from hypothesis import given
from hypothesis import strategies as st
from tare.reporters import cells, drawing
from tare.reporters.console import Console

STYLE = re.compile(r"\x1b\[\d+m")
DRAWN = set("█▓▒░▏▎▍▌▋▊▉│")


def lines(out: io.StringIO) -> list[str]:
    return out.getvalue().splitlines()


def test_bars_are_as_long_as_their_values() -> None:
    out = io.StringIO()
    drawing.bars(Console(out, 80), "By rank", [("0", 100, "100 ms"), ("1", 50, "50 ms"), ("2", 0, "0 ns")])
    _, title, *drawn = lines(out)
    assert title == "By rank"
    full, half, none = (line.count("█") for line in drawn)
    assert full == drawing.WIDEST_BAR and half == full // 2 and none == 0
    assert [line.split()[0] for line in drawn] == ["0", "1", "2"]
    assert drawn[1].endswith("50 ms")
    assert len({cells.width(line) for line in drawn}) == 1  # the texts end in one column


@pytest.mark.parametrize("width", [30, 80, 200])
def test_pictures_fit(width: int) -> None:
    out = io.StringIO()
    console = Console(out, width)
    drawing.bars(console, "t", [(f"{1 << at} KiB", at, f"{at} ms, longest {at} s") for at in range(1, 9)])
    drawing.parts(console, [("computing", 0.5), ("imbalance", 0.2), ("communication", 0.3)])
    of = drawing.groups(100_000, drawing.MAX_CELLS)
    drawing.matrix(console, "t", {(0, 1): 5, (15, 15): 1}, of, "darkest: 5 B")
    assert all(cells.width(line) <= max(width, 44) for line in lines(out))


def test_the_smallest_value_can_be_seen() -> None:
    assert drawing.bar(1e-9, 10) == "▏"
    out = io.StringIO()
    drawing.matrix(Console(out, 80), "t", {(0, 0): 1e9, (1, 0): 1}, drawing.groups(2, 16), "")
    first, second = [line.partition("│")[2] for line in lines(out) if "│" in line]
    assert first == "██  │" and second == "░░  │"


def test_nothing_is_drawn_of_nothing() -> None:
    out = io.StringIO()
    drawing.bars(Console(out, 80), "t", [("0", 0, "")])
    drawing.matrix(Console(out, 80), "t", {}, drawing.groups(2, 16), "")
    assert out.getvalue() == ""


@given(st.integers(1, 200_000), st.integers(1, 40))
def test_groups_hold_all(count: int, most: int) -> None:
    groups = drawing.groups(count, most)
    assert len(groups) <= most
    assert [number for group in groups for number in (group.start, group.stop - 1)][-1] == count - 1
    assert sum(map(len, groups)) == count


def on_terminal(where: Path, *arguments: str) -> list[str]:
    """The lines that a verb writes to a terminal of 80 columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
    variables = fake_environment(TERM="xterm", PYTHONIOENCODING="utf-8")
    variables.pop("COLUMNS", None)
    verb = subprocess.Popen(
        fake_command(*arguments), cwd=where, env=variables, stdin=subprocess.DEVNULL, stdout=its,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(its)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(ours)
    assert verb.wait(timeout=60) == 0
    return [STYLE.sub("", line) for line in written.decode().splitlines()]


@pytest.mark.parametrize(
    ("by", "title"), [("rank", "Computing by rank"), ("peer", "Bytes from rank to rank")]
)
def test_profiles_are_drawn_on_terminals_alone(
    tare: Tare, program: Path, tmp_path: Path, by: str, title: str
) -> None:
    assert tare("run", "-o", "r", "--", program, "true").returncode == 0
    shown = on_terminal(tmp_path, "profile", "r", "--by", by)
    assert title in shown
    assert all(cells.width(line) <= 80 for line in shown)
    assert DRAWN & set("".join(shown))
    piped = tare("profile", "r", "--by", by).stdout
    assert title not in piped and not DRAWN & set(piped)


def test_samples_are_drawn_on_terminals_alone(tare: Tare, run_dir: Path) -> None:
    (run_dir / "sampled").touch()
    shown = on_terminal(run_dir.parent, "samples", run_dir.name)
    titles = ("What latencies are made of", "Mean latency, by size", "Mean latency from rank to rank")
    assert all(title in shown for title in titles)
    assert all(cells.width(line) <= 80 for line in shown)
    # Of 8 and of 4,096 bytes: 400 ns and 2 µs, as the longest bar.
    first, second = [line for line in shown if "█" in line and line.endswith(" samples")]
    assert first.split()[:2] == ["8-16", "B"] and "400 ns, 2 samples" in first
    assert second.split()[:2] == ["4-8", "KiB"] and "2.00 µs, 8 samples" in second
    assert first.count("█") < second.count("█")
    assert any(line.strip() == "0 │  ██│" for line in shown)  # rank 1 alone has received
    piped = tare("samples", run_dir).stdout
    assert not any(title in piped for title in titles)
