"""The section that judges a study by what is known beforehand, of runs that are made up."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT
from made_up_runs import described, outcome, rows_of, sections, stored
from tare import cli
from tare.errors import CommandError, UsageError
from tare.lab.study import description, plan
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Section, Table

STUDY = ROOT / "studies" / "known-truth.toml"
BLOCKS, BARE_S = 10, 0.01
FLUSHES_S = {"2500": 0.2, "5000": 0.1}
Cost = Callable[[Cell], float]


def right(cell: Cell) -> float:
    """What the study's tool takes by construction."""
    if cell.level("tool") == "none":
        return 0.0
    writing = FLUSHES_S[cell.level("buffer")] if cell.by_factor.get("write") == "true" else 0.0
    return 0.1 + writing


def judged(tmp_path: Path, cost: Cost, *, blocks: int = BLOCKS, spread_s: float = 1e-4) -> Section:
    """The section of runs of the ready-made study, which vary by `spread_s` at most on either side."""
    places = {cell.key: place for place, cell in enumerate(plan.cells(description.read(STUDY)))}

    def run_of(block: int, cell: Cell) -> Outcome:
        vary_s = spread_s * ((7 * block + 3 * places[cell.key]) % 5 - 2) / 2
        took_s = BARE_S + cost(cell) + vary_s
        measures = [("send", "wall", "s", took_s), ("send", "cpu", "s", took_s)]
        return replace(outcome(round(1e9 * took_s), None), measures=measures)

    tmp_path.mkdir(exist_ok=True)
    path = stored(described(tmp_path, STUDY.read_text()), range(1, blocks + 1), run_of)
    (section,) = sections(path, "The known truth")
    return section


def rows(section: Section) -> list[dict[str, Any]]:
    return [row for part in section.parts if isinstance(part, Table) for row in rows_of(part)]


def verdicts(section: Section) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows(section):
        found.setdefault(row.get("part") or row["factor"], set()).add(row["verdict"])
    return found


def test_what_is_found_is_said_to_be(tmp_path: Path) -> None:
    section = judged(tmp_path, right)
    assert {part: verdict for part, (verdict,) in verdicts(section).items()} == dict.fromkeys(
        ("instrumentation", "writing", "write", "buffer", "write:buffer"), "found"
    )
    assert section.about == "Of 7 numbers that are known, 7 are found"
    assert {row["truth"] for row in rows(section) if row.get("part") == "writing"} == {0.1, 0.2}
    shares = {row["factor"]: row["measured"] for row in rows(section) if "factor" in row}
    assert shares["write"] == pytest.approx(0.818, abs=0.005)


def test_a_method_that_is_off_is_caught(tmp_path: Path) -> None:
    """Writing that costs a tenth too much, or not at all what it should by buffer."""
    off = verdicts(judged(tmp_path / "off", lambda cell: right(cell) + 0.1 * max(right(cell) - 0.1, 0)))
    assert off["writing"] == {"not found"}
    assert off["instrumentation"] == {"found"}
    flat = judged(
        tmp_path / "flat", lambda cell: right(cell) and 0.1 + 0.15 * (cell.level("write") == "true")
    )
    found = verdicts(flat)
    assert found["writing"] == found["write"] == found["buffer"] == {"not found"}
    assert "5 are not found" in flat.about


def test_noise_and_few_blocks_decide_nothing(tmp_path: Path) -> None:
    noisy = verdicts(judged(tmp_path / "noisy", right, spread_s=0.02))
    assert noisy["instrumentation"] == noisy["writing"] == {"not decided"}
    few = verdicts(judged(tmp_path / "few", right, blocks=5))
    assert few["instrumentation"] == few["writing"] == {"not decided"}


NOT_MEASURED = "not measured"
Change = Callable[[Cell, Outcome], Outcome]


def changed(tmp_path: Path, change: Change, text: str = "") -> Path:
    """The ready-made study, or another with the same runs, some of which `change` makes others."""

    def run_of(block: int, cell: Cell) -> Outcome:
        took_s = BARE_S + right(cell) + 1e-4 * (7 * block % 5 - 2) / 2
        measures = [("send", "wall", "s", took_s), ("send", "cpu", "s", took_s)]
        return change(cell, replace(outcome(round(1e9 * took_s), None), measures=measures))

    return stored(described(tmp_path, text or STUDY.read_text()), range(1, BLOCKS + 1), run_of)


def failed(outcome: Outcome) -> Outcome:
    return replace(outcome, state="failed", measures=[])


def nothing_of(row: dict[str, Any]) -> bool:
    """Whether the row has no number that would be one of runs."""
    return (row["measured"], row.get("interval"), row.get("off by"), row.get("blocks", 0)) == (None,) * 3 + (
        0,
    )


def test_what_no_run_shows_is_not_measured(tmp_path: Path) -> None:
    """The description may be younger than the results, and have a time that they lack."""
    path = changed(tmp_path, lambda _, run: replace(run, measures=[]))
    (section,) = sections(path, "The known truth")
    assert section.about == "Of 7 numbers that are known, 0 are found, 7 are not measured"
    assert set().union(*verdicts(section).values()) == {NOT_MEASURED}
    assert all(nothing_of(row) for row in rows(section))
    assert [row["truth"] for row in rows(section)] == [0.1, 0.1, 0.2, 0.1, 0.818, 0.091, 0.091]


def test_what_failed_is_not_measured_and_the_rest_is(tmp_path: Path) -> None:
    def without_large(cell: Cell, run: Outcome) -> Outcome:
        return failed(run) if cell.by_factor["buffer"] == "5000" else run

    (section,) = sections(changed(tmp_path, without_large), "The known truth")
    parts = {(row["part"], row["run"]): row["verdict"] for row in rows(section) if "part" in row}
    assert parts == {
        ("instrumentation", "known write=true"): "found",
        ("instrumentation", "known write=true buffer=5000"): NOT_MEASURED,
        ("writing", "known write=true"): "found",
        ("writing", "known write=true buffer=5000"): NOT_MEASURED,
    }
    # A share of fewer levels is another.
    shares = [row for row in rows(section) if "factor" in row]
    assert [row["verdict"] for row in shares] == [NOT_MEASURED] * 3
    assert all(nothing_of(row) for row in shares)


@pytest.mark.parametrize("gone", ["none", "known"])
def test_without_the_tool_or_the_bare_program_nothing_is_measured(tmp_path: Path, gone: str) -> None:
    path = changed(tmp_path, lambda cell, run: failed(run) if cell.level("tool") == gone else run)
    (section,) = sections(path, "The known truth")
    parts = [row["verdict"] for row in rows(section) if "part" in row]
    assert parts == [NOT_MEASURED] * 4
    # The analysis of variance of a tool's own factors is of its runs alone.
    shares = {row["verdict"] for row in rows(section) if "factor" in row}
    assert shares == ({"found"} if gone == "none" else {NOT_MEASURED})


def test_a_truth_of_runs_that_the_study_has_not(tmp_path: Path) -> None:
    """The combinations may be left out, or the factor may not vary."""
    excluded = '[[exclude]]\ntool = "known"\nbuffer = 5000\n'
    text = STUDY.read_text().replace("[analysis]", f"{excluded}[analysis]")
    (section,) = sections(changed(tmp_path, lambda _, run: run, text), "The known truth")
    of_run = {(row["run"], row["part"]): row["verdict"] for row in rows(section) if "part" in row}
    assert of_run == {
        ("known write=true", "instrumentation"): "found",
        ("known write=true", "writing"): "found",
        ("no run of this study", "writing"): NOT_MEASURED,
    }
    of_factor = {row["factor"]: (row["runs"], row["verdict"]) for row in rows(section) if "factor" in row}
    assert of_factor["buffer"] == of_factor["write:buffer"] == ("no run of this study", NOT_MEASURED)


def test_shares_are_found_whatever_is_reported_and_in_any_order(tmp_path: Path) -> None:
    text = STUDY.read_text().replace('"net cpu", "send"', '"net"').replace("write:buffer", "buffer:write")
    (section,) = sections(changed(tmp_path, lambda _, run: run, text), "The known truth")
    shares = {row["factor"]: row["verdict"] for row in rows(section) if "factor" in row}
    assert shares == dict.fromkeys(("write", "buffer", "buffer:write"), "found")


def test_a_factor_of_the_program_has_the_share_in_all_runs(tmp_path: Path) -> None:
    """The bare program takes 10 ms, with the tool 110, 110, 210 and 310: the sum of squares about the mean of
    150 is 52,000, of which 27,500 are left about the mean with the tool, 185."""
    truth = '[[truth]]\ntime = "send cpu"\nfactor = "tool"\nshare = 0.4712\nwithin = 0.0005\n'
    text = STUDY.read_text().partition("[[truth]]")[0] + truth
    (section,) = sections(changed(tmp_path, lambda _, run: run, text), "The known truth")
    (row,) = rows(section)
    assert (row["runs"], row["verdict"]) == ("sender", "found")


def test_where_every_run_failed_each_truth_is_shown_as_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The terminal shows it, JSON and the page."""
    path = changed(tmp_path, lambda _, run: failed(run))
    command = ["study", "report", str(path), "-o", str(tmp_path / "results")]
    assert cli.run(command) == 0
    said = capsys.readouterr()
    assert said.out.startswith("The known truth\n")
    assert said.out.count(NOT_MEASURED) == 7
    assert "warning: there are no results yet: no run ended well" in said.err
    assert "warning: 50 runs failed" in said.err
    page = (tmp_path / "results" / "report.html").read_text("utf-8")
    packed = re.search('id="data-[^"]+-content">([^<]+)<', page)
    assert packed is not None
    (section,) = json.loads(zlib.decompress(base64.b64decode(packed[1])))["study"]["sections"]
    shown = [[cell["shown"] for cell in row] for part in section["parts"] for row in part["rows"]]
    assert [row.count(NOT_MEASURED) for row in shown] == [1] * 7
    assert section["about"] == "Of 7 numbers that are known, 0 are found, 7 are not measured"
    assert cli.run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [section["title"] for section in found["sections"]] == ["The known truth"]
    tables = found["sections"][0]["tables"]
    made = [dict(zip(table["columns"], row, strict=True)) for table in tables for row in table["rows"]]
    assert len(made) == 7 and all(nothing_of(row) and row["verdict"] == NOT_MEASURED for row in made)
    with pytest.raises(CommandError, match="there are no results yet"):
        cli.run([*command, "--set", "another"])


def test_where_every_run_failed_and_nothing_is_known_there_is_no_report(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda _, run: failed(run), STUDY.read_text().partition("[[truth]]")[0])
    with pytest.raises(CommandError, match="there are no results yet"):
        cli.run(["study", "report", str(path), "-o", str(tmp_path / "results"), "--json"])


def test_names_of_runs_are_no_verdicts(tmp_path: Path) -> None:
    text = STUDY.read_text().partition("[factors]")[0] + (
        '[factors]\ntool = ["none", "found"]\n[tool.found]\n'
        '[[truth]]\ntime = "send cpu"\npart = "overhead"\nseconds = 0.1\n'
    )
    (section,) = sections(changed(tmp_path, lambda _, run: run, text), "The known truth")
    assert section.about == "Of 1 numbers that are known, 1 is found"


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ('part = "writing"', "truth.time is missing"),
        ('time = "net"\npart = "reading"\nseconds = 1', "truth.part must be one of instrumentation"),
        ('time = "net"\npart = "writing"', "truth.seconds is missing, or not above 0"),
        ('time = "net"\npart = "writing"\nseconds = 1\nshare = 0.5', "truth.factor is missing"),
        ('time = "net"\npart = "writing"\nseconds = 1\nof = 2', "truth.of is not known here"),
        ('time = "net"\npart = "writing"\nseconds = 1\nwhere = { buffer = 7 }', "has buffer=7, which is no"),
        ('time = "net"\nfactor = "write:nix"\nshare = 0.5', "truth.factor has 'nix', which is none of"),
    ],
)
def test_wrong_truths_are_refused(truth: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"{STUDY.read_text()}\n[[truth]]\n{truth}\n")
    with pytest.raises(UsageError, match=message):
        description.read(path)
