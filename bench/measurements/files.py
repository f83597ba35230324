"""Calls on a file in the page cache: what recording them adds, here, by EZTrace and by uftrace."""

from __future__ import annotations

from interleave import Rounds
from one_process import beside_peers, compiled
from report import Table, over_bare

from tools import BARE, ROOT, Outcome, Tool

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
    def of_call(outcome: Outcome) -> float:
        return outcome.value(key)

    return over_bare(
        title,
        measured,
        of_call,
        "ns a call",
        "%",
        {} if limit is None else {PROFILE: limit},
    )
