"""Which process ended first, of those whose ends are known."""

from __future__ import annotations

from signal import SIGKILL, SIGSEGV
from types import SimpleNamespace
from typing import Any

from fake_native import Process
from made import made
from tare._native import CurrentCall
from tare.analysis import endings
from tare.analysis.rows import changed


def killed(rank: int, signal: int, after_ns: int) -> Any:
    return made(Process, rank=rank, state="killed", signal=signal, until="end", start_ns=0, wall_ns=after_ns)


def test_of_those_that_a_launcher_ends_none_was_the_first_if_others_are_missing() -> None:
    """A missing rank may have crashed, and the launcher has ended the rest."""
    rest = [killed(0, SIGKILL, 10**9), killed(2, SIGKILL, 2 * 10**9)]
    assert endings.first(rest, others=True) is None
    found = endings.first(rest)
    assert found is not None and [each.rank for each in found.processes] == [0]


def test_who_crashed_may_be_the_first_although_others_are_missing() -> None:
    found = endings.first([killed(0, SIGSEGV, 10**9), killed(2, SIGKILL, 2 * 10**9)], others=True)
    assert found is not None and not found.is_certain
    assert [each.rank for each in found.processes] == [0]


def test_the_last_call_is_that_of_a_thread_that_calls_mpi() -> None:
    """A helper thread waits in a read for ever. Of calls that were only counted, none is known."""
    helper = made(CurrentCall, thread=1, function="read", inside=True, enter_ns=10**9, site=-1)
    left = made(CurrentCall, function="MPI_Barrier", made_mpi_calls=True, enter_ns=2 * 10**9, site=-1)
    run: Any = SimpleNamespace(processes=[killed(0, SIGSEGV, 10**9)], sites=[], current_calls=[helper, left])
    [found] = endings.last_calls(run, run.processes)
    assert (found.function, found.inside) == ("MPI_Barrier", False)
    run.current_calls = [helper]
    assert endings.last_calls(run, run.processes)[0].function == "read"
    run.current_calls = [helper, changed(left, counted_since_ns=10**9)]
    assert endings.last_calls(run, run.processes)[0].function == ""
