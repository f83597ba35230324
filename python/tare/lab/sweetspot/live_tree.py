"""A monitoring tree of processes of this machine, with synthetic ranks (src/tared/sweetspot/main.cpp)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from tare import units
from tare.errors import CommandError
from tare.measuring import library

PROGRAM = "tare-sweetspot"
ENDS_WITHIN_S = 60.0
# Without a limit: a round is delivered whoever is missing.
ANY = 2**32 - 1


@dataclass(frozen=True)
class Topology:
    """The structure of a tree. Measured times depend on it, and on the machine."""

    ranks: int  # number of synthetic ranks
    fan_out: int  # the maximum number of children of a node
    nodes: int = 0  # number of nodes, which all have ranks; 0: only the leaves have ranks
    transport: str = "unix"  # or "tcp"
    filter: str = "statistics"  # how it reduces a round
    acceptance: int = ANY  # children of a node that may be missing in a round

    @property
    def name(self) -> str:
        """The topology as text."""
        where = units.number_of(self.nodes, "node") if self.nodes else f"fan-out {self.fan_out}"
        return f"{units.number_of(self.ranks, 'rank')}, {where}, {self.transport}, {self.filter}"


# Answers of the program. Times are in ns.


class Shape(msgspec.Struct):
    """The processes of a tree."""

    nodes: int  # number of nodes
    depth: int  # number of levels
    formed_ns: float  # time until the tree was complete
    proportional_kib: list[float]  # memory (PSS) of each process


class Search(msgspec.Struct):
    """A search for the bottleneck offload interval (src/tared/boi/boi_search.h)."""

    boi: float  # the result
    searched: float  # the result before the confirmation
    confirmed: float  # 1: the result was confirmed
    confirmations: list[dict[str, float]]  # the steps of the confirmation
    threshold: float  # threshold of the one-way delay
    error: float  # the width of the range at which the search ends
    steps: list[dict[str, float]]


class Rounds(msgspec.Struct):
    """Rounds that were sent, and those that have arrived."""

    played: float  # time of sending
    drained: float  # from the last offload to the last arrival
    arrival_interval: float  # typical interval between arrivals
    max_under_way: float  # the largest number of rounds at a time that were sent and had not arrived
    delivered: int  # number of rounds that arrived
    incomplete: int  # number of these in which ranks are missing
    delays: list[float]  # by delivered round: from its first offload to its arrival
    arrivals: list[float]  # by delivered round: when it arrived at the root
    reduce_ns: float  # time of all reductions
    packet_ns: float  # time of packing and unpacking
    reductions: float  # number of reductions
    packets: float  # number of packets
    worst_costs: list[float]  # by round: the longest offload of a rank
    mean_costs: list[float]  # by round: the mean over ranks
    dropped: list[str]  # by round: the ranks that dropped it


class Controlled(msgspec.Struct):
    """Rounds at an interval that the root finds and keeps, after it has settled. A decision takes effect
    after a third of a second."""

    interval: float  # the interval at the end
    delivered: int  # number of rounds that arrived
    incomplete: int  # number of these in which ranks are missing
    delays: list[float]  # by delivered round: from its first offload to its arrival
    settling: float  # time from the first interval that was kept until it settled
    delivered_before: int  # rounds that arrived in that time
    incomplete_before: int  # number of these in which ranks are missing


class _Delays(msgspec.Struct):
    delays: list[float]


class _Failure(msgspec.Struct):
    error: str


Answer = TypeVar("Answer", Shape, Search, Rounds, Controlled, _Delays)


class LiveTree:
    """CommandError if the tree cannot do what it is asked for."""

    def __init__(self, process: subprocess.Popen[str], topology: Topology) -> None:
        self._process = process
        self.topology = topology

    def shape(self) -> Shape:
        """Asks the running tree for its shape. CommandError if it does not answer."""
        return self._ask("tree", Shape)

    def rest(self, events: int, rounds: int) -> list[float]:
        """One-way delays under stop-and-go."""
        return self._ask(f"rest {events} {rounds}", _Delays).delays

    def search(
        self, events: int, low_ns: float, rest: tuple[float, float], rounds: int, k: float, rule: str
    ) -> Search:
        """The bottleneck offload interval; `rest` is the mean and the deviation of the resting delay."""
        return self._ask(f"boi {events} {low_ns:.0f} {rest[0]:.0f} {rest[1]:.0f} {rounds} {k} {rule}", Search)

    def burst(self, events: int, rounds: int, interval_ns: float) -> Rounds:
        """Rounds by the clock."""
        return self._ask(f"burst {events} {rounds} {interval_ns:.0f}", Rounds)

    def irregular(self, events: int, rounds: int, mean_interval_ns: float) -> Rounds:
        """Rounds at random intervals (exponential), the same on all ranks."""
        return self._ask(f"random {events} {rounds} {mean_interval_ns:.0f}", Rounds)

    def bsp(
        self, events: int, rounds: int, interval_ns: float, policy: str, *, offloads: bool = True
    ) -> Rounds:
        """bspbench: each round is work for an interval, a barrier and an offload."""
        return self._ask(f"bsp {events} {rounds} {interval_ns:.0f} {policy} {int(offloads)}", Rounds)

    def controlled(self, events: int, rounds: int, point_ns: float) -> Controlled:
        """So many rounds when the interval that the root finds and keeps has settled, as with
        `--monitor=auto`; ranks could offload each `point_ns`, and drop what has no room."""
        return self._ask(f"controlled {events} {rounds} {point_ns:.0f}", Controlled)

    def _ask(self, line: str, kind: type[Answer]) -> Answer:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.ValidationError:
            why = msgspec.json.decode(answer, type=_Failure).error
        except msgspec.DecodeError:
            why = "it has ended"
        raise CommandError(f"the tree of {self.topology.name}: {why}; try again with fewer ranks")


@contextmanager
def formed(topology: Topology, events: int, rounds: int) -> Iterator[LiveTree]:
    """A tree for profiles of up to `events` and plays of up to `rounds`.

    What it has in files is removed whatever ends it: it cannot do so itself where a signal does.
    """
    with tempfile.TemporaryDirectory(prefix="tare-", ignore_cleanup_errors=True) as place:
        yield from _formed(topology, events, rounds, place)


def _formed(topology: Topology, events: int, rounds: int, place: str) -> Iterator[LiveTree]:
    program = library.find(PROGRAM)
    words = [topology.ranks, topology.fan_out, topology.nodes, events, rounds, topology.transport]
    process = subprocess.Popen(
        [str(program), *map(str, words), str(topology.acceptance), topology.filter],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": place},
    )
    assert process.stdin is not None and process.stderr is not None
    try:
        yield LiveTree(process, topology)
        process.stdin.close()
        process.wait(ENDS_WITHIN_S)
        said = process.stderr.read().strip()
    except CommandError as error:
        process.kill()
        said = process.stderr.read().strip()
        raise CommandError(said.removeprefix("tare-sweetspot: ") or str(error)) from error
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                with suppress(BrokenPipeError):
                    stream.close()
    if process.returncode != 0:
        raise CommandError(said or f"{PROGRAM} failed ({units.ending(process.returncode)})")
