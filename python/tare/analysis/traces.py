"""What is missing in the trace of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._native import Trace


def has_newest_alone(trace: Trace) -> bool:
    """Whether it has no begin. If buffers could not be written out any more, it has what was before."""
    return bool(trace.overwritten_bytes) and not trace.kept_newest
