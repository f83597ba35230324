"""Rounds of a monitored run that a test makes up, as docs/format.md has them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tare import _native
from tare._native import Event, Round

Runs = tuple[tuple[int, int], ...]
CRC = list(range(256))
for _ in range(8):
    CRC = [(each >> 1) ^ (0x82F63B78 if each & 1 else 0) for each in CRC]


@dataclass(frozen=True)
class Metric:
    """One metric of an event over ranks."""

    mean: float
    squares: float = 0.0
    least: float = 0.0
    most: float = 0.0
    least_rank: int = 0
    most_rank: int = 0


@dataclass(frozen=True)
class Made:
    """An event of a round."""

    identity: str
    ranks: int
    metrics: tuple[Metric, Metric, Metric]  # calls, time, bytes


def key_of(identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest(), "little")


def record(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content


def text(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def rank_set(*runs: tuple[int, int]) -> bytes:
    return struct.pack(f"<{1 + 2 * len(runs)}I", len(runs), *(number for run in runs for number in run))


def named(identity: str, name: bytes) -> bytes:
    """A record of a name: what the rounds call the event of this identity."""
    return record(1, struct.pack("<Q", key_of(identity)) + name)


def names(*identities: str) -> bytes:
    return b"".join(named(each, each.encode()) for each in identities)


def statistics(events: Iterable[Made]) -> bytes:
    """The result of the filter of this name."""
    each = sorted(events, key=lambda event: key_of(event.identity))
    metrics = [metric for event in each for metric in event.metrics]
    wide = len(metrics)
    return b"".join(
        (
            struct.pack("<I", len(each)),
            struct.pack(f"<{len(each)}Q", *(key_of(event.identity) for event in each)),
            struct.pack(f"<{len(each)}I", *(event.ranks for event in each)),
            struct.pack(f"<{wide}d", *(metric.mean for metric in metrics)),
            struct.pack(f"<{wide}d", *(metric.squares for metric in metrics)),
            struct.pack(f"<{wide}d", *(metric.least for metric in metrics)),
            struct.pack(f"<{wide}d", *(metric.most for metric in metrics)),
            struct.pack(f"<{wide}I", *(metric.least_rank for metric in metrics)),
            struct.pack(f"<{wide}I", *(metric.most_rank for metric in metrics)),
        )
    )


def a_round(
    number: int, first_ns: int, reduced: bytes, used: bytes = b"statistics", *,
    ranks: bytes = rank_set((0, 2)), lost: bytes = rank_set(),
) -> bytes:  # fmt: skip
    """A record. The round arrives 70 ns after its first offload."""
    head = struct.pack("<QqqqqQQII", number, first_ns, first_ns + 5, first_ns + 70, 0, 3, 4, 2, 1)
    return record(2, head + ranks + lost + text(used) + reduced)


def decoded(payload: bytes) -> list[Round]:
    return _native.RoundFile("nowhere/monitor-a.tare").decoded(payload)


def round_of(*events: Made) -> Round:
    """A round of these events."""
    payload = names(*(event.identity for event in events)) + a_round(1, 0, statistics(events))
    (made,) = decoded(payload)
    return made


def events_of(*events: Made) -> list[Event]:
    return round_of(*events).events


def add_chunks(path: Path, *payloads: bytes) -> None:
    """Appends chunks of rounds to a file."""
    with path.open("ab") as file:
        for payload in payloads:
            head = struct.pack(
                "<IHBBQIIIIIIQQI", 0xE54A5A54, 1, 12, 0, 0, 0, 0, len(payload), len(payload), 1, 0, 0, 0,
                crc32c(payload),
            )  # fmt: skip
            file.write(head + struct.pack("<I", crc32c(head)) + payload)


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF
