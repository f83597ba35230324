"""The page as one HTML document: its own scripts and styles, those of vendor/, and data.

Data are base64 of compressed JSON, so nothing in them can be taken for markup; scripts and styles are allowed
by their checksums, and nothing else is.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from tare.streams import visible

if TYPE_CHECKING:
    from tare.runs.retiming import Times

STYLES = ("vendor/tabulator_simple.min.css", "assets/page.css")
SCRIPTS = (
    "assets/markup.js",  # before the libraries
    "vendor/echarts.min.js",
    "vendor/tabulator.min.js",
    "assets/format.js",
    "assets/state.js",
    "assets/data.js",
    "assets/tables.js",
    "assets/charts.js",
    "assets/overview.js",
    "assets/comparison.js",
    "assets/callsites.js",
    "assets/waits.js",
    "assets/flame_graph.js",
    "assets/flames.js",
    "assets/sources.js",
    "assets/structure.js",
    "assets/timeline_data.js",
    "assets/timeline_embedded.js",
    "assets/timeline_paint.js",
    "assets/timeline_panel.js",
    "assets/timeline_find.js",
    "assets/timeline_jump.js",
    "assets/timeline_keys.js",
    "assets/timeline.js",
    "assets/ranks.js",
    "assets/messages.js",
    "assets/environment.js",
)
MAIN = ("assets/main.js",)
_SOURCE_MAP = re.compile(r"(//# sourceMappingURL=.*|/\*# sourceMappingURL=.*?\*/)\s*$")


def embedded(title: str, contents: Mapping[Times, Mapping[str, Any]], sections: str = "") -> str:
    """Needs no server; contents, by name, are JSON or bytes. The first of the times are shown first.

    `sections` is a script for a page that shows no run: it sets `tare.sectionsOf`.
    """
    blocks = "\n".join(
        f'<script type="application/octet-stream" id="data-{times}-{name}">{_packed(content)}</script>'
        for times, named in contents.items()
        for name, content in named.items()
    )
    return _document(title, blocks, "embedded", list(contents), "'none'", sections)


def served(title: str, times: Sequence[Times]) -> str:
    """Fetches its data from where it came from."""
    return _document(title, "", "served", times, "'self'")


def policy(connect: str, sections: str = "") -> str:
    """What the page may do: run its own scripts, and nothing that came with the data. No string becomes
    markup but through markup.js, as no directive keeps a <meta> from leading the browser elsewhere."""
    scripts = _checksum(_scripts(sections))
    styles = _checksum(_joined(STYLES))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types tare"
    )


def _document(
    title: str, blocks: str, source: str, times: Sequence[Times], connect: str, sections: str = ""
) -> str:
    page = _text("assets/page.html")
    parts = {
        "@POLICY@": html.escape(policy(connect, sections), quote=True),
        "@TITLE@": html.escape(visible(title)),
        "@SOURCE@": source,
        "@TIMES@": " ".join(times),
        "@STYLES@": _joined(STYLES),
        "@DATA@": blocks,
        "@SCRIPTS@": _scripts(sections),
    }
    return re.sub("|".join(parts), lambda match: parts[match[0]], page)


def _scripts(sections: str) -> str:
    return _joined(SCRIPTS) + sections + _joined(MAIN)


def _packed(content: Any) -> str:
    raw = content if isinstance(content, bytes) else as_json(content)
    return base64.b64encode(zlib.compress(raw, 6)).decode("ascii")


def as_json(content: Any) -> bytes:
    """The content as JSON in ASCII, as names may hold halves of characters."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def _joined(names: tuple[str, ...]) -> str:
    return "\n" + "\n".join(_SOURCE_MAP.sub("", _text(name)) for name in names) + "\n"


def _text(name: str) -> str:
    return resources.files("tare.page").joinpath(name).read_text("utf-8")


def _checksum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def printable(value: Any) -> Any:
    """What is not printable in texts is escaped, also within lists and dictionaries."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key) if isinstance(key, str) else key: printable(each) for key, each in value.items()}
    if isinstance(value, list) and not (value and isinstance(value[0], int)):
        return [printable(each) for each in value]
    return value
