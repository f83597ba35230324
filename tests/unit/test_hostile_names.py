"""Names that a run holds, made to harm whoever prints them: none comes out as it is."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import fake_native
import pytest
from fake_recording import use_fake_reader
from fake_tare import SOURCES, Tare
from hostile_names import EVIL, hostile_run_dir, make_names_hostile
from tare import cli
from tare.reporters import cells
from tare.reporters import csv as reporter
from tare.reporters.console import Console
from tare.streams import visible

PRINTING = [
    "info", "explain", "profile", "profile --by site --paths", "profile --by line",
    "profile --by communicator",
    "profile --by file", "profile --by region",
    "profile --by peer,communicator", "profile --by phase", "profile --by rank", "events", "samples",
    "recover", "diff",
]  # fmt: skip


Print = Callable[..., str]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run with such names in meta.json, too."""
    return hostile_run_dir(tmp_path)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Print:
    """Runs a verb on the fake reader, all of whose names are hostile, in this process; what it prints."""
    make_names_hostile(fake_native, monkeypatch)
    use_fake_reader(monkeypatch)

    def run(*arguments: str | Path) -> str:
        assert cli.run(list(map(str, arguments))) == 0
        done = capsys.readouterr()
        return done.out + done.err

    return run


@pytest.mark.parametrize("width", ["", "80"])
@pytest.mark.parametrize("verb", PRINTING)
def test_people_see_escapes(
    printed: Print, hostile: Path, monkeypatch: pytest.MonkeyPatch, verb: str, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    name, *options = verb.split()
    runs = [hostile] * (2 if name == "diff" else 1)
    said = printed(name, *runs, *options)
    for line in said.split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("|<b>")  # no name begins a line
    assert r"=\x1b" in said
    if not width and name != "recover":
        assert r"\x07\x1b[2J\x9b31m\u202e\u2066\u200b[red]\r\n\t|<b>&`$x_{\udcff" in said


def test_the_summary_of_a_run_is_escaped(tare: Tare, program: Path) -> None:
    done = tare("run", "--trace", "-o", "new", "--", program, "true", EVIL, FAKE_HOSTILE="1")
    assert done.returncode == 0
    assert r"=\x1b]0;x" in done.stderr
    assert done.stderr.replace("\n", "").isprintable()


@pytest.mark.parametrize("verb", ["info", "profile", "events", "samples", "diff"])
def test_json_holds_names_as_they_are_in_escapes(printed: Print, hostile: Path, verb: str) -> None:
    said = printed(verb, *[hostile] * (2 if verb == "diff" else 1), "--json")
    document, _, _ = said.partition("\n}\n") if "\n}\n" in said else said.partition("}\ntare:")
    assert said.replace("\n", "").isprintable()
    assert any(EVIL in text for text in texts(json.JSONDecoder().raw_decode(said)[0])), document


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("verb", ["profile", "profile --by communicator", "profile --by phase", "samples"])
def test_csv_holds_no_formula(printed: Print, hostile: Path, verb: str) -> None:
    name, *options = verb.split()
    said = printed(name, hostile, *options, "--csv").partition("\ntare: ")[0]
    rows = list(csv.reader(io.StringIO(said)))
    guarded = [cell for row in rows for cell in row if r"\x1b]0;x" in cell]
    assert guarded
    assert all(cell.startswith("'=") or not cell.startswith(("=", "+", "-", "@")) for cell in guarded)
    assert all(cell.isprintable() for row in rows for cell in row)


@pytest.mark.parametrize("verb", ["profile", "profile --by phase", "diff"])
def test_markdown_keeps_its_columns(printed: Print, hostile: Path, verb: str) -> None:
    name, *options = verb.split()
    runs = [hostile] * (2 if name == "diff" else 1)
    lines = [
        line for line in printed(name, *runs, *options, "--markdown").splitlines() if line.startswith("|")
    ]
    assert any(r"\\x1b\]0;x" in line for line in lines)
    columns = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    rules = [number for number, line in enumerate(lines) if line.startswith("| ---")]
    for number, columns_of_line in enumerate(columns):
        rule = max((rule for rule in rules if rule <= number), default=rules[0])
        assert columns_of_line == columns[rule] or number + 1 in rules
    assert all(line.isprintable() and "<b>" not in line.replace(r"\<b", "") for line in lines)


def test_a_table_with_such_names_is_aligned() -> None:
    assert visible("a\x1b[1mb\u202ec\udcff\n") == r"a\x1b[1mb\u202ec\udcff\n"
    assert (cells.width("日本"), cells.width("e\u0301"), cells.width("µ…")) == (4, 1, 2)
    assert (cells.cut("日本語", 5), cells.cut_left("日本語", 5)) == ("日本…", "…本語")
    out = io.StringIO()
    Console(out, 20).paragraph("one two\nthree\x1b[2J four five six")
    assert out.getvalue() == "one\ntwo\\nthree\\x1b[2J\nfour five six\n"


def test_nothing_is_printed_past_the_one_way_out() -> None:
    """Text reaches the standard streams through tare.streams and the reporters that escape it."""
    ways = {"streams.py", "reporters/console.py"}
    past = []
    for file in (SOURCES / "tare").rglob("*.py"):
        name = str(file.relative_to(SOURCES / "tare"))
        if name in ways or name.startswith("probes/"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write",
            ):  # fmt: skip
                past.append(f"{name}:{node.lineno}")
    assert not past


def test_tables_of_a_study_hold_no_formula(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from tare.lab.study.store import Store

    with Store(tmp_path / "results", create=True) as store:
        store.describe({"=1+1": "-2+3", "plain": "-", "description": "a\n=b\x1b[2J", "\t=1": "\uff1d1"})
        (path,) = [path for path in store.export(tmp_path / "tables", "csv") if path.stem == "study"]
        kept = store.described("=1+1")
    cells = {cell for row in csv.reader(io.StringIO(path.read_text())) for cell in row}
    assert {"'=1+1", "'-2+3", "plain", "'-", r"a\n=b\x1b[2J", r"\t=1", "'\uff1d1"} <= cells
    assert kept == "-2+3"


def test_csv_holds_no_formula_in_titles_and_values_of_any_kind() -> None:
    out = io.StringIO()
    row = [-1, Decimal("-1.5"), None, True, "\r=1", ["=1"], timedelta(seconds=-1), b"=\x1b"]
    assert reporter.write(out, ["=1", "\x1b[2J", *"abcdef"], [row]) == 1
    titles, cells = csv.reader(io.StringIO(out.getvalue()))
    assert titles[:2] == ["'=1", r"\x1b[2J"]
    assert cells == ["-1", "-1.5", "", "true", r"\r=1", "['=1']", "'-1 day, 23:59:59", r"b'=\x1b'"]


def test_sql_holds_no_formula_in_titles(
    printed: Print, hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb
    from tare.runs import sql
    from tare.runs.run import Run

    monkeypatch.setattr(sql, "connect", lambda _, **__: duckdb.connect())
    monkeypatch.setattr(Run, "tables", lambda _: {})
    query = f"""SELECT 1 AS "=1\x1b[2J", '{chr(9)}@2' AS b"""
    assert printed("sql", hostile, "--csv", query).startswith("'=1\\x1b[2J,b\n1,\\t@2\n")


def test_all_csv_has_one_writer() -> None:
    """What imports the module csv, or has DuckDB write CSV, would need the rules of formulas again."""
    others = []
    for file in (SOURCES / "tare").rglob("*.py"):
        text = file.read_text()
        if file.match("reporters/csv.py"):
            continue
        if re.search(r"^\s*import csv\b|FORMAT csv", text, re.MULTILINE | re.IGNORECASE):
            others.append(file.name)
    assert not others


def test_labels_of_figures_are_no_formulas() -> None:
    pytest.importorskip("matplotlib")
    from tare.lab.study import figures
    from tare.reporters import canvas

    axes = figures._bars(1)
    figures._label_rows(axes, [f"$\\frac{{ {EVIL}"])
    svg = canvas.svg(axes)
    assert r"$\frac{ =\x1b]0;x" in svg
    assert svg.replace("\n", "").isprintable()
    assert "<b>" not in svg
