from __future__ import annotations

from typing import Any, cast

import pytest
from tare.analysis import events, profile, ranks

from python import fake_native

PROFILE = cast(Any, fake_native.PROFILE)
SITES = cast(Any, fake_native.SITES)
PROCESSES = cast(Any, fake_native.PROCESSES)


def test_by_function_sums_ranks_and_sites() -> None:
    rows = profile.ordered(profile.by_function(PROFILE), "time_ns", 0)
    assert [(row["function"], row["calls"], row["time_ns"], row["bytes"], row["timed"]) for row in rows] == [
        ("MPI_Recv", 5, 590_000_000, 4008, True),
        ("MPI_Send", 7, 170_000_000, 4024, True),
        ("MPI_Comm_rank", 4, 0, 0, False),
    ]
    send = rows[1]
    assert (send["min_ns"], send["max_ns"]) == (2_500_000, 150_000_000)


def test_by_function_keeps_worlds_apart() -> None:
    second = [{**row, "world": 1} for row in PROFILE]
    rows = profile.by_function([*PROFILE, *cast(Any, second)])
    assert sorted((row["world"], row["calls"]) for row in rows if row["function"] == "MPI_Send") == [
        (0, 7),
        (1, 7),
    ]


def test_by_site_says_where() -> None:
    rows = profile.by_site(PROFILE, SITES)
    found = {
        (row["function"], row["file"], row["line"], row["caller"], row["object"]): row["calls"]
        for row in rows
    }
    assert found == {
        ("MPI_Send", "/src/app.c", 12, "exchange", "/bin/app"): 6,
        ("MPI_Send", "/src/app.c", 40, "main", "/bin/app"): 1,
        ("MPI_Recv", None, None, "halo", "/lib/libsolver.so.1"): 5,
        ("MPI_Comm_rank", None, None, None, None): 4,
    }


def test_by_rank_has_the_share_of_net_time() -> None:
    rows = profile.by_rank(PROFILE, PROCESSES)
    assert [(row["rank"], row["calls"], row["time_ns"], row["mpi_share"]) for row in rows] == [
        (0, 9, 200_000_000, 0.1),
        (1, 7, 600_000_000, 0.3),
    ]


def test_order_and_limit() -> None:
    rows = profile.by_site(PROFILE, SITES)
    assert [row["calls"] for row in profile.ordered(rows, "calls", 2)] == [6, 5]
    assert profile.ordered(rows, "bytes", 1)[0]["bytes"] == 4016


def test_spread_names_the_extreme_ranks() -> None:
    spread = ranks.mpi_spread(PROCESSES)
    assert (spread.minimum, spread.maximum, spread.mean) == pytest.approx((0.1, 0.3, 0.2))
    assert (spread.minimum_at["rank"], spread.maximum_at["rank"]) == (0, 1)


def test_share_of_a_rank_without_net_time_is_zero() -> None:
    assert ranks.mpi_share(cast(Any, {**PROCESSES[0], "net_ns": 0})) == 0.0


def test_total_cost_weighs_shares_by_net_time() -> None:
    longer = {**PROCESSES[1], "net_ns": 6_000_000_000, "cost": {**PROCESSES[1]["cost"], "net_share": 0.05}}
    total = ranks.total_cost(cast(Any, [PROCESSES[0], longer]))
    assert total["net_share"] == pytest.approx((0.01 * 2 + 0.05 * 6) / 8)
    assert (total["calls"], total["flush_bytes"], total["call_ns"]) == (20, 8192, 25.0)
    assert ranks.total_cost([])["net_share"] == 0.0


def test_events_are_described() -> None:
    rows = list(events.described(cast(Any, fake_native.EVENTS), SITES, cast(Any, fake_native.COMMUNICATORS)))
    assert rows[0]["communicator"] == "MPI_COMM_WORLD"
    assert (rows[0]["file"], rows[0]["line"]) == ("/src/app.c", 12)
    assert "site" not in rows[0]
    assert rows[2]["file"] is None
    assert "communicator" not in rows[2]


def test_shares_are_of_net_time() -> None:
    begin = fake_native.row(0, "MPI_Init", 0, 1, 10**12, 0)
    assert profile.net_time_ns(cast(Any, [*PROFILE, begin])) == 760_000_000


def test_copies_of_a_line_are_one_site() -> None:
    unrolled = {**SITES[0], "offset": 999}
    rows = profile.by_site(
        [*PROFILE, cast(Any, fake_native.row(0, "MPI_Send", 3, 2, 100, 8))], [*SITES, cast(Any, unrolled)]
    )
    (row,) = [row for row in rows if row["line"] == 12]
    assert (row["calls"], row["offset"]) == (8, 16)
