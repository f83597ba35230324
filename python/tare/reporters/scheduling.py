"""How the operating system scheduled the ranks, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import rank_numbers, units
from tare.analysis.scheduling import crowd_of, off_processor

if TYPE_CHECKING:
    from tare._native import Process
    from tare.runs.metadata import Metadata

# Smaller shares of the time are usual.
MIN_SHARE = 0.01
DESCHEDULED = "could run, but had no processor"
BLOCKED = "slept, waited in the kernel, or were stopped outside MPI"


def sentence(meta: Metadata, processes: Sequence[Process]) -> str:
    """Which ranks share processors, and for which part of the time they were on none; "" if all is usual."""
    said = []
    if crowd := crowd_of(meta, processes):
        processors = units.number_of(crowd.processors, "processor")
        said.append(f"{rank_numbers.named(crowd.ranks)} share {processors}")
    if off := off_processor(processes):
        said += [
            f"at least {units.percent(share)} of the time the ranks {what}"
            for share, what in ((off.descheduled, DESCHEDULED), (off.blocked, BLOCKED))
            if share >= MIN_SHARE
        ]
    return "; ".join(said)
