"""A reader of `<host>.tare` made from docs/format.md alone: where tare's own differs, the page is wrong.

It takes whole files, whose processes have one thread or do not complete each other's requests.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

FUNCTIONS, PROCESS, DEFINITIONS, EVENTS = 1, 2, 3, 4
CALL, COMPLETION, FLUSH, LOSS, EVENT, RAW_EVENT, START, SOURCE_CALL = range(8)
COMMUNICATOR, COMMUNICATOR_NAME, EVENT_TYPE = 4, 5, 6
OF_TARED = 1 << 31
COMPLETED_IN_CHUNK = 1
HEADER = struct.Struct("<IHBBQIIIIIIQQII")
SIGNATURE = (
    "function", "site", "peer", "tag", "bytes", "communicator", "received", "source", "source_tag", "starts",
)  # fmt: skip
OF_COMPLETION, OF_START = 0x8001, 0x8006
ABSENT = {
    "peer": -(2**31),
    "tag": -(2**31),
    "source": -(2**31),
    "source_tag": -(2**31),
    "bytes": -1,
    "received": -1,
}

Values = dict[str, int]
_zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")


@dataclass
class Chunk:
    version: int
    type: int
    process: int
    location: int
    records: int
    block: int
    pair: tuple[int, int]  # ticks, monotonic_ns
    payload: bytes


@dataclass
class Function:
    source: str
    name: str
    arguments: list[str]


@dataclass
class Row:
    """A call, an event of the program (which has a type), or a drain or loss (which have neither)."""

    thread: int
    enter: int
    leave: int
    function: str = ""
    values: Values = field(default_factory=dict)
    started: list[tuple[int, Values]] = field(default_factory=list)  # number of the request
    completed: list[tuple[int, Values]] = field(default_factory=list)
    type: str = ""
    content: Sequence[int] | bytes = ()
    object: int = 0  # of a source call, whose arguments are its values


@dataclass
class Process:
    rank: int
    host: str
    shift: int
    realtime_ns: int  # at monotonic_ns
    monotonic_ns: int
    pairs: list[tuple[int, int]]
    communicators: dict[int, str] = field(default_factory=dict)
    event_types: dict[int, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def unix_ns(self, disk_ticks: int) -> int:
        ticks, pairs = disk_ticks << self.shift, self.pairs
        at = bisect_right(pairs, (ticks, 2**64))
        outside = at in (0, len(pairs))
        low, high = (pairs[0], pairs[-1]) if outside else (pairs[at - 1], pairs[at])
        begin = pairs[-1] if at == len(pairs) else low
        after = (ticks - begin[0]) * (high[1] - low[1]) / (high[0] - low[0])
        return self.realtime_ns - self.monotonic_ns + begin[1] + round(after)

    def duration_ns(self, disk_ticks: int) -> float:
        (low, low_ns), (high, high_ns) = self.pairs[0], self.pairs[-1]
        return (disk_ticks << self.shift) * (high_ns - low_ns) / (high - low)


def read(data: bytes) -> list[Process]:
    chunks = list(chunks_of(data))
    (functions,) = (functions_of(chunk) for chunk in chunks if chunk.type == FUNCTIONS)
    processes = {chunk.process: process_of(chunk) for chunk in chunks if chunk.type == PROCESS}
    blocks: dict[tuple[int, int], Block] = {}
    for chunk in chunks:
        if chunk.process not in processes:
            continue
        process = processes[chunk.process]
        if chunk.pair[1]:
            process.pairs.append(chunk.pair)
        if chunk.type == DEFINITIONS:
            define(process, chunk.payload)
        elif chunk.type == EVENTS and not chunk.block & OF_TARED:
            blocks.setdefault((chunk.process, chunk.block), Block(process, functions)).add(chunk)
    for process in processes.values():
        pairs, process.pairs = process.pairs, process.pairs[:1]
        for ticks, ns in sorted(pairs):
            since, since_ns = process.pairs[-1]
            if ns - since_ns >= 1_000_000 and 0.05 <= (ns - since_ns) / (ticks - since) <= 50:
                process.pairs.append((ticks, ns))
    return list(processes.values())


def functions_of(chunk: Chunk) -> list[Function]:
    """The functions by their numbers, less one."""
    if chunk.version == 1:
        return [Function("MPI", name.decode(), []) for name in chunk.payload.split(b"\0")[:-1]]
    functions, at = [], 0
    while at < len(chunk.payload):
        (count,) = struct.unpack_from("<I", chunk.payload, at)
        source, *texts = chunk.payload[at + 4 :].split(b"\0", 1 + 2 * count)[: 1 + 2 * count]
        at += 4 + sum(len(text) + 1 for text in (source, *texts))
        for name, arguments in zip(texts[::2], texts[1::2], strict=True):
            names = arguments.decode().split(",") if arguments else []
            functions.append(Function(source.decode(), name.decode(), names))
    return functions


def chunks_of(data: bytes) -> Iterator[Chunk]:
    at = 0
    while at < len(data):
        head = HEADER.unpack_from(data, at)
        magic, version, kind, compression, process, location, _, stored_bytes, raw_bytes, records, block = (
            head[:11]
        )
        assert magic == 0xE54A5A54
        assert version in (1, 2)
        assert head[14] == crc32c(data[at : at + 60])
        payload = data[at + HEADER.size : at + HEADER.size + stored_bytes]
        assert head[13] == crc32c(payload)
        if compression:
            raw = ctypes.create_string_buffer(raw_bytes)
            _zstd.ZSTD_decompress(raw, ctypes.c_size_t(raw_bytes), payload, ctypes.c_size_t(stored_bytes))
            payload = raw.raw
        assert len(payload) == raw_bytes
        yield Chunk(version, kind, process, location, records, block, (head[11], head[12]), payload)
        at += HEADER.size + stored_bytes


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def process_of(chunk: Chunk) -> Process:
    record = chunk.payload
    assert len(record) in (632, 648, 664, 680, 696)
    (rank,) = struct.unpack_from("<i", record, 16)
    start, start_ns, realtime_ns, last, last_ns = struct.unpack_from("<5Q", record, 40)
    host = record[184:248].split(b"\0")[0].decode()
    pairs = [(start, start_ns), (last, last_ns)]
    return Process(rank, host, record[34], realtime_ns, start_ns, pairs)


def define(process: Process, log: bytes) -> None:
    at = 0
    while at < len(log):
        kind, _, size = struct.unpack_from("<HHI", log, at)
        body = log[at + 8 : at + size]
        if kind == COMMUNICATOR:
            number, name_bytes = struct.unpack_from("<I", body)[0], struct.unpack_from("<I", body, 36)[0]
            process.communicators[number] = body[40 : 40 + name_bytes].decode()
        elif kind == COMMUNICATOR_NAME:
            number, name_bytes = struct.unpack_from("<II", body)
            process.communicators[number] = body[8 : 8 + name_bytes].decode()
        elif kind == EVENT_TYPE:
            number, _, _, name_bytes = struct.unpack_from("<IBBH", body)
            process.event_types[number] = body[24 : 24 + name_bytes].decode()
        at += size


def signed(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


class Payload:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def column(self, n: int) -> list[int]:
        width, base_bytes = self.take("BB")
        base = int.from_bytes(self.bytes(base_bytes), "little", signed=True)
        if width & 64:
            (others,) = self.take("H")
            places = self.take(f"{others}H")
            values = [base] * n
            for place, value in zip(places, self.column(others), strict=True):
                values[place] = value
            return values
        planes = [self.bytes(n) for _ in range(width & 63)]
        values = [signed(base + sum(plane[i] << 8 * p for p, plane in enumerate(planes))) for i in range(n)]
        if width & 128:
            values[0] = self.take("q")[0]
            for i in range(1, n):
                values[i] = signed(values[i] + values[i - 1])
        return values

    def sequence(self, n: int, unexpected: int) -> list[int]:
        """Numbers of signatures."""
        found: list[int] = []
        last: dict[int, int] = {}  # places of signatures
        follows = 0  # place of the record that is expected

        def add(number: int) -> None:
            last[number] = len(found)
            found.append(number)

        for run, number in self.group(unexpected, 2):
            for _ in range(run):
                add(found[follows])
                follows += 1
            follows = last[number] + 1 if number in last else 0
            add(number)
        while len(found) < n:
            add(found[follows])
            follows += 1
        return found

    def spans(self, n: int) -> list[tuple[int, int]]:
        """Gaps and durations."""
        widths = self.bytes(n)
        bits = int.from_bytes(self.data[self.at :], "little")
        at = 0

        def take(count: int) -> int:
            nonlocal at
            at += count
            return (bits >> (at - count)) & ((1 << count) - 1)

        def value(width: int) -> int:
            if width < 15:
                return (1 << width) - 1 + take(width)
            more = 14 + take(6)
            return (1 << more) + take(more)

        result = [(value(width & 15), value(width >> 4)) for width in widths]
        self.at += (at + 7) // 8 + 8
        return result

    def group(self, n: int, columns: int) -> Iterator[tuple[int, ...]]:
        """The values of each record."""
        return zip(*[self.column(n) for _ in range(columns if n else 0)], strict=True)


class Block:
    """The events of a location block. Requests are numbered in the order of their start."""

    def __init__(self, process: Process, functions: list[Function]) -> None:
        self.process = process
        self.functions = functions
        self.call: Row | None = None  # the last one
        self.requests = 0
        self.outlive: dict[int, int] = {}  # their number in the file

    def add(self, chunk: Chunk) -> None:
        payload = Payload(chunk.payload)
        *counts, signature_count, unexpected = payload.take("9I" if chunk.version == 1 else "10I")
        counts += [0] * (SOURCE_CALL + 1 - len(counts))
        (time_base,) = payload.take("Q")
        assert sum(counts) == chunk.records
        signatures = [dict(zip(SIGNATURE, row, strict=True)) for row in payload.group(signature_count, 10)]
        records = counts[CALL] + counts[COMPLETION] + counts[START]
        sequence = [signatures[number] for number in payload.sequence(records, unexpected)]
        requests = iter(payload.column(started) if (started := sum(of["starts"] for of in sequence)) else [])
        completions = payload.group(counts[COMPLETION], 2)
        flushes = payload.group(counts[FLUSH], 4)
        losses = payload.group(counts[LOSS], 3)
        for enter, duration, *_ in (*flushes, *losses):
            self.process.rows.append(Row(chunk.location, time_base + enter, time_base + enter + duration))
        for type_, time, content in (
            *self.events(payload, counts[EVENT], time_base),
            *self.raw_events(payload, counts[RAW_EVENT], time_base),
        ):
            row = Row(chunk.location, time, time, type=self.process.event_types[type_], content=content)
            self.process.rows.append(row)
        for row in self.source_calls(payload, counts[SOURCE_CALL], time_base):
            row.thread = chunk.location
            self.process.rows.append(row)
        spans = iter(payload.spans(counts[CALL]) if counts[CALL] else [])
        assert payload.at == len(chunk.payload)
        here: list[int] = []  # numbers of the requests that the chunk starts
        last_leave, completed = time_base, -1
        for values in sequence:
            if values["function"] == OF_START:
                assert self.call
                number = self.start(next(requests), here) if values["starts"] else 0
                self.call.started.append((number, values))
            elif values["function"] == OF_COMPLETION:
                assert self.call
                step, request = next(completions)
                completed += 1 + (0 if request else step)
                number = self.outlive.pop(request) if request else here[completed]
                self.call.completed.append((number, values))
            else:
                gap, duration = next(spans)
                enter = (last_leave + gap) % 2**64
                self.call = Row(chunk.location, enter, enter + duration)
                self.call.function, self.call.values = self.functions[values["function"] - 1].name, values
                self.process.rows.append(self.call)
                last_leave = self.call.leave
                if values["starts"]:
                    self.call.started.append((self.start(next(requests), here), {}))

    def start(self, request: int, here: list[int]) -> int:
        self.requests += 1
        here.append(self.requests)
        if request != COMPLETED_IN_CHUNK:
            self.outlive[request] = self.requests
        return self.requests

    @staticmethod
    def events(payload: Payload, n: int, time_base: int) -> Iterator[tuple[int, int, list[int]]]:
        time = time_base
        heads = list(payload.group(n, 3))
        result = []
        words = Block.parameters(payload, [(type_, count) for type_, count, _ in heads])
        for (type_, _, gap), of_event in zip(heads, words, strict=True):
            time += gap
            result.append((type_, time, of_event))
        return iter(result)

    @staticmethod
    def parameters(payload: Payload, shapes: list[tuple[int, int]]) -> Iterator[list[int]]:
        """The words of each record: of an event, or of a source call."""
        columns: dict[tuple[int, int], Iterator[tuple[int, ...]]] = {}
        for type_, count in dict.fromkeys(shapes):
            columns[type_, count] = payload.group(shapes.count((type_, count)), count)
        words = [next(columns[shape]) if shape[1] else () for shape in shapes]
        return iter([[word % 2**64 for word in of_record] for of_record in words])

    def source_calls(self, payload: Payload, n: int, time_base: int) -> Iterator[Row]:
        enter = time_base
        heads = list(payload.group(n, 6))
        arguments = Block.parameters(payload, [(function, count) for function, count, *_ in heads])
        rows = []
        for (number, _, gap, duration, site, object_), words in zip(heads, arguments, strict=True):
            enter += gap
            function = self.functions[number - 1]
            row = Row(0, enter, enter + duration, function.name, object=object_)
            row.values = dict(zip(function.arguments, words, strict=True)) | {"site": site}
            rows.append(row)
        return iter(rows)

    @staticmethod
    def raw_events(payload: Payload, n: int, time_base: int) -> Iterator[tuple[int, int, bytes]]:
        time = time_base
        result = []
        for type_, size, gap in list(payload.group(n, 3)):
            time += gap
            result.append((type_, time, payload.bytes(size)))
        return iter(result)
