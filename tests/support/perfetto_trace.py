"""A Perfetto trace as Perfetto's own protobuf classes read it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos


@dataclass
class Slice:
    """A span between two track events, or one event (`kind` "instant", "counter")."""

    process: str
    thread: str
    name: str
    kind: str
    start: int
    end: int = -1
    depth: int = 0
    arguments: dict[str, Any] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    sent: list[int] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    value: float = 0.0
    category: str = ""


@dataclass
class Sample:
    """A place of a thread: the functions of its stack, the outermost first, and the place in the last one."""

    process: str
    thread: str
    time: int
    functions: tuple[str, ...]
    file: str
    line: int


class Names:
    """What was interned so far."""

    def __init__(self) -> None:
        self.of: dict[str, dict[int, Any]] = defaultdict(dict)

    def add(self, data: Any) -> None:
        for descriptor, entries in data.ListFields():
            for entry in entries:
                self.of[descriptor.name][entry.iid] = entry

    def annotation(self, one: Any) -> Any:
        if one.array_values:
            return [self.annotation(each) for each in one.array_values]
        for name in ("int_value", "uint_value", "double_value", "string_value"):
            if one.HasField(name):
                return getattr(one, name)
        return self.of["debug_annotation_string_values"][one.string_value_iid].str.decode()


def samples(path: Path) -> list[Sample]:
    """All samples of stacks; fails where one refers to what is not defined."""
    trace = protos.Trace()
    trace.ParseFromString(path.read_bytes())
    names = Names()
    processes: dict[int, str] = {}
    threads: dict[tuple[int, int], str] = {}
    found: list[Sample] = []
    for packet in trace.packet:
        names.add(packet.interned_data)
        track = packet.track_descriptor
        if track.HasField("process"):
            processes[track.process.pid] = track.process.process_name
        if track.HasField("thread"):
            threads[track.thread.pid, track.thread.tid] = track.thread.thread_name
        if not packet.HasField("perf_sample"):
            continue
        one = packet.perf_sample
        frames = [names.of["frames"][iid] for iid in names.of["callstacks"][one.callstack_iid].frame_ids]
        assert all(names.of["mappings"][frame.mapping_id].path_string_ids for frame in frames)
        functions = tuple(names.of["function_names"][frame.function_name_id].str.decode() for frame in frames)
        file = (
            names.of["source_paths"][frames[-1].source_path_iid].str.decode()
            if frames[-1].line_number
            else ""
        )
        thread = threads[one.pid, one.tid]
        found.append(
            Sample(processes[one.pid], thread, packet.timestamp, functions, file, frames[-1].line_number)
        )
    return found


def read(path: Path) -> list[Slice]:
    """All slices, instants and counters; fails where begins and ends do not belong together."""
    trace = protos.Trace()
    trace.ParseFromString(path.read_bytes())
    names = Names()
    processes: dict[int, str] = {}
    tracks: dict[int, tuple[str, str]] = {}
    found: list[Slice] = []
    open_on: dict[int, list[Slice]] = defaultdict(list)
    last: dict[int, int] = defaultdict(int)
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        names.add(packet.interned_data)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.HasField("process"):
                processes[track.uuid] = track.process.process_name
            name = track.thread.thread_name if track.HasField("thread") else track.name
            tracks[track.uuid] = (processes[track.parent_uuid or track.uuid], name)
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        track, time = event.track_uuid, packet.timestamp
        if event.type == event.TYPE_SLICE_END:
            ended = open_on[track].pop()
            ended.end = time
            ended.received = list(event.terminating_flow_ids)
        else:
            kind = {event.TYPE_SLICE_BEGIN: "slice", event.TYPE_INSTANT: "instant"}.get(event.type, "counter")
            name = tracks[track][1] if kind == "counter" else names.of["event_names"][event.name_iid].name
            one = Slice(*tracks[track], name, kind, time, depth=len(open_on[track]))
            one.value = event.double_counter_value
            one.sent = list(event.flow_ids)
            for iid in event.category_iids:
                one.category = names.of["event_categories"][iid].name
            for annotation in event.debug_annotations:
                key = names.of["debug_annotation_names"][annotation.name_iid].name
                one.arguments[key] = names.annotation(annotation)
            if event.source_location_iid:
                place = names.of["source_locations"][event.source_location_iid]
                one.file, one.line = place.file_name, place.line_number
            found.append(one)
            if kind == "slice":
                open_on[track].append(one)
        assert time >= last[track], "time goes back on a track"
        last[track] = time
    assert not any(open_on.values()), "a slice has no end"
    return found
