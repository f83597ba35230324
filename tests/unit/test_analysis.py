from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import fake_native
import pytest
from tare.analysis import efficiency, events, profile, ranks
from tare.analysis.rows import fields
from tare.analysis.spread import spread

PROFILE = cast(Any, fake_native.PROFILE)
SITES = cast(Any, fake_native.SITES)
PROCESSES = cast(Any, fake_native.PROCESSES)


def recorded(rows: Any = PROFILE, sites: Any = SITES) -> Any:
    return SimpleNamespace(
        profile_sums=lambda queries: [fake_native.summed(rows, query) for query in queries],
        functions=fake_native.FUNCTIONS,
        sites=sites,
        communicators=fake_native.COMMUNICATORS,
        processes=PROCESSES,
    )


def collective(rank: int, time_ns: int, communicator: int = 0) -> Any:
    row = fake_native.row(rank, "MPI_Allreduce", 1, 1, time_ns, 8)
    return {**row, "communicator": communicator}


def test_by_function_sums_ranks_and_sites() -> None:
    rows = profile.ordered(profile.summed(recorded(), ["function"]), "time_ns", 0)
    assert [(row.function, row.calls, row.time_ns, row.bytes, row.timed) for row in rows] == [
        ("MPI_Recv", 5, 590_000_000, 4008, True),
        ("MPI_Send", 7, 170_000_000, 4024, True),
        ("MPI_Comm_rank", 4, 0, 0, False),
    ]
    send = rows[1]
    assert (send.min_ns, send.max_ns) == (2_500_000, 150_000_000)


def test_the_mean_is_of_the_calls_that_were_timed() -> None:
    """All calls count, also look-ups, which are only counted."""
    (row,) = profile.summed(recorded(), ["communicator"])
    assert (row.calls, row.counted) == (16, 4)
    assert row.mean_ns == row.time_ns / 12
    by_function = {row.function: row for row in profile.summed(recorded(), ["function"])}
    assert [getattr(by_function["MPI_Comm_rank"], name) for name in ("calls", "counted", "mean_ns")] == [
        4,
        4,
        0.0,
    ]


def test_by_function_keeps_worlds_apart() -> None:
    second = [{**row, "world": 1} for row in PROFILE]
    rows = profile.summed(recorded([*PROFILE, *second]), ["function"])
    assert sorted((row.world, row.calls) for row in rows if row.function == "MPI_Send") == [
        (0, 7),
        (1, 7),
    ]


def test_by_site_says_where() -> None:
    rows = profile.summed(recorded(), ["site"])
    found = {(row.function, row.file, row.line, row.caller, row.object): row.calls for row in rows}
    assert found == {
        ("MPI_Send", "/src/app.c", 12, "exchange", "/bin/app"): 6,
        ("MPI_Send", "/src/app.c", 40, "main", "/bin/app"): 1,
        ("MPI_Recv", None, None, "halo", "/lib/libsolver.so.1"): 5,
        ("MPI_Comm_rank", None, None, None, None): 4,
    }


def test_by_rank_has_the_share_of_net_time() -> None:
    rows = profile.by_rank(recorded())
    assert [(row.rank, row.calls, row.time_ns, row.mpi_share) for row in rows] == [
        (0, 9, 200_000_000, 0.1),
        (1, 7, 600_000_000, 0.3),
    ]


def test_order_and_limit() -> None:
    rows = profile.summed(recorded(), ["site"])
    assert [row.calls for row in profile.ordered(rows, "calls", 2)] == [6, 5]
    assert profile.ordered(rows, "bytes", 1)[0].bytes == 4016


def test_spread_names_the_extreme_ranks() -> None:
    found = spread(PROCESSES, ranks.mpi_share)
    assert found is not None
    assert (found.least, found.most, found.mean) == pytest.approx((0.1, 0.3, 0.2))
    assert (found.min_at["rank"], found.max_at["rank"]) == (0, 1)
    assert spread(PROCESSES, lambda process: None) is None


def test_share_of_a_rank_without_net_time_is_zero() -> None:
    assert ranks.mpi_share(cast(Any, {**PROCESSES[0], "net_ns": 0, "threads_ns": 0})) == 0.0


def test_share_of_a_rank_whose_threads_call_mpi_is_of_their_time_together() -> None:
    three = cast(Any, {**PROCESSES[0], "threads_ns": 6 * 10**9, "mpi_ns": 3 * 10**9})
    assert ranks.mpi_share(three) == 0.5
    (found,) = efficiency.efficiencies([three])
    assert found.parallel_efficiency == 0.5


def test_events_are_described() -> None:
    scopes = [
        {"world": 0, "kind": "file", "name": "out.dat", "communicator": 0, "key": 0},
        {"world": 0, "kind": "window", "name": "halo", "communicator": 0, "key": 0x1F, "flavour": "create"},
    ]
    found: list[Any] = [dict(row) for row in fake_native.EVENTS]
    found[0]["scope"], found[1]["scope"] = 0, 1
    rows = list(events.described(found, SITES, cast(Any, fake_native.COMMUNICATORS), cast(Any, scopes)))
    assert rows[0]["mpi_file"] == "out.dat"
    assert "mpi_file_key" not in rows[0]
    assert (rows[1]["window"], rows[1]["window_key"]) == ("halo", "000000000000001f")
    assert "scope" not in rows[0]
    assert rows[0]["communicator"] == "MPI_COMM_WORLD"
    assert (rows[0]["file"], rows[0]["line"]) == ("/src/app.c", 12)
    assert "site" not in rows[0]
    assert rows[2]["file"] is None
    assert "communicator" not in rows[2]


def test_init_is_in_no_sum_with_other_functions() -> None:
    begin = fake_native.row(0, "MPI_Init", 0, 1, 10**12, 0)
    (row,) = profile.summed(recorded([*PROFILE, begin]), ["communicator"])
    assert row.time_ns == 760_000_000
    functions = profile.summed(recorded([*PROFILE, begin]), ["function"])
    assert max(row.time_ns for row in functions) == 10**12


def test_copies_of_a_line_are_one_site() -> None:
    unrolled = fake_native.site(fake_native.frame(999, "exchange", 12), fake_native.frame(64, "main", 50))
    more = [*PROFILE, fake_native.row(0, "MPI_Send", 3, 2, 100, 8)]
    rows = profile.summed(recorded(more, [*SITES, unrolled]), ["site"])
    (row,) = [row for row in rows if row.line == 12]
    assert (row.calls, row.offset) == (8, 16)


def test_one_line_called_from_two_is_two_sites() -> None:
    caller = fake_native.frame(80, "main", 60)
    from_elsewhere = fake_native.site(fake_native.frame(16, "exchange", 12), caller)
    more = [*PROFILE, fake_native.row(0, "MPI_Send", 3, 2, 100, 8)]
    rows = profile.summed(recorded(more, [*SITES, from_elsewhere]), ["site"])
    callers = {row.path[1]["line"]: row.calls for row in rows if row.line == 12}
    assert callers == {50: 6, 60: 2}


def test_one_line_called_from_two_is_one_line() -> None:
    frame, site = fake_native.frame, fake_native.site
    paths = [
        site(frame(80, "relax", 7, "/lib/libsolver.so.1"), frame(64, "main", 50), shown=1),
        site(frame(96, "restrict", 9, "/lib/libsolver.so.1"), frame(64, "main", 50), shown=1),
    ]
    calls = [fake_native.row(rank, "MPI_Allreduce", rank, 1, 10 + 20 * rank, 8) for rank in (0, 1)]
    (row,) = profile.summed(recorded(calls, paths), ["line"])
    assert (row.file, row.line, row.caller) == ("/src/app.c", 50, "main")
    assert (row.calls, row.time_ns, row.ranks, row.rank_min_ns) == (2, 40, 2, 10)
    assert row.path == ()
    assert row.imbalance_ns == 0, "ranks in different calls do not wait for each other"


def test_any_keys_can_be_combined() -> None:
    rows = profile.summed(recorded(), ["function", "size", "rank"])
    assert {(row.function, row.size_from, row.rank): row.calls for row in rows} == {
        ("MPI_Send", 4, 0): 5,
        ("MPI_Recv", 4, 1): 5,
        ("MPI_Comm_rank", None, 0): 4,
        ("MPI_Send", 4, 1): 2,
    }


@pytest.mark.parametrize("key", profile.KEYS)
def test_a_row_has_the_fields_of_its_keys(key: profile.Key) -> None:
    names = profile.columns([key])
    rows = profile.by_rank(recorded()) if key == "rank" else profile.summed(recorded(), [key])
    assert all(list(fields(row, names)) == names for row in rows)


def test_rows_tell_the_spread_over_ranks() -> None:
    (send,) = [row for row in profile.summed(recorded(), ["function"]) if row.function == "MPI_Send"]
    assert (send.ranks, send.rank_min, send.rank_min_ns) == (2, 1, 10_000_000)
    assert (send.rank_max, send.rank_max_ns, send.rank_mean_ns) == (0, 160_000_000, 85_000_000)
    assert send.imbalance_ns is None  # no collective


def test_imbalance_is_the_time_beyond_that_of_the_latest_rank() -> None:
    """Ranks 0 and 1, 2 and 3 reduce among themselves, with one name for both communicators' functions."""
    rows = [collective(0, 100), collective(1, 400), collective(2, 1000, 1), collective(3, 1500, 1)]
    run = recorded(rows)
    run.communicators = [{"name": "left", "size": 2}, {"name": "", "size": 2}]
    (row,) = profile.summed(run, ["function"])
    assert row.imbalance_ns == 300 + 500
    by_communicator = profile.summed(run, ["communicator"])
    assert [(row.communicator, row.imbalance_ns) for row in by_communicator] == [
        ("left", 300),
        ("#1", 500),
    ]


@pytest.mark.parametrize(
    ("chosen", "calls"),
    [
        ({"functions": frozenset({"MPI_Send"})}, 7),
        ({"ranks": frozenset({1})}, 7),
        ({"ranks": frozenset({0}), "functions": frozenset({"MPI_Send"})}, 5),
        ({"communicators": frozenset({"MPI_COMM_WORLD"})}, 16),
        ({"communicators": frozenset({"other"})}, 0),
        ({"worlds": frozenset({1})}, 0),
    ],
)
def test_rows_are_chosen(chosen: dict[str, Any], calls: int) -> None:
    rows = profile.summed(recorded(), ["function"], profile.Chosen(**chosen))
    assert sum(row.calls for row in rows) == calls


def test_time_of_a_rank_is_of_the_chosen_calls() -> None:
    chosen = profile.Chosen(functions=frozenset({"MPI_Send"}))
    rows = profile.by_rank(recorded(), chosen)
    assert [(row.rank, row.calls, row.time_ns) for row in rows] == [
        (0, 5, 160_000_000),
        (1, 2, 10_000_000),
    ]
    assert rows[0].mpi_share == pytest.approx(0.08)


@pytest.mark.parametrize(
    ("size_class", "sizes"), [(-1, (None, None)), (0, (0, 1)), (1, (1, 2)), (11, (1024, 2048))]
)
def test_size_classes_are_powers_of_two(size_class: int, sizes: Any) -> None:
    assert profile.size_range(size_class) == sizes


def test_efficiencies_multiply() -> None:
    """Net time 2 s; in MPI 0.2 and 0.6 s: useful 1.8 and 1.4 s."""
    (found,) = efficiency.efficiencies(PROCESSES)
    assert found.load_balance == pytest.approx(1.6 / 1.8)
    assert found.communication_efficiency == pytest.approx(0.9)
    assert found.parallel_efficiency == pytest.approx(0.8)
    assert found.most_computing_rank == 0
    assert found.mpi_share == pytest.approx(0.2)


TRACE = {"events": 10, "policy": "block", "written": True, "dropped": 0, "overwritten_bytes": 0}
TRACED = [{**process, "finalized": True, "trace": TRACE} for process in PROCESSES]
REPLAYED = {
    "world": 0,
    "obstacle": None,
    "runtime_ns": 2_000,
    "ideal_ns": 1_900,
    "useful_ns": 1_800,
    "unknown_ns": 20,
}


def test_a_replay_splits_the_communication_efficiency() -> None:
    all_found = efficiency.efficiencies(cast(Any, TRACED))
    (found,) = efficiency.replayed(all_found, cast(Any, TRACED), lambda: cast(Any, [REPLAYED]), always=False)
    assert found.not_replayed is None
    assert found.serialisation_efficiency == pytest.approx(18 / 19)
    assert found.transfer_efficiency == pytest.approx(0.95)
    assert (found.ideal_ns, found.unknown_share) == (1_900, 0.01)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"trace": {**TRACE, "policy": None}}, "needs a trace"),
        ({"trace": {**TRACE, "dropped": 1}}, "the trace has gaps"),
        ({"trace": {**TRACE, "overwritten_bytes": 48}}, "the trace has gaps"),
        ({"trace": {**TRACE, "written": False}}, "the trace was not written"),
        ({"trace": {**TRACE, "events": 10_000_000}}, "more than 5,000,000 events to replay"),
        ({"finalized": False}, "a rank has not come to its end"),
        ({"world": 1}, "not all ranks were measured"),
    ],
)
def test_no_replay_of_what_cannot_be(change: dict[str, Any], why: str) -> None:
    processes = cast(Any, [TRACED[0], {**TRACED[1], **change}])
    found = efficiency.efficiencies(processes)
    found = efficiency.replayed(found, processes, lambda: pytest.fail("replayed"), always=False)
    assert {each.not_replayed for each in found} == {why}
    assert {each.transfer_efficiency for each in found} == {None}


def test_large_traces_are_replayed_on_demand() -> None:
    large = cast(Any, [{**process, "trace": {**TRACE, "events": 10**9}} for process in TRACED])
    found = efficiency.efficiencies(large)
    found = efficiency.replayed(found, large, lambda: cast(Any, [REPLAYED]), always=True)
    assert found[0].ideal_ns == 1_900


def test_efficiency_of_ranks_that_only_communicate() -> None:
    waiting = [{**process, "mpi_ns": 3 * 10**9} for process in PROCESSES]  # more than there is, by rounding
    (found,) = efficiency.efficiencies(cast(Any, waiting))
    assert (found.load_balance, found.parallel_efficiency) == (None, 0.0)
    (found,) = efficiency.efficiencies(cast(Any, [{**PROCESSES[0], "net_ns": 0}]))
    assert found.parallel_efficiency is None


def test_efficiencies_are_by_world() -> None:
    other = {**PROCESSES[1], "world": 1}
    outside = {**PROCESSES[1], "rank": -1}
    found = efficiency.efficiencies(cast(Any, [PROCESSES[0], other, outside]))
    assert [(each.world, each.ranks) for each in found] == [(0, 1), (1, 1)]
