"""`{name}` in commands and variables, replaced by the value of a factor or of the run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tare.errors import UsageError

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")


def names(texts: Iterable[str]) -> set[str]:
    """The names of all placeholders in the texts."""
    return {name for text in texts for name in _PLACEHOLDER.findall(text)}


def fill(text: str, values: Mapping[str, str], where: str) -> str:
    """`text` with every placeholder replaced; other braces stay as they are."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UsageError(f"{where}: nothing gives {match[0]} a value; known: {', '.join(sorted(values))}")
        return values[match[1]]

    return _PLACEHOLDER.sub(value, text)


def fill_all(words: Iterable[str], values: Mapping[str, str], where: str) -> list[str]:
    """The words with their placeholders filled in. `where` names the place in errors, as for `fill`."""
    return [fill(word, values, where) for word in words]
