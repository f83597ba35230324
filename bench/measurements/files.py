"""Calls on a file in the page cache: what recording them adds, here, by EZTrace and by uftrace."""

from __future__ import annotations

from operator import methodcaller
from statistics import median

from interleave import Rounds
from one_process import beside_peers, compiled
from report import Row, Table, percent

from tools import BARE, ROOT, Tool

OFF = Tool("tare run, without --with files", tare=())
PROFILE = Tool("profile, --with files", tare=("--with", "files"))
TRACE = Tool("profile and trace, --with files", tare=("--with", "files", "--trace"))
# What is measured, and the most that it may add, in percent.
CALLS: dict[str, tuple[str, float | None]] = {
    "read_ns": ("A read of 4 KiB", 5.0),
    "pread_ns": ("A pread of 4 KiB", 5.0),
    "fread_ns": ("An fread of 4 KiB", None),
    "fgetc_ns": ("An fgetc, which is not intercepted", None),
}


def measure(rounds: int) -> list[Table]:
    program = compiled(["gcc", "-O2"], ROOT / "bench" / "page_reads.c", "page_reads")
    measured = beside_peers(rounds, (BARE, OFF, PROFILE, TRACE), "posixio", [program, "pages", "30"])
    return [_table(measured, title, key, limit) for key, (title, limit) in CALLS.items()]


def _table(measured: Rounds, title: str, key: str, limit: float | None) -> Table:
    """A row for each tool: its calls beside those of the same process that go past it."""
    rows = []
    samples = {}

    def add(label: str, tool: Tool, called: str, limit: float | None = None) -> None:
        calls, direct = (
            measured.samples(tool, methodcaller("value", name)) for name in (called, f"direct_{key}")
        )
        rows.append(Row(label, median(calls), percent(calls, direct), limit))
        samples.update({label: calls, f"{label}: calls past it": direct})

    for tool in measured.tools:
        add(tool.label, tool, key, limit if tool is PROFILE else None)
    add("two readings of the clock", BARE, f"clocked_{key}")
    over = "over calls past it"
    return Table(title, "ns a call", "%", rows, measured.count, over=over, samples=samples)
