"""Measures what measuring costs and prints it beside its limits; see docs/bench.md."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import account
from account import Account
from measurements import (
    applications,
    call,
    collectives,
    counts,
    drains,
    estimates,
    explain,
    exporting,
    files,
    frames,
    hooks,
    memory,
    monitoring,
    offloads,
    page,
    parts,
    reading,
    recorders,
    referee,
    regions,
    sampling,
    scale,
    solver,
    stacks,
    start,
    studies,
    sustained,
    tared,
    truth,
    waits,
    weight,
)
from programs import built
from report import Table, misses, show, write_json

from tools import ROOT, BenchError

MAX_BUSY = 0.1
# Of one measurement; the others go on.
FAILURES = (BenchError, subprocess.TimeoutExpired, subprocess.CalledProcessError)

# Name, rounds, rounds with --quick (of counts: iterations), what it measures.
MEASUREMENTS: dict[str, tuple[int, int, str]] = {
    "call": (15, 3, "one wrapped call"),
    "counts": (1000, 200, "instructions and cache lines of one wrapped call, which callgrind counts"),
    "frames": (11, 3, "frames of call paths"),
    "solver": (20, 3, "a real program with many calls"),
    "parts": (2, 1, "what parts of a tool's work cost in that program"),
    "applications": (20, 3, "hpcc's MPIRandomAccess, and LAMMPS"),
    "hooks": (15, 3, "MPI_Init, MPI_Finalize and `tare run`"),
    "start": (15, 3, "the start of every verb, and what `tare run` adds to a command"),
    "memory": (3, 3, "memory of a rank"),
    "collectives": (11, 3, "short collectives"),
    "sampling": (15, 2, "message sampling: its strategies and methods, and how evenly they cover a program"),
    "sampled-calls": (15, 2, "message sampling: every way to send and receive, and two nodes"),
    "sampled-solver": (20, 2, "message sampling: a real program"),
    "stacks": (11, 3, "samples of stacks: one of 20 frames, and in a real program"),
    "regions": (15, 3, "parallel regions of OpenMP, with each runtime"),
    "files": (15, 3, "calls on a file in the page cache"),
    "recorders": (7, 2, "the recorder's API beside LiTL, FxT, OTF2 and LTTng-UST"),
    "sustained": (5, 2, "five million events a second, drained to disk"),
    "drains": (9, 2, "buffers drained inline, and by tared"),
    "reading": (7, 2, "traces into Arrow tables"),
    "waits": (5, 1, "wait states of 10 million events, and the same as a table"),
    "explain": (1, 1, "what `tare explain` says of programs with planted faults"),
    "exporting": (5, 2, "traces for other tools, and reading these there"),
    "studies": (3, 1, "the ready-made studies, reduced: known truth, the papers' experiments, the harness"),
    "scale": (5, 1, "verbs on a run of 100,000 ranks: their time and memory"),
    "offloads": (5, 1, "an offload to the monitor, in the rank"),
    "tared": (5, 1, "tared where rounds come once a second: memory and processor"),
    "monitoring": (5, 1, "the monitoring tree: what it sustains, and one of 1,000 processes"),
    "page": (3, 1, "`tare report` and `tare view`: of 1, 10 and 100 million events, and of 100,000 ranks"),
    "estimates": (7, 2, "what runs with a budget estimate, beside the truth"),
    "account": (0, 0, "the cost account against the truth, from call, solver and collectives"),
    "weight": (5, 1, "the true slowdown of programs, beside the account's and the trial's"),
    "referee": (6, 2, "what tools cost a real program, by `tare weigh`"),
    "truth": (2, 1, "how often the interval of the referee holds the truth, of tools with planted costs"),
    "record": (0, 0, "encoder and reader, without MPI"),
}
WITH_ACCOUNT: dict[str, Callable[[int], tuple[list[Table], list[Account]]]] = {
    "call": call.measure,
    "solver": solver.measure,
    "collectives": collectives.measure,
}
# Tables, each when it is done.
PLAIN: dict[str, Callable[[int], Iterable[Table]]] = {
    "applications": applications.measure,
    "counts": counts.measure,
    "estimates": estimates.measure,
    "files": files.measure,
    "frames": frames.measure,
    "hooks": hooks.measure,
    "start": start.measure,
    "memory": memory.measure,
    "sampling": sampling.measure,
    "sampled-calls": sampling.measure_calls,
    "sampled-solver": sampling.measure_solver,
    "reading": reading.measure,
    "regions": regions.measure,
    "stacks": stacks.measure,
    "waits": waits.measure,
    "recorders": recorders.measure,
    "sustained": sustained.measure,
    "drains": drains.measure,
    "explain": explain.measure,
    "exporting": exporting.measure,
    "studies": studies.measure,
    "scale": scale.measure,
    "offloads": offloads.measure,
    "tared": tared.measure,
    "monitoring": monitoring.measure,
    "page": page.measure,
    "parts": parts.measure,
    "referee": referee.measure,
    "truth": truth.measure,
    "weight": weight.measure,
}


def main() -> int:
    options = _parse()
    wanted = options.only or list(MEASUREMENTS)
    _warn_if_busy()
    tables: list[Table] = []
    accounts: list[Account] = []
    fewest = 0
    failed = []
    try:
        for name, (full, quick, _) in MEASUREMENTS.items():
            rounds = options.rounds or (quick if options.quick else full)
            try:
                if name in WITH_ACCOUNT and (name in wanted or "account" in wanted):
                    measured, own = WITH_ACCOUNT[name](rounds)
                    accounts += own
                    fewest = min(fewest or rounds, rounds)
                    _add(tables, measured if name in wanted else [])
                elif name in PLAIN and name in wanted:
                    _add(tables, PLAIN[name](rounds))
                elif name == "record" and name in wanted:
                    _record(options.quick)
            except FAILURES as error:
                print(f"bench: {name}: {error}", file=sys.stderr)
                failed.append(name)
    except KeyboardInterrupt:
        return 130
    if "account" in wanted and accounts:
        _add(tables, [account.table(accounts, fewest)])
    _close(tables, options.output)
    if failed:
        print(f"not measured to the end: {', '.join(failed)}")
    return 1 if failed else 0


def _parse() -> argparse.Namespace:
    names = "; ".join(f"{name}: {what}" for name, (_, _, what) in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(prog="bench/run.sh", description=__doc__, epilog=f"Names: {names}.")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it work, roughly how much")
    parser.add_argument(
        "--only", action="append", choices=MEASUREMENTS, metavar="NAME", help="may be repeated"
    )
    parser.add_argument("--rounds", type=_positive, metavar="N", help="rounds of each measurement")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=ROOT / "build" / "bench.json",
        metavar="FILE",
        help="results as JSON (build/bench.json)",
    )
    return parser.parse_args()


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _warn_if_busy() -> None:
    busy = _busy()
    print(f"{os.cpu_count()} processors ({_processor()}), {100 * busy:.0f} % busy with other things")
    if busy > MAX_BUSY:
        print("warning: something else runs on this machine; what follows is too noisy to judge by")


def _busy() -> float:
    """Share of the processors in use, over a second; the load average would still count our own build."""
    before = _processor_times()
    time.sleep(1)
    spent = [now - then for now, then in zip(_processor_times(), before, strict=True)]
    idle = spent[3] + spent[4]  # idle, and waiting for the disk
    return 1 - idle / max(1, sum(spent))


def _processor_times() -> list[int]:
    return [int(ticks) for ticks in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _add(tables: list[Table], new: Iterable[Table]) -> None:
    for table in new:
        show(table)
        tables.append(table)


def _record(quick: bool) -> None:
    print("\nEncoder and reader, a record, value or event each", flush=True)
    shortest = "0.05" if quick else "0.5"
    subprocess.run(
        [built("bench/record_bench"), f"--benchmark_min_time={shortest}"],
        check=True,
        stderr=subprocess.DEVNULL,
    )


def _close(tables: list[Table], output: Path) -> None:
    write_json(tables, output)
    verdicts = [row.verdict for table in tables for row in table.rows if row.verdict]
    print(f"\n{len(verdicts)} numbers have a limit; {len(misses(tables))} are not met")
    for miss in misses(tables):
        print(f"  {miss}")
    print(f"all samples: {output}")


if __name__ == "__main__":
    sys.exit(main())
