"""An OTF2 archive as the `otf2` package of PyPI reads it, and messages paired by the order of its records."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import otf2
from otf2 import definitions

# The package mixes the fields of this class with those of Comm, and cannot read what it makes of them.
_OWN = ("name", "groupA", "groupB", "parent", "flags")
_FIELDS = {field.name: field for field in definitions.InterComm._fields}
definitions.InterComm._fields = tuple(_FIELDS[name] for name in _OWN)


@dataclass
class Trace:
    """Enter and leave of regions, and what lies between them."""

    spans: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    unsent: list[dict[str, Any]] = field(default_factory=list)
    collectives: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[tuple[str, float]] = field(default_factory=list)
    accesses: list[dict[str, Any]] = field(default_factory=list)  # one-sided
    fences: Counter[tuple[str, str]] = field(default_factory=Counter)  # by process and window
    records: Counter[str] = field(default_factory=Counter)
    communicators: dict[str, list[list[str]]] = field(default_factory=dict)
    numbers_of_communicators: list[int] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    threads: Counter[str] = field(default_factory=Counter)


@dataclass
class _Receive:
    call: dict[str, Any]
    number: int
    message: dict[str, Any] | None = None


class _Location:
    def __init__(self, location: Any) -> None:
        self.process = location.group.name
        self.thread = location._ref >> 33  # as tare numbers locations
        self.open: list[dict[str, Any]] = []


def read(directory: Path) -> Trace:
    trace = Trace()
    with otf2.reader.open(str(directory / "traces.otf2")) as archive:
        _read_definitions(archive.definitions, trace)
        _Reader(trace).read(archive.events)
    return trace


def _read_definitions(of: Any, trace: Trace) -> None:
    trace.numbers_of_communicators = [comm._ref for comm in of.comms]
    for kind in (of.comms, of.rma_wins, of.groups, of.regions, of.io_handles, of.io_files, of.io_paradigms):
        assert [one._ref for one in kind] == list(range(len(kind)))  # OTF2 wants numbers without a gap
    for comm in of.comms:
        inter = hasattr(comm, "groupA")
        groups = [comm.groupA, comm.groupB] if inter else [comm.group]
        trace.communicators[comm.name] = [[one.group.name for one in group.members] for group in groups]
    trace.hosts = {node.name for node in of.system_tree_nodes if node.parent is not None}
    trace.threads = Counter(location.group.name for location in of.locations)


class _Reader:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.locations: dict[Any, _Location] = {}
        self.sends: dict[tuple[Any, ...], deque[dict[str, Any]]] = defaultdict(deque)
        self.receives: dict[str, list[_Receive]] = defaultdict(list)  # by process, in the order of posting
        self.requests: dict[tuple[str, int], Any] = {}
        self.accesses: dict[tuple[str, Any, int], dict[str, Any]] = {}
        self.count = 0

    def read(self, stream: Iterator[tuple[Any, Any]]) -> None:
        for location, event in stream:
            at = self.locations.setdefault(location, _Location(location))
            self.trace.records[type(event).__name__] += 1
            if take := getattr(self, f"_{type(event).__name__}", None):
                take(at, event)
        for process, receives in self.receives.items():
            for receive in receives:
                self._pair(process, receive)
        assert all(not at.open for at in self.locations.values())

    def _pair(self, process: str, receive: _Receive) -> None:
        message = receive.message
        if message is None:  # cancelled, or never completed
            return
        found = self.sends[message["communicator"], message["source"], process, message["tag"]]
        if not found:
            self.trace.unsent.append(message)
            return
        send = found.popleft()
        self.trace.messages.append(
            {
                "source": message["source"],
                "destination": process,
                "tag": message["tag"],
                "communicator": message["communicator"].name,
                "bytes": send["bytes"],
                "received_bytes": message["bytes"],
                "send_enter_ns": send["call"]["start"],
                "send_function": send["call"]["name"],
                "receive_enter_ns": receive.call["start"],
                "receive_function": receive.call["name"],
                "receive_completion_leave_ns": message["time"],
            }
        )

    def _Enter(self, at: _Location, event: Any) -> None:
        attributes = {key.name: value for key, value in (event.attributes or {}).items()}
        span = {
            "process": at.process,
            "thread": at.thread,
            "name": event.region.name,
            "start": event.time,
            "depth": len(at.open),
            "attributes": attributes,
        }
        at.open.append(span)

    def _Leave(self, at: _Location, event: Any) -> None:
        span = at.open.pop()
        assert span["name"] == event.region.name
        span["end"] = event.time
        self.trace.spans.append(span)

    def _peer(self, at: _Location, communicator: Any, rank: int) -> str:
        if not hasattr(communicator, "groupA"):
            return str(communicator.location(rank).group.name)
        groups = [
            [one.group.name for one in group.members] for group in (communicator.groupA, communicator.groupB)
        ]
        own, other = groups if at.process in groups[0] else reversed(groups)
        assert at.process in own
        return str(other[rank])

    def _send(self, at: _Location, event: Any) -> None:
        to = self._peer(at, event.communicator, event.receiver)
        sent = {"call": at.open[-1], "bytes": event.msg_length}
        self.sends[event.communicator, at.process, to, event.msg_tag].append(sent)

    def _message(self, at: _Location, event: Any) -> dict[str, Any]:
        return {
            "communicator": event.communicator,
            "source": self._peer(at, event.communicator, event.sender),
            "tag": event.msg_tag,
            "bytes": event.msg_length,
            "time": event.time,
        }

    def _start(self, at: _Location, event: Any, what: Any) -> None:
        assert (at.process, event.request_id) not in self.requests
        self.requests[at.process, event.request_id] = what

    def _MpiSend(self, at: _Location, event: Any) -> None:
        self._send(at, event)

    def _MpiIsend(self, at: _Location, event: Any) -> None:
        self._send(at, event)
        self._start(at, event, "send")

    def _MpiIsendComplete(self, at: _Location, event: Any) -> None:
        assert self.requests.pop((at.process, event.request_id)) == "send"

    def _MpiRecv(self, at: _Location, event: Any) -> None:
        self.receives[at.process].append(_Receive(at.open[-1], 0, self._message(at, event)))

    def _MpiIrecvRequest(self, at: _Location, event: Any) -> None:
        receive = _Receive(at.open[-1], event.request_id)
        self.receives[at.process].append(receive)
        self._start(at, event, receive)

    def _MpiIrecv(self, at: _Location, event: Any) -> None:
        self.requests.pop((at.process, event.request_id)).message = self._message(at, event)

    def _MpiRequestCancelled(self, at: _Location, event: Any) -> None:
        assert self.requests.pop((at.process, event.request_id)).message is None

    def _access(self, at: _Location, event: Any) -> None:
        """Complete as soon as a record says so, at the target or at least here."""
        access = {
            "process": at.process,
            "function": at.open[-1]["name"],
            "start": at.open[-1]["start"],
            "window": event.win.name,
            "target": event.win.comm.location(event.remote).group.name,
            "sent": getattr(event, "bytes_sent", getattr(event, "bytes", None)),
            "received": getattr(event, "bytes_received", None),
            "completed_in": None,
        }
        self.trace.accesses.append(access)
        key = at.process, event.win, event.matching_id
        assert key not in self.accesses
        self.accesses[key] = access

    _RmaPut = _RmaGet = _RmaAtomic = _access

    def _RmaOpCompleteRemote(self, at: _Location, event: Any) -> None:
        access = self.accesses[at.process, event.win, event.matching_id]
        access["completed_in"] = at.open[-1]["name"]

    def _RmaOpCompleteNonBlocking(self, at: _Location, event: Any) -> None:
        access = self.accesses[at.process, event.win, event.matching_id]
        access["locally_in"] = at.open[-1]["name"]

    def _RmaCollectiveEnd(self, at: _Location, event: Any) -> None:
        self.trace.fences[at.process, event.win.name] += 1

    def _MpiCollectiveBegin(self, at: _Location, event: Any) -> None:
        at.open[-1]["collective"] = True

    def _MpiCollectiveEnd(self, at: _Location, event: Any) -> None:
        assert at.open[-1].pop("collective")
        self._collective(at, event, at.open[-1])

    def _NonBlockingCollectiveRequest(self, at: _Location, event: Any) -> None:
        self._start(at, event, at.open[-1])

    def _NonBlockingCollectiveComplete(self, at: _Location, event: Any) -> None:
        self._collective(at, event, self.requests.pop((at.process, event.request_id)))

    def _collective(self, at: _Location, event: Any, call: dict[str, Any]) -> None:
        self.trace.collectives.append(
            {
                "process": at.process,
                "communicator": event.communicator.name,
                "inter": hasattr(event.communicator, "groupA"),
                "function": call["name"],
                "enter_ns": call["start"],
                "completion_leave_ns": event.time,
                "root": event.root,
                "op": str(event.collective_op),
                "sent": event.size_sent,
                "received": event.size_received,
            }
        )

    def _Metric(self, at: _Location, event: Any) -> None:
        self.trace.metrics += [
            (member.name, value) for member, value in zip(event.metric.members, event.values, strict=True)
        ]
