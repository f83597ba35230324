"""Generates the interposition layer from the MPI Forum's machine-readable API (PyPI: pympistandard).

    generate.py OVERLAY OUTPUT_DIR

writes into OUTPUT_DIR

    functions.inc   TARE_FUNCTION(name, counted) for every C function, in order of its number (1, 2, ...)
    wrappers.inc    one member function of Wrappers<A> per MPI function: no logic, it names the function and
                    its arguments by kind and calls measure() (src/mpi/measure.h), or poll() (src/mpi/poll.h)
    not_wrapped.txt the pattern of symbols that are not to be wrapped, for tests
    counted.inc     the same for look-up functions, whose calls are only counted
    sampled.inc     the same for functions whose messages can be sampled, with the roles for that
    sampled_functions.inc  TARE_SAMPLED(name) for each of them
    types.inc       MPI's type names as aliases of those of an ABI page A
    stubs.inc       TARE_STUB name, number for every function: the exported symbols (src/mpi/stubs_*.S)

The output depends on the API and the overlay alone.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pympistandard as std

# Conversions of handles and statuses between languages.
CONVERSION = re.compile(r"_(f2c|c2f|f2f08|f082f|f082c|c2f08|fromint|toint)$")


@dataclass(frozen=True)
class Parameter:
    """A C parameter: its declaration as the standard writes it, its name, and the standard's kind."""

    declaration: str
    name: str
    kind: str = ""

    @property
    def is_pointer(self) -> bool:
        return "*" in self.declaration or "[" in self.declaration


@dataclass(frozen=True)
class Function:
    name: str
    returns: str
    parameters: tuple[Parameter, ...]

    @property
    def bare_name(self) -> str:
        """The name without MPI_ and without the _c of a large-count form."""
        name = self.name.removeprefix("MPI_")
        return name[:-2] if name.endswith("_c") else name

    @property
    def blocking_name(self) -> str:
        """The blocking, non-persistent form in lower case: "bcast" for MPI_Ibcast and MPI_Bcast_init_c."""
        name = self.bare_name.lower().removesuffix("_init")
        if name in ("init", "is_thread_main", "intercomm_create", "initialized", "intercomm_merge"):
            return name
        has_request = any(p.kind == "REQUEST" for p in self.parameters)
        return name[1:] if has_request and name.startswith("i") else name

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


def parse(prototype: str, kinds: dict[str, str]) -> Function:
    """A function from a C prototype; kinds maps parameter names to the standard's kinds."""
    match = re.fullmatch(r"(\w+)\s+(\w+)\((.*)\)", prototype)
    if match is None:
        raise SystemExit(f"generate.py: cannot read the prototype {prototype!r}")
    returns, name, inside = match.groups()
    parameters = []
    for declaration in inside.split(", ") if inside != "void" else []:
        if "ldots" in declaration or declaration == "...":
            parameters.append(Parameter("...", "..."))
            continue
        parameter = re.search(r"(\w+)(\[[^\]]*\])*$", declaration)
        if parameter is None:
            raise SystemExit(f"generate.py: cannot read the parameter {declaration!r} of {name}")
        parameters.append(Parameter(declaration, parameter[1], kinds.get(parameter[1], "")))
    return Function(name, returns, tuple(parameters))


def standard_functions() -> list[Function]:
    """Every C function of the standard, large-count forms included; no callbacks, no predefined functions."""
    std.use_api_version(1)
    functions = []
    for procedure in std.PROCEDURES.values():
        express = procedure.express
        forms = [express.iso_c]
        if procedure.has_embiggenment():
            forms.append(express.embiggen.iso_c)
        for form in forms:
            if form is not None:
                kinds = {p.name: str(p.kind.name) for p in form.parameters}
                functions.append(parse(str(form), kinds))
    return functions


class Roles:
    """Derives the roles of a function's parameters, as C++ declarations, from kinds and overlay."""

    def __init__(self, overlay: dict[str, Any]) -> None:
        self.exceptions = overlay["roles"]
        self.volumes = self._compiled(overlay["volume"])
        self.received = self._compiled(overlay["received"])
        self.polls = self._compiled(overlay["polls"])
        self.sampled = [(re.compile(pattern), roles) for pattern, roles in overlay["sampled"].items()]

    @staticmethod
    def _compiled(table: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), text) for pattern, text in table.items()]

    def of(self, function: Function) -> list[str]:
        roles = [
            role for role in (self.communicator(function), self.peer(function), self.tag(function)) if role
        ]
        roles += self.moved(function, self.volumes)
        roles += self.moved(function, self.received)
        roles += self.messages(function)
        roles += self.request(function)
        roles += self.made_communicator(function)
        roles += self.exceptions.get(f"MPI_{function.bare_name}", [])
        return roles

    def in_vain(self, function: Function) -> str | None:
        """Of a poll, when it found nothing."""
        return next((text for pattern, text in self.polls if pattern.fullmatch(function.bare_name)), None)

    def is_sampled(self, function: Function) -> bool:
        return any(pattern.fullmatch(function.bare_name) for pattern, _ in self.sampled)

    def where_sampled(self, function: Function) -> list[str]:
        """The roles where messages are sampled."""
        further = [
            role.replace("COUNT", self.count_type(function))
            for pattern, roles in self.sampled
            if pattern.fullmatch(function.bare_name)
            for role in roles
        ]
        first = [role[1:] for role in further if role.startswith("!")]
        last = [role for role in further if not role.startswith("!")]
        return first + self.of(function) + last

    def in_vain_where_sampled(self, function: Function) -> str | None:
        """The path of polls is for roles that have nothing to do if nothing was found."""
        return self.in_vain(function) if self.where_sampled(function) == self.of(function) else None

    @staticmethod
    def communicator(function: Function) -> str | None:
        for parameter in function.parameters:
            if parameter.is_pointer:
                continue
            if parameter.kind == "COMMUNICATOR":
                return f"On<A> on{{{parameter.name}}}"
            if parameter.kind in ("WINDOW", "FILE") and function.bare_name != "Win_set_name":
                return f"On{parameter.kind.capitalize()}<A> on{{{parameter.name}}}"
        return None

    @staticmethod
    def peer(function: Function) -> str | None:
        for name in ("dest", "source", "root", "target_rank"):
            parameter = function.parameter(name)
            if parameter is not None and not parameter.is_pointer:
                return f"Peer<A> peer{{{name}}}"
        if function.bare_name in ("Win_lock", "Win_unlock", "Win_flush", "Win_flush_local"):
            return "Peer<A> peer{rank}"
        return None

    @staticmethod
    def tag(function: Function) -> str | None:
        for name in ("tag", "sendtag"):
            parameter = function.parameter(name)
            if parameter is not None and parameter.kind == "TAG" and not parameter.is_pointer:
                return f"Tag<A> tagged{{{name}}}"
        return None

    @staticmethod
    def messages(function: Function) -> list[str]:
        """What counts for the table of peers: of messages, and of one-sided calls."""
        if function.bare_name.endswith("_init"):
            return []  # moves nothing yet: every MPI_Start does
        if function.parameter("dest") is not None:
            return ["Sends sending{}"]
        if function.parameter("target_rank") is not None:
            name = function.blocking_name.removeprefix("r")
            if name in ("put", "accumulate"):
                return ["Sends sending{}"]
            if name == "get":
                return ["Fetches fetching{}"]
            if name in ("get_accumulate", "fetch_and_op", "compare_and_swap"):
                return ["Sends sending{}"]  # and what they fetch is in the table `received`
        return []

    def moved(self, function: Function, table: list[tuple[re.Pattern[str], str]]) -> list[str]:
        for pattern, text in table:
            if pattern.fullmatch(function.blocking_name) is None:
                continue
            match = re.fullmatch(r"(\w+) (volume|received)(\{.*\})", text)
            if match is None:
                raise SystemExit(f"generate.py: cannot read the volume {text!r} (overlay.toml)")
            kind, variable, arguments = match.groups()
            for name in re.findall(r"\w+", arguments):
                if function.parameter(name) is None:
                    raise SystemExit(
                        f"generate.py: {function.name} has no parameter {name} (overlay.toml, volume)"
                    )
            return [f"{kind}<A, {self.count_type(function)}> {variable}{arguments}"]
        return []

    @staticmethod
    def count_type(function: Function) -> str:
        return "MPI_Count" if function.name.endswith("_c") else "int"

    @staticmethod
    def request(function: Function) -> list[str]:
        parameter = function.parameter("request")
        if parameter is None or not parameter.is_pointer or parameter.kind != "REQUEST":
            return []
        if function.bare_name in ("Start", "Cancel", "Wait", "Test", "Request_free", "Request_get_status"):
            return []
        kinds = []
        if function.bare_name in ("Irecv", "Imrecv", "Recv_init", "Precv_init"):
            kinds = ["format::receive_request"]
        elif function.bare_name in ("Isendrecv", "Isendrecv_replace"):
            kinds = ["format::receive_request", "format::exchange_request"]
        if function.bare_name.endswith("_init"):
            kinds.append("format::persistent_request")
            if function.parameter("dest") is not None:
                kinds.append("format::send_request")
        return [f"Starts<A, {' | '.join(kinds or ['format::plain_request'])}> starts{{request}}"]

    # Names of the parameters that are new communicators.
    MADE = (
        "newcomm",
        "newintercomm",
        "comm_cart",
        "comm_graph",
        "comm_dist_graph",
        "newintracomm",
        "intercomm",
    )
    # Functions that not all members of the new communicator call with one and the same communicator.
    PARENTLESS = ("Intercomm_create", "Comm_accept", "Comm_connect")

    @classmethod
    def made_communicator(cls, function: Function) -> list[str]:
        made = next((p for p in function.parameters if p.name in cls.MADE and p.is_pointer), None)
        if made is None:
            return []
        parent = next(
            (p.name for p in function.parameters if p.kind == "COMMUNICATOR" and not p.is_pointer), None
        )
        if parent is None or function.bare_name in cls.PARENTLESS:
            parent = "A::comm_null()"
        arguments = [made.name, parent]
        arguments += [p.name for p in function.parameters if p.name in ("tag", "stringtag")]
        kind = "Duplicates" if function.bare_name.startswith("Comm_idup") else "Makes"
        return [f"{kind}Communicator<A> makes{{{', '.join(arguments)}}}"]


def wrapper(function: Function, roles: list[str], in_vain: str | None = None) -> str:
    """The text of a wrapper; `in_vain`: of a poll, when it found nothing."""
    parameters = ", ".join(p.declaration for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    names = []
    used = ""
    for role in roles:
        name = role.split("{")[0].split()[-1]
        names.append(name)
        # A role may have to look at a status where the program passes MPI_STATUS_IGNORE.
        if re.match(r"(Receives|AlsoReceives|Probes|Completes\w+)<", role):
            arguments = re.sub(r"\b(status|array_of_statuses)\b", f"{name}.status()", arguments)
            used = f", &{name}" if ".status()" in arguments else ""
    lines = [f"static {function.returns} {function.name}({parameters}) {{"]
    lines += [f"  {role};" for role in roles]
    call = f"real(&{function.name}, Function::{function.name})({arguments})"
    if in_vain is None:
        lines += [
            f"  return measure<A, Function::{function.name}>(TARE_CALLER,",
            f"      [&] {{ return {call}; }}",
        ]
    else:  # parameters by value, as they stay in registers then
        lines += [
            f"  return poll<A, Function::{function.name}>(TARE_CALLER,",
            f"      [={used}]() __attribute__((always_inline)) {{ return {call}; }},",
            f"      [=] {{ return {in_vain}; }}",
        ]
    lines[-1] += "".join(", " + n for n in names) + ");"
    return "\n".join([*lines, "}"])


def counted_wrapper(function: Function) -> str:
    """The text of the wrapper that only counts. Bindings convert handles of their own accord."""
    caller = "Caller::converts" if CONVERSION.search(function.name) else "Caller::asks"
    parameters = ", ".join(p.declaration for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    return (
        f"static {function.returns} {function.name}({parameters}) {{\n"
        f"  count_call(Function::{function.name}, {caller}, __builtin_return_address(0));\n"
        f"  return real(&{function.name}, Function::{function.name})({arguments});\n}}"
    )


def without_varargs(function: Function) -> Function:
    """MPI_Pcontrol(level, ...): what follows level is passed on in registers, as a call of six words."""
    if not any(p.name == "..." for p in function.parameters):
        return function
    words = tuple(Parameter(f"std::uintptr_t word{i}", f"word{i}") for i in range(1, 6))
    return Function(function.name, function.returns, function.parameters[:-1] + words)


def types(functions: list[Function]) -> list[str]:
    """Names of all MPI types that occur in prototypes."""
    text = " ".join(f.returns + " " + " ".join(p.declaration for p in f.parameters) for f in functions)
    return sorted(set(re.findall(r"\bMPI_\w+", text)))


def main() -> None:
    overlay = tomllib.loads(Path(sys.argv[1]).read_text())
    output = Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    functions = standard_functions() + [
        parse(text, {"comm": "COMMUNICATOR"}) for text in overlay["extra"].values()
    ]
    functions.sort(key=lambda f: f.name)
    is_lookup = re.compile("|".join(f"(?:{p})" for p in overlay["lookup"]["patterns"])).fullmatch
    roles = Roles(overlay)
    unknown = set(overlay["roles"]) - {f.name for f in functions}
    if unknown:
        raise SystemExit(
            f"generate.py: overlay.toml gives roles to unknown functions: {', '.join(sorted(unknown))}"
        )

    counted = {f.name for f in functions if is_lookup(f.bare_name)}
    write(
        output / "functions.inc",
        [f"TARE_FUNCTION({f.name}, {str(f.name in counted).lower()})" for f in functions],
    )
    write(
        output / "wrappers.inc",
        [
            wrapper(f, [] if f.name in counted else roles.of(f), roles.in_vain(f))
            for f in map(without_varargs, functions)
        ],
    )
    write(
        output / "counted.inc",
        [counted_wrapper(f) for f in map(without_varargs, functions) if f.name in counted],
    )
    sampled = [f for f in functions if roles.is_sampled(f)]
    write(
        output / "sampled.inc",
        [wrapper(f, roles.where_sampled(f), roles.in_vain_where_sampled(f)) for f in sampled],
    )
    write(output / "sampled_functions.inc", [f"TARE_SAMPLED({f.name})" for f in sampled])
    write(
        output / "types.inc", [f"using {t} = typename A::{t.removeprefix('MPI_')};" for t in types(functions)]
    )
    write(output / "stubs.inc", [f"TARE_STUB {f.name}, {i}" for i, f in enumerate(functions, 1)])
    write(output / "not_wrapped.txt", [overlay["not_wrapped"]["pattern"]])


def write(path: Path, entries: list[str]) -> None:
    """Writes a file, and leaves an equal one untouched so that nothing is built again for it."""
    text = "\n".join(entries) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
