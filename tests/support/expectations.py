"""What a test program says about its own calls, in comments on the lines that make them.

    MPI_Send(...); /* expect: MPI_Send calls=10 bytes=8000 rank=0; MPI_Wait calls=1+ */

Calls and bytes are those of each rank, or of one rank with rank=R. `calls=N+` is at least N. Without
`bytes=` the bytes are not compared. In the profile a nonblocking receive has the bytes it received; its
event was written before they came, so in the trace they stand in the event of the call that completed
it: `completes=B`. `lookup`: a function that may be counted without a call site.
`since=FUNCTION`: holds only if the compiled program refers to FUNCTION; an expectation of a function
that the program does not refer to (because its MPI is too old) does not hold either.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMENT = re.compile(r"expect: (?P<text>MPI_.*?)(?:\*/)?\s*$")
FLAGS = {"lookup"}
KEYS = {"calls", "bytes", "completes", "rank", "since"}
NONBLOCKING_RECEIVES = {"MPI_Irecv", "MPI_Irecv_c", "MPI_Imrecv"}


@dataclass(frozen=True)
class Expectation:
    function: str
    line: int
    calls: int
    at_least: bool  # `calls` is a lower bound
    size_bytes: int | None
    completes_bytes: int | None
    rank: int | None  # None: every rank
    lookup: bool
    since: str | None

    def holds_for(self, rank: int) -> bool:
        return self.rank is None or self.rank == rank

    @property
    def event_bytes(self) -> int | None:
        """Bytes in the trace."""
        if self.function in NONBLOCKING_RECEIVES:
            return 0
        return self.size_bytes if self.completes_bytes is None else self.completes_bytes


@dataclass
class Sum:
    """Calls and bytes, as expected or as measured; `size_bytes` is None where not all are known."""

    calls: int = 0
    size_bytes: int | None = 0
    at_least: bool = False

    def add(self, calls: int, size_bytes: int | None, at_least: bool = False) -> None:
        self.calls += calls
        self.at_least |= at_least
        if self.size_bytes is not None:
            self.size_bytes = None if size_bytes is None else self.size_bytes + size_bytes

    def allows(self, measured: Sum) -> bool:
        calls_match = measured.calls >= self.calls if self.at_least else measured.calls == self.calls
        return calls_match and self.size_bytes in (None, measured.size_bytes)

    def __str__(self) -> str:
        size = "any" if self.size_bytes is None else self.size_bytes
        return f"calls={self.calls}{'+' if self.at_least else ''} bytes={size}"


@dataclass
class Expected:
    """All expectations of one source file that hold for one compiled program."""

    source: Path
    expectations: list[Expectation] = field(default_factory=list)

    @property
    def lookups(self) -> set[str]:
        return {each.function for each in self.expectations if each.lookup}

    def by_function(self, ranks: int) -> dict[Any, Sum]:
        return _sums((each.function, each, each.size_bytes) for _, each in self._all(ranks))

    def by_site(self, ranks: int) -> dict[Any, Sum]:
        return _sums(((each.line, each.function), each, each.size_bytes) for _, each in self._sited(ranks))

    def by_rank_and_site(self, ranks: int) -> dict[Any, Sum]:
        """The sums as the trace has them."""
        return _sums(
            ((rank, each.line, each.function), each, each.event_bytes) for rank, each in self._sited(ranks)
        )

    def _all(self, ranks: int) -> Iterator[tuple[int, Expectation]]:
        for rank in range(ranks):
            yield from ((rank, each) for each in self.expectations if each.holds_for(rank))

    def _sited(self, ranks: int) -> Iterator[tuple[int, Expectation]]:
        lookups = self.lookups
        return ((rank, each) for rank, each in self._all(ranks) if each.function not in lookups)


def _sums(items: Iterable[tuple[Any, Expectation, int | None]]) -> dict[Any, Sum]:
    sums: dict[Any, Sum] = defaultdict(Sum)
    for key, each, size_bytes in items:
        sums[key].add(each.calls, size_bytes, each.at_least)
    return dict(sums)


def read(source: Path, program: Path | None = None) -> Expected:
    """The expectations in `source`; of those, if `program` is given, the ones that hold for it."""
    found = [
        _parse(text.strip(), number, source)
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if (match := COMMENT.search(line))
        for text in match["text"].split(";")
    ]
    assert found, f"{source} expects nothing"
    if program is not None:
        referred = symbols_of(program)
        found = [
            each
            for each in found
            if {each.function.lower(), (each.since or each.function).lower()} <= referred
        ]
        assert found, f"{program} refers to no function of MPI that {source} expects"
    return Expected(source, found)


def _parse(text: str, line: int, source: Path) -> Expectation:
    function, *words = text.split()
    values = dict(word.split("=", 1) for word in words if "=" in word)
    flags = {word for word in words if "=" not in word}
    where = f"{source.name}:{line}: {text}"
    assert "calls" in values and values.keys() <= KEYS and flags <= FLAGS, where
    return Expectation(
        function=function,
        line=line,
        calls=int(values["calls"].removesuffix("+")),
        at_least=values["calls"].endswith("+"),
        size_bytes=int(values["bytes"]) if "bytes" in values else None,
        completes_bytes=int(values["completes"]) if "completes" in values else None,
        rank=int(values["rank"]) if "rank" in values else None,
        lookup="lookup" in flags,
        since=values.get("since"),
    )


def symbols_of(program: Path) -> set[str]:
    """The MPI functions a program refers to, in lower case and without Fortran's endings."""
    command = ["nm", "-D", "--undefined-only", "--format=just-symbols", str(program)]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.lower().split()
    return {re.sub(r"(_f08(ts)?)?_$", "", name) for name in names if name.startswith("mpi_")}


def differences(expected: Mapping[Any, Sum], measured: Mapping[Any, Sum], strict: bool = True) -> list[str]:
    """One line for each key whose sums differ; `strict`: also for each that nothing expects."""
    result = [
        f"{_name(key)}: expected {wanted}, measured {measured.get(key, Sum())}"
        for key, wanted in sorted(expected.items())
        if not wanted.allows(measured.get(key, Sum()))
    ]
    if strict:
        result += [
            f"{_name(key)}: expected nothing, measured {got}"
            for key, got in sorted(measured.items(), key=lambda item: str(item[0]))
            if key not in expected
        ]
    return result


def _name(key: Any) -> str:
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def add_up(rows: Iterable[tuple[Any, int, int]]) -> dict[Any, Sum]:
    """Sums of (key, calls, bytes)."""
    sums: dict[Any, Sum] = defaultdict(Sum)
    for key, calls, size_bytes in rows:
        sums[key].add(calls, size_bytes)
    return dict(sums)
