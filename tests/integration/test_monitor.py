"""`tare run --monitor`: the rounds of a run, while it goes on and afterwards."""

from __future__ import annotations

import itertools
import json
import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tare as package
from environments import ROOT, MpiEnvironment, openmpi4
from measured import compile_monitored, left_in_memory, measure
from on_mpi import both_families
from patience import wait_until
from rounds_of_run import of_event, read_rounds
from run_processes import tared_of
from tare import _native
from tare._native import Round
from tare.measuring import tared
from tare.runs import directory
from tare.runs.metadata import Options
from tare.runs.rounds import RoundFile
from verbs import ask

RANKS = 3
COUNT = 40
PATIENCE_S = 60


@pytest.fixture
def program(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_monitored(mpi, tmp_path)


def check(found: list[Round], count: int, first: int = 1, every: int = 1) -> None:
    """Every rank is in every round, with the profile that it had at the end of that iteration."""
    assert [made.round for made in found] == list(range(first, count + 1, every))
    for made in found:
        assert list(made.ranks) == list(range(RANKS)) and not made.lost
        assert made.last_ns - made.first_ns >= 0 and made.delay_ns > 0
        reduced = of_event(made, "MPI_Allreduce")
        assert reduced.kind == "function" and reduced.ranks == RANKS
        # 8 bytes go in; those that come out are `received`, as in the profile (docs/bytes.md).
        for metric, value in ((reduced.calls, made.round), (reduced.bytes, 8 * made.round)):
            assert (metric.mean, metric.deviation, metric.least, metric.most) == (value, 0, value, value)
        assert reduced.time.least > 0
        step = of_event(made, "step")
        assert step.kind == "region" and step.calls.least == step.calls.most == made.round
        assert step.time.least >= reduced.time.least
        residual = of_event(made, "residual")
        assert residual.kind == "counter" and residual.bytes.least == residual.bytes.most == made.round


@pytest.mark.parametrize("mode", ["points", "pcontrol"])
def test_every_point_is_a_round_of_all_ranks(
    mode: str, mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    measured = measure(
        tare, mpi, RANKS, [program, mode, str(COUNT)], tmp_path / "run", "--monitor=points,policy=nonblock"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == RANKS
    check(read_rounds(measured.directory), COUNT)
    (row,) = [row for row in measured.profile("function") if row["function"] == "MPI_Allreduce"]
    assert (row["bytes"], row["received"]) == (RANKS * 8 * COUNT, RANKS * 8 * COUNT)
    cost = measured.info()["cost"]
    assert cost["offload_points"] == cost["offloads"] == RANKS * COUNT and cost["offloads_lost"] == 0
    assert 0 < cost["offload_max_ns"] <= cost["offload_ns"]
    assert not left_in_memory(measured.directory)


def test_a_command_may_end_before_tared_has_begun(tmp_path: Path) -> None:
    """SIGTERM does not end tared then, but has it look for what the command has left."""
    for i in range(10):
        run_dir = directory.create("none", tmp_path / f"{i}", None)
        options = Options(monitor="points")
        meta = directory.describe(["true"], "true", run_dir, options, _native.FORMAT_VERSION)
        with tared.serving(meta, run_dir) as served:
            pass  # the command ends at once
        assert not served.trouble


@both_families
def test_entries_of_a_region_are_points(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """They are when the iteration begins."""
    spec = "region:step/5,every=2,policy=nonblock"
    measured = measure(
        tare, mpi, RANKS, [program, "region", str(COUNT)], tmp_path / "run", f"--monitor={spec}", "--trace"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = read_rounds(measured.directory)
    assert [made.round for made in found] == [2, 4, 6, 8]
    for made in found:
        assert of_event(made, "step").calls.least == 5 * made.round
        assert of_event(made, "MPI_Allreduce").calls.most == 5 * made.round - 1


@both_families
def test_the_clock_makes_points(mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path) -> None:
    """Rounds of all ranks come while the program runs, and `tare.open` has them then."""
    end = tmp_path / "end"
    with running(tare, mpi, tmp_path / "run", [program, "calls", "200", end], "--monitor=20ms") as job:
        wait_until(lambda: sum(len(made.ranks) == RANKS for made in live(tmp_path / "run")) >= 10)
        assert job.poll() is None
        rows = table(tmp_path / "run")
        end.touch()
        assert job.wait(PATIENCE_S) == 0
    assert {row["metric"] for row in rows if row["event"] == "MPI_Allreduce"} == {"calls", "time_ns", "bytes"}
    after = [
        row for row in table(tmp_path / "run") if row["event"] == "MPI_Allreduce" and row["metric"] == "calls"
    ]
    assert len(after) >= 10
    assert all(before["least"] <= later["least"] for before, later in itertools.pairwise(after))
    # A round begins at the same time everywhere, so ranks that call MPI come to it soon after one another.
    assert sorted(row["spread_ns"] for row in after)[len(after) // 2] < 20_000_000


@both_families
def test_a_rank_that_hangs_or_dies_is_lost_and_the_others_go_on(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    for mode in ("hang", "kill"):
        run = tmp_path / mode
        with running(tare, mpi, run, [program, mode, "5"], "--monitor=points,policy=nonblock") as job:
            if mode == "hang":
                wait_until(partial(without_rank_1, run))
            else:
                job.wait(PATIENCE_S)
        found = read_rounds(run)
        assert [len(made.ranks) for made in found[:5]] == [RANKS] * 5
        if mode == "hang":
            assert any(str(made.lost) == "1" for made in found)


@both_families
def test_rounds_survive_the_death_of_all(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """Ranks, tared and tare run are killed while they are at it; what was stored is there."""
    run = tmp_path / "run"
    with running(
        tare, mpi, run, [program, "quiet", str(COUNT), tmp_path / "end"], "--monitor=points,policy=nonblock"
    ):
        wait_until(lambda: len(live(run)) == COUNT)
    check(read_rounds(run), COUNT)


@both_families
def test_a_reader_that_is_slow_costs_the_ranks_nothing(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """tared is stopped: what has no room is lost and counted, and the program ends as ever."""
    run, end = tmp_path / "run", tmp_path / "end"
    with running(tare, mpi, run, [program, "calls", "100", end], "--monitor=1ms,policy=lossy") as job:
        wait_until(lambda: len(live(run)) > 3)
        stopped = tared_of(run)
        os.kill(stopped, signal.SIGSTOP)
        wait_until(lambda: cost_of(tare, run)["offloads_lost"] > 100)
        os.kill(stopped, signal.SIGCONT)
        last = live(run)[-1].round
        wait_until(lambda: live(run)[-1].round > last + 10)
        end.touch()
        assert job.wait(PATIENCE_S) == 0
    assert cost_of(tare, run)["offload_wait_ns"] == 0


@both_families
def test_under_block_a_rank_waits_once_for_a_reader_that_hangs(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """It waits as long as it is to, and not again before the reader has come; what has no room is counted."""
    run, end = tmp_path / "run", tmp_path / "end"
    wait_ns = 20_000_000
    with running(
        tare, mpi, run, [program, "calls", "100", end], "--monitor=1ms,policy=block,wait=20ms"
    ) as job:
        wait_until(lambda: len(live(run)) > 3)
        before = cost_of(tare, run)["offload_wait_ns"]
        stopped = tared_of(run)
        os.kill(stopped, signal.SIGSTOP)
        wait_until(lambda: cost_of(tare, run)["offloads_lost"] > 300)
        waited = cost_of(tare, run)["offload_wait_ns"]
        wait_until(lambda: cost_of(tare, run)["offloads_lost"] > 500)
        later = cost_of(tare, run)["offload_wait_ns"]
        os.kill(stopped, signal.SIGCONT)
        end.touch()
        assert job.wait(PATIENCE_S) == 0
    # The clock of a process that runs is converted anew each time. The beginning of a wait may lie before.
    assert waited - before >= RANKS * wait_ns / 2 and later - waited < wait_ns / 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_that_rounds_are_missing_is_told(number: signal.Signals, tare: Path, tmp_path: Path) -> None:
    """tared is killed, or hangs, while the program runs; that ends as ever."""
    mpi = openmpi4()
    program = compile_monitored(mpi, tmp_path)
    run, end = tmp_path / "run", tmp_path / "end"
    job_of_two = [*mpi.mpiexec, "-n", 2, program, "calls", 200, end]
    command = [tare, "run", "--monitor=20ms", "-o", run, "--", *job_of_two]
    with subprocess.Popen(
        [str(word) for word in command], env=mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    ) as job:  # fmt: skip
        try:
            wait_until(lambda: len(live(run)) > 3)
            os.kill(tared_of(run), number)
        finally:
            end.touch()
        _, said = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, said
    how = "was killed by SIGKILL" if number == signal.SIGKILL else "hung"
    told = " ".join(said.split())  # it is wrapped
    assert f"tared {how}" in told and "the rounds since then are missing" in told
    assert len(live(run)) > 3


def test_rounds_are_in_sql_parquet_and_archives(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_monitored(mpi, tmp_path)
    run = tmp_path / "run"
    measured = measure(tare, mpi, RANKS, [program, "points", "7"], run, "--monitor=points,policy=nonblock")
    assert measured.ended.returncode == 0, measured.ended.stderr
    query = "SELECT sum(most) AS all_calls FROM rounds WHERE event = 'MPI_Allreduce' AND metric = 'calls'"

    def ask(what: Path) -> Any:
        done = subprocess.run(
            [tare, "sql", what, query, "--json"], capture_output=True, text=True, timeout=60, check=True
        )
        return json.loads(done.stdout)["rows"][0]["all_calls"]

    assert ask(run) == sum(range(8))
    archive = tmp_path / "all.tare"
    subprocess.run([tare, "merge", "-o", archive, run], check=True, capture_output=True, timeout=60)
    assert ask(archive) == sum(range(8))
    out = tmp_path / "out"
    subprocess.run(
        [tare, "export", run, "--to", "parquet", "-o", out], check=True, capture_output=True, timeout=60
    )
    drawn = subprocess.run(
        [tare, "export", run, "--to", "svg", "--event", "step", "-o", tmp_path / "step.svg"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "step in 7 rounds" in drawn.stdout and "</svg>" in (tmp_path / "step.svg").read_text()
    binned = tmp_path / "binned"
    spec = "--monitor=points,policy=nonblock,filter=histogram"
    measure(tare, mpi, RANKS, [program, "points", "7"], binned, spec)
    drawn = subprocess.run(
        [tare, "export", binned, "--to", "svg", "-o", tmp_path / "binned.svg"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "MPI_" in drawn.stdout and "in 7 rounds" in drawn.stdout
    import pyarrow.parquet

    stored = pyarrow.parquet.read_table(out / "rounds").to_pylist()
    assert {row["event"] for row in stored} >= {"MPI_Allreduce", "step", "residual"}
    assert {row["contributing"] for row in stored} == {RANKS}


def of_filter(tare: Path, tmp_path: Path, name: str) -> list[dict[str, Any]]:
    """The reductions of the last round of a run with this filter."""
    import pyarrow

    mpi = openmpi4()
    program = compile_monitored(mpi, tmp_path)
    spec = f"--monitor=points,policy=nonblock,filter={name}"
    measured = measure(tare, mpi, RANKS, [program, "points", "7"], tmp_path / "run", spec)
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert not pyarrow.table(package.open(measured.directory).rounds()).num_rows
    top = subprocess.run(
        [tare, "top", "--once", measured.directory], capture_output=True, text=True, timeout=60
    )
    assert top.returncode == (0 if name.startswith("histogram") else 1)
    assert "MPI_" in top.stdout or "reductions" in top.stderr
    rows: list[dict[str, Any]] = pyarrow.table(package.open(measured.directory).reductions()).to_pylist()
    assert {row["round"] for row in rows} == set(range(1, 8))
    assert {row["contributing"] for row in rows} == {RANKS} and {row["lost"] for row in rows} == {0}
    return [row for row in rows if row["round"] == 7]


def of_calls(rows: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["event"] == event and row["metric"] == "calls"]


def test_histograms_are_a_table(tare: Path, tmp_path: Path) -> None:
    rows = of_filter(tare, tmp_path, "histogram:8")
    (only,) = of_calls(rows, "MPI_Allreduce")
    assert only["low"] <= 7 < only["high"] and only["count"] == RANKS
    times = [row for row in rows if row["event"] == "MPI_Allreduce" and row["metric"] == "time_ns"]
    assert sum(row["count"] for row in times) == RANKS
    assert all(row["high"] <= later["low"] for row, later in itertools.pairwise(times))


def test_quantiles_are_a_table(tare: Path, tmp_path: Path) -> None:
    rows = of_calls(of_filter(tare, tmp_path, "quantiles:0.01"), "step")
    assert [row["quantile"] for row in rows] == [0, 0.25, 0.5, 0.75, 0.9, 0.99, 1]
    assert all(row["value"] == pytest.approx(7, rel=0.01) and row["count"] == RANKS for row in rows)


def test_groups_are_a_table(tare: Path, tmp_path: Path) -> None:
    rows = [row for row in of_filter(tare, tmp_path, "groups:2") if row["event"] == "MPI_Allreduce"]
    assert 1 <= len(rows) <= 2 and sum(row["count"] for row in rows) == RANKS
    assert all(row["value"] > 0 and row["ranks"] for row in rows)


def test_all_profiles_are_a_table(tare: Path, tmp_path: Path) -> None:
    rows = of_filter(tare, tmp_path, "none")
    assert [(row["ranks"], row["value"]) for row in of_calls(rows, "step")] == [
        (str(rank), 7) for rank in range(RANKS)
    ]
    residual = [row["value"] for row in rows if row["event"] == "residual" and row["metric"] == "value"]
    assert residual == [7] * RANKS


def test_what_a_filter_of_the_users_writes_is_in_a_table(tare: Path, tmp_path: Path) -> None:
    """Here the slowest rank, and its time in MPI_Allreduce."""
    library = tmp_path / "slowest_rank.so"
    source = ROOT / "examples" / "slowest_rank.c"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT}/include", source, "-o", library], check=True)
    (row,) = of_filter(tare, tmp_path, f"{library}")
    assert row["event"] is None and len(bytes.fromhex(row["result"])) > 0


@both_families
def test_filters_of_the_users_stand_in_a_chain(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """They know what events are: names, kinds and units. A path may contain a plus."""
    import pyarrow

    folder = tmp_path / "c++"
    folder.mkdir()
    for name in ("counter_range", "slowest_rank"):
        source = ROOT / "examples" / f"{name}.c"
        subprocess.run(
            [
                "cc",
                "-Wall",
                "-Werror",
                "-shared",
                "-fPIC",
                f"-I{ROOT}/include",
                source,
                "-o",
                folder / f"{name}.so",
            ],
            check=True,
        )
    chain = f"statistics+{folder}/counter_range.so+{folder}/slowest_rank.so:2+none"
    run = tmp_path / "run"
    measured = measure(
        tare, mpi, RANKS, [program, "points", "7"], run, f"--monitor=points,policy=nonblock,filter={chain}"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = read_rounds(run)
    assert len(found) == 7
    results = pyarrow.table(package.open(run).reductions()).to_pylist()
    assert {row["filter"] for row in results} == {*_native.split_filters(chain)} - {"statistics"}
    for made in found:
        of_filter = {
            row["filter"]: bytes.fromhex(row["result"])
            for row in results
            if row["round"] == made.round and row["result"] is not None
        }
        (of_counter,) = struct.iter_unpack("<Qdd96s24s", of_filter[f"{folder}/counter_range.so"])
        _, least, most, name, unit = of_counter
        assert (least, most) == (made.round, made.round)
        assert (name.rstrip(b"\0"), unit.rstrip(b"\0")) == (b"residual", b"m")
        slowest = list(struct.iter_unpack("<dd", of_filter[f"{folder}/slowest_rank.so:2"]))
        assert len(slowest) == 2 and slowest[0][0] >= slowest[1][0] > 0
        assert of_event(made, "MPI_Allreduce").calls.mean == made.round
    rows = json.loads(
        subprocess.run(
            [tare, "sql", run, "SELECT DISTINCT filter FROM reductions ORDER BY 1", "--json"],
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout
    )["rows"]  # fmt: skip
    assert {row["filter"] for row in rows} == {
        f"{folder}/counter_range.so", f"{folder}/slowest_rank.so:2", "none",
    }  # fmt: skip


@pytest.mark.parametrize(
    "spec",
    [
        "never",
        "region:",
        "region:a/0",
        "1s,policy=polite",
        "1s,ring=1",
        "1s,every=0",
        "1s,filter=magic",
        "1s,filter=nowhere.so",
        "1s,listen=10.0.0.0/99",
        "1s,listen=a b",
        "1s,fan-out=0",
        "1s,x=y",
        "1ns",
        "auto:1ns",
        "1s,only=",
        "auto,every=2",
        "1s,every=auto",
        "auto,every=auto",
        "points,every=auto:1ns",
        "1s,site=",
        "1s,site=app",
        "1s,site=a.c:7=nowhere",
        "points,listen=" + "1" * 1000,
    ],
)
def test_a_spec_that_is_none_is_refused(spec: str, tare: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [tare, "run", f"--monitor={spec}", "--", "true"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) <= 2 and "Traceback" not in done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("where", ["eth909", "203.0.113.1", "203.0.113.0/24"])
def test_where_nobody_can_listen_nothing_is_started(where: str, tare: Path, tmp_path: Path) -> None:
    """One line says what this machine has instead."""
    done = subprocess.run(
        [tare, "run", f"--monitor=1s,listen={where}", "--", "touch", "started"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert f"listen={where}: this machine has no " in done.stderr and "lo (127.0.0.1)" in done.stderr
    assert not any(tmp_path.iterdir())


@contextmanager
def running(
    tare: Path, mpi: MpiEnvironment, run: Path, argv: list[Any], *options: str
) -> Iterator[subprocess.Popen[str]]:
    """A job under tare, in a session of its own; all of it is killed at the end, if it has not ended."""
    command = [tare, "run", "--quiet", *options, "-o", run, "--", *mpi.mpiexec, "-n", str(RANKS), *argv]
    job = subprocess.Popen(
        [str(each) for each in command], env=mpi.environ(), start_new_session=True, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield job
    finally:
        for pid in (*processes_of(run), job.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        job.wait(PATIENCE_S)


def processes_of(run: Path) -> list[int]:
    """Those that have the run in their environment or among their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            about = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(run).encode() in about and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


def live(run: Path) -> list[Round]:
    return [made for file in run.glob("monitor-*.tare") for made in RoundFile(file).read()]


def table(run: Path) -> list[dict[str, Any]]:
    import pyarrow

    rows: list[dict[str, Any]] = pyarrow.table(package.open(run).rounds()).to_pylist()
    return rows


def cost_of(tare: Path, run: Path) -> dict[str, Any]:
    done = ask(tare, "info", run, "--json")
    cost: dict[str, Any] = json.loads(done.stdout)["cost"] if done.returncode == 0 else {"offloads_lost": 0}
    return cost


def without_rank_1(run: Path) -> bool:
    return any(str(made.ranks) == "0,2" for made in live(run))
