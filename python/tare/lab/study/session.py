"""`tare study run`: makes the runs that are still missing, one after another, and stores each as it ends."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tare.analysis.intervals import samples_needed
from tare.errors import CommandError, UsageError
from tare.lab.study import analysis, plan, provenance, runner, toolbox
from tare.lab.study.description import Description, summary, with_families
from tare.lab.study.plan import Cell, Planned
from tare.lab.study.provenance import Provenance
from tare.lab.study.referee import runs as weighings
from tare.lab.study.referee import tools as tooling
from tare.lab.study.runner import Outcome
from tare.lab.study.store import Store
from tare.lab.study.toolbox import Tool
from tare.measuring import library

# Variables that differ from one terminal to the next and concern no program.
IDLE_VARIABLES = {
    "_", "SHLVL", "PWD", "OLDPWD", "TERM", "LS_COLORS", "WINDOWID", "COLUMNS", "LINES", "DISPLAY",
    "XDG_SESSION_ID", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_AUTH_SOCK", "TMUX", "TMUX_PANE",
}  # fmt: skip
DEFAULT_SET = "1"
# So much of the time may go into reading whole traces, for single flushes or with other tools' counters.
THOROUGH_SHARE = 0.01


@dataclass
class Progress:
    """The progress of a study."""

    runs: int  # number of runs to make
    done: int = 0  # number of these that are done
    spent_s: dict[str, list[float]] = field(default_factory=dict)  # durations of runs, by key of the cell

    def ended(self, cell: Cell, seconds: float) -> None:
        """Counts a run that has ended."""
        self.done += 1
        self.spent_s.setdefault(cell.key, []).append(seconds)

    def remaining_s(self, left: list[Planned]) -> float | None:
        """The remaining time, judged by the runs that each cell has had, or by all; None before the first."""
        known = [seconds for runs in self.spent_s.values() for seconds in runs]
        if not known:
            return None
        mean = sum(known) / len(known)
        means = {key: sum(runs) / len(runs) for key, runs in self.spent_s.items()}
        return sum(means.get(planned.cell.key, mean) for planned in left)


Report = Callable[[Planned, Outcome, Progress, list[Planned]], None]


@dataclass(frozen=True)
class SessionOptions:
    """The options of the command line."""

    set_name: str = DEFAULT_SET  # name of the set of runs
    resume: bool = False  # continue a set
    until: float | None = None  # repeat until all overheads have this precision
    skip_unusable: bool = False  # leave out tools that cannot be used here


@dataclass(frozen=True)
class Ended:
    """How a session of a study ended."""

    runs: int  # number of runs made
    failed: int  # number of these that failed
    interrupted: bool  # by the user
    lost_share: float | None  # share of the time that was spent neither in runs nor in pauses
    reached: bool | None  # whether the wanted precision was reached; None: none was wanted
    unmatched: list[str]  # patterns that found nothing in the first runs, after which it stopped


def usable_cells(
    description: Description,
    skip_unusable: bool,
    why_not: Callable[[Tool, str | None], str] = toolbox.reason_unusable,
) -> tuple[list[Cell], list[str]]:
    """The cells that can run here, and why the others cannot, by `why_not`."""
    all_cells = plan.cells(description)
    reasons: dict[str, str] = {}
    for cell in all_cells:
        name, family = cell.level("tool"), description.mpis[cell.level("mpi")].family
        if why := why_not(description.tools[name], family):
            reasons[f"{name} with {cell.level('mpi')}"] = why
    if reasons and not skip_unusable:
        name, why = next(iter(reasons.items()))
        raise CommandError(f"{name}: {why}; or leave out what is not usable here with --skip-unusable")
    kept = [cell for cell in all_cells if f"{cell.level('tool')} with {cell.level('mpi')}" not in reasons]
    if not kept:
        raise CommandError("no tool of this study is usable here; see `tare study tools`")
    return kept, [f"{name} is left out: {why}" for name, why in reasons.items()]


def gather_provenance(description: Description, cells: list[Cell], output: Path) -> Provenance:
    """Everything recorded of the environment of these runs."""
    from tare import __version__

    found = provenance.machine() | provenance.file_system(output) | {"software.tare": __version__}
    variables = {name: value for name, value in os.environ.items() if name not in IDLE_VARIABLES}
    found |= provenance.environment(variables)
    for cell in cells:
        started = runner.command(description, cell, Path("output"), None)
        mpi, workload = description.mpis[cell.level("mpi")], description.workloads[cell.level("workload")]
        program = started.words[len(started.words) - len(workload.command)]
        name = f"{workload.name}.{mpi.name}"
        found |= provenance.program(name, [program], started.environment)
        found |= provenance.mpi(mpi.name, mpi.launch[0], started.environment)
        found |= {f"variable.{mpi.name}.{key}": value for key, value in mpi.environment.items()}
        tool = description.tools[cell.level("tool")]
        found |= provenance.tool(tool.name, [*tool.around.preload, *tool.around.before_program[:1]])
    for file in (library.MEASURING, library.FORWARDING, runner.TIMING, tooling.REFEREE):
        found |= provenance.tool("tare", [str(library.find(file))])
    return found


def check_same_environment(store: Store, found: Mapping[str, str], set_name: str) -> None:
    """Results of other programs, tools, MPIs or machines do not belong into the same set."""
    before = store.provenance_of_sets().get(set_name)
    changed = provenance.changed_identity(before, found) if before else []
    if changed:
        name, old, new = changed[0]
        more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        raise UsageError(
            f"{name} has changed since the runs of set '{set_name}': it was {old}, it is {new}{more}; "
            "record the new runs apart with --set NAME, and the report compares the sets"
        )


def check_same_description(store: Store, description: Description, resume: bool) -> None:
    """Stores the description in new results.

    UsageError if there are results already, unless they are resumed.
    """
    if store.described("fingerprint") is None:
        store.describe({"description": description.text, **summary(description)})
        return
    if not resume:
        raise UsageError(
            "this study has results already; continue with --resume, or record them elsewhere with -o DIR"
        )
    store.describe({"description": description.text, **summary(description)})


def run(
    description: Description,
    directory: Path,
    options: SessionOptions,
    report: Report,
    say: Callable[[str], None],
) -> Ended:
    """Runs what is missing, until all is there, the precision is reached, or the user interrupts."""
    description = with_families(description)
    cells, left_out = usable_cells(description, options.skip_unusable)
    for line in left_out:
        say(line)
    for cell in cells:
        runner.prepare(description, cell)
    weighing = weighings.cells(description, cells) if description.referee else []
    place = description.place_of_outputs(directory)
    place.mkdir(parents=True, exist_ok=True)
    found = gather_provenance(description, cells, place)
    with Store(directory, create=True) as store:
        check_same_description(store, description, options.resume)
        check_same_environment(store, found, options.set_name)
        environment = provenance.fingerprint(found)
        store.add_environment(environment, found)
        store.remove_failed(options.set_name)
        return _Session(description, store, place, environment, options, report).run([*cells, *weighing])


def _runs(cells: list[str]) -> str:
    return cells[0] if len(cells) == 1 else f"{len(cells)} runs, as {cells[0]}"


@dataclass
class _Session:
    """The runs of one call of the command."""

    description: Description
    store: Store
    place: Path
    environment: str
    options: SessionOptions
    report: Report
    runs_s: float = 0.0
    pauses_s: float = 0.0
    thorough_s: float = 0.0
    thorough: Counter[str] = field(default_factory=Counter)  # runs that were read whole, by cell
    slow_to_count: set[str] = field(default_factory=set)  # cells whose events another program counts
    failed: int = 0
    unmatched: dict[str, list[str]] = field(default_factory=dict)  # patterns without a match, with the cells

    def run(self, cells: list[Cell]) -> Ended:
        """Ends early, with what there is stored, at Ctrl-C and at SIGTERM, which batch systems send."""
        runner.end_at_sigterm()
        tools = self.description.tools
        self.slow_to_count = {
            cell.key
            for cell in cells
            if not cell.weighed and toolbox.is_slow_to_count(tools[cell.level("tool")])
        }
        begun, started_ns = time.perf_counter(), time.time_ns()
        progress = Progress(0)
        interrupted = False
        reached: bool | None = None
        try:
            for blocks in self._stages():
                self._make(blocks, cells, progress)
                if self.unmatched:
                    break
                if self.options.until is not None and blocks.stop > 1:
                    reached = analysis.is_precise(
                        self.store, self.description, self.options.set_name, self.options.until
                    )
                    if reached:
                        break
        except KeyboardInterrupt:
            interrupted = True
        elapsed_s = time.perf_counter() - begun
        if progress.done:
            self._remember(started_ns, elapsed_s, progress.done)
        busy_s = self.runs_s + self.pauses_s
        lost = max(0.0, 1 - busy_s / elapsed_s) if progress.done else None
        unmatched = [f"{what}, in {_runs(cells)}" for what, cells in self.unmatched.items()]
        return Ended(progress.done, self.failed, interrupted, lost, reached, unmatched)

    def _stages(self) -> Iterator[range]:
        """Blocks that are made without looking at results in between."""
        description = self.description
        first = plan.warmup_blocks(description).start
        if self.options.until is None:
            yield range(first, description.repetitions + 1)
            return
        needed = samples_needed(description.analysis.confidence)
        least = min(needed, description.most_repetitions)
        yield range(first, least + 1)
        for block in range(least + 1, description.most_repetitions + 1):
            yield range(block, block + 1)

    def _make(self, blocks: range, cells: list[Cell], progress: Progress) -> None:
        done = self.store.done(self.options.set_name)
        left = [
            planned
            for planned in plan.order(self.description, cells, blocks)
            if (planned.block, planned.cell.key) not in done
        ]
        progress.runs += len(left)
        # Of each cell there is one run first, so that all that is wrong with the patterns is known at once.
        first = left[0].block if left and not progress.done else None
        while left:
            planned = left.pop(0)
            outcome = self._one(planned, progress, left)
            if planned.block == first:
                for what in outcome.unmatched:
                    self.unmatched.setdefault(what, []).append(planned.cell.key)
            if self.unmatched and (not left or left[0].block != first):
                break

    def _one(self, planned: Planned, progress: Progress, left: list[Planned]) -> Outcome:
        thorough = planned.block > 0 and self._has_time_for(planned.cell)
        with tempfile.TemporaryDirectory(prefix="run-", dir=self.place) as made:
            scratch, output = Path(made) / "run", Path(made) / "output"
            scratch.mkdir()
            output.mkdir()
            if planned.cell.weighed:
                outcome = weighings.run(self.description, planned.cell, scratch, output)
            else:
                outcome = runner.run(self.description, planned.cell, scratch, output, thorough)
            self.runs_s += outcome.wall_s
            if thorough:
                self.thorough_s += outcome.counting_s
                self.thorough[planned.cell.key] += 1
            number = self.store.add_run(planned, self.options.set_name, self.environment, outcome)
            if self.description.keep_output:
                shutil.copytree(output, self.place / f"run-{number}", dirs_exist_ok=True)
        self.failed += outcome.state != "ok"
        progress.ended(planned.cell, outcome.wall_s)
        self.report(planned, outcome, progress, left)
        if self.description.pause_s and left:
            time.sleep(self.description.pause_s)
            self.pauses_s += self.description.pause_s
        return outcome

    def _has_time_for(self, cell: Cell) -> bool:
        """Whether a run of this cell may be read whole; slow ones take turns, or some would have none."""
        behind = min((self.thorough[key] for key in self.slow_to_count), default=0)
        waits = cell.key in self.slow_to_count and self.thorough[cell.key] > behind
        return not waits and self.thorough_s <= THOROUGH_SHARE * self.runs_s

    def _remember(self, started_ns: int, elapsed_s: float, runs: int) -> None:
        self.store.add_session(
            {
                "started": datetime.fromtimestamp(started_ns * 1e-9, UTC).replace(tzinfo=None),
                "set_name": self.options.set_name,
                "elapsed_s": elapsed_s,
                "runs_s": self.runs_s,
                "pauses_s": self.pauses_s,
                "runs": runs,
            }
        )
