"""Ranks of which a run holds nothing (runs/missing.py)."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from made import made
from some_run import metadata
from tare._native import Process
from tare.errors import CommandError
from tare.runs import missing
from tare.runs.metadata import Launched, Missing, Unseen, decode, encode

OF_MPMD = [Missing(world=0, size=3, ranks=[(1, 2)])]


def processes(*ranks: int, size: int, world: int = 0) -> list[Process]:
    return [made(Process, world=world, rank=rank, size=size) for rank in ranks]


@pytest.mark.parametrize(
    ("seen", "size", "gaps"),
    [
        ((0, 1, 2), 3, []),
        ((0,), 3, [(1, 2)]),
        ((1, 4), 6, [(0, 0), (2, 3), (5, 5)]),
        ((-1,), 3, []),  # it has not come to know its rank, nor how many there are
        ((0, 7), 2, [(1, 1)]),  # a damaged one
    ],
)
def test_the_size_of_the_world_tells_which_are_missing(
    seen: tuple[int, ...], size: int, gaps: list[tuple[int, int]]
) -> None:
    found = missing.find(cast(Any, processes(*seen, size=size)))
    assert [row.ranks for row in found] == ([gaps] if gaps else [])


def test_each_world_has_its_own() -> None:
    found = missing.find(cast(Any, [*processes(0, size=1), *processes(1, size=2, world=1)]))
    assert found == [Missing(world=1, size=2, ranks=[(0, 0)])]
    assert missing.sentences(metadata(missing=found), "r")[0].startswith(
        "rank 0 of 2 of world 1 is missing: "
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"launched": Launched(variable="PMI_RANK", rank=0, size=3)},
            "a launcher has started `tare run` itself, as rank 0 of 3 (PMI_RANK)",
        ),
        ({"unseen": [Unseen(reason="static", executable="/a")]}, "they called MPI where tare does not"),
        ({"command": ["mpirun", "-n", "1", "a", ":", "-n", "2", "env", "-i", "a"]}, "`env -i`"),
        ({"command": ["mpirun", "/bin/env", "-u", "LD_PRELOAD", "a"]}, "`/bin/env -u LD_PRELOAD`"),
        ({"command": ["mpirun", "env", "LD_PRELOAD=/my.so", "a"]}, "`LD_PRELOAD=/my.so`"),
        ({"command": ["mpirun", "env", "-u", "HOME", "a"]}, "they probably started without"),
        ({"exit_code": 0}, "they probably started without tare's environment"),
        ({"exit_code": 1}, "`tare recover r`"),
    ],
)
def test_the_likely_cause_is_said(given: dict[str, Any], why: str) -> None:
    (said,) = missing.sentences(metadata(missing=OF_MPMD, **given), "r")
    assert said.startswith("ranks 1-2 of 3 are missing: ")
    assert why in said


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "2"},
         Launched(variable="OMPI_COMM_WORLD_RANK", rank=2, size=4)),
        ({"PMI_RANK": "0", "PMI_SIZE": "3"}, Launched(variable="PMI_RANK", rank=0, size=3)),
        ({"PMIX_RANK": "1"}, Launched(variable="PMIX_RANK", rank=1, size=None)),
        ({"PMI_RANK": "x", "PMIX_RANK": "9" * 400}, None),
    ],
)  # fmt: skip
def test_a_launcher_tells_what_it_starts(environment: dict[str, str], found: Launched | None) -> None:
    assert missing.launched(environment) == found


def test_meta_json_keeps_it() -> None:
    meta = metadata(missing=OF_MPMD, launched=Launched(variable="PMI_RANK", rank=0, size=3))
    assert decode(encode(meta), "r", meta.format) == meta
    for ranks in ([5, 2], [0, 3], [-1, 2]):
        damaged = json.loads(encode(meta))
        damaged["missing"][0]["ranks"] = [ranks]
        with pytest.raises(CommandError, match="damaged"):
            decode(json.dumps(damaged).encode(), "r", meta.format)
