"""Whatever a run, a study or a client holds, the verbs that read it in Python say one clear line, or show it.

verbs_fuzz.py TARGET [OPTION OF LIBFUZZER ...] [DIRECTORY ...]: Atheris leads it, as libFuzzer the others.
"""

from __future__ import annotations

import io
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import atheris

with atheris.instrument_imports(include=["tare"], enable_loader_override=False):
    from prometheus_client import CollectorRegistry, generate_latest
    from tare import _native, serving
    from tare.commands import top
    from tare.errors import TareError
    from tare.lab.study import description, plan
    from tare.monitor import endpoint, heat, history
    from tare.monitor.endpoint import Metrics, Snapshot
    from tare.monitor.live import Live
    from tare.page import content, document, server
    from tare.reporters import json
    from tare.reporters import live as reporter
    from tare.reporters.console import Console
    from tare.runs import metadata, rounds
    from tare.runs.rounds import RoundFile
    from tare.runs.run import open_run

NOWHERE = Path("nowhere")
HEADER_BYTES = 64
MAGIC_AND_VERSION = (0xE54A5A54).to_bytes(4, "little") + (1).to_bytes(2, "little")
CRC = list(range(256))
for _ in range(8):
    CRC = [(each >> 1) ^ (0x82F63B78 if each & 1 else 0) for each in CRC]
ROOT = Path(__file__).parents[1]
RUN = ROOT / "build" / "fuzz" / "run"


class Given(RoundFile):
    """A file whose only chunk of rounds is the input."""

    def __init__(self, payload: bytes, name: str) -> None:
        super().__init__(NOWHERE / name)
        self._payload = payload

    def read(self) -> Iterator[_native.Round]:
        """All of them, once."""
        payload, self._payload = self._payload, b""
        yield from self._native.decoded(payload)


def of_rounds(data: bytes) -> None:
    """`tare top`, `tare watch` and `tare export` of the rounds of two hosts."""
    middle = len(data) // 2
    files = [Given(data, "a"), Given(data[middle:], "b"), Given(data[:middle] + data, "c")]
    rounds.of_directory = lambda _: files  # type: ignore[assignment, return-value]
    live = Live(NOWHERE)
    live.update()
    out = Console(io.StringIO(), 80)
    activities = live.activities()
    reporter.show(out, NOWHERE, live.rounds, live.last, activities, 0)
    for event in live.columns.events()[:4]:
        reporter.show_heat(out, heat.text_lines(*event, live.columns.of(*event)))
    rows = [vars(activity) for activity in activities]
    shown = {"histogram": top._histogram(live, activities, None), "lost": str(live.lost_ranks), "rows": rows}
    json.write(io.StringIO(), "fuzz", None, shown)
    live.silent_since(3)
    now = Snapshot(
        True, live.rounds, live.ranks, len(live.lost_ranks), live.taken, live.lost, None, None,
        live.totals(), None,
    )  # fmt: skip
    metrics = Metrics("run", "directory")
    generate_latest(SimpleNamespace(collect=lambda: metrics.families(now)))
    with suppress(TareError):
        history.of_event([Given(data, "a")], None)


def of_metadata(data: bytes) -> None:
    """meta.json, which all verbs read."""
    with suppress(TareError):
        metadata.encode(metadata.decode(data, "run", _native.FORMAT_VERSION))


def of_study(data: bytes) -> None:
    """A study.toml, and the cells that follow from it."""
    with suppress(UnicodeDecodeError, TareError):
        described = description.parse(Path("study.toml"), data.decode())
        plan.cells(described)


def crc32c(data: bytes) -> int:
    """The checksum of chunks."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def sealed(data: bytes) -> bytes:
    """The file with right checksums, header by header: wrong ones would keep the fuzzer out."""
    made, at = bytearray(data), 0
    while len(made) - at >= HEADER_BYTES:
        stored = min(int.from_bytes(made[at + 24 : at + 28], "little"), len(made) - at - HEADER_BYTES)
        payload = bytes(made[at + HEADER_BYTES : at + HEADER_BYTES + stored])
        made[at : at + 6] = MAGIC_AND_VERSION
        made[at + 24 : at + 28] = stored.to_bytes(4, "little")
        made[at + 56 : at + 60] = crc32c(payload).to_bytes(4, "little")
        made[at + 60 : at + 64] = crc32c(bytes(made[at : at + 60])).to_bytes(4, "little")
        at += HEADER_BYTES + stored
    return bytes(made)


def of_run(data: bytes) -> None:
    """`tare report` of a run directory with this file."""
    (RUN / "node0.tare").write_bytes(sealed(data) if len(data) % 2 == 0 else data)
    with suppress(TareError):
        document.as_json(content.of_run(open_run(RUN)))


class Asked:
    """A connection that has said all, and hears the answer."""

    def __init__(self, handler: type[serving.Handler], of: Any, data: bytes) -> None:
        mine, other = socket.socketpair()
        with mine, other:
            mine.sendall(data[: serving.HEAD_BYTES + 1])
            mine.shutdown(socket.SHUT_WR)
            handler(other, ("127.0.0.1", 1), of)


class Site:
    """A page of nothing."""

    page = b"page"

    def answer(self, name: str, query: dict[str, int], words: str = "") -> tuple[str, bytes] | None:
        """One for some names."""
        return None if query else ("text/plain", (name + words).encode("utf-8", "replace"))


def of_requests(data: bytes) -> None:
    """What clients send to `tare view`, which know its token, and to `tare watch`."""
    for_page = SimpleNamespace(site=Site(), token="token", policy="none", server_port=1, know=lambda _: None)
    for_metrics = SimpleNamespace(registry=CollectorRegistry(), is_loopback=True)
    Asked(server._Handler, for_page, data)
    Asked(endpoint._Handler, for_metrics, data)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "rounds": of_rounds,
    "metadata": of_metadata,
    "study": of_study,
    "requests": of_requests,
    "run": of_run,
}


def main() -> None:
    """Does not return."""
    target = TARGETS[sys.argv.pop(1)]
    RUN.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tests" / "data" / "v1" / "stencil" / "meta.json", RUN)
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
