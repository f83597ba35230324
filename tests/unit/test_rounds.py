"""Rounds as docs/format.md has them, and what `tare top` makes of them."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import made_rounds
import pytest
from fake_recording import fake_recording, shown
from hypothesis import given
from hypothesis import strategies as some
from made_rounds import Made, Metric, add_chunks, decoded, named, rank_set, record
from some_run import metadata
from tare import _native
from tare.commands.top import top
from tare.errors import CommandError
from tare.measuring import monitoring
from tare.monitor import history
from tare.monitor.live import Live
from tare.monitor.screen import bars, cells
from tare.reporters import rounds_figure
from tare.runs import directory, runner
from tare.runs.metadata import Options
from tare.runs.rounds import RoundFile

S = 1_000_000_000
IDENTITIES = ("MPI_Send", "region step", "counter residual", "phase x y")


def names() -> bytes:
    return made_rounds.names(*IDENTITIES)


def a_round(
    number: int, first_ns: int, values: Mapping[str, tuple[float, float, float]], *, spread: float = 0.0,
    who: bytes = rank_set((0, 2)), lost: bytes = rank_set(),
) -> bytes:  # fmt: skip
    """Each metric of each event has its mean and, on rank 1, `spread` more, on rank 0 so much less."""

    def metric(mean: float) -> Metric:
        return Metric(mean, 2 * spread**2, mean - spread, mean + spread, 0, 1)

    events = [Made(name, 2, (metric(of[0]), metric(of[1]), metric(of[2]))) for name, of in values.items()]
    return made_rounds.a_round(number, first_ns, made_rounds.statistics(events), ranks=who, lost=lost)


class Hosts:
    """The files of the rounds of a run, of one host or two."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.file = run / "monitor-a.tare"

    def add(self, *payloads: bytes, host: str = "a") -> None:
        add_chunks(self.run / f"monitor-{host}.tare", *payloads)

    def live(self) -> Live:
        live = Live(self.run)
        live.update()
        return live


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    return Hosts(tmp_path)


def test_a_round_is_read_as_it_is_written(hosts: Hosts) -> None:
    values = {"MPI_Send": (3.0, 7.0, 9.0), "counter residual": (4.0, 0.0, 0.5), "phase x y": (1.0, 2.0, 3.0)}
    hosts.add(
        names() + record(99, b"later") + a_round(8, 1000, values, spread=1.0, lost=rank_set((4, 1), (7, 2)))
    )
    (made,) = RoundFile(hosts.file).read()
    assert (made.round, made.first_ns, made.last_ns, made.delay_ns) == (8, 1000, 1005, 70)
    assert list(made.ranks) == [0, 1] and str(made.lost) == "4,7-8" and len(made.lost) == 3
    events = {event.name: event for event in made.events}
    assert {name: event.kind for name, event in events.items()} == {
        "MPI_Send": "function", "residual": "counter", "x y": "phase",
    }  # fmt: skip
    send = events["MPI_Send"]
    assert (send.calls.mean, send.time.mean, send.bytes.mean) == (3, 7, 9)
    assert math.isclose(send.time.deviation, 1.0)
    assert (send.time.least, send.time.most, send.time.least_rank, send.time.most_rank) == (6, 8, 0, 1)
    assert events["residual"].bytes.mean == 0.5


def test_names_stay_known_from_reading_to_reading(hosts: Hosts) -> None:
    hosts.add(names())
    file = RoundFile(hosts.file)
    assert list(file.read()) == []
    hosts.add(a_round(1, 0, {"MPI_Send": (1, 1, 1)}))
    assert [made.events[0].name for made in file.read()] == ["MPI_Send"]
    assert list(file.read()) == []


@given(cut=some.integers(0, 400), at=some.integers(0, 400), byte=some.integers(0, 255))
def test_what_is_damaged_is_left_out(cut: int, at: int, byte: int) -> None:
    whole = bytearray(names() + a_round(1, 0, {"MPI_Send": (1, 1, 1), "region step": (1, 1, 1)}))
    whole[min(at, len(whole) - 1)] = byte
    for made in decoded(bytes(whole[: len(whole) - cut])):
        assert all(isinstance(event.name, str) for event in made.events)


def growing(count: int, start_ns: int = 100 * S) -> list[bytes]:
    """A round each half second; MPI_Send takes a quarter of the time, 10 calls and 1000 bytes each second."""
    return [
        a_round(number, start_ns + number * S // 2, {
            "MPI_Send": (5.0 * number, number * S / 8, 500.0 * number),
            "counter residual": (number, 0, 1 / number),
        }, spread=number * S / 80)
        for number in range(1, count + 1)
    ]  # fmt: skip


def test_what_ranks_do_now(hosts: Hosts) -> None:
    made = growing(20)
    hosts.add(names(), *made[:10])
    live = Live(hosts.run)
    assert live.update() == 10 and live.update() == 0
    send, residual = live.activities()
    assert (send.event, send.kind) == ("MPI_Send", "function")
    assert send.share == pytest.approx(0.25)
    assert send.calls_per_s == pytest.approx(10) and send.bytes_per_s == pytest.approx(1000)
    assert send.imbalance == pytest.approx(0.1) and (send.least_rank, send.most_rank) == (0, 1)
    assert send.history and all(share == pytest.approx(0.25) for share in send.history)
    assert residual.value == pytest.approx(0.1)
    hosts.add(*made[10:])
    assert live.update() == 10 and live.rounds == 20 and live.taken == 40
    assert live.last is not None and live.last.round == 20


def test_a_rank_that_stops_is_seen(hosts: Hosts) -> None:
    values = {"MPI_Send": (1.0, 1.0, 1.0)}
    hosts.add(
        names(),
        a_round(1, S, values),
        a_round(2, 2 * S, values, who=rank_set((0, 1)), lost=rank_set((1, 1))),
    )
    live = hosts.live()
    assert str(live.lost_ranks) == "1" and (live.taken, live.lost) == (3, 1)
    (send,) = live.activities()
    assert send.share == 0 and send.calls_per_s == 0


def test_rates_are_of_rounds_with_the_same_ranks(hosts: Hosts) -> None:
    """A rank with little time is missing: the mean of the others is no time that has passed."""

    def without_rank_0(number: int) -> bytes:
        values = {"MPI_Send": (50.0 * number, 100 * S + number * S / 4, 5000.0 * number)}
        return a_round(number, 100 * S + number * S // 2, values, who=rank_set((1, 1)), lost=rank_set((0, 1)))

    hosts.add(names(), *growing(20), without_rank_0(21))
    live = hosts.live()
    (send,) = live.activities()
    assert send.share == pytest.approx(0.25) and send.calls_per_s == pytest.approx(10)
    assert all(share == pytest.approx(0.25) for share in send.history)
    # From the second one without it on, it is known what the other does.
    hosts.add(without_rank_0(22), without_rank_0(23))
    live.update()
    (send,) = live.activities()
    assert send.share == pytest.approx(0.5) and send.calls_per_s == pytest.approx(100)
    assert send.history[-1] == pytest.approx(0.5) and max(send.history) == pytest.approx(0.5)


def test_totals_are_of_all_ranks_where_one_has_lost_a_round(hosts: Hosts) -> None:
    def of_one_rank(number: int) -> bytes:
        values = {"MPI_Send": (1000.0, 1000.0 * S, 1.0)}
        return a_round(number, 100 * S + number * S // 2, values, who=rank_set((1, 1)), lost=rank_set((0, 1)))

    hosts.add(names(), *growing(20), of_one_rank(21))
    live = hosts.live()
    assert {event.name: event.calls.mean for event in live.totals()}["MPI_Send"] == 100
    # It is gone.
    hosts.add(*[of_one_rank(number) for number in range(22, 26)])
    live.update()
    assert {event.name: event.calls.mean for event in live.totals()}["MPI_Send"] == 1000


def test_hosts_are_put_together(hosts: Hosts) -> None:
    hosts.add(names(), *growing(6))
    idle = [
        a_round(number, number * S, {"MPI_Send": (1, 1, 1)}, who=rank_set((2, 2))) for number in (1, 2, 3)
    ]
    hosts.add(names(), *idle, host="b")
    live = hosts.live()
    assert live.ranks == 4
    send = next(each for each in live.activities() if each.event == "MPI_Send")
    assert send.share == pytest.approx(0.125) and send.imbalance == pytest.approx(0.1)


@pytest.mark.parametrize(("apart_s", "pulls", "known_s"), [(0.5, False, 5), (4, False, 12), (4, True, 5)])
def test_rates_are_told_as_those_of_now_for_some_intervals(
    hosts: Hosts, apart_s: float, pulls: bool, known_s: int
) -> None:
    hosts.add(
        names(), *[a_round(n, round(n * apart_s * S), {"MPI_Send": (n, n * S / 8, 1)}) for n in range(1, 5)]
    )
    live = Live(hosts.run, pulls=pulls)
    live.update()
    assert live.last is not None
    until_ns = live.last.arrived_ns + known_s * S
    (send,) = live.activities(until_ns)
    assert send.share > 0 and live.silence_ns(until_ns) == 0
    assert live.activities(until_ns + 1) == [] and live.silence_ns(until_ns + 1) == known_s * S + 1
    (send,) = live.activities()
    assert send.share > 0, "of a run that has ended, the last rates are told"
    # A host from which nothing comes any more is left out, the others are told of.
    begin_ns = until_ns // S + 60
    idle = [a_round(n, (begin_ns + n) * S, {"MPI_Recv": (n, n, 1)}, who=rank_set((2, 2))) for n in (1, 2)]
    hosts.add(made_rounds.names("MPI_Recv"), *idle, host="b")
    live.update()
    now_ns = live.last.arrived_ns
    assert [each.event for each in live.activities(now_ns)] == ["MPI_Recv"] and live.silence_ns(now_ns) == 0


@pytest.mark.parametrize("age_s", [0, 60])
def test_a_run_that_hangs_has_no_rates(hosts: Hosts, capsys: pytest.CaptureFixture[str], age_s: int) -> None:
    meta = metadata(state="running", runner=runner.this_process(), options=Options(monitor="1s"))
    directory.write_meta(hosts.run, meta)
    hosts.add(names(), *growing(4, time.time_ns() - age_s * S))
    top(hosts.run, once=True)
    told = capsys.readouterr().out
    top(hosts.run, json=True)
    rows = json.loads(capsys.readouterr().out)["rows"]
    if age_s:
        assert re.search(
            rf"^no round has come for 5\d\.\d s: `tare where {hosts.run}` says", told, re.MULTILINE
        )
        assert "Time now" not in told and rows == []
    else:
        assert "no round has come" not in told and "Time now" in told
        assert [row["event"] for row in rows] == ["MPI_Send", "residual"]


def test_that_each_round_has_a_part_of_the_ranks_is_said(
    hosts: Hosts, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two nodes have stored rounds, each of its own ranks: `tare top`, and all that read the run, say so."""
    alone = "monitoring: 1 of 2 nodes could not reach the first one"
    directory.write_meta(hosts.run, metadata(options=Options(monitor="1s")))
    hosts.add(names(), *growing(4, 0))
    for number in (1, 2):
        top(hosts.run, once=True)
        assert (f"! {alone}" in " ".join(capsys.readouterr().out.split())) == (number == 2)
        top(hosts.run, json=True)
        lines = json.loads(capsys.readouterr().out)["warnings"]
        assert [line[: len(alone)] for line in lines] == [alone] * (number - 1)
        hosts.add(names(), *growing(4, 0), host="b")
    recording = fake_recording(hosts.run, monkeypatch, Options(monitor="1s"))
    assert lines[0] in recording.warnings and lines[0] in " ".join(shown(recording).split())


def test_nothing_yet_is_nothing(hosts: Hosts) -> None:
    live = Live(hosts.run)
    assert live.update() == 0 and live.activities() == [] and live.last is None and live.ranks == 0
    assert live.silence_ns(time.time_ns()) == 0 and live.silence_ns(time.time_ns() + 6 * S) > 5 * S


def test_shares_are_bars() -> None:
    assert bars([0, 0.5, 1, 7, -1]) == " ▄██ "


def test_names_of_programs_do_not_draw(hosts: Hosts) -> None:
    hostile = named("MPI_Send", b"region \x1b[2Jx")
    hosts.add(hostile, a_round(1, S, {"MPI_Send": (1, 1, 1)}))
    live = hosts.live()
    (activity,) = live.activities()
    shown: tuple[Any, ...] = cells(activity)
    assert "\x1b" not in shown[0]


def test_the_time_outside_all_phases_is_no_phase(hosts: Hosts) -> None:
    phases = named("MPI_Send", b"phase (none)") + named("counter residual", b"phase a")
    hosts.add(phases, a_round(1, S, {"MPI_Send": (1, 1, 1), "counter residual": (1, 1, 1)}))
    live = hosts.live()
    assert [(each.kind, each.event) for each in live.activities()] == [("phase", "a")]
    assert [event.name for event in live.totals()] == ["a"]


def test_silent_ranks_are_known_since_their_first_absence(hosts: Hosts) -> None:
    values = {"MPI_Send": (1.0, 1.0, 1.0)}
    hosts.add(
        names(),
        a_round(1, S, values),
        a_round(2, 2 * S, values, lost=rank_set((4, 1))),
        a_round(3, 3 * S, values, lost=rank_set((4, 2))),
    )
    live = hosts.live()
    assert [live.silent_since(rank) for rank in (3, 4, 5, 6)] == [None, 2 * S, 3 * S, None]
    hosts.add(a_round(4, 4 * S, values, lost=rank_set((5, 1))))
    live.update()
    assert [live.silent_since(rank) for rank in (4, 5)] == [None, 3 * S]
    assert live.has_silent


def test_ranks_beyond_number_are_stretches(hosts: Hosts) -> None:
    """A file that somebody made: two billions of ranks, one by one, are no memory, and no second."""
    values = {"MPI_Send": (1.0, 1.0, 1.0)}
    all_ranks = (1 << 31) - 2
    hosts.add(
        names(),
        *[a_round(n, n * S, values, lost=rank_set((2, all_ranks))) for n in range(1, 100)],
    )
    live = Live(hosts.run)
    assert live.update() == 99
    assert (live.lost, live.silent_since(1 << 30), live.silent_since(1)) == (99 * all_ranks, S, None)
    assert str(live.lost_ranks) == f"2-{(1 << 31) - 1}"


@pytest.mark.parametrize(
    "lost",
    [
        rank_set((0, 1 << 31), (0, 1)), rank_set((0, 0xFFFFFFFF)), rank_set((5, 0)), rank_set((5, 2), (6, 1)),
        b"\xff" * 4,
    ],
    ids=["twice", "too many", "empty", "overlapping", "more than there is"],
)  # fmt: skip
def test_impossible_ranks_are_damage(lost: bytes) -> None:
    payload = names() + a_round(1, S, {"MPI_Send": (1.0, 1.0, 1.0)}, lost=lost)
    assert decoded(payload) == []


def test_an_impossible_filter_is_damage() -> None:
    """A megabyte of plus signs would take minutes to take apart."""
    for used in (b"+" * (1 << 20), b"statistics+" * 64, b"x" * (1 << 20)):
        assert decoded(made_rounds.a_round(1, S, b"", used)) == []


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e300])
def test_events_with_impossible_numbers_are_left_out(hosts: Hosts, wrong: float) -> None:
    possible = {"region step": (1.0, 1.0, 1.0)}
    of_counter = (1.0, 1.0, wrong)
    for event, numbers in (
        ("MPI_Send", (1.0, wrong, 1.0)),
        ("MPI_Send", (1.0, 1e-300, 1.0)),
        ("MPI_Send", (-1.0, 1.0, 1.0)),
        ("counter residual", of_counter),
    ):
        hosts.file.unlink(missing_ok=True)
        hosts.add(names(), *[a_round(n, n * S, {event: numbers, **possible}) for n in (1, 2)])
        live = Live(hosts.run)
        live.update()
        assert [activity.event for activity in live.activities()] == ["step"]
        assert [event.name for event in live.totals()] == ["step"]


def test_names_that_are_no_utf8_stay_apart() -> None:
    payload = named("MPI_Send", b"\xff") + named("region step", b"\xfe")
    values = {"MPI_Send": (1.0, 1.0, 1.0), "region step": (2.0, 2.0, 2.0)}
    (made,) = decoded(payload + a_round(1, S, values))
    assert sorted(event.name for event in made.events) == ["\udcfe", "\udcff"]


class InParts:
    """The native reader, which returns so much at a time."""

    parts: ClassVar = [([], False), ([1, 2], False), ([3], True), ([4], True)]

    def read(self) -> tuple[list[int], bool]:
        return self.parts.pop(0)


def test_a_file_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read up to where it ended at first, as more comes while it is read."""
    monkeypatch.setattr(_native, "RoundFile", lambda *_: InParts())
    found: list[Any] = list(RoundFile(Path("a")).read())
    assert found == [1, 2, 3]


def test_imbalance_of_late_is_that_of_the_last_seconds(hosts: Hosts) -> None:
    """Rank 1 has been slow for the last ten seconds only."""
    even = [a_round(n, n * S, {"MPI_Send": (n, n * S, 0)}) for n in range(1, 101)]
    uneven = [
        a_round(n, n * S, {"MPI_Send": (n, n * S, 0)}, spread=(n - 100) * S / 2) for n in range(101, 111)
    ]
    hosts.add(names(), *even, *uneven)
    live = hosts.live()
    (send,) = live.activities()
    assert send.imbalance == pytest.approx(5 / 110)
    assert send.imbalance_of_late == pytest.approx(0.5)


def test_the_history_of_an_event(hosts: Hosts) -> None:
    hosts.add(names(), *growing(20))
    found = history.of_event([RoundFile(hosts.file)], None)
    assert found.event == "MPI_Send"
    assert [number for number, _ in found.rounds] == list(range(1, 21))
    assert found.rounds[9][1].mean == 10 * S / 8
    for name, hint in (("MPI_Snd", "do you mean 'MPI_Send'"), ("residual", "MPI_Send")):
        with pytest.raises(CommandError, match=hint):
            history.of_event([RoundFile(hosts.file)], name)
    with pytest.raises(CommandError, match="--monitor"):
        history.of_event([], None)


def test_the_history_is_drawn_whole_or_not_at_all(hosts: Hosts, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    hosts.add(names(), *growing(3000))
    found = history.of_event([RoundFile(hosts.file)], "MPI_Send")
    rounds_figure.draw(tmp_path / "made.svg", replace(found, event="$a$ <b>"))
    drawn = (tmp_path / "made.svg").read_text()
    assert drawn.endswith("</svg>\n") and len(drawn) < 500_000
    with pytest.raises(OSError):
        rounds_figure.draw(tmp_path / "nowhere" / "made.svg", found)
    assert {path.name for path in tmp_path.iterdir()} == {"made.svg", hosts.file.name}


@pytest.mark.parametrize(
    "parts",
    [
        ["statistics"],
        ["statistics", "histogram:16:time"],
        ["/c++/a.so"],
        ["/c++/a.so", "none", "/c.sox/b.so:1:2", "groups:3"],
        ["/statistics.so:x", "/none+/groups.so"],
        ["none", ""],
        ["", "none"],
    ],
)
def test_filters_in_a_chain_are_told_apart(parts: list[str]) -> None:
    assert _native.split_filters("+".join(parts)) == parts


def test_each_filter_of_a_spec_is_checked(tmp_path: Path) -> None:
    (tmp_path / "a+b.so").touch()
    chosen = f"statistics+{tmp_path}/a+b.so:3+groups"
    assert monitoring.parse(f"1s,filter={chosen}").filter == chosen
    for wrong in ("statistics+", "statistics+magic", "none+nowhere.so", "statistics+a.so.6"):
        with pytest.raises(ValueError, match=r"filter="):
            monitoring.parse(f"1s,filter={wrong}")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("kill -SEGV $$", "trying this, tared ended (killed by SIGSEGV)"),
        ("exit 3", "trying this, tared ended (exit code 3)"),
        ("echo no filter >&2; exit 1", "no filter"),
    ],
)
def test_a_filter_that_cannot_be_used_is_told_with_a_reason(
    end: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tared = tmp_path / "tared"
    tared.write_text(f"#!/bin/sh\n{end}\n")
    tared.chmod(0o755)
    monkeypatch.setattr("tare.packages.require_library", lambda *_: None)
    monkeypatch.setattr("tare.measuring.library.find", lambda _: tared)
    with pytest.raises(CommandError) as raised:
        monitoring.check(monitoring.parse("1s,filter=groups"))
    assert str(raised.value) == f"--monitor: filter=groups: {why}"
