"""What message sampling adds to a message, to a solver and to a halo exchange: PHOTON's Figures 4 to 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import coverage
from interleave import Rounds, interleave
from programs import built, program
from report import Row, Table, difference, percent

from tools import BARE, PROFILE, Outcome, Tool, openmpi4, run_once

RANKS = 2
SIZES = (4, 64, 1024, 16384, 65536, 262144, 1048576)
CALLS = ("isend", "test", "sendrecv", "start", "startall")
NOT_CHOSEN_NS, SAMPLED_NS, SAMPLED_ELSEWHERE_NS = 15.0, 200.0, 600.0


def sampling(spec: str, *, trace: bool = False) -> Tool:
    return Tool(spec, tare=("--sample", spec, *(("--trace",) if trace else ())))


NONE = sampling("none")
RARE = sampling("random:0.000001,freq")
EVERY = {
    method: sampling(f"random:1,{method}", trace=method == "write") for method in ("stat", "freq", "off")
}
RANDOM = [sampling(f"random:{threshold},freq") for threshold in (0.01, 0.1, 0.5, 0.9)]
# Each is one figure of the paper; tools that several need are run once.
FIGURES: dict[str, list[Tool]] = {
    "loaded, and nothing chosen (Figure 4)": [PROFILE, NONE, RARE],
    "by counter (Figure 5)": [sampling(f"counter:{n},{n // 4},freq") for n in (2, 16, 64, 256)],
    "by timer (Figure 6)": [sampling(f"timer:{ms}ms,{ms / 5}ms,freq") for ms in (1, 10, 100, 300)],
    "by chance (Figure 7)": RANDOM,
    "methods (Figure 8)": [
        *EVERY.values(),
        *(
            sampling(f"random:{p},{m}", trace=m == "write")
            for p in (0.1, 0.5)
            for m in ("off", "stat", "write")
        ),
    ],
}
LIMITS = {NONE: NOT_CHOSEN_NS, RARE: NOT_CHOSEN_NS, EVERY["stat"]: SAMPLED_NS, EVERY["freq"]: SAMPLED_NS}
SOLVER = [sampling(f"random:{threshold},freq") for threshold in (0.01, 0.5, 0.9)]
SOLVER_QUOTED = {"random:0.01,freq": "PHOTON +6.1 %", "random:0.9,freq": "PHOTON +11 %, tracing +154 %"}


def measure(rounds: int) -> list[Table]:
    return [*_ping_pong(rounds), _halo(rounds), *coverage.measure()]


def measure_calls(rounds: int) -> list[Table]:
    return [_calls(rounds), _between_nodes(rounds)]


def measure_solver(rounds: int) -> list[Table]:
    return [_solver(rounds)]


def _ping_pong(rounds: int) -> list[Table]:
    tools = [BARE, *(tool for figure in FIGURES.values() for tool in figure)]
    argv: list[Path | str] = [program(openmpi4(), "ping_pong"), *map(str, SIZES)]
    measured = interleave(rounds, tools, lambda tool: run_once(tool, openmpi4(), RANKS, argv))
    return [_figure(measured, title, figure) for title, figure in FIGURES.items()]


def _figure(measured: Rounds, title: str, tools: list[Tool]) -> Table:
    """A message of 4 bytes by each tool, over the profile; other sizes as notes."""
    profile = measured.samples(PROFILE, lambda outcome: _latency(outcome, SIZES[0]))
    rows = [_row(measured, tool, profile, LIMITS) for tool in dict.fromkeys((BARE, PROFILE, *tools))]
    notes = [
        f"{size:>7} B: "
        + ", ".join(f"{tool.label} {_fastest(measured, tool, size):.0f}" for tool in (BARE, *tools))
        for size in SIZES
    ]
    title = f"A message between 2 ranks, Open MPI: {title}"
    return Table(
        title, "ns", "ns", rows, measured.count, over="over the profile", notes=["fastest run, ns:", *notes]
    )


def _row(measured: Rounds, tool: Tool, profile: list[float], limits: dict[Tool, float]) -> Row:
    samples = measured.samples(tool, lambda outcome: _latency(outcome, SIZES[0]))
    over = None if tool in (BARE, PROFILE) else difference(samples, profile)
    return Row(tool.label, median(samples), over, limits.get(tool))


def _calls(rounds: int) -> Table:
    """Both ranks send at the same time: what sending and receiving a message cost, by the calls."""
    limits = {tool: LIMITS[tool] for tool in (NONE, RARE, EVERY["freq"])}
    rows = []
    for calls in CALLS:
        of_calls = _rows(rounds, ("-c", calls), limits)
        rows += [replace(row, label=f"{calls}: {row.label}") for row in of_calls]
    title = "A message of 4 bytes each way, by the calls that send and receive it, 2 ranks, Open MPI"
    return Table(title, "ns", "ns", rows, rounds, over="over the profile")


def _between_nodes(rounds: int) -> Table:
    """What is told of a message is a message too."""
    limits = {tool: SAMPLED_ELSEWHERE_NS if tool in EVERY.values() else NOT_CHOSEN_NS for tool in LIMITS}
    rows = _rows(rounds, (), limits, {"TARE_SAMPLE_NODES": "2"})
    title = "A message of 4 bytes between 2 ranks that believe to be on two nodes, Open MPI"
    return Table(title, "ns", "ns", rows, rounds, over="over the profile")


def _rows(
    rounds: int,
    arguments: Sequence[str],
    limits: dict[Tool, float],
    variables: Mapping[str, str] | None = None,
) -> list[Row]:
    tools = [PROFILE, *limits]
    argv: list[Path | str] = [program(openmpi4(), "ping_pong"), *arguments, "-r", "31", str(SIZES[0])]
    measured = interleave(
        rounds, tools, lambda tool: run_once(tool, openmpi4(), RANKS, argv, variables=variables)
    )
    profile = measured.samples(PROFILE, lambda outcome: _latency(outcome, SIZES[0]))
    return [_row(measured, tool, profile, limits) for tool in tools]


def _latency(outcome: Outcome, size: int) -> float:
    return outcome.value(f"{size}_min_ns")


def _fastest(measured: Rounds, tool: Tool, size: int) -> float:
    return min(measured.samples(tool, lambda outcome: _latency(outcome, size)))


def _solver(rounds: int) -> Table:
    """Figures 9 and 10."""
    argv: list[Path | str] = [built("workloads/diffusion")]
    tools = [BARE, PROFILE, *SOLVER]
    measured = interleave(rounds, tools, lambda tool: run_once(tool, openmpi4(), RANKS, argv))
    bare, profile = measured.bare(Outcome.solve_s), measured.samples(PROFILE, Outcome.solve_s)
    rows = [Row(BARE.label, median(bare)), Row(PROFILE.label, median(profile), percent(profile, bare))]
    for tool in SOLVER:
        samples = measured.samples(tool, Outcome.solve_s)
        least = tool is SOLVER[0]
        rows.append(
            Row(
                tool.label + (", over the profile" if least else ""),
                median(samples),
                percent(samples, profile if least else bare),
                0.0 if least else 6.0 if tool is SOLVER[-1] else None,
                SOLVER_QUOTED.get(tool.label, ""),
                invisible=least,
            )
        )
    title = "hypre StructSMG, 2 ranks, Open MPI: time of the solves (Figure 10)"
    return Table(title, "s", "%", rows, rounds, digits=2, notes=[_sampled(measured, SOLVER)])


def _halo(rounds: int) -> Table:
    argv: list[Path | str] = [built("workloads/halo"), "-n", "16", "16", "16", "-i", "5000"]
    tools = [PROFILE, *RANDOM, *FIGURES["by counter (Figure 5)"], *FIGURES["by timer (Figure 6)"]]
    measured = interleave(rounds, tools, lambda tool: run_once(tool, openmpi4(), RANKS, argv))
    profile = measured.samples(PROFILE, _iteration_us)
    rows = [Row(PROFILE.label, median(profile))]
    for tool in tools[1:]:
        samples = measured.samples(tool, _iteration_us)
        rows.append(Row(tool.label, median(samples), difference(samples, profile)))
    title = "workloads/halo, 2 ranks, Open MPI: an iteration of 6 messages a rank"
    return Table(
        title,
        "us",
        "us",
        rows,
        rounds,
        digits=2,
        over="over the profile",
        notes=[_sampled(measured, tools[1:])],
    )


def _iteration_us(outcome: Outcome) -> float:
    return outcome.value("iteration_ns") / 1000


def _sampled(measured: Rounds, tools: list[Tool]) -> str:
    """Figure 9."""
    counts = []
    for tool in tools:
        messages = measured.outcomes[tool][-1].sampled
        assert messages is not None
        counts.append(f"{tool.label} {messages['chosen']:,} of {messages['sent']:,}")
    return f"messages sampled (Figure 9): {', '.join(counts)}"
