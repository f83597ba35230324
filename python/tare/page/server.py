"""The page of a run, served from the run itself: to this machine alone, and to who knows the address.

The address holds a random token; whatever else is asked for is not found, also by pages of other origins that
make a browser ask (names that resolve to this machine are refused by the Host header).
"""

from __future__ import annotations

import hmac
import secrets
import signal
import struct
import threading
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from tare import serving
from tare.errors import CommandError, TareError, native_errors
from tare.page import content, document, timeline
from tare.serving import LOOPBACK, TEXT, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from urllib.parse import SplitResult

    from tare._native import Timeline
    from tare.runs.retiming import Times
    from tare.runs.run import Run

JSON, BYTES, HTML = "application/json", "application/octet-stream", "text/html; charset=utf-8"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# What one request may ask for.
MAX_CELLS = 4 << 20
MAX_LINES = 20_000
MAX_FOUND = 500
# Messages that are kept for `tare view`, those that took longest: half a gigabyte.
MAX_MESSAGES = 12_000_000


class NotAnswered(TareError):
    """A request that asks for what cannot be."""


class Site:
    """What is served, by name; made once, a run that goes on being shown as it was then."""

    def __init__(self, run: Run, other: Run | None = None) -> None:
        """`other`: a run to compare it with."""
        self._timeline = run.timeline()
        self._content = document.as_json(content.of_run(run, other, self._timeline))
        self._about = None if self._timeline is None else timeline.described(run, self._timeline)
        self._described = self._about and document.as_json(self._about)
        # By content.of_run(), or later.
        self._has_waits = self._about is not None and self._about["records"] <= timeline.WAITS_RECORDS
        self._working = threading.Lock()  # one answer at a time: the reader itself uses all processors
        self._matching = threading.Thread(target=self._match, daemon=True)

    def start(self) -> None:
        """Starts matching; the caller is to call close()."""
        self._matching.start()

    def _match(self) -> None:
        """Takes its time: until it is done, no messages and no waits are shown."""
        if self._timeline is not None:
            with suppress(TareError), native_errors():
                self._timeline.match(MAX_MESSAGES)
            if not self._has_waits:
                with suppress(TareError), native_errors():
                    self._timeline.find_waits()
                self._has_waits = True

    def close(self) -> None:
        """Nothing is answered any more, and no thread is in the reader when this returns."""
        if self._timeline is not None:
            self._timeline.stop()
        self._matching.join()
        with self._working:
            self._timeline = self._described = None

    def answer(self, name: str, query: dict[str, int], words: str = "") -> tuple[str, bytes] | None:
        """Type and body; None if there is no such thing in this run. `words`: of a search."""
        known: dict[str, Callable[[dict[str, int]], tuple[str, bytes] | None]] = {
            "content": lambda _: (JSON, self._content),
            "timeline": lambda _: (JSON, self._described) if self._described else None,
            "picture": self._picture,
            "messages": lambda query: self._lines(query, "messages"),
            "waits": lambda query: self._lines(query, "waits"),
            "path": lambda query: self._lines(query, "path"),
            "around": self._around,
            "search": lambda query: self._search(query, words),
        }
        if name not in known:
            raise NotAnswered(f"there is no {name}")
        with self._working:
            return known[name](query)

    def _picture(self, query: dict[str, int]) -> tuple[str, bytes] | None:
        traced, first, rows, span = self._window(query)
        group, columns = query.get("group", 1), query.get("columns", 1000)
        if group < 1 or columns < 1 or rows * columns > MAX_CELLS or first + (rows - 1) * group > self._count:
            raise NotAnswered("no such part of the timeline")
        return BYTES, timeline.picture(traced, first, rows, group, span, columns)

    def _lines(self, query: dict[str, int], what: str) -> tuple[str, bytes] | None:
        traced, first, rows, span = self._window(query)
        most = min(max(query.get("most", 0), 0), MAX_LINES)
        if what != "messages" and not self._has_waits:
            return None
        return _counted(getattr(traced, what)(first, rows, *span, most))

    def _around(self, query: dict[str, int]) -> tuple[str, bytes] | None:
        traced, row, _, (start, _) = self._window(query)
        return _counted(traced.around(row, start))

    def _search(self, query: dict[str, int], words: str) -> tuple[str, bytes] | None:
        traced, *_ = self._window(query)
        assert self._about is not None
        least, peer = query.get("min", 0), query.get("peer", -1)
        if least < 0 or not -1 <= peer < 1 << 31:
            raise NotAnswered("no such duration or rank")
        if query.get("waits") and not self._has_waits:
            return None
        return BYTES, timeline.search(traced, self._about, words, query, MAX_FOUND)

    def _window(self, query: dict[str, int]) -> tuple[Timeline, int, int, tuple[int, int]]:
        if self._timeline is None:
            raise NotAnswered("this run has no trace")
        first, rows = query.get("first", 0), query.get("rows", 1)
        length = self._timeline.end_ns - self._timeline.start_ns
        start, end = query.get("from", 0), query.get("to", length)
        if not (first >= 0 and rows >= 1 and 0 <= start < end <= length + 1):
            raise NotAnswered("no such part of the timeline")
        return self._timeline, first, rows, (start, end)

    @property
    def _count(self) -> int:
        return len(self._timeline.rows()) if self._timeline else 0


def _counted(found: tuple[int, bytes] | None) -> tuple[str, bytes] | None:
    return None if found is None else (BYTES, struct.pack("<II", found[0], 0) + found[1])


class Sites:
    """The same run in the times that there are to choose from, each read when it is first asked for."""

    def __init__(self, title: str, times: Sequence[Times], make: Callable[[Times], Site]) -> None:
        """The first of the times are shown first."""
        self._times = {str(each): each for each in times}
        self._make = make
        self._made = {times[0]: make(times[0])}
        self._making = threading.Lock()
        self.page = document.served(title, times).encode()

    def start(self) -> None:
        """Starts the sites; the caller is to call close()."""
        for site in self._made.values():
            site.start()

    def close(self) -> None:
        """Nothing is answered any more."""
        with self._making:
            for site in self._made.values():
                site.close()
            self._times = {}

    def answer(self, name: str, query: dict[str, int], words: str = "") -> tuple[str, bytes] | None:
        """`name`: the times, a slash, and what of them."""
        named, _, what = name.partition("/")
        with self._making:
            times = self._times.get(named)
            if times is None:
                raise NotAnswered(f"there are no times {named}")
            if times not in self._made:
                site = self._make(times)
                site.start()
                self._made[times] = site
        return self._made[times].answer(what, query, words)


class Server(serving.Server):
    """Bound to this machine; requests that are under way when it ends are left."""

    is_interrupted = False

    def __init__(self, site: Sites, port: int) -> None:
        self.site = site
        self.token = secrets.token_urlsafe(24)
        own = "'self'"
        self.policy = f"{document.policy(own)}; frame-ancestors 'none'"
        try:
            super().__init__(LOOPBACK, port, _Handler)
        except OSError as error:
            raise CommandError(
                f"cannot serve on port {port}: {error.strerror}; choose another --port"
            ) from None

    @property
    def url(self) -> str:
        """The address of the page. The token in it keeps other users of the machine out."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def run(self) -> None:
        """Serves until it is interrupted. Only the main thread may call it."""
        self.site.start()
        # An exception may be raised where nobody hears it, as in the end of a weak reference.
        before = signal.signal(signal.SIGINT, lambda *_: setattr(self, "is_interrupted", True))
        try:
            self.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGINT, before)
            self.server_close()
            self.site.close()

    def service_actions(self) -> None:
        """Now and then, by serve_forever()."""
        if self.is_interrupted:
            raise KeyboardInterrupt


class _Handler(serving.Handler):
    server: Server

    def get(self, target: SplitResult) -> None:
        """Nothing is there without the token, or if the name of the host is not ours."""
        port = self.server.server_port
        token, slash, path = target.path.removeprefix("/").partition("/")
        is_known = hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode())
        is_ours = self.headers.get("Host") in (f"{LOOPBACK}:{port}", f"localhost:{port}")
        if not (is_known and is_ours and slash):
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        self.server.know(self.connection)
        if path == "":
            self._send(HTTPStatus.OK, HTML, self.server.site.page)
        elif path.startswith("data/"):
            self._data(path.removeprefix("data/"), target.query)
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def _data(self, name: str, asked: str) -> None:
        try:
            given = {key: values[0] for key, values in parse_qs(asked).items()}
            words = given.pop("words", "")
            query = {key: int(value) for key, value in given.items()}
            if any(abs(value) >= 1 << 62 for value in query.values()):
                raise NotAnswered("no such number")
            found = self.server.site.answer(name, query, words)
        except (ValueError, TareError) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        if found is None:
            self._send(HTTPStatus.NO_CONTENT, TEXT, b"")
        else:
            self._send(HTTPStatus.OK, *found)

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        policy = {"Content-Security-Policy": self.server.policy}
        self.send(status, kind, body, policy | HEADERS)
