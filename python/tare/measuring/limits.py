"""What a measurement may take: memory of a buffer, events to keep, a share of the time, bytes of a trace.

Each function reads the value of one option of `tare run`. ValueError says what to write instead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from tare import functions, units

# Two of the smallest sub-buffers (src/recorder/full_buffer.cpp).
SMALLEST_BUFFER = 8 * units.KIB
# Of spells of either kind: fewer leave nothing to compare.
MIN_SHARE = 0.05
# Of a budget: counting calls takes some nanoseconds each, and with half of the time anything can be afforded.
MIN_BUDGET, MAX_BUDGET = 0.001, 0.5
MIN_TRACE = units.MIB
# What a count of nanoseconds can hold.
LONGEST_NS = 2**63 - 1


@dataclass(frozen=True)
class Keep:
    """What a flight recorder keeps: the events of the last `time_ns`, or the last `size` bytes of them."""

    time_ns: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Budget:
    """What measuring may cost."""

    share: float  # share of the net time, 0 to 1
    size: int | None = None  # bytes of the trace; None: no limit


def sources(text: str) -> tuple[str, ...]:
    """Names of sources of events, with commas between them, in the order of the alphabet."""
    names = sorted({name.strip() for name in text.split(",")} - {""}) or [""]
    if unknown := [name for name in names if name not in functions.SOURCES]:
        raise ValueError(f"'{unknown[0]}' is no source of events; there are {', '.join(functions.SOURCES)}")
    return tuple(names)


def keep(text: str) -> Keep:
    """`last:30s` or `last:64M`."""
    word, _, amount = text.partition(":")
    wrong = f"'{text}' does not say what to keep; write it like last:30s or last:64M"
    if word != "last":
        raise ValueError(wrong)
    try:
        time_ns = units.parse_duration(amount)
    except ValueError:
        try:
            size = units.parse_size(amount)
        except ValueError:
            raise ValueError(wrong) from None
        return Keep(size=_possible(size, amount))
    if not 0 < time_ns <= LONGEST_NS:
        raise ValueError(f"'{text}' is not a time that tare can keep")
    return Keep(time_ns=time_ns)


def buffer_size(text: str) -> int:
    """Bytes of a thread's event buffer, as this machine can have it."""
    return _possible(units.parse_size(text), text)


def spells_share(text: str) -> float:
    """The share of spells that do not measure: `0.5` or `20%`."""
    share = _share(text)
    if not MIN_SHARE <= share <= 1 - MIN_SHARE:
        raise ValueError(
            f"'{text}' is no share of the spells: write a number like 0.5 or 20%, from 0.05 to 0.95"
        )
    return share


def budget(text: str) -> Budget:
    """`1%` or `1%,500M`."""
    share_text, comma, size = text.partition(",")
    share = _share(share_text)
    if not MIN_BUDGET <= share <= MAX_BUDGET:
        raise ValueError(
            f"'{text}' is no budget: write a share of the time from 0.1% to 50%, like 1%, "
            "and if you like a size of the trace behind it, like 1%,500M"
        )
    if not comma:
        return Budget(share)
    bytes_ = units.parse_size(size)
    if bytes_ < MIN_TRACE:
        raise ValueError(f"{size.strip()} is too small for a trace: it has at least {units.size(MIN_TRACE)}")
    return Budget(share, bytes_)


def _share(text: str) -> float:
    """0 if it is no number: that is below every limit."""
    try:
        return units.parse_share(text)
    except ValueError:
        return 0.0


def _possible(size: int, text: str) -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        raise ValueError(f"{text} for each thread is more than this machine's memory ({units.size(memory)})")
    if size < SMALLEST_BUFFER:
        raise ValueError(f"{text} is too small: a buffer has at least {units.size(SMALLEST_BUFFER)}")
    return size
