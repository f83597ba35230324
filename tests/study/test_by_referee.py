"""What the referee says of tools, in a study: made up, and of a tool of known cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import installed
from environments import compile_c, openmpi4
from made_up_runs import described, outcome
from measured import PROGRAMS
from tare.analysis.referee import Weighed
from tare.errors import UsageError
from tare.lab.study import description, page, plan
from tare.lab.study.assembly import Report
from tare.lab.study.assembly import report as report_of
from tare.lab.study.description import Description
from tare.lab.study.referee import runs
from tare.lab.study.sections import as_json
from tare.lab.study.store import Store
from test_study import report, study

STUDY = """
[study]
referee = true
[workload.app]
command = "true"
[mpi.x]
launch = "env -n {ranks}"
[factors]
tool = ["none", "forward", "tare", "mine", "eztrace"]
stack = [1, 4]
weigh = [false, true]
[tool.mine]
run = { preload = ["/opt/mine/libmine.so"] }
"""
MINE, TARE, EZTRACE = "mine", "tare stack=4 weigh=false", "eztrace"
FAILED = "no run under the referee ended well"


def read(tmp_path: Path, text: str = STUDY) -> Description:
    return description.read(described(tmp_path, text))


def test_a_run_weighs_all_tools_that_fit_into_it(tmp_path: Path) -> None:
    read_study = read(tmp_path)
    found = runs.cells(read_study, plan.cells(read_study))
    together = [[(each.level("tool"), each.by_factor["stack"]) for each in cell.weighed] for cell in found]
    assert together == [[("forward", None), ("mine", None)], [("tare", "1")], [("tare", "4")]]
    assert all(each.by_factor["weigh"] != "true" for cell in found for each in cell.weighed)
    assert len({cell.key for cell in found}) == len(found)
    assert found[0].key == "workload=app mpi=x ranks=2 by referee=forward+mine"
    serial = read(tmp_path, STUDY.replace('command = "true"', 'command = "true"\nmpi = false'))
    assert runs.cells(serial, plan.cells(serial)) == []


def test_the_referee_compares_with_no_tool(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"study\.referee compares with the program without a tool"):
        read(tmp_path, STUDY.replace("referee = true", 'referee = true\nbaseline = "forward"'))


def made_up(
    tmp_path: Path, weighed: Mapping[str, list[Weighed | None]], text: str = STUDY
) -> tuple[Report, dict[str, dict[str, Any]]]:
    """The report, and rows of its section on the overhead of each tool.

    `weighed`: by tool, what each block says; None: that block's run has failed."""
    read_study = read(tmp_path, text)
    cells = plan.cells(read_study)
    with Store(tmp_path / "results", create=True) as store:
        for block in range(1, 4):
            for cell in cells:
                store.add_run(plan.Planned(block, 0, cell), "1", "e", outcome(10**9, None))
            for cell in runs.cells(read_study, cells):
                said = {
                    each.key: weighed.get(each.label(VARIED), [None] * 3)[block - 1] for each in cell.weighed
                }
                known = {key: each for key, each in said.items() if each is not None}
                made = replace(outcome(0, None), timings=[], weighed=known, state="ok" if known else "failed")
                store.add_run(plan.Planned(block, 1, cell), "1", "e", made)
    made_report = report_of(read_study.path, tmp_path / "results", None, with_figures=False)
    tables = {
        table["title"]: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for section in as_json(made_report.sections)
        for table in section["tables"]
    }
    rows = tables["Against the bare program"]
    return made_report, {row["run"]: row for row in rows if row["time"] == "net overhead by referee"}


def of_page(made: Report, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page shows."""
    given: list[dict[str, Any]] = []

    def embedded(_title: str, contents: Mapping[str, Any], _sections: str) -> str:
        given.extend(each["content"]["study"] for each in contents.values())
        return ""

    monkeypatch.setattr("tare.page.document.embedded", embedded)
    page.page(made, Path("page.html"))
    (content,) = given
    return content


VARIED = frozenset({"tool", "stack", "weigh"})


def test_what_the_runs_say_is_pooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of three runs add up as squares: +- 0.03 / sqrt(3)."""
    said: list[Weighed | None] = [
        Weighed(90, 90, 1.0, each, each - 0.03, each + 0.03) for each in (0.1, 0.11, 0.12)
    ]
    none: list[Weighed | None] = [Weighed(50, 50, 1.0, 0.001, -0.002, 0.004)] * 3
    made, rows = made_up(tmp_path, {MINE: said, TARE: none})
    mine, tare = rows[MINE], rows[TARE]
    half = 0.03 / 3**0.5
    assert (mine["relative"], mine["interval"]) == (
        pytest.approx(0.11),
        pytest.approx([0.11 - half, 0.11 + half]),
    )
    assert (mine["verdict"], mine["blocks"]) == ("slower", 3)
    assert (mine["bare"], mine["more"]) == (None, None)
    assert tare["verdict"] == "none beyond ±1 %"
    assert rows[EZTRACE]["relative"] == "not determined"
    assert "put before the program" in rows[EZTRACE]["verdict"]
    assert "--weigh has spells of its own" in rows["tare stack=4 weigh=true"]["verdict"]
    # These runs are no runs of the tools.
    assert len(made.analysis.results.runs) == 3 * 8
    (summary,) = (section for section in as_json(made.sections) if section["title"] == "In short")
    (table,) = summary["tables"]
    in_short = {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    assert in_short[MINE]["net overhead by referee"] == pytest.approx(0.11)
    assert in_short[EZTRACE]["net overhead by referee"] == "not determined"
    content = of_page(made, monkeypatch)
    assert content["responses"][-1] == "net overhead by referee"
    shown = {cell["label"]: cell["overheads"].get("net overhead by referee") for cell in content["cells"]}
    assert shown[MINE]["median"] == pytest.approx(0.11)
    assert (shown[MINE]["more"], shown[MINE]["verdict"]) == (None, "slower")
    assert set(shown[EZTRACE]) == {"more", "verdict"}
    assert "from spells with and without the tool" in json.dumps(content["sections"])


def test_what_is_not_determined_is_no_number(tmp_path: Path) -> None:
    why: Weighed | None = Weighed(0, 0, 0.0, why="requests are under way")
    known: Weighed | None = Weighed(90, 90, 1.0, 0.02, 0.015, 0.025)
    _, rows = made_up(tmp_path, {MINE: [why, why, why], "forward": [why, known, known]})
    assert (rows[MINE]["relative"], rows[MINE]["interval"]) == ("not determined", None)
    assert rows[MINE]["verdict"] == "not determined: requests are under way"
    assert (rows["forward"]["relative"], rows["forward"]["blocks"]) == (pytest.approx(0.02), 2)
    assert rows[TARE]["verdict"] == f"not determined: {FAILED}"


@pytest.mark.parametrize(
    "change", [("referee = true", ""), ("[factors]", '[analysis]\nresponses = ["net"]\n[factors]')]
)
def test_who_does_not_ask_is_not_told(
    tmp_path: Path, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, rows = made_up(tmp_path, {}, STUDY.replace(*change))
    assert rows == {}
    assert "net overhead by referee" not in json.dumps(of_page(made, monkeypatch))


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.flaky(reruns=2)
def test_a_planted_cost_is_found(tmp_path: Path) -> None:
    mpi = installed(openmpi4())
    program = compile_c(mpi, [PROGRAMS / "weighed.c"], tmp_path / "weighed", "-O2")
    tool = compile_c(
        mpi, [PROGRAMS / "planted_tool.c"], tmp_path / "libplanted.so", "-O2", "-shared", "-fPIC"
    )
    file = tmp_path / "planted.toml"
    file.write_text(f"""
[study]
repetitions = 2
warmup = 0
referee = true
[workload.weighed]
command = "{program} alone 5"
ranks = 1
[workload.weighed.value.bare]
pattern = 'bare ([0-9.]+)'
[mpi.here]
launch = {json.dumps([*mpi.mpiexec, "-n", "{ranks}"])}
environment = {{ {", ".join(f"{name} = {json.dumps(value)}" for name, value in mpi.env.items())} }}
[factors]
tool = ["none", "planted"]
cost = [0, 300]
[tool.planted]
run = {{ preload = ["{tool}"] }}
[tool.planted.parameter.cost]
environment = {{ PLANTED_NS = "{{value}}" }}
""")
    done = study("run", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {
        row["run"]: row
        for row in report(file)["Overhead of each tool"]["Against the bare program"]
        if row["time"] == "net overhead by referee"
    }
    free, costly = rows["planted cost=0"], rows["planted cost=300"]
    assert free["relative"] != "not determined" and costly["relative"] != "not determined", rows
    # A call each 2,020 ns or more, which computes on a machine whose pace may change.
    assert abs(free["relative"]) < 0.03
    assert 0.10 < costly["relative"] < 0.20
    assert costly["interval"][0] > free["interval"][1]
    assert costly["verdict"] == "slower"
    assert study("run", file, "--resume", cwd=tmp_path).stderr.startswith("0 runs made")


@pytest.mark.parametrize(
    ("overhead", "verdict"),
    [(-0.05, "faster"), (-0.02, "below 1 %"), (0.0, "not decided"), (0.05, "slower")],
)
def test_a_verdict_by_referee_follows_from_the_interval(
    overhead: float, verdict: str, tmp_path: Path
) -> None:
    """Three runs have an interval of ±0.04 each."""
    said: list[Weighed | None] = [Weighed(90, 90, 1.0, overhead, overhead - 0.04, overhead + 0.04)] * 3
    _, rows = made_up(tmp_path, {MINE: said})
    assert rows[MINE]["verdict"] == verdict
