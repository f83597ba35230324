"""Names of functions as people say them."""

from __future__ import annotations

INLINED = " (inlined in "


def short(name: str) -> str:
    """The name without the arguments, template arguments and result of C++: "ns::Solver::step"."""
    if "(" not in name and "<" not in name:
        return name  # as nearly all are
    from tare import _native

    return _native.short_name(name)


def of_code(name: str) -> str:
    """The short name of a function that samples found: of C++, of Python, or a file like "(libm.so.6)"."""
    is_file = name.startswith("(") and "::" not in name
    is_of_python = name.startswith("<") or ".<" in name  # "<module>", "outer.<locals>.inner"
    return name if is_file or is_of_python or not set("(<") & set(name) else short_with_inlined(name)


def short_with_inlined(name: str) -> str:
    """The same for "a (inlined in b)"."""
    from tare import _native

    return _native.short_name_with_inlined(name)
