"""What was done to the times of a run, in sentences that have both: the times shown, and those recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare import units

if TYPE_CHECKING:
    from tare._native import ClockCorrection, Compensation, Violations
    from tare.runs.retiming import Retimed


def sentences(of: Retimed | None) -> list[str]:
    """None for times as recorded."""
    if of is None:
        return []
    found = [_corrected(of.correction)]
    if of.compensation is not None:
        found.append(_compensated(of.compensation))
    return found


def violated(rows: list[Violations]) -> str:
    """How many calls the clocks contradict, and by how much."""
    messages, collectives = (sum(getattr(row, what) for row in rows) for what in ("messages", "collectives"))
    what = [units.number_of(messages, "message")] if messages else []
    if collectives:
        what.append(f"{units.number_of(collectives, 'part')} in collectives")
    worst = max(rows, key=lambda row: row.most_ns)
    return (
        f"{' and '.join(what)} ended before the other rank began, by the clocks; "
        f"that of rank {worst.rank} is behind that of rank {worst.other_rank} by at least "
        f"{units.duration(worst.most_ns)}"
    )


def _corrected(of: ClockCorrection) -> str:
    if not of.violations:
        return "Clocks: no message was received before it was sent; nothing was corrected."
    moved = units.duration(of.max_moved_ns)
    left = f" {of.remaining:,} are left." if of.remaining else ""
    return f"Clocks are corrected, by at most {moved}: {violated(of.violations)}.{left}"


def _compensated(of: Compensation) -> str:
    flushes, wrappers = units.duration(of.flush_ns), units.duration(of.wrapper_ns)
    return (
        f"Measuring is taken out of all times: {flushes} of flushes and {wrappers} of wrappers, of all "
        f"threads together. As recorded, the trace ends {units.duration(of.earlier_ns)} later."
    )
