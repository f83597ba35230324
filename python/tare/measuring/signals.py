"""Signals to `tare run` have the effect that they would have on the command alone.

All signals are blocked from before the run directory is made, and are taken one by one while the command
runs. Those that were sent to `tare run` alone go to the command; what was sent to its process group, as by
terminals, the command has already. A witness in the group tells which (src/witness/signal_witness.c). If the
command stops, so does `tare run`. Once it has ended, they only end the waiting for rounds that are still to
come (tared.py).
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tare.measuring import library

ALL = signal.valid_signals()
# SIGSTOP cannot be blocked: it stops `tare run`, and the command goes on.
STOPPING = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
# Where the kernel generates one of the latter, it discards the former, if it is pending. The witness may
# then know of one of them alone.
OVERTAKEN_BY: dict[int, set[signal.Signals]] = {
    signal.SIGCONT: STOPPING,
    **{each: {signal.SIGCONT} for each in STOPPING},
}
# What the kernel sends to whole process groups; the witness knows more, but it may be missing.
TO_GROUPS = STOPPING | {signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGCONT, signal.SIGWINCH}
FROM_KERNEL = 0x80  # si_code: SI_KERNEL
NO_PROCESS_GROUP = 2**31 - 1  # no process has so high a number
SIGNALS = 64  # as in signal_witness.c
ANSWERS_WITHIN_S = 0.1
# If the command stops later, it was somebody else who stopped it, and who will not tell us when it goes on.
STOPS_WITHIN_S = 10.0


def hold() -> set[int]:
    """Blocks all signals, until this process ends. The signals that were blocked before."""
    return signal.pthread_sigmask(signal.SIG_BLOCK, ALL)


def let_stop() -> None:
    """Lets signals stop tare again, after the command has ended; the others wait until they are taken."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def pending() -> Iterator[signal.struct_siginfo]:
    """Takes what is there."""
    while info := signal.sigtimedwait(ALL, 0):
        yield info


class Witness:
    """A process of our process group that tells what was sent to the whole group; as good as it goes."""

    def __init__(self) -> None:
        self._pid: int | None = None
        question, self._ask = os.pipe()
        self._answer, answer = os.pipe()
        try:
            self._pid = os.posix_spawn(
                library.find(library.WITNESS),
                [library.WITNESS],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, question, 0),
                    (os.POSIX_SPAWN_DUP2, answer, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
            )
        except OSError:
            pass
        finally:
            os.close(question)
            os.close(answer)

    def came(self) -> Counter[int] | None:
        """How often each signal was sent to the group since this was asked last; None: nobody knows.

        What it tells has arrived here, too, and what has arrived here it tells.
        """
        if self._pid is None:
            return None
        _wait_for_senders()
        try:
            os.write(self._ask, b"?")
            while not select.select([self._answer], [], [], ANSWERS_WITHIN_S)[0]:
                os.kill(self._pid, signal.SIGCONT)  # it was stopped with the group
            answer = os.read(self._answer, SIGNALS)
        except OSError:
            answer = b""
        if len(answer) < SIGNALS:
            self.end()
            return None
        _wait_for_senders()
        return Counter({number: times for number, times in enumerate(answer, 1) if times})

    def early(self) -> list[signal.struct_siginfo]:
        """Takes what has come until now. To be asked right before the command starts: it got none of this.

        What comes to the group after it, until the command is there, counts as sent to the command, too.
        """
        infos = list(pending())
        self.came()
        return infos

    def end(self) -> None:
        """Ends the process."""
        if self._pid is None:
            return
        os.close(self._ask)
        os.close(self._answer)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        self._pid = None


def _wait_for_senders() -> None:
    """A signal to a process group reaches its members one by one: until all have those that are on their way.

    Senders hold a lock of the kernel meanwhile, for which changes of groups wait, also those that fail.
    """
    with suppress(OSError):
        os.setpgid(0, NO_PROCESS_GROUP)


class Relay:
    """Passes signals on to the command, and stops with it."""

    def __init__(self, child: int, witness: Witness) -> None:
        self._child = child
        self._witness = witness
        self._stops_until_s = 0.0  # we were told to stop, and not to go on since: until then with the command
        self._has_stopped = 0  # the signal that has stopped the command; 0: it goes on

    def pass_all_on(self, early: Sequence[signal.struct_siginfo]) -> None:
        """What came before the command was there (`Witness.early`), whoever else it was sent to."""
        for info in early:
            self._pass_on(info, Counter())

    def take_pending(self) -> None:
        """Passes on what is there."""
        for info in pending():
            self._take(info)
        self._stop_with_it()

    def wait(self) -> int:
        """Waits for its end; returns its exit code, or minus the signal that ended it.

        Signals that came before its end was seen were for the command. Later ones stay pending.
        """
        while not self.has_ended():
            self._take(signal.sigwaitinfo(ALL))
            self._stop_with_it()
        for _ in pending():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])

    def has_ended(self) -> bool:
        """Whether the command has ended. It stays a zombie, so its process id is not used again."""
        return os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _take(self, first: signal.struct_siginfo) -> None:
        """Takes the signal and those that follow quickly, until all that the witness has told have come."""
        infos = [info for info in [first] if not _is_our_own(info)]
        came: Counter[int] | None = Counter()
        while infos:
            more = self._witness.came()
            came = None if came is None or more is None else came + more
            for later, info in enumerate(infos, 1):
                since = signal.sigpending() | {each.si_signo for each in infos[later:]}
                if since.isdisjoint(OVERTAKEN_BY.get(info.si_signo, set())):
                    self._pass_on(info, came)
            infos = [info for info in pending() if not _is_our_own(info)]

    def _pass_on(self, info: signal.struct_siginfo, came: Counter[int] | None) -> None:
        number = info.si_signo
        if _is_our_own(info):
            return
        if number in STOPPING:
            self._stops_until_s = time.monotonic() + STOPS_WITHIN_S
        elif number == signal.SIGCONT:
            self._stops_until_s = 0.0
        if not self._has_got(info, came):
            with suppress(ProcessLookupError, PermissionError):  # of sudo, nobody but root may
                os.kill(self._child, number)

    def _has_got(self, info: signal.struct_siginfo, came: Counter[int] | None) -> bool:
        """Whether the signal was sent to the command as well."""
        number = info.si_signo
        if os.getpgid(self._child) != os.getpgrp():
            return False
        if came is None:
            return info.si_code == FROM_KERNEL and number in TO_GROUPS
        if not came[number]:
            return False
        if number >= signal.SIGRTMIN:  # each of these is kept; of others one stands for many
            came[number] -= 1
        return True

    def _stop_with_it(self) -> None:
        """Stops if the command stopped when we were told to stop, so that our parent learns it."""
        changes = os.WSTOPPED | os.WCONTINUED | os.WNOHANG
        with suppress(ChildProcessError):  # it has ended
            while change := os.waitid(os.P_PID, self._child, changes):
                self._has_stopped = change.si_status if change.si_code == os.CLD_STOPPED else 0
        if not self._has_stopped or time.monotonic() > self._stops_until_s:
            return
        self._stops_until_s = 0.0
        if self._has_stopped in STOPPING:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [self._has_stopped])
            os.kill(os.getpid(), self._has_stopped)
            signal.pthread_sigmask(signal.SIG_BLOCK, [self._has_stopped])
        else:
            os.kill(os.getpid(), signal.SIGSTOP)


def _is_our_own(info: signal.struct_siginfo) -> bool:
    """It is about our own doing: writing, time of the processor, and the ends and stops of children."""
    if info.si_signo == signal.SIGCHLD:
        return info.si_code > 0
    return info.si_pid == os.getpid() or (info.si_signo == signal.SIGXCPU and info.si_code == FROM_KERNEL)
