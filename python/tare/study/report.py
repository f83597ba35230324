"""A report on the terminal, or as one self-contained page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet
from tare.streams import visible
from tare.study.sections import TEXT, Figure, Section, Table, shown

if TYPE_CHECKING:
    from tare.reporters.console import Console

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2530; }
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { margin: 0 0 .6rem; font-size: 1.7rem; line-height: 1.25; }
h2 { margin: 2.6rem 0 .5rem; font-size: 1.25rem; border-bottom: 1px solid #d5dbe1; padding-bottom: .2rem; }
h3 { margin: 1.4rem 0 .4rem; font-size: 1rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .8rem 0; font-size: 14px; }
a { color: #0b5cad; text-decoration: none; }
a:hover { text-decoration: underline; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .24rem .8rem; text-align: left; vertical-align: baseline; }
th, td { border-bottom: 1px solid #e7ebef; white-space: nowrap; }
th:first-child, td:first-child { padding-left: .2rem; }
th { border-bottom: 1px solid #9aa7b4; font-weight: 600; color: #3c4753; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tbody tr:hover { background: #f3f7fb; }
.note { color: #55616d; font-size: 13px; max-width: 52rem; margin: .4rem 0 0; }
.warning { background: #fff3d6; border-left: 4px solid #e0a100; padding: .5rem .8rem; margin: .6rem 0; }
figure { margin: 1.2rem 0; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { font-weight: 600; margin-bottom: .2rem; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: #0b5cad; }
footer { margin-top: 3rem; color: #55616d; font-size: 13px; }
pre { background: #f5f7f9; padding: .8rem; overflow-x: auto; font-size: 12.5px; line-height: 1.45; }
@media print { .scroll { overflow: visible; } nav { display: none; } }
"""


def print_sections(out: Console, sections: Sequence[Section], *, details: bool = False) -> None:
    """Sections that hold nothing but figures and details are left out without `details`."""
    for section in sections:
        tables = [part for part in section.parts if isinstance(part, Table) and (details or not part.detail)]
        if not tables:
            continue
        out.line(section.title, bold=True)
        for table in tables:
            _print_table(out, table)
        out.line()


def _print_table(out: Console, table: Table) -> None:
    out.line(f"  {table.title}")
    if not table.rows:
        out.line("    none")
        return
    made = Sheet([Heading(column.name, text=column.kind == TEXT) for column in table.columns])
    for row in table.rows:
        made.rows.append(
            [shown(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
        )
    terminal.show_whole_sheet(out, made, "    ")


def page(
    title: str, warnings: Sequence[str], sections: Sequence[Section], description: str, version: str
) -> str:
    """Needs no other file."""
    warned = "".join(f'<p class="warning">{escape(warning)}</p>' for warning in warnings)
    links = "".join(f'<a href="#s{at}">{escape(section.title)}</a>' for at, section in enumerate(sections))
    body = "\n".join(_section(at, section) for at, section in enumerate(sections))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{warned}
<nav>{links}<a href="#study">The study</a></nav>
{body}
<h2 id="study">The study</h2>
<pre>{escape(description)}</pre>
<footer>Made by tare {escape(version)}. Net, hook and wrap time: Hunold et al. 2022.
Instrumentation and writing: Mohror and Karavanic 2006.</footer>
</body>
</html>
"""


def escape(text: str) -> str:
    """Its lines, as they are."""
    return "\n".join(html.escape(visible(line)) for line in text.expandtabs().split("\n"))


def _section(at: int, section: Section) -> str:
    parts = [f'<section id="s{at}"><h2>{escape(section.title)}</h2>']
    if section.about:
        parts.append(f"<p>{escape(section.about)}</p>")
    parts += [_figure(part) if isinstance(part, Figure) else _table(part) for part in section.parts]
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure) -> str:
    note = f'<p class="note">{escape(figure.note)}</p>' if figure.note else ""
    return f"<figure><figcaption>{escape(figure.title)}</figcaption>{figure.svg}{note}</figure>"


def _table(table: Table) -> str:
    title = escape(table.title)
    if not table.rows:
        return f'<h3>{title}</h3><p class="note">None.</p>'
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    content = f'<div class="scroll"><table>{_head(table)}<tbody>{_body(table)}</tbody></table></div>{note}'
    if table.detail:
        return f"<details><summary>{title}, {len(table.rows)} lines</summary>{content}</details>"
    return f"<h3>{title}</h3>{content}"


def _classes(table: Table) -> list[str]:
    return ["" if column.kind == TEXT else ' class="n"' for column in table.columns]


def _head(table: Table) -> str:
    cells = "".join(
        f"<th{kind}>{escape(column.name)}</th>"
        for kind, column in zip(_classes(table), table.columns, strict=True)
    )
    return f"<thead><tr>{cells}</tr></thead>"


def _body(table: Table) -> str:
    kinds = _classes(table)
    return "\n".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{escape(shown(value, column.kind))}</td>"
            for kind, value, column in zip(kinds, row, table.columns, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
