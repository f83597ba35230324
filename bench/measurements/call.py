"""One wrapped call: a loop of calls that communicate nothing, on one rank."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median

import peers
from account import Account, account_of
from interleave import Rounds, interleave
from programs import NAMES, built, mpis, program
from report import Row, Table, difference, over_bare

from tools import (
    BARE,
    EZTRACE,
    PROFILE,
    PROFILE_ALONE,
    TRACE,
    TRACE_ALONE,
    TWIN,
    MpiEnvironment,
    Outcome,
    Tool,
    run_once,
    with_peers,
)

CALLS = 400_000
LOOPS = 5  # beside one of a tenth to warm up

TOOLS = (BARE, TWIN, PROFILE_ALONE, PROFILE, TRACE_ALONE, TRACE)

SITES_LIMITS = {PROFILE_ALONE: 30.0, PROFILE: 50.0}
REQUEST_LIMITS = {PROFILE: 12.0, TRACE: 12.0}
SEND_LIMITS = {PROFILE_ALONE: 28.0, TRACE_ALONE: 45.0}
# Over the time of two clock readings.
SEND_LIMITS_OVER_CLOCK = {PROFILE: 12.0, TRACE: 25.0}
SEND_PEERS = {PROFILE_ALONE: peers.NULL_PROFILE, TRACE_ALONE: peers.NULL_TRACE}
LOOKUP_LIMITS = {PROFILE: 6.0, TRACE: 6.0}


def measure(rounds: int) -> tuple[list[Table], list[Account]]:
    clock = _clock_ns()
    tables = [_clock(clock)]
    send_limits = SEND_LIMITS | {
        tool: round(median(clock) + limit, 1) for tool, limit in SEND_LIMITS_OVER_CLOCK.items()
    }
    accounts = []
    for mpi in mpis():
        measured = _run(mpi, rounds, "send", "comm_rank", "waitall")
        name = NAMES[mpi.name]
        tables += [
            _table(
                f"MPI_Send to MPI_PROC_NULL, 1 rank, {name}", measured, _per_send, send_limits, SEND_PEERS
            ),
            _table(f"MPI_Comm_rank, counted, {name}", measured, _per_lookup, LOOKUP_LIMITS, {}),
            _table(
                f"MPI_Isend, MPI_Irecv, MPI_Waitall of 16, a call, {name}",
                measured,
                _per_request_call,
                {},
                {},
            ),
        ]
        tables[-3].notes.extend([_fastest(measured), _trace_sizes(measured)])
        tables += _rows_and_requests(mpi, rounds)
        accounts += account_of(f"null_calls, {name}", measured, _total_s)
    return tables, accounts


def _rows_and_requests(mpi: MpiEnvironment, rounds: int) -> list[Table]:
    """What costs more in a large program: many call sites, and many requests that one call completes."""
    measured = _run(mpi, rounds, "sites", "completions")
    name = NAMES[mpi.name]
    return [
        _table(
            f"MPI_Send to MPI_PROC_NULL through 1,000 call sites, {name}",
            measured,
            lambda outcome: outcome.value("sites_ns"),
            SITES_LIMITS,
            SEND_PEERS,
        ),
        _table(
            f"MPI_Waitall of 64, sent and received by itself, a request, {name}",
            measured,
            lambda outcome: outcome.value("completions_ns"),
            REQUEST_LIMITS,
            {},
        ),
    ]


def _run(mpi: MpiEnvironment, rounds: int, *kinds: str) -> Rounds:
    argv: list[str | Path] = [program(mpi, "null_calls"), "-i", str(CALLS), "-r", str(LOOPS), *kinds]
    return interleave(rounds, with_peers(TOOLS), lambda tool: run_once(tool, mpi, 1, argv))


def _table(
    title: str,
    measured: Rounds,
    of: Callable[[Outcome], float],
    limits: dict[Tool, float],
    quoted: dict[Tool, str],
) -> Table:
    return over_bare(title, measured, of, "ns a call", "ns", limits, quoted)


def _per_send(outcome: Outcome) -> float:
    return outcome.value("send_ns")


def _per_lookup(outcome: Outcome) -> float:
    return outcome.value("comm_rank_ns")


def _per_request_call(outcome: Outcome) -> float:
    return outcome.value("waitall_ns") / (outcome.value("batch") + 1)


def _total_s(outcome: Outcome) -> float:
    """The time of all loops, the warm-up included: what the cost account is about."""
    loops = outcome.value("rounds") + 0.1
    calls = outcome.value("iterations")
    batches = calls / 10
    a_loop = outcome.value("send_ns") * calls + outcome.value("comm_rank_ns") * calls
    return 1e-9 * loops * (a_loop + outcome.value("waitall_ns") * batches)


def _fastest(measured: Rounds) -> str:
    """The same from each run's fastest loop: what is left when others disturb least."""
    bare = measured.bare(_fastest_send)
    over = [
        f"{tool.label} {difference(measured.samples(tool, _fastest_send), bare).median:+.1f}"
        for tool in measured.tools[1:]
    ]
    return f"ns over bare by the fastest loop of each run: {', '.join(over)}"


def _fastest_send(outcome: Outcome) -> float:
    return outcome.value("send_min_ns")


def _trace_sizes(measured: Rounds) -> str:
    """The sizes in bytes for each recorded call: look-ups are in neither tool's trace."""
    calls = (LOOPS + 0.1) * CALLS * (1 + 17 / 10)
    sizes = [
        f"{tool.label} {median(measured.samples(tool, lambda outcome: outcome.trace_bytes)) / calls:.1f}"
        for tool in (TRACE, EZTRACE)
        if tool in measured.outcomes
    ]
    return f"bytes of trace a call: {', '.join(sizes)}"


def _clock_ns() -> list[float]:
    """What two clock readings take, several times."""
    command: list[str | Path] = [
        built("bench/record_bench"),
        "--benchmark_filter=^clock_twice$",
        "--benchmark_format=json",
    ]
    command += ["--benchmark_repetitions=5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    runs = [run for run in json.loads(done.stdout)["benchmarks"] if run["run_type"] == "iteration"]
    return [float(run["real_time"]) for run in runs]


def _clock(samples: list[float]) -> Table:
    """The floor: no tool that times calls costs less."""
    title = "Reading the clock twice, which is part of each timed call"
    return Table(title, "ns", "", [Row("rdtsc, rdtsc", median(samples))], len(samples), over="")
