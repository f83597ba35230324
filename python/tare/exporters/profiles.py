"""The profile by call path, for programs that draw flame graphs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import NOTHING_MEASURED, CommandError
from tare.exporters import Exporter, Part

if TYPE_CHECKING:
    from tare.runs.run import Run


def _write(run: Run, to: Path, part: Part, *, is_folded: bool) -> str:
    from tare.analysis.profile import Chosen
    from tare.reporters import stacks

    if not run.processes:
        raise CommandError(NOTHING_MEASURED)
    found = stacks.of_run(run, Chosen(ranks=frozenset(part.ranks or ())))
    if is_folded:
        stacks.write_folded(found, to)
    else:
        stacks.write_speedscope(found, to, run.run_dir.resolve().name)
    return f"{sum(len(of.paths) for of in found):,} call paths"


FOLDED = Exporter(".folded", partial(_write, is_folded=True), ["rank"])
SPEEDSCOPE = Exporter(".speedscope.json", partial(_write, is_folded=False), ["rank"])
