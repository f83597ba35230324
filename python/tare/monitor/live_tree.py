"""A monitoring tree of processes of this machine, with synthetic ranks (src/tared/sweetspot/main.cpp)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from tare.errors import CommandError
from tare.measuring import library

PROGRAM = "tare-sweetspot"
ENDS_WITHIN_S = 60.0
# Without a limit: a round is delivered whoever is missing.
ANY = 2**32 - 1


@dataclass(frozen=True)
class Topology:
    """What a tree is made of. Times depend on it, and on the machine."""

    ranks: int
    fan_out: int
    nodes: int = 0  # all of them with ranks; 0: ranks are below nodes that have none, `fan_out` below each
    transport: str = "unix"  # or "tcp"
    filter: str = "statistics"
    acceptance: int = ANY

    @property
    def name(self) -> str:
        """The topology as text."""
        where = f"{self.nodes} nodes" if self.nodes else f"fan-out {self.fan_out}"
        return f"{self.ranks} ranks, {where}, {self.transport}, {self.filter}"


# Answers of the program. Times are in ns.


class Shape(msgspec.Struct):
    """What the processes of a tree are like."""

    nodes: int
    depth: int
    formed_ns: float
    proportional_kib: list[float]  # memory (PSS) of each process


class Search(msgspec.Struct):
    """A search for the bottleneck offload interval."""

    boi: float
    searched: float  # before it was confirmed
    confirmed: float  # 1: it was
    confirmations: list[dict[str, float]]
    threshold: float  # of the growth of the delay
    error: float
    steps: list[dict[str, float]]


class Rounds(msgspec.Struct):
    """Rounds that were sent, and those of them that have arrived."""

    played: float  # duration
    drained: float  # until the last has arrived
    arrival_interval: float
    most_under_way: float  # rounds at a time
    delivered: int
    incomplete: int  # of the delivered ones
    delays: list[float]
    arrivals: list[float]
    reduce_ns: float
    packet_ns: float
    reductions: float
    packets: float
    worst_costs: list[float]  # of the offloads of each round
    mean_costs: list[float]
    dropped: list[str]  # of each round, the ranks


class Controlled(msgspec.Struct):
    """Rounds at an interval that the root finds and keeps, since it has settled: a decision takes a third of
    a second to hold."""

    interval: float  # that was kept at the end
    delivered: int
    incomplete: int  # of the delivered ones
    delays: list[float]
    settling: float  # from the first interval that was kept until then, and the rounds in that time
    delivered_before: int
    incomplete_before: int


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
    """A tree for profiles of up to `events` and plays of up to `rounds`."""
    program = library.find(PROGRAM)
    words = [topology.ranks, topology.fan_out, topology.nodes, events, rounds, topology.transport]
    process = subprocess.Popen(
        [str(program), *map(str, words), str(topology.acceptance), topology.filter],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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
        raise CommandError(said or f"{PROGRAM} failed with exit code {process.returncode}")
