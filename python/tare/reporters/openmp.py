"""POP's efficiencies of MPI and OpenMP together, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.hybrid import HybridEfficiency
    from tare.reporters.console import Console

LABEL_WIDTH = 24


def show(out: Console, found: Sequence[HybridEfficiency]) -> None:
    """Prints the efficiencies of each world, and of each process without MPI; nothing if there are none."""
    for each in found:
        out.line(
            f"{_title(each, several=len(found) > 1)}{units.number_of(each.threads, 'thread')}", bold=True
        )
        for label, text in _lines(each):
            out.line(f"  {label:<{LABEL_WIDTH}}{text}"[: out.width])
    if found:
        out.line()


def sheet(found: Sequence[HybridEfficiency]) -> Sheet:
    """The same as a table, whose figures have their product's name before theirs."""
    several = len(found) > 1
    headings = [Heading("Of", text=True)] * several
    headings += [Heading("Figure", text=True), Heading("Value", text=True)]
    rows = []
    for each in found:
        product = ""
        for label, text in _lines(each):
            is_factor = label.startswith(" ")
            product = product if is_factor else label
            figure = f"{product}: {label.strip()}" if is_factor else label
            of = [_title(each, several=True).removesuffix(": ")] * several
            rows.append([*of, figure, " ".join(text.split())])
    return Sheet(headings, rows)


def _title(of: HybridEfficiency, *, several: bool) -> str:
    if not several:
        return "OpenMP: "
    return f"OpenMP in world {of.world}: " if of.pid is None else f"OpenMP in process {of.pid}: "


def _lines(of: HybridEfficiency) -> Iterator[tuple[str, str]]:
    if of.why_none is not None:
        yield "parallel efficiency", f"{NOTHING:>7}  {of.why_none}"
        return
    if of.pid is None:
        yield (
            "MPI and OpenMP",
            f"{_share(of.parallel_efficiency)}  of the time, threads compute; product of the next two",
        )
        yield "  load balance", _share(of.load_balance)
        yield "  communication", _share(of.communication_efficiency)
        yield (
            "OpenMP alone",
            f"{_share(of.openmp_parallel_efficiency)}  the same divided by the efficiencies of MPI",
        )
    else:
        yield "parallel efficiency", f"{_share(of.parallel_efficiency)}  product of the next two"
    yield "  load balance", _share(of.openmp_load_balance)
    yield "  communication", _share(of.openmp_communication_efficiency)


def _share(share: float | None) -> str:
    return f"{units.percent(share):>7}" if share is not None else f"{NOTHING:>7}"
