"""Whether ranks of a run that goes on hang; not looked for often, as a look reads what every rank has."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.where import look_twice
from tare.errors import TareError
from tare.monitor import hangs
from tare.monitor.hangs import Hang
from tare.monitor.live import Live
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare.analysis.where import Look

LOOK_EVERY_S = 2.0
# If other nodes have to be asked, which copy what they know into the run directory.
ASK_EVERY_S = 30.0


class Hanging:
    """Follows `live`, which somebody else updates.

    `has_sources`: there are other sources of events than MPI, so that a rank that hangs may not fall silent:
    its other threads go on.
    """

    def __init__(self, run: Path, live: Live, *, has_sources: bool = False) -> None:
        self._run = run
        self._live = live
        self._has_sources = has_sources
        self._rounds = live.rounds
        self._heard = self._looked = time.monotonic()
        self._look: Look | None = None
        self._silent: list[str] = []  # who has not answered, and is not waited for again
        self._every_s = LOOK_EVERY_S

    def verdict(self, limit_ns: int) -> Hang | None:
        """The hang of ranks that say nothing for so long; takes a second if some are silent."""
        now = time.monotonic()
        if self._live.rounds != self._rounds:
            self._rounds, self._heard = self._live.rounds, now
        all_silent_ns = round((now - self._heard) * NS_PER_S)  # if none has come, since it is watched
        is_silent = self._live.has_silent or all_silent_ns > LOOK_EVERY_S * NS_PER_S
        if not (is_silent or self._has_sources):
            self._look = None
            return None
        if self._look is None or now - self._looked >= self._every_s:
            with suppress(TareError, OSError):
                recording, self._look = look_twice(self._run, None, self._silent)
                if recording.answers is not None:
                    self._silent, self._every_s = recording.answers.silent, ASK_EVERY_S
            self._looked = time.monotonic()
        if self._look is None:
            return None
        ranks = {row.rank for row in self._look.rows if row.world == 0}
        since = {rank: time_ns for rank in ranks if (time_ns := self._live.silent_since(rank)) is not None}
        silent_ns = {rank: max(time.time_ns() - time_ns, 0) for rank, time_ns in since.items()}
        return hangs.verdict(self._look, silent_ns, all_silent_ns, limit_ns)
