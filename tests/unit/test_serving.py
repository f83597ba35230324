"""The HTTP server of `tare view` and `tare watch`, and clients that it does not know."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import SplitResult

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_rounds import Made, Metric, events_of
from tare import serving
from tare._native import Event
from tare.monitor import endpoint
from tare.monitor.endpoint import Address, Endpoint, Metrics, Snapshot
from tare.streams import distinct

PATIENCE_S = 60
NOTHING = Metric(0.0)
GOOD = b"GET /known HTTP/1.1\r\nHost: x\r\n\r\n"


class Echo(serving.Handler):
    def get(self, target: SplitResult) -> None:
        if target.path == "/known":
            self.server.know(self.connection)
        self.send(HTTPStatus.OK, serving.TEXT, target.path.encode("ascii", "replace"))


def started(server: serving.Server) -> threading.Thread:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    return thread


@pytest.fixture(scope="module")
def server() -> Iterator[serving.Server]:
    made = serving.Server(serving.LOOPBACK, 0, Echo)
    thread = started(made)
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def connected(server: serving.Server) -> socket.socket:
    return socket.create_connection((serving.LOOPBACK, server.server_port), timeout=PATIENCE_S)


def answered(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    came = b""
    with suppress(ConnectionResetError):
        while more := connection.recv(1 << 16):
            came += more
    return came


def one_answer(connection: socket.socket) -> bytes:
    came = b""
    while b"\r\n\r\n/known" not in came:
        more = connection.recv(1 << 16)
        assert more, came
        came += more
    return came


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"x" * (1 << 20),
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (1 << 17) + b"\r\n",
        b"GET / HTTP/1.1\r\na: " + b"x" * serving.HEAD_BYTES + b"\r\n\r\n",
    ],
    ids=["line", "headers", "header"],
)
def test_a_head_that_is_too_long_is_not_kept(server: serving.Server, head: bytes) -> None:
    with connected(server) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it is closed before the end
            connection.sendall(head)
        said = answered(connection)
        # The rest of what was sent may reset the connection before the answer is read.
        assert said == b"" or said.startswith(b"HTTP/1.1 431 ")
    with connected(server) as connection:
        connection.sendall(GOOD)
        assert one_answer(connection).startswith(b"HTTP/1.1 200 ")


def test_many_clients_that_say_nothing_shut_nobody_out(
    server: serving.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest of them is closed; one that is known stays."""
    monkeypatch.setattr(serving, "HEAD_S", PATIENCE_S)
    known = connected(server)
    known.sendall(GOOD)
    one_answer(known)
    silent = [connected(server) for _ in range(serving.MAX_CONNECTIONS)]
    assert answered(silent[0]) == b""
    with connected(server) as late:
        late.sendall(GOOD)
        assert one_answer(late).startswith(b"HTTP/1.1 200 ")
    known.sendall(GOOD)
    assert one_answer(known).startswith(b"HTTP/1.1 200 ")
    assert len(server._open) <= serving.MAX_CONNECTIONS
    for each in (*silent, known):
        each.close()


def test_a_request_that_does_not_end_holds_no_thread(
    server: serving.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 1)
    with connected(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert answered(connection).startswith(b"HTTP/1.1 408 ")


BAD = [
    b"GET http://[ HTTP/1.1\r\n\r\n", b"GET //[::1 HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"GET\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: [\r\n\r\n", b"GET / HTTP/1.1\r\nHost: [v1]:x\r\n\r\n",
    b"\xff\xfe / HTTP/9.9\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999999\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/openmetrics-text; version=x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/plain; version=1..2; escaping=q\r\n\r\n",
]  # fmt: skip


def snapshot(*events: Event) -> Snapshot:
    return Snapshot(
        going_on=True, rounds=1, ranks=1, missing=0, taken=1, lost=0, time_ns=None, delay_ns=None,
        events=list(events), cost=None,
    )  # fmt: skip


@pytest.fixture
def metrics() -> Iterator[Callable[[bytes], bytes]]:
    """What the endpoint of `tare watch` answers."""
    served = Endpoint(Address(serving.LOOPBACK, 0), Metrics("a", "b"), snapshot)

    def ask(request: bytes) -> bytes:
        with socket.create_connection(
            (serving.LOOPBACK, served._server.server_port), timeout=PATIENCE_S
        ) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return answered(connection)

    yield ask
    served.close()


@pytest.mark.parametrize("request_", BAD)
def test_a_bad_request_gets_one_answer_and_the_terminal_nothing(
    metrics: Callable[[bytes], bytes], capfd: pytest.CaptureFixture[str], request_: bytes
) -> None:
    said = metrics(request_)
    assert said == b"" or said.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")), said
    if b"Host: [" in request_ or b"Accept" in request_:
        head, _, body = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ") and body.count(b"\n") == 1
    assert capfd.readouterr() == ("", "")


def test_metrics_are_answered(metrics: Callable[[bytes], bytes]) -> None:
    said = metrics(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200 ") and b"tare_ranks 1.0" in said


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(BAD))
def test_whatever_comes_the_server_goes_on(server: serving.Server, noise: bytes, bad: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(bad[: len(bad) // 2] + noise + bad)
        connection.shutdown(socket.SHUT_WR)
        answered(connection)
    with connected(server) as connection:
        connection.sendall(GOOD)
        assert one_answer(connection).startswith(b"HTTP/1.1 200 ")


# Also halves of characters, which names of programs may hold.
TEXTS = st.text(st.characters() | st.sampled_from("\\nxu01b\x1b\n\udcff"), max_size=12)


@settings(max_examples=500)
@given(TEXTS, TEXTS)
def test_two_names_never_have_one_label(a: str, b: str) -> None:
    assert distinct(a).isprintable()
    assert (distinct(a) == distinct(b)) == (a == b)


def test_names_that_differ_by_an_escape_are_two_series() -> None:
    names = ["\x1b", r"\x1b", "\\", "\\\\"]
    events = events_of(*(Made(f"region {name}", 1, (NOTHING, NOTHING, NOTHING)) for name in names))
    families = list(endpoint.Metrics("a", "b").families(snapshot(*events)))
    (calls,) = [family for family in families if family.name == "tare_event_calls"]
    labels = [sample.labels["event"] for sample in calls.samples if sample.name.endswith("_total")]
    assert sorted(labels) == sorted([r"\x1b", r"\\x1b", r"\\", r"\\\\"])
