"""Starts the measured command and waits for its end."""

from __future__ import annotations

import errno
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tare import open_mpi, programs, streams
from tare.errors import CommandError
from tare.measuring import library, sanitizers, signals, tared
from tare.runs import directory
from tare.runs.metadata import Metadata, Options

NOT_EXECUTABLE = 126
NOT_FOUND = 127
# What `tare run` says to the library in the ranks (docs/environment.md), as far as it is not empty; a run has
# none of another's.
TOLD: dict[str, Callable[[Metadata, Path], object]] = {
    "RUN_DIR": lambda _, run_dir: run_dir,
    "RUN_ID": lambda meta, _: meta.run_id,
    "RUN_KEY": lambda meta, _: meta.run_key,
    "SEGMENT_DIR": lambda meta, _: meta.segment_dir,
    "KEEPER": lambda *_: library.find(library.KEEPER),
    "COLLECTOR": lambda meta, run_dir: _collector(meta, run_dir),
    "TRACE": lambda meta, _: "1" if meta.options.trace else "",
    "BUFFER": lambda meta, _: meta.options.buffer,
    "POLICY": lambda meta, _: meta.options.policy,
    "KEEP_NS": lambda meta, _: meta.options.keep_ns,
    "WRITE": lambda meta, _: "" if meta.options.write else "none",
    "DRAIN": lambda meta, _: library.find(library.TARED) if tared.drains(meta.options) else "",
    "STACK": lambda meta, _: meta.options.stack,
    "STACK_RATE": lambda meta, _: meta.options.stack_rate,
    "WITH": lambda meta, _: ",".join(meta.options.sources),
    "LOOKUPS": lambda meta, _: "time" if meta.options.time_lookups else "",
    "SAMPLE": lambda meta, _: meta.options.sample,
    "WEIGH": lambda meta, _: "" if meta.options.weigh is None else repr(meta.options.weigh),
    "BUDGET": lambda meta, _: _budget(meta.options),
    "TARED": lambda meta, _: library.find(library.TARED) if meta.options.monitor else "",
}
VARIABLES = (*TOLD, "GROUP", "MONITOR")
# What a user says to it by hand.
OF_USERS = ("SAMPLE_WAIT",)


@dataclass(frozen=True)
class Ending:
    """How the command ended, and when."""

    pid: int
    exit_code: int | None  # None: a signal killed it
    signal: int | None  # the signal that killed it; None: it exited
    start_ns: int  # Unix time at which it was started
    wall_ns: int  # its duration
    ended_ns: int  # CLOCK_MONOTONIC_RAW at its end

    def as_waitpid(self) -> tuple[int, int, int | None]:
        """Process, time, and status as of waitpid: what `_native.collect` takes."""
        status = self.signal if self.signal is not None else (self.exit_code or 0) << 8
        return self.pid, self.ended_ns, status


def environment(meta: Metadata, run_dir: Path, preload: Path) -> dict[str, str]:
    """The caller's environment and the contract with the preload library."""
    inherited = {f"TARE_{name}" for name in VARIABLES}
    result = {name: value for name, value in os.environ.items() if name not in inherited}
    before = os.environ.get("LD_PRELOAD")
    result["LD_PRELOAD"] = f"{preload}:{before}" if before else str(preload)
    said = {name: value(meta, run_dir) for name, value in TOLD.items()}
    result |= {f"TARE_{name}": str(value) for name, value in said.items() if value}
    result |= tared.variables(meta) | sanitizers.variables(result)
    told = [f"TARE_{name}" for name in (*VARIABLES, *OF_USERS)]
    ours = ["LD_PRELOAD", *sanitizers.OPTIONS, *(name for name in told if name in result)]
    return result | open_mpi.handed_on(meta.command, result, ours)


def _collector(meta: Metadata, run_dir: Path) -> str:
    from tare import _native

    return _native.collector([directory.segment_dir(run_dir, meta), run_dir])


def _budget(options: Options) -> str:
    if options.budget is None:
        return ""
    return repr(options.budget) + ("" if options.budget_bytes is None else f",{options.budget_bytes}")


def check_startable(command: Sequence[str]) -> None:
    """Fails as a shell would, before anything is made for the command."""
    program = command[0]
    if programs.find(program):
        return
    is_directory = Path(program).is_dir()
    if is_directory or ("/" in program and Path(program).exists()):
        why = "is a directory" if is_directory else "is not executable (chmod +x?)"
        raise CommandError(f"cannot start {program}: it {why}", NOT_EXECUTABLE)
    raise CommandError(f"cannot start {program}: command not found", NOT_FOUND)


def run(
    command: Sequence[str], variables: Mapping[str, str], held: Iterable[int], modules: Iterable[str] = ()
) -> Ending:
    """Runs `command` on our own standard streams, in our process group, and waits for it.

    All signals are blocked (`signals.hold`); `held` were blocked before, and are so in the command.
    `modules`, which its end needs, are loaded while it runs.
    """
    try:
        witness = signals.Witness()
    except OSError as error:
        raise cannot_begin(error) from error
    try:
        words = sanitizers.words(command)
        early = witness.early()
        start_ns, start = time.time_ns(), time.monotonic_ns()
        child = _start(words, variables, held)
        relay = signals.Relay(child, witness)
        relay.pass_all_on(early)
        for module in modules:
            if relay.has_ended():
                break
            with suppress(ImportError):  # it is told where the module is needed
                import_module(module)
            relay.take_pending()
        code = relay.wait()
        wall_ns = time.monotonic_ns() - start
        ended_ns = raw_clock_ns()
    finally:
        witness.end()
    return Ending(
        child, code if code >= 0 else None, -code if code < 0 else None, start_ns, wall_ns, ended_ns
    )


def cannot_begin(error: OSError) -> CommandError:
    """What is said where what watches a command cannot begin, so that the command is not started."""
    many = error.errno in (errno.EMFILE, errno.ENFILE)
    remedy = "; raise the limit of open files (ulimit -n)" if many else ""
    return CommandError(f"cannot start the command: {error.strerror}{remedy}")


def raw_clock_ns() -> int:
    """The clock that recorded times are compared with."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _start(command: Sequence[str], variables: Mapping[str, str], held: Iterable[int]) -> int:
    try:
        return _spawn(command[0], command, variables, held)
    except OSError as error:
        if error.errno == errno.ENOEXEC:
            # A script without a #! line: shells hand it to sh.
            script = programs.find(command[0]) or command[0]
            return _spawn("/bin/sh", ["/bin/sh", script, *command[1:]], variables, held)
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        raise CommandError(f"cannot start {command[0]}: {error.strerror}", code) from error


def _spawn(program: str, command: Sequence[str], variables: Mapping[str, str], held: Iterable[int]) -> int:
    """Its process id. What Python ignores is as the system has it, and what our caller ignores is ignored."""
    if programs.children_ignored:
        return _fork(program, command, variables, held)
    defaults = (signal.SIGPIPE, signal.SIGXFSZ)
    return os.posix_spawnp(program, list(command), variables, setsigmask=held, setsigdef=defaults)


def _fork(program: str, command: Sequence[str], variables: Mapping[str, str], held: Iterable[int]) -> int:
    """The same, if SIGCHLD is to be ignored, which posix_spawn cannot do."""
    child = os.fork()
    if child:
        return child
    code = NOT_FOUND
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        os.execve(programs.find(program) or program, list(command), variables)
    except OSError as error:
        if error.errno == errno.ENOEXEC:
            with suppress(OSError):
                os.execve("/bin/sh", ["/bin/sh", program, *command[1:]], variables)
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    finally:
        os._exit(code)


def exit_by_signal(number: int) -> int:
    """Ends this process by the signal that ended the command; returns only if it is no fatal one."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return streams.exit_by_signal(number)
