"""Results of two systems, whose effects are known because they are made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import PROGRAM, add_runs, described, outcome, rows_of
from tare.errors import CommandError
from tare.lab.study.assembly import report
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import NotSignificant, Table
from tare.lab.study.stated import Weight
from tare.lab.study.store import Store

STUDY = (
    PROGRAM
    + """
[factors]
tool = ["none", "mine"]
buffer = ["1M", "8M"]
write = [true, false]
[tool.mine]
parameter.buffer = { default = "1M", environment = { BUFFER = "{value}" } }
parameter.write = { default = "true", level = { true = {}, false = {} } }
[analysis]
responses = ["net"]
"""
)
BLOCKS = 8
CELLS = 5
SECTION = "The system as a factor"
Seconds = Callable[[Cell], float]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return described(tmp_path, STUDY)


def stored(file: Path, directory: Path, seconds: Seconds, set_name: str = "1") -> Path:
    """Runs of 10 s, and as much longer as `seconds` says; 1 ms more and less in turn."""
    machine = f"of {directory.name}"

    def run_of(block: int, cell: Cell) -> Outcome:
        net_s = 10 + seconds(cell) + 0.001 * (-1) ** block
        return outcome(round(net_s * 1e9), Weight(0.1, 0.01) if cell.level("tool") == "mine" else None)

    with Store(directory, create=True) as store:
        store.add_environment(machine, {"machine.host": directory.name})
        add_runs(store, file, range(1, BLOCKS + 1), run_of, set_name, machine)
        store.add_session(
            {"set_name": set_name, "elapsed_s": 10.0, "runs_s": 9.0, "pauses_s": 0.0, "runs": CELLS * BLOCKS}
        )
    return directory


def writing(seconds: float) -> Seconds:
    return lambda cell: seconds if cell.by_factor["write"] == "true" else 0.0


def join(into: Path, other: Path, name: str, theirs: str | None = None) -> tuple[str, int]:
    with Store(into, create=True, other=other) as store:
        return store.join(theirs, name)


def tables(file: Path, directory: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The tables of the section: by table and factor, the share by column."""
    made = report(file, directory, "1", with_figures=False)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for section in made.sections:
        for part in section.parts if section.title == SECTION else ():
            assert isinstance(part, Table)
            found[part.title] = {str(next(iter(row.values()))): row for row in rows_of(part)}
    return found


def test_what_the_system_explains_alone_and_with_others_is_found(file: Path, tmp_path: Path) -> None:
    """There, the whole run takes 3 s more with 8M: as with the paper's larger buffer."""
    here = stored(file, tmp_path / "here", writing(1.0))

    def there(cell: Cell) -> float:
        return writing(1.0)(cell) + (3.0 if cell.by_factor["buffer"] == "8M" else 0.0)

    assert join(here, stored(file, tmp_path / "there", there), "there") == ("1", CELLS * BLOCKS)
    found = tables(file, here)
    shares = {factor: row["net"] for factor, row in found["app, mine"].items()}
    # Effects are half the distance of two means: 0.75 s of the system, the buffer and both; 0.5 s of writing.
    large, small = 0.75**2, 0.5**2
    total = 3 * large + small
    for factor in ("system", "buffer", "system:buffer"):
        assert shares[factor] == pytest.approx(large / total, abs=1e-4)
    assert shares["write"] == pytest.approx(small / total, abs=1e-4)
    for nothing in ("system:write", "buffer:write", "system:buffer:write"):
        assert isinstance(shares[nothing], NotSignificant)

    # The paper's table 4: with the smaller buffer writing is all, with the larger nearly all is the system.
    by_buffer = found["app, mine, at each buffer"]
    assert set(by_buffer) == {"system", "write", "system:write", "residuals"}
    assert by_buffer["write"]["net, 1M"] == pytest.approx(1, abs=1e-4)
    assert isinstance(by_buffer["system"]["net, 1M"], NotSignificant)
    assert by_buffer["system"]["net, 8M"] == pytest.approx(1.5**2 / (1.5**2 + 0.5**2), abs=1e-4)
    assert by_buffer["write"]["net, 8M"] == pytest.approx(0.5**2 / (1.5**2 + 0.5**2), abs=1e-4)


def test_a_system_that_changes_nothing_explains_nothing(file: Path, tmp_path: Path) -> None:
    here = stored(file, tmp_path / "here", writing(2.0))
    join(here, stored(file, tmp_path / "there", writing(2.0)), "there")
    found = tables(file, here)
    for table in ("app, mine", "app"):
        assert isinstance(found[table]["system"]["net"], NotSignificant)


def test_one_set_has_no_system(file: Path, tmp_path: Path) -> None:
    assert tables(file, stored(file, tmp_path / "here", writing(1.0))) == {}


def test_all_that_belongs_to_the_runs_comes_along(file: Path, tmp_path: Path) -> None:
    here = stored(file, tmp_path / "here", writing(1.0))
    join(here, stored(file, tmp_path / "there", writing(2.0), "its own"), "there")
    with Store(here) as store:
        assert store.provenance_of_sets()["there"] == {"machine.host": "there"}
        apart = store.rows("SELECT count(*) FROM runs r JOIN ranks k USING (run) WHERE r.net_s <> k.net_s")
        assert apart == [(0,)], "rows of ranks stay with their runs"
        by_set = "SELECT set_name, count(*), count(DISTINCT run) FROM runs JOIN ranks USING (run) GROUP BY 1"
        count = CELLS * BLOCKS
        assert store.rows(f"{by_set} ORDER BY 1") == [("1", count, count), ("there", count, count)]
        assert len(store.of_set("weights")) == 2 * (CELLS - 1) * BLOCKS
        assert store.rows("SELECT set_name FROM sessions ORDER BY 1") == [("1",), ("there",)]


def test_of_several_sets_the_newest_or_the_named_one_is_joined(file: Path, tmp_path: Path) -> None:
    here = stored(file, tmp_path / "here", writing(1.0))
    there = stored(file, tmp_path / "there", writing(1.0), "old")
    stored(file, there, writing(2.0), "new")
    assert join(here, there, "a")[0] == "new"
    assert join(here, there, "b", "old")[0] == "old"
    with pytest.raises(CommandError, match="no set 'older', but old, new"):
        join(here, there, "c", "older")


def test_what_cannot_be_joined_is_refused_and_changes_nothing(file: Path, tmp_path: Path) -> None:
    here = stored(file, tmp_path / "here", writing(1.0))
    there = stored(file, tmp_path / "there", writing(1.0))
    with pytest.raises(CommandError, match="there is a set '1' already"):
        join(here, there, "1")
    with pytest.raises(CommandError, match="holds no results"):
        join(here, tmp_path / "nowhere", "there")
    file.write_text(STUDY.replace("workload.app", "workload.other"))
    other = stored(file, tmp_path / "other", writing(1.0))
    with pytest.raises(CommandError, match="no combination"):
        join(here, other, "there")
    with Store(here) as store:
        assert store.rows("SELECT DISTINCT set_name FROM runs") == [("1",)]
    assert join(here, there, "there")[1] == CELLS * BLOCKS
