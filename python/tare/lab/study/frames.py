"""The results of a set as a table: a row for each run, with its factors and all that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.errors import CommandError
from tare.lab.study.description import MAIN, Description
from tare.lab.study.plan import BY_REFEREE
from tare.lab.study.store import Store

if TYPE_CHECKING:
    import pandas as pd

# What runs of tare say of their own cost: by the account (seconds of a rank) and by the trial (shares).
WEIGHTS = ("account", "account error", "trial", "trial low", "trial high")
# Times that every run has.
TIMES = {
    "net": "net_s",
    "hook": "hook_s",
    "init": "init_s",
    "finalize": "finalize_s",
    "wrap": "wrap_s",
    "overall": "wall_s",
    "net cpu": "net_cpu_s",
    "cpu": "cpu_s",
}
MOST = 1e20  # of any number of a run
KEYS = ("run", "set_name", "block", "cell", "environment")
COUNTS = (
    "events", "events_mean", "events_max", "flushes",
    "flush_s", "flush_max_s", "output_bytes", "output_files", "foreign_share", "load_before", "load_after",
    "max_rss_kib",
)  # fmt: skip


@dataclass(frozen=True)
class Results:
    """The results of a set of runs. Columns of `runs` are factors, times of phases, and values."""

    runs: pd.DataFrame  # runs that count: they ended well, and were not for warming up
    factors: tuple[str, ...]
    varied: tuple[str, ...]  # factors with several levels
    phases: tuple[str, ...]
    values: tuple[str, ...]  # other numbers that programs print

    def responses(self) -> list[str]:
        """Times that can be analysed, the phases' after those of whole runs."""
        own = [
            name for phase in self.phases for name in (f"{phase} wall", f"{phase} cpu") if name in self.runs
        ]
        return [*MAIN, *own]


class NoRuns(CommandError):
    """No run ended well, except to warm up."""


def nothing() -> Results:
    """Results without a run."""
    import pandas as pd

    frame = pd.DataFrame(columns=[*KEYS, *COUNTS, *TIMES]).astype(dict.fromkeys([*COUNTS, *TIMES], float))
    return Results(frame, (), (), (), ())


def load(store: Store, description: Description, set_name: str | None) -> Results:
    """The results of a set, or of all sets if `set_name` is None. NoRuns if there are none."""
    import pandas as pd

    columns = [*KEYS, *COUNTS, *TIMES.values()]
    rows = store.rows(
        f"SELECT factors, {', '.join(columns)} FROM runs WHERE state = 'ok' AND block > 0 "
        "AND (set_name = $1 OR $1 IS NULL) ORDER BY run",
        set_name,
    )
    rows = [row for row in rows if BY_REFEREE not in (row[0] or {})]
    if not rows:
        raise NoRuns("there are no results yet: no run ended well, except to warm up")
    frame = pd.DataFrame([row[1:] for row in rows], columns=columns)
    # A program without MPI has no net time; a column of nothing but None would be no numbers.
    nowhere = [column for column in COUNTS if frame[column].isna().all()]
    frame = frame.astype(dict.fromkeys([*TIMES.values(), *nowhere], float))
    for column in (*COUNTS, *TIMES.values()):
        frame[column] = _possible(frame[column])
    if frame.duplicated(["set_name", "cell", "block"]).any():
        raise CommandError("the results are damaged: a block has two runs of one cell")
    frame = frame.rename(columns={column: name for name, column in TIMES.items()})
    factors = [dict(row[0] or {}) for row in rows]
    if not all("workload" in levels for levels in factors):
        raise CommandError("the results are damaged: a run is of no workload")
    names = list(dict.fromkeys(name for levels in factors for name in levels))
    for name in names:
        frame[f"factor {name}"] = [levels.get(name) for levels in factors]
    phases, values = _measures(store, frame)
    _weights(store, frame)
    varied = [name for name in names if frame[f"factor {name}"].nunique() > 1]
    return Results(frame, tuple(names), tuple(varied), phases, values)


def _possible(numbers: pd.Series[Any]) -> pd.Series[Any]:
    """The numbers that somebody can have measured: others would be infinite in what is computed of them."""
    return numbers.where(numbers.abs() <= MOST)


def _measures(store: Store, frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Adds a column for each number that programs print."""
    rows = store.rows("SELECT run, phase, quantity, value FROM measures ORDER BY rowid")
    columns: dict[str, dict[int, float]] = {}
    phases: dict[str, None] = {}
    values: dict[str, None] = {}
    for run, phase, quantity, value in rows:
        columns.setdefault(f"{phase} {quantity}".strip(), {})[run] = value
        if phase:
            phases[phase] = None
        else:
            values[quantity] = None
    for name, by_run in columns.items():
        if frame["run"].isin(list(by_run)).any():
            frame[name] = _possible(frame["run"].map(by_run).astype(float))
    return tuple(phases), tuple(name for name in values if name in frame)


def _weights(store: Store, frame: pd.DataFrame) -> None:
    by_run = {run: found for run, *found in store.of_set("weights")}
    for at, name in enumerate(WEIGHTS):
        column = {run: found[at] for run, found in by_run.items()}
        frame[name] = _possible(frame["run"].map(column).astype(float))


def newest_set(store: Store) -> str:
    """The name of the set of the last run. CommandError if there are no runs."""
    found = store.rows("SELECT set_name FROM runs ORDER BY run DESC LIMIT 1")
    if not found:
        raise CommandError("there are no results yet")
    return str(found[0][0])
