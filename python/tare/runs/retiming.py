"""The times in which a traced run is shown: as recorded, or without what is known to be wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._native import ClockCorrection, Compensation
    from tare._native import Run as NativeRun


class Times(StrEnum):
    """docs/analyses.md defines the last two; the third includes the second."""

    RECORDED = "recorded"
    CORRECTED = "corrected"
    COMPENSATED = "compensated"


@dataclass(frozen=True)
class Retimed:
    """What was done to the times of a run."""

    correction: ClockCorrection
    compensation: Compensation | None = None

    @property
    def warnings(self) -> list[str]:
        """What could not be read or matched."""
        more = self.compensation.warnings if self.compensation else []
        return list(dict.fromkeys([*self.correction.warnings, *more]))


def retime(run: NativeRun, times: Times) -> Retimed | None:
    """Gives the run's events these times from now on. Reads the trace, twice at least; None: as recorded."""
    if times is Times.RECORDED:
        return None
    correction = run.correct_clocks()
    return Retimed(correction, run.compensate() if times is Times.COMPENSATED else None)
