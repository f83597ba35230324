"""Quantities as people read them; sizes, times and shares as people write them."""

from __future__ import annotations

import re
import signal

NS_PER_S = 1_000_000_000
KIB = 1024
MIB = 1024 * KIB
NOTHING = "-"

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h)")
_SECONDS = {"ms": 0.001, "s": 1, "min": 60, "h": 3600}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """Bytes of "65536", "512K", "4M" or "4MiB" (powers of 1024); ValueError if it is no size."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is not a size; write it like 512K, 4M or 65536")
    return int(float(match[1]) * KIB ** _POWERS[match[2].lower()])


def parse_duration(text: str) -> int:
    """Nanoseconds of "500ms", "30s", "1.5min" or "2h"; ValueError if it is no duration."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is not a duration; write it like 500ms, 30s or 5min")
    return int(float(match[1]) * _SECONDS[match[2]] * NS_PER_S)


def parse_share(text: str) -> float:
    """0.2 of "20%" or "0.2"; ValueError if it is no number."""
    word = text.strip()
    return float(word[:-1]) / 100 if word.endswith("%") else float(word)


def duration(time_ns: float) -> str:
    """Four characters of number and a unit: "1.23 s", "45.6 ms", "789 ns"."""
    if time_ns >= 100 * NS_PER_S:
        return f"{time_ns / NS_PER_S:,.0f} s"
    for scale, unit in ((NS_PER_S, "s"), (1_000_000, "ms"), (1_000, "µs")):
        if time_ns >= scale:
            return f"{_three_digits(time_ns / scale)} {unit}"
    return f"{time_ns:.0f} ns"


def size(count: float) -> str:
    """The size with a power of 1024 as unit: "1.23 GiB", "45.6 KiB", "789 B"."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= KIB**power:
            return f"{_three_digits(count / KIB**power)} {unit}"
    return f"{count:.0f} B"


def size_or_nothing(count: float) -> str:
    """The same, and NOTHING for 0."""
    return size(count) if count else NOTHING


def size_range(first: int, end: int) -> str:
    """Sizes from `first` to below `end`, both 0 or powers of 2: "8-16 B", "512 B-1 KiB"."""
    if end - first <= 1:
        return size(first)
    number, unit = _whole(first)
    end_number, end_unit = _whole(end)
    return f"{number}{'' if unit == end_unit else f' {unit}'}-{end_number} {end_unit}"


def _whole(power_of_2: int) -> tuple[int, str]:
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if power_of_2 >= KIB**power:
            return power_of_2 // KIB**power, unit
    return power_of_2, "B"


def count(number: int) -> str:
    """Whole below a million, "12.3 M" above."""
    for scale, unit in ((1_000_000_000, "G"), (1_000_000, "M")):
        if number >= scale:
            return f"{_three_digits(number / scale)} {unit}"
    return f"{number:,}"


def noun(number: int, one: str, many: str = "") -> str:
    """The noun that goes with the number; `many`: the plural, if it does not end in s alone."""
    return one if number == 1 else many or f"{one}s"


def number_of(number: int, one: str, many: str = "") -> str:
    """ "1 call", "1,234 calls"."""
    return f"{number:,} {noun(number, one, many)}"


def percent(share: float) -> str:
    """A share as text, with one decimal: 0.123 is "12.3 %"."""
    return f"{100 * share:.1f} %"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def signal_name(number: int) -> str:
    """ "SIGSEGV"; "signal 99" if it has no name here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ending(code: int) -> str:
    """How a program ended, from its code as `subprocess` has it: "exit code 3", "killed by SIGSEGV"."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal_name(-code)}"
