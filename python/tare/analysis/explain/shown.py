"""Whether a finding of a package can be shown: its fields have their types, and its numbers can be times."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields

from tare.analysis.explain.finding import Finding
from tare.analysis.rows import Placed


def check(found: Finding) -> None:
    """TypeError or ValueError that names the field, if it cannot."""
    if not found.sentence:
        raise ValueError("a finding has no sentence")
    for field in fields(Finding):
        value = getattr(found, field.name)
        # The annotations are text (PEP 563).
        if not any(_IS_OF[each](value) for each in str(field.type).split(" | ")):
            raise TypeError(f"{field.name} of a finding is {value!r}, and no {field.type}")
        if _is_number(value) and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{field.name} of a finding is {value!r}")
    if found.share > 1:
        raise ValueError(f"share of a finding is {found.share!r}, which is more than 1")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_ranks(value: object) -> bool:
    return isinstance(value, tuple | list) and all(type(each) is int and each >= 0 for each in value)


# Times that come of shares need not be whole numbers.
_IS_OF: dict[str, Callable[[object], bool]] = {
    "None": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "int": _is_number,
    "float": _is_number,
    "Placed": lambda value: isinstance(value, Placed),
    "tuple[int, ...]": _are_ranks,
}
