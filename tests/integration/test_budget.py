"""`tare run --budget`: the most that it allows is kept, the same on all ranks, and what is kept is true."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tare as package
from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian, on_openmpi
from tare.analysis.rows import record

RANKS = 3
MESSAGES = 8
# Nothing but calls: even the profile of such a program costs more than that.
TIGHT = "0.1%"
# More than all of tare costs.
AMPLE = "50%"


def calls_of(rounds: int, collectives: int = 1) -> dict[str, int]:
    """The calls of each function, on all ranks."""
    each = rounds * RANKS
    found = {"MPI_Isend": MESSAGES * each, "MPI_Irecv": MESSAGES * each, "MPI_Waitall": each}
    return found | ({"MPI_Allreduce": each} if collectives else {})


def made(measured: Measurement) -> dict[str, int]:
    """Calls of each function, timed or only counted."""
    sums: dict[str, int] = defaultdict(int)
    for row in measured.profile("function"):
        sums[row["function"]] += row["calls"]
    return sums


def measured_run(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, budget: str, *arguments: str
) -> tuple[Measurement, dict[int, list[dict[str, Any]]]]:
    return run_in_spells(mpi, tare, tmp_path, ["--budget", budget], *arguments)


def run_in_spells(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, options: Sequence[str], *arguments: str
) -> tuple[Measurement, dict[int, list[dict[str, Any]]]]:
    """What holds for every such run; and its spells by number."""
    program = compile_c(mpi, [PROGRAMS / "iterations.c"], tmp_path / "iterations")
    measured = measure(tare, mpi, RANKS, [program, *arguments], tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == RANKS
    spells: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in package.open(tmp_path / "run").spells:
        spells[row.spell].append(record(row))
    for rows in spells.values():
        if rows[0]["timed"]:  # each rank decides about these itself
            continue
        assert len(rows) == RANKS
        assert len({row["sync_points"] for row in rows}) == 1
        # All ranks of a node decide alike.
        assert len({(row["measured"], row["traced"]) for row in rows}) == 1
    return measured, spells


def matched(run: Path) -> int:
    """Messages of the trace with both ends, whose sizes agree: they are of one iteration."""
    table = pa.table(package.open(run).messages)
    pairs = zip(table["bytes"].to_pylist(), table["received_bytes"].to_pylist(), strict=True)
    both = [pair for pair in pairs if None not in pair]
    assert all(sent == received for sent, received in both)
    return len(both)


@both_debian
def test_all_is_kept_where_it_is_affordable(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rounds = 300
    measured, spells = measured_run(mpi, tare, tmp_path, AMPLE, str(rounds), str(MESSAGES))
    assert made(measured) | calls_of(rounds) == made(measured)
    assert len(spells) == rounds - 1
    info = measured.info()
    assert info["budget"]["share"] == 0.5
    assert info["options"]["budget"] == 0.5
    if all(
        row["traced"] and not row["cut"] for rows in spells.values() for row in rows
    ):  # a loaded machine is slow
        assert len(measured.events("--function", "MPI_Isend")) == calls_of(rounds)["MPI_Isend"]
        assert matched(tmp_path / "run") == calls_of(rounds)["MPI_Isend"]
        assert info["budget"]["traced_share"] == 1


@both_debian
def test_what_is_too_dear_is_left_out(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rounds = 1500
    measured, spells = measured_run(mpi, tare, tmp_path, TIGHT, str(rounds), str(MESSAGES))
    assert made(measured) | calls_of(rounds) == made(measured)
    budget = measured.info()["budget"]
    assert budget["spells"] == len(spells)
    assert budget["traced_spells"] == sum(rows[0]["traced"] for rows in spells.values())
    assert budget["counted_spells"] == sum(not rows[0]["measured"] for rows in spells.values())
    events = len(measured.events("--function", "MPI_Isend"))
    assert 0 < matched(tmp_path / "run") <= events <= calls_of(rounds)["MPI_Isend"]
    # How much is affordable depends on how quickly the machine calls; what is left out is said.
    is_whole = events == calls_of(rounds)["MPI_Isend"]
    assert is_whole or any("--budget" in line for line in measured.info()["warnings"])


@pytest.mark.flaky(reruns=1)  # which spells are measured depends on chance and on what else runs
def test_totals_are_those_of_the_whole_run(tare: Path, tmp_path: Path) -> None:
    """The totals include calls that were only counted: the sizes of the program's messages are known."""
    rounds = 30000
    measured, spells = measured_run(openmpi4(), tare, tmp_path, TIGHT, str(rounds), str(MESSAGES))
    lengths = [1 + number % 499 for number in range(rounds)]
    truth = 4 * MESSAGES * sum(lengths)
    rows = pa.table(package.open(tmp_path / "run").totals).to_pylist()
    of_sends = [row for row in rows if row["function"] == "MPI_Isend"]
    assert len(of_sends) == RANKS
    for row in of_sends:
        assert row["calls"] == rounds * MESSAGES
        if row["bytes_error"] is not None:  # else too few spells were measured
            # Five standard errors: beyond what chance does.
            assert abs(row["bytes"] - truth) <= 2.6 * row["bytes_error"]
    listed = {total["function"]: total for total in measured.info()["totals"]}
    if any(not row["measured"] for of_all in spells.values() for row in of_all):
        sends = listed["MPI_Isend"]
        assert sends["calls"] == RANKS * rounds * MESSAGES > sends["measured_calls"]
        assert sends["bytes"] == sum(row["bytes"] for row in of_sends)
        assert sends["time_ns"] > 0


@both_debian
def test_messages_that_cross_spells_are_not_taken_for_others(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    rounds = 1500
    measured, spells = measured_run(mpi, tare, tmp_path, TIGHT, str(rounds), str(MESSAGES), "early")
    assert made(measured) | calls_of(rounds) == made(measured)
    # Requests are known that were measured; a third of the spells begin with a receive under way.
    measures = [rows[0]["measured"] for _, rows in sorted(spells.items())]
    if sum(before and not after for before, after in pairwise(measures)) > 30:
        assert any(row["has_requests"] for rows in spells.values() for row in rows)
    matched(tmp_path / "run")


@both_debian
@pytest.mark.parametrize("receive", ["early", "started"])
def test_messages_of_requests_that_nobody_knew(
    receive: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """A spell that only counts posts a receive, and the traced one after it sends and receives more."""
    rounds = 1500
    options = ["--weigh=0.4", "--trace"]
    _, spells = run_in_spells(mpi, tare, tmp_path, options, str(rounds), str(MESSAGES), receive)
    traced = [rows[0]["traced"] for _, rows in sorted(spells.items())]
    assert sum(not before and after for before, after in pairwise(traced)) > 50
    assert matched(tmp_path / "run") > 1000


@both_debian
def test_messages_that_are_received_a_spell_later(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "late.c"], tmp_path / "late")
    measured = measure(tare, mpi, RANKS, [program, "1000"], tmp_path / "run", "--weigh=0.4", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    matched(tmp_path / "run")
    run = package.open(tmp_path / "run")
    pa.table(run.messages)
    assert any(f"messages of {RANKS} channels " in line for line in run.warnings)


@both_debian
def test_ranks_that_never_pass_together(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rounds = 6000
    measured, spells = measured_run(mpi, tare, tmp_path, TIGHT, str(rounds), str(MESSAGES), "alone")
    assert all(row["timed"] for rows in spells.values() for row in rows)
    assert made(measured) | calls_of(rounds, collectives=0) == made(measured)
    assert 0 < len(measured.events("--function", "MPI_Isend")) < calls_of(rounds)["MPI_Isend"]


@on_openmpi
@pytest.mark.flaky(reruns=2)  # another program may take the processors in one of the two kinds of time
def test_shares_are_of_the_time_that_was_measured(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Most of a short program without synchronisation points may be in no spell."""
    program = compile_c(mpi, [PROGRAMS / "neighbours.c"], tmp_path / "neighbours")
    measured = measure(tare, mpi, 2, [program, "1"], tmp_path / "run", "--budget", "0.1%")
    for process in package.open(measured.directory).processes:
        # A call that was interrupted may stand for others that were not.
        measured_ns = max(process.net_ns - process.counted_ns, min(process.mpi_ns, process.net_ns))
        assert process.threads_ns == pytest.approx(measured_ns, abs=2)
        # It does the same all the time.
        assert process.counted_ns / process.net_ns == pytest.approx(process.counted / process.calls, abs=0.25)
        assert process.counted_ns > 0.2 * process.net_ns
    (warning,) = measured.info()["warnings"]
    assert "some calls were only counted" in warning


@on_openmpi
@pytest.mark.flaky(reruns=2)  # another program may take the processors
def test_the_share_of_mpi_is_of_all_time(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Phases that are nothing but MPI are measured least, and so are calls before the first collective."""
    program = compile_c(mpi, [PROGRAMS / "dense.c"], tmp_path / "dense")
    measured = measure(tare, mpi, 2, [program, "4", "150000", "150"], tmp_path / "run", "--budget", "0.5%")
    truth = {
        int(rank): float(first_s) for rank, first_s in map(str.split, measured.ended.stdout.splitlines())
    }
    run = package.open(measured.directory)
    shares = {row["rank"]: row["mpi_share"] for row in measured.profile("rank")}
    for process in run.processes:
        assert process.counted_ns > 0.7e9 * truth[process.rank]
        assert process.threads_ns + process.counted_ns == pytest.approx(process.net_ns, abs=2)
        phases = list(run.rows(run.phases(["rank"], None, [process.rank])))
        assert phases and {row.calls_share for row in phases} == {None}
        if process.whole_mpi_ns is None:
            assert shares[process.rank] is None
        else:
            assert shares[process.rank] == pytest.approx(process.whole_mpi_ns / process.net_ns)
    everything = {row.function: row for row in run.rows(run.profile("function"))}
    sends = everything["MPI_Sendrecv"]
    assert sends.counted > 0.7 * sends.calls
    # Far more than what was measured, whatever else the processors do; and all of it is time in MPI.
    assert sends.whole_time_ns is not None and sends.whole_time_ns > 2 * sends.time_ns
    if None not in shares.values():
        assert sum(process.whole_mpi_ns or 0 for process in run.processes) > 0.9 * sends.whole_time_ns
    assert sends.whole_bytes == pytest.approx(sends.calls * 1000, rel=0.01)


def test_the_trace_keeps_to_its_size(tare: Path, tmp_path: Path) -> None:
    """A size that a run without a limit passes several times."""
    rounds = 20000
    measured, _ = measured_run(openmpi4(), tare, tmp_path, f"{AMPLE},1M", str(rounds), str(MESSAGES))
    budget = measured.info()["budget"]
    assert budget["bytes"] == 1 << 20
    assert budget["spent_bytes"] <= 1 << 20
    assert measured.info()["trace"]["records"] < sum(calls_of(rounds).values())


@both_debian
def test_timing_of_brief_calls_is_thinned_out(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """The clock would take more than the budget. Calls are exact all the same."""
    rounds, calls = 20000, 50
    program = compile_c(mpi, [PROGRAMS / "brief.c"], tmp_path / "brief")
    measured = measure(tare, mpi, 1, [program, str(rounds), str(calls)], tmp_path / "run", "--budget", "1%")
    assert measured.ended.returncode == 0, measured.ended.stderr
    rows = {row["function"]: row for row in measured.profile("function")}
    for function in ("MPI_Send", "MPI_Recv", "MPI_Sendrecv"):
        row = rows[function]
        assert row["calls"] == rounds * calls
        assert 0 < row["estimated_calls"] < row["calls"]
        assert row["time_ns"] > 0


@both_debian
def test_a_trial_of_a_budget(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Half of the spells are controls, the same on all ranks, which are not the budget's."""
    rounds = 1500
    program = compile_c(mpi, [PROGRAMS / "iterations.c"], tmp_path / "iterations")
    measured = measure(
        tare, mpi, RANKS, [program, str(rounds)], tmp_path / "run", "--budget", AMPLE, "--weigh"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert made(measured) | calls_of(rounds) == made(measured)
    spells: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in package.open(tmp_path / "run").spells:
        spells[row.spell].append(record(row))
    controls = 0
    for rows in spells.values():
        assert len({row["control"] for row in rows}) == 1
        controls += rows[0]["control"]
        assert not any(row["control"] and (row["measured"] or row["traced"]) for row in rows)
    assert 0.4 < controls / len(spells) < 0.6
    info = measured.info()
    assert info["budget"]["spells"] == len(spells) - controls
    assert (info["trial"]["measured"], info["trial"]["unmeasured"]) == (len(spells) - controls, controls)


def test_a_slow_file_system_makes_the_trace_thinner(tare: Path, tmp_path: Path) -> None:
    """Each write but the first takes 50 ms more: a trace of all calls would cost twice the time."""
    rounds, delay_ms, share = 200000, 50, 0.2
    mpi = openmpi4()
    slow = compile_c(mpi, [PROGRAMS / "slow_disk.c"], tmp_path / "libslow_disk.so", "-shared", "-fPIC")
    program = compile_c(mpi, [PROGRAMS / "iterations.c"], tmp_path / "iterations")
    measured = measure(
        tare,
        mpi,
        2,
        [program, str(rounds), str(MESSAGES)],
        tmp_path / "run",
        *("--budget", f"{100 * share:g}%"),
        LD_PRELOAD=str(slow),
        SLOW_DISK_AFTER="2",
        SLOW_DISK_MS=str(delay_ms),
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == 2
    flushes = pa.table(package.open(tmp_path / "run").flushes).to_pylist()
    slow_ns = [flush["duration_ns"] for flush in flushes if flush["duration_ns"] >= delay_ms * 1_000_000]
    assert slow_ns
    budget = measured.info()["budget"]
    assert budget["traced_share"] < 1
    # A write shortly before the end cannot be made good.
    assert budget["spent"] < 1.5 * share
    assert 0 < matched(tmp_path / "run") < 2 * rounds * MESSAGES


def refused(tare: Path, *options: str) -> str:
    ended = subprocess.run([tare, "run", *options, "--", "true"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    return ended.stderr


@pytest.mark.parametrize("budget", ["0", "none", "90%", "", "0.01%"])
def test_what_is_no_budget(budget: str, tare: Path) -> None:
    assert "is no budget" in refused(tare, "--budget", budget)


@pytest.mark.parametrize("size", ["1K", "", "many"])
def test_what_is_no_size(size: str, tare: Path) -> None:
    assert "size" in refused(tare, "--budget", f"1%,{size}") or "small" in refused(
        tare, "--budget", f"1%,{size}"
    )


@pytest.mark.parametrize(
    "other",
    [["--sample", "random:0.1"], ["--monitor"], ["--keep", "last:1s"], ["--policy", "drop"]],
)
def test_nothing_else_decides_how_much_is_kept(other: list[str], tare: Path) -> None:
    assert "--budget decides how much is recorded" in refused(tare, "--budget", "1%", *other)
