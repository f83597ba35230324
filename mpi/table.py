"""The table of functions (functions.toml): reads it, checks it, and says what each function means."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from standard import Function

CLASSES = (
    "local", "lookup", "lifecycle", "send", "receive", "exchange", "probe", "start", "completion", "request",
    "collective", "one_sided", "epoch", "file", "other",
)  # fmt: skip
WAITS = (
    "nobody", "receiver", "buffer", "sender", "arrival", "partners", "requests", "all", "usually_all",
    "contributors", "some", "root", "at_root", "lower", "neighbours", "locks", "storage", "unknown",
)  # fmt: skip
FORMS = ("blocking", "nonblocking", "persistent")
OPERATIONS = (
    "barrier", "broadcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
    "alltoallv", "alltoallw", "allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan",
    "exscan", "put", "get", "accumulate", "fetch_and_accumulate", "compare_and_swap",
)  # fmt: skip

ACCESSES = (
    "open", "close", "read", "write", "read_begin", "write_begin", "read_end", "write_end", "seek", "sync",
)  # fmt: skip
EPOCHS = ("posts", "waits", "starts", "completes", "locks", "unlocks")

# Attributes of a row, and their words.
WORDS: dict[str, Sequence[str]] = {
    "class": CLASSES,
    "waits": WAITS,
    "direction": ("out", "in"),
    "operation": OPERATIONS,
    "completes_accesses": ("target", "all", "target_locally", "all_locally"),
    "completes": ("one", "all", "any", "some"),
    "begins": ("world", "session"),
    "ends": ("world", "session", "program"),
    "makes": (
        "communicator", "created window", "allocated window", "shared window", "dynamic window",
        "opened file",
    ),
    "parent": ("none",),
    "frees": ("communicator", "window", "file", "datatype", "request"),
    "names": ("communicator", "window"),
    "epoch": EPOCHS,
    "access": ACCESSES,
    "cancels": ("request",),
    "calls": ("others",),
    "frequent": ("blocking", "nonblocking"),
}  # fmt: skip
# Attributes that name a parameter.
PARAMETERS = ("peer", "poll", "level")
# Attributes that are a rule and the parameters that it reads: how many.
RULES: dict[str, dict[str, int]] = {
    "bytes": {
        "moves": 2, "moves_one": 1, "moves_partitions": 3, "moves_to_each": 2, "moves_counts": 2,
        "contributes": 5, "contributes_v": 5, "scatters": 4, "scatters_v": 4,
        "exchanges": 5, "exchanges_v": 5, "exchanges_w": 5,
        "neighbour_exchanges": 2, "neighbour_exchanges_v": 2, "neighbour_exchanges_w": 2,
    },
    "received": {
        "takes": 2, "takes_unless_first": 2, "takes_at_root": 2, "takes_from_each": 2,
        "takes_from_each_at_root": 2, "takes_counts": 2, "takes_counts_at_root": 2, "takes_share_at_root": 3,
        "takes_types": 2, "takes_own": 2, "takes_from_neighbours": 2, "takes_neighbour_counts": 2,
        "takes_neighbour_types": 2, "fetches_back": 2, "fetches_one_back": 1,
    },
}  # fmt: skip

# What a function that needs no row is not given.
_SHARED = ("COMMUNICATOR", "WINDOW", "FILE", "SESSION", "MESSAGE", "REQUEST")
_ROOTED = ("root", "at_root")
# Words of `waits` that a class may have; those that are not here may only have "nobody".
_WAITS_OF = {
    "lifecycle": ("nobody", "some", "unknown"),
    "send": ("nobody", "buffer", "receiver", "unknown"),
    "receive": ("sender", "arrival", "unknown"),
    "exchange": ("partners",),
    "probe": ("nobody", "sender"),
    "completion": ("nobody", "requests"),
    "request": ("nobody", "unknown"),
    "collective": (
        "all", "usually_all", "contributors", "some", "root", "at_root", "lower", "neighbours", "unknown",
    ),
    "epoch": ("nobody", "locks", "unknown"),
    "file": ("storage",),
    "other": ("unknown",),
}  # fmt: skip
# Attributes that belong to some classes, which must have them where the second is true.
_CLASSES_OF = {
    "direction": (("one_sided",), True),
    "operation": (("collective", "one_sided"), False),
    "completes_accesses": (("epoch", "collective"), False),
    "completes": (("completion",), True),
    "epoch": (("epoch",), False),
    "begins": (("lifecycle",), False),
    "ends": (("lifecycle",), False),
    "cancels": (("request",), False),
    "level": (("local",), False),
    "names": (("local",), False),
    "poll": (("probe", "completion", "request", "epoch"), False),
    "makes": (("collective", "other"), False),
    "access": (("collective", "file", "local"), False),
    "frequent": (("send", "receive", "exchange", "start", "completion", "collective", "one_sided"), False),
}


class TableError(Exception):
    """What is wrong with the table, in one line."""


@dataclass(frozen=True)
class Meaning:
    """What a function means: the words of its row (functions.toml), and what the standard adds."""

    function: Function
    kind: str  # its class
    form: str
    waits: str
    peer: str = ""  # the parameter that is the rank at the other end
    root: str = ""  # and that of a collective
    poll: str = ""
    level: str = ""
    direction: str = ""
    operation: str = ""
    completes_accesses: str = ""
    completes: str = ""
    begins: str = ""
    ends: str = ""
    makes: str = ""
    parent: str = ""
    frees: str = ""
    names: str = ""
    epoch: str = ""
    access: str = ""
    cancels: str = ""
    calls: str = ""
    frequent: str = ""
    bytes: str = ""
    received: str = ""


def checked(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables of MPI. Those of other sources have files of their own (source.py)."""
    for name in tables:
        if name != "mpi":
            raise TableError(f"[{name}]: nothing is generated of it; functions of MPI are in [mpi.functions]")
    mpi: dict[str, Any] = tables.get("mpi", {})
    for name in sorted({"functions", "libraries"} ^ mpi.keys()):
        raise TableError(f"[mpi.{name}] {'is missing' if name not in mpi else 'means nothing'}")
    return mpi


def meanings(rows: dict[str, dict[str, Any]], functions: Sequence[Function]) -> list[Meaning]:
    """The meanings of all functions, in their order."""
    names = {function.bare_name for function in functions} | {
        function.blocking_name for function in functions
    }
    row_of = _by_name(rows, names)
    unused = set(row_of)
    result = []
    for function in functions:
        key = next((n for n in (function.bare_name, function.blocking_name) if n in row_of), None)
        if key is not None:
            unused.discard(key)
            result.append(_meaning(function, key, row_of[key]))
            continue
        shared = [p.name for p in function.parameters if p.kind in _SHARED]
        if shared:
            raise TableError(
                f"{function.bare_name} has no row, and may not be local: it is given {', '.join(shared)}"
            )
        result.append(Meaning(function, "local", function.form, "nobody"))
    if unused:
        raise TableError(f"{min(unused)}: there is no such function")
    return result


def expanded(key: str) -> list[str]:
    """ "{Probe,Mprobe}" and the like, written out."""
    braces = re.search(r"\{([^{}]*)\}", key)
    if braces is None:
        return [key]
    return [
        name
        for part in braces[1].split(",")
        for name in expanded(key[: braces.start()] + part + key[braces.end() :])
    ]


def _by_name(rows: dict[str, dict[str, Any]], names: set[str]) -> dict[str, dict[str, Any]]:
    """Rows by the names of functions without MPI_ and _c."""
    row_of: dict[str, dict[str, Any]] = {}
    key_of: dict[str, str] = {}
    for key, row in rows.items():
        for pattern in expanded(key):
            if not re.fullmatch(r"[\w*]+", pattern):
                raise TableError(f"{key}: cannot read {pattern!r}; a key is made of names, {{a,b}} and *")
            found = [pattern]
            if "*" in pattern:
                found = sorted(filter(re.compile(pattern.replace("*", r"\w*")).fullmatch, names))
            if not found:
                raise TableError(f"{key}: there is no function {pattern}")
            for name in found:
                if name in row_of:
                    raise TableError(f"{name} has two rows: {key_of[name]}, and {key}")
                row_of[name], key_of[name] = row, key
    return row_of


def _meaning(function: Function, key: str, row: dict[str, Any]) -> Meaning:
    for fault in _faults_of_words(row):
        raise TableError(f"{key}: {fault}")
    words = {attribute: word for attribute, word in row.items() if attribute != "class"}
    meaning = Meaning(
        function, row["class"], function.form, **{"waits": "nobody", **_ends_of(function, row), **words}
    )
    for fault in _contradictions(meaning):
        raise TableError(f"{function.bare_name}: {fault}")
    return meaning


def _ends_of(function: Function, row: dict[str, Any]) -> dict[str, str]:
    """The parameter that says with whom, by its standard name."""
    for name in ("dest", "source", "root", "target_rank") if row["class"] != "lookup" else ():
        parameter = function.parameter(name)
        if parameter is not None and not parameter.is_pointer:
            return {"root" if name == "root" else "peer": name}
    return {}


def _faults_of_words(row: dict[str, Any]) -> Iterator[str]:
    if "class" not in row:
        yield f"has no class: one of {', '.join(CLASSES)}"
    for attribute, word in row.items():
        if attribute not in (*WORDS, *PARAMETERS, *RULES):
            yield f"what is {attribute!r}? Attributes are {', '.join((*WORDS, *PARAMETERS, *RULES))}"
        elif not isinstance(word, str) or not word:
            yield f"{attribute} is text, not {word!r}"
        elif attribute in WORDS and word not in WORDS[attribute]:
            yield f"{attribute} is one of {', '.join(WORDS[attribute])}; not {word!r}"
        elif attribute in RULES and word.split()[0] not in RULES[attribute]:
            yield f"{attribute} begins with one of {', '.join(RULES[attribute])}; not {word.split()[0]!r}"
        elif attribute in RULES and len(word.split()) - 1 != RULES[attribute][word.split()[0]]:
            yield f"{word.split()[0]} reads {RULES[attribute][word.split()[0]]} parameters: {word!r}"


def _contradictions(of: Meaning) -> Iterator[str]:
    named = [getattr(of, attribute) for attribute in PARAMETERS]
    named += [name for rule in RULES for name in getattr(of, rule).split()[1:]]
    for name in filter(None, named):
        if of.function.parameter(name) is None:
            yield f"{of.function.name} has no parameter {name}"
    if of.poll and of.waits != "nobody":
        yield f"a poll waits for nobody; not {of.waits!r}"
    possible = _WAITS_OF.get(of.kind, ("nobody",))
    if of.waits not in possible:
        yield f"a {of.kind} call waits for {' or '.join(possible)}; not {of.waits!r}"
    if of.kind == "collective" and of.peer:
        yield f"a collective has no peer: {of.peer}"
    if of.root and of.kind != "collective":
        yield f"only collectives have a root: {of.root}"
    if of.waits in _ROOTED and not of.root:
        yield f"waits for {of.waits!r}, but has no root"
    if of.kind in ("send", "exchange", "one_sided") and not of.peer:
        yield f"a {of.kind} call has a peer; name its parameter"
    if of.kind == "lookup" and (of.bytes or of.received or of.frees or of.form != "blocking"):
        yield "a look-up moves, frees and starts nothing"
    if of.received and not of.bytes:
        yield "received is counted beside bytes only"
    if of.parent and of.makes != "communicator":
        yield "parent is of those that make communicators"
    if of.kind == "lifecycle" and bool(of.begins) == bool(of.ends):
        yield "a lifecycle call either begins or ends something"
    for attribute, (classes, is_needed) in _CLASSES_OF.items():
        if getattr(of, attribute) and of.kind not in classes:
            yield f"{attribute} is of {' and '.join(classes)} calls, not of {of.kind}"
        if is_needed and of.kind in classes and not getattr(of, attribute):
            yield f"a {of.kind} call says {attribute}"
