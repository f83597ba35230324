"""The page of a study: its cells side by side, and the sections of its report."""

from __future__ import annotations

import base64
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tare import __version__
from tare.analysis.rows import fields
from tare.lab.study.description import BY_REFEREE
from tare.lab.study.sections import TEXT, Column, Figure, Section, Table, plain, shown
from tare.page import document
from tare.page.document import printable
from tare.runs.retiming import Times

if TYPE_CHECKING:
    from tare.analysis.intervals import Interval
    from tare.lab.study.assembly import Report
    from tare.lab.study.parts.cells import CellFigures, Overhead

SCHEMA = "tare.study-page/1"


def page(report: Report, to: Path) -> str:
    """Needs no other file; links lead from where `to` is to the runs that the study kept."""
    analysis, described = report.analysis, report.analysis.description
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "study": {
            **fields(described, ("title", "about")),
            "set": analysis.set_name,
            **fields(analysis, ("confidence", "bound")),
            "warnings": report.warnings,
            "factors": analysis.results.varied,
            "responses": [*analysis.responses(), *([BY_REFEREE] if analysis.has_referee else [])],
            "cells": [_cell(cell, report, to) for cell in report.cells],
            "sections": [_section(section) for section in report.sections],
            "text": described.text.splitlines(),
        },
    }
    contents = {Times.RECORDED: {"content": printable(content)}}
    sections = Path(__file__).with_suffix(".js").read_text("utf-8")
    return document.embedded(f"{described.title}: tare", contents, sections)


def _cell(cell: CellFigures, report: Report, to: Path) -> dict[str, Any]:
    return {
        "label": cell.label,
        "levels": {name: cell.levels.get(name) for name in report.analysis.results.varied},
        "workload": cell.levels["workload"],
        "runs": cell.runs,
        "baseline": cell.is_baseline,
        "times": {name: _interval(found) for name, found in cell.times.items()},
        "overheads": {name: _overhead(found) for name, found in cell.overheads.items()},
        "kept": [{"run": str(run), "link": _link(run, to)} for run in cell.kept],
    }


def _interval(of: Interval) -> dict[str, Any]:
    return {"median": plain(of.median), "low": plain(of.low), "high": plain(of.high), "count": of.count}


def _overhead(of: Overhead) -> dict[str, Any]:
    interval = {} if of.relative is None else _interval(of.relative)
    return {**interval, "more": None if of.more is None else plain(of.more), "verdict": of.verdict}


def _link(run: Path, to: Path) -> str:
    """A link from the page to the run, so that both can be moved together."""
    return quote(os.fsencode(os.path.relpath(run.resolve(), to.resolve().parent)), safe="/.-_~")


def _section(section: Section) -> dict[str, Any]:
    return {
        **fields(section, ("title", "about")),
        "parts": [_figure(part) if isinstance(part, Figure) else _table(part) for part in section.parts],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    """The figure as an image, in which nothing can run."""
    svg = base64.b64encode(figure.svg.encode("utf-8")).decode("ascii")
    return {"figure": f"data:image/svg+xml;base64,{svg}", "title": figure.title, "note": figure.note}


def _table(table: Table) -> dict[str, Any]:
    return {
        **fields(table, ("title", "note", "detail")),
        "columns": [{"name": column.name, "text": column.kind == TEXT} for column in table.columns],
        "rows": [
            [_value(value, column) for value, column in zip(row, table.columns, strict=True)]
            for row in table.rows
        ],
    }


def _value(value: Any, column: Column) -> dict[str, Any]:
    """What is shown, and what it is sorted by."""
    by = plain(value)
    by = by[0] if isinstance(by, list) else by
    if isinstance(by, float) and not math.isfinite(by):
        by = None
    return {
        "shown": shown(value, column.kind),
        "by": shown(value, column.kind) if column.kind == TEXT else by,
    }
