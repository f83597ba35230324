"""`tare run`: measure a command."""

from __future__ import annotations

import os
import resource
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tare import command_name, preloading, streams, units
from tare.commands import new_path
from tare.errors import TareError, UsageError
from tare.measuring import launch, limits, monitoring, unseen, user_objects
from tare.measuring.limits import Budget, Keep
from tare.measuring.measurement import Measured, measure, whose_end_is_unknown
from tare.options import Argument, Option
from tare.runs import directory, patterns, rounds
from tare.runs.metadata import DEFAULT_STACK_RATE, Metadata, Options

if TYPE_CHECKING:
    from tare.runs.run import Run

MOST_FRAMES = 32  # of a call path (src/format/definition.h)
MOST_RATE = 10_000
FOR_SUMMARY = ("tare.reporters.summary", "tare.reporters.console")
TOO_SMALL = units.MIB  # no segment of a process is so small
NO_RESULT = "no process of this command recorded a call of MPI; nothing was measured"
NO_MPI = (
    f"{NO_RESULT}. Is it an MPI program, linked dynamically, and not setuid? `tare doctor` checks "
    "this machine"
)


class Policy(StrEnum):
    """What a thread does whose event buffer is full."""

    block = "block"
    drop = "drop"
    overwrite = "overwrite"


class Drain(StrEnum):
    """Who writes out full buffers."""

    inline = "inline"
    tared = "tared"


class Write(StrEnum):
    """What becomes of a trace that is recorded (--write)."""

    disk = "disk"
    none = "none"


def _monitor(text: str) -> str:
    """The SPEC of --monitor, if it is one."""
    monitoring.parse(text)
    return text


# The options, in the order of the help.
CommandArgument = Annotated[
    list[str],
    Argument(metavar="COMMAND", help="The command, as you would start it.", rest=True),
]
BufferOption = Annotated[
    int | None,
    Option(
        parser=limits.buffer_size,
        metavar="SIZE",
        help="Size of the event buffer of each thread, like 512K or 4M. For traces.",
    ),
]
PolicyOption = Annotated[
    Policy | None,
    Option(
        help="What a thread does when its event buffer is full: write the buffer to disk (block, the "
        "default), drop new events and count them (drop), or overwrite the oldest events (overwrite). "
        "Implies --trace."
    ),
]
KeepOption = Annotated[
    Keep | None,
    Option(
        parser=limits.keep,
        metavar="last:TIME|SIZE",
        help="Flight recorder: keep only the newest events, like last:30s, or last:64M for each thread. "
        "Implies --trace --policy overwrite.",
    ),
]
WriteOption = Annotated[
    Write,
    Option(help="disk writes the trace. none records and encodes it, then discards it; implies --trace."),
]
DrainOption = Annotated[
    Drain | None,
    Option(
        help="Who writes full event buffers to disk: each thread its own (inline, the default), or one "
        "process on each node (tared), which wants a processor to itself. Implies --trace."
    ),
]
StackOption = Annotated[
    int | None,
    Option(
        min=1,
        max=MOST_FRAMES,
        metavar="N",
        help=f"Keep N frames of each call path (default: 4; at most {MOST_FRAMES}), and always the first "
        "frame in the program itself. With 1, keep one frame only.",
    ),
]
TimeLookupsOption = Annotated[
    bool,
    Option(
        "--time-lookups", help="Time look-ups (MPI_Comm_rank, ...) too. By default they are only counted."
    ),
]
WithOption = Annotated[
    list[tuple[str, ...]] | None,
    Option(
        "--with",
        parser=limits.sources,
        metavar="SOURCE[,...]",
        help="Record more than MPI: files, the calls of POSIX and stdio that open, read, write and close "
        "them (docs/files.md); openmp, the constructs of OpenMP (docs/openmp.md); stacks, "
        f"where the threads are, {DEFAULT_STACK_RATE} times in a second of processor time (docs/stacks.md). "
        "Programs without MPI are then measured, too. May be given more than once.",
    ),
]
StackRateOption = Annotated[
    int | None,
    Option(
        "--stack-rate",
        min=1,
        max=MOST_RATE,
        metavar="N",
        help="With --with stacks: sample a stack N times in a second of processor time "
        f"(default: {DEFAULT_STACK_RATE}; at most {MOST_RATE:,}).",
    ),
]
SampleOption = Annotated[
    str | None,
    Option(
        "--sample",
        metavar="SPEC",
        help="Sample one-way latencies of messages. random:0.01 samples one message in 100, "
        "random:1,site=solver.c:120 every message of that line, ./mine.so those that your code chooses "
        "(docs/samples.md).",
    ),
]
WeighOption = Annotated[
    float | None,
    Option(
        parser=limits.spells_share,
        metavar="SHARE",
        bare="0.5",
        help="Find out what measuring costs this program: for short spells, this share of them (half), "
        "calls are only counted (docs/weigh.md).",
    ),
]
BudgetOption = Annotated[
    Budget | None,
    Option(
        parser=limits.budget,
        metavar="SHARE[,SIZE]",
        help="What measuring may cost: a share of the time, like 1%, and a size of the trace, like "
        "1%,500M. Records the most that this allows: a trace, a trace of some iterations, or a profile "
        "(docs/budget.md).",
    ),
]
MonitorOption = Annotated[
    str | None,
    Option(
        parser=_monitor,
        metavar="SPEC",
        bare=monitoring.DEFAULT,
        help="Monitor the program while it runs: ranks hand over profiles, each second or as SPEC says, "
        "like 100ms or points,policy=block (docs/monitoring.md). tare top shows it.",
    ),
]
PrintSampleOption = Annotated[
    bool,
    Option(
        "--print-sample",
        help="Start nothing. Print SPEC with addresses for lines of COMMAND's compiled code, as running "
        "programs take it.",
    ),
]


OutputOption = Annotated[
    str | None,
    Option(
        "-o",
        "--output",
        metavar="DIR",
        help="The run directory. It must be empty or new. In its name, %j is the id of the job, "
        "%r how often it was restarted, %a its index in a job array, %d date and time (docs/nodes.md).",
    ),
]
OrUnmeasuredOption = Annotated[
    bool,
    Option(
        "--or-unmeasured",
        help="If the run directory cannot be used, run the command without measuring, rather than fail.",
    ),
]
KeepEnvOption = Annotated[
    list[str] | None,
    Option(
        "--keep-env",
        metavar="PATTERN",
        help="Also keep environment variables of this name, like MKL_*, in meta.json (may be repeated).",
    ),
]
GroupOption = Annotated[
    str | None,
    Option(
        metavar="NAME", help="Let a group that you belong to read the run. By default only you can read it."
    ),
]


def run(
    command: CommandArgument,
    trace: Annotated[bool, Option("--trace", help="Record every call, not only sums.")] = False,
    buffer: BufferOption = None,
    policy: PolicyOption = None,
    keep: KeepOption = None,
    write: WriteOption = Write.disk,
    drain: DrainOption = None,
    stack: StackOption = None,
    time_lookups: TimeLookupsOption = False,
    with_: WithOption = None,
    stack_rate: StackRateOption = None,
    sample: SampleOption = None,
    weigh: WeighOption = None,
    budget: BudgetOption = None,
    monitor: MonitorOption = None,
    print_sample: PrintSampleOption = False,
    output: OutputOption = None,
    or_unmeasured: OrUnmeasuredOption = False,
    keep_env: KeepEnvOption = None,
    group: GroupOption = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print no summary, only what went wrong.")] = False,
    forward: Annotated[bool, Option("--forward", hidden=True)] = False,
) -> int:
    """Measure a command and every MPI process it starts.

    tare always makes a profile. Output and exit code are those of the command. A summary follows on
    standard error.

    Example: tare run --trace -- mpiexec -n 4 ./app
    """
    traced = trace or write is Write.none or any((policy, keep, drain, budget))
    if print_sample and sample is None:
        raise UsageError("--print-sample prints the SPEC of --sample: add it")
    if sample is not None:
        if not print_sample:
            launch.check_startable(command)
        sample = _sample(sample, command, trace=traced or print_sample)
    if print_sample and sample is not None:
        streams.say(sample)
        return 0
    if monitor is not None:
        monitor = _monitored(monitor, command, weigh=weigh is not None, forward=forward, quiet=quiet)
    if weigh is not None:
        _check_weighable(sample=sample is not None, forward=forward)
    sources = tuple(sorted({name for names in with_ or () for name in names}))
    if stack_rate is not None and "stacks" not in sources:
        raise UsageError("--stack-rate goes with --with stacks")
    chosen_policy = _policy(policy, keep)
    if keep is not None and write is Write.none:
        raise UsageError("--keep is for records that are written: leave out --write none")
    if budget is not None:
        _check_alone(
            {
                "--sample": sample is not None,
                "--monitor": monitor is not None,
                "--forward": forward,
                "--policy overwrite": chosen_policy is Policy.overwrite,
                "--policy drop": chosen_policy is Policy.drop,
            }
        )
    options = Options(
        trace=traced,
        buffer=_buffer(buffer, keep),
        policy=chosen_policy.value,
        keep_ns=keep.time_ns if keep else None,
        write=write is Write.disk,
        drain=_drain(drain, chosen_policy).value,
        stack=_stack(stack, sources),
        stack_rate=stack_rate,
        sources=sources,
        sample=sample,
        weigh=weigh,
        budget=budget.share if budget else None,
        budget_bytes=budget.size if budget else None,
        monitor=monitor,
        time_lookups=time_lookups,
        keep_env=tuple(keep_env or ()),
        forward=forward,
        group=_group(group),
    )
    modules = () if quiet else FOR_SUMMARY
    wanted = partial(_run_directory, output)
    measured = measure(command, wanted, options, modules, or_unmeasured=or_unmeasured)
    if isinstance(measured, launch.Ending):
        return _exit_code(measured)
    if quiet:
        # An error is never quiet.
        apart = rounds.of_nodes_alone(len(rounds.of_directory(measured.run_dir)))
        lost = _lost(measured.recording) if measured.recording else []
        for line in [*_notes(measured), *lost, *apart, *_unmeasured(measured, expect_records=not forward)]:
            streams.tell(f"tare: {line}")
    else:
        _summarize(measured, expect_records=not forward)
    return _exit_code(measured.ending)


def _run_directory(name: str | None) -> Path | None:
    """What -o names, with values in place of patterns. UsageError if that is no name."""
    try:
        return None if name is None else new_path(patterns.expanded(name, os.environ))
    except ValueError as error:
        raise UsageError(f"-o: {error}") from error


def _stack(frames: int | None, sources: tuple[str, ...]) -> int | None:
    """Call paths that reach as far as the sampled stacks among which they are shown."""
    return MOST_FRAMES if frames is None and "stacks" in sources else frames


def _exit_code(ending: launch.Ending) -> int:
    """That of the command; a signal that has ended it ends this process, too."""
    return launch.exit_by_signal(ending.signal) if ending.signal else ending.exit_code or 0


def _with_places(monitor: str, command: list[str]) -> str:
    """The SPEC with addresses for the lines of code in it."""
    from tare.measuring.source_sites import with_labelled_addresses

    spec = with_labelled_addresses(monitor, command)
    try:
        monitoring.parse(spec)
    except ValueError as error:
        raise UsageError(f"--monitor {monitor}: {error} (docs/monitoring.md)") from error
    return spec


def _sample(spec: str, command: list[str], *, trace: bool) -> str:
    """What is asked for, as the preload library takes it."""
    from tare import _native
    from tare.measuring.source_sites import with_addresses

    spec = with_addresses(spec, command)
    try:
        spec = _with_objects(spec)
        method = _native.sample_method(spec)
    except ValueError as error:
        raise UsageError(f"--sample {spec}: {error} (docs/samples.md)") from error
    if method == "write" and not trace:
        raise UsageError("--sample with write puts messages into the trace: add --trace")
    return spec


def _with_objects(spec: str) -> str:
    """The SPEC with absolute paths of the chooser and the analysis."""
    strategy, *rest = spec.split(",")
    if user_objects.is_object(strategy):
        strategy = user_objects.located(strategy, strategy)
    key = "analysis="
    located = [
        key + user_objects.located(part, part.removeprefix(key)) if part.startswith(key) else part
        for part in rest
    ]
    return ",".join([strategy, *located])


def _monitored(spec: str, command: list[str], *, weigh: bool, forward: bool, quiet: bool) -> str:
    """The SPEC of --monitor as the preload library takes it; UsageError if this run cannot do it."""
    if weigh or forward:
        other = "--forward" if forward else "--weigh"
        raise UsageError(f"--monitor takes profiles, which {other} does not make all the time: leave out one")
    if "site=" in spec:
        launch.check_startable(command)
        spec = _with_places(spec, command)
    monitoring.check(monitoring.parse(spec))
    return _with_fan_out(spec, quiet=quiet)


def _with_fan_out(spec: str, *, quiet: bool) -> str:
    """The spec with the fan-out of the tree. Says why, unless the user has chosen it or there is one node."""
    from tare.measuring.fan_out import Job, choose

    if monitoring.names_fan_out(spec):
        return spec
    found = choose(monitoring.parse(spec), Job.of(os.environ))
    if found is None:
        return spec
    if not quiet:
        streams.tell(f"tare: --monitor: fan-out={found.fan_out}: {found.why}")
    return f"{spec},fan-out={found.fan_out}"


def _check_weighable(*, sample: bool, forward: bool) -> None:
    if not sample and not forward:
        return
    other = (
        "--forward measures nothing"
        if forward
        else "--sample numbers every message, and so has no such spells"
    )
    raise UsageError(f"--weigh measures in some spells and not in others; {other}")


def _policy(policy: Policy | None, keep: Keep | None) -> Policy:
    if keep and policy not in (None, Policy.overwrite):
        raise UsageError(f"--keep overwrites the oldest events: leave out --policy {policy}")
    return Policy.overwrite if keep else policy or Policy.block


def _check_alone(others: dict[str, bool]) -> None:
    """What decides itself how much is recorded does not go together with a budget."""
    for option, is_given in others.items():
        if is_given:
            raise UsageError(f"--budget decides how much is recorded, and so does {option}: leave out one")


def _group(name: str | None) -> str | None:
    if name is None:
        return None
    number = directory.group_number(name)
    if number is None:
        raise UsageError(f"--group {name}: there is no such group")
    if os.geteuid() != 0 and number not in {os.getegid(), *os.getgroups()}:
        raise UsageError(f"--group {name}: you are not in this group (`groups` lists those that you are in)")
    return name


def _drain(drain: Drain | None, policy: Policy) -> Drain:
    if drain is Drain.tared and policy is Policy.overwrite:
        raise UsageError("--drain tared: what a flight recorder keeps is not drained; leave out one")
    return drain or Drain.inline


def _buffer(buffer: int | None, keep: Keep | None) -> int | None:
    if keep and keep.size and buffer:
        raise UsageError("--keep last:SIZE is the size of the buffer: leave out --buffer")
    return keep.size if keep and keep.size else buffer


def _summarize(measured: Measured, *, expect_records: bool) -> None:
    """Whatever goes wrong here, the exit code stays the command's own."""
    try:
        if measured.collected is not None:
            _print_summary(measured)
        elif measured.trouble:
            streams.tell(f"tare: {measured.trouble}")
        else:
            for line in _unmeasured(measured, expect_records=expect_records):
                streams.tell(f"tare: {line}")
    except (TareError, OSError) as error:
        streams.tell(f"tare: {error}")


def _unmeasured(measured: Measured, *, expect_records: bool) -> list[str]:
    """Why there is no result at all, if there should be one and no trouble says so."""
    if measured.collected is not None or measured.trouble or not expect_records:
        return []
    return unseen.sentences(measured.meta) or _of_other_users(measured) or [_nothing(measured.meta)]


def _of_other_users(measured: Measured) -> list[str]:
    """What processes leave that have become another user: nobody may read it as a part of this run."""
    found = directory.segments_of_others(measured.run_dir, measured.meta)
    if not found:
        return []
    from tare.private_files import user_name

    users = ", ".join(sorted({user_name(owner) for _, owner in found}))
    return [
        f"nothing was measured, and what is named like segments of this run belongs to {users}: a process "
        "that changes its user before it calls MPI leaves such files, which no other user may read; remove "
        f"them: rm {found[0][0].parent}/tare-{measured.meta.run_id}-*"
    ]


def _nothing(meta: Metadata) -> str:
    """Why nothing was measured."""
    if taken := preloading.taken_by(meta.command):
        return _taken("nothing was measured", taken)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if 0 <= limit <= TOO_SMALL:  # RLIM_INFINITY is negative
        text = (
            f"{NO_RESULT}; the limit of the size of files (ulimit -f: {units.size(limit)}) leaves it no room"
        )
    else:
        text = NO_MPI
    sources = f"of MPI or of {', '.join(meta.options.sources)}"
    return text.replace("of MPI", sources) if meta.options.sources else text


def _taken(what: str, taken: str) -> str:
    return (
        f"{what}: `{taken}` in the command takes tare's environment (LD_PRELOAD, TARE_*) from the program; "
        "what else is to be preloaded, set in the environment of `tare run`"
    )


def _started_alone(recording: Run) -> str:
    """What takes tare's environment from the program, if only what starts it was measured; empty: nothing."""
    taken = preloading.taken_by(recording.meta.command)
    programs = {Path(process.executable).name for process in recording.processes}
    return taken if taken and all(map(command_name.is_prefix, programs)) else ""


def _lost(recording: Run) -> list[str]:
    """That a part of the trace is missing because it could not be written; nothing if it is not."""
    trace = recording.total_trace()
    if not (trace.kept_newest and trace.dropped):
        return []
    from tare.reporters.summary import dropped

    return [f"the trace lacks {dropped(trace.dropped, trace, recording)}"]


def _print_summary(measured: Measured) -> None:
    from tare.reporters import summary
    from tare.reporters.console import console
    from tare.runs.run import Run

    # It is missing where meta.json could not be written.
    recording = measured.recording or Run(measured.run_dir, measured.meta)
    out = console(sys.stderr, cut=True)
    out.line()
    summary.after_run(out, recording, _notes(measured))


def _notes(measured: Measured) -> list[str]:
    """What went wrong after the command had ended, and what to do."""
    collected = measured.collected
    notes = list(collected.messages) if collected else []
    if measured.trouble:
        notes.append(measured.trouble)
    if measured.recording and (taken := _started_alone(measured.recording)):
        notes.append(_taken("only what starts the program was measured", taken))
    if measured.unmonitored:
        notes.append(measured.unmonitored)
    if collected and collected.running:
        running = units.number_of(collected.running, "process still runs", "processes still run")
        notes.append(f"{running}; `tare recover {measured.run_dir}` takes the rest later")
    if collected and collected.unknown:
        notes.append(whose_end_is_unknown(collected.unknown, measured.run_dir))
    return notes
