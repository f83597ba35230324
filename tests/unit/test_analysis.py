from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import fake_native
import pytest
from made import made
from tare._native import ReplayedWorld, Scope, Trace
from tare.analysis import efficiency, events, profile, ranks
from tare.analysis.rows import changed
from tare.analysis.spread import spread

PROFILE = cast(Any, fake_native.PROFILE)
SITES = cast(Any, fake_native.SITES)
PROCESSES = cast(Any, fake_native.PROCESSES)


def recorded(rows: Any = PROFILE, sites: Any = SITES) -> Any:
    return SimpleNamespace(
        profile=lambda by, **chosen: fake_native.profile(by, rows=rows, sites=sites, **chosen),
        rows=fake_native.Table.rows,
        sites=sites,
        processes=PROCESSES,
    )


def test_order_and_limit() -> None:
    rows = profile.summed(recorded(), ["site"])
    assert [row.calls for row in profile.ordered(rows, "calls", 2)] == [6, 5]
    assert profile.ordered(rows, "bytes", 1)[0].bytes == 4016


def test_spread_names_the_extreme_ranks() -> None:
    found = spread(PROCESSES, ranks.mpi_share)
    assert found is not None
    assert (found.least, found.most, found.mean) == pytest.approx((0.1, 0.3, 0.2))
    assert (found.min_at.rank, found.max_at.rank) == (0, 1)
    assert spread(PROCESSES, lambda process: None) is None


def test_share_of_a_rank_without_net_time_is_zero() -> None:
    assert ranks.mpi_share(cast(Any, changed(PROCESSES[0], net_ns=0, threads_ns=0))) == 0.0


def test_share_of_a_rank_whose_threads_call_mpi_is_of_their_time_together() -> None:
    three = cast(Any, changed(PROCESSES[0], threads_ns=6 * 10**9, mpi_ns=3 * 10**9))
    assert ranks.mpi_share(three) == 0.5
    (found,) = efficiency.efficiencies([three])
    assert found.parallel_efficiency == 0.5


def test_events_are_described() -> None:
    scopes = [
        made(Scope, kind="file", name="out.dat", communicator=0),
        made(Scope, kind="window", name="halo", communicator=0, key=0x1F, flavour="create"),
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


@pytest.mark.parametrize("key", profile.KEYS)
def test_a_row_has_the_fields_of_its_keys(key: profile.Key) -> None:
    names = profile.columns([key])
    rows = profile.summed(recorded(), [key])
    assert all(list(profile.record(row, names, SITES)) == names for row in rows)


def test_efficiencies_multiply() -> None:
    """Net time 2 s; in MPI 0.2 and 0.6 s: useful 1.8 and 1.4 s."""
    (found,) = efficiency.efficiencies(PROCESSES)
    assert found.load_balance == pytest.approx(1.6 / 1.8)
    assert found.communication_efficiency == pytest.approx(0.9)
    assert found.parallel_efficiency == pytest.approx(0.8)
    assert found.most_computing_rank == 0
    assert found.mpi_share == pytest.approx(0.2)


TRACE = made(Trace, records=10, policy="block")
TRACED = [changed(process, finalized=True, trace=TRACE) for process in PROCESSES]
REPLAYED = made(ReplayedWorld, runtime_ns=2_000, ideal_ns=1_900, useful_ns=1_800, unknown_ns=20)


def test_a_replay_splits_the_communication_efficiency() -> None:
    all_found = efficiency.efficiencies(cast(Any, TRACED))
    (found,) = efficiency.replayed(all_found, cast(Any, TRACED), lambda: [REPLAYED], always=False)
    assert found.not_replayed is None
    assert found.serialisation_efficiency == pytest.approx(18 / 19)
    assert found.transfer_efficiency == pytest.approx(0.95)
    assert (found.ideal_ns, found.unknown_share) == (1_900, 0.01)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"trace": changed(TRACE, policy=None)}, "needs a trace"),
        ({"trace": changed(TRACE, dropped=1)}, "the trace has gaps"),
        ({"trace": changed(TRACE, overwritten_bytes=48)}, "the trace has gaps"),
        ({"trace": changed(TRACE, written=False)}, "the trace was not written"),
        ({"trace": changed(TRACE, records=10_000_000)}, "more than 5,000,000 records to replay"),
        ({"finalized": False}, "a rank has not come to its end"),
        ({"world": 1}, "not all ranks were measured"),
    ],
)
def test_no_replay_of_what_cannot_be(change: dict[str, Any], why: str) -> None:
    processes = cast(Any, [TRACED[0], changed(TRACED[1], **change)])
    found = efficiency.efficiencies(processes)
    found = efficiency.replayed(found, processes, lambda: pytest.fail("replayed"), always=False)
    assert {each.not_replayed for each in found} == {why}
    assert {each.transfer_efficiency for each in found} == {None}


def test_large_traces_are_replayed_on_demand() -> None:
    large = cast(Any, [changed(process, trace=changed(TRACE, records=10**9)) for process in TRACED])
    found = efficiency.efficiencies(large)
    found = efficiency.replayed(found, large, lambda: [REPLAYED], always=True)
    assert found[0].ideal_ns == 1_900


def test_efficiency_of_ranks_that_only_communicate() -> None:
    waiting = [changed(process, mpi_ns=3 * 10**9) for process in PROCESSES]  # more than there is, by rounding
    (found,) = efficiency.efficiencies(cast(Any, waiting))
    assert (found.load_balance, found.parallel_efficiency) == (None, 0.0)
    (found,) = efficiency.efficiencies(cast(Any, [changed(PROCESSES[0], net_ns=0)]))
    assert found.parallel_efficiency is None


def test_efficiencies_are_by_world() -> None:
    other = changed(PROCESSES[1], world=1)
    outside = changed(PROCESSES[1], rank=-1)
    found = efficiency.efficiencies(cast(Any, [PROCESSES[0], other, outside]))
    assert [(each.world, each.ranks) for each in found] == [(0, 1), (1, 1)]
