"""What a run does now, for Prometheus (docs/watch.md lists the metrics).

Names, units and types are those of OpenMetrics: base units, and counters that never go down. Numbers of a
round are means over its ranks, so they fall when a rank with much time is missing; a counter then stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tare import serving
from tare.errors import CommandError
from tare.serving import LOOPBACK, Refused, host_of
from tare.streams import distinct
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from tare._native import Event, TotalCost

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
# Series that one run may make: events are functions, regions and phases, which programs name.
MAX_EVENTS = 256


@dataclass(frozen=True)
class Address:
    """The address on which the endpoint listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in LOOPBACK_NAMES


def parse_address(text: str) -> Address:
    """The address that [HOST:]PORT names. ValueError, with what is wrong, if it is none."""
    host, colon, port = text.rpartition(":")
    wrong = f"'{text}' is no address: write a port like 9464, or HOST:PORT"
    if (colon and not host) or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise ValueError(wrong)
    return Address(host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port))


@dataclass(frozen=True)
class Snapshot:
    """The metrics at one moment."""

    going_on: bool  # whether the run goes on
    rounds: int  # rounds that have arrived
    ranks: int  # ranks of the last round
    missing: int  # ranks that run and are missing in it
    taken: int  # snapshots that are in rounds
    lost: int  # snapshots that should be in rounds and are not
    time_ns: int | None  # Unix time at which the last round began
    delay_ns: int | None  # its one-way delay
    events: list[Event]  # of the last round, over all ranks
    cost: TotalCost | None


class Metrics:
    """Makes metric families of a snapshot. Not for several threads at a time."""

    def __init__(self, name: str, run_dir: str) -> None:
        self._about = {"run": distinct(name), "directory": distinct(run_dir)}
        self._chosen: set[tuple[str, str]] = set()
        self._before: dict[tuple[str, str, str], float] = {}

    def families(self, now: Snapshot) -> Iterator[Any]:
        """The metric families of prometheus_client for a snapshot. docs/monitoring.md lists them; times are
        in seconds."""
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        yield InfoMetricFamily("tare_run", "The run that is watched.", value=self._about)

        def gauge(name: str, about: str, value: float, unit: str = "") -> Any:
            return GaugeMetricFamily(name, about, value=value, unit=unit)

        yield gauge("tare_run_going_on", "1 while the program runs, then 0.", int(now.going_on))
        yield gauge("tare_ranks", "Ranks in the last round.", now.ranks)
        yield gauge("tare_ranks_missing", "Ranks that run and are not in the last round.", now.missing)
        yield self._counter("tare_rounds", "Rounds so far.", now.rounds)
        yield self._counter("tare_snapshots", "Profiles of ranks that are in rounds.", now.taken)
        yield self._counter("tare_snapshots_lost", "Profiles of ranks that should be in rounds.", now.lost)
        if now.time_ns is not None and now.delay_ns is not None:
            yield gauge(
                "tare_round_time", "When the last round began, Unix time.", now.time_ns / NS_PER_S, "seconds"
            )
            yield gauge(
                "tare_round_delay",
                "From the first offload of the last round until it had arrived.",
                now.delay_ns / NS_PER_S,
                "seconds",
            )
        if now.cost is not None:
            yield from self._of_cost(now.cost, gauge)
        yield from self._of_events(now.events)

    def _of_cost(self, cost: TotalCost, gauge: Callable[..., Any]) -> Iterator[Any]:
        yield self._counter("tare_offloads", "Profiles that ranks handed over.", cost.offloads)
        yield self._counter(
            "tare_offload", "Time that handing over took all ranks.", cost.offload_ns / NS_PER_S, "seconds"
        )
        yield self._counter(
            "tare_offload_wait",
            "The part of it in which ranks waited for room.",
            cost.offload_wait_ns / NS_PER_S,
            "seconds",
        )
        yield gauge(
            "tare_measuring",
            "Time in the code of tare, as a share of net time, or of the threads' time.",
            cost.net_share,
            "ratio",
        )

    def _counter(self, name: str, about: str, value: float, unit: str = "") -> Any:
        from prometheus_client.core import CounterMetricFamily

        return CounterMetricFamily(name, about, value=self._grown(name, "", "", value), unit=unit)

    def _grown(self, name: str, kind: str, event: str, value: float) -> float:
        key = (name, kind, event)
        self._before[key] = max(value, self._before.get(key, 0.0))
        return self._before[key]

    def _of_events(self, events: list[Event]) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        timed = self._limited([event for event in events if event.kind != "counter"])
        for name, about, unit, of in (*_COUNTERS, *_GAUGES):
            is_counter = (name, about, unit, of) in _COUNTERS
            make = CounterMetricFamily if is_counter else GaugeMetricFamily
            family = make(f"tare_event_{name}", about, labels=("event", "kind"), unit=unit)
            for event in timed:
                value = of(event)
                if is_counter:
                    value = self._grown(name, event.kind, event.name, value)
                family.add_metric((distinct(event.name), event.kind), value)
            yield family
        values_of = self._limited([event for event in events if event.kind == "counter"])
        for name, about, of in _VALUES:
            family = GaugeMetricFamily(f"tare_counter_{name}", about, labels=("counter",))
            for event in values_of:
                family.add_metric((distinct(event.name),), of(event))
            yield family
        told = len(timed) + len(values_of)
        yield GaugeMetricFamily(
            "tare_events_left_out",
            f"Events that are not told of: {MAX_EVENTS} with most time at first are.",
            value=len(events) - told,
        )

    def _limited(self, events: list[Event]) -> list[Event]:
        """Those told of before, and the ones with most time for which there is room: a series never moves to
        another event."""
        for event in sorted(events, key=lambda each: -each.time.mean):
            if len(self._chosen) >= MAX_EVENTS:
                break
            self._chosen.add((event.kind, event.name))
        return [event for event in events if (event.kind, event.name) in self._chosen]


Of = Callable[["Event"], float]
_COUNTERS: tuple[tuple[str, str, str, Of], ...] = (
    ("calls", "Calls, mean over ranks.", "", lambda event: event.calls.mean),
    ("bytes", "Bytes, mean over ranks.", "bytes", lambda event: event.bytes.mean),
    ("seconds", "Time in it, mean over ranks.", "seconds", lambda event: event.time.mean / NS_PER_S),
    (
        "most_seconds",
        "Time in it of the rank that has most.",
        "seconds",
        lambda event: event.time.most / NS_PER_S,
    ),
    (
        "least_seconds",
        "Time in it of the rank that has least.",
        "seconds",
        lambda event: event.time.least / NS_PER_S,
    ),
)
_GAUGES: tuple[tuple[str, str, str, Of], ...] = (
    (
        "deviation_seconds",
        "Standard deviation over ranks of the time in it.",
        "seconds",
        lambda event: event.time.deviation / NS_PER_S,
    ),
    ("most_rank", "The rank with the most time in it.", "", lambda event: event.time.most_rank),
    ("least_rank", "The rank with the least time in it.", "", lambda event: event.time.least_rank),
    ("ranks", "Ranks that have it.", "", lambda event: event.ranks),
)
_VALUES: tuple[tuple[str, str, Of], ...] = (
    ("value", "Value of a counter of the program, mean over ranks.", lambda event: event.bytes.mean),
    ("least_value", "The least value of a rank.", lambda event: event.bytes.least),
    ("most_value", "The greatest value of a rank.", lambda event: event.bytes.most),
)


class _Server(serving.Server):
    """Answers whoever reaches its address."""

    def __init__(self, address: Address, registry: Any) -> None:
        self.registry = registry
        self.is_loopback = address.is_loopback
        super().__init__(address.host, address.port, _Handler)


class _Handler(serving.Handler):
    server: _Server

    def get(self, target: SplitResult) -> None:
        """The metrics, as the scraper wishes them."""
        from prometheus_client.exposition import choose_encoder

        if target.path not in ("/", "/metrics"):
            raise Refused(HTTPStatus.NOT_FOUND, "see /metrics")
        if self.server.is_loopback and host_of(self.headers.get("Host", "")) not in LOOPBACK_NAMES:
            raise Refused(HTTPStatus.FORBIDDEN, "this host has another name")
        try:
            encode, kind = choose_encoder(self.headers.get("Accept", ""))
        except (TypeError, ValueError):  # its versions are compared before they are looked at
            raise Refused(
                HTTPStatus.BAD_REQUEST,
                "the header Accept names no version of OpenMetrics or of Prometheus' text",
            ) from None
        self.send(HTTPStatus.OK, kind, encode(self.server.registry))


class Endpoint:
    """Serves metrics from a thread, until it is closed; CommandError if it cannot listen there.

    At a loopback address, requests for other names are refused: a page in a browser that has its name lead
    here gets nothing.
    """

    def __init__(self, address: Address, metrics: Metrics, snapshot: Callable[[], Snapshot]) -> None:
        from prometheus_client.registry import CollectorRegistry

        registry = CollectorRegistry(auto_describe=False)
        one_at_a_time = threading.Lock()

        class Collecting:
            def collect(self) -> list[Any]:
                with one_at_a_time:
                    return list(metrics.families(snapshot()))

        collecting: Any = Collecting()
        registry.register(collecting)
        try:
            self._server = _Server(address, registry)
        except OSError as error:
            raise CommandError(f"cannot listen at {address.host}:{address.port}: {error.strerror}") from error
        shown = f"[{address.host}]" if ":" in address.host else address.host
        self.url = f"http://{shown}:{self._server.server_port}/metrics"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops serving, and waits for the server's thread."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
