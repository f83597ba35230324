"""A small HTTP server for clients on this machine: of the page (`tare view`) and of metrics (`tare watch`).

Anybody on the machine can connect and send anything. So the head of a request has a limit of bytes and of
seconds. Where connections become too many, the oldest whose client has not shown that it may ask is closed.
What a client does wrong is answered, and is no line in the user's terminal.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import SplitResult, urlsplit

LOOPBACK = "127.0.0.1"
MAX_CONNECTIONS = 64
# Of a request line and its headers: browsers send one or two KiB.
HEAD_BYTES = 16 << 10
# How long a client may hold a thread: until it has sent a request, and until it has taken the answer.
HEAD_S = 10
ANSWER_S = 60
TEXT = "text/plain; charset=utf-8"
ENDS = (b"\r\n\r\n", b"\n\n")


class Refused(Exception):
    """A request that gets one line in answer."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Server(ThreadingHTTPServer):
    """A thread for each connection, of which there are few; those under way when it ends are left."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, host: str, port: int, handler: type[Handler]) -> None:
        self._open: dict[socket.socket, bool] = {}  # in the order in which they came; whether they are known
        self._opening = threading.Lock()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        """HTTPServer asks for the name of the address, which may take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Makes room for a connection, and a thread that answers it."""
        with self._opening:
            if len(self._open) >= MAX_CONNECTIONS:
                oldest = next((each for each, is_known in self._open.items() if not is_known), None)
                if oldest is None:
                    super().shutdown_request(request)
                    return
                del self._open[oldest]
                with suppress(OSError):  # its thread ends, as nothing comes any more
                    oldest.shutdown(socket.SHUT_RDWR)
            self._open[request] = False
        super().process_request(request, client_address)

    def know(self, request: socket.socket) -> None:
        """Its client may ask: it is not closed in favour of others."""
        with self._opening:
            if request in self._open:
                self._open[request] = True

    def shutdown_request(self, request: Any) -> None:
        """Ends a connection."""
        with self._opening:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of ours."""


class Handler(BaseHTTPRequestHandler):
    """Answers requests one after the other. Those that derive from it say what `get` answers."""

    server: Server
    protocol_version, default_request_version = "HTTP/1.1", "HTTP/1.0"
    server_version, sys_version = "tare", ""
    timeout = ANSWER_S
    # Until a request says them.
    requestline = command = ""
    request_version = protocol_version
    ahead = b""  # what has come of the next request

    def get(self, target: SplitResult) -> None:
        """Answers by send(), or raises Refused."""
        raise NotImplementedError

    def setup(self) -> None:
        """Reads from the connection itself."""
        super().setup()
        self.rfile.close()

    def handle_one_request(self) -> None:
        """Answers a request as soon as its head is there."""
        self.close_connection = True
        try:
            head = self._head()
            if not head:
                return
            self.rfile = io.BytesIO(head)
            self.raw_requestline = self.rfile.readline()
            if not self.parse_request():  # has answered
                return
            has_body = "Content-Length" in self.headers or "Transfer-Encoding" in self.headers
            if self.command != "GET" or has_body:
                raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "only GET is answered here")
            self.get(_target(self.path))
        except Refused as refused:
            self.close_connection = True
            self.send(refused.status, TEXT, f"{refused}\n".encode("ascii", "backslashreplace"))
        except OSError:  # it has gone, or takes no answer
            self.close_connection = True

    def _head(self) -> bytes:
        """The bytes of a request up to its empty line; none if nothing came."""
        until = time.monotonic() + HEAD_S
        came = bytearray(self.ahead)
        while (end := _end(came)) is None:
            if len(came) > HEAD_BYTES:
                break
            left = until - time.monotonic()
            more = b""
            if left > 0:
                self.connection.settimeout(left)
                with suppress(TimeoutError):
                    more = self.connection.recv(HEAD_BYTES)
            if not more:
                if came:
                    raise Refused(HTTPStatus.REQUEST_TIMEOUT, "the request did not come in time")
                return b""
            came += more
        if end is None or end > HEAD_BYTES:
            raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head of the request is too long")
        self.connection.settimeout(ANSWER_S)
        self.ahead = bytes(came[end:])
        return bytes(came[:end])

    def send(self, status: HTTPStatus, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        """A whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing: the terminal is the user's."""


def host_of(named: str) -> str | None:
    """The name in a Host header, without the port."""
    try:
        return urlsplit(f"//{named}").hostname
    except ValueError:
        raise Refused(HTTPStatus.BAD_REQUEST, "the header Host is no name of a host") from None


def _target(path: str) -> SplitResult:
    try:
        return urlsplit(path)
    except ValueError:
        raise Refused(HTTPStatus.BAD_REQUEST, "this is no address") from None


def _end(came: bytearray) -> int | None:
    """The place at which a head ends."""
    found = [at + len(end) for end in ENDS if (at := came.find(end)) >= 0]
    return min(found, default=None)
