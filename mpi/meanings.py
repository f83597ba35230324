"""The table as other code reads it: for C++ (src/format/function_meaning.cpp) and for Python
(tare.functions)."""

from collections.abc import Sequence

from table import Meaning

_HEADER = '''\
"""What MPI functions mean: generated from mpi/functions.toml, which says what the words mean."""

# name: class, form, waits, parameter of the peer, of the root, of a poll; lock, begins, ends
TABLE = {'''


def for_cpp(of: Sequence[Meaning]) -> list[str]:
    """Lines TARE_MEANING(function, class, form, waits, is_rooted, is_poll, bounds_net_time,
    calls_others), by number."""
    return [
        f"TARE_MEANING({each.function.name}, {each.kind}, {each.form}, {each.waits}, "
        f"{str(bool(each.root)).lower()}, {str(bool(each.poll)).lower()}, "
        f"{str('world' in (each.begins, each.ends)).lower()}, {str(bool(each.calls)).lower()})"
        for each in of
    ]


def for_python(of: Sequence[Meaning]) -> list[str]:
    """A module with one dict."""
    rows = []
    for each in of:
        words = (
            each.kind, each.form, each.waits, each.peer, each.root, each.poll,
            each.lock, each.begins, each.ends,
        )  # fmt: skip
        quoted = ", ".join(f'"{word}"' for word in words)
        rows.append(f'    "{each.function.name}": ({quoted}),')
    return [_HEADER, *rows, "}"]
