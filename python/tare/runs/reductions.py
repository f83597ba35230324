"""What filters other than statistics have made of rounds, as rows of the table `reductions`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from tare.runs.rounds import METRICS, Input, Kind, Malformed, Round

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)

Row = dict[str, Any]


def rows(made: Round) -> Iterator[Row]:
    """Those of one round; none of a round that is damaged, or that has statistics."""
    name = made.filter.partition(":")[0]
    if name in ("", "statistics"):
        return
    shared: Row = {**made.about(), "filter": made.filter}
    try:
        found = list(_READERS.get(name, _raw)(made))
    except (Malformed, struct.error):
        return
    for row in found:
        yield {**_EMPTY, **shared, **row}


_EMPTY: Row = dict.fromkeys(
    ("event", "kind", "metric", "low", "high", "quantile", "value", "count", "ranks", "result")
)


def _event(made: Round, key: int) -> Row:
    name, kind = made.names.get(key, (f"event {key:016x}", "function"))
    return {"event": name, "kind": kind}


def _metrics(kind: Kind) -> tuple[str | None, str | None, str | None]:
    """The names of the three numbers of an event; None for one that it does not have."""
    return ("calls", None, "value") if kind == "counter" else ("calls", "time_ns", "bytes")


def _each_metric(made: Round, keys: list[int], read: Callable[[], list[Row]]) -> Iterator[Row]:
    for key in keys:
        event = _event(made, key)
        for metric in _metrics(event["kind"]):
            for part in read():
                if metric is not None:
                    yield {**event, "metric": metric, **part}


def _histograms(made: Round) -> Iterator[Row]:
    source = Input(memoryview(made.reduced))
    source.number()  # bins at most
    keys = [int(key) for key in source.numbers("Q", source.number())]

    def read() -> list[Row]:
        exponent, count, first = struct.unpack("<HHQ", source.take(12))
        counts = source.numbers("I", count)
        width = 2.0**exponent
        return [
            {"low": (first + i) * width, "high": (first + i + 1) * width, "count": int(in_bin)}
            for i, in_bin in enumerate(counts)
            if in_bin
        ]

    yield from _each_metric(made, keys, read)


def _quantiles(made: Round) -> Iterator[Row]:
    source = Input(memoryview(made.reduced))
    (error,) = struct.unpack("<d", source.take(8))
    if not 0 < error < 1:
        raise Malformed
    growth = (1 + error) / (1 - error)
    keys = [int(key) for key in source.numbers("Q", source.number())]

    def read() -> list[Row]:
        zeros, buckets, _ = struct.unpack("<QII", source.take(16))
        flat = source.numbers("I", 2 * buckets)
        total = int(zeros) + sum(int(count) for count in flat[1::2])
        if total == 0:
            return []
        return [
            {"quantile": share, "value": at(int(share * (total - 1)), int(zeros), flat), "count": total}
            for share in QUANTILES
        ]

    def at(wanted: int, zeros: int, flat: Any) -> float:
        seen = zeros
        if wanted < seen:
            return 0.0
        for index, count in zip(flat[::2], flat[1::2], strict=True):
            seen += count
            if wanted < seen:
                try:
                    return float(2 * growth**index / (growth + 1))
                except OverflowError:
                    raise Malformed from None
        raise Malformed

    yield from _each_metric(made, keys, read)


def _groups(made: Round) -> Iterator[Row]:
    source = Input(memoryview(made.reduced))
    source.number()  # groups at most
    events, groups = source.number(), source.number()
    keys = [int(key) for key in source.numbers("Q", events)]
    for _ in range(groups):
        ranks = source.ranks()
        source.take(8)  # the squares
        for key, mean_ns in zip(keys, source.numbers("d", events), strict=True):
            if (event := _event(made, key))["kind"] != "counter":
                yield {
                    **event,
                    "metric": "time_ns",
                    "value": mean_ns,
                    "count": len(ranks),
                    "ranks": str(ranks),
                }


def _profiles(made: Round) -> Iterator[Row]:
    source = Input(memoryview(made.reduced))
    for _ in range(source.number()):
        rank, events = source.number(), source.number()
        source.take(8)  # when it was handed over
        keys = [int(key) for key in source.numbers("Q", events)]
        values = iter(source.numbers("d", METRICS * events))
        read = lambda: [{"value": next(values), "count": 1, "ranks": str(rank)}]  # noqa: E731, B023
        yield from _each_metric(made, keys, read)


def _raw(made: Round) -> Iterator[Row]:
    """Of a filter of the user's."""
    yield {"result": made.reduced.hex()}


_READERS: dict[str, Callable[[Round], Iterator[Row]]] = {
    "histogram": _histograms,
    "quantiles": _quantiles,
    "groups": _groups,
    "none": _profiles,
}
