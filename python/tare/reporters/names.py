"""Names of functions as people say them."""

from __future__ import annotations

import re

INLINED = " (inlined in "
_OPERATOR = re.compile(r"operator\s*(<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|\(\)|<|>)")
_ANONYMOUS = "(anonymous namespace)"
_QUALIFIERS = re.compile(r"(\s*(const|volatile|noexcept|&&?|\[clone [^]]*\]|\[abi:\w+\]))+$")


def short(name: str) -> str:
    """Of C++ without arguments, template arguments and the type of the result: "ns::Solver::step"."""
    if "(" not in name and "<" not in name:
        return name
    operators = _OPERATOR.findall(name)
    text = _OPERATOR.sub("operator\0", name).replace(_ANONYMOUS, "\1")
    text = _without(_without(text, "<", ">"), "(", ")")
    if not {"<", ">", "(", ")"}.isdisjoint(text):
        return name  # they do not match
    text = _QUALIFIERS.sub("", text).strip()
    at = text.find("operator")
    head, tail = (text[:at], text[at:]) if at >= 0 else (text, "")
    text = (head.rsplit(" ", 1)[-1] if head else "") + tail
    for operator in operators:
        text = text.replace("\0", operator, 1)
    return text.replace("\1", _ANONYMOUS) or name


def short_with_inlined(name: str) -> str:
    """The same for "a (inlined in b)"."""
    function, inlined, outer = name.partition(INLINED)
    return f"{short(function)}{INLINED}{short(outer.removesuffix(')'))})" if inlined else short(name)


def _without(text: str, opening: str, closing: str) -> str:
    """What stands in no brackets of these; as it is where they do not match."""
    kept, depth = [], 0
    for letter in text:
        if letter == opening:
            depth += 1
        elif letter == closing and depth:
            depth -= 1
        elif not depth:
            kept.append(letter)
    return "".join(kept) if not depth else text
