"""What a run with a budget kept, in words: lines of the account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tare import units

if TYPE_CHECKING:
    from tare.analysis.budget import Kept

NO_SHARE = "too few spells were measured to estimate what the calls took that were only counted"
ALL = 0.9995  # of the time: shown as 100.0 %


def lines(kept: Kept, base: str) -> Iterator[tuple[str, str]]:
    """Label and text of each line; `base`: what shares are of."""
    yield "budget", _spent(kept, base) + ("" if kept.is_kept else ": MORE THAN THAT")
    if not kept.is_possible:
        yield "too little", f"only to count all calls takes {100 * kept.counting:.2f} % of {base}"
    yield "kept", _kept(kept)
    if kept.cut_spells:
        of = f"{kept.cut_spells:,} of {units.number_of(kept.spells, 'spell')}"
        yield "cut", f"{of} cost more than those before, or had no end"
    if kept.longest_sample_ns > 1.5 * kept.sample_ns:
        asked, longest = units.duration(kept.sample_ns), units.duration(kept.longest_sample_ns)
        yield "samples", f"of stacks at intervals of up to {longest} instead of {asked}"
    if kept.whole_trace is not None and (kept.traced_share or 0) < ALL:
        yield "given up", f"a trace of all calls: {100 * kept.whole_trace:.1f} % of {base}"


def _spent(kept: Kept, base: str) -> str:
    text = f"{_percent(kept.share)} of {base}, {100 * kept.cost:.2f} % spent"
    if kept.lost is not None:
        text += " (by trial)"
    if kept.bytes is not None:
        text += f"; {units.size(kept.bytes)}, {units.size(kept.spent_bytes)} spent"
    return text


def _kept(kept: Kept) -> str:
    if kept.traced_share is None or kept.measured_share is None:
        return "pieces only: the ranks never passed together (docs/budget.md)"
    text = (
        f"trace {100 * kept.traced_share:.1f} % of the time, "
        f"{kept.traced_spells:,} of {units.number_of(kept.spells, 'spell')}"
    )
    profile = "all of it" if kept.measured_share >= ALL else f"{100 * kept.measured_share:.1f} %"
    return f"{text}; profile {profile}"


def _percent(share: float) -> str:
    return f"{100 * share:g} %"
