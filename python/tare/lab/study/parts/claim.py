"""What instrumentation and writing grow with: the central claim of Mohror and Karavanic, judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.analysis.intervals import Interval, samples_needed
from tare.lab.study import statistics
from tare.lab.study.analysis import Analysis, Split
from tare.lab.study.description import INSTRUMENTATION, VARIABLE, WRITING
from tare.lab.study.sections import COUNT, SECONDS, Section, Table, columns

if TYPE_CHECKING:
    import pandas as pd

RANKS, EVENTS = "ranks", "events"
STEPS = {RANKS: "doubling of the ranks", EVENTS: "million events of a rank"}
GROWS, CONSTANT, UNKNOWN = "grows", "does not grow", "not determined"
# "We found that the overhead of instrumentation scaled with the event counts. However, we found that the
# overhead of writing the trace buffer scaled with the number of processors" (section 6).
CLAIMS = (
    ("writing grows with the number of processes", WRITING, RANKS),
    ("instrumentation grows with the number of events", INSTRUMENTATION, EVENTS),
)
WORDS = {GROWS: "confirmed", CONSTANT: "refuted", UNKNOWN: UNKNOWN}


@dataclass(frozen=True)
class Growth:
    """How much longer a part takes, for each doubling of the ranks or each further million events."""

    runs: str  # which runs, in words
    part: str  # the part of the overhead
    over: str  # what grows: ranks or events
    slope: Interval  # seconds
    verdict: str  # in words


def growth(analysis: Analysis) -> Section | None:
    """How overhead grows with ranks and with events, as Mohror and Karavanic claim;

    None if neither varies.
    """
    splits = list(analysis.splits())
    found = [
        *_over(analysis, splits, RANKS, _doublings, fixed_but=("ranks",)),
        *_over(analysis, splits, EVENTS, _millions, fixed_but=("ranks", "workload")),
    ]
    if not found:
        return None
    needed = samples_needed(analysis.confidence)
    bound = f"{100 * analysis.bound:g} %"
    claims = Table(
        "The claim of Mohror and Karavanic",
        columns("claim", "result", ("confirmed by", COUNT), ("refuted by", COUNT), ("not determined", COUNT)),
        [_judged(claim, (one for one in found if [one.part, one.over] == of)) for claim, *of in CLAIMS],
        "By each combination of the other levels below. Where some confirm it and others refute it, it is "
        f"not determined.{_crowded(analysis, splits)}",
    )  # fmt: skip
    slopes = Table(
        "Growth of the parts",
        columns(
            "runs", "part", "for each", ("more", SECONDS), ("interval", SECONDS), "verdict", ("blocks", COUNT)
        ),
        [
            [
                one.runs, one.part, STEPS[one.over], one.slope.median, (one.slope.low, one.slope.high),
                one.verdict, one.slope.count,
            ]
            for one in found
        ],
        "Least squares within each block, of net time; median of the blocks, with the interval of "
        f"{100 * analysis.confidence:g} % between order statistics. It grows if the interval is above 0. "
        f"It does not grow if the interval shows less than {bound} of the bare time, over the range studied. "
        f"Fewer than {needed} blocks determine nothing.",
    )  # fmt: skip
    return Section("What instrumentation and writing grow with", parts=[claims, slopes])


def _over(
    analysis: Analysis,
    splits: Sequence[Split],
    over: str,
    place: Callable[[Split], float],
    fixed_but: tuple[str, ...],
) -> Iterator[Growth]:
    """The growth over splits that differ in the factors `fixed_but` alone."""
    for label, group in grouped(splits, lambda split: _label(analysis, split, fixed_but)).items():
        known = [split for split in group if math.isfinite(place(split))]
        places = [place(split) for split in known]
        if len(set(places)) < 2:
            continue
        bare_s = sum(float(split.pair.bare["net"].median()) for split in known) / len(known)
        bound = analysis.bound * bare_s / (max(places) - min(places))
        for part in (INSTRUMENTATION, WRITING):
            slope = analysis.interval(_slopes(places, [split.part(part, "net") for split in known]))
            yield Growth(label, part, over, slope, verdict(slope, bound, analysis.confidence))


def _label(analysis: Analysis, split: Split, but: tuple[str, ...]) -> str:
    varied = set(analysis.results.varied) | {"tool"}
    return " ".join(
        level if name in ("workload", "tool") else f"{name.removeprefix(VARIABLE)}={level}"
        for name, level in split.pair.cell.levels
        if level is not None and name in varied and name not in but and name != "write"
    )


def _doublings(split: Split) -> float:
    return math.log2(int(split.pair.cell.level("ranks")))


def _millions(split: Split) -> float:
    return float(split.pair.ours["events_max"].median()) / 1e6


def _slopes(places: Sequence[float], parts: Sequence[pd.Series[float]]) -> list[float]:
    """The slope of each block that has all parts."""
    import pandas as pd

    together = pd.concat(list(parts), axis=1, join="inner").dropna()
    return [statistics.slope(places, list(values)) for values in together.to_numpy()]


def verdict(slope: Interval, bound: float, confidence: float) -> str:
    """`bound`: the slope that is too small to count."""
    if not slope.is_confident(confidence):
        return UNKNOWN
    if slope.low > 0:
        return GROWS
    return CONSTANT if slope.high < bound else UNKNOWN


def _judged(claim: str, found: Iterable[Growth]) -> list[object]:
    verdicts = [one.verdict for one in found]
    counts = [verdicts.count(each) for each in (GROWS, CONSTANT, UNKNOWN)]
    grows, constant, _ = counts
    result = UNKNOWN if bool(grows) == bool(constant) else GROWS if grows else CONSTANT
    return [claim, WORDS[result], *counts]


def _crowded(analysis: Analysis, splits: Iterable[Split]) -> str:
    facts = analysis.store.provenance_of_sets().get(analysis.set_name, {})
    processors = facts.get("machine.processors", "")
    most = max((int(split.pair.cell.level("ranks")) for split in splits), default=0)
    if not processors.isdigit() or most <= int(processors):
        return ""
    return f" Up to {most} ranks share {processors} processors: then what each rank spends delays the others."
