"""Objects as notebooks show them (Jupyter calls `_repr_html_`). Text is escaped: names come from programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from tare.streams import visible

if TYPE_CHECKING:
    from tare._native import Table
    from tare.runs.run import Run

# Rows that are shown of a table.
SHOWN = 20


def text(value: object) -> str:
    """A cell; numbers of more than four digits with separators."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return escape(visible(str(value)))


def _more(count: int) -> str:
    return f"<p>… {count - SHOWN:,} more rows</p>" if count > SHOWN else ""


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{text(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{text(row[name])}</td>" for name in columns) + "</tr>" for row in rows[:SHOWN]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def head(table: Table[Any]) -> str:
    """The first rows of a table of the reader, and how many there are if that is known at the start."""
    names, rows, count = table.head(SHOWN + 1)
    shown = [dict(zip(names, row, strict=True)) for row in rows]
    if count is None and len(shown) > SHOWN:
        return f"{_table(names, shown)}<p>… more rows</p>"
    return _table(names, shown) + _more(len(shown) if count is None else count)


def run(of: Run) -> str:
    """What it is, how it ended, and which tables it has."""
    from tare.runs.run import listed

    hosts = {process.host for process in of.processes}
    facts = {
        "command": " ".join(of.meta.command),
        "ended": of.ending,
        "processes": f"{len(of.processes):,} on {len(hosts):,} host{'s' if len(hosts) != 1 else ''}",
        "tables": ", ".join(listed()),
    }
    rows = "".join(f"<tr><th>{name}</th><td>{text(value)}</td></tr>" for name, value in facts.items())
    notes = "".join(f"<p>{text(line)}</p>" for line in of.warnings)
    return f"<p><b>{text(of.meta.name)}</b></p><table><tbody>{rows}</tbody></table>{notes}"
