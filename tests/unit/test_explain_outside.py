"""What `tare explain` makes of files and threads of OpenMP: which times, of which ranks, from when on."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis import regions
from tare.analysis.explain import files, outside, threads
from tare.analysis.explain.basis import Told
from tare.analysis.explain.finding import Finding
from tare.analysis.explain.losses import Losses
from tare.analysis.rows import line_of, placed, row_place
from tare.functions import meaning
from tare.reporters.explanation import sentence

MS = 1_000_000
NET_NS = 1_000 * MS


def place(line: int) -> dict[str, Any]:
    return {
        "file": "/src/app.c", "line": line, "caller": "step", "object": "/bin/app", "offset": line,
        "tail_call": None,
    }  # fmt: skip


def call(function: str, rank: int, time_ms: float, *, calls: int = 10, bytes: int = 0, line: int = 40) -> Any:
    """A row of the profile by line and rank, of calls that are alike."""
    return SimpleNamespace(
        function=function,
        rank=rank,
        pid=None if rank >= 0 else 100 + rank,
        time_ns=int(time_ms * MS),
        max_ns=int(time_ms * MS / calls),
        calls=calls,
        bytes=bytes,
        timed=True,
        world=0,
        **place(line),
    )


def thread(
    rank: int, number: int, team_ms: float, work_ms: float, *, regions: int = 0, line: int = 17
) -> Any:
    """A thread in a region, of the table `regions`; the thread that encounters it has `regions`."""
    return SimpleNamespace(
        world=0, rank=rank, pid=100 + rank, thread=number, calls=regions or 10, regions=regions,
        regions_ns=int(team_ms * MS) if regions else 0, team_ns=int(team_ms * MS), work_ns=int(work_ms * MS),
        **place(line),
    )  # fmt: skip


def used(name: str | None, rank: int, read_ms: float) -> Any:
    """A row of the table `files`."""
    return SimpleNamespace(
        world=0, rank=rank, file=name, read_ns=int(read_ms * MS), write_ns=0, sync_ns=0, meta_ns=0
    )


def run_of(ranks: int, **more: Any) -> Any:
    """A run of which only the times of its ranks are known: each is 100 ms in MPI."""
    net = {"threads_ns": NET_NS, "counted_ns": 0, "mpi_ns": 100 * MS}
    return SimpleNamespace(
        processes=[SimpleNamespace(world=0, rank=rank, **net) for rank in range(ranks)], **more
    )


def basis(
    *,
    ranks: int = 2,
    lines: Any = (),
    regions: Any = (),
    used_files: Any = (),
    useful_ms: float = 1_000,
    slept_ms: float = 0,
    lock_paths: Any = (),
    state: str = "finished",
) -> Any:
    of = outside.Outside(run_of(ranks), 0)
    of.__dict__.update(
        lines=list(lines),
        of_files=[row for row in lines if meaning(row.function).source == "files"],
        regions=list(regions),
        files=list(used_files),
        code_times={},
        lock_paths=dict(lock_paths),
    )
    return SimpleNamespace(
        outside_mpi=of,
        net_ns=NET_NS,
        profiled_ns=NET_NS,
        ranks=ranks,
        has_threads=False,
        is_estimated=False,
        useful_ns_of=lambda process: int(useful_ms * MS),
        processes=[
            SimpleNamespace(
                rank=rank,
                pid=100 + rank,
                counted_ns=0,
                pauses=0,
                state=state,
                scheduling=SimpleNamespace(blocked_outside_ns=int(slept_ms * MS)),
            )
            for rank in range(ranks)
        ],
        share=lambda ns: ns / (ranks * NET_NS),
    )


def told(*findings: Finding) -> Told:
    return Told(list(findings), Losses([]))


def test_idle_time_is_the_time_that_a_rank_would_take_less() -> None:
    """Rank 0: 4 threads in 1 s work 900, 100, 100, 100 ms. Evenly they would take 300 ms."""
    team = [
        thread(0, number, 1_000, 900 if number == 2 else 100, regions=10 * (number == 0))
        for number in range(4)
    ]
    [found] = threads.idle_threads(basis(ranks=1, regions=team), told())
    assert (found.kind, found.at.line, found.ranks) == ("idle threads", 17, (0,))
    assert found.time_ns == found.gain_ns == 700 * MS
    assert found.share == pytest.approx(0.7)
    assert found.here_share == pytest.approx(0.7)
    assert (found.most_ns, found.mean_ns, found.detail) == (900 * MS, 100 * MS, "2")


def test_of_several_ranks_the_gain_is_not_known_and_those_that_lose_little_are_not_named() -> None:
    even = [thread(0, number, 500, 490, regions=10 * (number == 0)) for number in range(2)]
    uneven = [thread(1, number, 500, 500 - 400 * number, regions=10 * (number == 0)) for number in range(2)]
    [found] = threads.idle_threads(basis(regions=even + uneven, useful_ms=500), told())
    assert found.time_ns == 200 * MS, "as long as the sentence says of whom"
    assert found.here_share == pytest.approx(0.4)
    assert (found.ranks, found.gain_ns) == ((1,), None)
    assert (found.most_ns, found.mean_ns, found.detail) == (500 * MS, 100 * MS, "0")


def test_of_ranks_that_lose_the_shares_are_theirs_and_the_thread_has_its_rank() -> None:
    teams = [
        [thread(rank, number, 500, work, regions=10 * (number == 0)) for number, work in enumerate(of)]
        for rank, of in enumerate([(490, 490), (500, 100), (100, 400)])
    ]
    [found] = threads.idle_threads(
        basis(ranks=3, regions=[each for team in teams for each in team], useful_ms=500), told()
    )
    assert (found.ranks, found.detail) == ((1, 2), "1 of rank 2")
    assert found.time_ns == 450 * MS and found.here_share == pytest.approx(0.45)
    assert "thread 1 of rank 2 works for 400 ms, the other for 100 ms" in sentence(found)
    assert "idle 45.0 % of their time on ranks 1-2:" in sentence(found)


def test_waits_for_locks_are_those_of_the_ranks_that_are_named() -> None:
    lines = [call("omp_critical", 0, 400, calls=10), call("omp_critical", 1, 10, calls=100)]
    team = [thread(0, number, 1_000, 1_000, regions=not number) for number in range(2)]
    [found] = threads.idle_threads(basis(regions=team, lines=lines), told())
    assert (found.ranks, found.time_ns, found.calls, found.mean_ns) == ((0,), 200 * MS, 10, 40 * MS)


def test_little_idle_time_is_no_finding() -> None:
    team = [thread(0, number, 1_000, 960, regions=10 * (number == 0)) for number in range(2)]
    assert threads.idle_threads(basis(ranks=1, regions=team), told()) == []


def test_waits_for_a_critical_section_are_told_once() -> None:
    """Each of two threads idles 400 ms, of which 300 are waits for the section: the rest is uneven work."""
    team = [thread(0, number, 1_000, 600, regions=10 * (number == 0)) for number in range(2)]
    section = call("omp_critical", 0, 600, calls=200, line=23)
    contended, idle = threads.idle_threads(basis(ranks=1, regions=team, lines=[section]), told())
    assert (contended.kind, contended.at.line, contended.function) == ("contention", 23, "omp_critical")
    assert contended.time_ns == 300 * MS
    assert contended.mean_ns == 3 * MS and contended.here_share is None
    assert (idle.kind, idle.time_ns) == ("idle threads", 100 * MS)


def test_who_enters_a_critical_section_last_has_the_others_wait_at_the_end() -> None:
    """Two threads enter it once in each region, and idle as long in it as at the end."""
    team = [thread(0, number, 1_000, 500, regions=10 * (number == 0)) for number in range(2)]
    section = call("omp_critical", 0, 500, calls=20, line=23)
    [contended] = threads.idle_threads(basis(ranks=1, regions=team, lines=[section]), told())
    assert (contended.kind, contended.time_ns, contended.here_share) == ("contention", 500 * MS, 0.5)
    assert "with what the others wait at the end of the region for the last one" in sentence(contended)
    section.caller = "another"  # a section of another function may be in another region
    kinds = [
        each.kind for each in threads.idle_threads(basis(ranks=1, regions=team, lines=[section]), told())
    ]
    assert sorted(kinds) == ["contention", "idle threads"]


def test_threads_that_wait_for_a_lock_idle_no_more_than_their_work_differs() -> None:
    """One thread works 100 ms more than the other. The rest of 300 ms is the wait for the last at the end."""
    team = [thread(0, number, 1_000, 450 - 100 * number, regions=not number) for number in range(2)]
    lock = call("omp_lock", 0, 600, calls=200, line=23)
    contended, idle = threads.idle_threads(basis(ranks=1, regions=team, lines=[lock]), told())
    assert (contended.kind, contended.time_ns) == ("contention", 300 * MS)
    assert (idle.kind, idle.time_ns, idle.gain_ns) == ("idle threads", 50 * MS, 50 * MS)
    # Without a lock, they idle because they work unevenly now and then.
    [idle] = threads.idle_threads(basis(ranks=1, regions=team), told())
    assert idle.time_ns == 600 * MS


def test_waits_are_those_of_the_region_that_they_are_in() -> None:
    """Threads work unevenly in one region; in another, with even work, they enter a section in turn."""
    uneven = [thread(0, number, 1_600, 200 + 1_400 * number, regions=not number) for number in range(2)]
    in_turn = [thread(0, number, 800, 400, regions=not number, line=20) for number in range(2)]
    for each in in_turn:
        each.caller = "crit"
    section = call("omp_critical", 0, 400, calls=40, line=23)
    section.caller, section.max_ns = "helper", 400 * MS  # the other thread gets it again and again
    at = row_place(section)
    paths = {
        ("omp_critical", at): [[("/src/app.c", "helper"), ("/src/app.c", "crit"), ("/src/app.c", "main")]]
    }
    large = [thread(0, number, 1, 1, regions=not number, line=30) for number in range(8)]
    found = threads.idle_threads(
        basis(ranks=1, regions=uneven + in_turn + large, lines=[section], lock_paths=paths), told()
    )
    assert [(each.kind, each.time_ns, each.at.line) for each in found[:2]] == [
        ("idle threads", 700 * MS, 17),
        ("contention", 400 * MS, 23),
    ]
    assert found[1].here_share == pytest.approx(0.5), "200 ms for the section, by two threads, 200 at the end"


def test_who_sleeps_outside_of_regions_does_not_compute() -> None:
    """A thread sleeps for 550 of 600 ms outside of regions; it has also slept while it idled in one."""
    team = [thread(0, number, 400, 380, regions=10 * (number == 0)) for number in range(4)]
    assert threads.idle_threads(basis(ranks=1, regions=team, slept_ms=570), told()) == []
    [found] = threads.idle_threads(basis(ranks=1, regions=team, slept_ms=220), told())
    assert (found.kind, found.most_ns) == ("serial computing", 400 * MS)


def test_many_short_regions_are_tiny() -> None:
    team = [thread(0, number, 400, 10, regions=40_000 * (number == 0)) for number in range(2)]
    [found] = threads.idle_threads(basis(ranks=1, regions=team), told())
    assert (found.kind, found.calls, found.per_second) == ("tiny regions", 40_000, 40_000)
    assert found.most_ns == 10_000


def test_what_one_thread_computes_outside_of_regions() -> None:
    """600 ms outside, with 4 threads: shared, they would take 150."""
    team = [thread(0, number, 400, 400, regions=10 * (number == 0)) for number in range(4)]
    [found] = threads.idle_threads(basis(ranks=1, regions=team), told())
    assert (found.kind, found.calls) == ("serial computing", 4)
    assert (found.most_ns, found.time_ns, found.gain_ns) == (600 * MS, 450 * MS, 450 * MS)
    # Who was killed may have been in a region that has not ended.
    assert threads.idle_threads(basis(ranks=1, regions=team, state="killed"), told()) == []


def test_of_processes_without_mpi_each_computes_outside_of_its_own_regions() -> None:
    """Two processes are in regions for 400 of 1,000 ms, one with 4 threads and one with 2."""
    teams = [thread(-1, number, 400, 400, regions=not number) for size in (4, 2) for number in range(size)]
    for each in teams[4:]:
        each.pid = 77
    of = basis(regions=teams)
    for process, pid in zip(of.processes, (99, 77), strict=True):
        process.rank, process.pid = -1, pid
    [found] = threads.idle_threads(of, told())
    assert (found.kind, found.calls, found.most_ns) == ("serial computing", 4, 600 * MS)
    assert (found.time_ns, found.gain_ns, found.ranks) == (450 * MS + 300 * MS, None, ())
    assert "one thread of each process computes for up to 600 ms; shared by all 4" in sentence(found)


def test_of_regions_that_were_only_counted_all_is_estimated_or_nothing_is_told() -> None:
    """Rank 0 idles 150 of 200 ms in the regions that were measured: one of four."""
    team = [
        thread(0, number, 200, 200 if number == 2 else 0, regions=10 * (number == 0)) for number in range(4)
    ]
    of = basis(ranks=1, regions=team, useful_ms=200)
    of.is_estimated = True
    (region,) = regions.summed(team)
    of.outside_mpi.__dict__["region_weights"] = {line_of(placed(region)): 4.0}
    [found] = threads.idle_threads(of, told())
    assert (found.kind, found.time_ns, found.calls) == ("idle threads", 600 * MS, 40)
    assert (found.most_ns, found.here_share) == (800 * MS, 0.75)
    of.outside_mpi.__dict__["region_weights"] = {}
    assert threads.idle_threads(of, told()) == []


def test_regions_weigh_what_all_of_them_take_for_those_of_which_all_threads_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """300 of 800 ms are measured; 100 of these in regions that the rank itself only counted."""
    team = [thread(0, number, 200, 100, regions=10 * (number == 0)) for number in range(2)]
    whole = {"whole_time_ns": 800 * MS, "whole_time_error_ns": 0}
    row = SimpleNamespace(world=0, function="omp_parallel", time_ns=300 * MS, **whole, **place(17))
    monkeypatch.setattr("tare.analysis.profile.summed", lambda *_: [row])
    of = basis(ranks=1, regions=team).outside_mpi
    assert of.region_weights == {line_of(placed(row)): 4.0}


def test_nothing_is_told_of_threads_where_regions_had_no_room() -> None:
    team = [thread(0, number, 1_000, 500 * number, regions=10 * (number == 0)) for number in range(2)]
    assert threads.idle_threads(basis(ranks=1, regions=team), told())
    lost = SimpleNamespace(
        **vars(team[0]) | dict.fromkeys(("file", "line", "caller", "object", "offset", "team_ns"))
    )
    assert threads.idle_threads(basis(ranks=1, regions=[*team, lost]), told()) == []


def test_a_region_that_never_ended_is_no_team() -> None:
    """All is in it; the threads have waited for a critical section."""
    lock = call("omp_critical", 0, 500)
    team = [thread(0, number, 0, 0, regions=0) for number in range(2)]
    found = threads.idle_threads(basis(ranks=1, regions=team, lines=[lock], state="killed"), told())
    assert [each.kind for each in found] == ["contention"]


def late(**fields: Any) -> Finding:
    """Rank 1 computes 300 ms longer than the others."""
    return Finding(
        kind="load imbalance", time_ns=300 * MS, cause_rank=1, cause_share=1.0, ranks=(1,),
        most_ns=400 * MS, mean_ns=100 * MS, **fields,
    )  # fmt: skip


def described(lines: list[Any], found: Finding) -> Finding:
    return outside.described(basis(lines=lines), found)


def test_files_that_one_rank_works_on_alone() -> None:
    found = described([call("read", 1, 280), call("write", 0, 5), call("write", 1, 10)], late())
    assert (found.kind, found.longer_in, found.longer_ns) == ("serial files", "read", 280 * MS)
    assert found.longer_at.line == 40


def test_files_that_all_work_on_are_named_if_they_explain_most() -> None:
    found = described([call("read", 1, 280), call("read", 0, 100)], late())
    assert (found.kind, found.longer_in, found.longer_ns) == ("load imbalance", "read", 180 * MS)
    found = described([call("read", 1, 240), call("read", 0, 100)], late())
    assert (found.kind, found.longer_in, found.longer_ns) == ("load imbalance", "", None)


def test_a_region_that_takes_longer() -> None:
    found = described([call("omp_parallel", 1, 390), call("omp_parallel", 0, 95)], late())
    assert (found.longer_in, found.longer_ns) == ("omp_parallel", 295 * MS)


def test_who_is_late_in_a_call_is_not_described() -> None:
    found = described([call("read", 1, 280)], late(cause_in_call=True))
    assert found.longer_in == ""


def test_what_ranks_take_turns_in_is_not_found_in_sums() -> None:
    in_turn = replace(late(), kind="alternating imbalance", most_ns=100 * MS, mean_ns=100 * MS)
    assert described([call("writev", 1, 12)], in_turn) == in_turn


def test_small_accesses() -> None:
    small = call("read", 0, 200, calls=20_000, bytes=20_000 * 4096)
    [found] = files.of_files(basis(lines=[small]), told())
    assert (found.kind, found.bytes_per_call, found.per_second) == ("small accesses", 4096, 20_000)
    assert found.share == pytest.approx(0.1)
    assert found.ranks == (0,)
    for other in (
        call("read", 0, 200, calls=20_000, bytes=20_000 * 4097),
        call("read", 0, 200, calls=9_999, bytes=9_999),
        call("read", 0, 99, calls=20_000, bytes=20_000),
    ):
        assert files.of_files(basis(lines=[other]), told()) == []


def test_much_time_in_files_is_said_unless_it_is_told_of_a_late_rank() -> None:
    lines = [call("write", 0, 200, bytes=10), call("fsync", 0, 150, line=41), call("write", 1, 50, bytes=10)]
    [found] = files.of_files(basis(lines=lines), told())
    assert (found.kind, found.time_ns, found.calls) == ("files", 400 * MS, 30)
    assert found.function == "write"
    assert found.here_share == pytest.approx(250 / 400)
    assert found.ranks == (0, 1)
    is_late = Finding(kind="serial files", cause_rank=0, longer_in="write")
    assert files.of_files(basis(lines=lines), told(is_late)) == []


def test_only_threads_that_call_mpi_take_the_time_of_ranks() -> None:
    """A helper thread of rank 1 is in files for 400 of 1,000 ms."""
    own = [call("read", 0, 50), call("omp_barrier", 0, 100)]
    everywhere = [*own, call("read", 1, 400)]
    run: Any = SimpleNamespace(
        meta=SimpleNamespace(options=SimpleNamespace(sources=("files",))),
        rows=list,
        profile=lambda keys, callers_alone: own if callers_alone else everywhere,
    )
    of = outside.Outside(run, 0)
    assert (of.of_files, of.lines, of.of_files_elsewhere_ns) == (own[:1], everywhere, 400 * MS)


def test_of_calls_that_were_only_counted_the_time_is_estimated() -> None:
    """A tenth of the accesses was measured."""
    row = call("read", 0, 20, calls=2_000, bytes=2_000 * 4096)
    for name in ("calls", "time_ns", "bytes"):
        setattr(row, f"whole_{name}", 10 * getattr(row, name))
    setattr(row, "__match_args__", tuple(vars(row)))  # noqa: B010 - as rows of the native module have it
    run = run_of(
        2,
        meta=SimpleNamespace(options=SimpleNamespace(sources=["files"])),
        rows=list,
        profile=lambda keys, callers_alone: [row],
    )
    of = basis()
    of.outside_mpi = outside.Outside(run, 0)
    assert files.of_files(of, told()) == []
    of.outside_mpi = outside.Outside(run, 0, is_estimated=True)
    of.outside_mpi.__dict__["files"] = []
    [found] = files.of_files(of, told())
    assert (found.kind, found.time_ns, found.calls, found.ranks) == ("small accesses", 200 * MS, 20_000, (0,))


def test_the_file_that_has_most_of_the_time_is_named() -> None:
    of = basis(used_files=[used("/in", 0, 30), used("/out", 0, 20), used("/out", 1, 40)]).outside_mpi
    assert [of.busiest_file(0), of.busiest_file(1), of.busiest_file()] == ["/in", "/out", "/out"]
    assert of.busiest_file(2) == ""
    even = basis(used_files=[used("/in", 0, 30), used("/out", 0, 30)]).outside_mpi
    assert even.busiest_file() == ""
    assert basis(used_files=[used(None, 0, 30), used("/out", 0, 10)]).outside_mpi.busiest_file() == ""
