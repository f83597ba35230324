"""Comparing sets of runs: the statistics, the matching of lines, the gate."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from fake_tare import Tare
from made import made
from scipy import stats
from some_run import metadata
from tare._native import Scheduling
from tare.analysis import comparable, diff, scaling
from tare.analysis.compare import compare, correct
from tare.analysis.rows import changed
from tare.commands.diff import Metric, _gate_content
from tare.page import comparison
from tare.reporters import diff as reporter
from tare.runs.metadata import Missing, Options

BASE = [100.0, 102.0, 98.0, 101.0]


def measured(
    send_ns: int = 10_000_000, line: int = 12, net_ns: int = 2_000_000_000, calls: int = 4, skipped: int = 0
) -> Any:
    """A run of one rank with MPI_Send in two places of exchange(); without the first ones of its rows."""
    process = changed(fake_native.process(0, send_ns), net_ns=net_ns, threads_ns=net_ns)
    sites = [
        fake_native.site(fake_native.frame(16, "exchange", line)),
        fake_native.site(fake_native.frame(20, "exchange", line + 10)),
    ]
    rows = [
        fake_native.row(0, "MPI_Send", 0, calls, send_ns, 4000),
        fake_native.row(0, "MPI_Send", 1, 1, 1000, 8),
        fake_native.row(0, "MPI_Init", 1, 1, 10**9, 0),
    ][skipped:]
    return SimpleNamespace(
        meta=metadata(wall_ns=net_ns + 10**8), processes=[process], missing=[], saved=[],
        has_counted_time=False, sites=sites, rows=fake_native.Table.rows,
        profile=lambda by, **chosen: fake_native.profile(by, rows=rows, sites=sites, **chosen),
    )  # fmt: skip


def thinned(*, whole: bool) -> Any:
    """A run of which nine of ten calls were only counted; `whole`: the reader estimates the others."""
    rows = [
        fake_native.row(0, "MPI_Send", 0, 4, 1_000_000, 4000),
        fake_native.row(0, "MPI_Send", -1, 36, 0, 0),
        fake_native.row(0, "MPI_Init", 1, 1, 10**9, 0),
    ]
    made = measured()
    process = changed(
        made.processes[0], threads_ns=2 * 10**8, counted_ns=18 * 10**8, mpi_ns=1_000_000,
        whole_mpi_ns=15_000_000 if whole else None,
    )  # fmt: skip
    made.processes = [process]
    made.has_counted_time = True
    made.profile = lambda by, **chosen: fake_native.profile(
        by, rows=rows, sites=made.sites, whole=whole, **chosen
    )
    return made


def test_runs_with_a_budget_are_compared_by_what_is_estimated_of_the_whole_run() -> None:
    """The other run is the same program, of which everything was measured."""
    base = measured(calls=40, send_ns=10_000_000)
    found = diff.difference([base], [thinned(whole=True)])
    assert found.exact == ("calls",)
    (send,) = found.functions
    whole = thinned(whole=True).profile(["function"]).rows()
    of_send = next(row for row in whole if row.function == "MPI_Send")
    assert (send.time_ns.new, send.bytes.new) == ([of_send.whole_time_ns], [of_send.whole_bytes])
    assert found.figures["bytes"].new == [of_send.whole_bytes]
    assert found.figures["mpi"].new == [pytest.approx(15_000_000)], "an estimate for all of the time"
    assert sum(sum(found.figures[name].new) for name in ("mpi", "computing")) == 2 * 10**9
    assert "blocked" not in found.figures


def test_what_is_not_known_of_the_whole_run_is_not_compared() -> None:
    found = diff.difference([measured()], [thinned(whole=False)])
    assert found.functions == found.sites == []
    assert set(found.figures) & {"mpi", "computing", "bytes", "blocked"} == set()
    assert {"wall", "net", "calls"} <= set(found.figures)
    line, estimated = reporter.notes(found.exact, noise_known=False)
    assert "calls of functions are exact" in line
    assert estimated == reporter.ESTIMATED


def test_what_is_estimated_is_said_of_runs_with_a_budget_alone() -> None:
    """Whether the noise is known or not."""
    of_whole = diff.difference([measured()], [measured()])
    of_budget = diff.difference([measured()], [thinned(whole=True)])
    for noise_known in (False, True):
        assert reporter.ESTIMATED not in reporter.notes(of_whole.exact, noise_known=noise_known)
        assert reporter.ESTIMATED in reporter.notes(of_budget.exact, noise_known=noise_known)


def test_what_no_reading_tells_is_not_compared() -> None:
    """Threads without MPI are read, too, but there is no net time that the readings would tell of."""

    def run(observed_ns: int) -> Any:
        read = measured()
        scheduling = made(Scheduling, readings=90, observed_ns=observed_ns)
        read.processes = [changed(read.processes[0], scheduling=scheduling)]
        return read

    without = diff.difference([run(0)], [run(0)])
    assert set(without.figures) & {"descheduled", "blocked"} == set()
    assert {"descheduled", "blocked"} <= set(diff.difference([run(10**9)], [run(10**9)]).figures)


def test_look_ups_whose_number_is_the_same_are_no_difference() -> None:
    run = measured()
    rows = [{**fake_native.row(0, "MPI_Comm_rank", -1, 3, 0, 0)}]
    run.profile = lambda by, **chosen: fake_native.profile(by, rows=rows, sites=run.sites, **chosen)
    assert diff.difference([run, run], [run]).functions == []


def test_look_ups_have_no_time() -> None:
    runs = [measured(), measured()]
    for run, calls in zip(runs, (3, 4), strict=True):
        rows = [{**fake_native.row(0, "MPI_Comm_rank", -1, calls, 0, 0)}]
        run.profile = lambda by, rows=rows, **chosen: fake_native.profile(by, rows=rows, sites=[], **chosen)
    (line,) = diff.difference(runs[:1], runs[1:]).functions
    assert (line.is_timed, line.calls.base, line.calls.new) == (False, [3], [4])
    shown = reporter.lines([line], by_site=False)
    cells = {heading.title: cell for heading, cell in zip(shown.headings, shown.rows[0], strict=True)}
    assert [cells[name] for name in ("Base", "New", "Change", "Real")] == ["-"] * 4
    assert cells["Calls"] == "+33.3 %"
    on_page = comparison._line(line)
    assert [on_page[name] for name in ("other_ns", "own_ns", "change_ns")] == [None] * 3


def test_welch_is_scipys_on_logarithms() -> None:
    found = compare([1.0, 2.0, 4.0], [8.0, 16.0, 32.0])
    assert found.ratio == pytest.approx(8)
    expected = stats.ttest_ind([0, 1, 2], [3, 4, 5], equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval is not None
    low, high = found.interval
    assert low < 8 < high
    assert low * high == pytest.approx(64)


def test_a_single_run_borrows_the_spread_of_the_others() -> None:
    assert compare(BASE, [101.0]).differs is False
    assert compare(BASE, [140.0]).differs is True
    assert compare([140.0], BASE).differs is True


def test_of_two_single_runs_the_noise_is_not_known() -> None:
    found = compare([100.0], [200.0])
    assert found.ratio == pytest.approx(2) == pytest.approx(found.new_mean / found.base_mean)
    assert (found.p, found.interval, found.differs) == (None, None, None)


def test_without_noise_every_difference_counts() -> None:
    assert compare([5.0, 5.0], [6.0, 6.0]).p == 0
    assert compare([5.0, 5.0], [5.0, 5.0]).p == 1
    assert compare([0.0, 0.0], [0.0, 0.0]).p == 1


def test_zeros_are_compared_as_they_are() -> None:
    found = compare([0.0, 0.0, 0.0], [50.0, 52.0, 51.0])
    assert (found.ratio, found.differs) == (None, True)


def test_holm_corrects_in_order() -> None:
    found = [compare(BASE, BASE) for _ in range(4)]
    for each, p in zip(found, (0.01, 0.04, 0.03, 0.005), strict=True):
        each.p = p
    correct(found)
    assert [each.corrected_p for each in found] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [each.differs for each in found] == [True, False, False, True]


def test_noise_alone_is_seldom_called_real() -> None:
    """5 % of 300 comparisons of equal distributions are expected below 0.05: 15, and 30 is 4 sigma off."""
    dice = random.Random(7)
    draws = [[dice.lognormvariate(0, 0.1) for _ in range(10)] for _ in range(300)]
    low = sum((compare(draw[:5], draw[5:]).p or 0) < 0.05 for draw in draws)
    assert low < 30


def test_sites_are_matched_though_their_lines_moved() -> None:
    found = diff.difference([measured(line=12)], [measured(line=13, send_ns=30_000_000)])
    assert [
        (line.place and line.place.line, line.time_ns.base, line.time_ns.new) for line in found.sites
    ] == [
        (13, [10_000_000], [30_000_000]),
        (23, [1000], [1000]),
    ]
    (send,) = found.functions  # MPI_Init is in no net time
    assert (send.time_ns.base, send.time_ns.new) == ([10_001_000], [30_001_000])
    assert found.noise_known is False


def test_calls_of_other_sources_are_compared_unless_they_contain_the_program() -> None:
    found = []
    for calls in (10, 1_000):
        run = measured()
        rows = [
            fake_native.row(0, name, 0, calls, 1_000_000 * calls, 4_000 * calls)
            for name in ("pwrite", "omp_parallel", "omp_barrier", "MPI_Init")
        ]
        sites = run.sites
        run.profile = lambda by, rows=rows, sites=sites, **chosen: fake_native.profile(
            by, rows=rows, sites=sites, **chosen
        )
        found.append(run)
    lines = {line.function: line for line in diff.difference(found[:1], found[1:]).functions}
    assert set(lines) == {"pwrite", "omp_barrier"}
    assert lines["pwrite"].bytes.ratio == pytest.approx(100)


def with_regions(line: int, work_ns: int, calls: int = 10) -> Any:
    """A run with a region of two threads, 1 s each, of which the second works for `work_ns`."""
    run = measured()
    run.meta.options = Options(sources=("openmp",))
    run.regions = [
        SimpleNamespace(
            world=0, rank=0, pid=100, thread=thread, calls=calls, regions=calls * (thread == 0),
            regions_ns=10**9 * (thread == 0), team_ns=10**9, work_ns=work_ns if thread else 10**9,
            file="/src/app.c", line=line, caller="main", object="/bin/app", offset=16, tail_call=None,
        )
        for thread in range(2)
    ]  # fmt: skip
    tables = run.rows
    run.rows = lambda of: of if of is run.regions else tables(of)
    return run


def test_parallel_regions_are_compared_by_what_their_threads_are_idle() -> None:
    found = diff.difference([with_regions(17, 9 * 10**8)], [with_regions(18, 4 * 10**8)])
    (region,) = found.regions
    assert (region.place.line, region.calls.base, region.time_ns.base) == (18, [10], [10**9])
    assert (region.idle_ns.base, region.idle_ns.new) == ([10**8], [6 * 10**8])
    assert (found.figures["idle"].base, found.figures["idle"].new) == ([10**8], [6 * 10**8])


@pytest.mark.parametrize("other", [measured(), with_regions(17, 10**8, calls=0)])
def test_parallel_regions_are_not_compared_where_not_all_is_known(other: Any) -> None:
    found = diff.difference([with_regions(17, 10**8)], [other])
    assert not found.regions
    assert "idle" not in found.figures


@pytest.mark.parametrize("why", ["missing", "saved"])
def test_sums_over_ranks_are_not_compared_where_some_are_missing(why: str) -> None:
    lacking = measured()
    setattr(lacking, why, [Missing(world=0, size=2, ranks=[(1, 1)])])
    lacking.unread = None
    found = diff.difference([measured()], [lacking])
    assert set(found.figures) == {"wall", "net", "mpi", "computing"}
    assert not found.functions and not found.sites
    *_, last = reporter.notes(found.exact, noise_known=False)
    assert last == reporter.INCOMPLETE
    assert comparable.failure_reason(lacking) is not None
    lacking.run_dir = Path("lacking")
    (point,) = scaling.points([lacking])
    assert (point.ranks, point.efficiency.ranks, point.computation_scaling) == (2, 1, None)


def test_what_only_one_side_has_counts_zero_on_the_other() -> None:
    without = measured(skipped=1)
    found = diff.difference([measured(), measured()], [without, without])
    gone = next(line for line in found.sites if line.calls.new == [0, 0])
    assert (gone.calls.base, gone.calls.differs) == ([4, 4], True)


@pytest.mark.parametrize(
    ("new_ns", "metric", "threshold", "exceeded"),
    [
        ((2.3e9, 2.31e9, 2.29e9), "net", 0.05, True),
        ((2.3e9, 2.31e9, 2.29e9), "net", 0.20, False),
        ((2.3e9, 2.31e9, 2.29e9), "calls", 0.0, False),
        ((1.7e9, 4.5e9, 1.2e9), "net", 0.05, False),  # a mean above, within the noise
        ((1.0e9, 1.01e9, 1.0e9), "net", 0.05, False),  # faster
        ((2.3e9,), "wall", 0.05, True),
    ],
)
def test_gate(new_ns: tuple[float, ...], metric: str, threshold: float, exceeded: bool) -> None:
    base = [measured(net_ns=2_000_000_000 + jitter) for jitter in (0, 10_000_000, 20_000_000)]
    found = diff.difference(base, [measured(net_ns=int(net_ns)) for net_ns in new_ns])
    assert diff.gate(found, metric, threshold).exceeded is exceeded


def test_growth_from_nothing_is_no_number() -> None:
    gate = diff.Gate("bytes", 0.05, math.inf, None, exact=True)
    assert gate.exceeded
    assert reporter.verdict(gate) == "FAILED: bytes was 0 and is not, limit +5 % (exact)"
    assert _gate_content(gate)["growth"] is None


def test_command_compares_two_runs(tare: Tare, run_dir: Path) -> None:
    done = tare("diff", run_dir, run_dir, "--json")
    said = f"tare: {run_dir}: node.tare: 812 bytes at offset 4096 are not a whole chunk and were skipped\n"
    assert (done.returncode, done.stderr) == (0, 2 * said)
    document = json.loads(done.stdout)
    assert document["schema"] == "tare.diff/1"
    assert (document["base"], document["noise_known"]) == ([str(run_dir)], False)
    net = next(figure for figure in document["figures"] if figure["metric"] == "net")
    assert (net["base"], net["ratio"], net["differs"]) == ([2_000_000_000], 1, None)
    assert document["functions"][0]["calls"]["differs"] is None
    for width in ("80", "120"):
        # By its name: a long path does not fit.
        lines = tare("diff", run_dir.name, run_dir.name, COLUMNS=width).stdout.splitlines()
        assert max(map(len, lines)) <= int(width)
    assert "| MPI_Send |" in tare("diff", run_dir, run_dir, "--markdown").stdout


def test_times_that_are_zero_in_all_runs_do_not_tell_the_noise() -> None:
    """A single page that was waited for is no difference."""
    assert compare([0, 0, 0], [5]).p is None and compare([5], [0, 0]).p is None
    assert compare([0, 0, 0], [0]).p == 1.0
    assert compare([7, 7, 7], [5], exact=True).p == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compare([0, 0], [5, 6]).p == pytest.approx(0.0577, rel=0.01)


@pytest.mark.parametrize(
    ("gate", "shown"),
    [
        (diff.Gate("net", 0.05, 0.25, None, exact=False), "(too few runs: noise not known)"),
        (diff.Gate("calls", 0.05, 0.25, None, exact=True), "(exact)"),
        (diff.Gate("calls", 0.05, 0.25, 0.0, exact=True), "(p <0.001)"),
        (diff.Gate("net", 0.05, 0.25, 0.0123, exact=False), "(p 0.012)"),
    ],
)
def test_how_certain_a_gate_is(gate: diff.Gate, shown: str) -> None:
    assert reporter.verdict(gate).endswith(f" +25.0 %, limit +5 % {shown}")


def test_a_gate_checks_all_figures() -> None:
    assert {*Metric} == {*diff.METRICS}


def copied(run: Path, to: Path, run_id: str | None = None) -> Path:
    """The run under another name; with `run_id`, as one that was measured for itself."""
    shutil.copytree(run, to)
    meta = json.loads((to / "meta.json").read_text())
    (to / "meta.json").write_text(json.dumps(meta | {"run_id": run_id or meta["run_id"]}))
    return to


def test_command_is_a_gate(tare: Tare, run_dir: Path, tmp_path: Path) -> None:
    base, new, other = (copied(run_dir, tmp_path / f"run {at}", 16 * str(at)) for at in (1, 2, 3))
    done = tare("diff", run_dir, base, "vs", new, other, "--fail-above", "5%", "--accept-failed")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "passed: net time +0.0 %, limit +5 % (p 1.000)"


def test_a_run_is_no_repetition_of_itself(tare: Tare, run_dir: Path, tmp_path: Path) -> None:
    copy, other = copied(run_dir, tmp_path / "copy"), copied(run_dir, tmp_path / "other", 16 * "1")
    for sets in ((run_dir, run_dir, "vs", other), (other, "vs", run_dir, copy), ("--scaling", run_dir, copy)):
        done = tare("diff", *sets)
        assert done.returncode == 2
        assert re.fullmatch(r"tare: \S+ and \S+ are the same run: name each once\n", done.stderr), done.stderr


def test_gate_refuses_runs_that_did_not_end_well(tare: Tare, run_dir: Path) -> None:
    """Rank 1 of the fake run was killed."""
    done = tare("diff", run_dir, run_dir, "--fail-above", "500%")
    assert done.returncode == 1
    assert "passed" not in done.stdout
    assert f"Did not end well: {run_dir}: rank 1 killed" in done.stdout
    assert (
        f"tare: --fail-above: {run_dir} did not end well (rank 1 killed), nor did 1 other run" in done.stderr
    )
    document = json.loads(tare("diff", run_dir, run_dir, "--fail-above", "500%", "--json").stdout)
    assert document["gate"] is None
    assert document["not_ended_well"] == 2 * [{"run": str(run_dir), "why": "rank 1 killed"}]


def recorded(command: str = "mpiexec -n 2 ./app 12", **changes: Any) -> Any:
    """A run that ended well, but for the changes."""
    process = changed(fake_native.process(0, 1), **changes.pop("process", {}))
    return SimpleNamespace(
        is_running=changes.pop("is_running", False),
        meta=metadata(command=command.split(), **changes),
        processes=[process],
        unread=None,
        missing=[],
        saved=[],
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"exit_code": 3}, "exit code 3"),
        ({"exit_code": None, "signal": 6}, "killed by SIGABRT"),
        ({"exit_code": None}, "not seen to end"),
        ({"exit_code": None, "is_running": True}, "it still runs"),
        ({"process": {"state": "aborted"}}, "rank 0 called MPI_Abort"),
        ({"process": {"state": "running"}}, "rank 0 still runs"),
        ({"process": {"exit_code": 7}}, "rank 0 ended with exit code 7"),
        ({"process": {"finalized": False}}, "rank 0 exited without MPI_Finalize"),
        ({"process": {"finalized": False, "rank": -1}}, None),  # without MPI
    ],
)
def test_which_runs_ended_well(changes: dict[str, Any], why: str | None) -> None:
    assert comparable.failure_reason(recorded(**changes)) == why


def test_the_title_says_what_is_compared() -> None:
    def of(name: str, ranks: int, missing: Sequence[Missing] = ()) -> Any:
        processes = [fake_native.process(rank, 0) for rank in range(ranks)]
        return SimpleNamespace(meta=metadata(name=name), processes=processes, missing=missing)

    one = "1 run of a on 1 rank, compared with 1 run of b on 1 rank"
    assert reporter.title([of("a", 1)], [of("b", 1)]) == one
    lacking = [of("a", 4, [Missing(world=0, size=6, ranks=[(1, 1), (3, 3)])])]
    assert reporter.title([of("a", 4)], lacking).endswith("compared with 1 run of a on 6 ranks")
    assert reporter.title([of("a", 2)] * 3, [of("a", 1200), of("b", 1)]) == (
        "3 runs of a on 2 ranks, compared with 2 runs of a/b on 1/1,200 ranks"
    )
    without_mpi = of("a", 2)
    without_mpi.processes = [changed(each, rank=-1, mpi="", abi="none") for each in without_mpi.processes]
    assert reporter.title([without_mpi], [of("b", 1)]).startswith("1 run of a on 2 processes, compared")


def test_what_starts_ranks_is_none_of_them() -> None:
    """A shell runs for longer than the rank that it starts, and does not call MPI."""
    shell = changed(
        fake_native.process(0, 0), rank=-1, mpi="", abi="none", net_ns=5 * 10**9, threads_ns=5 * 10**9
    )
    base, new = measured(), measured()
    new.processes = [shell, *new.processes]
    found = diff.difference([base], [new]).figures
    assert {name: (of.base, of.new) for name, of in found.items() if of.base != of.new} == {}
    assert (comparable.ranks_of(base), comparable.ranks_of(new)) == (1, 1)


def test_what_runs_differ_in_is_named() -> None:
    base, new = (
        recorded(),
        recorded(
            "mpiexec -n 4 ./app 24",
            name="other",
            process={"executable": "/bin/other", "mpi": "Other MPI 2, package: x"},
            options=Options(trace=True, policy="drop"),
        ),
    )
    base.processes = [changed(base.processes[0], rank=rank) for rank in range(2)]
    found = {each.what: (each.base, each.new) for each in comparable.differing([base, base], [new])}
    assert found == {
        "program": (("app",), ("other",)),
        "arguments": (("12",), ("24",)),
        "ranks": (("2",), ("1",)),
        "MPI": (("Fake MPI 1.0",), ("Other MPI 2",)),
        "measured with": (("none",), ("trace, policy drop",)),
    }
    assert comparable.differing([base], [base, base]) == []
    lines = list(reporter.differing(comparable.differing([base], [new])))
    assert lines[0] == "Not the same program: base app; new other"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(trace=True, budget=0.01, budget_bytes=1 << 20), "trace, budget 1 %, budget_bytes 1048576"),
        (Options(sources=("files", "stacks"), weigh=0.5), "sources files,stacks, weigh 50 %"),
        (Options(monitor="1s"), "monitor 1s"),
        (Options(keep_env=("MKL_*",), group="staff"), "none"),  # they change nothing in what is measured
    ],
)
def test_options_that_change_the_measurement_are_named(options: Options, said: str) -> None:
    found = comparable.differing([recorded()], [recorded(options=options)])
    assert [each.new for each in found if each.what == "measured with"] == (
        [] if said == "none" else [(said,)]
    )


def test_where_a_program_lies_is_no_difference() -> None:
    moved = recorded("mpiexec -n 2 /elsewhere/app 12", process={"executable": "/elsewhere/app"})
    assert comparable.differing([recorded()], [moved]) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("RUN",),
        ("RUN", "RUN", "RUN"),
        ("RUN", "vs"),
        ("RUN", "RUN", "--fail-above", "much"),
        ("vs", "RUN", "vs", "RUN"),
    ],
)
def test_command_refuses_what_is_no_comparison(tare: Tare, run_dir: Path, arguments: tuple[str, ...]) -> None:
    done = tare("diff", *(run_dir if word == "RUN" else word for word in arguments))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
