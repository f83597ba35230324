"""The table as other code reads it: for C++ (src/format/function_meaning.cpp) and for Python
(tare.functions)."""

from collections.abc import Sequence

from source import Source
from table import Meaning

_HEADER = '''\
"""What functions mean: generated from mpi/functions.toml, which explains the words, and other tables."""

# name: class, form, waits, parameter of the peer, of the root, of a poll; epoch, begins, ends, operation,
# source
TABLE = {'''


def for_cpp(of: Sequence[Meaning]) -> list[str]:
    """Lines TARE_MEANING(function, class, form, waits, operation, completes_accesses, epoch, access,
    .flag = true...), by number."""
    lines = []
    for each in of:
        words = (
            each.kind,
            each.form,
            each.waits,
            each.operation or "none",
            each.completes_accesses or "none",
            each.epoch or "none",
            each.access or "none",
        )
        flags = [f".{name} = true" for name, is_set in _flags(each).items() if is_set]
        lines.append(f"TARE_MEANING({', '.join((each.function.name, *words, *flags))})")
    return lines


def _flags(of: Meaning) -> dict[str, bool]:
    """The members of FunctionMeaning that are true or false, in their order."""
    return {
        "is_rooted": bool(of.root),
        "is_poll": bool(of.poll),
        "is_matched": of.function.parameter("message") is not None,
        "begins_world": of.begins == "world",
        "ends_world": of.ends == "world",
        "bounds_session": "session" in (of.begins, of.ends),
        "makes_communicator": of.makes == "communicator",
        "frees_communicator": of.frees == "communicator",
        "cancels": bool(of.cancels),
        "calls_others": bool(of.calls),
    }


def for_python(of: Sequence[Meaning], others: Sequence[Source] = ()) -> list[str]:
    """A module with one dict."""
    rows: dict[str, tuple[str, ...]] = {}
    for each in of:
        rows[each.function.name] = (
            each.kind, each.form, each.waits, each.peer, each.root, each.poll,
            each.epoch, each.begins, each.ends, each.operation, "MPI",
        )  # fmt: skip
    for source in others:
        for function in source.functions:
            rows[function.name] = (function.kind, "blocking", function.waits, *[""] * 7, source.name)
    lines = []
    for name, words in rows.items():
        quoted = ", ".join(f'"{word}"' for word in words)
        lines.append(f'    "{name}": ({quoted}),')
    return [_HEADER, *lines, "}"]
