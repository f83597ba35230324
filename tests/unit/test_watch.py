"""The alerts of `tare watch`, and what it tells Prometheus, on numbers that are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made import made
from made_rounds import Made, Metric, events_of, round_of
from tare import _native
from tare._native import Ranks, TotalCost
from tare.analysis.deadlock import Blocked, Deadlock
from tare.analysis.where import Look, Row
from tare.commands import hanging
from tare.monitor import alerts, endpoint, hangs
from tare.monitor.alerts import Alerts, Seen
from tare.monitor.endpoint import Address, Metrics, Snapshot
from tare.monitor.hangs import Hang
from tare.monitor.live import Activity, Live
from tare.units import NS_PER_S

S = NS_PER_S
NOBODY = Ranks(())


def activity(imbalance: float, event: str = "MPI_Allreduce", share: float = 0.5) -> Activity:
    return Activity(event, "function", share, 1, 1, None, imbalance, 0, 1, [], imbalance)


def seen(at_s: float, *activities: Activity, taken: int = 0, lost: int = 0, hang: Hang | None = None) -> Seen:
    return Seen(at_s, list(activities), taken, lost, NOBODY, lambda _: hang)


def conditions(*texts: str) -> Alerts:
    return Alerts([alerts.parse(text) for text in texts])


@pytest.mark.parametrize(
    ("text", "kind", "threshold", "event"),
    [
        ("hang", "hang", 10 * S, ""),
        ("hang:60s", "hang", 60 * S, ""),
        ("imbalance:30%", "imbalance", 0.3, ""),
        ("imbalance:2.5%,event=a, b", "imbalance", 0.025, "a, b"),
        ("loss:0%", "loss", 0, ""),
    ],
)
def test_conditions_are_read(text: str, kind: str, threshold: float, event: str) -> None:
    found = alerts.parse(text)
    assert found.threshold == pytest.approx(threshold)
    assert (found.kind, found.event) == (kind, event)


@pytest.mark.parametrize(
    "text",
    ["", "hang:x", "loss", "loss:nan%", "loss:-1%", "imbalance:30%,event=", "hang,event=a", "x:1%"],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="condition"):
        alerts.parse(text)


def test_an_alert_comes_once_until_it_was_over_for_long() -> None:
    watched = conditions("imbalance:30%")
    assert watched.begun(seen(0, activity(0.2))) == []
    (first,) = watched.begun(seen(1, activity(0.4)))
    assert (first.event, first.value, str(first.ranks)) == ("MPI_Allreduce", 0.4, "1")
    assert watched.begun(seen(2, activity(0.5))) == []
    assert watched.begun(seen(3, activity(0.1))) == []
    assert watched.begun(seen(8, activity(0.5))) == [], "it swings about the threshold"
    assert watched.begun(seen(9, activity(0.1))) == []
    assert len(watched.begun(seen(30, activity(0.5)))) == 1


def test_each_event_is_an_alert_of_its_own_and_may_be_chosen() -> None:
    pair = (activity(0.4), activity(0.4, "MPI_Send"), activity(0.4, "MPI_Wait", share=0.001))
    assert {each.event for each in conditions("imbalance:30%").begun(seen(0, *pair))} == {
        "MPI_Allreduce",
        "MPI_Send",
    }
    (one,) = conditions("imbalance:30%,event=MPI_Send").begun(seen(0, *pair))
    assert one.event == "MPI_Send"


def test_losses_are_those_of_the_last_seconds() -> None:
    watched = conditions("loss:10%")
    assert watched.begun(seen(0, taken=100, lost=100)) == [], "before tare watched"
    assert watched.begun(seen(1, taken=105, lost=100)) == []
    (lost,) = watched.begun(seen(2, taken=110, lost=110))
    assert lost.value == pytest.approx(0.5)
    assert watched.begun(seen(40, taken=1000, lost=110)) == []
    assert watched.begun(seen(51, taken=2000, lost=120)) == []


def test_alerts_are_told_in_words_fields_and_variables() -> None:
    hang = Hang(Ranks(((1, 2),)), "nothing comes from ranks 1-2")
    (alert,) = conditions("hang:5s").begun(seen(0, hang=hang))
    assert alert.content() == {
        "alert": "hang", "condition": "hang:5s", "message": "nothing comes from ranks 1-2",
        "value": None, "threshold": 5.0, "event": None, "ranks": "1-2",
    }  # fmt: skip
    assert "TARE_ALERT_VALUE" not in alert.variables()
    assert alert.variables()["TARE_ALERT"] == "hang" and alert.variables()["TARE_ALERT_RANKS"] == "1-2"
    (hostile,) = conditions("imbalance:1%").begun(seen(0, activity(0.5, "a\n\0\x1b[2J")))
    assert all(value.isprintable() for value in hostile.variables().values())


def look(*rows: Row, **more: Any) -> Look:
    nothing: dict[str, Any] = {
        "deadlock": None, "stalled": None, "waiting": frozenset(), "waited_for": frozenset(),
        "mismatches": [],
    }  # fmt: skip
    return Look(rows=list(rows), calls=[], is_over=False, **(nothing | more))


def row(rank: int, function: str = "MPI_Recv", inside: bool = True) -> Row:
    return Row(world=0, rank=rank, state="running", function=function, inside=inside, for_ns=11 * S)


def test_a_deadlock_is_a_hang_at_once() -> None:
    def blocked(rank: int) -> Blocked:
        call = made(_native.CurrentCall, rank=rank, function="MPI_Recv")
        return Blocked(call, ((0, 1 - rank),), False)

    found = Deadlock((((0, 0), (0, 1)),), (), (blocked(0), blocked(1)))
    for where in (look(row(0), row(1), deadlock=found), look(row(0), row(1), stalled=found)):
        hang = hangs.verdict(where, {}, 0, 10 * S)
        assert hang is not None and str(hang.ranks) == "0-1" and "MPI_Recv" in hang.message


def test_a_rank_that_is_silent_while_others_go_on_hangs() -> None:
    where = look(row(0), row(1, "MPI_Send", inside=False), row(2))
    assert hangs.verdict(where, {1: 9 * S}, 0, 10 * S) is None
    hang = hangs.verdict(where, {1: 11 * S}, 0, 10 * S)
    assert hang is not None and str(hang.ranks) == "1"
    assert hang.message == (
        "nothing comes from rank 1 for 11.0 s: rank 1 has been outside MPI for 11.0 s, after MPI_Send"
    )
    # It goes on calling MPI, in whatever thread: it does not hang, although it has handed over nothing.
    calls = replace(row(1, "MPI_Send", inside=False), for_ns=S // 100)
    assert hangs.verdict(look(row(0), calls, row(2)), {1: 11 * S}, 0, 10 * S) is None
    assert hangs.verdict(look(row(0), calls, row(1), row(2)), {1: 11 * S}, 0, 10 * S) is None
    polls = look(row(0), replace(calls, polling=True), row(2))
    assert hangs.verdict(polls, {1: 11 * S}, 0, 10 * S) is not None
    ended = look(replace(row(1), state="finished"))
    assert hangs.verdict(ended, {1: 11 * S}, 0, 10 * S) is None
    assert hangs.verdict(replace(where, is_over=True), {1: 11 * S}, 0, 10 * S) is None


def test_a_thread_that_never_calls_mpi_hides_no_hang() -> None:
    """It writes a few bytes now and then, or waits in a call of its own."""
    helper = replace(row(1, "write", inside=False), thread=1, mpi_calls=False, for_ns=S // 100)
    hang = hangs.verdict(look(row(0), row(1, "read"), helper), {1: 11 * S}, 0, 10 * S)
    assert hang is not None and hang.message.endswith("rank 1 is in read for 11.0 s")
    read = replace(row(1, "read"), used_file="/in/pipe", file="/src/a.c", line=7)
    hang = hangs.verdict(look(row(0), read, helper), {1: 11 * S}, 0, 10 * S)
    assert hang is not None
    assert hang.message.endswith("rank 1 is in read of /in/pipe for 11.0 s (/src/a.c:7)")
    # Their rounds go on, and no rank falls silent.
    waits = look(row(0), read, helper, waiting=frozenset({(0, 0)}), waited_for=frozenset({(0, 1)}))
    hang = hangs.verdict(waits, {}, 0, 10 * S)
    assert hang is not None and hang.message.startswith("1 rank waits for rank 1 for 11.0 s: rank 1 is in")
    assert hangs.verdict(waits, {}, 0, 12 * S) is None
    counted = replace(row(1, inside=False), function=None, counted=True)
    hang = hangs.verdict(look(row(0), counted), {1: 11 * S}, 0, 10 * S)
    assert hang is not None
    assert hang.message.endswith("calls of rank 1 are only counted: which call it is in is not known")


def test_where_nothing_comes_the_one_that_others_wait_for_hangs() -> None:
    where = look(row(0), row(1, inside=False), waiting=frozenset({(0, 0)}), waited_for=frozenset({(0, 1)}))
    assert hangs.verdict(where, {}, 5 * S, 10 * S) is None
    hang = hangs.verdict(where, {}, 15 * S, 10 * S)
    assert hang is not None and str(hang.ranks) == "1"
    waited = replace(row(1, inside=False), for_ns=S // 100)
    healthy = look(row(0), waited, waiting=frozenset({(0, 0)}), waited_for=frozenset({(0, 1)}))
    assert hangs.verdict(healthy, {}, 15 * S, 10 * S) is None, "the interval is longer than the limit"
    all_compute = look(row(0, inside=False), row(1, inside=False))
    assert hangs.verdict(all_compute, {}, 15 * S, 10 * S) is None, "nobody waits: they compute"


def test_a_run_of_which_no_round_has_come_may_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = look(row(0), row(1, inside=False), waiting=frozenset({(0, 0)}), waited_for=frozenset({(0, 1)}))
    now_s = [100.0]
    clock = SimpleNamespace(monotonic=lambda: now_s[0], time_ns=lambda: 0)
    monkeypatch.setattr(hanging, "time", clock)
    monkeypatch.setattr(hanging, "look_twice", lambda *_: (SimpleNamespace(answers=None), where))
    assert hanging.Hanging(tmp_path, Live(tmp_path)).verdict(10 * S) is None
    others = hanging.Hanging(tmp_path, Live(tmp_path), has_sources=True)
    where.rows.append(replace(row(1, "write", inside=False), thread=1, mpi_calls=False))
    assert others.verdict(10 * S) is not None, "threads that do not call MPI may hide that it is silent"
    where.rows.pop()
    watched = hanging.Hanging(tmp_path, Live(tmp_path))
    for now_s[0], message in (
        (100.0, None),
        (109.0, None),
        (111.0, "1 rank waits for rank 1 for 11.0 s: rank 1 has been outside MPI for 11.0 s, after MPI_Recv"),
    ):
        found = watched.verdict(10 * S)
        assert (found.message if found else None) == message


def statistic(mean: float, least: float, most: float, first: int) -> Metric:
    return Metric(mean, 0, least, most, first, first + 1)


def event(name: str, mean_s: float, first: int = 0, ranks: int = 2) -> Made:
    time = statistic(mean_s * S, mean_s * S / 2, mean_s * S * 2, first)
    return Made(name, ranks, (statistic(3, 3, 3, first), time, statistic(8, 4, 12, first)))


def test_hosts_are_one_in_the_totals() -> None:
    made = [round_of(event("MPI_Send", 1, 0)), round_of(event("MPI_Send", 4, 2, ranks=4), event("b", 1))]
    send, _ = _native.total_events(made)
    assert send.ranks == 6 and send.time.mean == pytest.approx(3 * S)
    assert (send.time.least, send.time.least_rank, send.time.most, send.time.most_rank) == (
        S / 2,
        0,
        8 * S,
        3,
    )
    assert send.time.deviation == pytest.approx(2**0.5 * S), "of 1, 1, 4, 4, 4, 4"


def snapshot(*events: Made, **more: Any) -> Snapshot:
    given: dict[str, Any] = {
        "going_on": True, "rounds": 7, "ranks": 2, "missing": 1, "taken": 14, "lost": 2, "time_ns": 5 * S,
        "delay_ns": 10**6, "cost": made(TotalCost, offloads=14, offload_ns=28_000, net_share=0.01),
    }  # fmt: skip
    return Snapshot(events=events_of(*events), **(given | more))


def samples(metrics: Metrics, now: Snapshot) -> dict[tuple[str, ...], float]:
    pytest.importorskip("prometheus_client")
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in metrics.families(now)
        for sample in family.samples
    }


def test_metrics_have_base_units_and_names_of_events() -> None:
    found = samples(Metrics("app", "/runs/app"), snapshot(event("MPI_Send", 2), event("counter residual", 0)))
    assert found["tare_run_info", "/runs/app", "app"] == 1
    assert found["tare_event_seconds_total", "MPI_Send", "function"] == 2
    assert found["tare_event_most_seconds_total", "MPI_Send", "function"] == 4
    assert found["tare_event_most_rank", "MPI_Send", "function"] == 1
    assert found["tare_counter_value", "residual"] == 8
    assert found["tare_round_delay_seconds",] == 0.001
    assert found["tare_offload_seconds_total",] == pytest.approx(28e-6)
    assert ("tare_event_calls_total", "residual", "counter") not in found
    started = samples(Metrics("app", ""), snapshot(rounds=0, time_ns=None, delay_ns=None, cost=None))
    assert started["tare_rounds_total",] == 0 and ("tare_round_delay_seconds",) not in started


def test_a_counter_does_not_go_down_when_a_rank_is_missing() -> None:
    metrics = Metrics("app", "")
    key = ("tare_event_seconds_total", "MPI_Send", "function")
    assert [samples(metrics, snapshot(event("MPI_Send", mean)))[key] for mean in (2, 1, 3)] == [2, 2, 3]


def test_a_program_with_many_names_has_a_bounded_number_of_series() -> None:
    metrics = Metrics("app", "")
    many = [event(f"step {number}", number) for number in range(1000)]
    first = samples(metrics, snapshot(*many))
    told = {key[1] for key in first if key[0] == "tare_event_seconds_total"}
    assert told == {f"step {number}" for number in range(744, 1000)}
    assert first["tare_events_left_out",] == 744
    later = samples(metrics, snapshot(*many, event("a late one", 10_000)))
    assert {key[1] for key in later if key[0] == "tare_event_seconds_total"} == told


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9464", Address("127.0.0.1", 9464)),
        ("0.0.0.0:1", Address("0.0.0.0", 1)),
        ("[::1]:80", Address("::1", 80)),
        ("node7:80", Address("node7", 80)),
    ],
)
def test_addresses_are_read(text: str, address: Address) -> None:
    assert endpoint.parse_address(text) == address
    assert address.is_loopback == (address.host in ("127.0.0.1", "::1"))


@pytest.mark.parametrize("text", ["", "x", ":80", "70000", "-1", "host:", "²"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        endpoint.parse_address(text)
