"""Collectives: what each rank takes out, beside what it puts in."""

from __future__ import annotations

import re
from pathlib import Path

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure

RANKS = 4
LINE = re.compile(r"^  (?P<function>MPI_\w+)\(.*/\* (?P<received>(?:(?:\d+|-) ?){4})\*/$")


def test_received_bytes_of_collectives(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    source = PROGRAMS / "received.c"
    program = compile_c(mpi, [source], tmp_path / "program")
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout in ("ok\n", "ok, persistent too\n")
    unused = () if "persistent" in measured.ended.stdout else ("MPI_Start", "MPI_Startall")

    expected = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if match := LINE.match(line):
            expected[number, match["function"]] = [
                None if word == "-" else int(word) for word in match["received"].split()
            ]
    assert len(expected) == 39
    expected = {at: received for at, received in expected.items() if at[1] not in unused}
    found = {
        (row["line"], row["function"], row["rank"]): row.get("received")
        for row in measured.events()
        if (row["line"], row["function"]) in expected
    }
    assert found == {
        (*at, rank): received for at, of_ranks in expected.items() for rank, received in enumerate(of_ranks)
    }
    sums = {row["function"]: row["received"] for row in measured.profile("function")}
    for function in {function for _, function in expected}:
        assert sums[function] == sum(
            received or 0
            for (_, name), of_ranks in expected.items()
            if name == function
            for received in of_ranks
        )
